import { errorText } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import type { LoopEnd, ParkRequest } from '../lifecycle/activation.ts';
import { judgeDone, judgeRequest } from './done-judge.ts';
import { type Judgement, judgeTurn } from './judge-turn.ts';
import { emitEvent, type Loop, recordEdits, recordStep } from './loop-context.ts';
import type { LoopControlAnswer, PostTurnAnswer } from './loop-live.ts';
import { callPolicy } from './loop-options.ts';
import { applyRecord, feedbackMessage, type TurnRecord } from './loop-record.ts';
import { buildRequest, rewrittenMessages } from './loop-request.ts';
import type { EndFacts } from './loop-result.ts';
import { type AddedMessage, type CallResult, type CallUsage, type Feedback, withNames } from './loop-state.ts';
import { assertWithinBudget, fitsBudget, passesTotal } from './model-call/call-budget.ts';
import { sessionEvent } from './model-call/call-events.ts';
import type { CallEvent } from './model-call/model-call.ts';
import { addUsage, assertShape, callShaped, readShapeWish } from './model-call/structured-call.ts';
import { commitPark, emitParkAudit, isNotOurs } from './park.ts';
import { answerMessage } from './providers/answer-message.ts';
import { isContextOverflow } from './providers/llm-errors.ts';
import type { ModelAnswer, ModelRequest } from './providers/provider.ts';
import type { Reminder } from './reminder.ts';
import { AWAIT_RESUMPTION, invalidAwaitFeedback, parkedResults, readAwaitArguments, refusedResults } from './self-park.ts';
import { parseTextResponse, visibleText } from './tools/text-tools.ts';
import { type Dispatched, dispatchCalls } from './tools/tool-dispatch.ts';
import { nativeSearchEvents } from './tools/tool-search.ts';
import { type Message, type ToolCall, userMessage } from './transcript/message.ts';
import { type NewEvent, plainEvent } from './transcript/transcript.ts';
import { compactAfterOverflow, compactWhenLarge } from './turn-compaction.ts';
import { blockedByHook, runHook } from './turn-hooks.ts';
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

/** What the model answered, read. */
interface Turn extends ReadAnswer {
  /** Zero-based, over the life of the worker. */
  readonly index: number;
  readonly startedMs: number;
  readonly renderedReminders: readonly string[];
  readonly usage: CallUsage;
}

