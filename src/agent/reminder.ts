import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../base/decode-problem.ts';
import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { Message } from './transcript/message.ts';
import { appendEvent, nextEventId, type Transcript, type TranscriptEvent } from './transcript/transcript.ts';

/** Texts that the runtime adds to the next model call (spec/agents.md 3.10). They live as events, never as messages. */
export type Reminder = {
  readonly id: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly dedupe_key: string | null;
  /** Completed turns in which it may still be rendered; null stays until cleared or compacted. */
  readonly ttl_turns: number | null;
  readonly preserve_on_compact: boolean;
  readonly propagate: 'all' | 'session' | 'none';
  readonly role_hint: 'system' | 'developer' | 'user_block' | 'ephemeral_cache';
  readonly source: 'stdlib_provider' | 'hook' | 'bridge' | 'in_pipeline' | 'inherited';
  readonly fired_at_turn: number | null;
  readonly originating_agent_id: string | null;
  readonly metadata?: JsonObject | undefined;
};

/** What an author gives; everything but `body` has a default. */
export type ReminderSpec = { readonly body: string } & Partial<Omit<Reminder, 'id' | 'body'>>;

const KIND = 'system_reminder';

const specSchema = lazily(() =>
  z.object({
    body: z.string().check(z.refine((body) => body.trim() !== '', 'body must not be blank')),
    tags: z.nullish(z.array(z.string())),
    dedupe_key: z.nullish(z.string()),
    ttl_turns: z.nullish(z.int().check(z.positive())),
    preserve_on_compact: z.nullish(z.boolean()),
    propagate: z.nullish(z.string()),
    role_hint: z.nullish(z.enum(['system', 'developer', 'user_block', 'ephemeral_cache'])),
    source: z.nullish(z.enum(['stdlib_provider', 'hook', 'bridge', 'in_pipeline', 'inherited'])),
    fired_at_turn: z.nullish(z.int()),
    originating_agent_id: z.nullish(z.string()),
    metadata: z.nullish(z.record(z.string(), z.json())),
  }),
);

const PROPAGATIONS = ['all', 'session', 'none'] as const;

/**
 * Decodes a reminder that a script, a hook or a host gave.
 *
 * @throws HarnError `HARN-RMD-001` (unknown key), `HARN-RMD-002` (shape), `HARN-RMD-005` (propagate)
 */
export function decodeReminderSpec(value: unknown): ReminderSpec {
  const known = new Set<string>(Object.keys(specSchema().shape));
  const unknownKey = typeof value === 'object' && value !== null ? Object.keys(value).find((key) => !known.has(key)) : undefined;
  if (unknownKey !== undefined) throw reminderError('001', `unrecognised option \`${unknownKey}\``);
  const decoded = specSchema().safeParse(value, OWN_TEXTS_ONLY);
  if (!decoded.success) {
    const issue = decoded.error.issues[0];
    const field = issue === undefined || issue.path.length === 0 ? '' : `\`${issue.path.join('.')}\`: `;
    throw reminderError('002', `invalid reminder: ${field}${decodeProblem(issue, value)}`);
  }
  const { propagate: wanted, body, ...rest } = decoded.data;
  const propagate = wanted === undefined || wanted === null ? undefined : PROPAGATIONS.find((choice) => choice === wanted);
  if (wanted !== undefined && wanted !== null && propagate === undefined) {
    throw reminderError('005', `unsupported propagate \`${wanted}\`; expected all, session, or none`);
  }
  const given = Object.fromEntries(Object.entries(rest).filter(([, part]) => part !== null && part !== undefined));
  return { body, ...given, ...(propagate === undefined ? {} : { propagate }) };
}

export function reminderError(number: string, text: string): HarnError {
  const code = `HARN-RMD-${number}`;
  return new HarnError(code, `${code}: ${text}`, { data: { operation: 'inject_reminder' } });
}

export interface Injection {
  readonly transcript: Transcript;
  readonly reminderId: string;
  /** How many pending reminders of the same key this one replaced. */
  readonly dedupedCount: number;
}

