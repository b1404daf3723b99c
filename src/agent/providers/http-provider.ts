import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { Clock, HttpClient, HttpResponse } from '../../platform/platform.ts';
import { llmError, refusalReason } from './llm-errors.ts';
import type { LlmSettings } from './llm-settings.ts';
import { isNetworkFault, networkCode } from './network-fault.ts';
import type { ModelRequest } from './provider.ts';
import { proxyRoute } from './proxy.ts';

/** What the adapters over HTTP share: sending, and what a refusal means (spec/agents.md 1.4, 1.7). */
export interface HttpWorld {
  readonly http: HttpClient;
  readonly env: (name: string) => string | undefined;
  /** Wall clock for `Retry-After` as a date, timers for silent streams. */
  readonly clock: Pick<Clock, 'now' | 'timer'>;
  readonly settings: LlmSettings;
}

export interface ProviderCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** Taken out of every text that leaves this layer (1.9). */
  readonly secret: string | undefined;
}

/** One request with its answer: what reading the answer needs to know. */
export interface Exchange {
  readonly world: HttpWorld;
  readonly request: ModelRequest;
  readonly call: ProviderCall;
  readonly response: HttpResponse;
  readonly signal: AbortSignal;
}

/** @throws HarnError `llm` for a refusal of the service or a fault of the network; `signal.reason` when it fired */
export async function send(world: HttpWorld, call: ProviderCall, request: ModelRequest, signal: AbortSignal): Promise<Exchange> {
  const response = await connect(world, call, request, signal);
  if (response.status >= 200 && response.status < 300) return { world, request, call, response, signal };
  throw await statusError(world, call, response, request, signal);
}

async function connect(world: HttpWorld, call: ProviderCall, request: ModelRequest, signal: AbortSignal): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', ...call.headers };
  const route = proxyRoute(world.env, new URL(call.url));
  try {
    // A redirect would take the key to another host: fetch drops `authorization` there, but no header of a vendor's own.
    return await world.http.request({
      method: 'POST',
      url: call.url,
      headers,
      body: JSON.stringify(call.body),
      signal,
      redirect: 'manual',
      timeoutMs: request.timeoutMs,
      ...(route === undefined ? {} : { route }),
    });
  } catch (error) {
    throw networkError(error, `cannot be reached at ${new URL(call.url).origin}`, request, signal);
  }
}

/** Codes of Node and of its fetch that mean waiting, not breaking. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The error of the network itself is not kept as a cause: its text may quote headers or addresses. */
export function networkError(error: unknown, what: string, { provider, model }: ModelRequest, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!isNetworkFault(error)) return error;
  const code = networkCode(error);
  return llmError({
    category: code !== undefined && TIMEOUT_CODES.has(code) ? 'timeout' : 'transient_network',
    message: `${provider} ${what}${code === undefined ? '' : ` (${code})`}`,
    provider,
    model,
    ...(code === undefined ? {} : { facts: { network_code: code } }),
  });
}

async function statusError(
  world: HttpWorld,
  call: ProviderCall,
  response: HttpResponse,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { status, headers } = response;
  const body = await response.text().catch(() => '');
  if (signal.aborted) return signal.reason;
  const fault = readFault(body);
  const hint = status >= 300 && status < 400 ? ' (a redirect, which would take the key elsewhere): check the base URL' : '';
  const message = `${request.provider} answered ${status}${hint}${fault.message === '' ? '' : `: ${fault.message}`}`;
  return serviceError(request, call, { ...classify(status, fault), message, retryAfterMs: retryWish(headers, world.clock.now()) });
}

