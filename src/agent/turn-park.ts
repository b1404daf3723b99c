import { errorText } from '../base/harn-error.ts';
import type { ParkRequest } from '../lifecycle/activation.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { applyRecord } from './loop-record.ts';
import type { CallResult } from './loop-state.ts';
import { commitPark, emitParkAudit, isNotOurs } from './park.ts';
import { AWAIT_RESUMPTION, invalidAwaitFeedback, parkedResults, readAwaitArguments, refusedResults } from './self-park.ts';
import type { ToolCall } from './transcript/message.ts';
import type { TurnOutcome } from './turn.ts';
import { emitIterationEnd, type Turn, turnInfo, turnRecord } from './turn-record.ts';

/* Step 10 of a turn (spec/agents.md 3.5, 7.3): the model asked for the park of its own loop. */

/** A registered tool of the same name is an ordinary tool (7.3). */
export function isLifecycleCall(loop: Loop, call: ToolCall): boolean {
  return call.name === AWAIT_RESUMPTION && !loop.dispatcher.tools.has(AWAIT_RESUMPTION);
}

/**
 * @param awaiting which of the calls asks for it; the others of the turn are not run
 * @returns `parked` when the loop is; B3, with feedback, when it was refused
 */
export async function parkTurn(loop: Loop, turn: Turn, awaiting: number): Promise<TurnOutcome> {
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
