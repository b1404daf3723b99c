import type { Clock, Random } from '../platform/platform.ts';
import { waitForPromise } from '../tasks/wait.ts';
import { llmError, withRetries } from './llm-errors.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from './provider.ts';

/** What a model call takes from the world. */
export interface ModelWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly models: ModelRouter;
}

export interface ModelRouter {
  /** @throws HarnError `llm` (not_found) for a name that no adapter knows */
  provider(name: string): Provider;
  /** Whether the service takes tools as such; others get the text grammar (2.5). */
  hasNativeTools(provider: string, model: string): boolean;
}

export interface CallPolicy {
  readonly retries: number;
  readonly backoffMs: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
}

export const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Asks a model, with retries of transient faults (spec/agents.md 1.7).
 *
 * @param onEvent sees the answer as it arrives; of a broken stream nothing is kept (1.6)
 */
export function callModel(
  world: ModelWorld,
  request: ModelRequest,
  policy: CallPolicy,
  signal: AbortSignal,
  onEvent: (event: ModelEvent) => void = () => {},
): Promise<ModelAnswer> {
  const provider = world.models.provider(request.provider);
  const retryWorld = { sleep: world.clock.sleep.bind(world.clock), jitter: () => world.random.float() };
  return withRetries(policy, retryWorld, signal, () => attempt(world, provider, request, policy.timeoutMs, signal, onEvent));
}

async function attempt(
  { clock }: ModelWorld,
  provider: Provider,
  request: ModelRequest,
  timeoutMs: number,
  signal: AbortSignal,
  onEvent: (event: ModelEvent) => void,
): Promise<ModelAnswer> {
  signal.throwIfAborted();
  const { provider: name, model } = request;
  const bound = new AbortController();
  const follow = (): void => bound.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  const cancelTimer = clock.timer(
    timeoutMs,
    () => bound.abort(llmError({ category: 'timeout', message: `no answer within ${timeoutMs} ms`, provider: name, model })),
    'unref',
  );
  try {
    return await waitForPromise(bound.signal, readToEnd(provider.stream(request, bound.signal), request, onEvent));
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', follow);
  }
}

async function readToEnd(
  stream: AsyncIterable<ModelEvent>,
  { provider, model }: ModelRequest,
  onEvent: (event: ModelEvent) => void,
): Promise<ModelAnswer> {
  for await (const event of stream) {
    onEvent(event);
    if (event.type === 'finish') return event.answer;
  }
  throw llmError({ category: 'transient_network', message: 'the stream ended before the answer did', provider, model });
}
