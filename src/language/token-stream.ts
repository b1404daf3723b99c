import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Block, Expression, Parameter, Statement } from './ast.ts';
import { type BracketMap, mapBrackets } from './bracket-map.ts';
import { foreignSyntax } from './foreign-syntax.ts';
import { describeToken, KEYWORDS, type Token } from './token.ts';

/** Thrown and caught inside the parser only: unwinds to the nearest statement boundary. */
export class ParseError extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

/** Nesting beyond which source is refused: each level costs stack here and in every later pass. */
const MAX_DEPTH = 250;

/**
 * Height beyond which a tree is refused. A chain such as `a + b + c` nests nothing in the source, but its tree leans
 * left and every later pass walks it recursively.
 */
const MAX_HEIGHT = 500;

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

/** Where mistakes of dropped statements go; answers `stop` when it wants no more. */
export type Report = (diagnostic: Diagnostic) => 'go-on' | 'stop';

export interface TokenStreamOptions {
  /** Without one the first mistake unwinds to the caller. */
  readonly report?: Report;
  /** Set for the text of one `${…}`: levels of nesting around it, and its end counts as the brace. */
  readonly fragmentDepth?: number;
}

/** A cursor over tokens with one mutable position, so that a speculative reading can be taken back. */
export class TokenStream {
  readonly grammar: Grammar;
  readonly spelling = { parenthesised: new Set<Expression>(), placeholders: new Map<Expression, Expression>() };
  private readonly tokens: readonly Token[];
  private readonly brackets: BracketMap;
  private readonly report: Report | undefined;
  private readonly isFragment: boolean;
  /** The token to read next; `position` is its index. */
  current: Token;
  private position = 0;
  /** End offset of the token before the current one. */
  private previousEnd = 0;
  /** The answer of `operator` and where it was asked: every level of an expression asks there. */
  private operatorKind = '';
  private operatorPosition = -1;
  private depth: number;
  private height = 0;
  /** Readings under way that may be taken back; nothing is reported meanwhile. */
  private attempts = 0;
  /** A mistake was reported and nothing is left to read. */
  private gaveUp = false;
  /** A `yield` was read in the activation that is being read. */
  yields = false;

  constructor(tokens: readonly Token[], grammar: Grammar, options: TokenStreamOptions = {}) {
    this.tokens = tokens;
    this.current = tokens[0] as Token;
    this.grammar = grammar;
    this.brackets = mapBrackets(tokens);
    this.report = options.report;
    this.isFragment = options.fragmentDepth !== undefined;
    this.depth = options.fragmentDepth ?? 0;
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
    const next = this.tokens[this.position + 1];
    if (next === undefined) return token;
    this.position++;
    this.previousEnd = token.end;
    this.current = next;
    return token;
  }

  private moveTo(position: number): void {
    this.position = position;
    this.current = this.tokens[position] as Token;
    this.previousEnd = this.tokens[Math.max(0, position - 1)]?.end ?? 0;
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
    return this.operator === kind;
  }

  takeOperator(kind: string): boolean {
    if (!this.isOperator(kind)) return false;
    this.skipNewlines();
    this.advance();
    return true;
  }

  /** Kind of the next operator, looking over newlines only when it continues the line. */
  get operator(): string {
    if (this.current.kind !== 'newline') return this.current.kind;
    if (this.operatorPosition === this.position) return this.operatorKind;
    const { kind } = this.significant;
    this.operatorPosition = this.position;
    this.operatorKind = CONTINUES.has(kind) ? kind : 'newline';
    return this.operatorKind;
  }

  /** True when the brace at the current token opens a closure: `->` occurs directly inside it. */
  get bracesHoldArrow(): boolean {
    return this.brackets.holdsArrow(this.position);
  }

  /** False when the `<` at the current token cannot open type arguments of a call. */
  get anglesMayHoldTypes(): boolean {
    return this.brackets.mayTakeTypes(this.position);
  }

  /** Levels of nesting around the current token. */
  get nesting(): number {
    return this.depth;
  }

  // ---- mistakes ----

  fail(expected: string, token: Token = this.current): never {
    const at = `${token.line}:${token.column}`;
    if (token.kind === 'eof' && !this.isFragment) {
      throw new ParseError({
        severity: 'error',
        stage: 'parser',
        message: `Unexpected end of file, expected ${expected}`,
        span: spanOf(token),
        label: 'file ends here',
        help: this.unclosedBefore(token),
      });
    }
    throw new ParseError({
      severity: 'error',
      stage: 'parser',
      message: `Expected ${expected}, got ${this.spell(token, expected)} at ${at}`,
      span: spanOf(token),
      label: 'unexpected token',
      help: this.attempts > 0 ? undefined : this.adviceOn(token, expected),
    });
  }

