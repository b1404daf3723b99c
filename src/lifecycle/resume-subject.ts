import { dirname, join } from 'node:path';
import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { daemonFiles } from '../store/daemon-file.ts';
import { journalPathOf } from '../store/journal-file.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { locateSnapshot } from '../store/state-root.ts';
import type { WorkerStatus } from '../store/worker-status.ts';
import { adoptDaemonFile, DAEMON_SNAPSHOT } from './daemon-snapshot.ts';
import type { Lifecycle } from './lifecycle.ts';
import { shownPathOf } from './persist.ts';
import { buildSummary, summaryOf } from './summary.ts';
import { type StandOnDisk, standOnDisk } from './tenure.ts';
import { lifecycleStateOf } from './transition.ts';
import { splitSnapshot, type Worker } from './worker.ts';
import { readWorkerFiles, type WorkerFiles } from './worker-files.ts';

/** What somebody wants to resume or close (spec/agents.md 5.4 step 2, 5.14). */
export type ResumeTarget =
  /** A handle, summary or id: the current suspension, unless one is named. */
  | { readonly kind: 'worker'; readonly id: string; readonly suspensionId?: string | undefined }
  /** A path of a snapshot or journal: the suspension recorded in that file, unless one is named. */
  | { readonly kind: 'path'; readonly path: string; readonly suspensionId?: string | undefined };

/** A worker as it stands, wherever that is known: in this process, or on disk. */
export interface ResumeSubject {
  readonly id: string;
  /** As the caller named it. */
  readonly target: string;
  readonly snapshotPath: string;
  /** Set when this process holds the current state. */
  readonly worker: Worker | undefined;
  /** Set when the files do. */
  readonly files: WorkerFiles | undefined;
  /** Files of the same worker in the state root, when another copy was named. */
  readonly home: WorkerFiles | undefined;
  readonly status: WorkerStatus;
  readonly generation: number;
  readonly isClosed: boolean;
  readonly suspensionId: string | undefined;
  /** The suspension that the caller means; undefined: the current one. */
  readonly namedSuspensionId: string | undefined;
  readonly summary: () => JsonObject;
}

/**
 * A worker by handle or id, for operations that know no snapshots.
 * @throws HarnError `plain` for one that is nowhere; `HARN-SUS-004` for damaged files
 */
export function namedSubject(lifecycle: Lifecycle, target: Extract<ResumeTarget, { kind: 'worker' }>): ResumeSubject {
  try {
    return resolveSubject(lifecycle, target);
  } catch (error) {
    const isMissing = error instanceof HarnError && isJsonObject(error.data.detail) && error.data.detail.reason === 'missing';
    throw isMissing ? new HarnError('plain', `unknown worker: ${target.id}`) : error;
  }
}

/** @throws HarnError `HARN-SUS-004` for a target that leads nowhere or to damaged files */
export function resolveSubject(lifecycle: Lifecycle, target: ResumeTarget): ResumeSubject {
  return target.kind === 'worker'
    ? subjectById(lifecycle, target.id, target.suspensionId)
    : subjectByPath(lifecycle, target.path, target.suspensionId);
}

function subjectById(lifecycle: Lifecycle, id: string, suspensionId: string | undefined): ResumeSubject {
  const worker = currentWorker(lifecycle, id);
  if (worker !== undefined) return subjectOfWorker(lifecycle, worker, id, suspensionId);
  const snapshotPath = workerPath(lifecycle, id);
  // What lies with the workers is no daemon's copy.
  const isHome = dirname(snapshotPath) === lifecycle.locations.workers;
  const daemonWorker = isHome ? undefined : adoptDaemonFile(lifecycle, snapshotPath, id);
  if (daemonWorker !== undefined) return subjectById(lifecycle, daemonWorker, suspensionId);
  return subjectOfFiles(lifecycle, readWorkerFiles(lifecycle, snapshotPath, id), undefined, id, suspensionId);
}

/**
 * Where the snapshot of a target is, or would be.
 * @throws HarnError `HARN-SUS-004`, reason `missing`
 */
export function snapshotPathOfTarget(lifecycle: Lifecycle, target: ResumeTarget): string {
  if (target.kind === 'worker') return workerPath(lifecycle, target.id);
  const path = locatedPath(lifecycle, target.path);
  const head = readSnapshotHead(lifecycle.platform.files, path, ['_type', 'id']);
  // The file of a daemon is a copy for its own folder; what counts lies with the other workers.
  return head?._type === DAEMON_SNAPSHOT ? workerPath(lifecycle, String(head.id)) : path;
}

/** Of a worker named by its id or by the beginning of it. */
function workerPath(lifecycle: Lifecycle, id: string): string {
  const { files } = lifecycle.platform;
  const snapshotPath = join(lifecycle.locations.workers, `${id}.json`);
  return files.exists(snapshotPath) || files.exists(journalPathOf(snapshotPath)) ? snapshotPath : locatedPath(lifecycle, id);
}

function locatedPath(lifecycle: Lifecycle, target: string): string {
  const location = locateSnapshot(searchPlaces(lifecycle), target);
  if (location.kind === 'worker') return location.snapshotPath;
  return daemonFiles(location.directory).snapshot;
}

