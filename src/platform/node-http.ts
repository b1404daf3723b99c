import type { HttpClient, HttpRequest, HttpResponse } from './platform.ts';

/** HTTP by Node's own fetch. The caller bounds the time through the signal. */
export class NodeHttpClient implements HttpClient {
  async request(request: HttpRequest): Promise<HttpResponse> {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: request.redirect ?? 'follow',
      ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array<ArrayBuffer> }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      stream: () => bodyOf(response),
    };
  }
}

async function* bodyOf(response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) return;
  for await (const chunk of response.body) yield chunk as Uint8Array;
}
