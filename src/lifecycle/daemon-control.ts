import { basename, dirname, resolve } from 'node:path';
import { errorText, HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { ensureDirectory } from '../store/atomic-file.ts';
import { acquireClaim, claimPathOf } from '../store/claim-file.ts';
import { daemonFiles } from '../store/daemon-file.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { displayPath, locateSnapshot } from '../store/state-root.ts';
import type { Initiator } from './activation.ts';
import { Daemon, type DaemonRegistry, openDaemon, queueCapacity } from './daemon.ts';
import { daemonDirectory } from './daemon-directory.ts';
import { queueStateOf } from './daemon-queue.ts';
import { adoptDaemonFile, DAEMON_SNAPSHOT, noteState } from './daemon-snapshot.ts';
import { interruptWorker } from './interrupt.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isLostWake, resumeWorker } from './resume.ts';
import { searchPlaces } from './resume-subject.ts';
import { suspendWorker } from './suspend.ts';
import { isTerminal } from './transition.ts';
import type { Worker } from './worker.ts';

/** What scripts do with daemons (spec/agents.md 11.3). The worker underneath suspends and resumes like any other. */
const STOP_WAIT_MS = 500;
const FIRST_IDLE_WAIT_MS = 500;

/**
 * Makes this process the one that runs the daemon.
 * @throws HarnError `plain` when another one does
 */
export function holdDaemon(lifecycle: Lifecycle, daemon: Daemon, refusal: string): void {
  const { directory } = daemon;
  if (daemon.claim !== undefined || directory === undefined) return;
  ensureDirectory(lifecycle.platform.files, directory);
  const path = claimPathOf(daemonFiles(directory).snapshot);
  const attempt = acquireClaim(lifecycle.claims, path, { suspensionId: null, generation: 0 });
  if (attempt.kind === 'held') throw new HarnError('plain', refusal);
  daemon.claim = attempt.claim;
}

/**
 * Follows a daemon whose worker was just started: when it rests it lets go of its directory, and an event that came
 * while it parked wakes it again. The caller gets the time to see the first idle.
 */
export async function superviseDaemon(lifecycle: Lifecycle, daemon: Daemon, worker: Worker): Promise<void> {
  void worker
    .settled()
    .then(
      () => daemonRests(lifecycle, daemon, worker),
      () => releaseDaemon(daemon), // interrupted, or another process has it
    )
    .catch((error: unknown) => lifecycle.warn(`harn: ${daemon.identity.id} could not be woken: ${errorText(error)}`));
  await waitUntil(lifecycle, worker, FIRST_IDLE_WAIT_MS, () => worker.isSettled || worker.idleWake !== undefined);
}

async function daemonRests(lifecycle: Lifecycle, daemon: Daemon, worker: Worker): Promise<void> {
  if (isParkedIdle(worker) && !daemon.isStopped && daemon.next !== undefined) await wakeParked(lifecycle, daemon, worker, daemon.next.seq);
  else releaseDaemon(daemon);
}

function isParkedIdle(worker: Worker): boolean {
  return worker.status === 'suspended' && !worker.isInTransition && worker.suspension?.reason === 'daemon idle';
}

export function releaseDaemon(daemon: Daemon): void {
  daemon.claim?.release();
  daemon.claim = undefined;
}

/**
 * Puts an event at the end of the queue; it is durable when this returns. An idle daemon wakes.
 * @throws HarnError `plain` for a daemon that is not running, and for a full queue
 */
export async function triggerDaemon(lifecycle: Lifecycle, daemon: Daemon, payload: Json): Promise<JsonObject> {
  if (daemonStatus(lifecycle, daemon) === 'stopped') {
    throw new HarnError('plain', `daemon_trigger: daemon ${daemon.identity.id} is not running`);
  }
  const event = daemon.queue.enqueue(payload, renderInstant(lifecycle.platform.clock.now()));
  const worker = workerOf(lifecycle, daemon);
  if (worker !== undefined && isParkedIdle(worker)) await wakeParked(lifecycle, daemon, worker, event.seq);
  else worker?.announceChange();
  return daemonSummary(lifecycle, daemon);
}

async function wakeParked(lifecycle: Lifecycle, daemon: Daemon, worker: Worker, seq: number): Promise<void> {
  try {
    daemon.restore(undefined);
    await resume(lifecycle, worker.id, 'triggered', { triggerId: daemon.identity.id, eventId: String(seq) });
    await superviseDaemon(lifecycle, daemon, worker);
  } catch (error) {
    // Somebody else woke it first; the event waits in the queue for whoever did.
    if (!isLostWake(error)) throw error;
  }
}

function resume(
  lifecycle: Lifecycle,
  workerId: string,
  cause: 'operator' | 'parent' | 'triggered',
  ids: { readonly triggerId?: string; readonly eventId?: string } = {},
): Promise<JsonObject> {
  return resumeWorker(lifecycle, {
    target: { kind: 'worker', id: workerId },
    input: undefined,
    continueTranscript: true,
    cause,
    ...ids,
    startedAt: lifecycle.realClock.now(),
    entry: lifecycle.registry.nextEntry(),
    mayReadResult: false,
  });
}

/** Asks the daemon to park at its next boundary; one that reaches none in time is cut off and stays resumable. */
export async function stopDaemon(lifecycle: Lifecycle, daemon: Daemon, initiator: Initiator): Promise<JsonObject> {
  const worker = workerOf(lifecycle, daemon);
  if (worker?.status === 'running') {
    await suspendWorker(lifecycle, worker, {
      reason: 'daemon stopped',
      initiator,
      conditions: undefined,
      resumeBy: undefined,
      waitMs: STOP_WAIT_MS,
    });
    if (worker.status === 'running') interruptWorker(lifecycle, worker, 'daemon_stop');
  }
  daemon.isStopped = true;
  daemon.queue.putBack();
  releaseDaemon(daemon);
  return daemonSummary(lifecycle, daemon);
}

/**
 * Restores a daemon in this process: from its directory, its `daemon.json`, or the snapshot of its worker. It waits
 * again where it waited, or goes on with what it was at work on.
 *
 * @throws HarnError `plain` when it is running, `HARN-SUS-004` for files that are missing or damaged
 */
export async function resumeDaemon(
  lifecycle: Lifecycle,
  daemons: DaemonRegistry,
  path: string,
  cause: 'operator' | 'parent',
): Promise<JsonObject> {
  const { daemon, block } = findDaemon(lifecycle, daemons, path);
  const { workerId } = daemon.identity;
  const refusal = `daemon_resume: daemon '${daemon.identity.id}' is already running`;
  if (daemonStatus(lifecycle, daemon) === 'running') throw new HarnError('plain', refusal);
  holdDaemon(lifecycle, daemon, refusal);
  try {
    daemon.reload();
    daemons.add(daemon);
    daemon.restore(block);
    daemon.isStopped = false;
    await resume(lifecycle, workerId, cause);
  } catch (error) {
    daemon.isStopped = true;
    releaseDaemon(daemon);
    throw error;
  }
  if (daemon.file !== undefined) noteState(lifecycle, daemon.file.path, 'snapshot_loaded', block ?? {});
  const worker = lifecycle.registry.get(workerId);
  if (worker !== undefined) await superviseDaemon(lifecycle, daemon, worker);
  return daemonSummary(lifecycle, daemon);
}

interface FoundDaemon {
  readonly daemon: Daemon;
  /** The daemon block of the file (11.4). */
  readonly block: JsonObject | undefined;
}

function findDaemon(lifecycle: Lifecycle, daemons: DaemonRegistry, target: string): FoundDaemon {
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

/**
 * Waits until the daemon has saved at least so many turns, or is not running any more.
 * @throws HarnError `plain` when that takes too long
 */
export async function waitForDaemon(lifecycle: Lifecycle, daemon: Daemon, minIterations: number, timeoutMs: number): Promise<JsonObject> {
  const worker = workerOf(lifecycle, daemon);
  const isReached = (): boolean => {
    const saved = savedBlock(lifecycle, daemon);
    return saved !== undefined && Number(saved.total_iterations) >= minIterations;
  };
  if (worker !== undefined && !isReached() && !(await waitUntil(lifecycle, worker, timeoutMs, () => worker.isSettled || isReached()))) {
    throw new HarnError(
      'plain',
      `daemon_wait: daemon ${daemon.identity.id} did not complete ${minIterations} iterations within ${timeoutMs} ms`,
    );
  }
  return daemonSummary(lifecycle, daemon);
}

/** @returns whether it came true in time, on the real clock */
async function waitUntil(lifecycle: Lifecycle, worker: Worker, timeoutMs: number, isTrue: () => boolean): Promise<boolean> {
  const over = new AbortController();
  const cancel = lifecycle.realClock.timer(timeoutMs, () => over.abort(), 'unref');
  try {
    while (!isTrue()) {
      if (over.signal.aborted || worker.fenced !== undefined) return false;
      await worker.changed(over.signal).catch(() => undefined);
    }
    return true;
  } finally {
    cancel();
  }
}

function workerOf(lifecycle: Lifecycle, daemon: Daemon): Worker | undefined {
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
function savedBlock(lifecycle: Lifecycle, daemon: Daemon): JsonObject | undefined {
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
  const named = Object.fromEntries(SHOWN_NAMES.flatMap((name) => (whole?.[name] === undefined ? [] : [[name, whole[name]]])));
  return { ...saved, ...named, ...daemon.facts(), ...daemonSummary(lifecycle, daemon) };
}

const SHOWN_NAMES = [
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
