import { basename, dirname, extname, join, resolve } from 'node:path';
import { errorText } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import { ensureDirectory } from '../store/atomic-file.ts';
import { claimPathOf, readLiveClaim } from '../store/claim-file.ts';
import { daemonFiles } from '../store/daemon-file.ts';
import { readSnapshot, writeSnapshot } from '../store/snapshot-file.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { displayPath } from '../store/state-root.ts';
import type { DaemonFile, LoopState, ParkFacts, ParkRequest } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { conditionsOf } from './resume-condition.ts';
import { daemonKeys, suspensionRecord } from './suspension.ts';
import { standOnDisk } from './tenure.ts';
import { joinSnapshot, splitSnapshot, type Worker, type WorkerRecord } from './worker.ts';

/**
 * `daemon.json` (spec/agents.md 11.4): a copy of a daemon's worker outside the state root. While the worker's own files
 * exist they are what counts, since they know of every turn since; where they are missing, on another machine for
 * one, the copy becomes the worker.
 */
export const DAEMON_SNAPSHOT = 'daemon_snapshot';

/** Writes the file of a daemon that goes on or has ended; see `Activation.saveDaemon`. */
export function saveDaemon(
  lifecycle: Lifecycle,
  worker: Worker,
  request: ParkRequest | undefined,
  state: LoopState,
  facts: ParkFacts,
): void {
  const { daemonFile, daemon = null } = facts;
  if (daemonFile === undefined) return;
  const now = lifecycle.platform.clock.now();
  const changes: Partial<WorkerRecord> =
    request === undefined
      ? { status: 'completed', lifecycle_state: 'done', finished_at: renderInstant(now), suspension: null, armed: null, daemon }
      : {
          status: 'suspended',
          lifecycle_state: 'suspended',
          suspension: suspensionRecord({
            suspensionId: lifecycle.platform.random.id('susp'),
            workerId: worker.id,
            request,
            conditions: conditionsOf(request),
            facts: { ...facts, daemon: daemonKeys(facts.daemon) },
            suspendedAt: now,
            shownPath: displayPath(lifecycle.platform.files.cwd(), daemonFile.path),
          }),
          armed: null,
          daemon,
        };
  const paused = state.transcript === null ? null : { ...state.transcript, state: request === undefined ? 'done' : 'paused' };
  writeDaemonFile(lifecycle, worker, daemonFile, changes, { ...state, transcript: paused });
}

/** Writes the file as a copy of a worker's record; a disk that refuses is no reason to stop the daemon. */
export function writeDaemonFile(
  lifecycle: Lifecycle,
  worker: Worker,
  file: DaemonFile,
  changes: Partial<WorkerRecord>,
  state: LoopState,
): void {
  const { platform } = lifecycle;
  try {
    ensureDirectory(platform.files, dirname(file.path));
    const record = { ...worker.record, ...changes, snapshot_path: displayPath(platform.files.cwd(), file.path) };
    const snapshot = { ...file.names, ...joinSnapshot(record, state), _type: DAEMON_SNAPSHOT } as const;
    writeSnapshot(platform, file.path, snapshot, worker.lists);
    noteState(lifecycle, file.path, 'snapshot_persisted', record.daemon ?? {});
  } catch (error) {
    lifecycle.warn(`harn: ${file.path} could not be written: ${errorText(error)}`);
  }
  worker.announceChange();
}

/** The record of what happened to a daemon's file (11.4). */
export function noteState(lifecycle: Lifecycle, path: string, kind: 'snapshot_persisted' | 'snapshot_loaded', daemon: JsonObject): void {
  const { daemon_state = null, total_iterations = null, saved_at = null } = daemon;
  lifecycle.eventLog.append({
    topic: `daemon.${stemOf(path)}.state`,
    kind,
    payload: { path, daemon_state, total_iterations, saved_at },
    headers: {},
    occurredAt: lifecycle.platform.clock.now(),
    durability: 'lazy',
  });
}

/** A daemon is called by its directory; a file that has another name than every daemon's is called by its own. */
function stemOf(path: string): string {
  const stem = basename(path, extname(path));
  return (stem === 'daemon' ? basename(dirname(path)) : stem).replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 200) || 'daemon';
}

/**
 * What a new loop takes over from a daemon that was saved (`resume_path`, 11.1): its conversation, its counters, and
 * what it saw of its wake sources.
 *
 * @param target the file, or the directory that holds it
 * @throws HarnError `HARN-SUS-004`
 */
export function readDaemonSeed(
  lifecycle: Lifecycle,
  target: string,
): { readonly seedTranscript: JsonObject | undefined; readonly seedLoop: JsonObject; readonly daemon: JsonObject | undefined } {
  const { files } = lifecycle.platform;
  const here = resolve(files.cwd(), target);
  const path = files.stat(here)?.isDirectory === true ? daemonFiles(here).snapshot : here;
  const { snapshot } = readSnapshot(lifecycle.platform, path, target);
  const { ended: _, interrupted: __, consumed_event: ___, ...seedLoop } = snapshot.loop;
  const daemon = snapshot.daemon ?? undefined;
  noteState(lifecycle, path, 'snapshot_loaded', daemon ?? {});
  return { seedTranscript: snapshot.transcript ?? undefined, seedLoop, daemon };
}

/**
 * The worker that the file of a daemon stands for, with its files in the state root.
 *
 * @returns undefined for a file that is no daemon's
 * @throws HarnError `HARN-SUS-004` for a file that is damaged or from the future
 */
export function adoptDaemonFile(lifecycle: Lifecycle, path: string, target: string): string | undefined {
  const { files } = lifecycle.platform;
  const head = readSnapshotHead(files, path, ['_type', 'id', 'resume']);
  if (head?._type !== DAEMON_SNAPSHOT) return undefined;
  const { snapshot } = readSnapshot(lifecycle.platform, path, target);
  const { record, state } = splitSnapshot(snapshot);
  const homePath = join(lifecycle.locations.workers, `${record.id}.json`);
  const home = standOnDisk(files, homePath);
  const isNewer = !home.exists || home.generation < record.resume.generation;
  if (isNewer && readLiveClaim(lifecycle.claims, claimPathOf(homePath)) === undefined) {
    ensureDirectory(files, lifecycle.locations.workers);
    writeSnapshot(lifecycle.platform, homePath, joinSnapshot(withoutNames(record), state));
  }
  return record.id;
}

/** Names that only the file of a daemon has. */
export const FILE_NAMES = [
  'visible_messages',
  'recorded_messages',
  'transcript_summary',
  'transcript_events',
  'total_text',
  'all_tools_used',
  'rejected_tools',
  'deferred_user_messages',
  'last_run_exit_code',
];

function withoutNames(record: WorkerRecord): WorkerRecord {
  const names = new Set([...FILE_NAMES, ...Object.keys(record.daemon ?? {})]);
  return Object.fromEntries(Object.entries(record).filter(([key]) => !names.has(key))) as WorkerRecord; // only extra keys go
}
