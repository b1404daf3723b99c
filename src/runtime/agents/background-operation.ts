import type { Context } from '../context.ts';
import { durationMs } from '../duration.ts';
import type { Value } from '../value.ts';
import { agentValue, field } from './agent-values.ts';
import type { AsyncWork } from './async-registry.ts';

/** `long_running: true` or `background: true` in the options of an operation (spec/agents.md 2.8). */
export function wantsBackground(options: Value): boolean {
  return field(options, 'long_running') === true || field(options, 'background') === true;
}

/** Starts the operation beside the turns of the loop. @returns the envelope of its start */
export async function inBackground(context: Context, options: Value, work: Omit<AsyncWork, 'timeoutMs'>): Promise<Value> {
  const { startAsyncWork } = await import('./async-handles.ts');
  return agentValue(startAsyncWork(context, { ...work, timeoutMs: durationMs(field(options, 'timeout_ms')) }));
}