interface ServiceFault {
  readonly category: string;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** Shorter ones are placeholders for servers that want any key. */
const SHORTEST_SECRET = 6;

/** An error in the service's words, without the key should the service have repeated it. */
export function serviceError({ provider, model }: ModelRequest, { secret }: ProviderCall, fault: ServiceFault): Error {
  const isSecret = secret !== undefined && secret.length >= SHORTEST_SECRET;
  const message = isSecret ? fault.message.replaceAll(secret, '[key]') : fault.message;
  return llmError({ ...fault, message, provider, model });
}

/** What a service says about a fault: its text, and whatever names the kind (`code`, `type`). */
interface FaultText {
  readonly message: string;
  readonly kind: string;
}

/** The message alone: raw bodies do not leave this layer (1.9). */
function readFault(body: string): FaultText {
  const json = parseJson(body);
  return faultText(isJsonObject(json) ? (json.error ?? json) : json);
}

function faultText(error: Json | undefined): FaultText {
  if (typeof error === 'string') return { message: error, kind: '' };
  if (!isJsonObject(error)) return { message: '', kind: '' };
  const kind = [error.code, error.type].filter((part) => typeof part === 'string' || typeof part === 'number').join(' ');
  return { message: typeof error.message === 'string' ? error.message : '', kind };
}

const STATUS_CATEGORIES: Readonly<Record<number, string>> = {
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  408: 'timeout',
  // The services' own clients try a conflict again.
  409: 'server_error',
  429: 'rate_limit',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** Category and reason of an answered status (1.7). */
function classify(status: number, { message, kind }: FaultText): { readonly category: string; readonly reason?: string } {
  const said = `${kind} ${message}`;
  const category = STATUS_CATEGORIES[status];
  if (category !== undefined) return { category };
  if (status >= 500) return { category: 'server_error' };
  const reason = status === 413 ? 'context_overflow' : refusalReason(said);
  if (reason === undefined && /model_not_found|model.{0,40}(does not exist|not found)/i.test(said)) return { category: 'not_found' };
  return { category: 'generic', reason: reason ?? 'invalid_request' };
}

/** The status that an error inside a stream stands for: it comes as a number, or as the type that the service gives it. */
function classifyStreamFault(fault: FaultText): { readonly category: string; readonly reason?: string } {
  const status = /\b[45]\d\d\b/.exec(fault.kind)?.[0];
  if (status !== undefined) return classify(Number(status), fault);
  const named = STREAM_FAULTS.find(([pattern]) => pattern.test(fault.kind));
  return classify(named?.[1] ?? 500, fault);
}

/** An error that came in the place of the rest of the answer. */
export function streamFault({ request, call }: Pick<Exchange, 'request' | 'call'>, error: Json | undefined): Error {
  const fault = faultText(error);
  const message = fault.message === '' ? `${request.provider} broke off with an error` : `${request.provider}: ${fault.message}`;
  return serviceError(request, call, { ...classifyStreamFault(fault), message });
}

/** A model that would not answer (docs/decisions/006). */
export function refusal({ request, call }: Exchange, message: string): Error {
  return serviceError(request, call, { category: 'generic', reason: 'content_policy', message });
}

const STREAM_FAULTS: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/overloaded/, 529],
  [/rate_limit/, 429],
  [/invalid_request|context_length/, 400],
  [/authentication|permission|invalid_api_key/, 401],
  [/not_found/, 404],
  [/timeout/, 504],
];

/** `retry-after-ms`, which some services send beside the standard header, is the finer of the two. */
function retryWish(headers: HttpResponse['headers'], now: number): number | undefined {
  const fine = headers['retry-after-ms'];
  if (fine !== undefined && /^\d+(\.\d+)?$/.test(fine.trim())) return Math.ceil(Number(fine));
  return retryAfterMs(headers['retry-after'], now);
}

/** Seconds, or a date (RFC 9110). */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Options that go into the body under the same name when they are given. */
export function pickOptions(options: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined || options[name] === null ? [] : [[name, options[name]]])),
  );
}

/** Raw overrides of one provider (1.2, last row). */
export function overrides(request: ModelRequest): JsonObject {
  const given = request.options[request.provider];
  if (!isJsonObject(given)) return {};
  const { force_native_tool_search: _ours, ...body } = given;
  return body;
}

/** Whether the answer should come piece by piece (1.2 `stream`, `HARN_LLM_STREAM`). */
export function wantsStream(world: HttpWorld, { options }: ModelRequest): boolean {
  if (typeof options.stream === 'boolean') return options.stream;
  return !['0', 'false', 'off'].includes(world.env('HARN_LLM_STREAM')?.toLowerCase() ?? '');
}

export function asNumber(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

export const DEFAULT_MAX_TOKENS = 16_384;
