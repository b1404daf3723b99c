import type { Diagnostic } from './diagnostic.ts';

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
  /** Text of the whole file. */
  readonly source: string;
  readonly line: number;
  /** One-based, in code points; without one the carets cover the trimmed line. */
  readonly column?: number | undefined;
  /** Code points under the carets. */
  readonly length?: number | undefined;
  readonly label?: string | undefined;
}

export interface Message {
  readonly severity: 'error' | 'warning';
  readonly code?: string | undefined;
  readonly text: string;
  readonly excerpt?: Excerpt | undefined;
  readonly help?: string | undefined;
  readonly notes?: readonly string[] | undefined;
}

/**
 * The one renderer of messages with a place (spec/language.md 11.5). The gutter is as wide as the line number and one
 * blank more; carets stand under code points, so that tabs and wide characters keep their places.
 *
 * @returns text that ends with a newline
 */
export function renderMessage(message: Message, palette: Palette = PLAIN): string {
  const paint = message.severity === 'error' ? palette.error : palette.warning;
  const head = `${paint(`${message.severity}${message.code === undefined ? '' : `[${message.code}]`}`)}: ${palette.bold(message.text)}`;
  const lines = [head];
  const width = String(message.excerpt?.line ?? 1).length + 1;
  const { excerpt } = message;
  if (excerpt !== undefined) lines.push(...renderExcerpt(excerpt, width, paint, palette));
  const margin = ' '.repeat(width);
  if (message.help !== undefined) lines.push(`${margin} ${palette.gutter('=')} help: ${message.help}`);
  for (const note of message.notes ?? []) lines.push(`${margin} ${palette.gutter('=')} note: ${note}`);
  return `${lines.join('\n')}\n`;
}

function renderExcerpt(excerpt: Excerpt, width: number, paint: (text: string) => string, palette: Palette): string[] {
  const text = excerpt.source.split('\n')[excerpt.line - 1]?.replace(/\r$/, '');
  const margin = ' '.repeat(width);
  const place = excerpt.column === undefined ? `${excerpt.path}:${excerpt.line}` : `${excerpt.path}:${excerpt.line}:${excerpt.column}`;
  const lines = [`${margin}${palette.gutter('-->')} ${place}`];
  if (text === undefined) return lines;
  const bar = palette.gutter('|');
  const { start, length } = underlined(text, excerpt);
  const lead = [...text].slice(0, start).map((character) => (character === '\t' ? '\t' : blanksFor(character)));
  const label = excerpt.label === undefined ? '' : ` ${excerpt.label}`;
  lines.push(
    `${margin} ${bar}`,
    `${palette.gutter(String(excerpt.line).padStart(width))} ${bar} ${text}`,
    `${margin} ${bar} ${lead.join('')}${paint('^'.repeat(length) + label)}`,
  );
  return lines;
}

/** Where the carets go: under the token, or under the line without its indent. */
function underlined(text: string, excerpt: Excerpt): { readonly start: number; readonly length: number } {
  if (excerpt.column !== undefined) {
    const rest = [...text].length - (excerpt.column - 1);
    return { start: excerpt.column - 1, length: Math.max(1, Math.min(excerpt.length ?? 1, Math.max(rest, 1))) };
  }
  const trimmed = text.trim();
  return { start: [...text].length - [...text.trimStart()].length, length: Math.max(1, [...trimmed].length) };
}

/** Characters that take two columns in a terminal. */
function blanksFor(character: string): string {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    character,
  )
    ? '  '
    : ' ';
}

/** A diagnostic with the text of its file, as the command line prints it. */
export function renderDiagnostic(diagnostic: Diagnostic, source: string | undefined, palette: Palette = PLAIN): string {
  const { span, path } = diagnostic;
  const length = span === undefined || source === undefined ? 1 : [...(source.slice(span.start, span.end).split('\n')[0] ?? '')].length;
  return renderMessage(
    {
      severity: diagnostic.severity,
      code: diagnostic.code,
      text: diagnostic.message,
      excerpt:
        span === undefined || source === undefined || path === undefined
          ? undefined
          : { path, source, line: span.line, column: span.column, length, label: diagnostic.label },
      help: diagnostic.help,
      notes: diagnostic.notes,
    },
    palette,
  );
}
