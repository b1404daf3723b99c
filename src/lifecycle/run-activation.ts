import { errorText, HarnError, hasCode } from '../base/harn-error.ts';
import { type Instant, renderInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type {
  Activation,
  HookVerdict,
  JournalRecord,
  LoopEnd,
  LoopState,
  ParkFacts,
  ParkRequest,
  ResumeFacts,
  TopicView,
} from './activation.ts';
import { saveDaemon } from './daemon-snapshot.ts';
import { suspendPayload } from './hook-payload.ts';
import type { Lifecycle } from './lifecycle.ts';
import { parkWorker } from './park.ts';
import { writeRecord } from './persist.ts';
import { conditionsOf } from './resume-condition.ts';
import type { Tenure } from './tenure.ts';
import { transition } from './transition.ts';
import type { Worker } from './worker.ts';
import { announceWorker } from './worker-events.ts';

/** One activation: what the loop may ask of its worker, and what becomes of the worker when the loop is over. */
const PROGRESS_INTERVAL_MS = 1000;

class RunningActivation implements Activation {
  readonly workerId: string;
  readonly sessionId: string;
  readonly mode: string;
  readonly config: JsonObject;
  readonly live: unknown;
  readonly state: LoopState;
  readonly resume: ResumeFacts | undefined;
  readonly daemon: JsonObject | undefined;
  readonly #lifecycle: Lifecycle;
  readonly #worker: Worker;
  readonly #tenure: Tenure;
  #progressToldAt: Instant | undefined;

  constructor(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, resume: ResumeFacts | undefined) {
    this.#lifecycle = lifecycle;
    this.#worker = worker;
    this.#tenure = tenure;
    this.workerId = worker.id;
    this.sessionId = worker.sessionId;
    this.mode = worker.record.mode;
    this.config = {
      ...worker.spec,
      task: worker.record.task,
      node: (worker.record.config.node ?? null) as Json,
      artifacts: worker.record.artifacts as Json,
    }; // a payload of the snapshot
    this.live = worker.live;
    this.state = worker.state;
    this.resume = resume;
    this.daemon = worker.record.daemon ?? undefined;
  }

  get signal(): AbortSignal {
    return this.#tenure.signal;
  }

  atBoundary(): ParkRequest | undefined {
    this.#tenure.signal.throwIfAborted();
    this.#tenure.assertOwner();
    const { pending } = this.#worker;
    return pending?.isRaised === true ? pending.request : undefined;
  }

  get hasParkRequest(): boolean {
    return this.#worker.pending?.isRaised === true;
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#worker.changed(AbortSignal.any([signal, this.#tenure.signal]));
  }

  approveSelfPark(request: ParkRequest): Promise<HookVerdict> {
    return approvePark(this.#lifecycle, this.#worker, request);
  }

  async prepareConditions(request: ParkRequest): Promise<void> {
    const prepared = this.#lifecycle.waker.prepare(this.#worker, conditionsOf(request));
    // Only whether it can be registered was asked; the park registers it again in its critical section.
    this.#lifecycle.waker.discard(prepared);
  }

  park(request: ParkRequest, state: LoopState, facts: ParkFacts): Promise<JsonObject> {
    this.#tenure.signal.throwIfAborted();
    return parkWorker(this.#lifecycle, this.#worker, this.#tenure, request, state, facts);
  }

  onWake(wake: ((input: string | undefined) => void) | undefined): void {
    this.#worker.idleWake = wake;
    if (wake !== undefined) this.#worker.announceChange();
  }

  topic(name: string): TopicView {
    const { eventLog } = this.#lifecycle;
    const close = eventLog.observe(name, () => this.#worker.announceChange());
    return {
      latest: () => eventLog.latest(name) ?? 0,
      next: (cursor) => {
        const [record] = eventLog.read(name, cursor, 1);
        return record === undefined ? undefined : { cursor: record.id, payload: record.payload };
      },
      close,
    };
  }

  saveDaemon(request: ParkRequest | undefined, state: LoopState, facts: ParkFacts): void {
    this.#tenure.assertOwner();
    saveDaemon(this.#lifecycle, this.#worker, request, state, facts);
  }

  record(record: JournalRecord): void {
    this.#tenure.append(record);
  }

  emit(event: JsonObject): void {
    if (!this.#tenure.isOver) this.#lifecycle.emit(event);
  }

  log(topic: string, kind: string, payload: JsonObject): void {
    const { eventLog, platform } = this.#lifecycle;
    eventLog.append({ topic, kind, payload, headers: { worker_id: this.workerId }, occurredAt: platform.clock.now(), durability: 'lazy' });
  }

  progressed(iterationsCompleted: number): void {
    this.#worker.iterationsCompleted = iterationsCompleted;
    if (this.#lifecycle.registry.get(this.workerId) === undefined || this.#tenure.isOver) return;
    const now = this.#lifecycle.platform.clock.now();
    if (this.#progressToldAt !== undefined && now - this.#progressToldAt < PROGRESS_INTERVAL_MS) return;
    this.#progressToldAt = now;
    void announceWorker(this.#lifecycle, this.#worker, 'WorkerProgressed');
  }
}

/**
 * The `pre_suspend` hooks of 5.3 step 6. Nothing is changed by a refusal but the audit log.
 * @throws what a hook throws
 */
export async function approvePark(lifecycle: Lifecycle, worker: Worker, request: ParkRequest): Promise<HookVerdict> {
  const conditions = conditionsOf(request)?.declaration;
  const payload = {
    ...suspendPayload('pre_suspend', worker, { ...request, conditions }),
    requested_at: renderInstant(lifecycle.platform.clock.now()),
  };
  const outcome = await lifecycle.hooks.runChain('pre_suspend', payload, lifecycle.hookTape(worker.sessionId));
  if (outcome.control === 'allow') {
    const reason = outcome.payload.reason;
    return { decision: 'allow', reason: typeof reason === 'string' ? reason : request.reason };
  }
  lifecycle.audit.emit('pre_suspend_denied', {
    handle: worker.id,
    reason: request.reason,
    initiator: request.initiator,
    hook_reason: outcome.reason,
  });
  return { decision: 'deny', reason: outcome.reason };
}

/**
 * Runs one activation and brings the worker to where the loop left it.
 * @throws what the loop threw, after the worker has failed; `HARN-SUS-006` when it was replaced by another owner
 */
export async function runActivation(
  lifecycle: Lifecycle,
  worker: Worker,
  tenure: Tenure,
  resume: ResumeFacts | undefined,
): Promise<LoopEnd> {
  lifecycle.running.add(worker);
  try {
    const end = await lifecycle.runner.run(new RunningActivation(lifecycle, worker, tenure, resume));
    if (end.kind === 'ended' && !tenure.isOver) await completeWorker(lifecycle, worker, tenure, end);
    return end;
  } catch (error) {
    if (!tenure.isOver) await endByError(lifecycle, worker, tenure, error);
    throw error;
  } finally {
    lifecycle.running.delete(worker);
  }
}

/**
 * The loop of a worker that nobody awaits directly; its outcome is in the worker. It begins when the caller has
 * reached its next wait, so that what a script does right after a start or a resume comes before the first turn.
 */
export function runInBackground(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, resume: ResumeFacts | undefined): void {
  lifecycle.realClock.timer(0, () => {
    // What it rejects with stands in the record of the worker, where whoever waits for the worker finds it.
    if (!tenure.isOver) runActivation(lifecycle, worker, tenure, resume).catch(() => undefined);
  });
}

async function completeWorker(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, end: LoopEnd & { kind: 'ended' }): Promise<void> {
  const { result, state, artifacts = [], childRun } = end;
  dropPending(worker);
  if (isUnseenRoot(lifecycle, worker)) {
    worker.state = state;
    tenure.finishWithoutSnapshot();
    return;
  }
  const isRetriggerable = worker.record.carry_policy.retriggerable === true;
  const decision = transition(worker.status, isRetriggerable ? 'await' : 'complete');
  if (decision.kind !== 'go') throw new Error(`a worker that is ${worker.status} completed`);
  const now = renderInstant(lifecycle.platform.clock.now());
  const { transcript: _, ...saved } = withSummaryText(result);
  const changes = {
    status: decision.to,
    ...(isRetriggerable ? { awaiting_started_at: now } : { finished_at: now }),
    suspension: null,
    armed: null,
    result: saved,
    artifacts: [...worker.record.artifacts, ...artifacts],
    ...(childRun === undefined ? {} : { child_run_id: childRun.id, child_run_path: childRun.path }),
  };
  worker.result = withSummaryText(result);
  await endTenure(lifecycle, worker, tenure, changes, state);
  await announceWorker(lifecycle, worker, isRetriggerable ? 'WorkerWaitingForInput' : 'WorkerCompleted');
  worker.announceChange();
}

/** A worker's result always has `summary`: the final visible text. */
function withSummaryText(result: JsonObject): JsonObject {
  return { ...result, summary: result.summary ?? result.visible_text ?? '' };
}

async function endByError(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, error: unknown): Promise<void> {
  dropPending(worker);
  if (isFenced(error)) {
    tenure.abandon();
    worker.tenure = undefined;
    worker.fenced = error as Error;
    lifecycle.registry.remove(worker);
    worker.announceChange();
    return;
  }
  if (isUnseenRoot(lifecycle, worker)) {
    tenure.finishWithoutSnapshot();
    return;
  }
  worker.failureCategory = error instanceof HarnError && typeof error.data.category === 'string' ? error.data.category : undefined;
  await failWorker(lifecycle, worker, tenure, errorText(error));
}

export function isFenced(error: unknown): boolean {
  return error instanceof HarnError && hasCode(error, 'HARN-SUS-006') && error.data.operation === 'agent_loop';
}

async function failWorker(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, message: string): Promise<void> {
  const decision = transition(worker.status, 'fail');
  if (decision.kind !== 'go') throw new Error(`a worker that is ${worker.status} failed: ${message}`);
  const changes = {
    status: decision.to,
    finished_at: renderInstant(lifecycle.platform.clock.now()),
    suspension: null,
    armed: null,
    latest_error: message,
  };
  await endTenure(lifecycle, worker, tenure, changes, foldedState(lifecycle, worker, tenure));
  await announceWorker(lifecycle, worker, 'WorkerFailed');
  worker.announceChange();
}

/** Writes the last snapshot of an activation. When that fails the journal stays: a recovery meets the same end again. */
async function endTenure(
  lifecycle: Lifecycle,
  worker: Worker,
  tenure: Tenure,
  changes: Partial<Worker['record']>,
  state: LoopState,
): Promise<void> {
  tenure.assertOwner();
  try {
    const isAwaiting = changes.status === 'awaiting';
    writeRecord(lifecycle, worker, { ...changes, lifecycle_state: isAwaiting ? 'running' : 'done' }, state);
    if (isAwaiting) worker.restingClaim = tenure.rest();
    else tenure.finish();
  } catch (error) {
    lifecycle.warn(`harn: the end of ${worker.id} could not be saved: ${errorText(error)}`);
    tenure.abandon();
  }
  worker.tenure = undefined;
  worker.change(changes);
  worker.state = state;
}

/** The state as far as the journal tells: what the loop had settled when it was cut off. */
export function foldedState(lifecycle: Lifecycle, worker: Worker, tenure: Tenure): LoopState {
  const records = tenure.readRecords();
  return records.length === 0 ? worker.state : lifecycle.runner.foldJournal(worker.state, records).state;
}

/** A root loop has no handle before its first park: nobody can have seen it (5.10). */
function isUnseenRoot(lifecycle: Lifecycle, worker: Worker): boolean {
  return worker.record.mode === 'top_level_agent' && lifecycle.registry.get(worker.id) === undefined;
}

/** A natural end wins over a request to park (13.8). */
function dropPending(worker: Worker): void {
  const { pending } = worker;
  worker.pending = undefined;
  pending?.settle();
}
