import type { JsonObject } from '../base/json.ts';
import type { WorkerEventName } from './hooks.ts';
import type { Lifecycle } from './lifecycle.ts';
import { shownPathOf } from './persist.ts';
import { provenance } from './summary.ts';
import { shownConditions, shownTrigger } from './suspension.ts';
import type { Worker } from './worker.ts';

/** Tells of the life of a worker (spec/agents.md 4.5): worker hooks, subscribers, topic `agent.workers`. */
export const WORKER_TOPIC = 'agent.workers';

const STATUS_WORDS: Readonly<Record<WorkerEventName, string>> = {
  WorkerSpawned: 'running',
  WorkerProgressed: 'progressed',
  WorkerWaitingForInput: 'awaiting_input',
  WorkerSuspended: 'suspended',
  WorkerResumed: 'running',
  WorkerCompleted: 'completed',
  WorkerFailed: 'failed',
  WorkerCancelled: 'cancelled',
};

/** Resolves when the hooks have run; what they throw is reported and goes no further. */
export async function announceWorker(lifecycle: Lifecycle, worker: Worker, event: WorkerEventName): Promise<void> {
  const payload = workerUpdate(lifecycle, worker, event);
  lifecycle.emit(payload);
  lifecycle.eventLog.append({
    topic: WORKER_TOPIC,
    kind: event,
    payload,
    headers: { worker_id: worker.id },
    occurredAt: lifecycle.platform.clock.now(),
    durability: 'lazy',
  });
  await lifecycle.hooks.notifyWorker(event, payload, (text) => lifecycle.warn(text));
}

function workerUpdate(lifecycle: Lifecycle, worker: Worker, event: WorkerEventName): JsonObject {
  const { record } = worker;
  return {
    type: 'worker_update',
    session_id: worker.sessionId,
    worker_id: worker.id,
    worker_name: record.name,
    worker_task: shownTask(worker, event),
    worker_mode: record.mode,
    event,
    status: STATUS_WORDS[event],
    metadata: metadata(lifecycle, worker, event),
    audit: record.audit ?? null,
  };
}

function metadata(lifecycle: Lifecycle, worker: Worker, event: WorkerEventName): JsonObject {
  const { record } = worker;
  const shownPath = shownPathOf(lifecycle, worker);
  return {
    task: shownTask(worker, event),
    mode: record.mode,
    request: event === 'WorkerSpawned' ? record.request : null,
    provenance: provenance(record, shownPath),
    created_at: record.created_at ?? null,
    started_at: record.started_at ?? null,
    finished_at: record.finished_at ?? null,
    snapshot_path: shownPath,
    suspension: shownSuspension(worker, shownPath),
    audit: record.audit ?? null,
    error: record.latest_error ?? null,
  };
}

/**
 * The task is the prompt, and after a resume its input: both belong to the transcript, which no event may quote.
 * Only the event that says what was started names it.
 */
function shownTask(worker: Worker, event: WorkerEventName): string {
  if (worker.isTaskPrivate) return '[resume input]';
  return event === 'WorkerSpawned' ? worker.record.task : '[task]';
}

function shownSuspension(worker: Worker, shownPath: string): JsonObject | null {
  const suspension = worker.suspension;
  if (suspension === undefined) return null;
  return {
    suspension_id: suspension.suspension_id,
    handle: suspension.handle,
    reason: suspension.reason,
    initiator: suspension.initiator,
    has_conditions: shownConditions(suspension) !== null,
    suspended_at: suspension.suspended_at,
    suspended_at_turn: suspension.suspended_at_turn ?? null,
    snapshot_ref: suspension.snapshot_ref ?? shownPath,
    resume_by_mechanism: suspension.resume_by_mechanism ?? null,
    auto_resume_trigger: shownTrigger(suspension),
  };
}
