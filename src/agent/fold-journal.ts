import type { Json, JsonObject } from '../base/json.ts';
import type { LoopState } from '../lifecycle/activation.ts';
import { applyRecord, type LoopProgress, type OpenTurn } from './loop-record.ts';
import { decodeRecords } from './loop-record-schema.ts';
import { type CallResult, type InterruptedTurn, readLoopState, writeLoopState } from './loop-state.ts';
import { parseTextResponse } from './tools/text-tools.ts';
import { messageCalls, messageText, type ToolCall } from './transcript/message.ts';

/**
 * Reads a journal: the records over the state they build on, and then the turn in flight, if a crash left one
 * (spec/agents.md 4.9, recovery table). Pure.
 *
 * @returns `rerun`: calls whose outcome is unknown and that an idempotent tool may run again; the loop finds them
 *          in the state as `loop.interrupted`
 * @throws HarnError `plain` for a record that no loop wrote; `data.index` is its place
 */
export function foldJournal(
  state: LoopState,
  records: readonly JsonObject[],
): { readonly state: LoopState; readonly rerun: readonly Json[] } {
  const start: LoopProgress = { ...readLoopState(state, ''), openTurn: undefined };
  const progress = decodeRecords(records).reduce(applyRecord, start);
  const recovered = progress.openTurn === undefined ? progress : closeInterruptedTurn(progress, progress.openTurn);
  return { state: writeLoopState(recovered), rerun: recovered.counters.interrupted?.calls ?? [] };
}

function closeInterruptedTurn(progress: LoopProgress, open: OpenTurn): LoopProgress {
  const calls = callsOf(open);
  const synthetic = calls.flatMap((call, pos) => (open.results.has(pos) ? [] : [syntheticResult(call, pos, open.begun.has(pos))]));
  const closed = applyRecord(progress, { t: 'turn', turn: open.turn, results: synthetic, duration_ms: 0, consecutive_text_only: 0 });
  const unknown = calls.map((call, pos) => ({ pos, ...call })).filter(({ pos }) => open.begun.has(pos) && !open.results.has(pos));
  if (unknown.length === 0) return closed;
  const interrupted: InterruptedTurn = {
    turn: open.turn,
    calls: unknown.map(({ pos, id, name, arguments: args }) => ({ pos, id, name, arguments: args })),
    ...(open.textCalls === undefined ? {} : { texts: allTexts(calls, open, synthetic) }),
  };
  return { ...closed, counters: { ...closed.counters, interrupted } };
}

function callsOf(open: OpenTurn): readonly ToolCall[] {
  if (open.textCalls === undefined) return messageCalls(open.message);
  return parseTextResponse(messageText(open.message), new Set(open.textCalls)).calls;
}

function syntheticResult(call: ToolCall, pos: number, hasBegun: boolean): CallResult {
  const { id, name } = call;
  return hasBegun
    ? { pos, id, name, status: 'error', text: unknownOutcome(name) }
    : { pos, id, name, status: 'skipped', text: `${name} was not started before the interruption; it did not run.` };
}

/** The text of a call that began and never settled; the doctor of 5.15 gives the same. */
export function unknownOutcome(name: string): string {
  return `Error: ${name} was interrupted; its outcome is unknown. It may or may not have taken effect.`;
}

function allTexts(calls: readonly ToolCall[], open: OpenTurn, synthetic: readonly CallResult[]) {
  return calls.map(({ name }, pos) => ({
    name,
    text: (open.results.get(pos) ?? synthetic.find((result) => result.pos === pos))?.text ?? '',
  }));
}
