import { dirname } from 'node:path';
import { errorText, HarnError } from '../base/harn-error.ts';
import { ensureDirectory, sweepTemporaries } from '../store/atomic-file.ts';
import { acquireClaim, type ClaimAttempt, type ClaimFacts, claimPathOf, sweepAbandonedClaims } from '../store/claim-file.ts';
import { writeSnapshot } from '../store/snapshot-file.ts';
import { displayPath } from '../store/state-root.ts';
import type { LoopState } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isTerminal } from './transition.ts';
import { joinSnapshot, type Worker, type WorkerRecord } from './worker.ts';

/** The path of a worker's snapshot as scripts see it. */
export function shownPathOf(lifecycle: Lifecycle, worker: { readonly snapshotPath: string }): string {
  return displayPath(lifecycle.platform.files.cwd(), worker.snapshotPath);
}

/**
 * Writes what a worker is about to be; nothing in memory changes. The owner has been checked by the caller.
 * @throws Node's errors; the old file is then intact
 */
export function writeRecord(lifecycle: Lifecycle, worker: Worker, changes: Partial<WorkerRecord>, state: LoopState): void {
  const { platform } = lifecycle;
  ensureDirectory(platform.files, dirname(worker.snapshotPath));
  const record = { ...worker.record, ...changes, snapshot_path: shownPathOf(lifecycle, worker) };
  worker.snapshotSha256 = writeSnapshot(platform, worker.snapshotPath, joinSnapshot(record, state), worker.lists);
  if (isTerminal(record.status)) worker.lists.clear();
}

/** Removes what processes that died left beside a snapshot. Only for whoever holds its claim. */
export function sweepLeftovers(lifecycle: Lifecycle, snapshotPath: string): void {
  sweepTemporaries(lifecycle.platform.files, snapshotPath);
  sweepAbandonedClaims(lifecycle.claims, claimPathOf(snapshotPath));
}

/** A snapshot that could not be written, as the caller of suspend_agent sees it (4.8). */
export function persistError(operation: string, what: string, shownPath: string, cause: unknown): HarnError {
  return new HarnError('plain', `${operation}: failed to persist ${what} ${shownPath}: ${errorText(cause)}`, { cause });
}

/**
 * Tries to claim a worker for an operation.
 * @throws plain HarnError when the claim could not be written
 */
export function tryToClaim(
  lifecycle: Lifecycle,
  worker: { readonly snapshotPath: string },
  facts: ClaimFacts,
  operation: string,
  what: string,
): ClaimAttempt {
  try {
    return acquireClaim(lifecycle.claims, claimPathOf(worker.snapshotPath), facts);
  } catch (error) {
    throw persistError(operation, what, shownPathOf(lifecycle, worker), error);
  }
}
