import { dirname } from 'node:path';
import { HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import { removeDurably } from '../store/atomic-file.ts';
import type { Claim } from '../store/claim-file.ts';
import { markClosed } from '../store/closed-index.ts';
import { journalPathOf } from '../store/journal-file.ts';
import type { LoopState } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { persistError, shownPathOf, sweepLeftovers, tryToClaim, writeRecord } from './persist.ts';
import { recoverInterrupted } from './recover.ts';
import { hasMoved, namedSubject, type ResumeSubject, type ResumeTarget, resolveSubject } from './resume-subject.ts';
import { foldedState } from './run-activation.ts';
import { summaryOf } from './summary.ts';
import { lostRaceError } from './sus-errors.ts';
import { standOnDisk } from './tenure.ts';
import { transition } from './transition.ts';
import { splitSnapshot, Worker } from './worker.ts';
import { announceWorker } from './worker-events.ts';

export interface CloseMark {
  /** `operator`, `parent` or what else asked. */
  readonly by: string;
  /** `closed` by default. */
  readonly reason?: string | undefined;
}

/**
 * `close_agent` of a script, by name.
 * @throws as `closeWorker`; plain HarnError for a name that leads nowhere
 */
export async function closeNamed(lifecycle: Lifecycle, target: ResumeTarget, mark: CloseMark): Promise<JsonObject> {
  if (target.kind === 'worker') namedSubject(lifecycle, target);
  return closeWorker(lifecycle, target, mark);
}

/**
 * `close_agent` (spec/agents.md 5.11): ends a worker for good. A running one is told through its signal and not waited
 * for; a late result of it is dropped. No hook of suspend or resume runs.
 *
 * @param mark who closes it, and why, for the mark in the snapshot
 * @throws HarnError `HARN-SUS-006` for a worker that another process runs or resumes; plain when it cannot be written
 */
export async function closeWorker(lifecycle: Lifecycle, target: ResumeTarget, mark: CloseMark): Promise<JsonObject> {
  for (;;) {
    const subject = resolveSubject(lifecycle, target);
    if (transition(subject.status, 'close').kind === 'stay' || subject.isClosed) return subject.summary();
    const { worker } = subject;
    // A resume that is under way in this process goes first; what it started is then closed.
    if (worker?.isInTransition === true) {
      await worker.changed();
      continue;
    }
    const summary =
      worker?.tenure === undefined ? await closeParked(lifecycle, subject, mark) : await closeRunning(lifecycle, worker, mark);
    if (summary !== undefined) return summary;
  }
}

async function closeRunning(lifecycle: Lifecycle, worker: Worker, mark: CloseMark): Promise<JsonObject> {
  const { tenure } = worker;
  if (tenure === undefined) throw new Error(`${worker.id} is not run by this process`);
  tenure.assertOwner();
  const state = foldedState(lifecycle, worker, tenure);
  // Written first: a disk that refuses leaves the worker running.
  commitClose(lifecycle, worker, mark, state);
  tenure.isOver = true;
  tenure.abort(new HarnError('cancelled', 'worker cancelled', { data: { category: 'cancelled', kind: 'terminal', reason: 'unknown' } }));
  tenure.finish();
  worker.tenure = undefined;
  const { pending } = worker;
  worker.pending = undefined;
  pending?.settle();
  return announceClosed(lifecycle, worker);
}

/** @returns undefined when the worker had gone on before the claim was won, and has to be looked at again */
async function closeParked(lifecycle: Lifecycle, subject: ResumeSubject, mark: CloseMark): Promise<JsonObject | undefined> {
  // A worker between two cycles is held by this process already.
  subject.worker?.restingClaim?.release();
  const claim = claimToClose(lifecycle, subject);
  try {
    if (hasMoved(subject, standOnDisk(lifecycle.platform.files, subject.snapshotPath))) return undefined;
    if (subject.worker === undefined) sweepLeftovers(lifecycle, subject.snapshotPath);
    const worker = subject.worker ?? workerOfFiles(lifecycle, subject);
    const armed = lifecycle.waker.disarm(worker);
    try {
      commitClose(lifecycle, worker, mark, worker.state);
    } catch (error) {
      armed.restore();
      throw error;
    }
    armed.forget();
    lifecycle.registry.add(worker);
    return await announceClosed(lifecycle, worker);
  } finally {
    claim.release();
  }
}

function claimToClose(lifecycle: Lifecycle, subject: ResumeSubject): Claim {
  const facts = { suspensionId: subject.suspensionId ?? null, generation: subject.generation + 1 };
  const attempt = tryToClaim(lifecycle, subject, facts, 'close_agent', 'close of');
  if (attempt.kind === 'won') return attempt.claim;
  throw lostRaceError('close_agent', subject.id, subject.status, {
    owner: 'other-process',
    owner_pid: attempt.by?.pid ?? null,
    generation: subject.generation,
  });
}

function workerOfFiles(lifecycle: Lifecycle, { files, target, snapshotPath }: ResumeSubject): Worker {
  if (files === undefined) throw new Error(`${target} is known neither here nor on disk`);
  const { record, state } = files.status === 'interrupted' ? recoverInterrupted(lifecycle, files, target) : splitSnapshot(files.snapshot);
  return new Worker(snapshotPath, record, state, undefined);
}

function commitClose(lifecycle: Lifecycle, worker: Worker, { by, reason = 'closed' }: CloseMark, state: LoopState): void {
  const { platform } = lifecycle;
  const now = renderInstant(platform.clock.now());
  const changes = {
    status: 'cancelled' as const,
    lifecycle_state: 'closed',
    finished_at: now,
    suspension: null,
    last_suspension: worker.suspension ?? worker.record.last_suspension,
    armed: null,
    latest_error: 'worker cancelled',
    rejected: { at: now, by, reason },
    resume: { ...worker.record.resume, generation: worker.generation + 1 },
  };
  try {
    writeRecord(lifecycle, worker, changes, state);
  } catch (error) {
    throw persistError('close_agent', 'close of', shownPathOf(lifecycle, worker), error);
  }
  try {
    markClosed(platform.files, dirname(worker.snapshotPath), worker.id);
  } catch (error) {
    // The snapshot has the mark already; the index only speaks for copies that were made before.
    lifecycle.warn(`harn: ${persistError('close_agent', 'index of closed workers beside', shownPathOf(lifecycle, worker), error).message}`);
  }
  removeDurably(platform.files, journalPathOf(worker.snapshotPath));
  worker.change(changes);
  worker.state = state;
}

async function announceClosed(lifecycle: Lifecycle, worker: Worker): Promise<JsonObject> {
  worker.announceChange();
  await announceWorker(lifecycle, worker, 'WorkerCancelled');
  return summaryOf(worker, shownPathOf(lifecycle, worker));
}
