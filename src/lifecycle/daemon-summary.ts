import { isJsonObject, type JsonObject } from '../base/json.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { displayPath } from '../store/state-root.ts';
import type { Daemon } from './daemon.ts';
import { FILE_NAMES } from './daemon-snapshot.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isTerminal } from './transition.ts';
import type { Worker } from './worker.ts';

/** How a daemon stands, as scripts see it (spec/agents.md 11.3). */
export function workerOf(lifecycle: Lifecycle, daemon: Daemon): Worker | undefined {
  return lifecycle.registry.get(daemon.identity.workerId);
}

export function daemonStatus(lifecycle: Lifecycle, daemon: Daemon): 'running' | 'stopped' | 'suspended' {
  const worker = workerOf(lifecycle, daemon);
  if (daemon.isStopped || worker === undefined || isTerminal(worker.status)) return 'stopped';
  return worker.status === 'suspended' ? 'suspended' : 'running';
}

/** The summary of 11.3, which is also the daemon's handle. */
export function daemonSummary(lifecycle: Lifecycle, daemon: Daemon): JsonObject {
  const { identity, directory, file, queue } = daemon;
  const worker = workerOf(lifecycle, daemon);
  const saved = savedBlock(lifecycle, daemon);
  const { pending_event_count, queued_event_count, inflight_event = null } = daemon.facts();
  return {
    _type: 'daemon_handle',
    id: identity.id,
    name: identity.name,
    status: daemonStatus(lifecycle, daemon),
    session_id: identity.sessionId,
    worker_id: identity.workerId,
    persist_path: directory === undefined ? null : displayPath(lifecycle.platform.files.cwd(), directory),
    snapshot_path: file?.shown ?? (worker === undefined ? null : displayPath(lifecycle.platform.files.cwd(), worker.snapshotPath)),
    pending_event_count,
    queued_event_count,
    inflight_event,
    event_queue_capacity: queue.capacity,
    daemon_state: saved?.daemon_state ?? 'running',
    saved_at: saved?.saved_at ?? null,
    ...(worker?.record.latest_error == null ? {} : { error: worker.record.latest_error }),
    ...(worker?.result === undefined ? {} : { result: worker.result }),
  };
}

/** The block as it was last saved: in the daemon's own file, or in the worker's record. */
export function savedBlock(lifecycle: Lifecycle, daemon: Daemon): JsonObject | undefined {
  const { file } = daemon;
  if (file === undefined) return workerOf(lifecycle, daemon)?.record.daemon ?? undefined;
  const head = readSnapshotHead(lifecycle.platform.files, file.path, ['daemon']);
  return isJsonObject(head?.daemon) ? head.daemon : undefined;
}

/** The summary, and all that the daemon's file says of its last idle. */
export function daemonSnapshot(lifecycle: Lifecycle, daemon: Daemon): JsonObject {
  const { file } = daemon;
  const whole = file === undefined ? undefined : readSnapshotHead(lifecycle.platform.files, file.path, ['transcript_events']);
  const saved = savedBlock(lifecycle, daemon) ?? {};
  const named = Object.fromEntries(FILE_NAMES.flatMap((name) => (whole?.[name] === undefined ? [] : [[name, whole[name]]])));
  return { ...saved, ...named, ...daemon.facts(), ...daemonSummary(lifecycle, daemon) };
}
