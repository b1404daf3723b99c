import { assertNever } from '../base/assert-never.ts';
import { HarnError } from '../base/harn-error.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Activation, LoopEnd } from '../lifecycle/activation.ts';
import { RESUME_CONTINUITY } from './apply-resume.ts';
import { AutonomyMeter } from './autonomy.ts';
import { beginsIdle, type DaemonOptions, idleDaemon, saveIdle, settleConsumed } from './daemon/daemon.ts';
import { WakeSources } from './daemon/daemon-sources.ts';
import { unknownOutcome } from './fold-journal.ts';
import { firstCodePoints } from './json-text.ts';
import { editedTranscript, emitEvent, type Loop, type LoopWorld, recordEdits, recordStep } from './loop-context.ts';
import { RepeatGuard } from './loop-guard.ts';
import { type LoopLive, NOTHING_LIVE } from './loop-live.ts';
import { decodeLoopOptions, effectiveSentinel, type LoopOptions } from './loop-options.ts';
import { feedbackMessage, textResultsMessage } from './loop-record.ts';
import { buildLoopResult, type EndFacts } from './loop-result.ts';
import { type InterruptedTurn, readLoopState, writeLoopState } from './loop-state.ts';
import { readShapeWish } from './model-call/structured-call.ts';
import { extractJson } from './model-call/structured-output.ts';
import { modelFrames } from './model-frames.ts';
import { isNotOurs, park, parkByItself } from './park.ts';
import { pendingReminders } from './reminder.ts';
import { noteReminder } from './reminder-notes.ts';
import { isProviderOn } from './reminder-providers.ts';
import { continuePausedTool } from './tools/continue-tool.ts';
import type { Tool } from './tools/tool.ts';
import { runTool } from './tools/tool-dispatch.ts';
import { messageCalls, messageText, toolMessage } from './transcript/message.ts';
import { lastOfRole } from './transcript/transcript.ts';
import { type TurnOutcome, takeTurn } from './turn.ts';
import { blockedByHook, runHook } from './turn-hooks.ts';

/**
 * The agent loop (spec/agents.md chapter 3): turns with boundaries between them, until an end condition holds, the
 * loop parks, or something throws. The state changes only through records (loop-record.ts), which the journal
 * keeps; everything else here is asking the model, calling tools and telling others.
 */

/** Runs one activation to its end, its park, or its error. */
export async function runLoop(activation: Activation, world: LoopWorld): Promise<LoopEnd> {
  const loop = await openLoop(activation, world);
  const detach = loop.live.attach?.({ read: () => editedTranscript(loop), edit: (edit) => loop.edits.push(edit) });
  try {
    return await runSession(loop);
  } finally {
    detach?.();
    loop.sources?.close();
    loop.autonomy?.close();
  }
}

/** The hooks of a session around its turns; a park is no end of it. */
async function runSession(loop: Loop): Promise<LoopEnd> {
  const { activation } = loop;
  const isResumed = activation.resume !== undefined;
  await runHook(loop, 'session_start', { worker_id: activation.workerId, is_resumed: isResumed });
  const unwelcome = isResumed ? undefined : await runHook(loop, 'user_prompt_submit', { source: 'prompt', count: 1 });
  try {
    const end = await takeTurns(loop, loop.progress.counters.ended ?? (unwelcome === undefined ? undefined : blockedByHook(unwelcome)));
    if (end.kind === 'ended') await runHook(loop, 'session_end', { worker_id: activation.workerId, status: end.result.status ?? null });
    return end;
  } catch (error) {
    if (!isNotOurs(loop, error)) await runHook(loop, 'session_error', { worker_id: activation.workerId, code: errorCode(error) });
    throw error;
  }
}

/** Never the text: it may quote what the loop worked on. */
function errorCode(error: unknown): string {
  return error instanceof HarnError ? error.code : 'unknown';
}

