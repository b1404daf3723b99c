import type { JsonObject } from '../base/json.ts';
import type { LoopEnd, ParkRequest } from '../lifecycle/activation.ts';
import { judgeDone, judgeRequest } from './done-judge.ts';
import { type Judgement, judgeTurn } from './judge-turn.ts';
import { emitEvent, type Loop, recordEdits, recordStep } from './loop-context.ts';
import type { LoopControlAnswer, PostTurnAnswer } from './loop-live.ts';
import { callPolicy } from './loop-options.ts';
import { feedbackMessage, type TurnRecord } from './loop-record.ts';
import type { EndFacts } from './loop-result.ts';
import type { AddedMessage, CallResult, CallUsage } from './loop-state.ts';
import { fitsBudget } from './model-call/call-budget.ts';
import { adoptPatches, checkPatches, mergedPatches } from './option-patches.ts';
import { isNotOurs } from './park.ts';
import { type Dispatched, dispatchCalls } from './tools/tool-dispatch.ts';
import { userMessage } from './transcript/message.ts';
import { type NewEvent, plainEvent } from './transcript/transcript.ts';
import { askModel, readAnswer } from './turn-answer.ts';
import { compactWhenLarge } from './turn-compaction.ts';
import { blockedByHook, runHook } from './turn-hooks.ts';
import { isLifecycleCall, parkTurn } from './turn-park.ts';
import { emitIterationEnd, type Turn, turnInfo, turnRecord } from './turn-record.ts';
import { remindersOfTurn } from './turn-reminders.ts';
import { chooseSkills } from './turn-skills.ts';

/** What a turn leaves for its boundary. */
export interface TurnOutcome {
  readonly boundary: 'B0' | 'B1' | 'B3';
  /** Ends that beat a suspend request (3.7, rows 2 to 4). */
  readonly end?: EndFacts | undefined;
  /** Ends that do not (row 8). */
  readonly lateEnd?: EndFacts | undefined;
  /** A handler or callback asked to park (7.2). */
  readonly park?: ParkRequest | undefined;
  /** The daemon has nothing to do (11.2). */
  readonly isIdle?: boolean | undefined;
  /** The turn parked itself (7.3). */
  readonly parked?: LoopEnd | undefined;
}

/** One turn of the loop, steps 2 to 14 of spec/agents.md 3.5; what comes at the boundary is in loop.ts. */
export async function takeTurn(loop: Loop): Promise<TurnOutcome> {
  const startedMs = loop.world.clock.monotonicMs();
  recordEdits(loop);
  const unwelcome = await receiveHostMessages(loop);
  if (unwelcome !== undefined) return { boundary: 'B1', end: blockedByHook(unwelcome) };
  await compactWhenLarge(loop);
  const refused = await runHook(loop, 'pre_agent_turn', { iteration: loop.progress.counters.iterations_completed });
  if (refused !== undefined) return { boundary: 'B1', end: blockedByHook(refused) };
  openTurn(loop);
  injectFeedback(loop);
  await chooseSkills(loop);
  const reminders = remindersOfTurn(loop);
  const asked = await askModel(loop, reminders);
  if (asked === 'over_budget') return { boundary: 'B1', end: { status: 'budget_exhausted', stop_reason: 'total_budget_usd' } };
  if ('fault' in asked) return { boundary: 'B1', end: { status: 'provider_error', stop_reason: 'provider_error', error: asked.fault } };
  const turn: Turn = {
    index: loop.progress.counters.iterations_completed,
    startedMs,
    renderedReminders: reminders.map((reminder) => reminder.id),
    usage: asked.usage,
    ...readAnswer(loop, asked.answer),
  };
  const awaiting = loop.options.awaitResumption ? turn.calls.findIndex((call) => isLifecycleCall(loop, call)) : -1;
  const outcome = awaiting >= 0 ? await parkTurn(loop, turn, awaiting) : await workTurn(loop, turn);
  loop.turnEndedMs = loop.world.clock.monotonicMs();
  return outcome;
}

// Steps 2 to 7: what is there before the model is asked.

