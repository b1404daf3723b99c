import { type Instant, renderInstant } from '../base/instant.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { SuspensionRecord } from '../store/snapshot-schema.ts';
import type { ParkFacts, ParkRequest } from './activation.ts';
import { reduceHandle } from './reduced-handle.ts';
import type { ResumeConditions } from './resume-condition.ts';
import { hasConditions } from './resume-condition.ts';
import { redactSpec, storableSpec } from './spec-value.ts';
import type { WorkerRecord } from './worker.ts';

/** Builds the value that a parked loop returns (spec/agents.md 5.2) and the record of it in the snapshot (4.7). */
export interface SuspensionFacts {
  readonly suspensionId: string;
  readonly workerId: string;
  readonly request: ParkRequest;
  readonly conditions: ResumeConditions | undefined;
  readonly facts: ParkFacts;
  readonly suspendedAt: Instant;
  readonly shownPath: string;
}

export function suspensionRecord(given: SuspensionFacts): SuspensionRecord {
  const { request, conditions, facts } = given;
  return {
    suspension_id: given.suspensionId,
    status: 'suspended',
    handle: given.workerId,
    reason: request.reason,
    initiator: request.initiator,
    conditions: hasConditions(conditions) ? storedConditions(conditions) : null,
    iterations_completed: facts.iterationsCompleted,
    suspended_at: renderInstant(given.suspendedAt),
    suspended_at_turn: facts.turn ?? null,
    snapshot_ref: given.shownPath,
    resume_by_mechanism: null,
    auto_resume_trigger: null,
    links: [],
    ...facts.daemon,
  };
}

/** JSON has no closures: a snapshot only says that the trigger had a predicate, so that nobody arms it without. */
function storedConditions(conditions: ResumeConditions): JsonObject {
  const stored = storableSpec(conditions.spec);
  if (conditions.trigger?.when === undefined || !isJsonObject(stored.trigger)) return stored;
  return { ...stored, trigger: { ...stored.trigger, when_unbound: true } };
}

/**
 * The envelope: eleven keys, always all of them, and nothing in it that the agent read, wrote or was told. The id
 * of the suspension is in its handle.
 *
 * @param declaration the conditions as they may be shown
 */
export function suspensionEnvelope(
  worker: WorkerRecord,
  suspension: SuspensionRecord,
  declaration: JsonObject | null,
  shownPath: string,
): JsonObject {
  return {
    status: 'suspended',
    handle: { ...reducedHandle(worker, shownPath), suspension: { suspension_id: suspension.suspension_id } },
    reason: suspension.reason,
    initiator: suspension.initiator,
    conditions: declaration,
    iterations_completed: suspension.iterations_completed,
    suspended_at: suspension.suspended_at,
    suspended_at_turn: suspension.suspended_at_turn ?? null,
    snapshot_path: shownPath,
    resume_by_mechanism: suspension.resume_by_mechanism ?? null,
    auto_resume_trigger: suspension.auto_resume_trigger?.id ?? null,
  };
}

/** The handle inside a Suspension: no prompt, no input, no result (13.55). */
export function reducedHandle(record: WorkerRecord, shownPath: string): JsonObject {
  return reduceHandle({ ...(record as unknown as JsonObject), _type: 'agent_handle', snapshot_path: shownPath }); // a record is JSON
}

/** Conditions as stored, made fit to be shown. */
export function shownConditions(suspension: SuspensionRecord): JsonObject | null {
  const conditions = suspension.conditions;
  return conditions === null || conditions === undefined ? null : redactSpec(conditions);
}

export function shownTrigger(suspension: SuspensionRecord): JsonObject | null {
  const trigger = suspension.auto_resume_trigger;
  return trigger === null || trigger === undefined ? null : { id: trigger.id, version: trigger.version };
}

const DAEMON_KEYS = [
  'pending_event_count',
  'queued_event_count',
  'inflight_event',
  'wake_interval_ms',
  'watch_paths',
  'event_queue_capacity',
];

/** The keys of a daemon's block that its suspension has too (11.4). */
export function daemonKeys(daemon: JsonObject | undefined): JsonObject | undefined {
  if (daemon === undefined) return undefined;
  return Object.fromEntries(DAEMON_KEYS.filter((key) => daemon[key] !== undefined).map((key) => [key, daemon[key]]));
}
