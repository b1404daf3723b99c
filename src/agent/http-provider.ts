import { createParser } from 'eventsource-parser';
import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { HttpClient, HttpResponse } from '../platform/platform.ts';
import { llmError } from './llm-errors.ts';
import type { ModelRequest } from './provider.ts';

/** What the adapters over HTTP share: sending, reading streams, and what a status means (spec/agents.md 1.4, 1.7). */
export interface HttpWorld {
  readonly http: HttpClient;
  readonly env: (name: string) => string | undefined;
  /** Wall clock, for `Retry-After` as a date. */
  readonly now: () => number;
}

export interface ProviderCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** @throws HarnError `llm` for a refusal of the service or a fault of the network; `signal.reason` when it fired */
export async function send(world: HttpWorld, call: ProviderCall, request: ModelRequest, signal: AbortSignal): Promise<HttpResponse> {
  const response = await connect(world, call, request, signal);
  if (response.status >= 200 && response.status < 300) return response;
  throw await statusError(world, response, request);
}

async function connect(world: HttpWorld, call: ProviderCall, request: ModelRequest, signal: AbortSignal): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', ...call.headers };
  try {
    return await world.http.request({ method: 'POST', url: call.url, headers, body: JSON.stringify(call.body), signal });
  } catch (error) {
    throw networkError(error, request, signal);
  }
}

function networkError(error: unknown, { provider, model }: ModelRequest, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return llmError({
    category: 'transient_network',
    message: `${provider} cannot be reached: ${errorText(error)}`,
    provider,
    model,
    cause: error,
  });
}

async function statusError(world: HttpWorld, response: HttpResponse, { provider, model }: ModelRequest): Promise<Error> {
  const detail = errorMessage(await response.text().catch(() => ''));
  const message = `${provider} answered ${response.status}${detail === '' ? '' : `: ${detail}`}`;
  const { category, reason } = classify(response.status, detail);
  return llmError({ category, reason, message, provider, model, retryAfterMs: retryAfterMs(response.headers['retry-after'], world.now()) });
}

function classify(status: number, detail: string): { readonly category: string; readonly reason?: string } {
  if (status === 401 || status === 403) return { category: 'auth' };
  if (status === 404) return { category: 'not_found' };
  if (status === 408 || status === 504) return { category: 'timeout' };
  if (status === 429) return { category: 'rate_limit' };
  if (status === 503 || status === 529) return { category: 'overloaded' };
  if (status >= 500) return { category: 'server_error' };
  if (/context.{0,20}(length|window)|too many tokens|prompt is too long/i.test(detail))
    return { category: 'generic', reason: 'context_overflow' };
  if (/content.{0,10}(policy|filter)|safety/i.test(detail)) return { category: 'generic', reason: 'content_policy' };
  return { category: 'generic', reason: 'invalid_request' };
}

/** The message of the service alone: raw bodies do not leave this layer (1.9). */
function errorMessage(body: string): string {
  try {
    const json = JSON.parse(body) as Json; // JSON.parse gives nothing but Json
    const error = isJsonObject(json) ? json.error : undefined;
    const message = isJsonObject(error) ? error.message : error;
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}

/** Seconds, or a date (RFC 9110). */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** The `data` of each server-sent event, as JSON; `[DONE]` ends the stream. */
export async function* readEvents(response: HttpResponse, request: ModelRequest, signal: AbortSignal): AsyncIterable<JsonObject> {
  const ready: string[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event.data) });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.stream()) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const data of ready.splice(0)) {
        if (data === '[DONE]') return;
        yield parseEvent(data, request);
      }
    }
  } catch (error) {
    throw isLlmFault(error) ? error : networkError(error, request, signal);
  }
}

/** One JSON document a line. */
export async function* readLines(response: HttpResponse, request: ModelRequest, signal: AbortSignal): AsyncIterable<JsonObject> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of response.stream()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') yield parseEvent(line, request);
    }
    if (rest.trim() !== '') yield parseEvent(rest, request);
  } catch (error) {
    throw isLlmFault(error) ? error : networkError(error, request, signal);
  }
}

function isLlmFault(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'llm';
}

function parseEvent(data: string, { provider, model }: ModelRequest): JsonObject {
  try {
    const json = JSON.parse(data) as Json; // JSON.parse gives nothing but Json
    if (isJsonObject(json)) return json;
  } catch {
    // told below
  }
  throw llmError({ category: 'transient_network', message: `${provider} sent an event that is no JSON object`, provider, model });
}

/** Arguments of a call as they arrived; a model that wrote broken JSON gets its call back as an error of the tool. */
export function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const json = JSON.parse(text) as Json; // JSON.parse gives nothing but Json
    return isJsonObject(json) ? json : { value: json };
  } catch {
    return { _unparsed: text };
  }
}

export function baseUrl(world: HttpWorld, provider: string, fallback: string): string {
  return (world.env(`${provider.toUpperCase()}_BASE_URL`) ?? fallback).replace(/\/+$/, '');
}

/** @throws HarnError `llm` (auth) that names the variable */
export function requireKey(world: HttpWorld, variable: string, { provider, model }: ModelRequest): string {
  const key = world.env(variable);
  if (key !== undefined && key !== '') return key;
  throw llmError({ category: 'auth', message: `${provider} needs an API key in ${variable}`, provider, model });
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
  return isJsonObject(given) ? given : {};
}

export function asNumber(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

export const DEFAULT_MAX_TOKENS = 16_384;
