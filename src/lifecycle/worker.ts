import type { Json, JsonObject } from '../base/json.ts';
import type { Claim } from '../store/claim-file.ts';
import { RenderedLists } from '../store/snapshot-lists.ts';
import type { SuspensionRecord, WorkerSnapshot } from '../store/snapshot-schema.ts';
import type { WorkerStatus } from '../store/worker-status.ts';
import type { LoopState, ParkRequest } from './activation.ts';
import type { Opaque } from './spec-value.ts';
import type { Tenure } from './tenure.ts';
import { isTerminal, lifecycleStateOf } from './transition.ts';

/** Everything a snapshot says but the transcript and the counters, which are the loop's. */
export type WorkerRecord = Omit<WorkerSnapshot, 'transcript' | 'loop' | '_type' | 'version'>;

/** A request to park that waits for a boundary. */
export class PendingPark {
  request: ParkRequest;
  readonly requestedAt: string;
  /** False while hooks may still refuse it; no boundary sees it before. */
  isRaised = false;
  /** Set when a hook refused. */
  deniedReason: string | undefined;
  /** Resolves when the worker parked, ended or refused; rejects when it could not be parked. */
  readonly settled: Promise<void>;
  #resolve!: () => void;
  #reject!: (failure: unknown) => void;

  constructor(request: ParkRequest, requestedAt: string) {
    this.request = request;
    this.requestedAt = requestedAt;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Nobody may be waiting: a signal, a broadcast, a caller whose time is up.
    this.settled.catch(() => undefined);
  }

  settle(failure?: unknown): void {
    if (failure === undefined) this.#resolve();
    else this.#reject(failure);
  }
}

/**
 * A worker of this process. Its record changes only through `transition` (transition.ts), and only in start.ts,
 * run-activation.ts, suspend.ts, resume.ts and close.ts.
 */
export class Worker {
  readonly id: string;
  /** Absolute; where its files are. */
  readonly snapshotPath: string;
  record: WorkerRecord;
  /** As of the last boundary that lifecycle saw: a start, a park, an end. */
  state: LoopState;
  /** What cannot be saved; opaque here. */
  live: unknown;
  /** The result of the last loop; the Suspension while parked is built from the record. */
  result: JsonObject | undefined;
  /** Present while this process runs the worker, or holds its claim. */
  tenure: Tenure | undefined;
  /** The claim of a worker between two cycles. */
  restingClaim: Claim | undefined;
  /** A suspend request that was not honoured yet. */
  pending: PendingPark | undefined;
  /** Checksum of the snapshot on disk; undefined before the first. */
  snapshotSha256: string | undefined;
  /** The text of its transcript in the snapshot on disk. */
  lists = new RenderedLists();
  /** Of the error that ended its loop, where that had one. */
  failureCategory: string | undefined;
  /** Set when another process took the worker over, or its loop failed in a way that callers have to hear of. */
  fenced: Error | undefined;
  /** Order of the request that opened the current activation, among the requests of this process. */
  openedEntry: number | undefined;
  /** Set while its loop idles in this process: a resume wakes it instead of starting anything. */
  idleWake: ((input: string | undefined) => void) | undefined;
  /** Completed turns over the life of the worker, as the loop last told. */
  iterationsCompleted = 0;
  /** A task that came from resume input is not shown in events. */
  isTaskPrivate = false;
  /** `when` of the trigger that it waits for, bound again by a restore. */
  predicate: Opaque | undefined;
  /** Set when appends to the journal failed and only parks and ends are durable. */
  hasReducedDurability = false;
  #openTransitions = 0;
  readonly #waiters = new Set<() => void>();
  readonly #heldWakes: (() => void)[] = [];

  constructor(snapshotPath: string, record: WorkerRecord, state: LoopState, live: unknown) {
    this.id = record.id;
    this.snapshotPath = snapshotPath;
    this.record = record;
    this.state = state;
    this.live = live;
  }

  get status(): WorkerStatus {
    return this.record.status;
  }

  get generation(): number {
    return this.record.resume.generation;
  }

  get suspension(): SuspensionRecord | undefined {
    return this.record.suspension ?? undefined;
  }

  get sessionId(): string {
    const sessionId = this.spec.session_id;
    return typeof sessionId === 'string' ? sessionId : '';
  }

  /** `config.spec` of the record: how to run the loop. */
  get spec(): JsonObject {
    return this.record.config.spec ?? {};
  }

  /** Changes the record; a changed status also changes the state word. */
  change(changes: Partial<WorkerRecord>): void {
    const status = changes.status ?? this.record.status;
    this.record = { ...this.record, ...changes, lifecycle_state: lifecycleStateOf(status) };
  }

  /** A transition is under way: hooks of it may not start another, and wakes are held until it is over. */
  get isInTransition(): boolean {
    return this.#openTransitions > 0;
  }

  get isSettled(): boolean {
    return !this.isInTransition && (isTerminal(this.status) || lifecycleStateOf(this.status) === 'suspended');
  }

