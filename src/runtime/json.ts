import type { Json, JsonObject } from '../base/json.ts';
import { dictEntries, dictOf } from './dict.ts';
import { display, plainDigits } from './display.ts';
import { thrownText } from './errors.ts';
import { Dict, Float, RangeValue, SetValue, StructValue, type Value } from './value.ts';

/** Compact JSON of a value (spec/language.md 4.3): keys sorted, floats without forced decimals, unknown kinds null. */
export function stringify(value: Value): string {
  const parts: string[] = [];
  write(value, parts);
  return parts.join('');
}

function write(value: Value, out: string[]): void {
  switch (typeof value) {
    case 'string':
      out.push(quote(value));
      return;
    case 'number':
    case 'bigint':
    case 'boolean':
      out.push(String(value));
      return;
    case 'object':
      return writeObject(value, out);
    default:
      out.push('null');
  }
}

function writeObject(value: object, out: string[]): void {
  if (Array.isArray(value)) return writeList(value, out);
  if (value instanceof Dict) return writeFields(value, out);
  if (value instanceof StructValue) return writeFields(value.fields, out);
  if (value instanceof SetValue) return writeList([...value.items.values()], out);
  if (value instanceof Float) out.push(floatText(value.value));
  else if (value instanceof RangeValue) out.push(quote(display(value)));
  else if (value instanceof Uint8Array) out.push(`{"$bytes_b64":"${Buffer.from(value).toString('base64')}"}`);
  else out.push('null');
}

function floatText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0' : plainDigits(value);
}

function writeList(items: readonly Value[], out: string[]): void {
  out.push('[');
  items.forEach((item, index) => {
    if (index > 0) out.push(',');
    write(item, out);
  });
  out.push(']');
}

function writeFields(fields: Dict, out: string[]): void {
  out.push('{');
  dictEntries(fields).forEach(([key, item], index) => {
    if (index > 0) out.push(',');
    out.push(quote(key), ':');
    write(item, out);
  });
  out.push('}');
}

/** `\n \r \t` by name, other control characters as `\u00xx`; everything beyond ASCII stays as it is. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/\\[bf]/g, (pair) => (pair === '\\b' ? '\\u0008' : '\\u000c'));
}

/** Indented JSON with sorted keys, as `std/json` and tool results show it. */
export function stringifyPretty(value: Value): string {
  // Inserting blanks into the compact text keeps what toJson would lose: 64-bit integers.
  return indentJson(stringify(value));
}

function indentJson(compact: string): string {
  let result = '';
  let depth = 0;
  for (const [token] of compact.matchAll(/"(?:[^"\\]|\\.)*"|\[\]|\{\}|[[\]{},:]|[^"[\]{},:]+/g)) {
    if (token === '[' || token === '{') result += `${token}\n${'  '.repeat(++depth)}`;
    else if (token === ']' || token === '}') result += `\n${'  '.repeat(--depth)}${token}`;
    else if (token === ',') result += `,\n${'  '.repeat(depth)}`;
    else result += token === ':' ? ': ' : token;
  }
  return result;
}

// ---- between Value and Json ----

/** A value as plain JSON for the agent half; 64-bit ints beyond 2^53 become the nearest double, unknown kinds null. */
export function toJson(value: Value): Json {
  return convert(value, () => null);
}

/** As `toJson` for people and programs that only look at a value: what JSON has no form for is the text that a script prints of it. */
export function toShownJson(value: Value): Json {
  return convert(value, display);
}

function convert(value: Value, otherwise: (value: Value) => Json): Json {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return Number(value);
    case 'undefined':
      return null;
    case 'object':
      return convertObject(value, otherwise);
    default:
      return otherwise(value);
  }
}

function convertObject(value: object, otherwise: (value: Value) => Json): Json {
  if (Array.isArray(value)) return value.map((item) => convert(item, otherwise));
  if (value instanceof Dict) return convertFields(value, otherwise);
  if (value instanceof StructValue) return convertFields(value.fields, otherwise);
  if (value instanceof SetValue) return [...value.items.values()].map((item) => convert(item, otherwise));
  if (value instanceof Float) return Number.isFinite(value.value) ? value.value : otherwise(value);
  if (value instanceof RangeValue) return display(value);
  if (value instanceof Uint8Array) return { $bytes_b64: Buffer.from(value).toString('base64') };
  return otherwise(value as Value);
}

function convertFields(fields: Dict, otherwise: (value: Value) => Json): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, item] of dictEntries(fields)) define(result, key, convert(item, otherwise));
  return result;
}

