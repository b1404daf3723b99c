import { errorText } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { Lifecycle } from './lifecycle.ts';
import { suspendWorker } from './suspend.ts';
import type { Worker } from './worker.ts';

/** What became of the running loops when a signal came. */
export interface StoppedWorkers {
  /** Parked in time, in the order of their ids. */
  readonly parked: readonly Worker[];
  /** Still inside a turn when the grace time was over: resumable as interrupted. */
  readonly interrupted: readonly Worker[];
}

/**
 * SIGINT and SIGTERM (spec/agents.md 12.7): every running loop is asked to park as the operator would, on the one path
 * of a suspend. A loop that reaches no boundary within the grace time is not forced: its journal stands, and a `signal`
 * record says why it stopped.
 */
export async function parkForSignal(lifecycle: Lifecycle, signal: string, graceMs: number): Promise<StoppedWorkers> {
  lifecycle.isStopping = true;
  const workers = [...lifecycle.running].sort((a, b) => (a.id < b.id ? -1 : 1));
  const reason = `signal ${signal}`;
  const outcomes = await Promise.all(workers.map((worker) => parkOne(lifecycle, worker, reason, graceMs)));
  const parked = workers.filter((_, index) => outcomes[index]);
  const interrupted = workers.filter((worker, index) => !outcomes[index] && worker.tenure !== undefined);
  for (const worker of interrupted) {
    worker.tenure?.append({ t: 'signal', signal, reason, initiator: 'operator', at: renderInstant(lifecycle.realClock.now()) });
  }
  return { parked, interrupted };
}

/** @returns whether the worker is parked */
async function parkOne(lifecycle: Lifecycle, worker: Worker, reason: string, graceMs: number): Promise<boolean> {
  try {
    await suspendWorker(lifecycle, worker, { reason, initiator: 'operator', conditions: undefined, resumeBy: undefined, waitMs: graceMs });
  } catch (error) {
    lifecycle.warn(`harn: ${worker.id} could not be parked: ${errorText(error)}`);
  }
  return worker.status === 'suspended';
}
