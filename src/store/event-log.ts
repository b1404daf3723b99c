import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { HarnError } from '../base/harn-error.ts';
import type { Instant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../base/json.ts';
import { bufferOf, decodeUtf8 } from '../base/utf8.ts';
import type { Files } from '../platform/platform.ts';
import { ensureDirectory, PRIVATE_FILE_MODE } from './atomic-file.ts';

/** A durable, append-only log of events by topic (spec/agents.md 9.5). The id of a record is also its cursor. */
export interface EventRecord {
  /** 1 for the first record of a topic, then counting up. */
  readonly id: number;
  readonly topic: string;
  readonly kind: string;
  readonly payload: Json;
  readonly headers: JsonObject;
  readonly occurredAt: Instant;
}

export interface NewEvent {
  readonly topic: string;
  readonly kind: string;
  readonly payload: Json;
  readonly headers: JsonObject;
  readonly occurredAt: Instant;
  /** `lazy` leaves the flush to the system: for records that only inform. Absent: flushed. */
  readonly durability?: 'flushed' | 'lazy';
}

export interface EventLog {
  /** Other processes may append to it as well. */
  readonly isShared?: boolean;
  /** The record is durable when this returns (file back end). */
  append(event: NewEvent): EventRecord;
  /** Id of the newest record; undefined for an empty topic. */
  latest(topic: string): number | undefined;
  /** Records after the cursor, oldest first; 0 reads from the start. */
  read(topic: string, fromCursor: number, limit?: number): EventRecord[];
  topics(): string[];
}

/** @throws plain HarnError for a topic with other characters than `[A-Za-z0-9._-]`, or without or with too many of them */
export function assertTopic(topic: string): void {
  if (/^[A-Za-z0-9._-]{1,256}$/.test(topic)) return;
  throw new HarnError('plain', `event_log: topic '${topic}' must have 1 to 256 characters of A-Z, a-z, 0-9, '.', '_' and '-'`);
}

export class MemoryEventLog implements EventLog {
  readonly #topics = new Map<string, EventRecord[]>();

  append(event: NewEvent): EventRecord {
    assertTopic(event.topic);
    const records = this.#topics.get(event.topic) ?? [];
    this.#topics.set(event.topic, records);
    const { topic, kind, payload, headers, occurredAt } = event;
    const record = { id: records.length + 1, topic, kind, payload, headers, occurredAt };
    records.push(record);
    return record;
  }

  latest(topic: string): number | undefined {
    return this.#topics.get(topic)?.length;
  }

  read(topic: string, fromCursor: number, limit = Number.POSITIVE_INFINITY): EventRecord[] {
    return (this.#topics.get(topic) ?? []).slice(fromCursor, fromCursor + limit);
  }

  topics(): string[] {
    return [...this.#topics.keys()];
  }
}

/**
 * One file a topic. The id of a record is the number of its line: appends of several processes then need no lock,
 * since the file system orders them, and a line that a crash tore keeps its number, it is only never shown.
 */
export class FileEventLog implements EventLog {
  readonly isShared = true;
  readonly #files: Files;
  readonly #directory: string;
  readonly #indexes = new Map<string, LineIndex>();

  constructor(files: Files, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  append(event: NewEvent): EventRecord {
    assertTopic(event.topic);
    ensureDirectory(this.#files, this.#directory);
    const index = this.#index(event.topic);
    index.refresh();
    // The position tells where to look for the line just written, which others may have got ahead of.
    const before = index.count;
    const text = JSON.stringify({ kind: event.kind, payload: event.payload, headers: event.headers, occurred_at_ms: event.occurredAt });
    const line = Buffer.from(`${index.isTorn ? '\n' : ''}${text}\n`);
    const handle = this.#files.open(index.path, 'append', PRIVATE_FILE_MODE);
    try {
      handle.write(line);
      if (event.durability !== 'lazy') handle.sync();
    } finally {
      handle.close();
    }
    const { topic, kind, payload, headers, occurredAt } = event;
    const id = index.takeOwn(line) ? index.count : index.findLine(text, before);
    return { id, topic, kind, payload, headers, occurredAt };
  }

  latest(topic: string): number | undefined {
    const index = this.#index(topic);
    index.refresh();
    return index.count === 0 ? undefined : index.count;
  }

  read(topic: string, fromCursor: number, limit = Number.POSITIVE_INFINITY): EventRecord[] {
    const index = this.#index(topic);
    index.refresh();
    const records: EventRecord[] = [];
    for (let id = fromCursor + 1; id <= index.count && records.length < limit; id++) {
      const record = decodeLine(topic, id, index.line(id));
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  topics(): string[] {
    if (!this.#files.exists(this.#directory)) return [];
    return this.#files
      .list(this.#directory)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => topicOf(name.slice(0, -'.jsonl'.length)))
      .sort();
  }

  #index(topic: string): LineIndex {
    const known = this.#indexes.get(topic);
    if (known !== undefined) return known;
    const index = new LineIndex(this.#files, join(this.#directory, `${fileNameOf(topic)}.jsonl`));
    this.#indexes.set(topic, index);
    return index;
  }
}

const NEWLINE = 0x0a;

/** Where each line of a growing file starts; only what was added since the last look is read. */
class LineIndex {
  readonly path: string;
  readonly #files: Files;
  readonly #starts: number[] = [0];
  #sizeBytes = 0;

  constructor(files: Files, path: string) {
    this.#files = files;
    this.path = path;
  }

  /** Whole lines. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** Whether the file ends in a line without its newline. */
  get isTorn(): boolean {
    return this.#sizeBytes > this.#start(this.count);
  }

  refresh(): void {
    const sizeBytes = this.#files.stat(this.path)?.sizeBytes ?? 0;
    if (sizeBytes <= this.#sizeBytes) return;
    this.#take(this.#files.readRange(this.path, this.#sizeBytes, sizeBytes - this.#sizeBytes));
  }

  /** Takes what was just appended here. @returns false when others wrote meanwhile: then the file tells who came when */
  takeOwn(written: Uint8Array): boolean {
    const isAlone = this.#files.stat(this.path)?.sizeBytes === this.#sizeBytes + written.length;
    if (isAlone) this.#take(written);
    else this.refresh();
    return isAlone;
  }

  #take(bytes: Uint8Array): void {
    const added = bufferOf(bytes);
    for (let at = added.indexOf(NEWLINE); at >= 0; at = added.indexOf(NEWLINE, at + 1)) this.#starts.push(this.#sizeBytes + at + 1);
    this.#sizeBytes += added.length;
  }

  line(id: number): string {
    const start = this.#start(id - 1);
    return decodeUtf8(this.#files.readRange(this.path, start, this.#start(id) - start - 1));
  }

  findLine(text: string, after: number): number {
    for (let id = after + 1; id <= this.count; id++) {
      if (this.line(id) === text) return id;
    }
    return this.count;
  }

  #start(index: number): number {
    return this.#starts[index] ?? this.#sizeBytes;
  }
}

function decodeLine(topic: string, id: number, line: string): EventRecord | undefined {
  const value = parseJsonObject(line);
  if (typeof value?.kind !== 'string') return undefined;
  return {
    id,
    topic,
    kind: value.kind,
    payload: value.payload ?? null,
    headers: isJsonObject(value.headers) ? value.headers : {},
    occurredAt: typeof value.occurred_at_ms === 'number' ? value.occurred_at_ms : 0,
  };
}

/** Names of devices on Windows, with any ending; such a topic has an underscore more in the name of its file. */
const DEVICE = /^_*(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function topicOf(fileName: string): string {
  return fileName.startsWith('_') && DEVICE.test(fileName) ? fileName.slice(1) : fileName;
}

/** Names of files have at most 255 bytes, topics 256 characters. */
function fileNameOf(named: string): string {
  const topic = DEVICE.test(named) ? `_${named}` : named;
  if (topic.length <= 200) return topic;
  return `${topic.slice(0, 160)}-${createHash('sha256').update(topic).digest('hex').slice(0, 32)}`;
}

export interface EventLogSettings {
  /** Back end when HARN_EVENT_LOG_BACKEND says nothing. */
  readonly defaultBackend: 'memory' | 'file';
  readonly directory: string;
}

/** @throws plain HarnError for a back end that this build does not have */
export function createEventLog(files: Files, env: { get(name: string): string | undefined }, settings: EventLogSettings): EventLog {
  const backend = env.get('HARN_EVENT_LOG_BACKEND') ?? settings.defaultBackend;
  switch (backend) {
    case 'memory':
      return new MemoryEventLog();
    case 'file':
      return new FileEventLog(files, settings.directory);
    default:
      throw new HarnError('plain', `event log back end '${backend}' is not available; HARN_EVENT_LOG_BACKEND accepts memory and file`);
  }
}
