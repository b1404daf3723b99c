import type { Files } from '../platform/platform.ts';
import { CLOSED_INDEX } from './closed-index.ts';
import { journalPathOf } from './journal-file.ts';

/** What lies in a folder of snapshots, sorted by name: the files of each worker together, and what belongs to none. */
export interface WorkerFolder {
  readonly workers: readonly WorkerFileSet[];
  /** Absolute paths of what harn did not put there. */
  readonly foreign: readonly string[];
}

export interface WorkerFileSet {
  /** Where the snapshot is, or would be. */
  readonly snapshotPath: string;
  readonly hasSnapshot: boolean;
  readonly hasJournal: boolean;
  readonly hasClaim: boolean;
}

const SNAPSHOT = '.json';
const JOURNAL = '.journal.jsonl';
const CLAIM = '.json.claim';
/** Drafts of writers and claimers, hidden files, and notes for people. */
const BESIDE = /\.json\.tmp_|\.json\.claim\.|^\.|^README/;

/** @returns an empty folder when there is none */
export function readWorkerFolder(files: Files, directory: string): WorkerFolder {
  const names = files.stat(directory)?.isDirectory === true ? files.list(directory).sort() : [];
  const present = new Set(names);
  const stems = new Set<string>();
  const foreign: string[] = [];
  for (const name of names) {
    const stem = stemOf(name);
    if (stem !== undefined) stems.add(stem);
    else if (!name.endsWith(CLAIM) && name !== CLOSED_INDEX && !BESIDE.test(name)) foreign.push(`${directory}/${name}`);
  }
  const workers = [...stems].sort().map((stem) => ({
    snapshotPath: `${directory}/${stem}${SNAPSHOT}`,
    hasSnapshot: present.has(`${stem}${SNAPSHOT}`),
    hasJournal: present.has(`${stem}${JOURNAL}`),
    hasClaim: present.has(`${stem}${CLAIM}`),
  }));
  return { workers, foreign };
}

/** The files of one worker. */
export function workerFileSet(files: Files, snapshotPath: string): WorkerFileSet {
  return {
    snapshotPath,
    hasSnapshot: files.exists(snapshotPath),
    hasJournal: files.exists(journalPathOf(snapshotPath)),
    hasClaim: files.exists(`${snapshotPath}.claim`),
  };
}

function stemOf(name: string): string | undefined {
  if (BESIDE.test(name)) return undefined;
  if (name.endsWith(JOURNAL)) return name.slice(0, -JOURNAL.length);
  return name.endsWith(SNAPSHOT) ? name.slice(0, -SNAPSHOT.length) : undefined;
}
