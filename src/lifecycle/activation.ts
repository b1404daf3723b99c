import type { Instant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';

/**
 * The seam between `lifecycle/` (workers, claims, snapshots, journal, suspend and resume) and whoever runs loops
 * (`agent/`). Lifecycle knows nothing of models: it saves a `LoopState` that the runner understands. The runner
 * knows nothing of files: it asks its `Activation`.
 */

/** Exactly what a snapshot stores of a loop: the transcript (spec/agents.md 3.9) and the counters (4.7 `loop`). Plain JSON. */
export interface LoopState {
  readonly transcript: JsonObject | null;
  readonly loop: JsonObject;
}

export type Initiator = 'self' | 'parent' | 'operator' | 'triggered';
export type ResumeCause = 'operator' | 'parent' | 'triggered' | 'timeout';

/** What a resumed activation has to know (spec/agents.md 5.4 step 9, 5.6). */
export interface ResumeFacts {
  readonly input: string | undefined;
  readonly continueTranscript: boolean;
  readonly cause: ResumeCause;
  /** Set for cause `triggered`. */
  readonly triggerId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly resumedAt: Instant;
  /** The consumed suspension: reason, initiator, suspended_at, suspended_at_turn, iterations_completed. */
  readonly suspension: JsonObject;
  /** The crash recovery of 5.7 rather than a park. */
  readonly isRecovery: boolean;
}

/** A wish to park, whoever has it (spec/agents.md 5.3, 7.2, 11.2, 12.7). */
export interface ParkRequest {
  readonly reason: string;
  readonly initiator: Initiator;
  /** Normalised (chapter 6); undefined parks open. */
  readonly conditions: JsonObject | undefined;
  /** The conditions with their closures (`when` of a trigger), for arming; absent when `conditions` says all. Opaque to the loop. */
  readonly liveConditions?: unknown;
  /** Callback of the resume owner: a `ResumeByCallback` (lifecycle/resume-by.ts) that the runtime adapter made; opaque to the loop. */
  readonly resumeBy?: unknown;
}

export interface ParkFacts {
  /** Completed turns over the life of the worker. */
  readonly iterationsCompleted: number;
  /** Zero-based index of the turn that ended at this boundary; undefined at B0 of a fresh worker. */
  readonly turn: number | undefined;
  /** The block of a daemon (11.4), absent for other loops. */
  readonly daemon?: JsonObject | undefined;
  /** The file of its own that a daemon has; written with the snapshot. */
  readonly daemonFile?: DaemonFile | undefined;
}

/** `daemon.json` of a daemon: a snapshot that can be resumed by itself, with further names for whoever reads it (11.4). */
export interface DaemonFile {
  /** Absolute. */
  readonly path: string;
  readonly names: JsonObject;
}

/** A topic of the event log as an idle loop looks at it; while it is open, a new record ends `changed`. */
export interface TopicView {
  /** Cursor of the newest record; 0 for an empty topic. */
  latest(): number;
  /** The first record after a cursor. */
  next(cursor: number): { readonly cursor: number; readonly payload: Json } | undefined;
  close(): void;
}

export type HookVerdict = { readonly decision: 'allow'; readonly reason: string } | { readonly decision: 'deny'; readonly reason: string };

/** One journal record (spec/agents.md 4.9); `t` names it. */
export type JournalRecord = JsonObject & { readonly t: 'in' | 'answer' | 'begin' | 'result' | 'turn' | 'edit' };

/** What lifecycle gives to a running loop. One per activation. */
export interface Activation {
  readonly workerId: string;
  readonly sessionId: string;
  readonly mode: string;
  /** `spec` of 4.7: name, task, system, options (JSON part), session ids; `node` of a stage, `artifacts` of the worker. */
  readonly config: JsonObject;
  /** What cannot be saved: tools with handlers, callbacks; supplied by the runtime adapter at start and by re-binding at a cold restore. */
  readonly live: unknown;
  /** State at the start of this activation; after a resume already with the transcript policy applied. */
  readonly state: LoopState;
  readonly resume: ResumeFacts | undefined;
  /** The daemon block of the snapshot that this activation goes on from (11.4). */
  readonly daemon: JsonObject | undefined;
  /** Aborts on close_agent, and when the run ends. */
  readonly signal: AbortSignal;

  /**
   * The only place where a loop looks at the suspend flag (3.4). Throws category `cancelled` when the worker was
   * closed. The loop calls it after it has looked for natural end conditions, so that completion wins (13.8).
   */
  atBoundary(boundary: 'B0' | 'B1' | 'B2' | 'B3'): ParkRequest | undefined;
  /** True when a suspend is requested and not yet honoured; also ends a daemon's idle wait (await `changed`). */
  readonly hasParkRequest: boolean;
  /** Resolves at the next suspend request, close, message or wake; for idle waits. */
  changed(signal: AbortSignal): Promise<void>;
  /** While the callback is set, whoever resumes this running worker wakes it instead (11.1); undefined takes it back. */
  onWake(wake: ((input: string | undefined) => void) | undefined): void;
  topic(name: string): TopicView;

  /** Runs `pre_suspend` hooks for a park that the loop itself begins (7.3 step 2, 11.2 step 2). */
  approveSelfPark(request: ParkRequest): Promise<HookVerdict>;
  /** Checks dormant registration of the conditions (7.4 last row); throws HARN-SUS-007. */
  prepareConditions(request: ParkRequest): Promise<void>;
  /**
   * Steps 8 to 12 of 5.3: builds the Suspension, writes the snapshot with the journal folded in, flips the state,
   * dispatches the resume owner, arms, emits, runs post hooks. The loop then returns what this gives.
   * @returns the Suspension of 5.2
   * @throws plain error when the snapshot could not be written; the worker then keeps running
   */
  park(request: ParkRequest, state: LoopState, facts: ParkFacts): Promise<JsonObject>;
  /**
   * Writes the file of a daemon without parking it (11.2 step 3): as it would be after the request, or, without one,
   * as it ended. A disk that refuses is told to the person at the terminal and does not stop the loop.
   */
  saveDaemon(request: ParkRequest | undefined, state: LoopState, facts: ParkFacts): void;

  /** Appends and fsyncs one record before it returns; a no-op under `durability: "park"`. Throws HARN-SUS-006 when fenced. */
  record(record: JournalRecord): void;
  /** Hands an event of 3.12 to subscribers, the JSON stream and topics. `worker_update` events are lifecycle's own. */
  emit(event: JsonObject): void;
  /** Appends a record that only informs to a topic of the event log. */
  log(topic: string, kind: string, payload: JsonObject): void;
  /** Progress of the worker, once a turn is settled (WorkerProgressed, throttled). */
  progressed(iterationsCompleted: number): void;
}

export type LoopEnd =
  /** The loop ended by itself; `result` is 3.8 or 4.4, `state` the final transcript and counters; `artifacts` are added to the worker's. */
  | {
      readonly kind: 'ended';
      readonly result: JsonObject;
      readonly state: LoopState;
      readonly artifacts?: readonly Json[] | undefined;
      /** The run record of a worker that ran a graph. */
      readonly childRun?: { readonly id: string; readonly path: string } | undefined;
    }
  /** The loop parked; `suspension` is what `park` gave, `result` what the caller of agent_loop gets (3.8, 11.2). */
  | { readonly kind: 'parked'; readonly suspension: JsonObject; readonly result: JsonObject };

/** What `agent/` gives to lifecycle. Everything but `run` is pure. */
export interface LoopRunner {
  /** Runs one activation until it ends, parks or throws. */
  run(activation: Activation): Promise<LoopEnd>;
  /**
   * The state of a loop that never ran: the transcript it starts from with the prompt (`config.task`) as its last message.
   * @param seed history of a named session or `options.transcript`; absent starts an empty one
   */
  initialState(config: JsonObject, seed?: Json): LoopState;
  /** The state that the next cycle of a worker starts from, after an earlier one: what of that goes on is said by `carry` (4.2). */
  nextCycle(config: JsonObject, before: LoopState, carry: JsonObject): LoopState;
  /** Adds journal records to a state, including the recovery of a turn in flight (4.9). */
  foldJournal(state: LoopState, records: readonly JsonObject[]): { readonly state: LoopState; readonly rerun: readonly Json[] };
  /** Transcript policy, continuity reminder and input of a resume (5.4 step 9, 5.6). */
  applyResume(state: LoopState, facts: ResumeFacts, workerId: string, sessionId: string): LoopState;
  /**
   * Looks at the configuration of a worker that is about to be restored, while it can still be refused.
   * @throws what starting a loop with it would throw
   */
  checkConfig(config: JsonObject): void;
  /** The transcript doctor of 5.15: the repaired state and one entry per repair. */
  repair(
    state: LoopState,
    target: { readonly provider: string; readonly model: string },
  ): { readonly state: LoopState; readonly repairs: readonly JsonObject[] };
}
