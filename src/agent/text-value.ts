import type { Json, JsonObject } from '../base/json.ts';

/**
 * Reader of the values in a text-grammar call (spec/agents.md 2.5): JSON relaxed to what models write: bare keys,
 * both quotes, raw templates, heredocs, trailing commas. Positions are offsets into the whole response.
 */
export class ValueFault extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export interface ReadObject {
  readonly value: JsonObject;
  /** Offset after the closing brace. */
  readonly end: number;
}

/** @throws ValueFault */
export function readObject(text: string, start: number): ReadObject {
  const reader = new ValueReader(text, start);
  const value = reader.object();
  return { value, end: reader.position };
}

export function skipSpace(text: string, from: number): number {
  let position = from;
  while (position < text.length && /\s/.test(text[position] ?? '')) position++;
  return position;
}

/** Deeper nesting is no call that a model means. */
const DEEPEST = 64;

class ValueReader {
  readonly #text: string;
  position: number;
  #depth = 0;

  constructor(text: string, start: number) {
    this.#text = text;
    this.position = start;
  }

  object(): JsonObject {
    this.#expect('{');
    const entries: [string, Json][] = [];
    this.#enter();
    while (!this.#accept('}')) {
      const key = this.#key();
      this.#expect(':');
      entries.push([key, this.#value()]);
      if (!this.#accept(',') && this.#peek() !== '}') this.#fail('expected `,` or `}`');
    }
    this.#depth--;
    return Object.fromEntries(entries);
  }

  #value(): Json {
    const char = this.#peek();
    if (char === '{') return this.object();
    if (char === '[') return this.#list();
    if (char === '"' || char === "'") return this.#quoted(char);
    if (char === '`') return this.#template();
    if (this.#text.startsWith('<<', this.position)) return this.#heredoc();
    return this.#word();
  }

  #list(): Json[] {
    this.#expect('[');
    const items: Json[] = [];
    this.#enter();
    while (!this.#accept(']')) {
      items.push(this.#value());
      if (!this.#accept(',') && this.#peek() !== ']') this.#fail('expected `,` or `]`');
    }
    this.#depth--;
    return items;
  }

  #key(): string {
    const char = this.#peek();
    if (char === '"' || char === "'") return this.#quoted(char);
    const bare = this.#match(/[A-Za-z_$][\w$-]*/y);
    return bare ?? this.#fail('expected a field name');
  }

  #quoted(quote: string): string {
    let result = '';
    for (this.position++; this.position < this.#text.length; this.position++) {
      const char = this.#text[this.position];
      if (char === quote) {
        this.position++;
        return result;
      }
      result += char === '\\' ? this.#escape() : char;
    }
    return this.#fail('unterminated string');
  }

  /** Leaves the position on the last character of the escape. */
  #escape(): string {
    const hex = this.#match(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\})/y);
    if (hex !== undefined) {
      this.position--;
      const code = Number.parseInt(hex.replace(/[\\xu{}]/g, ''), 16);
      return code > 0x10ffff ? this.#fail('not a code point') : hex.includes('{') ? String.fromCodePoint(code) : String.fromCharCode(code);
    }
    this.position++;
    const char = this.#text[this.position] ?? '';
    return ESCAPES[char] ?? char;
  }

  #template(): string {
    const end = this.#text.indexOf('`', this.position + 1);
    if (end < 0) this.#fail('unterminated template');
    const value = this.#text.slice(this.position + 1, end);
    this.position = end + 1;
    return value;
  }

  #heredoc(): string {
    const opening = this.#match(/<<-?['"]?([A-Za-z_]\w*)['"]?[^\S\n]*\n/y) ?? this.#fail('expected a heredoc tag after `<<`');
    const tag = opening.replace(/[^A-Za-z0-9_]/g, '');
    const closing = new RegExp(`^${tag}(?=[^\\S\\n]*(?:[,})\\]\\n]|$))`, 'gm');
    closing.lastIndex = this.position;
    const found = closing.exec(this.#text);
    if (found === null) return this.#fail(`unterminated heredoc ${tag}`);
    const value = this.#text.slice(this.position, Math.max(this.position, found.index - 1));
    this.position = closing.lastIndex;
    return value;
  }

  #word(): Json {
    const number = this.#match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return Number(number);
    const word = this.#match(/[A-Za-z_]\w*/y);
    switch (word) {
      case 'true':
        return true;
      case 'false':
        return false;
      case 'null':
      case 'nil':
        return null;
      default:
        return this.#fail(word === undefined ? 'expected a value' : `unexpected word \`${word}\`; strings need quotes`);
    }
  }

  #enter(): void {
    this.#depth++;
    if (this.#depth > DEEPEST) this.#fail('nested too deeply');
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.position += found.length;
    return found;
  }

  #peek(): string | undefined {
    this.position = skipSpace(this.#text, this.position);
    return this.#text[this.position];
  }

  #accept(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.position++;
    return true;
  }

  #expect(char: string): void {
    if (!this.#accept(char)) this.#fail(`expected \`${char}\``);
  }

  #fail(message: string): never {
    throw new ValueFault(message, this.position);
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', '0': '\0', '\n': '' };
