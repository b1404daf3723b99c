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
 * of a suspend. Resolves when each has, or when the grace time is over.
 */
export async function parkForSignal(lifecycle: Lifecycle, signal: string, graceMs: number): Promise<void> {
  const workers = [...lifecycle.running].sort((a, b) => (a.id < b.id ? -1 : 1));
  lifecycle.stopping = workers;
  await Promise.all(workers.map((worker) => parkOne(lifecycle, worker, reasonFor(signal), graceMs)));
}

/**
 * What became of the loops that `parkForSignal` asked. One that has reached no boundary by now is not forced: its
 * journal stands, and a `signal` record says why it stopped.
 */
export function settleForSignal(lifecycle: Lifecycle, signal: string): StoppedWorkers {
  const workers = lifecycle.stopping ?? [];
  const parked = workers.filter(({ status }) => status === 'suspended');
  const interrupted = workers.filter(({ status, tenure }) => status !== 'suspended' && tenure !== undefined);
  const at = renderInstant(lifecycle.realClock.now());
  for (const { tenure } of interrupted) tenure?.append({ t: 'signal', signal, reason: reasonFor(signal), initiator: 'operator', at });
  return { parked, interrupted };
}

/**
 * Workers that a process would cut off by ending now; their journals hold them. One that rests between two cycles, and
 * a daemon that idles, lose nothing.
 */
export function workersAtWork({ registry, running }: Lifecycle): readonly Worker[] {
  const known = [...new Set([...registry.list(), ...running])];
  return known.filter(({ tenure, status, idleWake }) => tenure !== undefined && status !== 'awaiting' && idleWake === undefined);
}

async function parkOne(lifecycle: Lifecycle, worker: Worker, reason: string, graceMs: number): Promise<void> {
  try {
    await suspendWorker(lifecycle, worker, { reason, initiator: 'operator', conditions: undefined, resumeBy: undefined, waitMs: graceMs });
  } catch (error) {
    lifecycle.warn(`harn: ${worker.id} could not be parked: ${errorText(error)}`);
  }
}

function reasonFor(signal: string): string {
  return `signal ${signal}`;
}
