/** Text by code point. A string without surrogates, by far the most common, needs no splitting. */
const SURROGATE = /[\ud800-\udfff]/;

/** True when every code point is one unit, so that positions are offsets. */
export function isPlain(text: string): boolean {
  return !SURROGATE.test(text);
}

export function codePointCount(text: string): number {
  return isPlain(text) ? text.length : [...text].length;
}

/** Code points `start` (inclusive) to `end` (exclusive), negatives from the end, clamped: `Array.prototype.slice` by code point. */
export function sliceText(text: string, start: number, end?: number): string {
  return isPlain(text) ? text.slice(start, end) : [...text].slice(start, end).join('');
}

/** The code point at a position; undefined outside. */
export function codePointAt(text: string, position: number): string | undefined {
  if (position < 0) return undefined;
  return isPlain(text) ? text[position] : [...text][position];
}

/** Offset in units as a position in code points. */
export function positionOf(text: string, offset: number): number {
  return offset <= 0 || isPlain(text) ? offset : [...text.slice(0, offset)].length;
}

/** Pieces between separators; an empty separator gives every code point, with an empty piece at both ends. */
export function splitText(text: string, separator: string): string[] {
  return separator === '' ? ['', ...text, ''] : text.split(separator);
}

/** Lines without their ends; a last empty line is none. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Pads to a width in code points with the first code point of `fill`. */
export function padText(text: string, width: number, fill: string, side: 'left' | 'right'): string {
  const missing = width - codePointCount(text);
  const [character] = fill;
  if (missing <= 0 || character === undefined) return text;
  const padding = character.repeat(missing);
  return side === 'left' ? padding + text : text + padding;
}
