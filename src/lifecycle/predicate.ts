import { errorText } from '../base/harn-error.ts';
import type { Json } from '../base/json.ts';
import type { Clock } from '../platform/platform.ts';

/**
 * A `when` closure and its budget (spec/agents.md 9.1): it may ask a model, so it may take time and money. One that
 * uses more than it may counts as a no: an event must not start work on the word of a predicate that ran away.
 */
export interface PredicateBudget {
  readonly maxCostUsd: number | undefined;
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** Totals of model calls. */
export interface Spending {
  readonly tokens: number;
  readonly costUsd: number;
}

export type PredicateVerdict =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no'; readonly reason: null | 'budget_exceeded' | 'timeout'; readonly spent: Spending }
  | { readonly kind: 'threw'; readonly error: string };

export async function askPredicate(
  ask: () => Promise<Json>,
  budget: PredicateBudget | undefined,
  world: { readonly spending: () => Spending; readonly clock: Clock },
): Promise<PredicateVerdict> {
  const before = world.spending();
  try {
    const answer = budget?.timeoutMs === undefined ? await ask() : await withinTime(ask(), budget.timeoutMs, world.clock);
    const now = world.spending();
    const spent = { tokens: now.tokens - before.tokens, costUsd: now.costUsd - before.costUsd };
    if (answer === TIMED_OUT) return { kind: 'no', reason: 'timeout', spent };
    if (isExceeded(spent, budget)) return { kind: 'no', reason: 'budget_exceeded', spent };
    return answer === true ? { kind: 'yes' } : { kind: 'no', reason: null, spent };
  } catch (error) {
    return { kind: 'threw', error: errorText(error) };
  }
}

function isExceeded(spent: Spending, budget: PredicateBudget | undefined): boolean {
  return spent.tokens > (budget?.maxTokens ?? Infinity) || spent.costUsd > (budget?.maxCostUsd ?? Infinity);
}

const TIMED_OUT: unique symbol = Symbol('timed out');

async function withinTime(answer: Promise<Json>, ms: number, clock: Clock): Promise<Json | typeof TIMED_OUT> {
  const timer = new AbortController();
  const expired = (): typeof TIMED_OUT => TIMED_OUT;
  const timeout = clock.sleep(ms, timer.signal).then(expired, expired);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    timer.abort();
  }
}
