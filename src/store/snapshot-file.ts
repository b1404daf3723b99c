import { constants } from 'node:buffer';
import { decodeProblem, OWN_TEXTS_ONLY } from '../base/decode-problem.ts';
import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import { bufferOf, decodeUtf8 } from '../base/utf8.ts';
import type { Environment, Files, Platform } from '../platform/platform.ts';
import { type Disk, writeAtomic } from './atomic-file.ts';
import { type SnapshotErrorFacts, snapshotError } from './snapshot-error.ts';
import { type ListToRender, parseByLists, RenderedLists, renderItems, SEPARATOR, withoutLists } from './snapshot-lists.ts';
import { SNAPSHOT_MIGRATIONS } from './snapshot-migrations.ts';
import { FIRST_KEYS, LAST_KEYS, snapshotSchema, type WorkerSnapshot } from './snapshot-schema.ts';
import { SNAPSHOT_VERSION } from './snapshot-version.ts';
import { MAX_DEPTH, storableSizeOf } from './storable.ts';

/**
 * Reading and writing snapshot files (spec/agents.md 4.7).
 *
 * The text is two-space JSON. JSON escapes line breaks inside strings, so a line that starts with exactly two
 * spaces and a quote can only be a top-level key. Two things rest on that: a listing cuts the file after the last
 * whole key of its first kilobytes, and the checksum, which is over the document without its own key, is checked by
 * cutting that one key out of the text instead of rendering the document again. A file that an editor reformatted
 * is still accepted: then the parsed document is rendered and compared.
 */
export interface LoadedSnapshot {
  readonly snapshot: WorkerSnapshot;
  /** Checksum of the document as it stands in the file; names it as the base of a journal. */
  readonly sha256: string;
  /** Version written in the file; 0 when it has none. */
  readonly formatVersion: number;
  /** Its long lists with their text, for whoever is going to write the snapshot again. */
  readonly lists: RenderedLists;
}

const MEBIBYTE = 1024 * 1024;
const DEFAULT_MAX_SNAPSHOT_BYTES = 512 * MEBIBYTE;

/**
 * Renders a snapshot in the order of the file, with its checksum. A park waits for this, so what `lists` knows is not
 * rendered again, and the checksum's own key is put between the bytes.
 *
 * @param lists what is known of the worker's lists from its last file; knows those of this one afterwards
 * @param long  the lists of this snapshot, when they were compared already
 */
export function renderSnapshot(
  snapshot: WorkerSnapshot,
  lists: RenderedLists = new RenderedLists(),
  long: readonly ListToRender[] = lists.of(snapshot.transcript),
): { readonly bytes: Uint8Array; readonly sha256: string } {
  const { integrity: _, transcript = null, ...rest } = orderKeys(snapshot);
  const skeleton = JSON.stringify({ ...rest, transcript: withoutLists(transcript, long) }, null, 2);
  const headLength = skeleton.indexOf(',\n  "transcript": ');
  const head = Buffer.from(skeleton.slice(0, headLength));
  const body = renderBody(skeleton.slice(headLength), long);
  const digest = sha256(head, ...body.pieces);
  const key = Buffer.from(integrityKey(digest));
  const bytes = Buffer.concat([head, key, ...body.pieces, Buffer.from('\n')]);
  for (const { name, items, start, end } of body.places) {
    const offset = head.length + key.length;
    lists.keep(name, { items, bytes: bytes.subarray(offset + start, offset + end) });
  }
  return { bytes, sha256: digest };
}

/** The lists put into their brackets. `places` says where their text stands in the bytes of the pieces. */
function renderBody(skeleton: string, long: readonly ListToRender[]) {
  const pieces: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer): number => {
    pieces.push(piece);
    length += piece.length;
    return length;
  };
  let at = 0;
  const places = long.map(({ name, items, known, bytes }) => {
    const opening = `\n    "${name}": [`;
    const opens = skeleton.indexOf(`${opening}]`, at) + opening.length;
    const start = add(Buffer.from(`${skeleton.slice(at, opens)}\n`));
    const rendered = known === items.length ? '' : `${known === 0 ? '' : SEPARATOR}${renderItems(items.slice(known))}`;
    add(bytes);
    const end = add(Buffer.from(rendered));
    add(Buffer.from('\n    '));
    at = opens;
    return { name, items, start, end };
  });
  add(Buffer.from(skeleton.slice(at)));
  return { pieces, places };
}

/**
 * Replaces the snapshot at `path` durably. What `readSnapshot` would refuse is not written.
 *
 * @param lists see `renderSnapshot`
 * @returns its checksum
 * @throws Error that says by its path which value a file could not give back, or that there is too much of it
 */
