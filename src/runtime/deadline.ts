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
 * const inner = enterDeadline(c, duration);
 * try { …the block, with `inner` as its context… }
 * catch (error) { throw deadlineError(inner, error); }
 * finally { leaveDeadline(inner); }
 * ```
 */
export function enterDeadline(context: Context, duration: Value): Context {
  const ms = deadlineMs(duration);
  const tree = taskTree(context.run);
  const scope = tree.openScope(context);
  const expire = (): void => scope.cancel(thrownText('Deadline exceeded'));
  // The timer ends waits, the alarm ends loops that keep the timer from firing.
  const stopTimer = context.run.platform.clock.timer(ms, expire);
  const stopAlarm = tree.interrupts.alarm(ms, expire);
  tree.onClose(scope, () => {
    stopTimer();
    stopAlarm();
  });
  return deriveContext(context, { signal: scope.signal });
}

/** Must be called exactly once with what `enterDeadline` gave, however the block ends. */
export function leaveDeadline(context: Context): void {
  taskTree(context.run).closeScope(context);
}

/** The error that leaves the block: whatever its cleanup made of it, a block whose time was up ends with that. */
export function deadlineError(context: Context, error: unknown): unknown {
  return context.signal.aborted ? context.signal.reason : error;
}

const DEFAULT_DEADLINE_MS = 30_000;

function deadlineMs(duration: Value): number {
  if (duration instanceof Duration) return Math.max(0, duration.ms);
  if (typeof duration === 'number') return Math.max(0, duration);
  if (typeof duration === 'bigint') return duration < 0n ? 0 : Number.MAX_SAFE_INTEGER;
  return DEFAULT_DEADLINE_MS;
}