/** @param ended how the loop has ended already; undefined when it has not */
async function takeTurns(loop: Loop, ended: EndFacts | undefined): Promise<LoopEnd> {
  await settleInterruptedTurn(loop);
  const park = await continuePausedTool(loop);
  let turn: TurnOutcome = { boundary: 'B0', end: ended, isIdle: beginsIdle(loop), park };
  for (;;) {
    const end = await endAtBoundary(loop, turn);
    if (end !== undefined) return end;
    turn = await takeTurn(loop);
    if (turn.parked !== undefined) return turn.parked;
  }
}

/** @throws HarnError `plain` for options that cannot be, before the first model call */
async function openLoop(activation: Activation, world: LoopWorld): Promise<Loop> {
  const given = (activation.config.options ?? {}) as JsonObject; // the loop's own config, decoded next
  const { transcript, counters } = readLoopState(activation.state, activation.sessionId);
  const options = decodeLoopOptions(given);
  const live = (activation.live as LoopLive | undefined) ?? NOTHING_LIVE; // made by the adapter that made this runner
  // A restored loop goes on without one that could not be bound again; a new one never had it.
  if (options.compaction.strategy === 'custom' && live.callbacks.compact === undefined && activation.resume === undefined)
    throw new HarnError('plain', 'agent_loop: strategy custom needs `compact_callback`');
  const { frame, turnFrame, tools } = await modelFrames(world, options, { system: text(activation.config.system), tools: live.tools });
  const signal = live.signal === undefined ? activation.signal : AbortSignal.any([activation.signal, live.signal]);
  const loop: Loop = {
    activation,
    world,
    options,
    live,
    frame,
    turnFrame,
    dispatcher: {
      tools: new Map(tools.map((tool): [string, Tool] => [tool.name, tool])),
      options,
      callbacks: live.callbacks,
      guard: new RepeatGuard(options.loopDetect),
      clock: world.clock,
      signal,
      sessionId: activation.sessionId,
      record: (record) => recordStep(loop, record),
      emit: (event) => emitEvent(loop, event),
    },
    signal,
    autonomy: options.autonomyBudget === undefined ? undefined : new AutonomyMeter(options.autonomyBudget, world.clock, activation),
    sources: options.daemon === undefined ? undefined : new WakeSources(options.daemon, world, live.inbox, live.daemon, activation),
    progress: { transcript, counters, openTurn: undefined },
    turnsTaken: 0,
    turnLimit: options.maxIterations,
    data: null,
    turnEndedMs: undefined,
    objections: 0,
    hasCompacted: false,
    fallbackTurns: 0,
    callEvents: [],
    edits: [],
  };
  settleGivenReminders(loop);
  tellLostHandles(loop);
  return loop;
}