export function writeSnapshot(
  disk: Disk & Pick<Platform, 'env'>,
  path: string,
  snapshot: WorkerSnapshot,
  lists: RenderedLists = new RenderedLists(),
): string {
  // Refused before it is rendered: the text of what is far too much would take the memory of the process.
  const long = lists.of(snapshot.transcript);
  const least = leastSizeOf(snapshot, long);
  const limit = maxSnapshotBytes(disk.env, least);
  if (least > limit) throw new Error(`it would have ${tooLarge(least, limit)}`);
  const { bytes, sha256: digest } = rendered(limit, () => renderSnapshot(snapshot, lists, long));
  if (bytes.length > limit) throw new Error(`it would have ${tooLarge(bytes.length, limit)}`);
  writeAtomic(disk, path, bytes);
  return digest;
}

/** @throws Error for what a file could not give back; what is known was looked at when it became so */
function leastSizeOf(snapshot: WorkerSnapshot, long: readonly ListToRender[]): number {
  const rest = storableSizeOf({ ...snapshot, transcript: withoutLists(snapshot.transcript, long) });
  return long.reduce((sum, { name, items, known, bytes }) => {
    let size = sum + bytes.length;
    for (let index = known; index < items.length; index++) size += storableSizeOf(items[index], ['transcript', name, String(index)]);
    return size;
  }, rest);
}

/** Escapes can still make a text of it that the engine cannot hold. */
function rendered(limit: number, render: () => ReturnType<typeof renderSnapshot>): ReturnType<typeof renderSnapshot> {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`it would have ${tooLarge(constants.MAX_STRING_LENGTH, limit)}`, { cause: error });
  }
}

/**
 * Reads a snapshot of any released format.
 *
 * @param target how the caller named it, for messages
 * @throws HarnError `HARN-SUS-004`; `data.detail.reason` says missing, size, malformed, version or integrity
 */
export function readSnapshot(platform: Pick<Platform, 'files' | 'env'>, path: string, target = path): LoadedSnapshot {
  const facts = { target, path };
  assertSize(platform, path, facts);
  return decodeSnapshot(readFile(platform.files, path, facts), facts);
}

/** Decodes the content of a snapshot file; see `readSnapshot`. */
export function decodeSnapshot(bytes: Uint8Array, facts: SnapshotErrorFacts): LoadedSnapshot {
  const { document, lists } = parseByLists(bytes) ?? { document: parseDocument(bytes, facts), lists: new RenderedLists() };
  const formatVersion = readVersion(document, facts);
  assertDepth(document, facts);
  const digest = checkIntegrity(bytes, document, formatVersion, facts);
  return { snapshot: decodeDocument(migrate(document, formatVersion), facts), sha256: digest, formatVersion, lists };
}

/**
 * Checks a document that is at the current format, such as the head in a journal.
 * @throws HarnError `HARN-SUS-004` with reason `malformed` and the path of the field
 */
export function decodeDocument(document: JsonObject, facts: SnapshotErrorFacts): WorkerSnapshot {
  const outcome = snapshotSchema.safeParse(document, OWN_TEXTS_ONLY);
  if (outcome.success) return outcome.data;
  const issue = outcome.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? 'document' : issue.path.join('.');
  throw malformed(`field \`${field}\`: ${decodeProblem(issue, document)}`, facts, { field });
}

function orderKeys(snapshot: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const placed = new Set<string>([...FIRST_KEYS, ...LAST_KEYS]);
  const middle = Object.keys(snapshot).filter((key) => !placed.has(key));
  const keys = [...FIRST_KEYS, ...middle, ...LAST_KEYS].filter((key) => snapshot[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [key, snapshot[key]]));
}

function integrityKey(digest: string): string {
  return `,\n  "integrity": {\n    "sha256": "${digest}"\n  }`;
}

function assertSize(platform: Pick<Platform, 'files' | 'env'>, path: string, facts: SnapshotErrorFacts): void {
  const stat = platform.files.stat(path);
  if (stat === undefined) throw snapshotError('missing', 'no such file', facts);
  if (!stat.isFile) throw snapshotError('malformed', 'not a file', facts);
  const limit = maxSnapshotBytes(platform.env, stat.sizeBytes);
  if (stat.sizeBytes <= limit) return;
  throw snapshotError('size', `the file has ${tooLarge(stat.sizeBytes, limit)}`, {
    ...facts,
    detail: { size_bytes: stat.sizeBytes, limit_bytes: limit },
  });
}

/** What a snapshot takes in memory while it is read, to its size: its text, of two bytes a unit at worst, and what it says. */
const MEMORY_PER_BYTE = 4;

/** Less than a process needs to run at all; to find out how much it has takes a module of Node. */
const ALWAYS_FITS_BYTES = 2 * MEBIBYTE;

