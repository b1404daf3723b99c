import { dirname } from 'node:path';
import { type ClaimRecord, claimPathOf, readLiveClaim } from '../store/claim-file.ts';
import { isMarkedClosed } from '../store/closed-index.ts';
import { type Journal, type JournalOpen, journalPathOf, readJournal, readJournalOpen } from '../store/journal-file.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import { decodeDocument, readSnapshot } from '../store/snapshot-file.ts';
import { RenderedLists } from '../store/snapshot-lists.ts';
import type { WorkerSnapshot } from '../store/snapshot-schema.ts';
import type { WorkerStatus } from '../store/worker-status.ts';
import type { Lifecycle } from './lifecycle.ts';
import { effectiveStatus } from './transition.ts';

/**
 * What the files of a worker say together (spec/agents.md 4.7, 4.9, 5.7): a snapshot, and a journal that counts only
 * when its generation is above the snapshot's. With a live claim such a worker runs somewhere, without one it was
 * interrupted.
 */
export interface WorkerFiles {
  readonly snapshotPath: string;
  /** The snapshot, or the head of the journal of a worker that never parked. */
  readonly snapshot: WorkerSnapshot;
  /** Checksum of the snapshot file; undefined when there is none yet. */
  readonly sha256: string | undefined;
  /** The text of the snapshot's transcript. */
  readonly lists: RenderedLists;
  /** `open` of a journal that counts. */
  readonly activeOpen: JournalOpen | undefined;
  readonly claim: ClaimRecord | undefined;
  readonly status: WorkerStatus;
  /** The higher one of snapshot and journal. */
  readonly generation: number;
  /** When the latest resume opened; undefined when there was none. */
  readonly openedAt: string | undefined;
  readonly isClosed: boolean;
}

/** @throws HarnError `HARN-SUS-004` for files that are missing, damaged or from the future */
export function readWorkerFiles(lifecycle: Lifecycle, snapshotPath: string, target: string): WorkerFiles {
  const { files } = lifecycle.platform;
  const journalOpen = readJournalOpen(files, journalPathOf(snapshotPath));
  const loaded =
    files.exists(snapshotPath) || journalOpen === undefined ? readSnapshot(lifecycle.platform, snapshotPath, target) : undefined;
  const isActive = journalOpen !== undefined && (loaded === undefined || journalOpen.generation > loaded.snapshot.resume.generation);
  const activeOpen = isActive ? journalOpen : undefined;
  // A journal without a base holds the whole start: of a worker that never parked, or that was given a new task.
  const isWhole = activeOpen?.base === null || loaded === undefined;
  const snapshot = isWhole ? decodeDocument(activeOpen?.head ?? {}, { target, path: journalPathOf(snapshotPath) }) : loaded.snapshot;
  const claim = readLiveClaim(lifecycle.claims, claimPathOf(snapshotPath));
  const isClosed =
    snapshot.status === 'cancelled' ||
    (snapshot.rejected !== null && snapshot.rejected !== undefined) ||
    isMarkedClosed(files, dirname(snapshotPath), snapshot.id) ||
    isMarkedClosed(files, lifecycle.locations.workers, snapshot.id);
  return {
    snapshotPath,
    snapshot,
    sha256: loaded?.sha256,
    lists: loaded?.lists ?? new RenderedLists(),
    activeOpen,
    claim,
    status: effectiveStatus(writtenStatus(snapshot), { hasActiveJournal: activeOpen !== undefined, isClaimed: claim !== undefined }),
    generation: Math.max(snapshot.resume.generation, activeOpen?.generation ?? 0),
    openedAt: openedAt(snapshot, activeOpen),
    isClosed,
  };
}

/** A file that calls itself parked and does not say how is what a crash leaves: where it stopped, nobody knows. */
function writtenStatus({ status, suspension }: WorkerSnapshot): WorkerStatus {
  return status === 'suspended' && (suspension === null || suspension === undefined) ? 'interrupted' : status;
}

/**
 * The records of an interrupted activation.
 * @throws HarnError `HARN-SUS-004`, reason `integrity`, when the journal builds on another snapshot than the one found
 */
export function readActiveJournal(lifecycle: Lifecycle, found: WorkerFiles, target: string): Journal {
  const path = journalPathOf(found.snapshotPath);
  const journal = readJournal(lifecycle.platform.files, path, { target, path, workerId: found.snapshot.id });
  if (journal === undefined) throw snapshotError('malformed', 'the journal vanished while it was read', { target, path });
  if (journal.open.base !== null && journal.open.base.sha256 !== found.sha256) {
    const cause = `the journal beside it builds on another snapshot; move ${path} away to resume from the snapshot alone`;
    throw snapshotError('integrity', cause, { target, path: found.snapshotPath, workerId: found.snapshot.id });
  }
  return journal;
}

function openedAt(snapshot: WorkerSnapshot, activeOpen: JournalOpen | undefined): string | undefined {
  if (activeOpen !== undefined && activeOpen.suspension_id !== null) return activeOpen.at;
  return snapshot.resume.opened_at ?? undefined;
}
