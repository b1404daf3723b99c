import { type Instant, renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import type { SeenProcess, SuspensionHead } from '../lifecycle/suspension-head.ts';
import type { WorkerListing } from '../lifecycle/worker-head.ts';
import type { Platform } from '../platform/platform.ts';
import { displayPath } from '../store/state-root.ts';

/** One row of `harn workers list --json`; the same facts stand in `why --json`. Times are RFC 3339, absent ones null. */
export function listingJson(platform: Platform, row: WorkerListing, scheduledAt: Instant | undefined): JsonObject {
  const now = platform.clock.now();
  if (row.kind !== 'worker') return { kind: row.kind, path: displayPath(platform.files.cwd(), row.path), problem: row.problem };
  return {
    kind: 'worker',
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: row.status,
    lifecycle_state: row.lifecycleState,
    created_at: timeJson(row.createdAt),
    since: timeJson(row.since),
    age_ms: row.since === undefined ? null : Math.max(0, now - row.since),
    reason: row.reason ?? null,
    parent_worker_id: row.parentId ?? null,
    snapshot_path: displayPath(platform.files.cwd(), row.snapshotPath),
    process: processJson(row.runner),
    suspension: row.suspension === undefined ? null : suspensionJson(row.suspension, scheduledAt),
  };
}

function suspensionJson(suspension: SuspensionHead, scheduledAt: Instant | undefined): JsonObject {
  const { timeout, trigger, topic } = suspension;
  const dueAt = [timeout?.deadlineAt, scheduledAt].filter((at) => at !== undefined);
  return {
    suspension_id: suspension.id,
    initiator: suspension.initiator ?? null,
    suspended_at_turn: suspension.turn ?? null,
    resume_by_mechanism: suspension.mechanism ?? null,
    attendance: suspension.attendance,
    armed_by: processJson(suspension.armer),
    next_wake_at: dueAt.length === 0 ? null : renderInstant(Math.min(...dueAt)),
    timeout:
      timeout === undefined ? null : { deadline_at: timeJson(timeout.deadlineAt), on_timeout: timeout.action, armed: timeout.isArmed },
    trigger:
      trigger === undefined
        ? null
        : {
            id: trigger.id ?? null,
            provider: trigger.provider,
            kind: trigger.kind,
            schedule: trigger.schedule ?? null,
            predicate: trigger.hasPredicate,
            next_tick_at: timeJson(scheduledAt),
            armed: trigger.isArmed,
          },
    on_event: topic === undefined ? null : { topic: topic.name, from_cursor: topic.fromCursor, armed: topic.isArmed },
  };
}

function processJson(process: SeenProcess | undefined): JsonObject | null {
  if (process === undefined) return null;
  const { pid, host, liveness } = process;
  return { pid, host, alive: liveness === 'unknown' ? null : liveness === 'alive' };
}

function timeJson(instant: Instant | undefined): string | null {
  return instant === undefined ? null : renderInstant(instant);
}
