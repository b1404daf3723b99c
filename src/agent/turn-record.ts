import type { JsonObject } from '../base/json.ts';
import { emitEvent, type Loop } from './loop-context.ts';
import type { TurnRecord } from './loop-record.ts';
import { type CallResult, type CallUsage, type Feedback, withNames } from './loop-state.ts';
import { visibleText } from './tools/text-tools.ts';
import type { NewEvent } from './transcript/transcript.ts';
import type { ReadAnswer } from './turn-answer.ts';

/* What a turn leaves behind: its line in the journal, and what callbacks and events say of it. */

/** A turn that the model has answered. */
export interface Turn extends ReadAnswer {
  /** Zero-based, over the life of the worker. */
  readonly index: number;
  readonly startedMs: number;
  readonly renderedReminders: readonly string[];
  readonly usage: CallUsage;
}

interface TurnRecordParts {
  readonly results?: readonly CallResult[];
  readonly feedback?: readonly Feedback[];
  readonly events?: readonly NewEvent[];
  readonly consecutiveTextOnly?: number;
}

/** Each text once: the message is here only when no `answer` record holds it (4.9). */
export function turnRecord(
  loop: Loop,
  turn: Turn,
  { results, feedback = [], events = [], consecutiveTextOnly = 0 }: TurnRecordParts,
): TurnRecord {
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
export function turnInfo(loop: Loop, turn: Turn, results: readonly CallResult[]): JsonObject {
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

/** The last event of a turn, with what its callbacks were told of it. */
export function emitIterationEnd(loop: Loop, turn: Turn, info: JsonObject): void {
  emitEvent(loop, { type: 'iteration_end', iteration: turn.index, iteration_info: info });
}