function define(target: Record<string, Json>, key: string, value: Json): void {
  // `__proto__` is an ordinary key.
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Plain JSON as a value: integral numbers become int, others float. */
export function fromJson(json: Json | undefined): Value {
  if (json === null || json === undefined) return undefined;
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json + 0 : new Float(json);
  if (typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(fromJson);
  return dictOf(Object.entries(json as JsonObject).map(([key, item]) => [key, fromJson(item)]));
}

// ---- parsing ----

/** Deeper documents are refused: every later pass over the value is recursive. */
const MAX_DEPTH = 2_000;

/**
 * Parses JSON text. The kind of a number follows its text: integers that fit 64 bits are int, others float.
 * `JSON.parse` forgets how a number was written and loses 64-bit integers, so it reads only documents without such
 * numbers; all others, and all faults, are for the parser below.
 *
 * @throws the string `JSON parse error: DETAIL`
 */
export function parseJson(text: string): Value {
  const quick = quickParse(text);
  return quick === undefined ? new JsonParser(text, 0).document() : quick.value;
}

/** A float, an int beyond 15 digits, an escape that may leave half a character, a negative zero. */
const NEEDS_CARE = /\d[.eE]|\d{16}|\\u|-0/;

/** Undefined when the document needs the careful parser. */
function quickParse(text: string): { readonly value: Value } | undefined {
  if (NEEDS_CARE.test(text)) return undefined;
  try {
    return { value: quickValue(JSON.parse(text) as Json, 0) };
  } catch {
    return undefined;
  }
}

function quickValue(json: Json, depth: number): Value {
  if (json === null) return undefined;
  if (typeof json !== 'object') return json;
  if (depth >= MAX_DEPTH) throw new Error('too deep');
  if (Array.isArray(json)) return json.map((item: Json) => quickValue(item, depth + 1));
  return dictOf(Object.entries(json).map(([key, item]) => [key, quickValue(item as Json, depth + 1)]));
}

/**
 * The JSON value that begins at a position; text may follow it.
 * @returns the value and the position after it; undefined when none begins there
 */
export function parseJsonAt(text: string, position: number): { readonly value: Value; readonly end: number } | undefined {
  try {
    return new JsonParser(text, position).prefix();
  } catch {
    return undefined;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

class JsonParser {
  readonly #text: string;
  #at: number;
  #depth = 0;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  prefix(): { readonly value: Value; readonly end: number } {
    const value = this.#value();
    return { value, end: this.#at };
  }

  document(): Value {
    const value = this.#value();
    this.#blanks();
    if (this.#at < this.#text.length) this.#fail('trailing characters');
    return value;
  }

  #value(): Value {
    this.#blanks();
    const character = this.#text[this.#at];
    switch (character) {
      case '{':
        return this.#nested(() => this.#object());
      case '[':
        return this.#nested(() => this.#array());
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', undefined);
      case undefined:
        return this.#fail('EOF while parsing a value');
      default:
        return this.#number();
    }
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) this.#fail('recursion limit exceeded');
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): Dict {
    const entries: [string, Value][] = [];
    this.#at++;
    this.#blanks();
    if (this.#take('}')) return dictOf(entries);
    for (;;) {
      this.#blanks();
      if (this.#text[this.#at] !== '"') this.#fail(this.#at >= this.#text.length ? 'EOF while parsing an object' : 'key must be a string');
      const key = this.#string();
      this.#blanks();
      if (!this.#take(':')) this.#fail('expected `:`');
      entries.push([key, this.#value()]);
      this.#blanks();
      if (this.#take('}')) return dictOf(entries);
      if (!this.#take(',')) this.#fail(this.#at >= this.#text.length ? 'EOF while parsing an object' : 'expected `,` or `}`');
    }
  }

  #array(): Value[] {
    const items: Value[] = [];
    this.#at++;
    this.#blanks();
    if (this.#take(']')) return items;
    for (;;) {
      items.push(this.#value());
      this.#blanks();
      if (this.#take(']')) return items;
      if (!this.#take(',')) this.#fail(this.#at >= this.#text.length ? 'EOF while parsing a list' : 'expected `,` or `]`');
    }
  }

  #string(): string {
    const begin = this.#at++;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code)) this.#fail('EOF while parsing a string');
      if (code < 32) this.#fail('control character (\\u0000-\\u001F) found while parsing a string');
      this.#at++;
      if (code === 34) break;
      if (code === 92) this.#at++;
    }
    const raw = this.#text.slice(begin, this.#at);
    if (!raw.includes('\\')) return raw.slice(1, -1);
    try {
      return (JSON.parse(raw) as string).toWellFormed();
    } catch {
      return this.#fail('invalid escape');
    }
  }

  #number(): Value {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) return this.#fail('expected value');
    const [digits, fraction, exponent] = match;
    this.#at += digits.length;
    const number = Number(digits);
    if (fraction !== undefined || exponent !== undefined) return new Float(number);
    if (Number.isSafeInteger(number)) return number + 0;
    // Twenty characters hold every 64-bit integer; converting more digits than that would take quadratic time.
    const exact = digits.length <= 20 ? BigInt(digits) : undefined;
    return exact !== undefined && BigInt.asIntN(64, exact) === exact ? exact : new Float(number);
  }

  #word(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('expected ident');
    this.#at += word.length;
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #blanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at++;
    }
  }

  #fail(detail: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - before.lastIndexOf('\n');
    throw thrownText(`JSON parse error: ${detail} at line ${line} column ${column}`);
  }
}
