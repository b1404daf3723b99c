import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import { dedentBlock } from './block-string.ts';
import { foreignCharacter } from './foreign-syntax.ts';
import { KEYWORDS, PUNCTUATORS, SINGLE_PUNCTUATORS, type StringPart, type Token } from './token.ts';

/**
 * The lexer (spec/language.md chapter 1): one pass over UTF-16 units by character code.
 *
 * It is written by hand because three rules do not fit a table: strings hold expressions whose end is found by
 * counting braces, block comments nest, and columns count code points while offsets count units. Newlines are
 * tokens; whether one ends a statement is the parser's business. Trivia (blanks, comments, joined lines) yields no
 * token, so spans of tokens and the gaps between them tile the input.
 *
 * It reports the first mistake only and stops there: after a stray quote everything that follows would be noise.
 */
export interface LexResult {
  /** Always ends with `eof`, unless there is an error: then there are none. */
  readonly tokens: readonly Token[];
  /** What the parser never sees and the formatter must keep, in order of their places. */
  readonly comments: readonly Comment[];
  readonly error: Diagnostic | undefined;
}

export interface Comment extends Span {
  readonly kind: 'line' | 'block';
}

/** Where a piece of source begins, for text inside `${…}`. */
export interface LexOrigin {
  readonly start: number;
  readonly line: number;
  readonly column: number;
}

const FILE_START: LexOrigin = { start: 0, line: 1, column: 1 };

export function lex(text: string, origin: LexOrigin = FILE_START): LexResult {
  const lexer = new Lexer(text, origin);
  try {
    return { tokens: lexer.run(), comments: lexer.comments, error: undefined };
  } catch (error) {
    if (!(error instanceof LexError)) throw error;
    return { tokens: [], comments: [], error: error.diagnostic };
  }
}

class LexError extends Error {
  readonly diagnostic: Diagnostic;
  constructor(message: string, span: Span, help?: string) {
    super(message);
    this.diagnostic = { severity: 'error', stage: 'lexer', message: `${message} at ${span.line}:${span.column}`, span, help };
  }
}

/** What to do about a string that its line does not close. */
const ONE_LINE = 'close it with `"` on this line; text of several lines stands between `"""`';
const OPEN_INTERPOLATION = 'close the `${` with `}`; a plain `$` is written `\\$`';

const NEWLINE = 10;
const QUOTE = 34;
const BACKSLASH = 92;
const DOLLAR = 36;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const BYTE_ORDER_MARK = 0xfeff;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of a duration literal such as `90s`. */
export function durationMs(text: string): number {
  const digits = /^\d+/.exec(text)?.[0] ?? '0';
  return Number(digits) * (UNITS[text.slice(digits.length)] ?? 1);
}

/**
 * Kinds of the tokens that are spelled as they are called. The parser compares kinds all the time, and V8 does that at
 * once only for strings that are the same object: so a token gets this one, not the piece of the text that spells it.
 */
const KIND_OF: ReadonlyMap<string, string> = new Map([...KEYWORDS, ...PUNCTUATORS].map((kind) => [kind, kind]));

/** The characters that can be the second of a punctuator. */
const SECOND_CHARACTERS = new Set(PUNCTUATORS.map((pair) => pair.charCodeAt(1)));

class Lexer {
  private readonly text: string;
  private readonly base: number;
  private position = 0;
  private line: number;
  /** Offset at which column 1 would stand, and the surrogate pairs passed since. */
  private lineStart: number;
  private pairs = 0;
  private readonly tokens: Token[] = [];
  readonly comments: Comment[] = [];
  /** What ASCII has of a name: the engine for regular expressions is fast from its first call on, a loop here is not. */
  private readonly asciiWord = /\w*/y;

  constructor(text: string, origin: LexOrigin) {
    this.text = text;
    this.base = origin.start;
    this.line = origin.line;
    this.lineStart = 1 - origin.column;
  }

  run(): Token[] {
    const { text } = this;
    if (this.base === 0) this.skipPreamble();
    while (this.position < text.length) this.next(text.charCodeAt(this.position));
    this.push('eof', this.mark(), '');
    return this.tokens;
  }

  /** A byte order mark and a `#!` line, which are no part of the program. */
  private skipPreamble(): void {
    if (this.text.charCodeAt(0) === BYTE_ORDER_MARK) this.lineStart = this.position = 1;
    if (this.text.startsWith('#!', this.position)) this.position = endOfLine(this.text, this.position);
  }

