import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { renderLayout } from './layout.ts';
import { type Comment, lex } from './lexer.ts';
import { parseTokens } from './parser.ts';
import { printProgram } from './printer.ts';

export const FORMAT_WIDTH = 100;

export type FormatResult =
  | { readonly kind: 'formatted'; readonly text: string }
  /** Source that does not read is left alone. */
  | { readonly kind: 'rejected'; readonly diagnostics: readonly Diagnostic[] };

export interface FormatOptions {
  /** What diagnostics name. */
  readonly path?: string | undefined;
  /** Longest line where it can be broken, in characters; 100 by default. */
  readonly width?: number | undefined;
}

/**
 * Source in the one style of `harn fmt`: two blanks of indent, lines of at most 100 characters where they can be broken, one
 * statement a line. Means the same program, keeps every comment, and formatting what was formatted changes nothing.
 */
export function formatSource(text: string, { path = '<source>', width = FORMAT_WIDTH }: FormatOptions = {}): FormatResult {
  const unixText = text.replaceAll('\r\n', '\n');
  const lexed = lex(unixText);
  const { program, diagnostics, spelling } = parseTokens({ path, text: unixText }, lexed);
  if (diagnostics.length > 0) return { kind: 'rejected', diagnostics };
  const comments = [...shebang(unixText), ...lexed.comments];
  const layout = printProgram(program, { text: unixText, tokens: lexed.tokens, comments, spelling });
  return { kind: 'formatted', text: renderLayout(layout, width) };
}

/** The `#!` line is kept as the comment it is. */
function shebang(text: string): Comment[] {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  if (!text.startsWith('#!', start)) return [];
  const end = text.indexOf('\n');
  return [{ kind: 'line', start, end: end === -1 ? text.length : end, line: 1, column: 1 }];
}
