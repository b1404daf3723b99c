import { type CallEvent, type CallPolicy, callModel } from '../../src/agent/model-call/model-call.ts';
import { llmErrorFacts } from '../../src/agent/providers/llm-errors.ts';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import type { ModelAnswer, ModelRequest } from '../../src/agent/providers/provider.ts';
import { createRemoteProvider } from '../../src/agent/providers/remote-provider.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { HttpClient, HttpResponse } from '../../src/platform/platform.ts';
import { fakeWorld, frozenClock, script } from './fake-activation.ts';

/** The key that adapters send in tests; it may appear in no text that leaves them. */
export const KEY = 'sk-canary-5f2e9b';

export function request(provider: string, change: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: 'user' as const, content: 'hello' }];
  return { provider, model: 'm', system: 'be brief', messages, tools: [], toolChoice: 'auto', options: {}, ...change };
}

export interface Setup {
  readonly provider?: string;
  readonly change?: Partial<ModelRequest>;
  readonly policy?: Partial<CallPolicy>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CallEvent) => void;
  readonly http?: HttpClient;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Asks as a loop does, of a server on the loopback interface. Retries do not wait: the clock stands still, and sleeping
 * moves it.
 *
 * @param url of the server, which may not run yet
 */
export function asker(url: () => string): (setup: Setup) => Promise<ModelAnswer> {
  const platform = createNodePlatform();
  const clock = { now: () => platform.clock.now(), timer: platform.clock.timer.bind(platform.clock) };
  return async ({ provider = 'openai', change = {}, policy = {}, signal, onEvent, http = platform.http, env = {} }) => {
    const variables: Readonly<Record<string, string>> = {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${url()}/v1`,
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: url(),
      OLLAMA_HOST: url(),
      ...env,
    };
    const world = { http, env: (name: string) => variables[name], clock, settings: NO_SETTINGS };
    return callModel(
      {
        ...fakeWorld(script(), frozenClock()),
        models: { provider: (name) => createRemoteProvider(world, name), hasNativeTools: () => true },
      },
      request(provider, change),
      { retries: 0, backoffMs: 10, timeoutMs: 60_000, ...policy },
      signal ?? new AbortController().signal,
      onEvent,
    );
  };
}

/** What a script would catch. */
export async function fault(asked: Promise<unknown>): Promise<JsonObject> {
  const error: unknown = await asked.then(
    () => 'answered',
    (caught: unknown) => caught,
  );
  return llmErrorFacts(error) ?? { thrown: String(error) };
}

/** A body in two pieces, without the network that could join them. */
export function cutClient(body: string, at: number): HttpClient {
  const bytes = new TextEncoder().encode(body);
  const response: HttpResponse = {
    status: 200,
    headers: {},
    text: async () => body,
    bytes: async () => bytes,
    async *stream() {
      yield bytes.subarray(0, at);
      yield bytes.subarray(at);
    },
  };
  return { request: async () => response };
}
