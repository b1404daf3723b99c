import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { bufferOf, decodeUtf8 } from '../base/utf8.ts';

/**
 * The long lists of a transcript as they stand in a snapshot file. They only grow, at their end, and what is in them
 * never changes: a park of a large transcript need not look at, render and encode again what the file before it held.
 * So the bytes of the last file are kept with the list that they are the text of, and of the next list only what is
 * not the very same item is rendered. A list that was changed at its front, by a compaction for one, is rendered anew.
 *
 * The same split serves reading: in a file that we wrote, the lists are found by their brackets and parsed apart from
 * the small rest, so that their bytes are known to be their text.
 */
export const LONG_LISTS = ['messages', 'events'] as const;

type LongList = (typeof LONG_LISTS)[number];

/** Text of items between the brackets of their list, without the line breaks at both ends. */
interface RenderedList {
  readonly items: readonly unknown[];
  readonly bytes: Buffer;
}

/** A list that is to be written: its first `known` items are the text `bytes`. */
export interface ListToRender {
  readonly name: LongList;
  readonly items: readonly unknown[];
  readonly known: number;
  readonly bytes: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** What is known of one worker's lists. */
export class RenderedLists {
  readonly #lists = new Map<LongList, RenderedList>();

  keep(name: LongList, list: RenderedList): void {
    this.#lists.set(name, list);
  }

  /** For a worker whose last file is written. */
  clear(): void {
    this.#lists.clear();
  }

  /** The long lists of a transcript, in the order of its keys; those that are empty are not long. */
  of(transcript: unknown): ListToRender[] {
    if (!isJsonObject(transcript)) return [];
    return Object.keys(transcript).flatMap((key) => {
      const name = LONG_LISTS.find((one) => one === key);
      const items = transcript[key];
      return name !== undefined && Array.isArray(items) && items.length > 0 ? [{ name, items, ...this.#known(name, items) }] : [];
    });
  }

  #known(name: LongList, items: readonly unknown[]): { readonly known: number; readonly bytes: Buffer } {
    const last = this.#lists.get(name);
    const same = last === undefined ? 0 : commonLength(last.items, items);
    const bytes = last === undefined ? undefined : firstItems(last, same);
    return bytes === undefined ? { known: 0, bytes: NOTHING } : { known: same, bytes };
  }
}

function commonLength(left: readonly unknown[], right: readonly unknown[]): number {
  let length = 0;
  while (length < left.length && length < right.length && left[length] === right[length]) length++;
  return length;
}

/** The text of the first `count` items; a few at the end may be gone, such as a reminder that was shown. */
function firstItems({ items, bytes }: RenderedList, count: number): Buffer | undefined {
  if (count === items.length) return bytes;
  if (count < items.length / 2) return undefined;
  const gone = Buffer.from(SEPARATOR + renderItems(items.slice(count)));
  const end = bytes.length - gone.length;
  // A file that somebody indented in another way is taken as it is, and only cut where its text is ours.
  return end > 0 && bytes.subarray(end).equals(gone) ? bytes.subarray(0, end) : undefined;
}

export const SEPARATOR = ',\n';

const BEFORE_ITEMS = '{\n  "a": {\n    "b": [\n';
const AFTER_ITEMS = '\n    ]\n  }\n}';

/** Items as deep as they stand in a snapshot. */
export function renderItems(items: readonly unknown[]): string {
  return JSON.stringify({ a: { b: items } }, null, 2).slice(BEFORE_ITEMS.length, -AFTER_ITEMS.length);
}

/** @returns the transcript with its long lists empty */
export function withoutLists(transcript: unknown, lists: readonly { readonly name: LongList }[]): unknown {
  return lists.length === 0 ? transcript : { ...(transcript as JsonObject), ...Object.fromEntries(lists.map(({ name }) => [name, []])) };
}

/**
 * Parses a snapshot in the layout that we write, list by list.
 * @returns undefined when it is in another layout, or no JSON: then it has to be parsed as a whole
 */
export function parseByLists(bytes: Uint8Array): { readonly document: JsonObject; readonly lists: RenderedLists } | undefined {
  const file = bufferOf(bytes);
  const found = findLists(file);
  if (found.length === 0) return undefined;
  try {
    const document: unknown = JSON.parse(textAround(file, found));
    const transcript = isJsonObject(document) ? document.transcript : undefined;
    if (!isJsonObject(document) || !isJsonObject(transcript)) return undefined;
    const lists = new RenderedLists();
    for (const { name, start, end } of found) {
      // Where the mark came to stand is the list; it would not with a key that the file has twice.
      const marked = transcript[name];
      if (!Array.isArray(marked) || marked.length !== 1 || marked[0] !== markOf(name)) return undefined;
      // With its brackets, which stand around the text: to put others there would copy it.
      const items = JSON.parse(decodeUtf8(file.subarray(start - '[\n'.length, end + '\n    ]'.length))) as Json[];
      (transcript as Record<string, Json>)[name] = items;
      lists.keep(name, { items, bytes: file.subarray(start, end) });
    }
    return { document, lists };
  } catch {
    return undefined;
  }
}

interface FoundList {
  readonly name: LongList;
  /** Of the items, without the brackets and the line breaks beside them. */
  readonly start: number;
  readonly end: number;
}

/** Line breaks cannot stand inside strings, so that indentation tells keys of the transcript from all others. */
function findLists(file: Buffer): FoundList[] {
  const found: FoundList[] = [];
  let at = file.indexOf('\n  "transcript": {\n');
  for (const name of at < 0 ? [] : LONG_LISTS) {
    const opening = `\n    "${name}": [\n`;
    const opens = file.indexOf(opening, at);
    const end = opens < 0 ? -1 : file.indexOf('\n    ]', opens + opening.length);
    if (end < 0) continue;
    found.push({ name, start: opens + opening.length, end });
    at = end;
  }
  return found;
}

/** The file with a mark for the items of each list. */
function textAround(file: Buffer, found: readonly FoundList[]): string {
  const starts = [0, ...found.map(({ end }) => end)];
  const pieces = found.map(({ name, start }, index) => decodeUtf8(file.subarray(starts[index], start)) + JSON.stringify(markOf(name)));
  return [...pieces, decodeUtf8(file.subarray(starts.at(-1)))].join('');
}

function markOf(name: LongList): string {
  return `harn: the items of ${name}`;
}
