import { HarnError, hasCode } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { ArmedRecord, SuspensionRecord } from '../store/snapshot-schema.ts';
import type { LoopState, ParkFacts, ParkRequest } from './activation.ts';
import { writeDaemonFile } from './daemon-snapshot.ts';
import { suspendPayload } from './hook-payload.ts';
import { type Lifecycle, PREDICATE_SLOT } from './lifecycle.ts';
import { persistError, shownPathOf, writeRecord } from './persist.ts';
import { LOCAL_RUNTIME } from './resume-by.ts';
import { conditionsOf, deadlineOf, parseResumeConditions, type ResumeConditions } from './resume-condition.ts';
import { daemonKeys, suspensionEnvelope, suspensionRecord } from './suspension.ts';
import type { Tenure } from './tenure.ts';
import { transition } from './transition.ts';
import type { PreparedTrigger } from './waiting.ts';
import type { Worker } from './worker.ts';
import { announceWorker } from './worker-events.ts';

/**
 * Steps 8 to 12 of a suspend (spec/agents.md 5.3), the same for every way to park. The order is the contract: the
 * snapshot is on disk before anything says `suspended`, whoever owns the wake is settled before anybody is told, and
 * the hooks of the end come after the event.
 *
 * The name of the owner is part of the snapshot but is known only after it was asked, and it may look at the
 * snapshot. When nobody's code decides, the answer is known beforehand, and one write does instead of two.
 *
 * @returns the Suspension of 5.2
 * @throws plain HarnError when the snapshot could not be written: the worker then keeps running
 */
export async function parkWorker(
  lifecycle: Lifecycle,
  worker: Worker,
  tenure: Tenure,
  request: ParkRequest,
  state: LoopState,
  facts: ParkFacts,
): Promise<JsonObject> {
  tenure.assertOwner();
  const intent = prepareIntent(lifecycle, worker, request);
  const suspension = newSuspension(lifecycle, worker, request, intent, facts);
  commitPark(lifecycle, worker, tenure, suspension, intent, state, facts);
  try {
    await settleOwner(lifecycle, worker, tenure, request, intent);
    tenure.finish();
    worker.tenure = undefined;
    await announceWorker(lifecycle, worker, 'WorkerSuspended');
    await lifecycle.hooks.notify(
      'post_suspend',
      postPayload(lifecycle, worker),
      (text) => lifecycle.warn(text),
      lifecycle.hookTape(worker.sessionId),
    );
  } finally {
    const { pending } = worker;
    worker.pending = undefined;
    pending?.settle(intent.failure);
    worker.endTransition();
  }
  return envelopeOf(lifecycle, worker);
}

/** The Suspension of a parked worker. */
export function envelopeOf(lifecycle: Lifecycle, worker: Worker): JsonObject {
  const { suspension } = worker;
  if (suspension === undefined) throw new Error(`${worker.id} was asked for its suspension while ${worker.status}`);
  const conditions = parseResumeConditions(suspension.conditions, 'suspend_agent');
  return suspensionEnvelope(worker.record, suspension, conditions?.declaration ?? null, shownPathOf(lifecycle, worker));
}

/** What the parked worker is to wait for. */
interface Intent {
  readonly conditions: ResumeConditions | undefined;
  readonly trigger: PreparedTrigger | undefined;
  /** A trigger that was refused: the worker is then parked open (5.3, after step 12). */
  readonly failure: HarnError | undefined;
  /** The owner, when no code of the script decides. */
  readonly plannedOwner: string | undefined;
  /** End of the awaited topic, taken before anybody can hear of the park: a record appended from now on is never missed. */
  readonly fromCursor: number;
}

function prepareIntent(lifecycle: Lifecycle, worker: Worker, request: ParkRequest): Intent {
  const conditions = conditionsOf(request);
  const fromCursor = conditions?.onEvent === undefined ? 0 : (lifecycle.eventLog.latest(conditions.onEvent) ?? 0);
  try {
    const trigger = lifecycle.waker.prepare(worker, conditions);
    return { conditions, trigger, failure: undefined, plannedOwner: lifecycle.owners.plan(request.resumeBy, conditions), fromCursor };
  } catch (error) {
    if (!(error instanceof HarnError) || !hasCode(error, 'HARN-SUS-007')) throw error;
    const failure = new HarnError(error.code, error.message, { data: { ...error.data, detail: withSuspended(error) }, cause: error });
    return { conditions: undefined, trigger: undefined, failure, plannedOwner: lifecycle.owners.plan(undefined, undefined), fromCursor };
  }
}

function withSuspended(error: HarnError): JsonObject {
  return { ...(error.data.detail as JsonObject | undefined), suspended: true };
}

function newSuspension(lifecycle: Lifecycle, worker: Worker, request: ParkRequest, intent: Intent, facts: ParkFacts): SuspensionRecord {
  const { platform } = lifecycle;
  const record = suspensionRecord({
    suspensionId: platform.random.id('susp'),
    workerId: worker.id,
    request,
    conditions: intent.conditions,
    facts: { ...facts, daemon: daemonKeys(facts.daemon) },
    suspendedAt: platform.clock.now(),
    shownPath: shownPathOf(lifecycle, worker),
  });
  const isLocal = intent.plannedOwner === LOCAL_RUNTIME;
  return {
    ...record,
    resume_by_mechanism: intent.plannedOwner ?? null,
    auto_resume_trigger: isLocal && intent.trigger !== undefined ? { ...intent.trigger } : null,
  };
}

