import { group, hardLine, ifBroken, indented, type Layout, line, mustBreak, softLine } from './layout.ts';
import type { Item, PrintSource, Row, Rows } from './print-source.ts';

/** A list between brackets. */
export interface ListParts {
  readonly open: string;
  readonly close: string;
  /** Offsets just inside the brackets. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Item[];
  /** Has blanks inside the brackets when it is flat. */
  readonly isSpaced?: boolean;
  /** Takes no comma behind the last item, as behind a rest pattern. */
  readonly hasOpenEnd?: boolean;
}

/** Flat when it fits and its author did not break the line behind the opening bracket, else an item a line. */
export function printList(source: PrintSource, parts: ListParts): Layout {
  return printListRows(source.rows(parts.items, parts.from, parts.to), parts, wasBroken(source, parts));
}

export function wasBroken(source: PrintSource, { from, to, items }: ListParts): boolean {
  return source.hasLineBreak(from, items[0]?.span.start ?? to);
}

export function printListRows({ afterOpen, rows }: Rows, parts: ListParts, isBroken: boolean): Layout {
  if (rows.length === 0) return [parts.open, printInside(afterOpen), parts.close];
  const edge = parts.isSpaced === true ? line : softLine;
  const lastItem = rows.findLastIndex(({ kind }) => kind === 'item');
  const body = rows.map((row, index): Layout => {
    const comma = row.kind === 'comment' ? '' : index < lastItem ? ',' : parts.hasOpenEnd === true ? '' : ifBroken(',');
    return [lineBefore(row, rows[index - 1], line), row.layout, comma, row.trailing];
  });
  return group([parts.open, afterOpen, indented([edge, body]), edge, parts.close], { isBroken });
}

/** Comments alone between brackets. */
function printInside(comments: readonly Layout[]): Layout {
  return comments.length === 0 ? '' : [comments, group(line, { isBroken: mustBreak(comments) })];
}

/** The line end between two rows, with the blank line that the author left there. */
function lineBefore(row: Row, before: Row | undefined, plain: Layout): Layout {
  if (before === undefined) return '';
  if (row.isAfterBlankLine) return [hardLine, hardLine];
  return before.kind === 'comment' || row.kind === 'comment' ? hardLine : plain;
}

/** Rows that each take a line, such as statements and match arms. */
export function printLines(rows: readonly Row[]): Layout {
  return rows.map((row, index) => [lineBefore(row, rows[index - 1], hardLine), row.layout, row.trailing]);
}

/**
 * Braces around lines, or around what stood on one line: that stays there when the group around it fits.
 *
 * @param open  the brace with what belongs to it, such as the parameters of a closure
 * @param flatSeparator stands between the rows on one line
 */
export function printBraces(open: Layout, { afterOpen, rows }: Rows, layout: 'flat' | 'lines', flatSeparator = ';'): Layout {
  if (rows.length === 0) return [open, afterOpen.length === 0 && open !== '{' ? ' ' : printInside(afterOpen), '}'];
  if (layout === 'lines') return [open, afterOpen, indented([hardLine, printLines(rows)]), hardLine, '}'];
  const flat = rows.map((row, index) => [index === 0 ? '' : [ifBroken('', flatSeparator), line], row.layout, row.trailing]);
  return [open, indented([line, flat]), line, '}'];
}
