import type { JsonObject } from '../base/json.ts';
import type { Clock, Platform } from '../platform/platform.ts';
import type { ClaimWorld } from '../store/claim-file.ts';
import type { StateLocations } from '../store/state-root.ts';
import type { LoopRunner } from './activation.ts';
import type { AuditLog } from './audit.ts';
import type { HookRegistry, HookTape } from './hooks.ts';
import type { ObservedEventLog } from './observed-event-log.ts';
import type { WorkerRegistry } from './registry.ts';
import type { ResumeOwners } from './resume-by.ts';
import type { Opaque } from './spec-value.ts';
import type { TriggerRegistry } from './trigger-registry.ts';
import type { Waker } from './waker.ts';
import type { Worker } from './worker.ts';

/** What the parts of lifecycle share: one per run. Made by `createLifecycle`. */
export interface Lifecycle {
  readonly platform: Platform;
  /** The clock of the host, also while a script has frozen its own: claims, `opened_at`, `wait_ms`. */
  readonly realClock: Clock;
  /** What claims need. */
  readonly claims: ClaimWorld;
  readonly runner: LoopRunner;
  readonly rebinder: Rebinder;
  readonly locations: StateLocations;
  /** Nearest ancestor of the current directory with `harn.toml`. */
  readonly projectRoot: string | undefined;
  /** Directory of the script that runs; undefined for inline code. */
  readonly scriptDirectory: string | undefined;
  readonly registry: WorkerRegistry;
  /** Workers with an activation under way, root loops before their first park included. */
  readonly running: Set<Worker>;
  /**
   * Set once a signal has asked everything to park: the workers it asked. From then on nothing starts, and no result
   * is handed back to the script (12.7).
   */
  stopping: readonly Worker[] | undefined;
  readonly hooks: HookRegistry;
  readonly audit: AuditLog;
  readonly eventLog: ObservedEventLog;
  readonly owners: ResumeOwners;
  readonly triggers: TriggerRegistry;
  readonly waker: Waker;
  /** Events of 3.12 for subscribers, the JSON stream and the tape. */
  emit(event: JsonObject): void;
  /** One line for the person at the terminal. */
  warn(text: string): void;
  /** Where the calls of hooks are noted for a session. */
  hookTape(sessionId: string): HookTape;
}

/** Makes runnable again what a snapshot describes (spec/agents.md 5.12 steps 2 to 5). The runtime implements it. */
export interface Rebinder {
  /**
   * @returns `live` for the loop, and lines to warn with
   * @throws HarnError `HARN-SUS-004`, reason `program`, `tools` or `closures`
   */
  rebind(request: RebindRequest): Promise<Rebound>;
  /**
   * Only the predicate of the trigger that a parked worker waits for, and lines to warn with; absent, no predicate can be had.
   *
   * @throws HarnError `HARN-SUS-004`, as `rebind`
   */
  rebindPredicate?(request: RebindRequest): Promise<Pick<Rebound, 'predicate' | 'warnings'>>;
  /** How a callable can be found again: an entry for `program.closures` of the snapshot. */
  describe?(slot: string, callable: unknown): JsonObject;
}

/** Slot of the predicate of the trigger that a parked worker waits for. */
export const PREDICATE_SLOT = 'conditions.trigger.when';

export interface RebindRequest {
  /** `program` of 4.7; null in old snapshots. */
  readonly program: JsonObject | null;
  /** `config.spec` of 4.7, with the graph of a workflow. */
  readonly config: JsonObject;
  readonly mode: string;
  readonly workerId: string;
  /** Absolute path of the file that was read. */
  readonly snapshotPath: string;
  /** As the caller named it, for messages. */
  readonly target: string;
  /** Where the worker works (4.2 `execution`). */
  readonly execution?: JsonObject | undefined;
  /** The daemon block, for a daemon (11.4). */
  readonly daemon?: JsonObject | undefined;
}

export interface Rebound {
  readonly live: unknown;
  /** Provider and model about to be asked, for the check of the transcript. */
  readonly model: { readonly provider: string; readonly model: string };
  readonly warnings: readonly string[];
  /** What stands in `PREDICATE_SLOT`; undefined when there is none, or it cannot be had. */
  readonly predicate?: Opaque | undefined;
}
