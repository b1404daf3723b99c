import { errorText, HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { ensureDirectory } from '../store/atomic-file.ts';
import { acquireClaim, claimPathOf } from '../store/claim-file.ts';
import { daemonFiles } from '../store/daemon-file.ts';
import type { Initiator } from './activation.ts';
import type { Daemon, DaemonRegistry } from './daemon.ts';
import { findDaemon } from './daemon-find.ts';
import { noteState } from './daemon-snapshot.ts';
import { daemonStatus, daemonSummary, savedBlock, workerOf } from './daemon-summary.ts';
import { interruptWorker } from './interrupt.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isLostWake, resumeWorker } from './resume.ts';
import { suspendWorker } from './suspend.ts';
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
  const cancel = lifecycle.realClock.timer(timeoutMs, () => over.abort());
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
