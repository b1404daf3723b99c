import { type JsonObject, parseJsonObject } from '../base/json.ts';
import { decodeUtf8 } from '../base/utf8.ts';
import type { Files } from '../platform/platform.ts';

/**
 * The first keys of a snapshot without its transcript (spec/agents.md 4.7). The file puts what a listing shows first,
 * and a line of it that starts with exactly two spaces and a quote can only be a top-level key: the text up to any
 * such line is a whole object when a brace is added. No schema and no checksum is looked at here, so that thousands of
 * files can be listed.
 */
const FIRST_BYTES = 2 * 1024;
const NEXT_KEY = ',\n  "';

/**
 * Reads the head of a snapshot.
 *
 * @returns at least the keys asked for that exist; undefined when there is no such file or it is no JSON object
 */
export function readSnapshotHead(files: Files, path: string, wanted: readonly string[]): JsonObject | undefined {
  for (let length = FIRST_BYTES; ; length *= 8) {
    const bytes = readStart(files, path, length);
    if (bytes === undefined) return undefined;
    const text = decodeUtf8(bytes);
    if (bytes.length < length) return parseJsonObject(text);
    const end = endOfKeys(text, wanted);
    const head = end < 0 ? undefined : parseJsonObject(`${text.slice(0, end)}\n}`);
    // Written by something else, on one line or in another indentation.
    if (head === undefined && length > FIRST_BYTES) return parseJsonObject(decodeUtf8(files.readBytes(path)));
    if (head !== undefined && wanted.every((key) => Object.hasOwn(head, key))) return head;
  }
}

/** Where the last of these keys ends, or the last whole key; -1 when there is none. */
function endOfKeys(text: string, wanted: readonly string[]): number {
  const starts = wanted.map((key) => text.indexOf(`\n  "${key}":`));
  const end = starts.includes(-1) ? -1 : text.indexOf(NEXT_KEY, Math.max(...starts));
  return end < 0 ? text.lastIndexOf(NEXT_KEY) : end;
}

/** Undefined for what is no readable file. */
function readStart(files: Files, path: string, length: number): Uint8Array | undefined {
  try {
    return files.readRange(path, 0, length);
  } catch {
    return undefined;
  }
}
