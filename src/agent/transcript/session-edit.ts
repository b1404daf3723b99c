import type { EditRecord } from '../loop-record.ts';
import { pendingReminders } from '../reminder.ts';
import { type CompactionPlan, removableRange } from './compaction.ts';
import { type Message, messageCalls } from './message.ts';
import type { Transcript } from './transcript.ts';

/**
 * What a script does to the history of a session whose loop runs (spec/agents.md 3.11), as the journal notes it at the
 * next boundary, when more may have been said. What the next model call answers stays in any case. Undefined: nothing
 * is left to change.
 */
export type SessionEdit = (transcript: Transcript) => EditRecord | undefined;

/** Keeps the last messages of those that are there now, and with results their calls. */
export function trimming(now: readonly Message[], keepLast: number): SessionEdit {
  const cut = cutOf(now, keepLast);
  return ({ messages }) => {
    const removed = cut(messages);
    return removed === 0 ? undefined : { t: 'edit', at: 0, removed, inserted: [] };
  };
}

/** Leaves nothing of what is there now: no message, no summary, no reminder. */
export function emptying(now: readonly Message[]): SessionEdit {
  const cut = cutOf(now, 0);
  return (transcript) => ({
    t: 'edit',
    at: 0,
    removed: cut(transcript.messages),
    inserted: [],
    summary: null,
    dropped_reminders: pendingReminders(transcript).map(({ id }) => id),
  });
}

/** @param planned the messages that the plan was made for; it counts only while they still begin the history */
export function compacting(plan: CompactionPlan, planned: readonly Message[]): SessionEdit {
  return (transcript) => {
    const removed = planned.slice(0, plan.at + plan.removed);
    if (!removed.every((message, index) => message === transcript.messages[index])) return undefined;
    return compactionRecord(transcript, plan);
  };
}

/** What a compaction leaves in the journal; reminders that do not say otherwise go with the messages. */
export function compactionRecord(transcript: Transcript, plan: CompactionPlan): EditRecord {
  const dropped = pendingReminders(transcript).filter((reminder) => !reminder.preserve_on_compact);
  return { t: 'edit', ...plan, dropped_reminders: dropped.map(({ id }) => id) };
}

/** How many messages at the end no answer of the model has come to: what users said, or calls with their results. */
export function unansweredCount(messages: readonly Message[]): number {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const answer = messages[last];
  const isOpen = answer !== undefined && messageCalls(answer).length > 0;
  return messages.length - (isOpen ? last : last + 1);
}

/** How many messages go from the beginning: the same later as now, unless they have been compacted meanwhile. */
function cutOf(now: readonly Message[], keepLast: number): (later: readonly Message[]) => number {
  const count = (messages: readonly Message[]): number =>
    removableRange(messages, { keepFirst: 0, keepLast: Math.max(keepLast, unansweredCount(messages)) })?.removed ?? 0;
  const last = now[count(now) - 1];
  return (later) => (last === undefined ? 0 : later.lastIndexOf(last) + 1 || count(later));
}
