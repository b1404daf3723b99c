import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { firstCodePoints } from '../json-text.ts';
import { llmError, refusalReason } from './llm-errors.ts';
import type { ModelRequest } from './provider.ts';

/** What a refusal of a model service means (spec/agents.md 1.7), and how it is told. Pure; the raw body goes no further (1.9). */

/** A call that failed, as far as its errors speak of it. */
export interface FailedCall {
  readonly request: ModelRequest;
  readonly call: {
    readonly url: string;
    /** Taken out of every text that leaves this layer (1.9). */
    readonly secret: string | undefined;
  };
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The error that an answered status stands for.
 *
 * @param now wall clock, for a `Retry-After` that is a date
 */
export function statusFault(failed: FailedCall, { status, headers, body }: Refusal, now: number): Error {
  const fault = readFault(body);
  const said = fault.message === '' ? unexplained(status, failed.call.url) : fault.message;
  return serviceError(failed, {
    ...classify(status, fault),
    message: `${failed.request.provider} answered ${status}: ${said}`,
    retryAfterMs: retryWish(headers, now),
    mayHelp: retryVerdict(headers['x-should-retry']),
    requestId: requestIdOf(headers),
  });
}

/** An error that came in the place of the rest of the answer. */
export function streamFault(failed: FailedCall, error: Json | undefined): Error {
  const { provider } = failed.request;
  const fault = faultText(error);
  const message = fault.message === '' ? `${provider} broke off with an error` : `${provider}: ${fault.message}`;
  return serviceError(failed, { ...classifyStreamFault(fault), message });
}

/** A model that would not answer (docs/decisions/006). */
export function refusal(failed: FailedCall, message: string): Error {
  return serviceError(failed, { category: 'generic', reason: 'content_policy', message });
}

interface ServiceFault {
  readonly category: string;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** Whether the service itself says that a retry helps; undefined when it does not say. */
  readonly mayHelp?: boolean | undefined;
  readonly requestId?: string | undefined;
}

/** Shorter ones are placeholders for servers that want any key. */
const SHORTEST_SECRET = 6;

/** A service may send a page; what it means stands at the beginning. */
const LONGEST_MESSAGE = 1000;

/** An error in the service's words, without the key should the service have repeated it. */
export function serviceError({ request, call }: FailedCall, { mayHelp, requestId, ...fault }: ServiceFault): Error {
  const { provider, model } = request;
  const hide = (text: string): string =>
    call.secret !== undefined && call.secret.length >= SHORTEST_SECRET ? text.replaceAll(call.secret, '[key]') : text;
  const said = firstCodePoints(hide(oneLine(fault.message)), LONGEST_MESSAGE);
  const id = requestId === undefined ? undefined : hide(requestId);
  return llmError({
    ...fault,
    message: id === undefined ? said : `${said} (request ${id})`,
    provider,
    model,
    ...(mayHelp === undefined ? {} : { kind: mayHelp ? 'transient' : 'terminal' }),
    ...(id === undefined ? {} : { facts: { request_id: id } }),
  });
}

/** A service is a stranger: its text can neither break a line of ours nor steer a terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** What a status means where the service did not say it in words. */
function unexplained(status: number, url: string): string {
  const { origin, pathname } = new URL(url);
  if (status >= 300 && status < 400) return `a redirect, which would take the key elsewhere; check the base URL (${origin})`;
  if (status === 404) return `nothing is at ${origin}${pathname}; check the base URL and the model`;
  return MEANINGS[status] ?? 'it does not say why';
}

const MEANINGS: Readonly<Record<number, string>> = {
  401: 'it does not accept the key',
  402: 'it wants to be paid first',
  403: 'it refuses access',
  413: 'the request is too large for it',
  429: 'too many requests',
  502: 'what stands before it gets no answer from it',
  503: 'it is not available now',
  504: 'what stands before it got no answer in time',
  529: 'it is overloaded',
};

/** What a service says about a fault: its text, and whatever names the kind (`code`, `type`). */
interface FaultText {
  readonly message: string;
  readonly kind: string;
}

const NOTHING_SAID: FaultText = { message: '', kind: '' };

/** The message alone: raw bodies do not leave this layer (1.9). */
function readFault(body: string): FaultText {
  const json = parseJson(body);
  // Google wraps its error in a list.
  const first = Array.isArray(json) ? json[0] : json;
  return faultText(isJsonObject(first) ? (first.error ?? first) : first);
}

function faultText(error: Json | undefined): FaultText {
  if (typeof error === 'string') return { message: error, kind: '' };
  if (!isJsonObject(error)) return NOTHING_SAID;
  const kind = [error.code, error.type, error.status].filter((part) => typeof part === 'string' || typeof part === 'number').join(' ');
  return { message: `${messageIn(error)}${behind(error.metadata)}`, kind };
}

/** `message` with most services; `detail` with those made with FastAPI, a text or a list of what is wrong where; `errors` with others. */
function messageIn({ message, detail, errors }: JsonObject): string {
  if (typeof message === 'string') return message;
  if (typeof detail === 'string') return detail;
  const list = Array.isArray(detail) ? detail : Array.isArray(errors) ? errors : [];
  const said = list.flatMap((one) => {
    const text = isJsonObject(one) ? (one.msg ?? one.message) : one;
    if (typeof text !== 'string') return [];
    const place = isJsonObject(one) ? placeIn(one.loc) : '';
    return [place === '' ? text : `${place}: ${text}`];
  });
  return said.join('; ');
}

function placeIn(place: Json | undefined): string {
  return Array.isArray(place) ? place.filter((part) => typeof part === 'string' || typeof part === 'number').join('.') : '';
}

/** OpenRouter passes on what the service behind it said. */
function behind(metadata: Json | undefined): string {
  if (!isJsonObject(metadata)) return '';
  const { provider_name: name, raw } = metadata;
  const { message } = typeof raw === 'string' ? readFault(raw) : NOTHING_SAID;
  const parts = [typeof name === 'string' ? name : '', message].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join(': ')})`;
}

interface Meaning {
  readonly category: string;
  readonly reason?: string;
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
function classify(status: number, { message, kind }: FaultText): Meaning {
  const said = `${kind} ${message}`;
  const category = STATUS_CATEGORIES[status];
  if (category !== undefined) return { category };
  if (status >= 500) return { category: 'server_error' };
  const reason = status === 413 ? 'context_overflow' : refusalReason(said);
  if (reason !== undefined) return { category: 'generic', reason };
  if (/model_not_found|model.{0,40}(does not exist|not found)/i.test(said)) return { category: 'not_found' };
  // Google's way to say 401.
  if (/api key (not valid|expired)/i.test(said)) return { category: 'auth' };
  return { category: 'generic', reason: 'invalid_request' };
}

/** The status that an error inside a stream stands for: it comes as a number, or as the type that the service gives it. */
function classifyStreamFault(fault: FaultText): Meaning {
  const status = /\b[45]\d\d\b/.exec(fault.kind)?.[0];
  if (status !== undefined) return classify(Number(status), fault);
  const named = STREAM_FAULTS.find(([pattern]) => pattern.test(fault.kind));
  return classify(named?.[1] ?? 500, fault);
}

const STREAM_FAULTS: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/overloaded/, 529],
  [/rate_limit/, 429],
  [/invalid_request|context_length/, 400],
  [/authentication|permission|invalid_api_key/, 401],
  [/not_found/, 404],
  [/timeout/, 504],
];

/** `x-should-retry`: a service that knows better than its status, as its own client reads it (docs/decisions/017). */
function retryVerdict(header: string | undefined): boolean | undefined {
  const said = header?.trim().toLowerCase();
  return said === 'true' ? true : said === 'false' ? false : undefined;
}

/** What the people behind the service ask for when they are told of a fault. */
function requestIdOf(headers: Refusal['headers']): string | undefined {
  const id = headers['x-request-id'] ?? headers['request-id'];
  return id !== undefined && /^[\w.:/-]{1,128}$/.test(id) ? id : undefined;
}

/** `retry-after-ms`, which some services send beside the standard header, is the finer of the two. */
function retryWish(headers: Refusal['headers'], now: number): number | undefined {
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
