import type { Instant } from '../base/instant.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import { type JournalOpen, journalPathOf, readJournalOpen } from '../store/journal-file.ts';
import type { ProcessIdentity } from '../store/process-identity.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { SNAPSHOT_VERSION } from '../store/snapshot-version.ts';
import type { WorkerFileSet } from '../store/worker-folder.ts';
import { STATUSES, WORKER_ID, type WorkerStatus } from '../store/worker-status.ts';
import { instantIn, type SeenProcess, type SuspensionHead, suspensionHead, textIn } from './suspension-head.ts';
import { effectiveStatus, type LifecycleState, lifecycleStateOf } from './transition.ts';

/**
 * What the head of a snapshot, its claim and the first record of its journal say of a worker, without its transcript.
 * A listing has to live with whatever lies in the folder, so a file that cannot be understood is a value here, too.
 */
export type WorkerListing = WorkerHead | UnreadableFile;

export interface UnreadableFile {
  /** `damaged`: it was a worker, or is one to a newer harn. `foreign`: something else. */
  readonly kind: 'damaged' | 'foreign';
  readonly path: string;
  readonly problem: string;
}

export interface WorkerHead {
  readonly kind: 'worker';
  readonly id: string;
  readonly name: string;
  readonly mode: string;
  readonly status: WorkerStatus;
  readonly lifecycleState: LifecycleState;
  readonly snapshotPath: string;
  readonly createdAt: Instant | undefined;
  /** Since when it is in this state, as far as the files say. */
  readonly since: Instant | undefined;
  /** Of the suspension or the close, or the error of a failed worker. */
  readonly reason: string | undefined;
  readonly parentId: string | undefined;
  /** The process that runs it, or ran it when it was interrupted. */
  readonly runner: SeenProcess | undefined;
  /** Set when the status is `suspended`. */
  readonly suspension: SuspensionHead | undefined;
}

type HeadWorld = Pick<Platform, 'files' | 'processes' | 'system'>;

export interface FolderFacts {
  /** From the index of waiters, by suspension id. */
  readonly armers: ReadonlyMap<string, ProcessIdentity | undefined>;
  readonly closedIds: ReadonlySet<string>;
  /** The owner that a claim names; asked only where there is one. */
  readonly runnerOf: (snapshotPath: string) => SeenProcess | undefined;
}

const WANTED = ['id', 'status', 'resume', 'armed', 'suspension'];

export function readWorkerHead(world: HeadWorld, found: WorkerFileSet, facts: FolderFacts): WorkerListing {
  const { snapshotPath } = found;
  const inFile = found.hasSnapshot ? readSnapshotHead(world.files, snapshotPath, WANTED) : undefined;
  if (found.hasSnapshot && inFile === undefined) return unreadable(world, snapshotPath);
  const open = activeOpen(world, found, inFile);
  // A journal without a base holds the whole start of an activation.
  const head = open?.head ?? inFile;
  if (head === undefined) return { kind: 'damaged', path: journalPathOf(snapshotPath), problem: 'a journal without a first record' };
  const problem = problemOf(head);
  return problem === undefined ? workerHead(world, found, head, open, facts) : { ...problem, path: snapshotPath };
}

/** The first record of a journal that counts: one above the generation of the snapshot (4.7). */
function activeOpen(
  { files }: HeadWorld,
  { hasJournal, snapshotPath }: WorkerFileSet,
  head: JsonObject | undefined,
): JournalOpen | undefined {
  const open = hasJournal ? readJournalOpen(files, journalPathOf(snapshotPath)) : undefined;
  return open !== undefined && open.generation > generationIn(head) ? open : undefined;
}

function generationIn(head: JsonObject | undefined): number {
  if (head === undefined) return -1;
  return isJsonObject(head.resume) && typeof head.resume.generation === 'number' ? head.resume.generation : 0;
}

function unreadable({ files }: HeadWorld, path: string): UnreadableFile {
  const stat = files.stat(path);
  if (stat?.isFile !== true) return { kind: 'foreign', path, problem: stat === undefined ? 'gone meanwhile' : 'not a file' };
  return { kind: 'damaged', path, problem: stat.sizeBytes === 0 ? 'empty' : 'not a JSON object' };
}

/** What keeps an object from being a worker; its shape is checked only as far as a listing relies on it. */
function problemOf(head: JsonObject): Omit<UnreadableFile, 'path'> | undefined {
  const { _type: type, version = 0, id, status = 'interrupted' } = head;
  if (type !== undefined && type !== 'worker_snapshot') return { kind: 'foreign', problem: `a ${String(type)}` };
  if (type === undefined && textIn(id) === undefined) return { kind: 'foreign', problem: 'not a worker snapshot' };
  if (typeof version !== 'number') return { kind: 'damaged', problem: 'field `version`: expected a number' };
  if (version > SNAPSHOT_VERSION) return { kind: 'damaged', problem: `written by a newer harn (format ${version})` };
  if (typeof id !== 'string' || !WORKER_ID.test(id)) return { kind: 'damaged', problem: 'field `id`: not an id' };
  if (!STATUSES.some((known) => known === status)) return { kind: 'damaged', problem: 'field `status`: not a status' };
  return undefined;
}

function workerHead(
  world: HeadWorld,
  { snapshotPath, hasClaim }: WorkerFileSet,
  head: JsonObject,
  open: JournalOpen | undefined,
  { armers, closedIds, runnerOf }: FolderFacts,
): WorkerHead {
  const runner = hasClaim ? runnerOf(snapshotPath) : undefined;
  const written = (head.status ?? 'interrupted') as WorkerStatus; // checked by problemOf
  const isClosed = isJsonObject(head.rejected) || closedIds.has(String(head.id));
  const beside = { hasActiveJournal: open !== undefined, isClaimed: runner?.liveness === 'alive' };
  const status = isClosed ? 'cancelled' : effectiveStatus(written, beside);
  return {
    kind: 'worker',
    id: String(head.id),
    name: textIn(head.name) ?? 'worker',
    mode: textIn(head.mode) ?? 'sub_agent',
    status,
    lifecycleState: lifecycleStateOf(status),
    snapshotPath,
    createdAt: instantIn(head.created_at),
    since: sinceOf(status, head, open),
    reason: reasonOf(status, head),
    parentId: textIn(head.parent_worker_id),
    runner,
    suspension: status === 'suspended' ? suspensionHead(world, head, armers) : undefined,
  };
}

function sinceOf(status: WorkerStatus, head: JsonObject, open: JournalOpen | undefined): Instant | undefined {
  const suspendedAt = isJsonObject(head.suspension) ? instantIn(head.suspension.suspended_at) : undefined;
  const startedAt = instantIn(open?.at) ?? instantIn(head.started_at);
  switch (lifecycleStateOf(status)) {
    case 'running':
      return status === 'awaiting' ? (instantIn(head.awaiting_started_at) ?? startedAt) : startedAt;
    case 'suspended':
      return status === 'suspended' ? suspendedAt : startedAt;
    case 'done':
    case 'closed':
      return instantIn(head.finished_at);
  }
}

function reasonOf(status: WorkerStatus, head: JsonObject): string | undefined {
  if (status === 'suspended') return isJsonObject(head.suspension) ? textIn(head.suspension.reason) : undefined;
  if (status === 'cancelled') return isJsonObject(head.rejected) ? textIn(head.rejected.reason) : 'closed';
  return status === 'failed' ? textIn(head.latest_error) : undefined;
}
