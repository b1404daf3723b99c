import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isCallableSpec, type Opaque, type SpecObject } from './spec-value.ts';
import { suspendWorker } from './suspend.ts';

/**
 * The broadcast of 9.4: every target is asked to park as by `suspend_agent`, in the order of their ids. Only a target
 * that is parked counts as suspended: one that reaches no boundary in time keeps the request and is told as
 * `suspend_requested`, the key that `suspend_agent` has for it.
 * @param call calls the closure that chooses the targets
 */
export async function interruptAndSuspend(
  lifecycle: Lifecycle,
  spec: SpecObject,
  call: (callable: Opaque) => Promise<Json>,
): Promise<JsonObject> {
  const reason = typeof spec.reason === 'string' ? spec.reason : '';
  const { ids, scopeKind } = await broadcastTargets(lifecycle, spec, call);
  const targets: JsonObject[] = [];
  for (const id of [...ids].sort()) targets.push({ handle: id, ...(await askTarget(lifecycle, id, reason)) });
  const suspended = targets.filter(({ outcome }) => outcome === 'suspended').length;
  const rollUp = {
    status: 'broadcast',
    scope_kind: scopeKind,
    target_count: targets.length,
    suspended_count: suspended,
    skipped_count: targets.length - suspended,
    reason,
  };
  auditBroadcast(lifecycle, 'roll_up', rollUp);
  for (const entry of targets) auditBroadcast(lifecycle, 'target', { ...entry, reason });
  return { ...rollUp, targets };
}

async function broadcastTargets(
  lifecycle: Lifecycle,
  spec: SpecObject,
  call: (callable: Opaque) => Promise<Json>,
): Promise<{ readonly ids: readonly string[]; readonly scopeKind: 'all' | 'list' | 'closure' }> {
  const { target_agents: scope = 'all' } = spec;
  if (isCallableSpec(scope)) return { ids: handleIds(await call(scope)), scopeKind: 'closure' };
  if (Array.isArray(scope)) return { ids: handleIds(scope as Json), scopeKind: 'list' };
  return {
    ids: lifecycle.registry
      .list()
      .filter((worker) => worker.status === 'running')
      .map((worker) => worker.id),
    scopeKind: 'all',
  };
}

function handleIds(list: Json): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: Json) =>
    typeof entry === 'string' ? [entry] : isJsonObject(entry) && typeof entry.id === 'string' ? [entry.id] : [],
  );
}

/** One that cannot be parked keeps nobody else from being asked. */
async function askTarget(lifecycle: Lifecycle, id: string, reason: string): Promise<{ readonly outcome: string; readonly error?: string }> {
  try {
    return { outcome: await suspendTarget(lifecycle, id, reason) };
  } catch (error) {
    return { outcome: 'failed', error: errorText(error) };
  }
}

async function suspendTarget(lifecycle: Lifecycle, id: string, reason: string): Promise<string> {
  const worker = lifecycle.registry.get(id);
  if (worker === undefined) return 'unknown';
  if (worker.status === 'suspended') return 'already_suspended';
  if (worker.status !== 'running') return 'not_running';
  const summary = await suspendWorker(lifecycle, worker, {
    reason,
    initiator: 'triggered',
    conditions: undefined,
    resumeBy: undefined,
    waitMs: 2000,
  });
  if (summary.pre_suspend_denied !== undefined) return 'denied';
  if (summary.status === 'suspended') return 'suspended';
  return summary.status === 'running' ? 'suspend_requested' : 'not_running';
}

function auditBroadcast(lifecycle: Lifecycle, kind: string, payload: JsonObject): void {
  const occurredAt = lifecycle.platform.clock.now();
  lifecycle.eventLog.append({ topic: 'triggers.interrupt_and_suspend.audit', kind, payload, headers: {}, occurredAt, durability: 'lazy' });
}
