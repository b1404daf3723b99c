import { errorText, HarnError, hasCode } from '../base/harn-error.ts';
import { type Instant, parseInstant, renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import { isErrno, removeDurably } from '../store/atomic-file.ts';
import type { Claim } from '../store/claim-file.ts';
import { type JournalOpen, JournalWriter, journalPathOf } from '../store/journal-file.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import type { ResumeCause, ResumeFacts } from './activation.ts';
import { suspendPayload } from './hook-payload.ts';
import type { Lifecycle } from './lifecycle.ts';
import { persistError, shownPathOf, sweepLeftovers, tryToClaim } from './persist.ts';
import { rebindRequest } from './rebind-request.ts';
import { recoverInterrupted } from './recover.ts';
import { repaired } from './repair-transcript.ts';
import { checkResumable } from './resume-check.ts';
import { hasMoved, type ResumeSubject, type ResumeTarget, resolveSubject } from './resume-subject.ts';
import { runInBackground } from './run-activation.ts';
import { reduceDurability } from './start.ts';
import { readStoredConditions } from './stored-conditions.ts';
import { summaryOf } from './summary.ts';
import { blankInputError, inTransitionError, lostRaceError } from './sus-errors.ts';
import { standOnDisk, Tenure } from './tenure.ts';
import { hasParkDurability, splitSnapshot, Worker } from './worker.ts';
import { announceWorker } from './worker-events.ts';

/**
 * The one way back from a suspension, whoever asks (spec/agents.md 5.4). The claim decides between those who ask at
 * once; the journal's `open` record is the moment of the resume; everything before it can be taken back, and
 * everything after it is announced in the order of the contract.
 */
export interface ResumeRequest {
  readonly target: ResumeTarget;
  readonly input: string | undefined;
  readonly continueTranscript: boolean;
  readonly cause: ResumeCause;
  readonly triggerId?: string | undefined;
  readonly eventId?: string | undefined;
  /** When the request began, on the real clock; for the command line the start of the process. */
  readonly startedAt: Instant;
  /** Place among the requests of this process: `registry.nextEntry()` at the call. */
  readonly entry: number;
  /** A script may read the result of a completed worker by path (13.32). */
  readonly mayReadResult: boolean;
  /** The call comes from a hook of this worker's own transition. */
  readonly isInHook?: boolean | undefined;
}

/**
 * @returns the summary: `running`; or `suspended` with `pre_resume_denied`; or that of a completed worker when only
 *          its result was asked for
 * @throws HarnError `HARN-SUS-003`, `-004`, `-006`, `-009`, `-010`; what a hook throws; plain when the resume could
 *         not be written
 */
export async function resumeWorker(lifecycle: Lifecycle, request: ResumeRequest): Promise<JsonObject> {
  assertInput(request.input);
  const subject = resolveSubject(lifecycle, request.target);
  if (request.isInHook === true) throw inTransitionError('resume_agent', subject.id, subject.status);
  const woken = wakeIdle(lifecycle, subject, request.input);
  if (woken !== undefined) return woken;
  const stored = checkResumable(subject, request);
  if (stored !== undefined) return stored;
  const claim = claimSuspension(lifecycle, subject);
  return withClaim(claim, () => resumeUnderClaim(lifecycle, subject, claim, request));
}

/** A daemon that idles in this process is running: a resume is one more of its wakes (11.1), and no transition. */
function wakeIdle(lifecycle: Lifecycle, { worker }: ResumeSubject, input: string | undefined): JsonObject | undefined {
  const wake = worker?.idleWake;
  if (worker === undefined || wake === undefined) return undefined;
  worker.idleWake = undefined;
  wake(input);
  return summaryOf(worker, shownPathOf(lifecycle, worker));
}

async function withClaim(claim: Claim, action: () => Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await action();
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function resumeUnderClaim(lifecycle: Lifecycle, subject: ResumeSubject, claim: Claim, request: ResumeRequest): Promise<JsonObject> {
  assertUnchanged(lifecycle, subject);
  const worker = subject.worker ?? (await restoreWorker(lifecycle, subject));
  worker.beginTransition();
  try {
    const approved = await approveResume(lifecycle, worker, request);
    if (approved.kind === 'denied') return denyResume(lifecycle, worker, claim, request, approved.reason);
    const facts = resumeFacts(lifecycle, worker, subject, { ...request, ...approved });
    const tenure = openResumed(lifecycle, worker, claim, facts);
    await announceWorker(lifecycle, worker, 'WorkerResumed');
    // The caller hears of the resume, even when the loop is over before the hooks are.
    const summary = summaryOf(worker, shownPathOf(lifecycle, worker));
    runInBackground(lifecycle, worker, tenure, facts);
    await notifyResumed(lifecycle, worker, facts);
    return summary;
  } finally {
    worker.endTransition();
  }
}

function assertInput(input: string | undefined, workerId?: string): void {
  if (input !== undefined && input.trim() === '') throw blankInputError(workerId);
}

/** Step 4. The claim names the suspension and the generation to come. */
function claimSuspension(lifecycle: Lifecycle, subject: ResumeSubject): Claim {
  const facts = { suspensionId: subject.suspensionId ?? null, generation: subject.generation + 1 };
  const attempt = tryToClaim(lifecycle, subject, facts, 'resume_agent', 'resume of');
  if (attempt.kind === 'won') return attempt.claim;
  throw lostRaceError('resume_agent', subject.id, subject.status, {
    owner_pid: attempt.by?.pid ?? null,
    generation: attempt.by?.generation ?? subject.generation,
    suspension_id: subject.suspensionId ?? null,
  });
}

/** Step 5: between the look at the files and the claim somebody else may have been there. */
function assertUnchanged(lifecycle: Lifecycle, subject: ResumeSubject): void {
  const stand = standOnDisk(lifecycle.platform.files, subject.snapshotPath);
  if (!stand.exists)
    throw snapshotError('missing', 'the file was removed', { target: subject.target, path: subject.snapshotPath, workerId: subject.id });
  if (hasMoved(subject, stand)) {
    throw lostRaceError('resume_agent', subject.id, stand.status ?? subject.status, {
      generation: stand.generation,
      suspension_id: subject.suspensionId ?? null,
    });
  }
}

/** Step 6: a worker of an earlier process is made runnable, and its transcript fit to be sent. */
async function restoreWorker(lifecycle: Lifecycle, subject: ResumeSubject): Promise<Worker> {
  const { files, target, snapshotPath } = subject;
  if (files === undefined) throw new Error(`${subject.id} is known neither here nor on disk`);
  sweepLeftovers(lifecycle, snapshotPath);
  const recovered = files.status === 'interrupted' ? recoverInterrupted(lifecycle, files, target) : undefined;
  const { record, state } = recovered ?? splitSnapshot(files.snapshot);
  assertStoredConditions(record.suspension?.conditions ?? null, subject);
  assertStoredConfig(lifecycle, record.config.spec ?? {}, subject);
  const rebound = await lifecycle.rebinder.rebind(rebindRequest(record, snapshotPath, target));
  const worker = new Worker(snapshotPath, record, repaired(lifecycle, record.id, state, rebound.model), rebound.live);
  worker.predicate = rebound.predicate;
  worker.snapshotSha256 = files.sha256;
  worker.lists = files.lists;
  worker.isTaskPrivate = record.history.length > 1;
  const completed = state.loop.iterations_completed;
  worker.iterationsCompleted = typeof completed === 'number' ? completed : (record.suspension?.iterations_completed ?? 0);
  recovered?.save(worker);
  for (const warning of rebound.warnings) lifecycle.warn(warning);
  return worker;
}

/**
 * Conditions that nobody could have written (6.2). An unknown timeout action is none: it matters only when it fires.
 * @throws HarnError `HARN-SUS-004`, reason `malformed`
 */
export function assertStoredConditions(conditions: JsonObject | null, { target, snapshotPath, id }: ResumeSubject): void {
  try {
    readStoredConditions(conditions);
  } catch (error) {
    const field =
      error instanceof HarnError && typeof error.data.field === 'string'
        ? `suspension.conditions.${error.data.field}`
        : 'suspension.conditions';
    throw snapshotError('malformed', `field \`${field}\`: ${errorText(error)}`, {
      target,
      path: snapshotPath,
      workerId: id,
      detail: { field },
    });
  }
}

/** A loop that could not even start would end its worker for good; refused here, the file can be mended. */
function assertStoredConfig(lifecycle: Lifecycle, config: JsonObject, { target, snapshotPath, id }: ResumeSubject): void {
  try {
    lifecycle.runner.checkConfig(config);
  } catch (error) {
    const field = 'config.spec.options';
    throw snapshotError('malformed', `field \`${field}\`: ${errorText(error)}`, {
      target,
      path: snapshotPath,
      workerId: id,
      detail: { field },
    });
  }
}

type Approval =
  | { readonly kind: 'approved'; readonly input: string | undefined; readonly continueTranscript: boolean }
  | { readonly kind: 'denied'; readonly reason: string };

/** Step 7. A hook may replace the input without having seen it. */
async function approveResume(lifecycle: Lifecycle, worker: Worker, request: ResumeRequest): Promise<Approval> {
  const payload = resumePayload(lifecycle, 'pre_resume', worker, request);
  const outcome = await lifecycle.hooks.runChain('pre_resume', payload, lifecycle.hookTape(worker.sessionId));
  if (outcome.control === 'deny') return { kind: 'denied', reason: outcome.reason };
  const { resume_input: input, continue_transcript: continueTranscript } = outcome.payload;
  const replaced = typeof input === 'string' ? input : request.input;
  assertInput(replaced, worker.id);
  return {
    kind: 'approved',
    input: replaced,
    continueTranscript: typeof continueTranscript === 'boolean' ? continueTranscript : request.continueTranscript,
  };
}

function resumePayload(
  lifecycle: Lifecycle,
  event: 'pre_resume' | 'post_resume',
  worker: Worker,
  request: Pick<ResumeRequest, 'cause' | 'input' | 'continueTranscript'>,
): JsonObject {
  const suspension = worker.suspension ?? worker.record.last_suspension ?? undefined;
  const suspendedAt = suspension === undefined ? undefined : parseInstant(suspension.suspended_at);
  return {
    ...suspendPayload(event, worker, {
      reason: suspension?.reason ?? '',
      initiator: suspension?.initiator ?? 'operator',
      conditions: suspension?.conditions ?? undefined,
    }),
    snapshot_path: shownPathOf(lifecycle, worker),
    suspended_at: suspension?.suspended_at ?? null,
    resume_cause: request.cause,
    has_input: request.input !== undefined,
    continue_transcript: request.continueTranscript,
    gap_ms: suspendedAt === undefined ? 0 : Math.max(0, lifecycle.platform.clock.now() - suspendedAt),
  };
}

function denyResume(lifecycle: Lifecycle, worker: Worker, claim: Claim, request: ResumeRequest, reason: string): JsonObject {
  claim.release();
  if (lifecycle.registry.get(worker.id) === undefined) {
    lifecycle.registry.add(worker);
    lifecycle.waker.rearm(worker);
  }
  lifecycle.audit.emit('pre_resume_denied', {
    handle: worker.id,
    initiator: request.cause,
    hook_reason: reason,
    has_input: request.input !== undefined,
  });
  return summaryOf(worker, shownPathOf(lifecycle, worker), { pre_resume_denied: reason });
}

function resumeFacts(lifecycle: Lifecycle, worker: Worker, subject: ResumeSubject, request: ResumeRequest): ResumeFacts {
  const { suspension_id, reason, initiator, suspended_at, suspended_at_turn = null, iterations_completed } = currentSuspension(worker);
  return {
    input: request.input,
    continueTranscript: request.continueTranscript,
    cause: request.cause,
    triggerId: request.triggerId,
    eventId: request.eventId,
    resumedAt: lifecycle.platform.clock.now(),
    suspension: { suspension_id, reason, initiator, suspended_at, suspended_at_turn, iterations_completed },
    isRecovery: subject.status === 'interrupted',
  };
}

function currentSuspension(worker: Worker): NonNullable<Worker['suspension']> {
  const suspension = worker.suspension ?? worker.record.last_suspension;
  if (suspension === null || suspension === undefined) throw new Error(`${worker.id} is ${worker.status} without a suspension`);
  return suspension;
}

/**
 * Steps 8 to 11. What is armed goes first, so that nothing fires into the new activation; when the journal cannot be
 * written it is armed again and nothing has happened.
 */
function openResumed(lifecycle: Lifecycle, worker: Worker, claim: Claim, facts: ResumeFacts): Tenure {
  const armed = lifecycle.waker.disarm(worker);
  const state = lifecycle.runner.applyResume(worker.state, facts, worker.id, worker.sessionId);
  const suspension = currentSuspension(worker);
  const generation = worker.generation + 1;
  const openedAt = renderInstant(lifecycle.realClock.now());
  let journal: JournalWriter;
  try {
    journal = createJournal(lifecycle, worker, claim, facts, generation, openedAt);
  } catch (error) {
    armed.restore();
    if (isErrno(error, 'EEXIST') || hasCode(error, 'HARN-SUS-006'))
      throw lostRaceError('resume_agent', worker.id, worker.status, { generation, suspension_id: suspension.suspension_id });
    throw persistError('resume_agent', 'resume of', shownPathOf(lifecycle, worker), error);
  }
  armed.forget();
  const tenure = new Tenure({
    files: lifecycle.platform.files,
    workerId: worker.id,
    snapshotPath: worker.snapshotPath,
    generation,
    suspensionId: suspension.suspension_id,
    claim,
    journal,
    onlyParks: hasParkDurability(worker) || worker.record.carry_policy.persist_state === false,
    onReduced: (text) => reduceDurability(lifecycle, worker, text),
  });
  worker.tenure = tenure;
  worker.state = state;
  worker.openedEntry = lifecycle.registry.nextEntry();
  worker.isTaskPrivate ||= facts.input !== undefined;
  worker.result = undefined;
  worker.change({
    status: 'running',
    ...(facts.input === undefined ? {} : { task: facts.input, history: [...worker.record.history, facts.input] }),
    suspension: null,
    last_suspension: suspension,
    armed: null,
    resume: { ...worker.record.resume, generation, suspension_id: suspension.suspension_id, opened_at: openedAt },
  });
  lifecycle.registry.add(worker);
  return tenure;
}

function createJournal(
  lifecycle: Lifecycle,
  worker: Worker,
  claim: Claim,
  facts: ResumeFacts,
  generation: number,
  openedAt: string,
): JournalWriter {
  const { files } = lifecycle.platform;
  const path = journalPathOf(worker.snapshotPath);
  if (!claim.isHeld()) throw lostRaceError('resume_agent', worker.id, worker.status, { generation });
  // What lies there is a leftover of a finished fold: the state check has seen that it does not count.
  if (standOnDisk(files, worker.snapshotPath).generation < generation) removeDurably(files, path);
  const { input, continueTranscript, cause, triggerId, eventId } = facts;
  const open: JournalOpen = {
    t: 'open',
    v: 1,
    worker_id: worker.id,
    generation,
    claim_token: claim.token,
    suspension_id: currentSuspension(worker).suspension_id,
    base: { sha256: worker.snapshotSha256 ?? '' },
    resume: {
      input: input ?? null,
      continue_transcript: continueTranscript,
      cause,
      trigger_id: triggerId ?? null,
      event_id: eventId ?? null,
      resumed_at: renderInstant(facts.resumedAt),
      suspension: facts.suspension,
    },
    at: openedAt,
  };
  return JournalWriter.create(files, path, open);
}

async function notifyResumed(lifecycle: Lifecycle, worker: Worker, facts: ResumeFacts): Promise<void> {
  const payload = { ...resumePayload(lifecycle, 'post_resume', worker, facts), resumed_at: renderInstant(facts.resumedAt) };
  await lifecycle.hooks.notify('post_resume', payload, (text) => lifecycle.warn(text), lifecycle.hookTape(worker.sessionId));
}

/** Recognises a request that lost, for automatic wakes that only note it. */
export function isLostWake(error: unknown): error is HarnError {
  return error instanceof HarnError && ['HARN-SUS-003', 'HARN-SUS-004', 'HARN-SUS-006', 'HARN-SUS-010'].includes(error.code);
}