/** @returns why a hook refused them */
async function receiveHostMessages(loop: Loop): Promise<string | undefined> {
  const { deferred_user_messages: deferred } = loop.progress.counters;
  const texts = [...deferred, ...loop.live.inbox.takeHostMessages()];
  const added = texts.map((text): AddedMessage => ({ kind: 'host_input', message: userMessage(text) }));
  if (added.length === 0) return undefined;
  recordStep(loop, { t: 'in', added, ...(deferred.length === 0 ? {} : { deferred: deferred.length }) });
  return runHook(loop, 'user_prompt_submit', { source: 'host', count: added.length });
}

function openTurn(loop: Loop): void {
  loop.turnsTaken++;
  emitEvent(loop, { type: 'turn_start', iteration: loop.progress.counters.iterations_completed });
}

function injectFeedback(loop: Loop): void {
  const queued = loop.progress.counters.pending_feedback;
  const arrived = loop.live.inbox.takeFeedback();
  if (queued.length === 0 && arrived.length === 0) return;
  const added = arrived.map(feedbackMessage);
  recordStep(loop, {
    t: 'in',
    ...(queued.length === 0 ? {} : { drained: queued.length }),
    ...(added.length === 0 ? {} : { added }),
  });
  for (const { kind, content } of [...queued, ...arrived]) emitEvent(loop, { type: 'feedback_injected', kind, content });
}

// Steps 11 to 14: an ordinary turn.

async function workTurn(loop: Loop, turn: Turn): Promise<TurnOutcome> {
  const dispatched = await dispatch(loop, turn);
  const info = turnInfo(loop, turn, dispatched.results);
  const postTurn = (await loop.live.callbacks.postTurn?.(info)) ?? {};
  if (postTurn.patches !== undefined) checkPatches(loop, postTurn.patches);
  const control = await askControl(loop, info);
  await runPostHooks(loop, info);
  const judged = await withVerification(loop, turn, judge(loop, turn, dispatched, postTurn, control), info);
  settleTurn(loop, turn, dispatched, judged, postTurn);
  if (postTurn.patches !== undefined) await adoptPatches(loop);
  // No model will read it, but whoever goes on with the transcript does.
  if (judged.end !== undefined && judged.feedback.length > 0) injectFeedback(loop);
  loop.autonomy?.spend(dispatched.results, loop.dispatcher.tools);
  emitEvent(loop, { type: 'turn_end', iteration: turn.index, turn_info: info });
  emitIterationEnd(loop, turn, info);
  loop.activation.progressed(loop.progress.counters.iterations_completed);
  extendBudget(loop, dispatched.results, control);
  return {
    boundary: judged.feedback.length > 0 ? 'B3' : 'B1',
    end: judged.end,
    lateEnd: judged.lateEnd,
    park: postTurn.park ?? dispatched.park,
    isIdle: judged.isIdle,
  };
}

async function dispatch(loop: Loop, turn: Turn): Promise<Dispatched> {
  const { granted_permissions: granted } = loop.progress.counters;
  if (turn.calls.length === 0) return { results: [], events: [], granted, park: undefined };
  recordStep(loop, {
    t: 'answer',
    turn: turn.index,
    message: turn.message,
    usage: turn.usage,
    ...(turn.isTextGrammar ? { text_calls: turn.calls.map((call) => call.name) } : {}),
  });
  return dispatchCalls(loop.dispatcher, turn.calls, granted);
}

async function askControl(loop: Loop, info: JsonObject): Promise<LoopControlAnswer> {
  const control = await loop.live.callbacks.loopControl?.(info);
  if (control === undefined) return { decision: 'continue' };
  emitEvent(loop, {
    type: 'loop_control_decision',
    decision: control.decision,
    ...(control.reason === undefined ? {} : { reason: control.reason }),
  });
  return control;
}

async function runPostHooks(loop: Loop, info: JsonObject): Promise<void> {
  await runHook(loop, 'post_agent_turn', info);
  await runHook(loop, 'post_turn', info);
}

function judge(loop: Loop, turn: Turn, dispatched: Dispatched, postTurn: PostTurnAnswer, control: LoopControlAnswer): Judgement {
  return judgeTurn(
    {
      text: turn.text,
      format: loop.frame.format,
      hasTools: loop.live.tools.length > 0,
      results: dispatched.results,
      done: turn.done,
      errors: turn.errors,
      violations: turn.violations,
      postTurn,
      control,
      counters: loop.progress.counters,
    },
    loop.options,
  );
}

