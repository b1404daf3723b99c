import type { Instant } from '../base/instant.ts';
import { removeDurably } from '../store/atomic-file.ts';
import { journalPathOf } from '../store/journal-file.ts';
import type { Lifecycle } from './lifecycle.ts';
import { folderFacts } from './list-workers.ts';
import { sweepLeftovers, tryToClaim } from './persist.ts';
import { readWorkerHead, type WorkerHead, type WorkerListing } from './worker-head.ts';

/** Workers that were done or closed before an instant. What is damaged, foreign or may still go on is never among them. */
export function endedWorkers(listings: readonly WorkerListing[], before: Instant): WorkerHead[] {
  return listings.filter(
    (listing): listing is WorkerHead =>
      listing.kind === 'worker' && hasEnded(listing) && listing.since !== undefined && listing.since <= before,
  );
}

function hasEnded({ lifecycleState }: WorkerHead): boolean {
  return lifecycleState === 'done' || lifecycleState === 'closed';
}

/**
 * Removes the files of a worker that is over, under its claim, so that nobody starts it again meanwhile. Its id stays in
 * the index of closed workers: a copy of a closed one is refused for ever.
 *
 * @returns false when somebody owns it, or when it is not over any more
 */
export async function removeEndedWorker(lifecycle: Lifecycle, head: WorkerHead): Promise<boolean> {
  const { snapshotPath } = head;
  const attempt = tryToClaim(lifecycle, head, { suspensionId: null, generation: 0 }, 'workers prune', 'removal of');
  if (attempt.kind === 'held') return false;
  try {
    const { files } = lifecycle.platform;
    const found = { snapshotPath, hasSnapshot: true, hasJournal: files.exists(journalPathOf(snapshotPath)), hasClaim: false };
    const now = readWorkerHead(lifecycle.platform, found, await folderFacts(lifecycle.platform, lifecycle.locations, [found]));
    if (now.kind !== 'worker' || now.id !== head.id || !hasEnded(now)) return false;
    sweepLeftovers(lifecycle, snapshotPath);
    removeDurably(files, journalPathOf(snapshotPath));
    removeDurably(files, snapshotPath);
    return true;
  } finally {
    attempt.claim.release();
  }
}
