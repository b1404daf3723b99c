import { renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import { claimPathOf, readLiveClaim } from '../store/claim-file.ts';
import type { Initiator, ParkRequest } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { shownPathOf } from './persist.ts';
import { hasConditions, parseResumeConditions, type ResumeConditions } from './resume-condition.ts';
import type { ResumeTarget } from './resume-subject.ts';
import { approvePark } from './run-activation.ts';
import { type SpecValue, storableSpec } from './spec-value.ts';
import { summaryOf } from './summary.ts';
import { inTransitionError, notRunningError } from './sus-errors.ts';
import { transition } from './transition.ts';
import { knownSubject } from './wait-elsewhere.ts';
import { PendingPark, type Worker } from './worker.ts';

/** `suspend_agent` up to the flag (spec/agents.md 5.3 steps 2 to 7); the rest happens at the boundary, in park.ts. */
export interface SuspendRequest {
  readonly reason: string;
  readonly initiator: Initiator;
  /** Not validated yet. */
  readonly conditions: SpecValue | undefined;
  readonly resumeBy: unknown;
  /** How long to wait for the boundary, on the real clock; 0 from inside the worker's own loop. */
  readonly waitMs: number;
  /** The call comes from a hook of this worker's own transition. */
  readonly isInHook?: boolean | undefined;
}

export const DEFAULT_WAIT_MS = 2000;

/**
 * `suspend_agent` by name. Only a worker that runs in this process can be asked; what another process has of it is
 * looked up, so that the answer says where it stands (5.5, 13.31).
 *
 * @throws as `suspendWorker`; plain HarnError for a name that leads nowhere
 */
export async function suspendNamed(lifecycle: Lifecycle, target: ResumeTarget, request: SuspendRequest): Promise<JsonObject> {
  const subject = knownSubject(lifecycle, target);
  if (subject.worker !== undefined) return suspendWorker(lifecycle, subject.worker, request);
  if (subject.status === 'suspended') return subject.summary();
  parseResumeConditions(request.conditions, 'suspend_agent');
  const claim = subject.files?.claim;
  throw notRunningError(subject.id, subject.status, claim === undefined ? undefined : { owner: 'other-process', owner_pid: claim.pid });
}

/**
 * Asks a worker to park at its next boundary.
 *
 * @returns its summary: `suspended` when the boundary came in time, else running with `suspend_requested`, or with
 *          `pre_suspend_denied` when a hook refused
 * @throws HarnError `HARN-SUS-001`, `-002`, `-006`, `-007`, `-008`; plain when the snapshot could not be written
 */
export async function suspendWorker(lifecycle: Lifecycle, worker: Worker, request: SuspendRequest): Promise<JsonObject> {
  const shownPath = shownPathOf(lifecycle, worker);
  if (request.isInHook === true) throw inTransitionError('suspend_agent', worker.id, worker.status);
  if (worker.status === 'suspended') return summaryOf(worker, shownPath);
  const conditions = parseResumeConditions(request.conditions, 'suspend_agent');
  const decision = transition(worker.status, 'suspend');
  if (decision.kind === 'refuse') throw notRunningError(worker.id, worker.status, ownerDetail(lifecycle, worker));
  const pending = worker.pending ?? (await raise(lifecycle, worker, parkRequest(request, conditions)));
  await boundaryOrTimeout(lifecycle, worker, pending, request.waitMs);
  return summaryOf(worker, shownPath, pending.deniedReason === undefined ? {} : { pre_suspend_denied: pending.deniedReason });
}

function parkRequest(request: SuspendRequest, conditions: ResumeConditions | undefined): ParkRequest {
  return {
    reason: request.reason.trim(),
    initiator: request.initiator,
    conditions: hasConditions(conditions) ? storableSpec(conditions.spec) : undefined,
    liveConditions: conditions?.spec,
    resumeBy: request.resumeBy,
  };
}

/**
 * Steps 5 and 6. The request is visible to other callers while the hooks think about it, so that they join it
 * instead of asking the hooks again; the loop sees it only when they have agreed.
 */
async function raise(lifecycle: Lifecycle, worker: Worker, request: ParkRequest): Promise<PendingPark> {
  const pending = new PendingPark(request, renderInstant(lifecycle.platform.clock.now()));
  worker.pending = pending;
  try {
    // Without a hook to ask, the flag is up before the caller's next step, and so before the worker's.
    const verdict = lifecycle.hooks.has('pre_suspend')
      ? await approvePark(lifecycle, worker, request)
      : ({ decision: 'allow', reason: request.reason } as const);
    if (verdict.decision === 'deny') {
      pending.deniedReason = verdict.reason;
      retract(worker, pending);
    } else if (worker.pending === pending) {
      pending.request = { ...request, reason: verdict.reason };
      pending.isRaised = true;
      worker.announceChange();
    }
    return pending;
  } catch (error) {
    retract(worker, pending);
    throw error;
  }
}

function retract(worker: Worker, pending: PendingPark): void {
  if (worker.pending === pending) worker.pending = undefined;
  pending.settle();
}

async function boundaryOrTimeout(lifecycle: Lifecycle, worker: Worker, pending: PendingPark, waitMs: number): Promise<void> {
  if (waitMs <= 0 || worker.pending !== pending) {
    // A request that is over already may have failed.
    if (worker.pending !== pending) await pending.settled;
    return;
  }
  let cancel = (): void => undefined;
  const timeout = new Promise<void>((resolve) => {
    cancel = lifecycle.realClock.timer(waitMs, resolve);
  });
  try {
    await Promise.race([pending.settled, timeout]);
  } finally {
    cancel();
  }
}

/** A worker that another process runs cannot be asked from here (13.31). */
function ownerDetail(lifecycle: Lifecycle, worker: Worker): JsonObject | undefined {
  const claim = readLiveClaim(lifecycle.claims, claimPathOf(worker.snapshotPath));
  return claim === undefined || worker.tenure !== undefined ? undefined : { owner: 'other-process', owner_pid: claim.pid };
}
