import type { JsonObject } from '../base/json.ts';
import {
  type AddedMessage,
  type CallResult,
  type CallUsage,
  type Feedback,
  type LoopCounters,
  type LoopParts,
  type RecordedEnd,
  withNames,
} from './loop-state.ts';
import { expireReminders, injectReminder, type ReminderSpec } from './reminder.ts';
import { renderFeedback, renderTextResult } from './tools/text-tools.ts';
import { type Message, toolMessage, userMessage } from './transcript/message.ts';
import { appendEvent, appendMessage, type NewEvent, type Transcript } from './transcript/transcript.ts';

/**
 * The journal records of a loop (spec/agents.md 4.9) and what each does to its state.
 *
 * The loop never changes its state in another way: it makes a record, applies it, and lets the journal keep it.
 * Reading a journal is therefore the same function over the same records, and a restored loop cannot differ from
 * one that never stopped. A record holds only what no earlier one holds: results carry their call's position and
 * not its arguments, drained feedback is counted and not repeated, events are rebuilt from their messages.
 */
export type LoopRecord =
  /** What is added before the model call: so many of the queued feedback, then new messages, and reminders of hooks. */
  | {
      readonly t: 'in';
      readonly drained?: number;
      /** So many of the host messages that a park had kept. */
      readonly deferred?: number;
      readonly added?: readonly AddedMessage[];
      readonly reminders?: readonly ReminderSpec[];
      readonly events?: readonly NewEvent[];
      /** Skills that are active from here on. */
      readonly active_skills?: readonly string[];
      /** Background work that is still known of (2.8). */
      readonly async_handles?: readonly JsonObject[];
    }
  /** The assistant message of a turn whose calls are about to start. */
  | {
      readonly t: 'answer';
      readonly turn: number;
      readonly message: Message;
      readonly usage: CallUsage;
      /** Names of the calls in order, under the text grammar: with them the text can be parsed again. */
      readonly text_calls?: readonly string[];
    }
  | { readonly t: 'begin'; readonly pos: number; readonly id: string; readonly name: string; readonly args_sha256: string }
  | {
      readonly t: 'result';
      readonly pos: number;
      readonly id: string;
      readonly name: string;
      readonly status: string;
      readonly text: string;
    }
  | TurnRecord
  /** Messages from `at` on: `removed` go, `inserted` come. */
  | {
      readonly t: 'edit';
      readonly at: number;
      readonly removed: number;
      readonly inserted: readonly Message[];
      /** Null takes away the one that was there. */
      readonly summary?: string | null;
      readonly event?: NewEvent;
      readonly dropped_reminders?: readonly string[];
      /** Of the model call that wrote the summary. */
      readonly usage?: CallUsage;
    };

export type EditRecord = Extract<LoopRecord, { t: 'edit' }>;

/** Closes a turn. */
export type TurnRecord = {
  readonly t: 'turn';
  readonly turn: number;
  /** The assistant message, where no `answer` came before. */
  readonly message?: Message;
  readonly usage?: CallUsage;
  readonly text_calls?: readonly string[];
  /** Results that no `result` record holds: calls that were not dispatched. */
  readonly results?: readonly CallResult[];
  readonly feedback?: readonly Feedback[];
  readonly events?: readonly NewEvent[];
  readonly duration_ms: number;
  readonly consecutive_text_only: number;
  readonly rendered_reminders?: readonly string[];
  readonly option_patches?: JsonObject;
  readonly granted_permissions?: readonly JsonObject[];
  readonly end?: RecordedEnd;
  /** Of a model call that judged whether the work is done. */
  readonly judge_usage?: CallUsage;
  /** The event of a daemon's queue that this turn ended the work for (11.3). */
  readonly consumed_event?: number;
  /** Background work that runs now, where that changed (2.8). */
  readonly async_handles?: readonly JsonObject[];
};

