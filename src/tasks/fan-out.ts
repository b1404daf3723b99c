import type { CancelScope } from './cancel-scope.ts';
import { failed, type Outcome, outcomeOf } from './outcome.ts';

export interface FanOut<T> {
  readonly count: number;
  /** How many bodies may run at the same time; `Infinity` for no limit. */
  readonly limit: number;
  readonly body: (index: number) => T | Promise<T>;
  /** Told about each outcome as it happens. */
  readonly onOutcome?: (index: number, outcome: Outcome<T>) => void;
}

/**
 * Runs `count` bodies, started in order, and resolves when every one has ended: none outlives the call, whatever
 * fails. Bodies that have not begun when `scope` is cancelled never begin. Closes `scope` at the end.
 *
 * @returns the outcomes by index
 */
export async function fanOut<T>(scope: CancelScope, { count, limit, body, onOutcome }: FanOut<T>): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = new Array(count);
  let next = 0;

  async function runner(): Promise<void> {
    while (next < count) {
      const index = next++;
      const { signal } = scope;
      const pending = signal.aborted ? failed<T>(signal.reason) : outcomeOf(() => body(index));
      const outcome = pending instanceof Promise ? await pending : pending;
      outcomes[index] = outcome;
      onOutcome?.(index, outcome);
    }
  }

  const runners: Promise<void>[] = [];
  while (runners.length < limit && next < count) runners.push(runner());
  await Promise.all(runners);
  scope.close();
  return outcomes;
}

/** The outcome with the lowest index that failed. */
export function firstFailure<T>(outcomes: readonly Outcome<T>[]): Extract<Outcome<T>, { kind: 'failed' }> | undefined {
  for (const outcome of outcomes) {
    if (outcome.kind === 'failed') return outcome;
  }
  return undefined;
}