/** The predicate of the trigger is found again like any closure of the loop (9.7). */
function programWithPredicate({ rebinder }: Lifecycle, { record: { program = null } }: Worker, { conditions }: Intent): JsonObject | null {
  if (program === null || rebinder.describe === undefined) return program;
  const closures = Array.isArray(program.closures) ? program.closures : [];
  const others = closures.filter((closure: Json) => !isJsonObject(closure) || closure.slot !== PREDICATE_SLOT);
  const when = conditions?.trigger?.when;
  return { ...program, closures: when === undefined ? others : [...others, rebinder.describe(PREDICATE_SLOT, when.value)] };
}

/** Steps 8c and 8d: the snapshot, then the state, then the journal that the snapshot holds now. */
function commitPark(
  lifecycle: Lifecycle,
  worker: Worker,
  tenure: Tenure,
  suspension: SuspensionRecord,
  intent: Intent,
  state: LoopState,
  facts: ParkFacts,
): void {
  const decision = transition(worker.status, 'park');
  if (decision.kind !== 'go') throw new Error(`a worker that is ${worker.status} came to a park`);
  const armed = armedRecord(suspension, intent);
  const changes = {
    status: decision.to,
    lifecycle_state: 'suspended',
    suspension,
    armed,
    journal: { folded_records: tenure.recordCount },
    daemon: facts.daemon ?? worker.record.daemon,
    program: programWithPredicate(lifecycle, worker, intent),
  };
  try {
    writeRecord(lifecycle, worker, changes, state);
  } catch (error) {
    lifecycle.waker.discard(intent.trigger);
    const failure = persistError('suspend_agent', 'snapshot', shownPathOf(lifecycle, worker), error);
    const { pending } = worker;
    worker.pending = undefined;
    // A loop that parks itself tells its model; only a person can make room on the disk.
    if (pending === undefined) lifecycle.warn(`harn: ${worker.id} could not be parked: ${failure.message}`);
    else pending.settle(failure);
    throw failure;
  }
  if (facts.daemonFile !== undefined) writeDaemonFile(lifecycle, worker, facts.daemonFile, changes, state);
  worker.beginTransition();
  worker.change(changes);
  worker.state = state;
  worker.iterationsCompleted = facts.iterationsCompleted;
  lifecycle.registry.add(worker);
  tenure.dropJournal();
}

/** What the planned owner will arm; the timeout is armed whoever owns the wake. */
function armedRecord(suspension: SuspensionRecord, { conditions, plannedOwner, fromCursor }: Intent): ArmedRecord | null {
  if (conditions === undefined) return null;
  const { timeout, onEvent } = conditions;
  const isLocal = plannedOwner === LOCAL_RUNTIME;
  return {
    trigger: isLocal && conditions.trigger !== undefined,
    deadline_at: timeout === undefined ? null : renderInstant(deadlineOf(Date.parse(suspension.suspended_at), timeout.durationMinutes)),
    on_event: onEvent === undefined || !isLocal ? null : { topic: onEvent, from_cursor: fromCursor },
  };
}

/** Step 9: one owner answers for the wake, and what it arms is in the snapshot before anybody is told. */
async function settleOwner(lifecycle: Lifecycle, worker: Worker, tenure: Tenure, request: ParkRequest, intent: Intent): Promise<void> {
  const { conditions, trigger, fromCursor } = intent;
  lifecycle.waker.expect(worker, { conditions, topic: conditions?.onEvent, trigger, fromCursor });
  const mechanism = await lifecycle.owners.dispatch(
    intent.failure === undefined ? request.resumeBy : undefined,
    envelopeForOwner(lifecycle, worker),
    intent.conditions,
  );
  const armed = lifecycle.waker.armTimeoutOf(worker);
  const isTriggerArmed = armed?.trigger === true && intent.trigger !== undefined;
  const suspension = worker.suspension;
  if (suspension === undefined) return;
  const settled: SuspensionRecord = {
    ...suspension,
    resume_by_mechanism: mechanism,
    auto_resume_trigger: isTriggerArmed ? { ...intent.trigger } : null,
  };
  if (JSON.stringify([settled, armed ?? null]) === JSON.stringify([suspension, worker.record.armed ?? null])) return;
  worker.change({ suspension: settled, armed: armed ?? null });
  tenure.assertOwner();
  try {
    writeRecord(lifecycle, worker, {}, worker.state);
  } catch (error) {
    lifecycle.warn(`harn: ${persistError('suspend_agent', 'resume owner in', shownPathOf(lifecycle, worker), error).message}`);
  }
}

/** What the owner is shown: nobody owns the wake yet. */
function envelopeForOwner(lifecycle: Lifecycle, worker: Worker): JsonObject {
  return { ...envelopeOf(lifecycle, worker), resume_by_mechanism: null, auto_resume_trigger: null };
}

function postPayload(lifecycle: Lifecycle, worker: Worker): JsonObject {
  const { suspension } = worker;
  return {
    ...suspendPayload('post_suspend', worker, {
      reason: suspension?.reason ?? '',
      initiator: suspension?.initiator ?? 'operator',
      conditions: suspension?.conditions ?? undefined,
    }),
    snapshot_path: shownPathOf(lifecycle, worker),
    suspended_at: suspension?.suspended_at ?? null,
    suspended_at_turn: suspension?.suspended_at_turn ?? null,
    resume_by_mechanism: suspension?.resume_by_mechanism ?? null,
    auto_resume_trigger: suspension?.auto_resume_trigger?.id ?? null,
  };
}
