import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { wellFormed } from '../json-text.ts';
import type { Reminder } from '../reminder.ts';
import { type Block, type Message, messageCalls, messageText, type Role } from './message.ts';
import { sendableMessage } from './message-shape.ts';

/**
 * The record of a conversation (spec/agents.md 3.9): `messages` is what a model is sent again, `events` everything
 * that happened. Values in, values out; nothing here is ever changed in place.
 */
export type Transcript = {
  readonly _type: 'transcript';
  readonly version: 2;
  readonly id: string;
  readonly state: 'active' | 'paused' | 'done';
  readonly summary: string | null;
  readonly metadata: JsonObject;
  readonly messages: readonly Message[];
  readonly events: readonly TranscriptEvent[];
  readonly assets: readonly JsonObject[];
};

export type Visibility = 'public' | 'internal' | 'private';

export type TranscriptEvent = {
  /** `evt_<n>`, rising; derived from the position, so that a replay of the journal gives the same ids. */
  readonly id: string;
  readonly kind: string;
  readonly role: string;
  readonly visibility: Visibility;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly metadata?: JsonObject | undefined;
  readonly reminder?: Reminder | undefined;
};

/** An event before it has its id. */
export type NewEvent = Omit<TranscriptEvent, 'id'>;

export function createTranscript(id: string, metadata: JsonObject = {}): Transcript {
  return { _type: 'transcript', version: 2, id, state: 'active', summary: null, metadata, messages: [], events: [], assets: [] };
}

export function transcriptFromMessages(id: string, messages: readonly Message[]): Transcript {
  return messages.reduce((transcript, message) => appendMessage(transcript, message), createTranscript(id));
}

/** By hand, because it looks at every message of every loop that goes on, and a schema is a hundred times slower. */
export function isTranscript(value: unknown): value is Transcript {
  if (!isJsonObject(value) || value._type !== 'transcript' || typeof value.id !== 'string') return false;
  return areObjectsWith(value.messages, 'role') && areObjectsWith(value.events, 'kind');
}

/**
 * A stored transcript as a whole one. What an older format or another hand left out is filled in, so that nothing that
 * was said is lost; messages without a role stay for the doctor to drop, who says so (5.15).
 */
export function completeTranscript(value: Json | undefined, id: string): Transcript {
  if (isKnownSound(value)) return value;
  if (isTranscript(value) && hasSoundFields(value) && value.events.every(isSound)) {
    soundTranscripts.add(value);
    return value;
  }
  if (!isJsonObject(value) || !Array.isArray(value.messages)) return createTranscript(id);
  const blank = { role: '', content: '' };
  const { summary, metadata, assets } = value;
  const messages = value.messages.map((item: Json) => ({ ...blank, ...(isJsonObject(item) ? item : {}) }) as unknown as Message); // the doctor looks at each
  return {
    ...createTranscript(id),
    ...(value as Partial<Transcript>),
    _type: 'transcript',
    id: typeof value.id === 'string' ? value.id : id,
    summary: typeof summary === 'string' ? summary : null,
    metadata: isJsonObject(metadata) ? metadata : {},
    assets: Array.isArray(assets) ? (assets as Json[]).filter(isJsonObject) : [],
    messages,
    events: Array.isArray(value.events) ? soundEvents(value.events) : mirrored(messages),
  };
}

/** Transcripts never change, and a resume reads the same one again before each of its steps. */
const soundTranscripts = new WeakSet<object>();

function isKnownSound(value: unknown): value is Transcript {
  return typeof value === 'object' && value !== null && soundTranscripts.has(value);
}

function hasSoundFields({ summary, metadata, assets }: Transcript): boolean {
  return (summary === null || typeof summary === 'string') && isJsonObject(metadata) && Array.isArray(assets);
}

/** Whether whoever reads the events finds what it looks for. */
function isSound(event: TranscriptEvent): boolean {
  const { id, text, blocks, reminder } = event;
  return (
    typeof id === 'string' && typeof text === 'string' && Array.isArray(blocks) && (reminder === undefined || isSoundReminder(reminder))
  );
}

function isSoundReminder(reminder: unknown): boolean {
  if (!isJsonObject(reminder) || typeof reminder.id !== 'string' || typeof reminder.body !== 'string') return false;
  const { tags, ttl_turns, dedupe_key } = reminder;
  const hasTags = Array.isArray(tags) && tags.every((tag: Json) => typeof tag === 'string');
  return hasTags && (ttl_turns === null || typeof ttl_turns === 'number') && (dedupe_key === null || typeof dedupe_key === 'string');
}

function soundEvents(stored: readonly Json[]): TranscriptEvent[] {
  return stored.flatMap((item, index) => {
    if (!isJsonObject(item) || typeof item.kind !== 'string') return [];
    const { reminder, ...rest } = item;
    const filled = { id: `evt_${index + 1}`, role: 'system', visibility: 'internal', text: '', blocks: [], ...rest };
    const event = { ...filled, ...(isSoundReminder(reminder) ? { reminder } : {}) } as unknown as TranscriptEvent; // looked at in the next line
    return isSound(event) ? [event] : [];
  });
}