  /** Settled, or a retriggerable worker between two cycles. */
  get isAtRest(): boolean {
    return this.isSettled || (!this.isInTransition && this.status === 'awaiting');
  }

  /**
   * Resolves when the worker neither runs nor waits for its next cycle: it ended, or it is parked.
   * @throws HarnError `HARN-SUS-006` when another process took it over meanwhile
   */
  settled(signal?: AbortSignal): Promise<void> {
    return this.#until(() => this.isSettled, signal);
  }

  /**
   * Resolves when the worker does not run: for callers that want what one run came to, and that would wait for ever
   * for a worker that only they could trigger again.
   * @throws HarnError `HARN-SUS-006` when another process took it over meanwhile
   */
  atRest(signal?: AbortSignal): Promise<void> {
    return this.#until(() => this.isAtRest, signal);
  }

  async #until(isReached: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    while (!isReached()) {
      if (this.fenced !== undefined) throw this.fenced;
      await this.changed(signal);
    }
  }

  /** Lets everybody who waits look again. */
  announceChange(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  /** Runs an automatic wake now, or when the transition under way is over (spec/agents.md 5.3 step 9). */
  whenSteady(wake: () => void): void {
    if (this.isInTransition) this.#heldWakes.push(wake);
    else wake();
  }

  beginTransition(): void {
    this.#openTransitions++;
  }

  endTransition(): void {
    this.#openTransitions--;
    if (this.isInTransition) return;
    this.announceChange();
    for (const wake of this.#heldWakes.splice(0)) wake();
  }

  /** Resolves at the next change of any kind. */
  changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiters.delete(done);
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiters.delete(done);
        reject(signal?.reason);
      };
      if (signal?.aborted) return stop();
      this.#waiters.add(done);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}

/** What a new worker is made of. */
export interface WorkerSeed {
  readonly id: string;
  readonly name: string;
  readonly task: string;
  readonly mode: string;
  /** `spec` of 4.7: system, options, session ids. */
  readonly spec: JsonObject;
  readonly createdAt: string;
  readonly parentWorkerId?: string | undefined;
  readonly parentStageId?: string | undefined;
  readonly execution?: JsonObject | undefined;
  readonly audit?: JsonObject | undefined;
  readonly artifacts?: readonly Json[] | undefined;
  readonly carry?: JsonObject | undefined;
  readonly request?: JsonObject | undefined;
  /** `node` or `graph` of the configuration. */
  readonly config?: JsonObject | undefined;
  /** How to bind tools and closures again; made by the runtime. */
  readonly program: JsonObject | null;
  readonly shownPath: string;
}

const DEFAULT_CARRY: JsonObject = {
  artifact_mode: 'inherit',
  transcript_mode: 'inherit',
  context_policy: null,
  resume_workflow: true,
  persist_state: true,
  retriggerable: false,
  policy: null,
};

export function newWorkerRecord(seed: WorkerSeed): WorkerRecord {
  return {
    id: seed.id,
    name: seed.name,
    task: seed.task,
    status: 'running',
    lifecycle_state: 'running',
    mode: seed.mode,
    created_at: seed.createdAt,
    started_at: seed.createdAt,
    finished_at: null,
    awaiting_started_at: null,
    history: [seed.task],
    request: {
      task: seed.task,
      system: seed.spec.system ?? null,
      payload: null,
      research_questions: [],
      action_items: [],
      workflow_stages: [],
      verification_steps: [],
      ...seed.request,
    },
    latest_payload: null,
    latest_error: null,
    parent_worker_id: seed.parentWorkerId ?? null,
    parent_stage_id: seed.parentStageId ?? null,
    child_run_id: null,
    child_run_path: null,
    snapshot_path: seed.shownPath,
    execution: seed.execution ?? null,
    audit: seed.audit ?? null,
    artifacts: [...(seed.artifacts ?? [])],
    carry_policy: { ...DEFAULT_CARRY, ...seed.carry },
    journal: null,
    config: { mode: seed.mode, spec: { name: seed.name, task: seed.task, ...seed.spec }, ...seed.config },
    suspension: null,
    last_suspension: null,
    armed: null,
    resume: { generation: 1, suspension_id: null, opened_at: null, claim: null },
    rejected: null,
    daemon: null,
    program: seed.program,
  };
}

/** Whether only its parks and its end are made durable (spec/agents.md 3.2 `durability`). */
export function hasParkDurability(worker: Worker): boolean {
  const options = worker.spec.options;
  return typeof options === 'object' && options !== null && 'durability' in options && options.durability === 'park';
}

/** The record and the loop's part of a snapshot. */
export function splitSnapshot(snapshot: WorkerSnapshot): { readonly record: WorkerRecord; readonly state: LoopState } {
  const { transcript, loop, _type: _, version: __, ...record } = snapshot;
  return { record, state: { transcript: transcript ?? null, loop } };
}

/** Puts the two together again. */
export function joinSnapshot(record: WorkerRecord, state: LoopState): WorkerSnapshot {
  return { _type: 'worker_snapshot', version: 1, ...record, loop: state.loop, transcript: state.transcript };
}
