import { HarnError, hasCode } from '../../base/harn-error.ts';
import type { Json, JsonObject } from '../../base/json.ts';

/**
 * Faults of model calls (spec/agents.md 1.7). One table says what a category means; `llm_mock` accepts exactly
 * the categories in it.
 */
export type LlmErrorFacts = {
  readonly category: string;
  readonly kind: 'transient' | 'terminal';
  readonly reason: string;
  readonly message: string;
  readonly provider: string;
  readonly model: string;
  readonly retry_after_ms?: number | undefined;
  /** Further facts of a category, e.g. what a budget would have been exceeded by. */
  readonly [extra: string]: Json | undefined;
};

const CATEGORIES: Readonly<Record<string, readonly [kind: 'transient' | 'terminal', reason: string]>> = {
  rate_limit: ['transient', 'rate_limit'],
  overloaded: ['transient', 'server_error'],
  server_error: ['transient', 'server_error'],
  transient_network: ['transient', 'network_error'],
  timeout: ['transient', 'timeout'],
  auth: ['terminal', 'auth_failure'],
  not_found: ['terminal', 'model_unavailable'],
  budget_exceeded: ['terminal', 'budget_exceeded'],
  schema_validation: ['terminal', 'invalid_request'],
  cancelled: ['terminal', 'unknown'],
  generic: ['terminal', 'unknown'],
  tool_error: ['terminal', 'unknown'],
  tool_rejected: ['terminal', 'unknown'],
  egress_blocked: ['terminal', 'unknown'],
  circuit_open: ['terminal', 'unknown'],
};

/** A service may ask for an hour; a script should hear of the fault long before (1.7). */
const LONGEST_RETRY_AFTER_MS = 60_000;
const LLM = 'llm';

export function isLlmCategory(category: string): boolean {
  return Object.hasOwn(CATEGORIES, category);
}

/** Why a service refused a request, as far as its words tell (1.7). */
export function refusalReason(said: string): 'context_overflow' | 'content_policy' | undefined {
  if (/context.{0,20}(length|window|size)|too many tokens|too long|maximum.{0,20}tokens/i.test(said)) return 'context_overflow';
  return /content.{0,10}(policy|filter)|safety/i.test(said) ? 'content_policy' : undefined;
}

/** Whether a service found the request too long for the model. */
export function isContextOverflow(error: unknown): boolean {
  return error instanceof HarnError && error.data.reason === 'context_overflow';
}

export interface LlmErrorInput {
  readonly category: string;
  readonly message: string;
  readonly provider: string;
  readonly model: string;
  readonly retryAfterMs?: number | undefined;
  /** Narrows `generic`: context_overflow, content_policy, invalid_request. */
  readonly reason?: string | undefined;
  /** Where the service itself says whether a retry can help; otherwise the category decides. */
  readonly kind?: LlmErrorFacts['kind'] | undefined;
  readonly facts?: JsonObject | undefined;
  readonly cause?: unknown;
}

export function llmError(input: LlmErrorInput): HarnError {
  const [kind, reason] = CATEGORIES[input.category] ?? ['terminal', 'unknown'];
  const facts: LlmErrorFacts = {
    ...input.facts,
    category: input.category,
    kind: input.kind ?? kind,
    reason: input.reason ?? reason,
    message: input.message,
    provider: input.provider,
    model: input.model,
    ...(input.retryAfterMs === undefined ? {} : { retry_after_ms: input.retryAfterMs }),
  };
  return new HarnError(LLM, input.message, { data: facts, ...(input.cause === undefined ? {} : { cause: input.cause }) });
}

/** The dict that `catch` binds (0.4); undefined for other errors. */
export function llmErrorFacts(error: unknown): LlmErrorFacts | undefined {
  if (!hasCode(error, LLM)) return undefined;
  const { category, kind, reason, message, provider, model, ...rest } = (error as { data: JsonObject }).data;
  return {
    ...rest,
    category: String(category),
    kind: kind === 'transient' ? 'transient' : 'terminal',
    reason: String(reason),
    message: String(message),
    provider: String(provider),
    model: String(model),
  };
}

/** The same fault with how often it was tried (`attempts`), so that nobody is told to try what was tried. */
function afterAttempts(error: unknown, attempts: number): unknown {
  const facts = llmErrorFacts(error);
  return facts === undefined ? error : new HarnError(LLM, facts.message, { data: { ...facts, attempts }, cause: error });
}

export interface RetryPolicy {
  /** Further attempts after the first; spent on transient faults only. */
  readonly retries: number;
  readonly backoffMs: number;
}

/** What a retry loop takes from the world. */
export interface RetryWorld {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1); spreads callers that failed together. */
  readonly jitter: () => number;
  /** False forbids another attempt whatever the budget; true when left out. */
  readonly mayRetry?: () => boolean;
  /** Told before each wait; `failures` counts from 1. */
  readonly onRetry?: (failures: number, delayMs: number, error: LlmErrorFacts) => void;
}

/** Delay before attempt `attempt` (0-based count of failures so far): the service's wish, else exponential up to 16 times the base. */
export function retryDelayMs(attempt: number, backoffMs: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
  return backoffMs * 2 ** Math.min(attempt, 4);
}

/**
 * Runs `attempt` until it succeeds, fails for good, or the budget is spent. The mock provider never waits (1.7).
 * Jitter only adds, up to a tenth, so that a `Retry-After` is never undercut.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  world: RetryWorld,
  signal: AbortSignal,
  attempt: (index: number) => Promise<T>,
): Promise<T> {
  for (let index = 0; ; index++) {
    try {
      return await attempt(index);
    } catch (error) {
      const facts = llmErrorFacts(error);
      const isLast = index >= policy.retries || signal.aborted || world.mayRetry?.() === false;
      if (facts === undefined || facts.kind !== 'transient' || isLast) throw index === 0 ? error : afterAttempts(error, index + 1);
      const wait = retryDelayMs(index, policy.backoffMs, facts.retry_after_ms);
      const delayMs = facts.provider === 'mock' ? 0 : Math.round(wait * (1 + world.jitter() / 10));
      world.onRetry?.(index + 1, delayMs, facts);
      if (delayMs > 0) await world.sleep(delayMs, signal);
    }
  }
}