/** Background work that this process does not run was lost with the one that did (13.16). */
function tellLostHandles(loop: Loop): void {
  const noted = loop.progress.counters.async_handles ?? [];
  const { background } = loop.live;
  const lost = noted.filter((handle) => background?.isOurs(String(handle.handle_id)) !== true);
  if (lost.length === 0) return;
  const added = lost.map((handle) => feedbackMessage({ kind: 'tool_result', content: JSON.stringify({ ...handle, status: 'lost' }) }));
  recordStep(loop, { t: 'in', added, async_handles: background?.running() ?? [] });
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The resume, and whoever started the loop, put reminders in without knowing the options; here they are known. */
function settleGivenReminders(loop: Loop): void {
  const { activation, options, progress } = loop;
  const put = pendingReminders(progress.transcript).filter((reminder) => reminder.dedupe_key === RESUME_CONTINUITY);
  const isNew = activation.resume === undefined;
  const turn = progress.counters.iterations_completed;
  for (const reminder of isNew ? [] : put) noteReminder(activation, turn, 'injected', reminder);
  const inherited = isNew && turn === 0 ? pendingReminders(progress.transcript).filter(({ source }) => source === 'inherited') : [];
  for (const reminder of inherited) noteReminder(activation, turn, 'inherited', reminder);
  const refused = isProviderOn(options.reminders, RESUME_CONTINUITY) ? [] : put;
  if (refused.length === 0) return;
  recordStep(loop, { t: 'edit', at: 0, removed: 0, inserted: [], dropped_reminders: refused.map((reminder) => reminder.id) });
}

/** Calls that a crash cut off: a tool declared idempotent runs again, and its result replaces the unknown outcome (4.9). */
async function settleInterruptedTurn(loop: Loop): Promise<void> {
  const { interrupted } = loop.progress.counters;
  if (interrupted === undefined) return;
  const again = interrupted.calls.filter((call) => loop.dispatcher.tools.get(call.name)?.idempotent === true);
  const texts = new Map<number, string>();
  for (const call of again) {
    const tool = loop.dispatcher.tools.get(call.name) as Tool; // filtered above
    const settled = await runTool(loop.dispatcher, tool, call);
    texts.set(call.pos, settled.text);
  }
  replaceUnknownOutcomes(loop, interrupted, texts);
}

function replaceUnknownOutcomes(loop: Loop, interrupted: InterruptedTurn, texts: ReadonlyMap<number, string>): void {
  const { messages } = loop.progress.transcript;
  const answerIndex = messages.findLastIndex((message) => message.role === 'assistant');
  if (interrupted.texts !== undefined) {
    const results = interrupted.texts.map((result, pos) => ({ ...result, text: texts.get(pos) ?? result.text }));
    recordStep(loop, { t: 'edit', at: answerIndex + 1, removed: 1, inserted: [textResultsMessage(results)] });
    return;
  }
  for (const call of interrupted.calls) {
    const replacement = texts.get(call.pos) ?? unknownOutcome(call.name);
    recordStep(loop, { t: 'edit', at: answerIndex + 1 + call.pos, removed: 1, inserted: [toolMessage(call, replacement)] });
  }
}

/** The order of 3.4 and 3.7: closed, natural ends, suspend flag, budgets, nudges, iterations. */
async function endAtBoundary(loop: Loop, turn: TurnOutcome): Promise<LoopEnd | undefined> {
  const { activation } = loop;
  loop.signal.throwIfAborted();
  recordEdits(loop);
  if (turn.end !== undefined) return endLoop(loop, turn.end);
  const asked = activation.atBoundary(turn.boundary);
  const parked = asked !== undefined ? await park(loop, asked) : turn.park !== undefined ? await parkByItself(loop, turn.park) : undefined;
  if (parked !== undefined) return parked;
  const end = spentBudget(loop) ?? spentAutonomy(loop) ?? turn.lateEnd ?? (turn.isIdle === true ? undefined : spentIterations(loop));
  if (end !== undefined) return endLoop(loop, end);
  const { sources, options } = loop;
  return turn.isIdle === true && options.daemon !== undefined && sources !== undefined ? idle(loop, options.daemon, sources) : undefined;
}

async function idle(loop: Loop, daemon: DaemonOptions, sources: WakeSources): Promise<LoopEnd | undefined> {
  const outcome = await idleDaemon(loop, daemon, sources);
  switch (outcome.kind) {
    case 'parked':
      return outcome.end;
    case 'ended':
      return endLoop(loop, outcome.end);
    case 'woken': {
      const end = spentIterations(loop);
      return end === undefined ? undefined : endLoop(loop, end);
    }
    default:
      return assertNever(outcome);
  }
}

function spentBudget({ options, progress: { counters } }: Loop): EndFacts | undefined {
  const { tokenBudget, totalBudgetUsd } = options;
  if (tokenBudget !== undefined && counters.input_tokens + counters.output_tokens >= tokenBudget) {
    return { status: 'budget_exhausted', stop_reason: 'token_budget' };
  }
  if (totalBudgetUsd !== undefined && counters.cost_usd >= totalBudgetUsd) {
    return { status: 'budget_exhausted', stop_reason: 'total_budget_usd' };
  }
  return undefined;
}

/** The loop may do no more on its own; who is to be asked stands on the trace. */
function spentAutonomy({ autonomy }: Loop): EndFacts | undefined {
  const stop = autonomy?.reached();
  return stop === undefined ? undefined : { status: 'approval_required', stop_reason: 'autonomy_budget', autonomy: stop };
}

function spentIterations(loop: Loop): EndFacts | undefined {
  return loop.turnsTaken < loop.turnLimit ? undefined : { status: 'budget_exhausted', stop_reason: 'max_iterations' };
}

function endLoop(loop: Loop, end: EndFacts): LoopEnd {
  emitTerminalEvent(loop, end);
  const { progress, options, frame, sources } = loop;
  if (sources !== undefined) {
    settleConsumed(loop, sources);
    saveIdle(loop, undefined, end.status);
  }
  const transcript = { ...progress.transcript, state: 'done' as const };
  const { ended: _, ...ended } = progress.counters;
  const undelivered = loop.live.inbox.takeHostMessages();
  const counters = { ...ended, deferred_user_messages: [...ended.deferred_user_messages, ...undelivered] };
  const result = buildLoopResult(end, transcript, counters, {
    format: frame.format,
    sentinel: options.loopUntilDone || options.doneSentinel !== undefined ? effectiveSentinel(options, frame.format) : undefined,
    data: loop.data ?? lastData(loop),
    daemonState: options.daemon === undefined ? undefined : end.status,
    daemonSnapshotPath: sources?.port.file?.shown,
    error: end.status === 'failed' ? failure(end.stop_reason, options) : undefined,
    stall: options.stallDiagnostics && end.status === 'stuck' ? stallFacts(loop) : undefined,
    warnings: options.unknown.map((name) => `agent_loop: unknown option \`${name}\` is ignored`),
  });
  return { kind: 'ended', result, state: writeLoopState({ transcript, counters }) };
}

function failure(category: string, { requireSuccessfulTools }: LoopOptions): JsonObject {
  return { category, message: `none of the required tools succeeded: ${requireSuccessfulTools.join(', ')}` };
}

const STALL_TEXTS = 5;

/** What the model kept saying instead of working, and when it last used a tool. */
function stallFacts({ progress: { transcript, counters }, options, turnsTaken }: Loop): JsonObject {
  const answers = transcript.messages.filter((message) => message.role === 'assistant');
  const lastCalls = answers.findLast((answer) => messageCalls(answer).length > 0);
  return {
    consecutive_text_only: counters.consecutive_text_only,
    max_nudges: options.maxNudges,
    turns_taken: turnsTaken,
    last_texts: answers.slice(-STALL_TEXTS).map((answer) => firstCodePoints(messageText(answer), EXCERPT)),
    last_tool_calls: lastCalls === undefined ? [] : messageCalls(lastCalls).map(({ name }) => name),
    tools_used: counters.tools_used,
  };
}

/** After a recovery no turn of this activation has parsed the answer that ended the loop. */
function lastData({ options, progress }: Loop): Json {
  if (readShapeWish(options.model, 0) === undefined) return null;
  const last = lastOfRole(progress.transcript.messages, 'assistant');
  return last === undefined ? null : (extractJson(messageText(last))?.value ?? null);
}

const EXCERPT = 240;

function emitTerminalEvent(loop: Loop, end: EndFacts): void {
  const { progress, options } = loop;
  if (end.status === 'budget_exhausted') emitEvent(loop, { type: 'budget_exhausted', max_iterations: loop.turnLimit });
  if (end.status !== 'stuck') return;
  const last = lastOfRole(progress.transcript.messages, 'assistant');
  emitEvent(loop, {
    type: 'loop_stuck',
    max_nudges: options.maxNudges,
    last_iteration: progress.counters.iterations_completed - 1,
    tail_excerpt: last === undefined ? '' : messageText(last).slice(-EXCERPT),
  });
}
