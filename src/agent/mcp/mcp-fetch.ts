import type { HttpClient, HttpResponse } from '../../platform/platform.ts';
import { proxyRoute } from '../providers/proxy.ts';

/** What reaching an MCP server over HTTP takes from the world. */
export interface McpHttp {
  readonly http: HttpClient;
  readonly env: (name: string) => string | undefined;
}

/**
 * A fetch for the SDK of the Model Context Protocol that goes the way of calls of models: through the platform, by the proxy
 * of the environment, and as patient as the caller is.
 *
 * @param timeoutMs how long one call may take; the SDK ends it by the signal
 */
export function mcpFetch({ http, env }: McpHttp, timeoutMs: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init = {}) => {
    const target = new URL(url);
    const route = proxyRoute(env, target);
    const response = await http.request({
      method: init.method ?? 'GET',
      url: target.href,
      headers: Object.fromEntries(new Headers(init.headers)),
      timeoutMs,
      // The SDK follows redirects itself, as far as they stay with the server.
      redirect: init.redirect === 'manual' ? 'manual' : 'follow',
      ...(init.body === undefined || init.body === null ? {} : { body: init.body as string }), // the SDK sends JSON
      ...(init.signal === undefined || init.signal === null ? {} : { signal: init.signal }),
      ...(route === undefined ? {} : { route }),
    });
    return webResponse(response);
  };
}

/** These have no body, and `Response` refuses to be given one. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function webResponse(response: HttpResponse): Response {
  const { status, headers } = response;
  return new Response(WITHOUT_BODY.has(status) ? null : ReadableStream.from(response.stream()), { status, headers });
}
