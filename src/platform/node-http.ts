import type { RoutedFetch } from './node-http-route.ts';
import type { HttpClient, HttpRequest, HttpResponse, HttpRoute } from './platform.ts';

/** Node's own fetch gives up a silent server after this time, before the headers and between two pieces of the body. */
const SILENCE_MS = 300_000;

/** HTTP by Node's own fetch; by undici itself, which is the same client, for whatever that cannot be told. */
export class NodeHttpClient implements HttpClient {
  /** By what the route says; each keeps its connections. */
  readonly #routes = new Map<string, Promise<RoutedFetch>>();

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { route, timeoutMs = 0 } = request;
    const isPatient = timeoutMs >= SILENCE_MS;
    const response =
      route === undefined && !isPatient ? await fetch(request.url, optionsOf(request)) : await this.#via(route ?? {}, isPatient, request);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      stream: () => bodyOf(response),
    };
  }

  async #via(route: HttpRoute, isPatient: boolean, request: HttpRequest): Promise<Response> {
    const key = JSON.stringify([route, isPatient]);
    const known = this.#routes.get(key);
    const routed = known ?? import('./node-http-route.ts').then(({ routedFetch }) => routedFetch(route, isPatient));
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