export function injectReminder(transcript: Transcript, spec: ReminderSpec): Injection {
  const isOlder = (event: TranscriptEvent): boolean =>
    spec.dedupe_key !== undefined && spec.dedupe_key !== null && event.reminder?.dedupe_key === spec.dedupe_key;
  const events = transcript.events.filter((event) => !isOlder(event));
  const reminder: Reminder = {
    tags: [],
    dedupe_key: null,
    ttl_turns: null,
    preserve_on_compact: false,
    propagate: 'session',
    role_hint: 'system',
    source: 'in_pipeline',
    fired_at_turn: null,
    originating_agent_id: null,
    ...spec,
    // Numbered like the event that holds it, counted before the older one went, so that no id comes twice.
    id: nextEventId(transcript.events).replace('evt_', 'reminder_'),
  };
  const injected = appendEvent(
    { ...transcript, events },
    { kind: KIND, role: 'system', visibility: 'internal', text: reminder.body, blocks: [], reminder },
  );
  return { transcript: injected, reminderId: reminder.id, dedupedCount: transcript.events.length - events.length };
}

/** What the children of a loop are told of its reminders: those that say so, or all, or none of them. */
export type ReminderInheritance = 'marked' | 'everything' | 'nothing';

/** Adds the reminders that a parent passes on to the transcript that its child starts from. */
export function inheritReminders(child: Transcript, parent: Transcript, parentWorkerId: string, what: ReminderInheritance): Transcript {
  const passed = pendingReminders(parent).filter(({ propagate }) => what === 'everything' || (what === 'marked' && propagate === 'all'));
  return passed.reduce((sofar, { id: _, ...reminder }) => {
    const spec = { ...reminder, source: 'inherited' as const, originating_agent_id: reminder.originating_agent_id ?? parentWorkerId };
    return injectReminder(sofar, spec).transcript;
  }, child);
}

/** Without what was said to one loop only, for the next one of the session. */
export function withoutOwnReminders(transcript: Transcript): Transcript {
  const events = transcript.events.filter(({ reminder }) => reminder?.propagate !== 'none');
  return events.length === transcript.events.length ? transcript : { ...transcript, events };
}

export interface ReminderFilter {
  readonly id?: string | undefined;
  readonly tag?: string | undefined;
  readonly dedupeKey?: string | undefined;
}

/** Removes pending reminders that fit every given criterion. */
export function clearReminders(
  transcript: Transcript,
  filter: ReminderFilter,
): { readonly transcript: Transcript; readonly removedCount: number } {
  const events = transcript.events.filter(({ reminder }) => reminder === undefined || !fits(reminder, filter));
  return { transcript: { ...transcript, events }, removedCount: transcript.events.length - events.length };
}

function fits(reminder: Reminder, { id, tag, dedupeKey }: ReminderFilter): boolean {
  return (
    (id === undefined || reminder.id === id) &&
    (tag === undefined || reminder.tags.includes(tag)) &&
    (dedupeKey === undefined || reminder.dedupe_key === dedupeKey)
  );
}

/** Pending reminders in injection order. */
export function pendingReminders(transcript: Transcript): Reminder[] {
  const pending: Reminder[] = [];
  // Asked several times in every turn; a list for each event would cost more than the look.
  for (const { reminder } of transcript.events) if (reminder !== undefined) pending.push(reminder);
  return pending;
}

/** One message per reminder, to be put after every persisted message of the request (13.13). */
export function renderReminders(reminders: readonly Reminder[]): Message[] {
  return reminders.map((reminder) => ({
    role: reminder.role_hint === 'developer' ? 'developer' : 'user',
    content: `<system-reminder>\n${reminder.body}\n</system-reminder>`,
  }));
}

/** Ends a completed turn for the reminders it rendered: one turn less to live, and gone at zero. */
export function expireReminders(transcript: Transcript, renderedIds: readonly string[]): Transcript {
  if (renderedIds.length === 0) return transcript;
  const rendered = new Set(renderedIds);
  const events = transcript.events.flatMap((event): TranscriptEvent[] => {
    const { reminder } = event;
    if (reminder === undefined || reminder.ttl_turns === null || !rendered.has(reminder.id)) return [event];
    const ttl = reminder.ttl_turns - 1;
    return ttl <= 0 ? [] : [{ ...event, reminder: { ...reminder, ttl_turns: ttl } }];
  });
  return { ...transcript, events };
}

/** Reminders that a compaction takes away. */
export function dropUnpreserved(transcript: Transcript): Transcript {
  const events = transcript.events.filter(({ reminder }) => reminder === undefined || reminder.preserve_on_compact);
  return events.length === transcript.events.length ? transcript : { ...transcript, events };
}
