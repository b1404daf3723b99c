import type { RoutedFetch } from './node-http-route.ts';
import type { HttpClient, HttpRequest, HttpResponse, HttpRoute } from './platform.ts';

/** HTTP by Node's own fetch; by undici itself, which is the same client, for a proxy or for TLS of one's own. */
export class NodeHttpClient implements HttpClient {
  /** By what the route says; each keeps its connections. */
  readonly #routes = new Map<string, Promise<RoutedFetch>>();

  async request(request: HttpRequest): Promise<HttpResponse> {
    const response = request.route === undefined ? await fetch(request.url, optionsOf(request)) : await this.#via(request.route, request);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      stream: () => bodyOf(response),
    };
  }

  async #via(route: HttpRoute, request: HttpRequest): Promise<Response> {
    const key = JSON.stringify(route);
    const known = this.#routes.get(key);
    const routed = known ?? import('./node-http-route.ts').then(({ routedFetch }) => routedFetch(route));
    if (known === undefined) this.#routes.set(key, routed);
    return (await routed)(request.url, optionsOf(request));
  }
}

function optionsOf(request: HttpRequest): RequestInit {
  return {
    method: request.method,
    headers: request.headers,
    redirect: request.redirect ?? 'follow',
    ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array<ArrayBuffer> }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
}

async function* bodyOf(response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) return;
  for await (const chunk of response.body) yield chunk as Uint8Array;
}