  private next(code: number): void {
    const { text } = this;
    if (code === 32) {
      this.position++;
    } else if ((code >= 97 && code <= 122) || isWordStart(code)) {
      this.word();
    } else if (code === NEWLINE) {
      const start = this.base + this.position;
      this.tokens.push({ kind: 'newline', text: '\n', start, end: start + 1, line: this.line, column: this.column() });
      this.passNewline();
    } else if (code === 9 || code === 13) {
      this.position++;
    } else if (isDigit(code)) {
      this.number();
    } else if (code === QUOTE) {
      this.string();
    } else if (code === 47 && text.charCodeAt(this.position + 1) === 47) {
      this.lineComment();
    } else if (code === 47 && text.charCodeAt(this.position + 1) === 42) {
      this.blockComment();
    } else if (code === BACKSLASH && text.charCodeAt(this.position + 1) === NEWLINE) {
      this.position++;
      this.passNewline();
    } else {
      this.punctuator(code);
    }
  }

  // ---- positions ----

  private mark(): Span {
    return { start: this.base + this.position, end: 0, line: this.line, column: this.column() };
  }

  private column(): number {
    return this.position - this.lineStart - this.pairs + 1;
  }

  private push(kind: string, { start, line, column }: Span, text: string): void {
    this.tokens.push({ kind, text, start, end: this.base + this.position, line, column });
  }

  private pushString(kind: string, { start, line, column }: Span, text: string, more: Pick<Token, 'parts' | 'isBlock'>): void {
    this.tokens.push({ kind, text, start, end: this.base + this.position, line, column, ...more });
  }

  private passNewline(): void {
    this.position++;
    this.line++;
    this.lineStart = this.position;
    this.pairs = 0;
  }