/** A turn between its `answer` and its `turn` record. */
export interface OpenTurn {
  readonly turn: number;
  readonly message: Message;
  readonly textCalls: readonly string[] | undefined;
  readonly begun: ReadonlyMap<number, { readonly id: string; readonly name: string }>;
  readonly results: ReadonlyMap<number, CallResult>;
}

export interface LoopProgress extends LoopParts {
  readonly openTurn: OpenTurn | undefined;
}

export function applyRecord(progress: LoopProgress, record: LoopRecord): LoopProgress {
  switch (record.t) {
    case 'in':
      return applyIn(progress, record);
    case 'answer':
      return openTurn(progress, record.turn, record.message, record.usage, record.text_calls);
    case 'begin':
      return withOpenTurn(progress, (open) => ({
        ...open,
        begun: new Map(open.begun).set(record.pos, { id: record.id, name: record.name }),
      }));
    case 'result': {
      const { t: _, ...result } = record;
      return withOpenTurn(progress, (open) => ({ ...open, results: new Map(open.results).set(record.pos, result) }));
    }
    case 'turn':
      return applyTurn(progress, record);
    case 'edit':
      return applyEdit(progress, record);
  }
}

function applyIn(progress: LoopProgress, record: Extract<LoopRecord, { t: 'in' }>): LoopProgress {
  const { drained = 0, deferred = 0, added = [], reminders = [], events = [], active_skills } = record;
  const { async_handles = progress.counters.async_handles } = record;
  const { counters } = progress;
  const queued = counters.pending_feedback.slice(0, drained).map(feedbackMessage);
  const withMessages = [...queued, ...added].reduce(addMessage, progress.transcript);
  const reminded = reminders.reduce((sofar, spec) => injectReminder(sofar, spec).transcript, withMessages);
  const noted = events.reduce(appendEvent, reminded);
  const transcript = active_skills === undefined ? noted : { ...noted, metadata: { ...noted.metadata, active_skills } };
  return {
    ...progress,
    transcript,
    counters: {
      ...counters,
      pending_feedback: counters.pending_feedback.slice(drained),
      deferred_user_messages: counters.deferred_user_messages.slice(deferred),
      ...(async_handles === undefined ? {} : { async_handles }),
      ...(active_skills === undefined ? {} : { active_skills }),
    },
  };
}

export function feedbackMessage({ kind, content }: Feedback): AddedMessage {
  return { kind, message: userMessage(renderFeedback(kind, content)) };
}

/** Host input and daemon wakes are kinds of events (3.9); all other additions are messages like any. */
function addMessage(transcript: Transcript, { kind, message }: AddedMessage): Transcript {
  const eventKind = kind === 'host_input' || kind === 'daemon_wake' ? kind : 'message';
  return appendMessage(transcript, message, { kind: eventKind });
}

function openTurn(
  progress: LoopProgress,
  turn: number,
  message: Message,
  usage: CallUsage,
  textCalls: readonly string[] | undefined,
): LoopProgress {
  const { counters } = progress;
  return {
    transcript: appendMessage(progress.transcript, message),
    counters: addCost(counters, usage),
    openTurn: { turn, message, textCalls, begun: new Map(), results: new Map() },
  };
}

function addCost(counters: LoopCounters, usage: CallUsage): LoopCounters {
  return {
    ...counters,
    llm_calls: counters.llm_calls + usage.calls,
    input_tokens: counters.input_tokens + usage.input_tokens,
    output_tokens: counters.output_tokens + usage.output_tokens,
    cost_usd: counters.cost_usd + usage.cost_usd,
  };
}

function withOpenTurn(progress: LoopProgress, change: (open: OpenTurn) => OpenTurn): LoopProgress {
  return progress.openTurn === undefined ? progress : { ...progress, openTurn: change(progress.openTurn) };
}

