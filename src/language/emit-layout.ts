import type { Span } from '../diagnostics/span.ts';

/**
 * Line alignment. Emitted pieces carry marks (`line(7)`) instead of newlines; `layOut` turns them into newlines so
 * that what was written on line 7 of the script stands on line 7 of the JavaScript. A mark behind the current line is
 * dropped: code never moves up. V8's stacks then name script lines without a source map.
 *
 * Within a line, marks of another kind (`place(span)`) stand before what may fail. They leave nothing in the code: where
 * each of them came to stand goes into a table, which is read only when something has failed.
 */
const OPEN = '\u0001';
const CLOSE = '\u0002';
const AT = '@';

export function line(number: number): string {
  return `${OPEN}${number}${CLOSE}`;
}

/** Marks the call or `await` that comes next: an error that it raises is shown at `span`. */
export function place({ start, end }: Pick<Span, 'start' | 'end'>): string {
  return `${OPEN}${AT}${start.toString(36)} ${end.toString(36)}${CLOSE}`;
}

export interface LaidOut {
  readonly js: string;
  /**
   * Of each mark: line and column in the JavaScript, one-based, then start and end in the source; numbers to the base of
   * 36, with a blank between them and between marks. Text, because a run only carries it along.
   */
  readonly places: string;
}

export function layOut(code: string): LaidOut {
  let current = 1;
  let column = 1;
  let js = '';
  let places = '';
  let from = 0;
  for (;;) {
    const open = code.indexOf(OPEN, from);
    if (open === -1) return { js: js + code.slice(from), places };
    const close = code.indexOf(CLOSE, open);
    js += code.slice(from, open);
    column += open - from;
    if (code[open + 1] === AT) {
      places += `${current.toString(36)} ${column.toString(36)} ${code.slice(open + 2, close)} `;
    } else {
      const target = Number(code.slice(open + 1, close));
      if (target > current) {
        js += '\n'.repeat(target - current);
        current = target;
        column = 1;
      }
    }
    from = close + 1;
  }
}

/**
 * What a place in the JavaScript stands for. V8 names a call of a property by the name behind the point, everything else
 * by where it begins.
 *
 * @returns offsets into the source; undefined when nothing is marked there
 */
export function placeOf(places: string, line: number, column: number): { readonly start: number; readonly end: number } | undefined {
  const numbers = places.split(' ');
  let found: { start: number; end: number } | undefined;
  for (let at = 0; at + 3 < numbers.length; at += 4) {
    const [atLine, atColumn, start, end] = numbers.slice(at, at + 4).map((text) => Number.parseInt(text, 36)) as [
      number,
      number,
      number,
      number,
    ];
    if (atLine !== line || (atColumn !== column && atColumn + 'R.'.length !== column)) continue;
    found = { start, end };
    if (atColumn === column) break;
  }
  return found;
}
