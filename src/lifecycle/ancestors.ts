import { join } from 'node:path';
import { journalPathOf, readJournalOpen } from '../store/journal-file.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { WORKER_ID } from '../store/worker-status.ts';
import type { Lifecycle } from './lifecycle.ts';
import { textIn } from './suspension-head.ts';

/** Who started a worker, and who started that one, nearest first; workers of earlier processes are known by their files. */
export function ancestorsOf(lifecycle: Lifecycle, id: string): string[] {
  const ancestors: string[] = [];
  for (let parent = parentOf(lifecycle, id); parent !== undefined; parent = parentOf(lifecycle, parent)) {
    // Files may say anything.
    if (parent === id || ancestors.includes(parent)) break;
    ancestors.push(parent);
  }
  return ancestors;
}

function parentOf({ registry, locations, platform: { files } }: Lifecycle, id: string): string | undefined {
  const worker = registry.get(id);
  if (worker !== undefined) return worker.record.parent_worker_id ?? undefined;
  if (!WORKER_ID.test(id)) return undefined;
  const snapshotPath = join(locations.workers, `${id}.json`);
  const head = readSnapshotHead(files, snapshotPath, ['parent_worker_id']) ?? readJournalOpen(files, journalPathOf(snapshotPath))?.head;
  return textIn(head?.parent_worker_id);
}
