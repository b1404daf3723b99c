import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import type { Clock, HttpClient, HttpRequest } from '../../platform/platform.ts';
import { type Endpoint, type EndpointWorld, endpointOf, serviceOf } from './endpoint.ts';
import { llmErrorFacts } from './llm-errors.ts';
import { inWords, isNetworkFault, networkCode } from './network-fault.ts';
import type { ServiceFacts } from './provider-catalog.ts';
import { proxyRoute } from './proxy.ts';

/** Whether a service can be reached and takes the key: it is asked for the list of its models, which costs nothing. */
export interface Health {
  readonly provider: string;
  readonly valid: boolean;
  readonly status: 'ok' | 'unknown_provider' | 'invalid_request' | 'invalid_url' | 'auth' | 'unreachable' | 'bad_status' | 'model_missing';
  readonly message: string;
  readonly metadata: JsonObject;
}

export interface HealthWish {
  readonly provider: string;
  /** A key to try instead of the configured one. */
  readonly apiKey?: string | undefined;
  /** Must be among the models that are served. */
  readonly model?: string | undefined;
  /** Ollama only: load the model, so that the first real call does not wait for it. */
  readonly warm?: boolean | undefined;
}

export interface HealthWorld extends EndpointWorld {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'timer'>;
}

const TIMEOUT_MS = 10_000;
/** A large model may be read from a slow disk. */
const WARM_TIMEOUT_MS = 300_000;

export async function checkHealth(world: HealthWorld, wish: HealthWish, signal: AbortSignal): Promise<Health> {
  const { provider, model } = wish;
  const report = (status: Health['status'], message: string, metadata: JsonObject = {}): Health => ({
    provider,
    valid: status === 'ok',
    status,
    message,
    metadata: { reason: status, category: status, ...metadata },
  });
  const service = serviceOf(world, provider);
  if (service === undefined) return report('unknown_provider', `Unknown provider: ${provider}`);
  if (service.protocol === 'mock') return report('ok', 'the scripted model is always there');
  if (wish.warm === true && (service.protocol !== 'ollama' || model === undefined)) {
    return report('invalid_request', 'warm needs the provider ollama and a model');
  }
  let endpoint: Endpoint;
  try {
    endpoint = endpointOf(candidateWorld(world, service, wish), service, { provider, model: model ?? '' });
  } catch (error) {
    const facts = llmErrorFacts(error);
    if (facts === undefined) throw error;
    return report(facts.category === 'auth' ? 'auth' : 'invalid_url', facts.message);
  }
  const unreachable = (why: string): Health =>
    report('unreachable', `${provider} cannot be reached at ${new URL(endpoint.baseUrl).origin}${why}`);
  const answer = await listModels(world, service, endpoint, signal);
  if (typeof answer === 'string') return unreachable(answer);
  if (answer.status === 401 || answer.status === 403)
    return report('auth', `${provider} refuses the key (status ${answer.status})`, { status: answer.status });
  if (answer.status !== 200) return report('bad_status', `${provider} answered ${answer.status}`, { status: answer.status });
  if (model !== undefined && answer.models.length > 0 && !answer.models.some((name) => name === model || name === `${model}:latest`)) {
    return report('model_missing', `${provider} does not serve ${model}`, { models: answer.models.slice(0, 50) });
  }
  if (wish.warm === true) {
    const warmed = await warm(world, endpoint, model ?? '', signal);
    if (typeof warmed === 'string') return unreachable(warmed);
    if (warmed.status !== 200) {
      return report('bad_status', `${provider} answered ${warmed.status} when it was to load ${model}`, { status: warmed.status });
    }
  }
  return report('ok', `${provider} is ready`, { models: answer.models.length });
}

/** The candidate key stands where the configured one would. */
function candidateWorld(world: EndpointWorld, service: ServiceFacts, { apiKey }: HealthWish): EndpointWorld {
  if (apiKey === undefined) return world;
  return { ...world, env: (name) => (name === service.keyVariables[0] ? apiKey : world.env(name)) };
}

interface Listed {
  readonly status: number;
  readonly models: readonly string[];
}

async function listModels(
  world: HealthWorld,
  { protocol }: ServiceFacts,
  { baseUrl, key }: Endpoint,
  signal: AbortSignal,
): Promise<Listed | string> {
  const path = protocol === 'ollama' ? '/api/tags' : protocol === 'anthropic' && !baseUrl.endsWith('/v1') ? '/v1/models' : '/models';
  const auth: Record<string, string> =
    key === undefined ? {} : protocol === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
  const headers = { ...auth, ...(protocol === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}) };
  const answer = await ask(world, { method: 'GET', url: `${baseUrl}${path}`, headers, timeoutMs: TIMEOUT_MS }, signal);
  return typeof answer === 'string' ? answer : { status: answer.status, models: modelNames(answer.body) };
}

async function warm(world: HealthWorld, { baseUrl }: Endpoint, model: string, signal: AbortSignal): Promise<Asked | string> {
  const request = {
    method: 'POST',
    url: `${baseUrl}/api/generate`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: false, keep_alive: '10m' }),
    timeoutMs: WARM_TIMEOUT_MS,
  };
  return ask(world, request, signal);
}

interface Asked {
  readonly status: number;
  readonly body: string;
}

/** @returns a text, to be put behind what could not be done, when no answer came, or none in time */
async function ask(
  { http, env, clock }: HealthWorld,
  request: HttpRequest & { readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<Asked | string> {
  const { timeoutMs } = request;
  const late = new AbortController();
  const cancelTimer = clock.timer(timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs} ms`)), 'unref');
  try {
    const route = proxyRoute(env, new URL(request.url));
    const limit = AbortSignal.any([signal, late.signal]);
    const response = await http.request({ ...request, signal: limit, redirect: 'manual', ...(route === undefined ? {} : { route }) });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return `: no answer within ${timeoutMs} ms`;
    if (isNetworkFault(error)) return inWords(networkCode(error));
    throw error;
  } finally {
    cancelTimer();
  }
}

function modelNames(body: string): string[] {
  const json = parseJson(body);
  const list = isJsonObject(json) ? (json.data ?? json.models) : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const name = isJsonObject(item) ? (item.id ?? item.name) : item;
    return typeof name === 'string' ? [name] : [];
  });
}
