import { join } from 'node:path';
import type { Files } from '../platform/platform.ts';
import { PRIVATE_FILE_MODE } from './atomic-file.ts';

/**
 * Ids of closed workers, one a line, in each folder of snapshots: a copy of a snapshot that was made before the close
 * does not carry the mark (spec/agents.md 13.17).
 */
export const CLOSED_INDEX = 'closed.index';

export function markClosed(files: Files, directory: string, workerId: string): void {
  const handle = files.open(join(directory, CLOSED_INDEX), 'append', PRIVATE_FILE_MODE);
  try {
    handle.write(`${workerId}\n`);
    handle.sync();
  } finally {
    handle.close();
  }
}

export function isMarkedClosed(files: Files, directory: string, workerId: string): boolean {
  return readClosedIds(files, directory).has(workerId);
}

export function readClosedIds(files: Files, directory: string): ReadonlySet<string> {
  const path = join(directory, CLOSED_INDEX);
  return new Set(files.exists(path) ? files.readText(path).split('\n') : []);
}
