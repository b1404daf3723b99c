import { isJsonObject, type JsonObject, parseJsonObject } from '../base/json.ts';
import { decodeUtf8 } from '../base/utf8.ts';
import type { FileHandle, Files } from '../platform/platform.ts';
import { createDurably, isErrno, PRIVATE_FILE_MODE, removeDurably } from './atomic-file.ts';
import { type SnapshotErrorFacts, snapshotError } from './snapshot-error.ts';

/**
 * The journal of a worker: what happened since its last snapshot, one compact JSON record a line, each flushed before
 * the step that it protects goes on (spec/agents.md 4.9). A crash can only tear the last line.
 */
export interface JournalOpen {
  readonly t: 'open';
  readonly v: 1;
  readonly worker_id: string;
  readonly generation: number;
  readonly claim_token: string;
  /** The suspension that this activation consumed; null for a first start. */
  readonly suspension_id: string | null;
  /** The snapshot that the records build on; null when `head` is the whole start. */
  readonly base: { readonly sha256: string } | null;
  readonly head?: JsonObject;
  readonly resume?: JsonObject;
  /** The task of a worker that was started again by send_input or worker_trigger. */
  readonly task?: string;
  /** When this activation opened, on the real clock of the host; RFC 3339. */
  readonly at: string;
}

export interface Journal {
  readonly open: JournalOpen;
  /** Records after `open`, oldest first. */
  readonly records: readonly JsonObject[];
}

/** The journal beside a snapshot. */
export function journalPathOf(snapshotPath: string): string {
  return `${snapshotPath.replace(/\.json$/, '')}.journal.jsonl`;
}

/** The snapshot that a journal belongs to. */
export function snapshotPathOf(journalPath: string): string {
  return journalPath.replace(/\.journal\.jsonl$/, '.json');
}

/** Appends records to a journal that this process owns. */
export class JournalWriter {
  readonly path: string;
  readonly #handle: FileHandle;
  recordCount = 0;

  /**
   * Starts a journal; `open` is on disk when this returns. That the file must not exist yet is the last barrier
   * between two resumers of one suspension.
   * @throws Node's `EEXIST` when another owner has opened one
   */
  static create(files: Files, path: string, open: JournalOpen): JournalWriter {
    try {
      createDurably(files, path, line(open as unknown as JsonObject));
      return new JournalWriter(path, files.open(path, 'append', PRIVATE_FILE_MODE));
    } catch (error) {
      // An `open` of our own that nobody goes on with, whole or not, must not stand in the way of the next attempt.
      if (!isErrno(error, 'EEXIST')) removeDurably(files, path);
      throw error;
    }
  }

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Writes one record; it is on disk when this returns. */
  append(record: JsonObject): void {
    this.#handle.write(line(record));
    this.#handle.sync();
    this.recordCount++;
  }

  close(): void {
    this.#handle.close();
  }
}

/**
 * Reads a journal.
 * @returns undefined when there is none, or when the crash came before its first record was whole
 * @throws HarnError `HARN-SUS-004`, reason `malformed`, with the line number, for damage anywhere but at the end
 */
export function readJournal(files: Files, path: string, facts: SnapshotErrorFacts): Journal | undefined {
  const bytes = unlessGone(() => files.readBytes(path));
  if (bytes === undefined) return undefined;
  const records = parseLines(decodeUtf8(bytes), { ...facts, path });
  const [open, ...rest] = records;
  if (open === undefined) return undefined;
  if (!isJournalOpen(open)) throw malformedLine(1, 'expected a valid `open` record', { ...facts, path });
  return { open, records: rest };
}

/** The `open` record alone, without reading the rest; undefined when there is no whole one. */
export function readJournalOpen(files: Files, path: string): JournalOpen | undefined {
  for (let length = 4096; ; length *= 8) {
    const bytes = unlessGone(() => files.readRange(path, 0, length));
    if (bytes === undefined) return undefined;
    const text = decodeUtf8(bytes);
    const end = text.indexOf('\n');
    if (end >= 0 || bytes.length < length) {
      const record = parseRecord(end < 0 ? text : text.slice(0, end));
      return record !== undefined && isJournalOpen(record) ? record : undefined;
    }
  }
}

/** An owner may remove its journal at any moment, also between a look and a read; undefined then. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function line(record: JsonObject): string {
  return `${JSON.stringify(record)}\n`;
}

function parseLines(text: string, facts: SnapshotErrorFacts): JsonObject[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const records: JsonObject[] = [];
  for (const [index, content] of lines.entries()) {
    const record = parseRecord(content);
    if (record !== undefined) records.push(record);
    else if (index < lines.length - 1) throw malformedLine(index + 1, 'not a JSON object', facts);
  }
  return records;
}

function parseRecord(content: string): JsonObject | undefined {
  const value = parseJsonObject(content);
  return typeof value?.t === 'string' ? value : undefined;
}

function isJournalOpen(record: JsonObject | JournalOpen): record is JournalOpen {
  return (
    record.t === 'open' &&
    record.v === 1 &&
    typeof record.worker_id === 'string' &&
    Number.isSafeInteger(record.generation) &&
    typeof record.claim_token === 'string' &&
    typeof record.at === 'string' &&
    (record.base === null || (isJsonObject(record.base) && typeof record.base.sha256 === 'string')) &&
    (record.base !== null || isJsonObject(record.head))
  );
}

function malformedLine(number: number, cause: string, facts: SnapshotErrorFacts): Error {
  return snapshotError('malformed', `line ${number} of the journal: ${cause}`, { ...facts, detail: { line: number } });
}
