import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/**
 * JSON as a model reads it: dict keys in ascending byte order (spec/agents.md 0.2), whatever order they came in.
 * Written out by hand because `JSON.stringify` of a sorted copy would still put keys like "10" first.
 */
export function renderJson(value: Json, layout: 'compact' | 'pretty' = 'compact'): string {
  return render(value, layout === 'pretty' ? '\n' : undefined);
}

/** @param margin newline and indentation of the current level; undefined for one line */
function render(value: Json, margin: string | undefined): string {
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => render(item, inner(margin))),
      ']',
      margin,
    );
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter((entry): entry is [string, Json] => entry[1] !== undefined)
    .sort(([left], [right]) => compareBytes(left, right))
    .map(([key, item]) => `${JSON.stringify(key)}:${margin === undefined ? '' : ' '}${render(item, inner(margin))}`);
  return wrap('{', members, '}', margin);
}

function wrap(open: string, parts: readonly string[], close: string, margin: string | undefined): string {
  if (parts.length === 0) return open + close;
  if (margin === undefined) return open + parts.join(',') + close;
  return open + parts.map((part) => inner(margin) + part).join(',') + margin + close;
}

function inner(margin: string): string;
function inner(margin: string | undefined): string | undefined;
function inner(margin: string | undefined): string | undefined {
  return margin === undefined ? undefined : `${margin}  `;
}

/** Order of the UTF-8 bytes, which is the order of code points and differs from `<` beyond the basic plane. */
export function compareBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    if (isSurrogate(a) === isSurrogate(b)) return a - b;
    return isSurrogate(a) ? 1 : -1;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** The first `limit` code points. */
export function firstCodePoints(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

/** Length in code points. */
export function codePointLength(text: string): number {
  return text.length - (text.match(PAIR)?.length ?? 0);
}

/** The same value without halves of surrogate pairs, which no strict reader takes; itself when it has none. */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (repaired(value as Json) as T); // the same shape, string for string
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  // Loops that make no lists, because a restore looks at every text of the transcript, before V8 has compiled this.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isWellFormed(value[index])) return false;
    return true;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) if (!key.isWellFormed() || !isWellFormed(members[key])) return false;
  return true;
}

function repaired(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repaired);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), item === undefined ? item : repaired(item)]),
  ) as JsonObject;
}
