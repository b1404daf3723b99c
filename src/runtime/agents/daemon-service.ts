import { dirname, join, resolve } from 'node:path';
import type { DaemonPort } from '../../agent/daemon/daemon-port.ts';
import type { JsonObject } from '../../base/json.ts';
import { Daemon, DaemonRegistry, openDaemon, queueCapacity } from '../../lifecycle/daemon.ts';
import { daemonDirectory } from '../../lifecycle/daemon-directory.ts';
import { queueStateOf } from '../../lifecycle/daemon-queue.ts';
import { locateState } from '../../store/state-root.ts';
import type { Run } from '../context.ts';
import type { Value } from '../value.ts';
import type { LoopPlace } from './agent-context.ts';
import { field, optionalText, optionsJson } from './agent-values.ts';

const DAEMONS = Symbol('daemons');

/** The daemons that this run has started or restored. */
export function daemonsOf(run: Run): DaemonRegistry {
  return run.service(DAEMONS, () => new DaemonRegistry());
}

/**
 * The queue and file of a loop with `daemon: true`: those of the daemon that runs the worker, or of one that an earlier
 * process left.
 *
 * @param block the daemon block that the loop is restored from
 */
export function daemonPort(run: Run, options: Value, place: LoopPlace, block: JsonObject | undefined): DaemonPort | undefined {
  if (field(options, 'daemon') !== true) return undefined;
  const daemons = daemonsOf(run);
  const known = daemons.ofWorker(place.workerId);
  if (known !== undefined) return known;
  const daemon = leftDaemon(run, options, place, block);
  daemons.add(daemon);
  return daemon;
}

function leftDaemon(run: Run, options: Value, place: LoopPlace, block: JsonObject | undefined): Daemon {
  const { platform } = run;
  const file = ownFile(run, optionalText(field(options, 'persist_path')));
  const id = optionalText(field(options, 'daemon_id'));
  const beside = daemonDirectory(locateState(platform.env, run.stateRoot).workers, place.workerId);
  const directory = id === undefined || file === undefined ? beside : dirname(file.path);
  const left = openDaemon(platform, directory, file);
  if (left !== undefined) return left;
  const identity = {
    id: id ?? platform.random.id('daemon'),
    name: 'daemon',
    prompt: '',
    system: null,
    sessionId: place.sessionId,
    workerId: place.workerId,
    options: optionsJson(options),
    capacity: queueCapacity(field(options, 'event_queue_capacity')),
  };
  return new Daemon(platform, identity, { directory: id === undefined ? undefined : directory, file }, queueStateOf(block ?? {}));
}

/** `persist_path` names the file, or a directory for it. */
function ownFile(run: Run, given: string | undefined): { readonly path: string; readonly shown: string } | undefined {
  if (given === undefined) return undefined;
  const path = resolve(run.executionRoot, given);
  if (run.platform.files.stat(path)?.isDirectory !== true) return { path, shown: given };
  return { path: join(path, 'daemon.json'), shown: join(given, 'daemon.json') };
}