function subjectByPath(lifecycle: Lifecycle, path: string, suspensionId: string | undefined): ResumeSubject {
  const snapshotPath = locatedPath(lifecycle, path);
  const daemonWorker = adoptDaemonFile(lifecycle, snapshotPath, path);
  if (daemonWorker !== undefined) return subjectById(lifecycle, daemonWorker, suspensionId);
  const files = readWorkerFiles(lifecycle, snapshotPath, path);
  const named = suspensionId ?? (files.status === 'suspended' ? files.snapshot.suspension?.suspension_id : undefined);
  const worker = currentWorker(lifecycle, files.snapshot.id);
  if (worker !== undefined) return subjectOfWorker(lifecycle, worker, path, named);
  return subjectOfFiles(lifecycle, files, homeOf(lifecycle, files), path, named);
}

export function searchPlaces(lifecycle: Lifecycle) {
  return {
    files: lifecycle.platform.files,
    cwd: lifecycle.platform.files.cwd(),
    projectRoot: lifecycle.projectRoot,
    scriptDirectory: lifecycle.scriptDirectory,
    workersDirectory: lifecycle.locations.workers,
  };
}

/** A copy that lies elsewhere may be older than the files in the state root (13.57). */
function homeOf(lifecycle: Lifecycle, files: WorkerFiles): WorkerFiles | undefined {
  const { workers } = lifecycle.locations;
  const { files: disk } = lifecycle.platform;
  const homePath = join(workers, `${files.snapshot.id}.json`);
  if (dirname(files.snapshotPath) === workers || !(disk.exists(homePath) || disk.exists(journalPathOf(homePath)))) return undefined;
  return readWorkerFiles(lifecycle, homePath, homePath);
}

/**
 * The worker of this process, as long as nobody else has gone on with it meanwhile. One that is not running here may
 * have been resumed, parked again or closed by another process: then only the files tell.
 */
function currentWorker(lifecycle: Lifecycle, id: string): Worker | undefined {
  const worker = lifecycle.registry.get(id);
  if (worker === undefined || worker.tenure !== undefined || worker.isInTransition) return worker;
  const stand = standOnDisk(lifecycle.platform.files, worker.snapshotPath);
  if (stand.generation <= worker.generation) return worker;
  lifecycle.waker.disarm(worker).forget();
  lifecycle.registry.remove(worker);
  return undefined;
}

function subjectOfWorker(lifecycle: Lifecycle, worker: Worker, target: string, namedSuspensionId: string | undefined): ResumeSubject {
  return {
    id: worker.id,
    target,
    snapshotPath: worker.snapshotPath,
    worker,
    files: undefined,
    home: undefined,
    status: worker.status,
    generation: worker.generation,
    isClosed: worker.status === 'cancelled',
    suspensionId: worker.suspension?.suspension_id,
    namedSuspensionId,
    summary: () => summaryOf(worker, shownPathOf(lifecycle, worker)),
  };
}

function subjectOfFiles(
  lifecycle: Lifecycle,
  files: WorkerFiles,
  home: WorkerFiles | undefined,
  target: string,
  namedSuspensionId: string | undefined,
): ResumeSubject {
  const isCopyOutdated = home !== undefined && home.generation > files.generation;
  const current = isCopyOutdated ? home : files;
  return {
    id: files.snapshot.id,
    target,
    snapshotPath: files.snapshotPath,
    worker: undefined,
    files,
    home,
    status: current.status,
    generation: current.generation,
    isClosed: files.isClosed || home?.isClosed === true,
    suspensionId: current.status === 'suspended' ? current.snapshot.suspension?.suspension_id : undefined,
    namedSuspensionId,
    summary: () => summaryOfFiles(lifecycle, current),
  };
}

/** The summary of a worker that only its files know. */
export function summaryOfFiles(lifecycle: Lifecycle, files: WorkerFiles): JsonObject {
  const { record, state } = splitSnapshot(files.snapshot);
  const status = files.isClosed ? 'cancelled' : files.status;
  const isParked = status === 'suspended';
  return buildSummary({
    record: {
      ...record,
      status,
      lifecycle_state: lifecycleStateOf(status),
      suspension: isParked ? record.suspension : null,
    },
    transcript: state.transcript,
    result: undefined,
    shownPath: shownPathOf(lifecycle, files),
  });
}

/** Whether somebody else was there between the look at the files and the claim (5.4 step 5). */
export function hasMoved(subject: ResumeSubject, stand: StandOnDisk): boolean {
  // Somebody who recovered the worker and died leaves its generation as it was, but not its journal.
  const isJournalSame = subject.files === undefined || stand.journalToken === subject.files.activeOpen?.claim_token;
  const isSame =
    stand.generation === subject.generation &&
    isJournalSame &&
    (subject.status === 'interrupted' || stand.suspensionId === subject.suspensionId);
  // A file of an old format has neither generation nor suspension id; its claim alone decides.
  return !isSame && subject.files?.snapshot.resume.generation !== 0;
}