interface ReadAnswer {
  readonly message: Message;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Calls were parsed out of the text, and their results go back as text. */
  readonly isTextGrammar: boolean;
  readonly done: string | undefined;
  readonly errors: readonly string[];
  readonly violations: readonly string[];
  /** A native model wrote calls as text: whether they were run. */
  readonly fallback?: 'accepted' | 'rejected' | undefined;
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

// Steps 8 and 9: the model's answer.

type Asked = { readonly answer: ModelAnswer; readonly usage: CallUsage } | { readonly fault: JsonObject } | 'over_budget';

async function askModel(loop: Loop, reminders: readonly Reminder[]): Promise<Asked> {
  const { world, options, live } = loop;
  const patched = { ...options.model, ...loop.progress.counters.option_patches };
  const request = await turnRequest(loop, reminders, patched);
  // A total for the loop ends it before the call that would pass it (1.2, 3.2).
  if (passesTotal(request, options.model.budget, loop.progress.counters.cost_usd)) return 'over_budget';
  assertWithinBudget(request);
  const policy = callPolicy(options);
  const wish = readShapeWish(patched, options.schemaRetries);
  const ask = (asked: ModelRequest) => callShaped(world, asked, policy, wish, loop.signal, (event) => emitCallEvent(loop, event));
  const shaped = async () => {
    const answered = await ask(request).catch(async (error: unknown) => {
      if (!isContextOverflow(error) || !(await compactAfterOverflow(loop))) throw error;
      return ask(await turnRequest(loop, reminders, patched));
    });
    assertShape(answered, wish);
    return answered;
  };
  const { llmCaller } = live.callbacks;
  if (llmCaller === undefined) {
    const { answer, data, usage } = await shaped();
    loop.data = data;
    tellSearches(loop, answer);
    return { answer, usage };
  }
  const answer = await llmCaller(request, async () => (await shaped()).answer);
  if ('providerError' in answer) return { fault: answer.providerError };
  return { answer, usage: addUsage({ input_tokens: 0, output_tokens: 0, cost_usd: 0, calls: 0 }, answer) };
}

/** A service that searches among deferred tools has done so within its answer; it is told like a search of the loop. */
function tellSearches(loop: Loop, answer: ModelAnswer): void {
  for (const event of nativeSearchEvents(answer)) {
    loop.callEvents.push(event);
    emitEvent(loop, { type: event.kind, ...event.metadata });
  }
}

/** A callback may show the model other messages for this one call; what is persisted stays. */
async function turnRequest(loop: Loop, reminders: readonly Reminder[], options: JsonObject): Promise<ModelRequest> {
  const { transcript } = loop.progress;
  const { context } = loop.live.callbacks;
  const request = buildRequest(loop.turnFrame(transcript), transcript.messages, reminders, options);
  return context === undefined ? request : { ...request, messages: rewrittenMessages(await context(request.messages)) };
}

function emitCallEvent(loop: Loop, event: CallEvent): void {
  const told = sessionEvent(event);
  if (told === undefined) return;
  emitEvent(loop, told);
  if (event.type !== 'retry' && event.type !== 'schema_retry') return;
  const { type, ...facts } = told;
  loop.callEvents.push(plainEvent(String(type), String(facts.message ?? 'the answer had the wrong shape'), facts));
}

/** Calls come structured or, under the text grammar, in the text; a native model that writes text is a matter of options. */
function readAnswer(loop: Loop, answer: ModelAnswer): ReadAnswer {
  const { text, toolCalls } = answer;
  const plain = { text, done: undefined, errors: [], violations: [] };
  if (toolCalls.length > 0)
    return { ...plain, message: answerMessage(loop.frame.target, answer, toolCalls), calls: toolCalls, isTextGrammar: false };
  const isText = loop.frame.format === 'text';
  const fallback = isText ? undefined : textFallback(loop, text);
  if (!isText && fallback !== 'accepted')
    return { ...plain, message: answerMessage(loop.frame.target, answer, []), calls: [], isTextGrammar: false, fallback };
  const { calls, errors, violations, done } = parseTextResponse(text, loop.frame.toolNames);
  // Without tools of its own a loop was taught no grammar, so plain prose breaks none.
  const broken = loop.live.tools.length === 0 ? [] : violations;
  if (isText)
    return { text, message: answerMessage(loop.frame.target, answer, []), calls, isTextGrammar: true, done, errors, violations: broken };
  loop.fallbackTurns++;
  return { ...plain, message: answerMessage(loop.frame.target, answer, calls), calls, isTextGrammar: false, errors, fallback };
}

function textFallback({ options, fallbackTurns }: Loop, text: string): 'accepted' | 'rejected' | undefined {
  const { nativeToolFallback } = options;
  if (!text.includes('<tool_call>')) return undefined;
  if (nativeToolFallback === 'reject') return 'rejected';
  return nativeToolFallback === 'allow' || fallbackTurns === 0 ? 'accepted' : 'rejected';
}

// Steps 10 and 7.3: a turn that parks the loop.

/** A registered tool of the same name is an ordinary tool (7.3). */
function isLifecycleCall(loop: Loop, call: ToolCall): boolean {
  return call.name === AWAIT_RESUMPTION && !loop.dispatcher.tools.has(AWAIT_RESUMPTION);
}

async function parkTurn(loop: Loop, turn: Turn, awaiting: number): Promise<TurnOutcome> {
  const { activation } = loop;
  const call = turn.calls[awaiting] as ToolCall; // found by the caller
  const args = readAwaitArguments(call.arguments);
  if (args.kind === 'invalid') return refuseParkTurn(loop, turn, awaiting, args.error.message, invalidAwaitFeedback(args.error));
  const { request } = args;
  try {
    await activation.prepareConditions(request);
  } catch (error) {
    if (isNotOurs(loop, error)) throw error;
    return refuseParkTurn(loop, turn, awaiting, errorText(error), errorText(error));
  }
  const verdict = await activation.approveSelfPark(request);
  if (verdict.decision === 'deny') {
    const text = `suspend denied: ${verdict.reason}`;
    return refuseParkTurn(loop, turn, awaiting, text, text);
  }
  return commitParkTurn(loop, turn, awaiting, { ...request, reason: verdict.reason });
}

/** The snapshot is the record of this turn (4.9); only a park that fails leaves one in the journal. */
async function commitParkTurn(loop: Loop, turn: Turn, awaiting: number, request: ParkRequest): Promise<TurnOutcome> {
  const results = parkedResults(turn.calls, awaiting, request.reason);
  emitParkAudit(loop, request, turn.calls[awaiting]?.id);
  const info = turnInfo(loop, turn, results);
  emitEvent(loop, { type: 'turn_end', iteration: turn.index, turn_info: info });
  emitIterationEnd(loop, turn, { ...info, dispatch_skipped: true, skip_reason: 'awaiting_resumption' });
  const settled = applyRecord(loop.progress, turnRecord(loop, turn, { results }));
  try {
    return { boundary: 'B1', parked: await commitPark(loop, request, settled) };
  } catch (error) {
    if (isNotOurs(loop, error)) throw error;
    recordRefusal(loop, turn, awaiting, errorText(error), errorText(error));
    return { boundary: 'B3' };
  }
}

function refuseParkTurn(loop: Loop, turn: Turn, awaiting: number, text: string, content: string): TurnOutcome {
  const results = recordRefusal(loop, turn, awaiting, text, content);
  const info = turnInfo(loop, turn, results);
  emitEvent(loop, { type: 'turn_end', iteration: turn.index, turn_info: info });
  emitIterationEnd(loop, turn, { ...info, dispatch_skipped: true, skip_reason: 'invalid_agent_await_resumption' });
  return { boundary: 'B3' };
}

function recordRefusal(loop: Loop, turn: Turn, awaiting: number, text: string, content: string): CallResult[] {
  const results = refusedResults(turn.calls, awaiting, text);
  recordStep(loop, turnRecord(loop, turn, { results, feedback: [{ kind: AWAIT_RESUMPTION, content }] }));
  return results;
}

// Steps 11 to 14: an ordinary turn.

async function workTurn(loop: Loop, turn: Turn): Promise<TurnOutcome> {
  const dispatched = await dispatch(loop, turn);
  const info = turnInfo(loop, turn, dispatched.results);
  const postTurn = (await loop.live.callbacks.postTurn?.(info)) ?? {};
  const control = await askControl(loop, info);
  await runPostHooks(loop, info);
  const judged = await withVerification(loop, turn, judge(loop, turn, dispatched, postTurn, control), info);
  settleTurn(loop, turn, dispatched, judged, postTurn);
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
    ...(postTurn.patches === undefined ? {} : { option_patches: { ...counters.option_patches, ...postTurn.patches } }),
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

interface TurnRecordParts {
  readonly results?: readonly CallResult[];
  readonly feedback?: readonly Feedback[];
  readonly events?: readonly NewEvent[];
  readonly consecutiveTextOnly?: number;
}

/** Each text once: the message is here only when no `answer` record holds it (4.9). */
function turnRecord(loop: Loop, turn: Turn, { results, feedback = [], events = [], consecutiveTextOnly = 0 }: TurnRecordParts): TurnRecord {
  const isAnswered = loop.progress.openTurn !== undefined;
  return {
    t: 'turn',
    turn: turn.index,
    ...(isAnswered
      ? {}
      : {
          message: turn.message,
          usage: turn.usage,
          ...(turn.isTextGrammar && turn.calls.length > 0 ? { text_calls: turn.calls.map((call) => call.name) } : {}),
        }),
    ...(results === undefined ? {} : { results }),
    ...(feedback.length === 0 ? {} : { feedback }),
    ...(events.length === 0 ? {} : { events }),
    duration_ms: Math.round(loop.world.clock.monotonicMs() - turn.startedMs),
    consecutive_text_only: consecutiveTextOnly,
    ...(turn.renderedReminders.length === 0 ? {} : { rendered_reminders: turn.renderedReminders }),
  };
}

/** The argument of callbacks and of `turn_end` (3.6). */
function turnInfo(loop: Loop, turn: Turn, results: readonly CallResult[]): JsonObject {
  const { counters } = loop.progress;
  const successful = results.flatMap((result) => (result.status === 'ok' ? [result.name] : []));
  const used = results.filter((result) => result.status === 'ok' || result.status === 'error' || result.status === 'rejected');
  return {
    session_id: loop.activation.sessionId,
    iteration: turn.index,
    has_tool_calls: turn.calls.length > 0,
    tool_count: turn.calls.length,
    tool_names: turn.calls.map((call) => call.name),
    tool_results: results.map(({ name, status }) => ({ tool_name: name, status, rejected: status === 'rejected' })),
    successful_tool_names: successful,
    session_successful_tools: withNames(counters.successful_tools, successful),
    session_tools_used: withNames(
      counters.tools_used,
      used.map((result) => result.name),
    ),
    visible_text: visibleText(turn.text),
    consecutive_text_only: turn.calls.length > 0 ? 0 : counters.consecutive_text_only + 1,
  };
}

function emitIterationEnd(loop: Loop, turn: Turn, info: JsonObject): void {
  emitEvent(loop, { type: 'iteration_end', iteration: turn.index, iteration_info: info });
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
