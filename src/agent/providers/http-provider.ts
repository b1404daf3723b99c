import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Clock, HttpClient, HttpResponse } from '../../platform/platform.ts';
import { llmError } from './llm-errors.ts';
import type { LlmSettings } from './llm-settings.ts';
import { inWords, isNetworkFault, isTimeoutCode, networkCode } from './network-fault.ts';
import type { ModelRequest } from './provider.ts';
import { proxyRoute } from './proxy.ts';
import { statusFault } from './service-fault.ts';

/** What the adapters over HTTP share: sending, and the options that services have in common (spec/agents.md 1.4). */
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
  const body = await response.text().catch(() => '');
  if (signal.aborted) throw signal.reason;
  throw statusFault({ request, call }, { status: response.status, headers: response.headers, body }, world.clock.now());
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

/** The error of the network itself is not kept as a cause: its text may quote headers or addresses. */
export function networkError(error: unknown, what: string, { provider, model }: ModelRequest, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!isNetworkFault(error)) return error;
  const code = networkCode(error);
  return llmError({
    category: isTimeoutCode(code) ? 'timeout' : 'transient_network',
    message: `${provider} ${what}${inWords(code)}`,
    provider,
    model,
    ...(code === undefined ? {} : { facts: { network_code: code } }),
  });
}

/** Options that go into the body under the same name when they are given. */
export function pickOptions(options: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined || options[name] === null ? [] : [[name, options[name]]])),
  );
}

export interface ThinkingWish {
  readonly mode: 'enabled' | 'adaptive' | 'effort' | 'disabled';
  readonly level: string | undefined;
  readonly budget: Json | undefined;
}

/** The option `thinking` (1.2): true is `{mode: "enabled"}`, false `{mode: "disabled"}`; undefined leaves it to the service. */
export function thinkingWish({ thinking }: JsonObject): ThinkingWish | undefined {
  if (typeof thinking === 'boolean') return { mode: thinking ? 'enabled' : 'disabled', level: undefined, budget: undefined };
  if (!isJsonObject(thinking)) return undefined;
  const { mode, level, budget_tokens: budget } = thinking;
  return {
    mode: mode === 'adaptive' || mode === 'effort' || mode === 'disabled' ? mode : 'enabled',
    level: typeof level === 'string' ? level : undefined,
    budget: budget ?? undefined,
  };
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