  /** Steps over one code point. */
  private step(): void {
    const code = this.text.charCodeAt(this.position);
    if (code === NEWLINE) return this.passNewline();
    this.position++;
    if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(this.text.charCodeAt(this.position))) {
      this.position++;
      this.pairs++;
    }
  }

  private fail(message: string, at: Span, help?: string): never {
    throw new LexError(message, { ...at, end: at.start + 1 }, help);
  }

  // ---- tokens ----

  private word(): void {
    const { text, position, line } = this;
    const column = this.column();
    this.passAsciiWord();
    while (text.charCodeAt(this.position) >= 128 && this.isLetterBeyondAscii()) {
      this.step();
      this.passAsciiWord();
    }
    const start = this.base + position;
    const end = this.base + this.position;
    const word = text.slice(position, this.position);
    if (word === 'r' && text.charCodeAt(this.position) === QUOTE) this.rawString({ start, end: 0, line, column });
    else this.tokens.push({ kind: KIND_OF.get(word) ?? 'identifier', text: word, start, end, line, column });
  }

  private passAsciiWord(): void {
    this.asciiWord.lastIndex = this.position;
    this.asciiWord.test(this.text);
    this.position = this.asciiWord.lastIndex;
  }

  private isLetterBeyondAscii(): boolean {
    return /[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}_]/u.test(String.fromCodePoint(this.text.codePointAt(this.position) ?? 0));
  }

  private number(): void {
    const from = this.mark();
    const begin = this.position;
    const digits = (): void => {
      while (isDigit(this.text.charCodeAt(this.position))) this.position++;
    };
    digits();
    if (this.text.charCodeAt(this.position) === 46 && isDigit(this.text.charCodeAt(this.position + 1))) {
      this.position++;
      digits();
      return this.push('float', from, this.text.slice(begin, this.position));
    }
    if (isWordStart(this.text.charCodeAt(this.position)) && this.takeUnit()) {
      return this.push('duration', from, this.text.slice(begin, this.position));
    }
    const text = this.text.slice(begin, this.position);
    // A literal above 2^63 - 1 silently becomes a float.
    this.push(text.length > 18 && BigInt(text) > 9_223_372_036_854_775_807n ? 'float' : 'int', from, text);
  }

  private takeUnit(): boolean {
    const unit = /^(?:ms|[smhdw])(?![\p{Alphabetic}\p{N}_])/u.exec(this.text.slice(this.position, this.position + 4));
    this.position += unit?.[0].length ?? 0;
    return unit !== null;
  }

  private rawString(from: Span): void {
    const begin = this.position + 1;
    const end = this.text.indexOf('"', begin);
    const line = this.text.indexOf('\n', begin);
    if (end === -1 || (line !== -1 && line < end)) this.fail('Unterminated string', from, ONE_LINE);
    this.position = begin;
    while (this.position < end) this.step();
    this.position++;
    this.push('raw', from, this.text.slice(begin, end));
  }

  private string(): void {
    if (this.text.startsWith('"""', this.position)) return this.blockString();
    const from = this.mark();
    this.position++;
    const parts: StringPart[] = [];
    let literal = '';
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (Number.isNaN(code) || code === NEWLINE) this.fail('Unterminated string', from, ONE_LINE);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        literal += this.escape(from);
      } else if (code === DOLLAR && this.text.charCodeAt(this.position + 1) === OPEN_BRACE) {
        if (literal !== '') parts.push(literal);
        literal = '';
        parts.push(this.interpolation(from, 'line'));
      } else {
        literal += this.plainRun();
      }
    }
    this.position++;
    if (parts.length === 0) return this.push('string', from, literal);
    if (literal !== '') parts.push(literal);
    this.pushString('interpolation', from, '', { parts });
  }

  /** At least one character, up to what means something in a string. */
  private plainRun(): string {
    const begin = this.position;
    let code: number;
    do {
      this.step();
      code = this.text.charCodeAt(this.position);
    } while (code !== QUOTE && code !== BACKSLASH && code !== DOLLAR && code !== NEWLINE && this.position < this.text.length);
    return this.text.slice(begin, this.position);
  }

  /** `\n \t \\ \" \$`; any other pair stays as it is. */
  private escape(from: Span): string {
    this.position++;
    const escaped = this.text[this.position];
    if (escaped === undefined || escaped === '\n') this.fail('Unterminated string', from, ONE_LINE);
    const begin = this.position;
    this.step();
    switch (escaped) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case '\\':
      case '"':
      case '$':
        return escaped;
      default:
        return `\\${this.text.slice(begin, this.position)}`;
    }
  }

  /** From `${` to the matching brace. Braces are counted as text, quotes are not special. */
  private interpolation(string: Span, extent: 'line' | 'block'): Exclude<StringPart, string> {
    this.position += 2;
    const at = this.mark();
    const begin = this.position;
    let depth = 1;
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (Number.isNaN(code) || (code === NEWLINE && extent === 'line')) this.fail('Unterminated string', string, OPEN_INTERPOLATION);
      if (code === OPEN_BRACE) depth++;
      if (code === CLOSE_BRACE && --depth === 0) break;
      this.step();
    }
    const text = this.text.slice(begin, this.position);
    if (text.trim() === '')
      this.fail("Unexpected character '}'", this.mark(), 'an expression stands between `${` and `}`; a plain `$` is written `\\$`');
    this.position++;
    return { text, start: at.start, line: at.line, column: at.column };
  }

  private blockString(): void {
    const from = this.mark();
    this.position += 3;
    const parts: StringPart[] = [];
    let begin = this.position;
    while (!this.text.startsWith('"""', this.position)) {
      if (this.position >= this.text.length) this.fail('Unterminated string', from, 'close it with `"""`');
      if (this.text.startsWith('${', this.position)) {
        parts.push(this.text.slice(begin, this.position));
        parts.push(this.interpolation(from, 'block'));
        begin = this.position;
      } else {
        this.step();
      }
    }
    parts.push(this.text.slice(begin, this.position));
    this.position += 3;
    const dedented = dedentBlock(parts);
    if (dedented.every((part) => typeof part === 'string')) this.pushString('string', from, dedented.join(''), { isBlock: true });
    else this.pushString('interpolation', from, '', { parts: dedented, isBlock: true });
  }

  private lineComment(): void {
    const from = this.mark();
    this.position = endOfLine(this.text, this.position);
    this.pushComment('line', from);
  }

  private pushComment(kind: Comment['kind'], from: Span): void {
    this.comments.push({ kind, start: from.start, end: this.base + this.position, line: from.line, column: from.column });
  }

  private blockComment(): void {
    const from = this.mark();
    let depth = 0;
    do {
      if (this.position >= this.text.length) this.fail('Unterminated block comment', from, 'close it with `*/`, once for each `/*` in it');
      if (this.text.startsWith('/*', this.position)) {
        depth++;
        this.position += 2;
      } else if (this.text.startsWith('*/', this.position)) {
        depth--;
        this.position += 2;
      } else {
        this.step();
      }
    } while (depth > 0);
    this.pushComment('block', from);
  }

  private punctuator(code: number): void {
    const { text, position } = this;
    if (code >= 128) {
      if (/[\p{Alphabetic}_]/u.test(String.fromCodePoint(text.codePointAt(position) ?? 0))) return this.word();
      return this.unexpected();
    }
    const pair = SECOND_CHARACTERS.has(text.charCodeAt(position + 1)) ? KIND_OF.get(text.slice(position, position + 2)) : undefined;
    const kind = pair ?? text.charAt(position);
    if (pair === undefined && !SINGLE_PUNCTUATORS.includes(kind)) return this.unexpected();
    const start = this.base + position;
    this.tokens.push({ kind, text: kind, start, end: start + kind.length, line: this.line, column: this.column() });
    this.position += kind.length;
  }

  private unexpected(): never {
    const character = String.fromCodePoint(this.text.codePointAt(this.position) ?? 0xfffd);
    this.fail(`Unexpected character '${character}'`, this.mark(), foreignCharacter(character));
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** ASCII only; other letters go through `punctuator`, which is the slow path. */
function isWordStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