function applyTurn(before: LoopProgress, record: TurnRecord): LoopProgress {
  const opened =
    record.message === undefined || record.usage === undefined
      ? before
      : openTurn(before, record.turn, record.message, record.usage, record.text_calls);
  const results = settledResults(opened.openTurn, record.results ?? []);
  const withResults = appendResults(opened.transcript, results, opened.openTurn?.textCalls !== undefined);
  const withEvents = (record.events ?? []).reduce(appendEvent, withResults);
  const counters = record.judge_usage === undefined ? opened.counters : addCost(opened.counters, record.judge_usage);
  const names = (status: string): string[] => results.flatMap((result) => (result.status === status ? [result.name] : []));
  return {
    transcript: expireReminders(withEvents, record.rendered_reminders ?? []),
    counters: {
      ...counters,
      iterations_completed: counters.iterations_completed + 1,
      duration_ms: counters.duration_ms + record.duration_ms,
      consecutive_text_only: record.consecutive_text_only,
      tools_used: withNames(
        counters.tools_used,
        results.filter((result) => wasDispatched(opened.openTurn, result)).map((result) => result.name),
      ),
      successful_tools: withNames(counters.successful_tools, names('ok')),
      rejected_tools: withNames(counters.rejected_tools, names('rejected')),
      pending_feedback: [...counters.pending_feedback, ...(record.feedback ?? [])],
      option_patches: record.option_patches ?? counters.option_patches,
      granted_permissions: record.granted_permissions ?? counters.granted_permissions,
      ...(record.end === undefined ? {} : { ended: record.end }),
      ...(record.consumed_event === undefined ? {} : { consumed_event: record.consumed_event }),
      ...(record.async_handles === undefined ? {} : { async_handles: record.async_handles }),
    },
    openTurn: undefined,
  };
}

/** A call that was given to its tool or refused by the loop; calls beside a park never were. */
function wasDispatched(open: OpenTurn | undefined, { pos }: CallResult): boolean {
  return open !== undefined && (open.results.has(pos) || open.begun.has(pos));
}

/** Results in call order, whatever order they settled in. */
function settledResults(open: OpenTurn | undefined, undispatched: readonly CallResult[]): CallResult[] {
  return [...(open?.results.values() ?? []), ...undispatched].sort((left, right) => left.pos - right.pos);
}

function appendResults(transcript: Transcript, results: readonly CallResult[], isTextGrammar: boolean): Transcript {
  if (results.length === 0) return transcript;
  if (isTextGrammar) {
    const message = textResultsMessage(results);
    return appendMessage(transcript, message, { kind: 'tool_result', visibility: 'internal' });
  }
  return results.reduce(
    (sofar, result) =>
      appendMessage(sofar, toolMessage(result, result.text), {
        metadata: { tool_call_id: result.id, tool_name: result.name, status: result.status },
      }),
    transcript,
  );
}

/** All results of a turn in one message, as the text grammar has them. */
export function textResultsMessage(results: readonly { readonly name: string; readonly text: string }[]): Message {
  const content = results.map((result) => renderTextResult(result.name, result.text)).join('\n');
  return userMessage(renderFeedback('tool_results', content));
}

function applyEdit(progress: LoopProgress, record: EditRecord): LoopProgress {
  const counters = record.usage === undefined ? progress.counters : addCost(progress.counters, record.usage);
  return {
    ...progress,
    transcript: editTranscript(progress.transcript, record),
    // Whatever a crash left to do again has been done, or its place is gone.
    counters: counters.interrupted === undefined ? counters : { ...counters, interrupted: undefined },
  };
}

export function editTranscript(transcript: Transcript, record: EditRecord): Transcript {
  const messages = [...transcript.messages];
  messages.splice(record.at, record.removed, ...record.inserted);
  const dropped = new Set(record.dropped_reminders ?? []);
  const events = dropped.size === 0 ? transcript.events : transcript.events.filter(({ reminder }) => !dropped.has(reminder?.id ?? ''));
  const edited: Transcript = {
    ...transcript,
    messages,
    events,
    summary: record.summary === undefined ? transcript.summary : record.summary,
  };
  return record.event === undefined ? edited : appendEvent(edited, record.event);
}
