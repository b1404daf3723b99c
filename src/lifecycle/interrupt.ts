import { HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Worker } from './worker.ts';

/**
 * Stops a running worker without a boundary, as a crash would: its journal stands, with a `signal` record that says
 * why, and a later resume goes on from there (spec/agents.md 4.9, 5.7). Late results of its tools are dropped.
 */
export function interruptWorker(lifecycle: Lifecycle, worker: Worker, signal: string): void {
  const { tenure, pending } = worker;
  if (tenure === undefined) return;
  tenure.append({ t: 'signal', signal, reason: signal, initiator: 'operator', at: renderInstant(lifecycle.realClock.now()) });
  const reason = new HarnError('cancelled', 'worker interrupted', { data: { category: 'cancelled', kind: 'terminal', reason: signal } });
  tenure.abort(reason);
  tenure.abandon();
  worker.tenure = undefined;
  worker.pending = undefined;
  worker.idleWake = undefined;
  worker.fenced = reason;
  // From here on only its files tell what it is.
  lifecycle.registry.remove(worker);
  pending?.settle();
  worker.announceChange();
}
