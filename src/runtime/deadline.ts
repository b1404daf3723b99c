import type { Context } from './context.ts';
import { thrownText } from './errors.ts';
import { deriveContext, taskTree } from './task-context.ts';
import { Duration, type Value } from './value.ts';

/**
 * `deadline d { … }` (spec/language.md 6.11). The block runs under a scope of its own. When the time is up the scope is
 * cancelled with `Deadline exceeded`: waits inside reject with it, loops throw it at their next check, and tasks
 * started inside are cancelled. The inner of two nested deadlines hears of the outer one through its scope.
 *
 * ```js
 * const block = enterDeadline(c, duration);
 * try { …the block, with `block.context` as its context… } finally { block.leave(); }
 * ```
 */
export interface DeadlineBlock {
  readonly context: Context;
  /** Must be called exactly once, however the block ends. */
  leave(): void;
}

export function enterDeadline(context: Context, duration: Value): DeadlineBlock {
  const ms = deadlineMs(duration);
  const tree = taskTree(context.run);
  const scope = tree.openScope(context);
  const expire = (): void => scope.cancel(thrownText('Deadline exceeded'));
  // The timer ends waits, the alarm ends loops that keep the timer from firing.
  const stopTimer = context.run.platform.clock.timer(ms, expire);
  const stopAlarm = tree.interrupts.alarm(ms, expire);
  return {
    context: deriveContext(context, { signal: scope.signal }),
    leave() {
      stopTimer();
      stopAlarm();
      scope.close();
    },
  };
}

const DEFAULT_DEADLINE_MS = 30_000;

function deadlineMs(duration: Value): number {
  if (duration instanceof Duration) return Math.max(0, duration.ms);
  if (typeof duration === 'number') return Math.max(0, duration);
  if (typeof duration === 'bigint') return duration < 0n ? 0 : Number.MAX_SAFE_INTEGER;
  return DEFAULT_DEADLINE_MS;
}
