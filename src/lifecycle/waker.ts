import { errorText, HarnError } from '../base/harn-error.ts';
import { type Instant, parseInstant, renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import type { EventRecord } from '../store/event-log.ts';
import type { ArmedRecord } from '../store/snapshot-schema.ts';
import type { Waiter } from '../store/waiter-file.ts';
import type { AuditLog } from './audit.ts';
import { nextTick } from './cron.ts';
import { type DueQueue, RECHECK_MS } from './due-queue.ts';
import type { ObservedEventLog } from './observed-event-log.ts';
import { deadlineOf, type ResumeConditions, type TimeoutAction } from './resume-condition.ts';
import type { Opaque } from './spec-value.ts';
import { readStoredConditions, type StoredConditions } from './stored-conditions.ts';
import { registrationError } from './sus-errors.ts';
import type { TriggerRegistry } from './trigger-registry.ts';
import { armedRecordOf, isArmed, type ParkedWorker, type Plan, type PreparedTrigger, Waiting, waiterOf } from './waiting.ts';

/**
 * What may wake parked workers of this process (spec/agents.md 9.6): bindings of triggers, due instants, topics. It
 * decides nothing: whatever comes first calls the one resume, which may be lost against another one.
 */
export interface Wake {
  readonly worker: ParkedWorker;
  /** The suspension it was armed for (5.14). */
  readonly suspensionId: string;
  readonly input: string | undefined;
  readonly continueTranscript: boolean;
  readonly cause: 'triggered' | 'timeout';
  readonly triggerId: string | undefined;
  readonly eventId: string | undefined;
}

/** The index of armed suspensions on disk, for the next host. */
export interface WaiterIndex {
  add(waiter: Waiter): void;
  remove(workerId: string, suspensionId: string): void;
}

/** `failed`: it could not be written; nothing has changed, and it is worth another try. */
export type WakeOutcome = 'resumed' | 'denied' | 'lost' | 'failed';

/** How long a wake waits that the disk refused: as long as the clock takes to notice that it was set. */
const RETRY_MS = RECHECK_MS;

export interface WakeCalls {
  /** Resumes; a lost race is audited there and is no error. */
  resume(wake: Wake): Promise<WakeOutcome>;
  /** The timeout action `fail`. */
  expire(worker: ParkedWorker, suspensionId: string): Promise<'expired' | 'lost' | 'failed'>;
  /** A stored timeout whose action this version does not know. */
  refuseTimeout(worker: ParkedWorker, suspensionId: string, action: string): void;
}

export class Waker {
  readonly #platform: Platform;
  readonly #triggers: TriggerRegistry;
  readonly #eventLog: ObservedEventLog;
  readonly #audit: AuditLog;
  readonly #queue: DueQueue;
  readonly #calls: WakeCalls;
  readonly #index: WaiterIndex;
  readonly #waiting = new Map<string, Waiting>();
  readonly #byBinding = new Map<string, Waiting>();

  constructor(parts: {
    readonly platform: Platform;
    readonly triggers: TriggerRegistry;
    readonly eventLog: ObservedEventLog;
    readonly audit: AuditLog;
    readonly queue: DueQueue;
    readonly calls: WakeCalls;
    readonly index: WaiterIndex;
  }) {
    this.#platform = parts.platform;
    this.#triggers = parts.triggers;
    this.#eventLog = parts.eventLog;
    this.#audit = parts.audit;
    this.#queue = parts.queue;
    this.#calls = parts.calls;
    this.#index = parts.index;
  }

  /**
   * Registers the trigger of a park before anything is changed, so that a refusal is known in time.
   * @throws HarnError `HARN-SUS-007`
   */
  prepare(worker: ParkedWorker, conditions: ResumeConditions | undefined): PreparedTrigger | undefined {
    const spec = conditions?.trigger;
    if (spec === undefined) return undefined;
    const fail = (reason: string): HarnError => registrationError(worker.id, reason, { provider: spec.provider, suspended: false });
    if (spec.schedule !== undefined && nextTick(spec.schedule, this.#platform.clock.now()) === undefined)
      throw fail('the schedule never comes due');
    try {
      const id = this.#platform.random.id(`auto_resume_${worker.id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`);
      const binding = this.#triggers.register({
        id,
        source: 'dynamic',
        kind: 'auto_resume',
        spec,
        handlerKind: 'auto_resume',
        state: 'registering',
      });
      return { id: binding.id, version: binding.version };
    } catch (error) {
      throw fail(errorText(error));
    }
  }

  /** Takes a dormant registration back. */
  discard(trigger: PreparedTrigger | undefined): void {
    if (trigger !== undefined) this.#triggers.remove(trigger.id);
  }

  /** Notes what a parked worker could wait for; its owner decides what of it is armed. */
  expect(worker: ParkedWorker, plan: Plan): void {
    this.#expect(worker, worker.suspension?.suspension_id ?? '', plan);
  }

  #expect(worker: ParkedWorker, suspensionId: string, plan: Plan): Waiting {
    const waiting = new Waiting(worker, suspensionId, plan);
    this.#waiting.set(worker.id, waiting);
    return waiting;
  }

  /**
   * Arms trigger and topic of a parked worker; called by the owner `local_runtime`.
   * @returns false when the handle names no parked worker of this process
   */
  armConditions(handle: string): boolean {
    const waiting = this.#waiting.get(handle);
    if (waiting === undefined) return false;
    this.#armTrigger(waiting);
    this.#subscribe(waiting);
    return true;
  }

  /**
   * Arms the timeout, which a worker always gets so that it cannot wait for ever, and drops what no owner armed.
   * @returns what is armed now, for the snapshot
   */
  armTimeoutOf(worker: ParkedWorker): ArmedRecord | undefined {
    const waiting = this.#waiting.get(worker.id);
    const conditions = waiting?.conditions;
    if (waiting === undefined || conditions === undefined) {
      this.#waiting.delete(worker.id);
      return undefined;
    }
    if (!waiting.isTriggerArmed) this.discard(waiting.trigger);
    const { timeout } = conditions;
    const suspendedAt = parseInstant(worker.suspension?.suspended_at ?? '') ?? this.#platform.clock.now();
    if (timeout !== undefined) this.#armDeadline(waiting, deadlineOf(suspendedAt, timeout.durationMinutes), timeout.action);
    const record = armedRecordOf(waiting);
    this.#auditArmed(waiting);
    if (isArmed(record)) this.#index.add(waiterOf(worker, record));
    else this.#waiting.delete(worker.id);
    return record;
  }

  /**
   * Arms again what a snapshot of an earlier process says (9.7): absolute deadline, stored cursor, a new binding.
   */
  rearm(worker: ParkedWorker, suspension = worker.suspension, armed = worker.record.armed): void {
    if (suspension === undefined || armed === null || armed === undefined) return;
    const stored = readStoredConditions(suspension.conditions ?? null);
    if (stored === undefined) return;
    const trigger = armed.trigger ? this.#prepareAgain(worker, withPredicate(stored, worker.predicate)) : undefined;
    const waiting = this.#expect(worker, suspension.suspension_id, {
      topic: stored.conditions.onEvent,
      trigger,
      fromCursor: armed.on_event?.from_cursor ?? 0,
    });
    if (trigger !== undefined) this.#armTrigger(waiting, stored.conditions);
    if (armed.on_event !== null && armed.on_event !== undefined) this.#subscribe(waiting);
    const deadlineAt = parseInstant(armed.deadline_at ?? '');
    if (deadlineAt !== undefined) this.#armDeadline(waiting, deadlineAt, stored.action);
  }

  /**
   * Stops everything that could wake a worker. `restore` arms it again when the resume could not be written, `forget`
   * makes it final.
   */
  disarm(worker: ParkedWorker): { restore(): void; forget(): void } {
    const waiting = this.#waiting.get(worker.id);
    if (waiting === undefined) return { restore: () => undefined, forget: this.#forgetInIndex(worker) };
    this.#waiting.delete(worker.id);
    for (const due of waiting.dues) due.cancel();
    waiting.dues = [];
    const wasSubscribed = waiting.unsubscribe !== undefined;
    waiting.unsubscribe?.();
    waiting.unsubscribe = undefined;
    const { trigger } = waiting;
    if (trigger !== undefined) this.#triggers.setState(trigger.id, 'draining');
    return {
      restore: () => {
        this.#waiting.set(worker.id, waiting);
        if (trigger !== undefined && waiting.isTriggerArmed) this.#armTrigger(waiting);
        if (wasSubscribed) this.#subscribe(waiting);
        // One that is overdue has fired: whoever it fired for decides when to try again.
        if (waiting.deadlineAt !== undefined && waiting.deadlineAt > this.#platform.clock.now())
          this.#armDeadline(waiting, waiting.deadlineAt, waiting.timeoutAction);
      },
      forget: () => {
        if (isArmed(armedRecordOf(waiting)) || wasSubscribed) this.#index.remove(worker.id, waiting.suspensionId);
        if (trigger === undefined) return;
        this.#byBinding.delete(trigger.id);
        this.#triggers.setState(trigger.id, 'terminated');
      },
    };
  }

  /**
   * An accepted event matched the binding of a suspension.
   * @returns what became of it, for the dispatch result
   */
  async fireTrigger(
    bindingId: string,
    event: { readonly id: string; readonly payload: Json },
  ): Promise<{ readonly outcome: WakeOutcome; readonly workerId: string } | undefined> {
    const waiting = this.#byBinding.get(bindingId);
    if (waiting === undefined) return undefined;
    const outcome = await this.#wake(waiting, {
      input: wakeInput(event.payload),
      continueTranscript: true,
      cause: 'triggered',
      triggerId: bindingId,
      eventId: event.id,
    });
    return { outcome, workerId: waiting.worker.id };
  }

  /** Parked workers that something may wake. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A worker that an earlier process armed is in the index though nothing waits for it here. */
  #forgetInIndex({ id, suspension, record }: ParkedWorker): () => void {
    const suspensionId = suspension?.suspension_id;
    if (suspensionId === undefined || record.armed === null || record.armed === undefined) return () => undefined;
    return () => this.#index.remove(id, suspensionId);
  }

  /** A trigger whose predicate is a closure of a script that does not run here is not armed: it would wake on anything. */
  #prepareAgain(worker: ParkedWorker, { conditions, isUnbound }: StoredConditions): PreparedTrigger | undefined {
    const lost = (cause: string, code: string | null): undefined => {
      this.#audit.emit('auto_resume_lost', {
        handle: worker.id,
        cause,
        code,
        suspension_id: worker.suspension?.suspension_id ?? null,
        winner_generation: null,
      });
    };
    if (isUnbound) return lost('unbound_closure', null);
    try {
      return this.prepare(worker, conditions);
    } catch (error) {
      return lost('trigger', error instanceof HarnError ? error.code : null);
    }
  }

  #armTrigger(waiting: Waiting, conditions = waiting.conditions): void {
    const { trigger, worker } = waiting;
    if (trigger === undefined || conditions?.trigger === undefined) return;
    waiting.isTriggerArmed = true;
    this.#triggers.setState(trigger.id, 'active');
    this.#byBinding.set(trigger.id, waiting);
    const { schedule } = conditions.trigger;
    if (schedule === undefined) return;
    const suspendedAt = parseInstant(worker.suspension?.suspended_at ?? '') ?? this.#platform.clock.now();
    // The tick that was missed while no process lived fires once, carrying its own time.
    const dueAt = nextTick(schedule, suspendedAt);
    if (dueAt === undefined) return;
    const eventId = `cron:${renderInstant(dueAt)}`;
    const due = this.#queue.add(dueAt, () => {
      void this.fireTrigger(trigger.id, { id: eventId, payload: { occurred_at: renderInstant(dueAt) } });
    });
    waiting.dues = [...waiting.dues, due];
  }

  #subscribe(waiting: Waiting): void {
    const { topic } = waiting;
    if (topic === undefined || waiting.unsubscribe !== undefined) return;
    waiting.unsubscribe = this.#eventLog.observe(topic, () => this.#deliver(waiting));
    // A record may have come between the look at the cursor and now.
    waiting.worker.whenSteady(() => this.#deliver(waiting));
  }

  #deliver(waiting: Waiting): void {
    const { topic } = waiting;
    if (topic === undefined || waiting.unsubscribe === undefined) return;
    const [record] = this.#eventLog.read(topic, waiting.cursor, 1);
    if (record === undefined) return;
    waiting.cursor = record.id;
    void this.#wakeByRecord(waiting, record).then((outcome) => {
      if (outcome === 'failed') this.#deliverAgain(waiting, record.id - 1);
    });
  }

  /** The record stays the next one, until the wake could be written. */
  #deliverAgain(waiting: Waiting, cursor: number): void {
    const due = this.#queue.add(this.#platform.clock.now() + RETRY_MS, () => {
      waiting.cursor = cursor;
      this.#deliver(waiting);
    });
    waiting.dues = [...waiting.dues, due];
  }

  #wakeByRecord(waiting: Waiting, record: EventRecord): Promise<WakeOutcome> {
    return this.#wake(waiting, {
      input: wakeInput(record.payload),
      continueTranscript: true,
      cause: 'triggered',
      triggerId: `on_event:${record.topic}`,
      eventId: String(record.id),
    });
  }

  #armDeadline(waiting: Waiting, deadlineAt: Instant, action: TimeoutAction | { readonly unknown: string }): void {
    waiting.deadlineAt = deadlineAt;
    waiting.timeoutAction = action;
    const due = this.#queue.add(deadlineAt, () => void this.#timeOut(waiting, action));
    waiting.dues = [...waiting.dues, due];
  }

  async #timeOut(waiting: Waiting, action: TimeoutAction | { readonly unknown: string }): Promise<void> {
    const { worker, suspensionId } = waiting;
    if (typeof action === 'object') return this.#calls.refuseTimeout(worker, suspensionId, action.unknown);
    if (action === 'fail') {
      const outcome = await this.#whenSteady(worker, () => this.#calls.expire(worker, suspensionId));
      if (outcome === 'failed') this.#armDeadline(waiting, this.#platform.clock.now() + RETRY_MS, action);
      return;
    }
    const isSummary = action === 'resume_with_summary';
    const outcome = await this.#wake(waiting, {
      input: isSummary ? undefined : timeoutInput(waiting),
      continueTranscript: !isSummary,
      cause: 'timeout',
      triggerId: undefined,
      eventId: undefined,
    });
    if (outcome === 'failed') this.#armDeadline(waiting, this.#platform.clock.now() + RETRY_MS, action);
    if (outcome !== 'denied' || waiting.wasTimeoutDenied) return;
    // A hook said no: the worker gets its whole time once more, and no more.
    waiting.wasTimeoutDenied = true;
    const duration = waiting.conditions?.timeout?.durationMinutes ?? 1;
    this.#armDeadline(waiting, deadlineOf(this.#platform.clock.now(), duration), action);
  }

  #wake(waiting: Waiting, how: Omit<Wake, 'worker' | 'suspensionId'>): Promise<WakeOutcome> {
    const { worker, suspensionId } = waiting;
    return this.#whenSteady(worker, async () => {
      const outcome = await this.#calls.resume({ worker, suspensionId, ...how });
      // A refused wake stays armed from where the topic is now; what came meanwhile was refused with it.
      if (outcome === 'denied' && waiting.topic !== undefined) waiting.cursor = this.#eventLog.latest(waiting.topic) ?? 0;
      return outcome;
    });
  }

  #whenSteady<T>(worker: ParkedWorker, action: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      worker.whenSteady(() => {
        action().then(resolve, reject);
      });
    });
  }

  #auditArmed(waiting: Waiting): void {
    const record = armedRecordOf(waiting);
    if (!isArmed(record)) return;
    this.#audit.emit('auto_resume_armed', {
      handle: waiting.worker.id,
      mechanism: waiting.worker.suspension?.resume_by_mechanism ?? null,
      ...(waiting.isTriggerArmed ? { trigger_id: waiting.trigger?.id ?? null } : {}),
      ...(record.on_event === null || record.on_event === undefined ? {} : { topic: record.on_event.topic }),
      ...(record.deadline_at === null || record.deadline_at === undefined ? {} : { deadline_at: record.deadline_at }),
    });
  }
}

/** The payload as JSON text; nothing to say for an empty one. */
function wakeInput(payload: Json): string | undefined {
  const isEmpty = payload === null || payload === '' || (isJsonObject(payload) && Object.keys(payload).length === 0);
  return isEmpty ? undefined : JSON.stringify(payload);
}

function timeoutInput({ worker, trigger }: Waiting): string {
  return JSON.stringify({
    on_timeout: 'resume_with_input',
    trigger_id: trigger?.id ?? null,
    type: 'auto_resume.timeout',
    worker_id: worker.id,
  });
}

/** The trigger with the predicate that its script has given back. */
function withPredicate(stored: StoredConditions, predicate: Opaque | undefined): StoredConditions {
  const { trigger } = stored.conditions;
  if (predicate === undefined || trigger === undefined) return stored;
  return { ...stored, isUnbound: false, conditions: { ...stored.conditions, trigger: { ...trigger, when: predicate } } };
}
