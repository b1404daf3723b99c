import { currentLoop } from './agents/agent-context.ts';
import { lifecycleOf } from './agents/agent-lifecycle.ts';
import type { Context } from './context.ts';
import { plainError } from './errors.ts';

/**
 * A signal has asked everything to park (spec/agents.md 12.7): nothing that would run an agent starts any more. Code of
 * the script waits for the end of the process, so that nothing behind the call runs, not even clean-up. A tool or hook
 * of a loop is refused, so that its turn settles and the loop reaches its boundary.
 *
 * @throws plain error inside a loop
 */
export async function refuseWhileStopping(context: Context, operation: string): Promise<void> {
  await holdWhileStopping(context);
  if (lifecycleOf(context.run).stopping !== undefined)
    throw plainError(`${operation}: nothing starts any more, a signal stops this process`);
}

/**
 * The script does not hear what became of a worker that a signal parked; a tool of a loop does, so that its turn
 * settles.
 */
export async function holdWhileStopping(context: Context): Promise<void> {
  if (lifecycleOf(context.run).stopping !== undefined && currentLoop(context) === undefined) await new Promise<never>(() => undefined);
}
