import { dirname, join } from 'node:path';
import { errorText, HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { ensureDirectory } from '../store/atomic-file.ts';
import { acquireClaim, type Claim, claimPathOf } from '../store/claim-file.ts';
import { type JournalOpen, JournalWriter, journalPathOf } from '../store/journal-file.ts';
import type { LoopEnd, ParkRequest } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { parkWorker } from './park.ts';
import { shownPathOf } from './persist.ts';
import { hasConditions, type ResumeConditions } from './resume-condition.ts';
import { runActivation, runInBackground } from './run-activation.ts';
import { storableSpec } from './spec-value.ts';
import { summaryOf } from './summary.ts';
import { fencedError } from './sus-errors.ts';
import { standOnDisk, Tenure } from './tenure.ts';
import { transition } from './transition.ts';
import { hasParkDurability, joinSnapshot, newWorkerRecord, Worker, type WorkerSeed } from './worker.ts';
import { announceWorker } from './worker-events.ts';

/** Beginnings (spec/agents.md 4.2, 4.3, 5.8, 5.10): a root loop, a spawned worker, one that is born parked, a new task for a finished one. */
export interface StartOptions {
  readonly name: string;
  readonly task: string;
  readonly mode: string;
  /** `spec` of 4.7 without name and task. */
  readonly spec: JsonObject;
  /** What cannot be saved; for the loop runner. */
  readonly live: unknown;
  /** `program` of 4.7. */
  readonly program: JsonObject | null;
  /** A transcript to go on from. */
  readonly seedTranscript?: Json | undefined;
  /** Counters to go on from, with the transcript (`resume_path` of a daemon). */
  readonly seedLoop?: JsonObject | undefined;
  /** The daemon block to go on from (11.4). */
  readonly daemon?: JsonObject | undefined;
  readonly parentWorkerId?: string | undefined;
  /** The stage of a workflow that delegates to the worker. */
  readonly parentStageId?: string | undefined;
  readonly execution?: JsonObject | undefined;
  readonly audit?: JsonObject | undefined;
  readonly artifacts?: readonly Json[] | undefined;
  readonly carry?: JsonObject | undefined;
  readonly request?: JsonObject | undefined;
  readonly config?: JsonObject | undefined;
  /** An id drawn before, when something had to know it. */
  readonly workerId?: string | undefined;
}

/**
 * Runs an agent loop of the script itself. It has a worker id and a journal from its start, but a handle only from
 * its first park; without one it leaves no file.
 * @returns how the loop ended or parked
 * @throws what the loop threw
 */
export function runRootLoop(lifecycle: Lifecycle, options: Omit<StartOptions, 'name' | 'mode'>): Promise<LoopEnd> {
  const worker = createWorker(lifecycle, { ...options, name: 'top-level-agent', mode: 'top_level_agent' });
  const tenure = openTenure(lifecycle, worker, { head: joinSnapshot(worker.record, worker.state) as JsonObject, base: null });
  return runActivation(lifecycle, worker, tenure, undefined);
}

/**
 * Starts a worker that runs beside the script.
 * @returns it, and its summary from before its first turn
 */
export async function spawnWorker(
  lifecycle: Lifecycle,
  options: StartOptions,
): Promise<{ readonly worker: Worker; readonly summary: JsonObject }> {
  const worker = createWorker(lifecycle, options);
  const tenure = openTenure(lifecycle, worker, { head: joinSnapshot(worker.record, worker.state) as JsonObject, base: null });
  lifecycle.registry.add(worker);
  await announceWorker(lifecycle, worker, 'WorkerSpawned');
  const summary = summaryOf(worker, shownPathOf(lifecycle, worker));
  runInBackground(lifecycle, worker, tenure, undefined);
  return { worker, summary };
}

/**
 * Creates a worker that is parked before its first turn. No `pre_suspend` hook runs: nothing was running.
 * @throws HarnError `HARN-SUS-007` when its trigger cannot be registered; no worker exists then
 */
export async function spawnParked(
  lifecycle: Lifecycle,
  options: StartOptions,
  conditions: ResumeConditions,
  resumeBy: unknown,
): Promise<Worker> {
  const worker = createWorker(lifecycle, options);
  lifecycle.waker.discard(lifecycle.waker.prepare(worker, hasConditions(conditions) ? conditions : undefined));
  const tenure = openTenure(lifecycle, worker, undefined);
  lifecycle.registry.add(worker);
  try {
    await announceWorker(lifecycle, worker, 'WorkerSpawned');
    const request: ParkRequest = {
      reason: 'resume_when',
      initiator: 'parent',
      conditions: storableSpec(conditions.spec),
      liveConditions: conditions.spec,
      resumeBy,
    };
    await parkWorker(lifecycle, worker, tenure, request, worker.state, { iterationsCompleted: 0, turn: undefined });
  } catch (error) {
    tenure.finishWithoutSnapshot();
    lifecycle.registry.remove(worker);
    throw error;
  }
  return worker;
}

/**
 * Gives a finished or waiting worker its next task; the transcript goes on.
 * @throws plain HarnError for a worker in another state; `HARN-SUS-006` for one that somebody else has gone on with
 */
export function restartWorker(lifecycle: Lifecycle, worker: Worker, operation: string, task: string, payload: Json = null): void {
  const decision = transition(worker.status, 'restart');
  if (decision.kind !== 'go')
    throw new HarnError('plain', `${operation}: worker ${worker.id} cannot take a new task (status=${worker.status})`);
  giveBackRestingClaim(lifecycle, worker);
  const { carry_policy: carry } = worker.record;
  const now = renderInstant(lifecycle.platform.clock.now());
  const generation = worker.generation + 1;
  const resume = { ...worker.record.resume, generation };
  const history = [...worker.record.history, task];
  const changes = {
    status: decision.to,
    task,
    history,
    resume,
    latest_payload: payload,
    latest_error: null,
    artifacts: carry.artifact_mode === 'none' ? [] : worker.record.artifacts,
    started_at: now,
    finished_at: null,
    awaiting_started_at: null,
  };
  worker.state = lifecycle.runner.nextCycle({ ...worker.spec, task }, worker.state, carry as JsonObject);
  worker.change(changes);
  worker.result = undefined;
  worker.isTaskPrivate = false;
  const tenure = openTenure(lifecycle, worker, { head: joinSnapshot(worker.record, worker.state) as JsonObject, base: null, task });
  runInBackground(lifecycle, worker, tenure, undefined);
}

/** A claim that lapsed while this process was stopped lets another one close the worker; closed, it stays closed. */
function giveBackRestingClaim({ platform }: Lifecycle, worker: Worker): void {
  const claim = worker.restingClaim;
  worker.restingClaim = undefined;
  const isTaken = claim !== undefined && !claim.isHeld();
  claim?.release();
  const { generation } = standOnDisk(platform.files, worker.snapshotPath);
  if (isTaken && generation > worker.generation) throw fencedError(worker.id, worker.generation, generation, null);
}

function createWorker(lifecycle: Lifecycle, options: StartOptions): Worker {
  const { platform, locations, runner } = lifecycle;
  const id = options.workerId ?? platform.random.id('worker');
  const snapshotPath = join(locations.workers, `${id}.json`);
  const seed: WorkerSeed = {
    ...options,
    id,
    createdAt: renderInstant(platform.clock.now()),
    shownPath: shownPathOf(lifecycle, { snapshotPath }),
  };
  const record = { ...newWorkerRecord(seed), daemon: options.daemon ?? null };
  const state = runner.initialState({ ...record.config.spec, task: options.task }, options.seedTranscript);
  const loop = options.seedLoop === undefined ? state.loop : { ...state.loop, ...options.seedLoop };
  return new Worker(snapshotPath, record, { ...state, loop }, options.live);
}

/**
 * Makes this process the owner of a worker that starts: claim, then journal. A directory that cannot be written does
 * not stop the work, it only makes it less durable.
 *
 * @param opening what the journal starts with; undefined for a worker that is parked at once
 */
function openTenure(lifecycle: Lifecycle, worker: Worker, opening: Pick<JournalOpen, 'head' | 'base' | 'task'> | undefined): Tenure {
  const claim = tryClaim(lifecycle, worker);
  const journal =
    opening === undefined || claim === undefined || !isJournalled(worker) ? undefined : tryJournal(lifecycle, worker, claim, opening);
  const tenure = new Tenure({
    files: lifecycle.platform.files,
    workerId: worker.id,
    snapshotPath: worker.snapshotPath,
    generation: worker.generation,
    suspensionId: null,
    claim,
    journal,
    onlyParks: hasParkDurability(worker),
    onReduced: (text) => reduceDurability(lifecycle, worker, text),
  });
  worker.tenure = tenure;
  return tenure;
}

/** `persist_state: false` keeps no journal at all. */
function isJournalled(worker: Worker): boolean {
  return worker.record.carry_policy.persist_state !== false;
}

function tryClaim(lifecycle: Lifecycle, worker: Worker): Claim | undefined {
  try {
    ensureDirectory(lifecycle.platform.files, dirname(worker.snapshotPath));
    const attempt = acquireClaim(lifecycle.claims, claimPathOf(worker.snapshotPath), { suspensionId: null, generation: worker.generation });
    if (attempt.kind === 'won') return attempt.claim;
    throw new Error(`it is claimed by process ${attempt.by?.pid ?? 'unknown'}`);
  } catch (error) {
    reduceDurability(lifecycle, worker, `harn: ${worker.id} cannot be claimed (${errorText(error)}); only parks and ends are durable`);
    return undefined;
  }
}

function tryJournal(
  lifecycle: Lifecycle,
  worker: Worker,
  claim: Claim,
  opening: Pick<JournalOpen, 'head' | 'base' | 'task'>,
): JournalWriter | undefined {
  const open: JournalOpen = {
    t: 'open',
    v: 1,
    worker_id: worker.id,
    generation: worker.generation,
    claim_token: claim.token,
    suspension_id: null,
    ...opening,
    at: renderInstant(lifecycle.realClock.now()),
  };
  try {
    return JournalWriter.create(lifecycle.platform.files, journalPathOf(worker.snapshotPath), open);
  } catch (error) {
    reduceDurability(
      lifecycle,
      worker,
      `harn: the journal of ${worker.id} cannot be written (${errorText(error)}); only parks and ends are durable`,
    );
    return undefined;
  }
}

export function reduceDurability(lifecycle: Lifecycle, worker: Worker, text: string): void {
  if (!worker.hasReducedDurability) lifecycle.warn(text);
  worker.hasReducedDurability = true;
}
