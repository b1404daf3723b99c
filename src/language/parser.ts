import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/span.ts';
import type { Program, Spelling } from './ast.ts';
import { type LexResult, lex } from './lexer.ts';
import { parseExpression } from './parse-expression.ts';
import { parseBlock, parseParams, parseStatement, parseStatements } from './parse-statement.ts';
import { type Grammar, type Report, TokenStream } from './token-stream.ts';

const GRAMMAR: Grammar = {
  expression: parseExpression,
  block: parseBlock,
  params: parseParams,
  statement: parseStatement,
  statements: parseStatements,
};

/** The tree holds what could be read; it may only be run when `diagnostics` is empty. */
export interface ParseResult {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
  readonly spelling: Spelling;
}

/** More mistakes than this in one file say nothing new. */
const MAX_DIAGNOSTICS = 20;

/**
 * Reads a file into its tree. Never throws, whatever the text: the lexer reports its first mistake and stops, the
 * parser drops a statement that does not read and goes on with the next.
 */
export function parse(source: SourceFile): ParseResult {
  return parseTokens(source, lex(source.text));
}

/** The same for a file that was taken apart before. */
export function parseTokens(source: SourceFile, { tokens, error }: LexResult): ParseResult {
  const diagnostics: Diagnostic[] = error === undefined ? [] : [{ ...error, path: source.path }];
  const report: Report = (diagnostic) => {
    if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ ...diagnostic, path: source.path });
    return diagnostics.length < MAX_DIAGNOSTICS ? 'go-on' : 'stop';
  };
  const stream = new TokenStream(tokens, GRAMMAR, { report });
  const items = error === undefined ? parseStatements(stream, 'top') : [];
  const span = { start: 0, end: source.text.length, line: 1, column: 1 };
  return { program: { kind: 'Program', items, span }, diagnostics, spelling: stream.spelling };
}
