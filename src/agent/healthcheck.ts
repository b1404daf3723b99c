import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Clock, HttpClient } from '../platform/platform.ts';
import { type Endpoint, type EndpointWorld, endpointOf, serviceOf } from './endpoint.ts';
import { llmErrorFacts } from './llm-errors.ts';
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
  const answer = await listModels(world, service, endpoint, signal);
  if ('unreachable' in answer) return report('unreachable', `${provider} cannot be reached at ${new URL(endpoint.baseUrl).origin}`);
  if (answer.status === 401 || answer.status === 403)
    return report('auth', `${provider} refuses the key (status ${answer.status})`, { status: answer.status });
  if (answer.status !== 200) return report('bad_status', `${provider} answered ${answer.status}`, { status: answer.status });
  if (model !== undefined && answer.models.length > 0 && !answer.models.some((name) => name === model || name === `${model}:latest`)) {
    return report('model_missing', `${provider} does not serve ${model}`, { models: answer.models.slice(0, 50) });
  }
  if (wish.warm === true) await warm(world, endpoint, model ?? '', signal);
  return report('ok', `${provider} is ready`, { models: answer.models.length });
}

/** The candidate key stands where the configured one would. */
function candidateWorld(world: EndpointWorld, service: ServiceFacts, { apiKey }: HealthWish): EndpointWorld {
  if (apiKey === undefined) return world;
  return { ...world, env: (name) => (name === service.keyVariables[0] ? apiKey : world.env(name)) };
}

type Listed = { readonly status: number; readonly models: readonly string[] } | { readonly unreachable: true };

async function listModels(
  { http, env, clock }: HealthWorld,
  { protocol }: ServiceFacts,
  { baseUrl, key }: Endpoint,
  signal: AbortSignal,
): Promise<Listed> {
  const path = protocol === 'ollama' ? '/api/tags' : protocol === 'anthropic' && !baseUrl.endsWith('/v1') ? '/v1/models' : '/models';
  const auth: Record<string, string> =
    key === undefined ? {} : protocol === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
  const headers = { ...auth, ...(protocol === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}) };
  const late = new AbortController();
  const cancelTimer = clock.timer(TIMEOUT_MS, () => late.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)), 'unref');
  try {
    const route = proxyRoute(env, new URL(baseUrl));
    const limit = AbortSignal.any([signal, late.signal]);
    const response = await http.request({
      method: 'GET',
      url: `${baseUrl}${path}`,
      headers,
      signal: limit,
      redirect: 'manual',
      ...(route === undefined ? {} : { route }),
    });
    return { status: response.status, models: modelNames(await response.text()) };
  } catch {
    signal.throwIfAborted();
    return { unreachable: true };
  } finally {
    cancelTimer();
  }
}

function modelNames(body: string): string[] {
  let json: Json;
  try {
    json = JSON.parse(body) as Json; // JSON.parse gives nothing but Json
  } catch {
    return [];
  }
  const list = isJsonObject(json) ? (json.data ?? json.models) : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const name = isJsonObject(item) ? (item.id ?? item.name) : item;
    return typeof name === 'string' ? [name] : [];
  });
}

async function warm({ http }: HealthWorld, { baseUrl }: Endpoint, model: string, signal: AbortSignal): Promise<void> {
  const response = await http.request({
    method: 'POST',
    url: `${baseUrl}/api/generate`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: false, keep_alive: '10m' }),
    signal,
  });
  await response.text();
}
