import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/span.ts';
import type { Program } from './ast.ts';
import { lex } from './lexer.ts';
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
}

/** More mistakes than this in one file say nothing new. */
const MAX_DIAGNOSTICS = 20;

/**
 * Reads a file into its tree. Never throws, whatever the text: the lexer reports its first mistake and stops, the
 * parser drops a statement that does not read and goes on with the next.
 */
export function parse(source: SourceFile): ParseResult {
  const { tokens, error } = lex(source.text);
  const span = { start: 0, end: source.text.length, line: 1, column: 1 };
  if (error !== undefined) {
    return { program: { kind: 'Program', items: [], span }, diagnostics: [{ ...error, path: source.path }] };
  }
  const diagnostics: Diagnostic[] = [];
  const report: Report = (diagnostic) => {
    if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ ...diagnostic, path: source.path });
    return diagnostics.length < MAX_DIAGNOSTICS ? 'go-on' : 'stop';
  };
  const items = parseStatements(new TokenStream(tokens, GRAMMAR, { report }), 'top');
  return { program: { kind: 'Program', items, span }, diagnostics };
}
