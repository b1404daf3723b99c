import { HarnError } from '../base/harn-error.ts';
import type { Lifecycle } from './lifecycle.ts';
import { namedSubject, type ResumeSubject, type ResumeTarget } from './resume-subject.ts';
import { lifecycleStateOf } from './transition.ts';

/**
 * Waiting for what another process does with a worker: nobody tells of it, so its files are looked at. A look costs a
 * few small reads; it is repeated soon at first and then once a second.
 */
export const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;

export function longerPause(pauseMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
}

/**
 * A worker by handle or id, as this process has it or as its files say.
 * @throws HarnError `plain` for a name that leads nowhere, and for a root loop of this process, which has no handle before its first park (5.10)
 */
export function knownSubject(lifecycle: Lifecycle, target: ResumeTarget): ResumeSubject {
  const unknown = (name: string): HarnError => new HarnError('plain', `unknown worker: ${name}`);
  if (target.kind === 'path') throw unknown(target.path);
  const subject = namedSubject(lifecycle, target);
  const { worker, files } = subject;
  const isUnseenRoot = worker === undefined && files?.sha256 === undefined && files?.claim?.pid === lifecycle.platform.processes.pid;
  if (isUnseenRoot) throw unknown(target.id);
  return subject;
}

/**
 * Waits until a worker runs nowhere else.
 *
 * @returns the worker, which may run in this process
 * @throws as `knownSubject`; the reason of the signal
 */
export async function whenNotElsewhere(lifecycle: Lifecycle, target: ResumeTarget, signal: AbortSignal): Promise<ResumeSubject> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longerPause(pauseMs)) {
    const subject = knownSubject(lifecycle, target);
    // Nothing comes of one between two cycles whose process is gone.
    const runsElsewhere = lifecycleStateOf(subject.status) === 'running' && subject.files?.claim !== undefined;
    if (subject.worker !== undefined || !runsElsewhere) return subject;
    // What a script does to its own clock says nothing of another process.
    await lifecycle.realClock.sleep(pauseMs, signal);
  }
}