/** `verify_completion` may veto a natural end; the model then hears why. */
async function withVerification(loop: Loop, turn: Turn, judged: Judgement, info: JsonObject): Promise<Judgement> {
  const isNatural = judged.end?.stop_reason === 'natural' || judged.end?.stop_reason === 'sentinel';
  const refused = isNatural ? await objectionTo(loop, turn, info) : undefined;
  if (refused === undefined) return judged;
  const { objection, usage } = refused;
  if (objection === undefined) return { ...judged, usage };
  return { ...judged, end: undefined, feedback: [...judged.feedback, { kind: 'verify_completion', content: objection }], usage };
}

/** The author's function decides, or the model that the options name. */
async function objectionTo(
  loop: Loop,
  turn: Turn,
  info: JsonObject,
): Promise<{ objection: string | undefined; usage?: CallUsage } | undefined> {
  const { world, options, live, frame, activation, progress, signal } = loop;
  if (live.callbacks.verifyCompletion !== undefined) return { objection: await live.callbacks.verifyCompletion(info) };
  const { doneJudge } = options;
  if (doneJudge === undefined || loop.objections >= doneJudge.maxObjections) return undefined;
  const task = typeof activation.config.task === 'string' ? activation.config.task : '';
  const messages = [...progress.transcript.messages, turn.message];
  const request = judgeRequest(doneJudge, frame.target, world.env, { task, messages });
  if (!fitsBudget(request, options.model.budget, progress.counters.cost_usd + turn.usage.cost_usd)) return undefined;
  try {
    const judged = await judgeDone(world, request, callPolicy(options), signal);
    if (judged.objection !== undefined) loop.objections++;
    return judged;
  } catch (error) {
    if (isNotOurs(loop, error)) throw error;
    // A judge that cannot be asked objects to nothing: the work is done, and its result should not be lost.
    return undefined;
  }
}

function settleTurn(loop: Loop, turn: Turn, dispatched: Dispatched, judged: Judgement, postTurn: PostTurnAnswer): void {
  const record = turnRecord(loop, turn, {
    feedback: judged.feedback,
    events: [...loop.callEvents.splice(0), ...loop.live.inbox.takeTape(), ...fallbackEvents(turn), ...dispatched.events],
    consecutiveTextOnly: judged.consecutiveTextOnly,
  });
  const { counters } = loop.progress;
  recordStep(loop, {
    ...record,
    ...(postTurn.patches === undefined ? {} : { option_patches: mergedPatches(loop, postTurn.patches) }),
    ...(dispatched.granted === counters.granted_permissions ? {} : { granted_permissions: dispatched.granted }),
    ...(judged.end === undefined ? {} : { end: judged.end }),
    ...(judged.usage === undefined ? {} : { judge_usage: judged.usage }),
    ...consumedEvent(loop, judged),
    ...changedHandles(loop),
  });
}

/** The daemon rests, or is done: the work for the event that it had is behind it (11.3). */
function consumedEvent({ sources }: Loop, judged: Judgement): Pick<TurnRecord, 'consumed_event'> {
  const seq = sources?.port.inflightSeq;
  return seq === undefined || (judged.isIdle !== true && judged.end === undefined) ? {} : { consumed_event: seq };
}

/** What runs beside the loop, so that a later process can say that it is lost (2.8). */
function changedHandles({ live, progress: { counters } }: Loop): Pick<TurnRecord, 'async_handles'> {
  const running = live.background?.running() ?? [];
  return running.length === 0 && (counters.async_handles ?? []).length === 0 ? {} : { async_handles: running };
}

function fallbackEvents({ fallback }: Turn): NewEvent[] {
  if (fallback === undefined) return [];
  return [plainEvent('native_tool_fallback', `calls written as text were ${fallback}`, { accepted: fallback === 'accepted' })];
}

/** `loop_control` may give further turns, and an adaptive budget grows while tools succeed. */
function extendBudget(loop: Loop, results: readonly CallResult[], control: LoopControlAnswer): void {
  if (control.decision === 'extend') loop.turnLimit += control.turns ?? 1;
  const { iterationBudget } = loop.options;
  if (iterationBudget === undefined || loop.turnsTaken < loop.turnLimit) return;
  if (results.some((result) => result.status === 'ok')) {
    loop.turnLimit = Math.max(loop.turnLimit, Math.min(iterationBudget.max, loop.turnLimit + iterationBudget.extendBy));
  }
}
