import { type Instant, renderInstant } from '../base/instant.ts';
import { isJsonObject } from '../base/json.ts';
import type { ArmedRecord, SuspensionRecord } from '../store/snapshot-schema.ts';
import type { Waiter } from '../store/waiter-file.ts';
import type { Due } from './due-queue.ts';
import type { ResumeConditions, TimeoutAction } from './resume-condition.ts';
import type { Opaque } from './spec-value.ts';
import { readStoredConditions } from './stored-conditions.ts';

/** As much of a parked worker as waking it needs: a worker of this process, or a line of the index of waiters. */
export interface ParkedWorker {
  readonly id: string;
  readonly snapshotPath: string;
  readonly suspension: Pick<SuspensionRecord, 'suspension_id' | 'suspended_at' | 'conditions' | 'resume_by_mechanism'> | undefined;
  readonly record: { readonly armed?: ArmedRecord | null | undefined };
  /** `when` of its trigger, where its script has been bound again. */
  readonly predicate?: Opaque | undefined;
  whenSteady(wake: () => void): void;
}

/** A trigger registered for a suspension, dormant until its owner arms it. */
export interface PreparedTrigger {
  readonly id: string;
  readonly version: number;
}

/** What a suspension could wait for. */
export interface Plan {
  /** Left out for a worker that another process parked: its file has them. */
  readonly conditions?: ResumeConditions | undefined;
  readonly topic: string | undefined;
  readonly trigger: PreparedTrigger | undefined;
  readonly fromCursor: number;
}

/** One suspension of a parked worker, and what of its conditions is armed here. */
export class Waiting {
  readonly worker: ParkedWorker;
  readonly suspensionId: string;
  readonly topic: string | undefined;
  readonly trigger: PreparedTrigger | undefined;
  readonly fromCursor: number;
  readonly #conditions: ResumeConditions | undefined;
  isTriggerArmed = false;
  unsubscribe: (() => void) | undefined = undefined;
  /** Next record of the topic to look at. */
  cursor: number;
  deadlineAt: Instant | undefined = undefined;
  timeoutAction: TimeoutAction | { readonly unknown: string } = 'resume_with_summary';
  /** Instants at which something of it is due. */
  dues: readonly Due[] = [];
  wasTimeoutDenied = false;

  constructor(worker: ParkedWorker, suspensionId: string, plan: Plan) {
    this.worker = worker;
    this.suspensionId = suspensionId;
    this.topic = plan.topic;
    this.trigger = plan.trigger;
    this.fromCursor = plan.fromCursor;
    this.cursor = plan.fromCursor;
    this.#conditions = plan.conditions;
  }

  get conditions(): ResumeConditions | undefined {
    return this.#conditions ?? readStoredConditions(this.worker.suspension?.conditions ?? null)?.conditions;
  }
}

/** What of a suspension is armed, as its snapshot keeps it. */
export function armedRecordOf(waiting: Waiting): ArmedRecord {
  const { topic } = waiting;
  return {
    trigger: waiting.isTriggerArmed,
    deadline_at: waiting.deadlineAt === undefined ? null : renderInstant(waiting.deadlineAt),
    on_event: waiting.unsubscribe === undefined || topic === undefined ? null : { topic, from_cursor: waiting.fromCursor },
  };
}

/** Is anything of it armed? */
export function isArmed(record: ArmedRecord): boolean {
  return record.trigger || typeof record.deadline_at === 'string' || isJsonObject(record.on_event);
}

/** What the next host needs to arm this suspension again without reading its snapshot. */
export function waiterOf({ id, snapshotPath, suspension }: ParkedWorker, armed: ArmedRecord): Waiter {
  return {
    worker_id: id,
    suspension_id: suspension?.suspension_id ?? '',
    snapshot_path: snapshotPath,
    suspended_at: suspension?.suspended_at ?? '',
    conditions: suspension?.conditions ?? null,
    resume_by_mechanism: suspension?.resume_by_mechanism ?? null,
    armed,
  };
}
