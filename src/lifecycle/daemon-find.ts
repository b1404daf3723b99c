import { basename, dirname, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { daemonFiles } from '../store/daemon-file.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { displayPath, locateSnapshot } from '../store/state-root.ts';
import { Daemon, type DaemonRegistry, openDaemon, queueCapacity } from './daemon.ts';
import { daemonDirectory } from './daemon-directory.ts';
import { queueStateOf } from './daemon-queue.ts';
import { adoptDaemonFile, DAEMON_SNAPSHOT } from './daemon-snapshot.ts';
import type { Lifecycle } from './lifecycle.ts';
import { searchPlaces } from './resume-subject.ts';

/** The daemon that a path means (spec/agents.md 11.3): one of this process, or what the files of an earlier one say. */
export interface FoundDaemon {
  readonly daemon: Daemon;
  /** The daemon block of the file (11.4). */
  readonly block: JsonObject | undefined;
}

export function findDaemon(lifecycle: Lifecycle, daemons: DaemonRegistry, target: string): FoundDaemon {
  const { platform } = lifecycle;
  const { directory, snapshot } = locateDaemon(lifecycle, target);
  const head = platform.files.exists(snapshot)
    ? readSnapshotHead(platform.files, snapshot, ['_type', 'id', 'daemon', 'config'])
    : undefined;
  const isDaemonFile = head?._type === DAEMON_SNAPSHOT;
  if (isDaemonFile) adoptDaemonFile(lifecycle, snapshot, target);
  const block = isJsonObject(head?.daemon) ? head.daemon : undefined;
  const id = typeof head?.id === 'string' ? head.id : undefined;
  const known = directory === undefined ? daemons.ofWorker(id ?? '') : daemons.inDirectory(directory);
  if (known !== undefined) return { daemon: known, block };
  const file = { path: snapshot, shown: displayPath(platform.files.cwd(), snapshot) };
  const stored = directory === undefined ? undefined : openDaemon(platform, directory, file, target);
  if (stored !== undefined) return { daemon: stored, block };
  if (head === undefined || id === undefined) throw snapshotError('missing', 'no such daemon', { target, path: snapshot });
  if (block === undefined)
    throw snapshotError('malformed', 'field `daemon`: the snapshot is not that of a daemon', {
      target,
      path: snapshot,
      detail: { field: 'daemon' },
    });
  return { daemon: daemonOfSnapshot(lifecycle, id, head, block, isDaemonFile ? file : undefined), block };
}

/** Where a path leads: to a daemon's directory, by itself or through one of its files, or to the snapshot of a worker. */
function locateDaemon(lifecycle: Lifecycle, target: string): { readonly directory: string | undefined; readonly snapshot: string } {
  const { files } = lifecycle.platform;
  const here = resolve(files.cwd(), target);
  const candidate = basename(here) === 'daemon.meta.json' ? dirname(here) : here;
  // Before its first idle a daemon has only the file of its queue.
  if (files.exists(daemonFiles(candidate).meta)) return { directory: candidate, snapshot: daemonFiles(candidate).snapshot };
  const location = locateSnapshot(searchPlaces(lifecycle), target);
  if (location.kind === 'daemon') return { directory: location.directory, snapshot: daemonFiles(location.directory).snapshot };
  const { snapshotPath: snapshot } = location;
  const directory = files.exists(daemonFiles(dirname(snapshot)).meta) ? dirname(snapshot) : undefined;
  return { directory, snapshot };
}

/** A daemon without a file of its queue: its block has the queue, and from now on it has a directory beside its worker. */
function daemonOfSnapshot(lifecycle: Lifecycle, workerId: string, head: JsonObject, block: JsonObject, own: Daemon['file']): Daemon {
  const spec = isJsonObject(head.config) && isJsonObject(head.config.spec) ? head.config.spec : {};
  const options = isJsonObject(spec.options) ? spec.options : {};
  const directory = daemonDirectory(lifecycle.locations.workers, workerId);
  const file = own ?? fileOf(lifecycle, options);
  const known = openDaemon(lifecycle.platform, directory, file);
  if (known !== undefined) return known;
  const identity = {
    id: typeof options.daemon_id === 'string' ? options.daemon_id : lifecycle.platform.random.id('daemon'),
    name: typeof head.name === 'string' ? head.name : 'daemon',
    prompt: typeof spec.task === 'string' ? spec.task : '',
    system: typeof spec.system === 'string' ? spec.system : null,
    sessionId: typeof spec.session_id === 'string' ? spec.session_id : '',
    workerId,
    options,
    capacity: queueCapacity(block.event_queue_capacity),
  };
  return new Daemon(lifecycle.platform, identity, { directory, file }, queueStateOf(block));
}

function fileOf(lifecycle: Lifecycle, { persist_path: given }: JsonObject): Daemon['file'] {
  return typeof given === 'string' ? { path: resolve(lifecycle.platform.files.cwd(), given), shown: given } : undefined;
}
