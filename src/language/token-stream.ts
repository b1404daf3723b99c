import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Block, Expression, Parameter, Statement } from './ast.ts';
import { describeToken, KEYWORDS, type Token } from './token.ts';

/** Thrown and caught inside the parser only: unwinds to the nearest statement boundary. */
export class ParseError extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

/** Nesting beyond which source is refused: each level costs stack in every later pass too. */
const MAX_DEPTH = 250;

/** Operators that carry an expression over to the next line when they begin it (spec/language.md 1.3). */
const CONTINUES: ReadonlySet<string> = new Set([
  '|>',
  '||',
  '&&',
  '==',
  '!=',
  '<',
  '>',
  '<=',
  '>=',
  '??',
  '+',
  '*',
  '/',
  '%',
  '**',
  '.',
  '?.',
]);

/**
 * The readers that call each other in a circle: expressions hold blocks, blocks hold statements, statements hold
 * expressions. They reach each other through the stream, so that no file imports its own importer.
 */
export interface Grammar {
  expression(stream: TokenStream): Expression;
  /** `opened` when the brace and a closure head have been read already. */
  block(stream: TokenStream, state?: 'closed' | 'opened'): Block;
  /** Parameters up to `close`, which stays. */
  params(stream: TokenStream, close: string): Parameter[];
  statement(stream: TokenStream, level: 'top' | 'block'): Statement;
  statements(stream: TokenStream, level: 'top' | 'block'): Statement[];
}

/** A cursor over tokens with one mutable position, so that a speculative reading can be taken back. */
export class TokenStream {
  readonly grammar: Grammar;
  private readonly tokens: readonly Token[];
  private position = 0;
  private depth = 0;
  /** For each `{` token: does a `->` stand directly inside it? Found once, so that nested braces stay linear. */
  private readonly arrowInside: ReadonlySet<number>;

  constructor(tokens: readonly Token[], grammar: Grammar) {
    this.tokens = tokens;
    this.grammar = grammar;
    this.arrowInside = bracesWithArrow(tokens);
  }

  get current(): Token {
    return this.at(0);
  }

  /** End offset of the token before the current one. */
  get previousEnd(): number {
    return this.tokens[Math.max(0, this.position - 1)]?.end ?? 0;
  }

  at(distance: number): Token {
    return (this.tokens[this.position + distance] ?? this.tokens.at(-1)) as Token;
  }

  is(kind: string): boolean {
    return this.current.kind === kind;
  }

  isWord(word: string): boolean {
    return this.current.kind === 'identifier' && this.current.text === word;
  }

  advance(): Token {
    const token = this.current;
    if (this.position < this.tokens.length - 1) this.position++;
    return token;
  }

  take(kind: string): Token | undefined {
    return this.is(kind) ? this.advance() : undefined;
  }

  takeWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.advance();
    return true;
  }

  /** The next token must be `kind`, else the message names it. */
  expect(kind: string, name = kind): Token {
    return this.is(kind) ? this.advance() : this.fail(name);
  }

  expectName(description: string): Token {
    return this.is('identifier') ? this.advance() : this.fail(description);
  }

  /** A name in a place where keywords are names too: after a dot, a dict key, a shape field. */
  takeMemberName(): Token | undefined {
    return this.is('identifier') || KEYWORDS.has(this.current.kind) ? this.advance() : undefined;
  }

  skipNewlines(): void {
    while (this.is('newline')) this.advance();
  }

  /** The first token after any newlines. */
  get significant(): Token {
    let distance = 0;
    while (this.at(distance).kind === 'newline') distance++;
    return this.at(distance);
  }

  /** Is the next operator `kind`, on this line or at the start of a line that it continues? */
  isOperator(kind: string): boolean {
    if (this.is(kind)) return true;
    return this.is('newline') && CONTINUES.has(kind) && this.significant.kind === kind;
  }

  takeOperator(kind: string): boolean {
    if (!this.isOperator(kind)) return false;
    this.skipNewlines();
    this.advance();
    return true;
  }

  /** Kind of the next operator, looking over newlines only when it continues the line. */
  get operator(): string {
    if (!this.is('newline')) return this.current.kind;
    const kind = this.significant.kind;
    return CONTINUES.has(kind) ? kind : 'newline';
  }

  /** True when the brace at the current token opens a closure: `->` occurs directly inside it. */
  get bracesHoldArrow(): boolean {
    return this.arrowInside.has(this.position);
  }

  fail(expected: string, token: Token = this.current): never {
    const at = `${token.line}:${token.column}`;
    if (token.kind === 'eof') {
      throw new ParseError({
        severity: 'error',
        stage: 'parser',
        message: `Unexpected end of file, expected ${expected}`,
        span: token,
        label: 'file ends here',
      });
    }
    const got = KEYWORDS.has(token.kind) && /name|identifier/.test(expected) ? `'${token.kind}' (reserved keyword)` : describeToken(token);
    throw new ParseError({
      severity: 'error',
      stage: 'parser',
      message: `Expected ${expected}, got ${got} at ${at}`,
      span: token,
      label: 'unexpected token',
    });
  }

  /** A message that is not of the "Expected …" form. */
  failWith(message: string, span: Span, help?: string): never {
    throw new ParseError({ severity: 'error', stage: 'parser', message, span, help });
  }

  /** Tries a reading; on a ParseError goes back to where it began and answers undefined. */
  attempt<T>(read: () => T): T | undefined {
    const { position, depth } = this;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      this.position = position;
      this.depth = depth;
      return undefined;
    }
  }

  /** Guards one level of nesting. */
  nested<T>(read: () => T): T {
    if (this.depth >= MAX_DEPTH) {
      this.failWith(
        `Nesting is too deep: more than ${MAX_DEPTH} levels at ${this.current.line}:${this.current.column}`,
        this.current,
        'give the inner part a name of its own',
      );
    }
    this.depth++;
    const result = read();
    this.depth--;
    return result;
  }

  resetDepth(depth: number): void {
    this.depth = depth;
  }

  get nesting(): number {
    return this.depth;
  }

  spanFrom(start: Span): Span {
    return { start: start.start, end: Math.max(start.end, this.previousEnd), line: start.line, column: start.column };
  }
}

function bracesWithArrow(tokens: readonly Token[]): Set<number> {
  const found = new Set<number>();
  const open: number[] = [];
  tokens.forEach(({ kind }, index) => {
    if (kind === '{' || kind === '(' || kind === '[') {
      open.push(index);
    } else if (kind === '}' || kind === ')' || kind === ']') {
      open.pop();
    } else if (kind === '->') {
      const inner = open.at(-1);
      if (inner !== undefined && tokens[inner]?.kind === '{') found.add(inner);
    }
  });
  return found;
}
