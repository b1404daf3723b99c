import type { JsonObject } from '../base/json.ts';
import type { LoopState } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The transcript doctor (spec/agents.md 5.15); what it did is said, never what the transcript holds. */
export function repaired(
  lifecycle: Lifecycle,
  workerId: string,
  state: LoopState,
  model: { readonly provider: string; readonly model: string },
): LoopState {
  const outcome = lifecycle.runner.repair(state, model);
  for (const repair of outcome.repairs) {
    const event = { type: 'transcript_repaired', worker_id: workerId, ...repair };
    lifecycle.emit(event);
    lifecycle.eventLog.append({
      topic: 'agent.workers',
      kind: 'transcript_repaired',
      payload: event,
      headers: { worker_id: workerId },
      occurredAt: lifecycle.platform.clock.now(),
      durability: 'lazy',
    });
  }
  const { length: count } = outcome.repairs;
  if (count > 0) {
    const repairs = `${count === 1 ? 'a repair' : `${count} repairs`} before it could be sent: ${describeRepairs(outcome.repairs)}`;
    lifecycle.warn(`harn: the transcript of ${workerId} needed ${repairs}`);
  }
  return outcome.state;
}

/** The kinds of repairs with how often, such as `result_added 2 times, compacted`. */
export function describeRepairs(repairs: readonly JsonObject[]): string {
  const counts = new Map<string, number>();
  for (const { repair } of repairs) counts.set(String(repair), (counts.get(String(repair)) ?? 0) + 1);
  return [...counts].map(([repair, count]) => (count === 1 ? repair : `${repair} ${count} times`)).join(', ');
}