function mirrored(messages: readonly Message[]): readonly TranscriptEvent[] {
  const readable = messages.flatMap((message) => sendableMessage(message) ?? []);
  return transcriptFromMessages('', readable).events;
}

function areObjectsWith(list: Json | undefined, key: string): boolean {
  return Array.isArray(list) && list.every((item) => isJsonObject(item) && typeof item[key] === 'string');
}

/**
 * Decodes a transcript that a script or a file holds. Messages are not checked one by one here: what a model
 * cannot be sent is the doctor's matter (5.15), and a transcript may be large.
 *
 * @throws HarnError `plain`, prefixed with `operation`
 */
export function decodeTranscript(value: unknown, operation: string): Transcript {
  // A script may write one by hand and leave the id out.
  const named = isJsonObject(value) && value.id === undefined ? { ...value, id: '' } : value;
  if (!isTranscript(named)) throw new HarnError('plain', `${operation}: expected a transcript`);
  return { ...createTranscript(''), ...named };
}

/** Adds a message and the event that mirrors it. What a service would refuse of its text is mended on the way in. */
export function appendMessage(transcript: Transcript, added: Message, about: Partial<NewEvent> = {}): Transcript {
  const message = wellFormed(added);
  const withEvent = appendEvent(transcript, { ...mirrorEvent(message), ...about });
  return { ...withEvent, messages: [...transcript.messages, message] };
}

export function appendEvent(transcript: Transcript, event: NewEvent): Transcript {
  return { ...transcript, events: [...transcript.events, { id: nextEventId(transcript.events), ...event }] };
}

/** Text of an event that mirrors no message. */
export function plainEvent(kind: string, text: string, metadata?: JsonObject): NewEvent {
  return { kind, role: 'system', visibility: 'internal', text, blocks: [], ...(metadata === undefined ? {} : { metadata }) };
}

/** The event that stands for a message; made from the message alone, so that the journal need not hold it. */
export function mirrorEvent(message: Message): NewEvent {
  return {
    kind: message.role === 'tool' ? 'tool_result' : 'message',
    role: message.role,
    visibility: message.role === 'user' || message.role === 'assistant' ? 'public' : 'internal',
    text: messageText(message),
    blocks: typeof message.content === 'string' ? [] : message.content,
    ...(message.tool_call_id === undefined ? {} : { metadata: { tool_call_id: message.tool_call_id } }),
  };
}

export function nextEventId(events: readonly TranscriptEvent[]): string {
  const last = events.at(-1);
  return `evt_${last === undefined ? 1 : eventNumber(last.id) + 1}`;
}

/** Ids of imported transcripts may be anything; they count as zero. */
function eventNumber(id: string): number {
  const digits = /^evt_(\d+)$/.exec(id)?.[1];
  return digits === undefined ? 0 : Number(digits);
}

export function eventsByKind(transcript: Transcript, kind: string): TranscriptEvent[] {
  return transcript.events.filter((event) => event.kind === kind);
}

/** What a reader of the conversation sees. */
export function renderVisible(transcript: Transcript): string {
  return transcript.events
    .filter(({ visibility }) => visibility === 'public')
    .flatMap((event) => {
      const text = [event.text, ...event.blocks.flatMap(blockLabel)].filter((part) => part !== '').join('\n');
      return text === '' ? [] : [`${event.role}: ${text}`];
    })
    .join('\n');
}

/** A block that is not text, by the name that it was given. */
function blockLabel(block: Block): string[] {
  const name = 'name' in block ? block.name : undefined;
  return block.type !== 'text' && block.type !== 'tool_use' && typeof name === 'string' ? [`[${block.type}: ${name}]`] : [];
}

/** Everything, with who may see it. */
export function renderFull(transcript: Transcript): string {
  return transcript.events.map((event) => `[${event.visibility}] ${event.kind} ${event.role}: ${event.text}`).join('\n');
}

/** What a token is taken for: enough to decide when to compact. */
export const CHARACTERS_PER_TOKEN = 4;

/** Total text of the messages in tokens, roughly. */
export function estimateTokens(messages: readonly Message[]): number {
  let size = 0;
  for (const message of messages) size += messageSize(message);
  return Math.ceil(size / CHARACTERS_PER_TOKEN);
}

/** Messages never change, and a long loop counts the same ones before every turn. */
const messageSizes = new WeakMap<Message, number>();

function messageSize(message: Message): number {
  const known = messageSizes.get(message);
  if (known !== undefined) return known;
  let size = messageText(message).length;
  for (const call of messageCalls(message)) size += call.name.length + jsonSize(call.arguments);
  messageSizes.set(message, size);
  return size;
}

/** About the length of the JSON text, without making it. */
function jsonSize(value: Json | undefined): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += jsonSize(item) + 1;
  } else {
    const members = value as JsonObject;
    for (const key in members) size += key.length + 4 + jsonSize(members[key]);
  }
  return size;
}

export function lastOfRole(messages: readonly Message[], role: Role): Message | undefined {
  return messages.findLast((message) => message.role === role);
}
