import { parseInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Lifecycle } from './lifecycle.ts';
import { shownPathOf } from './persist.ts';
import type { Worker } from './worker.ts';

/** What a pipeline leaves open when its entry is over (spec/agents.md 8.6, spec/language.md 15.4). */
export type UnsettledState = {
  readonly suspended_subagents: readonly JsonObject[];
  readonly queued_triggers: readonly JsonObject[];
  readonly partial_handoffs: readonly JsonObject[];
  readonly in_flight_llm_calls: readonly JsonObject[];
  readonly pool_pending_tasks: readonly JsonObject[];
};

/** Work that other parts of a run report: handoffs, deferred events, model calls in flight, tasks of pools. */
export class OpenWork {
  readonly handoffs = new Map<string, JsonObject>();
  readonly deferredTriggers = new Map<string, JsonObject>();
  readonly modelCalls = new Map<string, JsonObject>();
  readonly poolTasks = new Map<string, JsonObject>();
}

export function unsettledState(lifecycle: Lifecycle, work: OpenWork): UnsettledState {
  return {
    suspended_subagents: parkedWorkers(lifecycle).map((worker) => suspendedEntry(lifecycle, worker)),
    queued_triggers: [...work.deferredTriggers.values()],
    partial_handoffs: [...work.handoffs.values()],
    in_flight_llm_calls: [...work.modelCalls.values()],
    pool_pending_tasks: [...work.poolTasks.values()],
  };
}

/** Counts by the short names of the contract; reads a state that a script may have built by hand. */
export function unsettledCounts(
  state: JsonObject,
): Readonly<Record<'suspended' | 'queued' | 'partial' | 'in_flight' | 'pool_pending', number>> {
  return {
    suspended: lengthOf(state.suspended_subagents),
    queued: lengthOf(state.queued_triggers),
    partial: lengthOf(state.partial_handoffs),
    in_flight: lengthOf(state.in_flight_llm_calls),
    pool_pending: lengthOf(state.pool_pending_tasks),
  };
}

export function isSettled(state: JsonObject): boolean {
  return Object.values(unsettledCounts(state)).every((count) => count === 0);
}

export function unsettledSummary(state: JsonObject): string {
  if (isSettled(state)) return 'no unsettled work';
  const { suspended, queued, partial, in_flight, pool_pending } = unsettledCounts(state);
  const pool = pool_pending === 0 ? '' : `, ${pool_pending} pool tasks`;
  return `unsettled work: ${suspended} suspended subagents, ${queued} queued triggers, ${partial} partial handoffs, ${in_flight} in-flight llm calls${pool}`;
}

function parkedWorkers(lifecycle: Lifecycle): readonly Worker[] {
  return lifecycle.registry.list().filter((worker) => worker.status === 'suspended');
}

function suspendedEntry(lifecycle: Lifecycle, worker: Worker): JsonObject {
  const suspendedAt = parseInstant(worker.suspension?.suspended_at ?? '');
  return {
    handle: worker.id,
    status: worker.status,
    reason: worker.suspension?.reason ?? '',
    initiator: worker.suspension?.initiator ?? null,
    age_ms: suspendedAt === undefined ? 0 : Math.max(0, lifecycle.platform.clock.now() - suspendedAt),
    snapshot_ref: shownPathOf(lifecycle, worker),
  };
}

function lengthOf(list: Json | undefined): number {
  return Array.isArray(list) ? list.length : 0;
}