  private adviceOn(token: Token, expected: string): string | undefined {
    const index = this.tokens.indexOf(token);
    if (this.brackets.isStray(index)) return `this \`${token.kind}\` closes nothing`;
    return foreignSyntax(this.tokens, index, expected) ?? this.unclosedBefore(token);
  }

  /** A bracket before the token that nothing closes. */
  private unclosedBefore(token: Token): string | undefined {
    const { unclosed } = this.brackets;
    if (unclosed === undefined || unclosed.start >= token.start) return undefined;
    return `the \`${unclosed.kind}\` at ${unclosed.line}:${unclosed.column} is never closed`;
  }

  private spell(token: Token, expected: string): string {
    if (token.kind === 'eof') return '}';
    return KEYWORDS.has(token.kind) && /name|identifier/.test(expected) ? `'${token.kind}' (reserved keyword)` : describeToken(token);
  }

  /** A message that is not of the "Expected …" form. */
  failWith(message: string, span: Span, help?: string): never {
    throw new ParseError({ severity: 'error', stage: 'parser', message, span: spanOf(span), help });
  }

  /**
   * Reads one statement. When it does not read, its mistake is reported and the stream goes on behind it: at the next
   * line or `;` on which the brackets that it opened are closed again, or at the brace that closes the block around.
   */
  recovering(read: () => void): void {
    const { position, depth, height } = this;
    try {
      read();
    } catch (error) {
      if (!(error instanceof ParseError) || this.report === undefined || this.attempts > 0) throw error;
      this.depth = depth;
      this.height = height;
      // Blocks around a mistake that took the rest of the file would each miss their brace.
      if (this.gaveUp) return;
      if (this.report(error.diagnostic) === 'stop') this.moveTo(this.tokens.length - 1);
      else this.skipStatement(this.brackets.depth(position));
      this.gaveUp = this.is('eof');
    }
  }

  private skipStatement(depth: number): void {
    while (!this.is('eof')) {
      if (this.brackets.depth(this.position) <= depth) {
        if (this.is('newline') || this.is(';')) return void this.advance();
        if (this.is('}') && depth > 0) return;
      }
      this.advance();
    }
  }

  /** Tries a reading; on a ParseError goes back to where it began and answers undefined. */
  attempt<T>(read: () => T): T | undefined {
    const { position, depth, height } = this;
    this.attempts++;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      this.moveTo(position);
      this.depth = depth;
      this.height = height;
      return undefined;
    } finally {
      this.attempts--;
    }
  }

  // ---- bounds ----

  /** Guards one level of nesting. */
  nested<T>(read: () => T): T {
    const around = this.enter();
    const result = read();
    this.leave(around);
    return result;
  }

  /** Begins one level of nesting. @returns what `leave` has to be given */
  enter(): number {
    if (this.depth >= MAX_DEPTH) this.refuseDepth();
    const around = this.height;
    this.height = 0;
    this.depth++;
    return around;
  }

  leave(around: number): void {
    this.depth--;
    this.height = Math.max(around, this.height + 1);
  }

  private refuseDepth(): never {
    this.failWith(
      `Nesting is too deep: more than ${MAX_DEPTH} levels at ${this.current.line}:${this.current.column}`,
      this.current,
      'give the inner part a name of its own',
    );
  }

  /** Reads the body of an activation. @returns also whether a `yield` of its own stands in it */
  activation<T>(read: () => T): { readonly body: T; readonly yields: boolean } {
    const outer = this.yields;
    this.yields = false;
    const body = read();
    const { yields } = this;
    this.yields = outer;
    return { body, yields };
  }

  /** Counts one more operator of a chain, which puts one more node above all read so far at this level. */
  grow(): void {
    if (++this.height <= MAX_HEIGHT) return;
    const { line, column } = this.current;
    this.failWith(
      `Expression is too long: more than ${MAX_HEIGHT} operators in a row at ${line}:${column}`,
      this.current,
      'build it in steps, or use a list with join or reduce',
    );
  }

  spanFrom(start: Span): Span {
    const { previousEnd } = this;
    return { start: start.start, end: Math.max(previousEnd, start.end), line: start.line, column: start.column };
  }
}

/** The place alone, without the rest of the token. */
function spanOf({ start, end, line, column }: Span): Span {
  return { start, end, line, column };
}
