import type { HttpRoute } from '../../platform/platform.ts';
import { textArgument, textOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictGet, dictHas } from '../dict.ts';
import { durationMs } from '../duration.ts';
import { thrownText } from '../errors.ts';
import { orThrow } from '../file-errors.ts';
import { stringify } from '../json.ts';
import { Dict, type Value } from '../value.ts';
import { basicAuthorization, requestRoute } from './http-route.ts';
import { type MultipartField, writeMultipart } from './multipart.ts';

/** A request as a script describes it: a method, a URL and an options dict (spec/language.md 12.9). */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** For each attempt; undefined waits for ever. */
  readonly timeoutMs: number | undefined;
  readonly maxRedirects: number;
  readonly retries: number;
  /** Before the first retry; doubled for each further one. */
  readonly backoffMs: number;
  readonly retryStatuses: ReadonlySet<number>;
  readonly route?: HttpRoute | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_REDIRECTS = 10;
const RETRY_STATUSES = [408, 429, 500, 502, 503, 504];
const RETRY_METHODS = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * @param body wins over `options.body`
 * @throws a string for a URL or an option that cannot be used
 */
export function outgoingRequest(context: Context, method: string, url: Value, options: Dict, body?: Value): OutgoingRequest {
  const verb = method.toUpperCase();
  const content = requestBody(context, options, body);
  const retry = dictGet(options, 'retry');
  const attempts = retry instanceof Dict ? retry : options;
  const mayRetry = textList(dictGet(options, 'retry_methods'), RETRY_METHODS).includes(verb);
  const retries = dictGet(attempts, 'max') ?? dictGet(options, 'retries');
  const address = requestUrl(textArgument(url), dictGet(options, 'query'));
  return {
    method: verb,
    url: address,
    headers: requestHeaders(options, content.type),
    body: content.body,
    timeoutMs: durationMs(dictGet(options, 'timeout_ms') ?? dictGet(options, 'timeout')) ?? DEFAULT_TIMEOUT_MS,
    maxRedirects: dictGet(options, 'follow_redirects') === false ? 0 : numberOr(dictGet(options, 'max_redirects'), DEFAULT_REDIRECTS),
    retries: mayRetry ? numberOr(retries, 0) : 0,
    backoffMs: durationMs(dictGet(attempts, 'backoff_ms') ?? dictGet(options, 'backoff')) ?? 1_000,
    retryStatuses: new Set(textList(dictGet(options, 'retry_on'), RETRY_STATUSES.map(String)).map(Number)),
    route: requestRoute(context, address, options),
  };
}

function numberOr(value: Value, fallback: number): number {
  return typeof value === 'number' ? Math.max(0, value) : fallback;
}

function textList(value: Value, fallback: readonly string[]): readonly string[] {
  return Array.isArray(value) ? value.map((item: Value) => textArgument(item).toUpperCase()) : fallback;
}

function requestUrl(text: string, query: Value): URL {
  if (text === '') throw thrownText('http_request: url is required');
  if (!URL.canParse(text)) throw thrownText(`http_request: invalid url: ${text}`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw thrownText(`http_request: unsupported scheme: ${url.protocol.slice(0, -1)}`);
  if (!(query instanceof Dict)) return url;
  const pairs = dictEntries(query).filter(([, value]) => value !== undefined);
  const added = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textArgument(value))}`).join('&');
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`;
  return url;
}

function requestHeaders(options: Dict, contentType: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (contentType !== undefined) headers['content-type'] = contentType;
  const auth = authorization(dictGet(options, 'auth'));
  if (auth !== undefined) headers.authorization = auth;
  const given = dictGet(options, 'headers');
  if (given instanceof Dict) for (const [name, value] of dictEntries(given)) headers[name.toLowerCase()] = textArgument(value);
  return headers;
}

/** A text is the header itself; a dict names the scheme. */
function authorization(auth: Value): string | undefined {
  if (!(auth instanceof Dict)) return auth === undefined ? undefined : textArgument(auth);
  const bearer = textOption(auth, 'bearer');
  if (bearer !== undefined) return `Bearer ${bearer}`;
  const basic = dictGet(auth, 'basic');
  return basic instanceof Dict ? basicAuthorization(basic) : undefined;
}

interface Content {
  readonly body: string | Uint8Array | undefined;
  readonly type: string | undefined;
}

function requestBody(context: Context, options: Dict, given: Value): Content {
  const fields = dictGet(options, 'multipart');
  if (Array.isArray(fields)) {
    const parts = fields.map((field: Value) => multipartField(context, field));
    const boundary = freeBoundary(context, parts);
    return {
      body: writeMultipart(parts, boundary),
      type: `multipart/form-data; boundary=${boundary}`,
    };
  }
  const body = given ?? dictGet(options, 'body');
  if (body === undefined) return { body: undefined, type: undefined };
  if (body instanceof Uint8Array) return { body, type: 'application/octet-stream' };
  if (body instanceof Dict || Array.isArray(body)) return { body: stringify(body), type: 'application/json' };
  return { body: textArgument(body), type: undefined };
}

/** The same for every request, so that requests can be compared, but for content that holds it. */
function freeBoundary(context: Context, parts: readonly MultipartField[]): string {
  const usual = 'harn-boundary';
  const isTaken = parts.some(({ content }) => Buffer.from(content).includes(usual));
  return isTaken ? `harn-${context.run.platform.random.uuidV4()}` : usual;
}

function multipartField(context: Context, field: Value): MultipartField {
  if (!(field instanceof Dict)) throw thrownText('http_request: a multipart field must be a dict');
  const name = textOption(field, 'name');
  if (name === undefined) throw thrownText('http_request: a multipart field needs a name');
  return {
    name,
    filename: textOption(field, 'filename'),
    contentType: textOption(field, 'content_type'),
    headers: {},
    content: fieldContent(context, field),
  };
}

function fieldContent(context: Context, field: Dict): Uint8Array {
  const path = textOption(field, 'path');
  if (path !== undefined) {
    return orThrow(`Failed to read file ${path}`, () => context.run.platform.files.readBytes(path));
  }
  if (dictHas(field, 'value_base64')) return new Uint8Array(Buffer.from(textOption(field, 'value_base64') ?? '', 'base64'));
  const value = dictGet(field, 'value') ?? dictGet(field, 'content');
  return value instanceof Uint8Array ? value : new TextEncoder().encode(textArgument(value));
}
