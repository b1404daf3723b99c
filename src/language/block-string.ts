import type { StringPart } from './token.ts';

/**
 * Applies the layout rules of `"""` strings (spec/language.md 1.6): the newline behind the opening quotes goes, the
 * smallest indent over all lines that hold text goes from each line, lines of blanks become empty, one trailing
 * newline goes. The indent is that of the literal text alone, and trimming happens once over the whole string, so
 * that line breaks and blanks beside an interpolation stay.
 */
export function dedentBlock(parts: readonly StringPart[]): StringPart[] {
  const lines = splitLines(parts);
  if (lines.length > 1 && lines[0]?.length === 1 && lines[0][0] === '') lines.shift();
  let indent = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const text = line.filter((part) => typeof part === 'string').join('');
    if (text.trim() !== '') indent = Math.min(indent, leadingBlanks(text));
  }
  const result: StringPart[] = [];
  lines.forEach((line, index) => {
    if (index > 0) appendText(result, '\n');
    const isBlank = line.every((part) => typeof part === 'string' && part.trim() === '');
    if (isBlank) return;
    line.forEach((part, at) => {
      if (typeof part !== 'string') result.push(part);
      else appendText(result, at === 0 ? part.slice(Math.min(indent, leadingBlanks(part))) : part);
    });
  });
  const last = result.at(-1);
  if (typeof last === 'string' && last.endsWith('\n')) result[result.length - 1] = last.slice(0, -1);
  return result;
}

function splitLines(parts: readonly StringPart[]): StringPart[][] {
  let line: StringPart[] = [];
  const lines = [line];
  for (const part of parts) {
    if (typeof part !== 'string') {
      line.push(part);
      continue;
    }
    part.split(/\r?\n/).forEach((text, index) => {
      if (index > 0) {
        line = [];
        lines.push(line);
      }
      if (text !== '' || line.length === 0) line.push(text);
    });
  }
  return lines;
}

function leadingBlanks(text: string): number {
  let count = 0;
  while (text[count] === ' ' || text[count] === '\t') count++;
  return count;
}

function appendText(parts: StringPart[], text: string): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (typeof last === 'string') parts[parts.length - 1] = last + text;
  else parts.push(text);
}