/** @param sizeBytes of the snapshot in question: what fits anyway does not ask for the memory that there is */
function maxSnapshotBytes(env: Environment, sizeBytes: number): number {
  const configured = Number(env.get('HARN_SNAPSHOT_MAX_BYTES') ?? Number.NaN);
  const isConfigured = Number.isSafeInteger(configured) && configured > 0;
  // A process that runs out of memory can say nothing any more.
  const fitting = sizeBytes <= ALWAYS_FITS_BYTES ? Number.POSITIVE_INFINITY : Math.floor(heapLimitBytes() / MEMORY_PER_BYTE);
  const limit = isConfigured ? configured : Math.min(DEFAULT_MAX_SNAPSHOT_BYTES, fitting);
  // A file is read as one text, and a text has no more units than the file has bytes.
  return Math.min(limit, constants.MAX_STRING_LENGTH);
}

function tooLarge(sizeBytes: number, limit: number): string {
  const fitting = Math.ceil((sizeBytes * MEMORY_PER_BYTE) / MEBIBYTE);
  const memory = sizeBytes > heapLimitBytes() / MEMORY_PER_BYTE ? `; memory for it: NODE_OPTIONS=--max-old-space-size=${fitting}` : '';
  return `${sizeBytes} bytes, more than the limit of ${limit} (HARN_SNAPSHOT_MAX_BYTES${memory})`;
}

function heapLimitBytes(): number {
  return process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit;
}

function readFile(files: Files, path: string, facts: SnapshotErrorFacts): Uint8Array {
  try {
    return files.readBytes(path);
  } catch (error) {
    throw snapshotError('malformed', `cannot be read: ${errorText(error)}`, { ...facts, causedBy: error });
  }
}

function parseDocument(bytes: Uint8Array, facts: SnapshotErrorFacts): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(bytes));
  } catch (error) {
    // The engine's message quotes the file, which may hold anything.
    throw malformed('not valid JSON', { ...facts, causedBy: error });
  }
  if (!isJsonObject(value)) throw malformed('expected a JSON object', facts);
  return value;
}

function readVersion(document: JsonObject, facts: SnapshotErrorFacts): number {
  const version = document.version ?? 0;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 0) {
    throw malformed('field `version`: expected a whole number', facts, { field: 'version' });
  }
  if (version <= SNAPSHOT_VERSION) return version;
  const writer =
    isJsonObject(document.program) && typeof document.program.harn_version === 'string' ? document.program.harn_version : 'unknown';
  const cause = `written by harn ${writer}, format ${version}; this harn reads up to ${SNAPSHOT_VERSION}`;
  throw snapshotError('version', cause, { ...facts, detail: { found: version, supported: SNAPSHOT_VERSION } });
}

function migrate(document: JsonObject, from: number): JsonObject {
  return SNAPSHOT_MIGRATIONS.slice(from).reduce((current, step) => step(current), document);
}

function checkIntegrity(bytes: Uint8Array, document: JsonObject, formatVersion: number, facts: SnapshotErrorFacts): string {
  const recorded = isJsonObject(document.integrity) ? document.integrity.sha256 : undefined;
  if (recorded === undefined && formatVersion === 0) return sha256(renderWithoutIntegrity(document));
  if (
    typeof recorded === 'string' &&
    (sha256(...withoutIntegrity(bytes, recorded)) === recorded || sha256(renderWithoutIntegrity(document)) === recorded)
  ) {
    return recorded;
  }
  throw snapshotError('integrity', recorded === undefined ? 'the checksum is missing' : 'the checksum does not match the content', facts);
}

/** The pieces of a file that we wrote, around the key of the checksum and before the line break at the end. */
function withoutIntegrity(bytes: Uint8Array, recorded: string): Uint8Array[] {
  const file = bufferOf(bytes);
  const key = integrityKey(recorded);
  const start = file.indexOf(key);
  return start < 0 ? [] : [file.subarray(0, start), file.subarray(start + key.length, file.at(-1) === 0x0a ? -1 : undefined)];
}

function renderWithoutIntegrity(document: JsonObject): string {
  const { integrity: _, ...rest } = document;
  return JSON.stringify(rest, null, 2);
}

function assertDepth(document: JsonObject, facts: SnapshotErrorFacts): void {
  if (isDeeperThan(document, MAX_DEPTH)) throw malformed(`nested deeper than ${MAX_DEPTH} levels`, facts);
}

/**
 * Looks at every value of every file that is read, mostly before V8 has compiled it: loops that make no lists and call
 * nothing for texts and numbers take a quarter of the time. What JSON.parse gives has no properties but its own.
 */
function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === 'object' && item !== null && isDeeperThan(item, levels - 1)) return true;
    }
    return false;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const member = members[key];
    if (typeof member === 'object' && member !== null && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

function malformed(cause: string, facts: SnapshotErrorFacts, detail?: JsonObject): Error {
  return snapshotError('malformed', cause, { ...facts, detail: { ...facts.detail, ...detail } });
}
