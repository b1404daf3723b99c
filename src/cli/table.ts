import { cellsOf } from '../diagnostics/cell-width.ts';

export interface Column {
  readonly title: string;
  /** Widest that it may get on a terminal, in cells; the last column takes what is left. */
  readonly limit?: number;
}

export interface Cell {
  readonly text: string;
  readonly paint?: ((text: string) => string) | undefined;
}

const GAP = '  ';

/**
 * Aligned columns, one line a row, under a line of titles. Control characters never reach the terminal: texts of models
 * stand in cells.
 *
 * @param width of the terminal, which no line is wider than; undefined writes every cell in full, for pipes
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, paintTitle = (text) => text }: { readonly width: number | undefined; readonly paintTitle?: (text: string) => string },
): string {
  const titles = columns.map(({ title }): Cell => ({ text: title, paint: paintTitle }));
  const lines = [titles, ...rows].map((row) => row.map(measured));
  const widths = columnWidths(columns, lines, width);
  return lines.map((row) => `${renderRow(row, widths)}\n`).join('');
}

const ASCII = /^[ -~]*$/;

interface MeasuredCell extends Cell {
  readonly cells: number;
}

function measured({ text, paint }: Cell): MeasuredCell {
  const shown = printable(text);
  return { text: shown, cells: cellsOf(shown), paint };
}

/** One line without characters that a terminal would act on. */
export function printable(text: string): string {
  if (ASCII.test(text) && !text.includes('  ')) return text.trim();
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trim();
}

/** At most `limit` cells; a cut text ends with an ellipsis. */
export function cutToCells(text: string, limit: number): string {
  if (cellsOf(text) <= limit) return text;
  let kept = '';
  let cells = 0;
  for (const character of text) {
    cells += cellsOf(character);
    if (cells > limit - 1) break;
    kept += character;
  }
  return limit < 1 ? '' : `${kept.trimEnd()}…`;
}

function columnWidths(columns: readonly Column[], lines: readonly (readonly MeasuredCell[])[], width: number | undefined): number[] {
  const natural = columns.map((_, index) => lines.reduce((widest, row) => Math.max(widest, row[index]?.cells ?? 0), 0));
  if (width === undefined) return natural;
  const limited = natural.map((cells, index) => Math.min(cells, columns[index]?.limit ?? cells));
  const last = limited.length - 1;
  const taken = limited.slice(0, last).reduce((sum, cells) => sum + cells + GAP.length, 0);
  return [...limited.slice(0, last), Math.max(0, Math.min(limited[last] ?? 0, width - taken))];
}

function renderRow(row: readonly MeasuredCell[], widths: readonly number[]): string {
  const shown = row.map(({ text, cells, paint }, index) => {
    const width = widths[index] ?? 0;
    const cut = cells <= width ? text : cutToCells(text, width);
    const padding = index === row.length - 1 ? '' : ' '.repeat(width - (cells <= width ? cells : cellsOf(cut)));
    return `${paint === undefined ? cut : paint(cut)}${padding}`;
  });
  return shown.join(GAP).trimEnd();
}
