import type { JsonObject } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { Activation } from '../lifecycle/activation.ts';
import type { LoopRecord } from './loop-record.ts';
import { pendingReminders, type Reminder } from './reminder.ts';
import type { Transcript } from './transcript/transcript.ts';

/** What becomes of reminders (spec/agents.md 3.10), for whoever looks into a run: everything but what they say. */
export type ReminderMoment = 'injected' | 'fired' | 'deduped' | 'expired' | 'dropped' | 'inherited' | 'provider_evaluated';

const TOPIC = 'transcript.reminder.lifecycle';

export function noteReminder(activation: Activation, turn: number, moment: ReminderMoment, reminder: Reminder): void {
  const facts: JsonObject = {
    reminder_id: reminder.id,
    dedupe_key: reminder.dedupe_key,
    tags: reminder.tags,
    source: reminder.source,
    session_id: activation.sessionId,
    turn,
    body_sha256: sha256(reminder.body),
    body_len: reminder.body.length,
  };
  activation.log(TOPIC, `transcript.reminder.${moment}`, facts);
}

/** Notes what a journal record did to the pending reminders; most records cannot do anything to them. */
export function noteReminderChanges(activation: Activation, turn: number, record: LoopRecord, before: Transcript, after: Transcript): void {
  const lost = momentOfLoss(record);
  if (lost === undefined) return;
  const gone = reminderDifference(before, after);
  const come = reminderDifference(after, before);
  for (const reminder of gone) noteReminder(activation, turn, lost, reminder);
  for (const reminder of come) noteReminder(activation, turn, 'injected', reminder);
}

/** Why reminders that are gone after this record went; undefined for a record that touches none. */
function momentOfLoss(record: LoopRecord): ReminderMoment | undefined {
  switch (record.t) {
    case 'in':
      return record.reminders === undefined ? undefined : 'deduped';
    case 'turn':
      return record.rendered_reminders === undefined ? undefined : 'expired';
    case 'edit':
      return record.dropped_reminders === undefined || record.dropped_reminders.length === 0 ? undefined : 'dropped';
    default:
      return undefined;
  }
}

/** Reminders that one transcript has and the other has not. */
export function reminderDifference(has: Transcript, lacks: Transcript): Reminder[] {
  const known = new Set(pendingReminders(lacks).map(({ id }) => id));
  return pendingReminders(has).filter(({ id }) => !known.has(id));
}
