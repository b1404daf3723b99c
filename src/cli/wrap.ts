import { stripVTControlCharacters } from 'node:util';
import { cellsOf } from '../diagnostics/cell-width.ts';

export const TEXT_WIDTH = 80;

/**
 * Words on lines of at most 80 cells. A word that is longer, such as a path, has a line of its own.
 *
 * @param indents before the first line and before the others
 */
export function wrapText(text: string, { first, rest }: { readonly first: string; readonly rest: string }): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && widthOf(line) + 1 + widthOf(word) > TEXT_WIDTH) {
      lines.push(line);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].map((done) => `${done}\n`).join('');
}

function widthOf(text: string): number {
  return cellsOf(stripVTControlCharacters(text));
}
