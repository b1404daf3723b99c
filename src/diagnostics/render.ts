import { cellsOf } from './cell-width.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Span } from './span.ts';

/*
 * The one renderer of messages with a place (spec/language.md 11.5):
 *
 *   error: Runtime error: Undefined variable: totl (line 2)
 *     --> calc.harn:2:10
 *      |
 *    2 |   return totl + 1
 *      |          ^^^^
 *     = note: called from pipeline at calc.harn:6
 *
 * The gutter is as wide as the line number and one blank more. Columns count code points, terminals count cells: what
 * stands before the carets is repeated as blanks of the same width (a tab as a tab), and the carets are as wide as
 * the text above them, so that wide characters and combining marks keep their places.
 */

/** How to paint a piece of the output; plain text when colours are off. */
export interface Palette {
  error(text: string): string;
  warning(text: string): string;
  gutter(text: string): string;
  bold(text: string): string;
}

export const PLAIN: Palette = { error: same, warning: same, gutter: same, bold: same };

function same(text: string): string {
  return text;
}

/** A place in a file to be shown with its line. */
export interface Excerpt {
  readonly path: string;
  /** Text of the whole file; without it only the place is named. */
  readonly source?: string | undefined;
  readonly line: number;
  /** One-based, in code points; without one the carets cover the trimmed line. */
  readonly column?: number | undefined;
  /** Code points under the carets; 1 by default. */
  readonly length?: number | undefined;
  readonly label?: string | undefined;
}

export interface Message {
  readonly severity: 'error' | 'warning';
  readonly code?: string | undefined;
  readonly text: string;
  /** The file that it is about, where there is no place in it to show. */
  readonly path?: string | undefined;
  readonly excerpt?: Excerpt | undefined;
  readonly help?: string | undefined;
  readonly notes?: readonly string[] | undefined;
  /** Notes on the callers of a run-time error, inner to outer; they stand one column further left. */
  readonly trace?: readonly string[] | undefined;
}

/** @returns text that ends with a newline */
export function renderMessage(message: Message, palette: Palette = PLAIN): string {
  const paint = message.severity === 'error' ? palette.error : palette.warning;
  const { excerpt } = message;
  const margin = ' '.repeat(String(excerpt?.line ?? 1).length + 1);
  const equals = palette.gutter('=');
  const lines = [`${paint(`${message.severity}${message.code === undefined ? '' : `[${message.code}]`}`)}: ${palette.bold(message.text)}`];
  if (excerpt !== undefined) lines.push(...renderExcerpt(excerpt, margin, paint, palette));
  else if (message.path !== undefined) lines.push(`${margin}${palette.gutter('-->')} ${message.path}`);
  if (message.help !== undefined) lines.push(`${margin} ${equals} help: ${message.help}`);
  for (const note of message.notes ?? []) lines.push(`${margin} ${equals} note: ${note}`);
  for (const caller of message.trace ?? []) lines.push(`${margin}${equals} note: ${caller}`);
  return `${lines.join('\n')}\n`;
}

/** What an uncaught run-time error shows. `message` is the whole text behind `error: `, with its ` (line N)`. */
export interface RuntimeErrorText {
  readonly message: string;
  /** Place of the innermost frame; undefined when no script was involved. */
  readonly at?: Excerpt | undefined;
  /** What to do next. */
  readonly help?: string | undefined;
  /** `called from NAME at FILE:LINE`, inner to outer. */
  readonly notes?: readonly string[] | undefined;
}

export function renderRuntimeError(error: RuntimeErrorText, palette: Palette = PLAIN): string {
  return renderMessage({ severity: 'error', text: error.message, excerpt: error.at, help: error.help, trace: error.notes }, palette);
}

/** A diagnostic with the text of its file, as the command line prints it. */
export function renderDiagnostic(diagnostic: Diagnostic, source: string | undefined, palette: Palette = PLAIN): string {
  const { span, path, severity, code, help, notes, label } = diagnostic;
  const covered = span === undefined ? undefined : source?.slice(span.start, span.end).split('\n')[0];
  const excerpt =
    span === undefined || path === undefined
      ? undefined
      : { path, source, line: span.line, column: span.column, length: [...(covered ?? '')].length, label };
  return renderMessage({ severity, code, text: diagnostic.message, path, excerpt, help, notes }, palette);
}

/**
 * A diagnostic for programs (`--json`): the same facts, with the place in plain numbers. The end is the place of the
 * character behind the last one; it is null when the text of the file is not given.
 */
export function diagnosticToJson(diagnostic: Diagnostic, source: string | undefined) {
  const { severity, stage, code, message, path, span, help, notes } = diagnostic;
  const end = span === undefined || source === undefined ? undefined : endOf(span, source);
  return {
    severity,
    stage,
    code: code ?? null,
    message,
    path: path ?? null,
    line: span?.line ?? null,
    column: span?.column ?? null,
    end_line: end?.line ?? null,
    end_column: end?.column ?? null,
    help: help ?? null,
    notes: notes ?? [],
  };
}

function endOf({ start, end, line, column }: Span, source: string): { readonly line: number; readonly column: number } {
  const lines = source.slice(start, end).split('\n');
  const last = [...(lines.at(-1) ?? '')].length;
  return { line: line + lines.length - 1, column: lines.length === 1 ? column + last : last + 1 };
}

function renderExcerpt(excerpt: Excerpt, margin: string, paint: (text: string) => string, palette: Palette): string[] {
  const { path, line, column, label } = excerpt;
  const lines = [`${margin}${palette.gutter('-->')} ${path}:${line}${column === undefined ? '' : `:${column}`}`];
  const text = excerpt.source?.split('\n')[line - 1]?.replace(/\r$/, '');
  if (text === undefined) return lines;
  const bar = palette.gutter('|');
  const { before, covered } = splitAtCarets(text, excerpt);
  const carets = `${'^'.repeat(Math.max(1, cellsOf(covered)))}${label === undefined ? '' : ` ${label}`}`;
  lines.push(
    `${margin} ${bar}`,
    `${palette.gutter(String(line).padStart(margin.length))} ${bar} ${text}`.trimEnd(),
    `${margin} ${bar} ${blanksFor(before)}${paint(carets)}`,
  );
  return lines;
}

/** The token under the carets with what stands before it, or the line without its indent. */
function splitAtCarets(text: string, { column, length }: Excerpt): { readonly before: string; readonly covered: string } {
  if (column === undefined) return { before: text.slice(0, text.length - text.trimStart().length), covered: text.trim() };
  const characters = [...text];
  const start = column - 1;
  return { before: characters.slice(0, start).join(''), covered: characters.slice(start, start + Math.max(1, length ?? 1)).join('') };
}

function blanksFor(text: string): string {
  return [...text].map((character) => (character === '\t' ? '\t' : ' '.repeat(cellsOf(character)))).join('');
}
