import { errorText, hasCode } from '../../base/harn-error.ts';
import { parseInstant } from '../../base/instant.ts';
import type { HttpResponse } from '../../platform/platform.ts';
import type { Context } from '../context.ts';
import { HarnRaise, thrownText } from '../errors.ts';
import { EgressPolicy } from './egress.ts';
import { HttpMocks, type MockResponse } from './http-mocks.ts';
import type { OutgoingRequest } from './http-options.ts';

/**
 * Sends a request of a script: the egress policy is asked for each address, prepared answers win over the network,
 * redirects are followed one by one so that the policy sees where they lead, and failures that may pass are tried again.
 *
 * @throws a string for a failure of the network; an error of the category `egress_blocked`
 */
export async function sendRequest(context: Context, request: OutgoingRequest): Promise<HttpResponse> {
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= request.retries;
    try {
      const response = await followRedirects(context, request);
      if (isLast || !request.retryStatuses.has(response.status)) return response;
      await pause(context, retryAfterMs(context, response) ?? request.backoffMs * 2 ** attempt);
    } catch (error) {
      if (isLast || context.signal.aborted || error instanceof HarnRaise === false || error.kind !== 'thrown') throw error;
      await pause(context, request.backoffMs * 2 ** attempt);
    }
  }
}

function pause(context: Context, ms: number): Promise<void> {
  return context.run.platform.clock.sleep(ms, context.signal);
}

/** What a busy server asks for: seconds or a date. */
function retryAfterMs(context: Context, response: HttpResponse): number | undefined {
  const header = response.headers['retry-after'];
  if (header === undefined || (response.status !== 429 && response.status !== 503)) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const at = parseInstant(header);
  return at === undefined ? undefined : Math.max(0, at - context.run.platform.clock.now());
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function followRedirects(context: Context, request: OutgoingRequest): Promise<HttpResponse> {
  let current = request;
  for (let hop = 0; ; hop++) {
    const response = await sendOnce(context, current);
    const { location } = response.headers;
    if (request.maxRedirects === 0 || !REDIRECTS.has(response.status) || location === undefined) return response;
    if (hop >= request.maxRedirects) throw thrownText(`HTTP request failed: more than ${request.maxRedirects} redirects`);
    if (!URL.canParse(location, current.url.href)) return response;
    current = redirected(current, new URL(location, current.url), response.status);
  }
}

/** A 303, and a POST that was answered by 301 or 302, go on as GET; credentials stay with the host they were meant for. */
function redirected(request: OutgoingRequest, url: URL, status: number): OutgoingRequest {
  const becomesGet = (status === 303 && request.method !== 'HEAD') || (status <= 302 && request.method === 'POST');
  const headers = { ...request.headers };
  if (url.origin !== request.url.origin) {
    for (const name of ['authorization', 'cookie', 'proxy-authorization']) delete headers[name];
  }
  if (!becomesGet) return { ...request, url, headers };
  delete headers['content-type'];
  return { ...request, url, headers, method: 'GET', body: undefined };
}

async function sendOnce(context: Context, request: OutgoingRequest): Promise<HttpResponse> {
  EgressPolicy.of(context.run).check(request.url);
  const { method, headers, body } = request;
  const mocked = HttpMocks.of(context.run).answer({
    method,
    url: request.url.href,
    headers,
    body: body === undefined || typeof body === 'string' ? body : Buffer.from(body).toString('utf8'),
  });
  return mocked === undefined ? viaNetwork(context, request) : mockedResponse(mocked);
}

function mockedResponse({ status, headers, body }: MockResponse): HttpResponse {
  return {
    status,
    headers,
    text: async () => new TextDecoder().decode(body),
    bytes: async () => body,
    stream: async function* () {
      if (body.length > 0) yield body;
    },
  };
}

async function viaNetwork(context: Context, request: OutgoingRequest): Promise<HttpResponse> {
  const { http, clock } = context.run.platform;
  const timeout = new AbortController();
  const cancelTimer = request.timeoutMs === undefined ? undefined : clock.timer(request.timeoutMs, () => timeout.abort(), 'unref');
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const guarded = async <T>(step: Promise<T>): Promise<T> => {
    try {
      return await step;
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      if (timeout.signal.aborted)
        throw thrownText(`HTTP request timed out after ${request.timeoutMs}ms: ${request.method} ${request.url.href}`);
      throw thrownText(`HTTP request failed: ${networkDetail(error, request)}`);
    }
  };
  const whole = <T>(step: Promise<T>): Promise<T> => guarded(step).finally(() => cancelTimer?.());
  try {
    const { method, headers, body, url, route, timeoutMs } = request;
    const response = await guarded(http.request({ method, url: url.href, headers, body, signal, redirect: 'manual', route, timeoutMs }));
    return {
      status: response.status,
      headers: response.headers,
      text: () => whole(response.text()),
      bytes: () => whole(response.bytes()),
      stream: async function* () {
        try {
          yield* response.stream();
        } catch (error) {
          await guarded(Promise.reject(error));
        } finally {
          cancelTimer?.();
        }
      },
    };
  } catch (error) {
    cancelTimer?.();
    throw error;
  }
}

const NETWORK_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'broken pipe',
  ENOTFOUND: 'dns error: host not found',
  EAI_AGAIN: 'dns error: temporary failure',
  UND_ERR_SOCKET: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
};

/** Node wraps the reason of a failed fetch, sometimes more than once. */
function networkDetail(error: unknown, { url, route }: OutgoingRequest): string {
  const place = route?.proxy === undefined ? url.host : `${url.host} by way of ${new URL(route.proxy.url).host}`;
  for (let current = error; current instanceof Error; current = current.cause) {
    for (const [code, text] of Object.entries(NETWORK_CODES)) if (hasCode(current, code)) return `${text} (${place})`;
    if (!(current.cause instanceof Error)) return errorText(current);
  }
  return errorText(error);
}
