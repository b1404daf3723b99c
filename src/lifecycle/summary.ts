import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { SuspensionRecord } from '../store/snapshot-schema.ts';
import { shownConditions, shownTrigger, suspensionEnvelope } from './suspension.ts';
import { isTerminal } from './transition.ts';
import type { Worker, WorkerRecord } from './worker.ts';

/**
 * The summary of a worker, which is also its handle (spec/agents.md 4.5): a plain value, true at the moment it was
 * made. It is built from the record alone, so that a worker of another process looks the same.
 */
export interface SummaryFacts {
  readonly record: WorkerRecord;
  readonly transcript: JsonObject | null;
  readonly result: JsonObject | undefined;
  /** As scripts see the path. */
  readonly shownPath: string;
  readonly pending?: { readonly reason: string; readonly initiator: string; readonly requestedAt: string } | undefined;
  readonly hasReducedDurability?: boolean | undefined;
}

export function buildSummary(facts: SummaryFacts): JsonObject {
  const { record, transcript, shownPath } = facts;
  const isEnded = isTerminal(record.status);
  const suspension = record.suspension ?? undefined;
  return {
    _type: 'agent_handle',
    id: record.id,
    name: record.name,
    task: record.task,
    mode: record.mode,
    status: record.status,
    lifecycle_state: record.lifecycle_state,
    created_at: record.created_at ?? null,
    started_at: record.started_at ?? null,
    finished_at: record.finished_at ?? null,
    awaiting_started_at: record.awaiting_started_at ?? null,
    history: record.history,
    request: record.request,
    provenance: provenance(record, shownPath),
    result: summaryResult(facts, suspension),
    error: record.latest_error ?? null,
    artifact_count: record.artifacts.length,
    has_transcript: transcript !== null,
    ...(isEnded ? { transcript } : {}),
    parent_worker_id: record.parent_worker_id ?? null,
    parent_stage_id: record.parent_stage_id ?? null,
    child_run_id: record.child_run_id ?? null,
    child_run_path: record.child_run_path ?? null,
    execution: record.execution ?? null,
    audit: summaryAudit(facts),
    snapshot_path: shownPath,
    suspension: suspension === undefined || record.lifecycle_state !== 'suspended' ? null : shownSuspension(suspension, shownPath),
    ...(facts.pending === undefined
      ? {}
      : {
          suspend_requested: { reason: facts.pending.reason, initiator: facts.pending.initiator, requested_at: facts.pending.requestedAt },
        }),
  };
}

/** The summary of a worker of this process. */
export function summaryOf(worker: Worker, shownPath: string, extra: JsonObject = {}): JsonObject {
  const pending = worker.pending;
  const summary = buildSummary({
    record: worker.record,
    transcript: worker.state.transcript,
    result: worker.result,
    shownPath,
    pending: pending === undefined ? undefined : { ...pending.request, requestedAt: pending.requestedAt },
    hasReducedDurability: worker.hasReducedDurability,
  });
  return { ...summary, ...extra };
}

export function provenance(record: WorkerRecord, shownPath: string): JsonObject {
  const spec = record.config.spec ?? {};
  return {
    worker_id: record.id,
    worker_name: record.name,
    mode: record.mode,
    parent_worker_id: record.parent_worker_id ?? null,
    parent_stage_id: record.parent_stage_id ?? null,
    session_id: spec.session_id ?? null,
    parent_session_id: spec.parent_session_id ?? null,
    snapshot_path: shownPath,
    run_id: record.child_run_id ?? null,
    run_path: record.child_run_path ?? null,
  };
}

function summaryResult({ record, result, shownPath, transcript }: SummaryFacts, suspension: SuspensionRecord | undefined): Json {
  if (suspension !== undefined && record.lifecycle_state === 'suspended') {
    return suspensionEnvelope(record, suspension, shownConditions(suspension), shownPath);
  }
  if (result !== undefined) return result;
  // A worker of an earlier process: its result was saved without the transcript, which the file holds once.
  return isTerminal(record.status) && isJsonObject(record.result) ? { ...record.result, transcript } : null;
}

function summaryAudit({ record, hasReducedDurability }: SummaryFacts): Json {
  if (hasReducedDurability !== true) return record.audit ?? null;
  return { ...record.audit, durability: 'park' };
}

function shownSuspension(suspension: SuspensionRecord, shownPath: string): JsonObject {
  const conditions = shownConditions(suspension);
  return {
    suspension_id: suspension.suspension_id,
    handle: suspension.handle,
    reason: suspension.reason,
    initiator: suspension.initiator,
    conditions,
    has_conditions: conditions !== null,
    iterations_completed: suspension.iterations_completed,
    suspended_at: suspension.suspended_at,
    suspended_at_turn: suspension.suspended_at_turn ?? null,
    snapshot_path: shownPath,
    snapshot_ref: suspension.snapshot_ref ?? shownPath,
    resume_by_mechanism: suspension.resume_by_mechanism ?? null,
    auto_resume_trigger: shownTrigger(suspension),
  };
}
