import { hasCode } from '../../base/harn-error.ts';
import type { Clock, Random } from '../../platform/platform.ts';
import { waitForPromise } from '../../tasks/wait.ts';
import { type LlmErrorFacts, llmError, withRetries } from '../providers/llm-errors.ts';
import type { LlmSettings } from '../providers/llm-settings.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from '../providers/provider.ts';

/** What a model call takes from the world. */
export interface ModelWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly models: ModelRouter;
}

export interface ModelRouter {
  /**
   * Reads what the project says of its models; to be awaited before `settings` is looked at.
   *
   * @throws HarnError `plain` for a project file that cannot be read
   */
  prepare?(): Promise<void>;
  readonly settings?: LlmSettings | undefined;
  /** How the service itself searches among deferred tools; empty when it does not. */
  toolSearch?(provider: string, model: string): Promise<readonly string[]>;
  /** Waits until the provider may be asked once more; outside the time that an attempt may take. */
  admit?(provider: string, signal: AbortSignal): Promise<void>;
  /** Told of everything that happens around an answer, whoever asked. */
  observe?(event: CallEvent, request: ModelRequest): void;
  /** @throws HarnError `llm` (not_found) for a name that no adapter knows */
  provider(name: string): Provider;
  /** Whether the service takes tools as such; others get the text grammar (2.5). */
  hasNativeTools(provider: string, model: string): boolean | Promise<boolean>;
}

export interface CallPolicy {
  readonly retries: number;
  readonly backoffMs: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /**
   * What to do when an attempt fails after text was handed on. A reader of events is told by `retry` that what it has is
   * void (1.6); who passes text on for good, as `llm_stream` does, must `fail`.
   */
  readonly afterText?: 'retry' | 'fail';
}

/** An attempt failed and another one follows: what came of it is void. */
export interface RetryEvent {
  readonly type: 'retry';
  /** Failed attempts so far, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: LlmErrorFacts;
  /** Characters of text that were handed on and no longer count. */
  readonly discardedChars: number;
}

/** What the one who asks sees while an answer arrives. */
export type CallEvent = ModelEvent | RetryEvent | SchemaRetryEvent;

/** The answer had the wrong shape and is asked for again (1.5). */
export interface SchemaRetryEvent {
  readonly type: 'schema_retry';
  readonly attempt: number;
  readonly faults: readonly string[];
  /** What the model is told; undefined for a bare retry. */
  readonly correction: string | undefined;
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
  onEvent: (event: CallEvent) => void = () => {},
): Promise<ModelAnswer> {
  const provider = world.models.provider(request.provider);
  let deliveredChars = 0;
  const deliver = (event: ModelEvent): void => {
    if (event.type === 'text') deliveredChars += event.text.length;
    onEvent(event);
  };
  const retryWorld = {
    sleep: world.clock.sleep.bind(world.clock),
    jitter: () => world.random.float(),
    mayRetry: () => deliveredChars === 0 || policy.afterText !== 'fail',
    onRetry: (attempt: number, delayMs: number, error: LlmErrorFacts) => {
      const event: RetryEvent = { type: 'retry', attempt, delayMs, error, discardedChars: deliveredChars };
      deliveredChars = 0;
      onEvent(event);
      world.models.observe?.(event, request);
    },
  };
  return withRetries(policy, retryWorld, signal, async () => {
    await world.models.admit?.(request.provider, signal);
    return attempt(world, provider, request, policy.timeoutMs, signal, deliver);
  });
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
  // A reason of its own: fetch writes the stack of what it is aborted with anew, and the caller's reason is not ours alone.
  const bound = new AbortController();
  const end = (): void => bound.abort(new Error('the model call is over'));
  signal.addEventListener('abort', end, { once: true });
  let isLate = false;
  const onLate = (): void => {
    isLate = true;
    end();
  };
  const cancelTimer = clock.timer(timeoutMs, onLate, 'unref');
  try {
    return await waitForPromise(bound.signal, readToEnd(provider.stream({ ...request, timeoutMs }, bound.signal), request, onEvent));
  } catch (error) {
    signal.throwIfAborted();
    if (isLate) throw llmError({ category: 'timeout', message: `${name} gave no answer within ${timeoutMs} ms`, provider: name, model });
    // What a timer or the network threw knows nothing of who was waiting: from here the stack leads to the script.
    if (hasCode(error, 'llm')) Error.captureStackTrace(error as Error);
    throw error;
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', end);
    // Whatever still hangs on the connection lets go of it.
    end();
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
  throw llmError({
    category: 'transient_network',
    message: `${provider} ended the stream before its answer was complete`,
    provider,
    model,
  });
}
