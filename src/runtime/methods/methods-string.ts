import { display } from '../display.ts';
import { iterOf } from '../iterate.ts';
import { codePointAt, codePointCount, linesOf, padText, positionOf, sliceText, splitText } from '../text.ts';
import type { Value } from '../value.ts';
import type { MethodTable } from './methods.ts';

/** Methods of strings (spec/language.md 7.2). Positions and lengths count code points; arguments are displayed first. */
export const STRING_METHODS: MethodTable<string> = {
  count: (_c, _d, s) => codePointCount(s),
  len: (_c, _d, s) => codePointCount(s),
  empty: (_c, _d, s) => s === '',
  contains: (_c, _d, s, [part]) => s.includes(text(part)),
  starts_with: (_c, _d, s, [part]) => s.startsWith(text(part)),
  ends_with: (_c, _d, s, [part]) => s.endsWith(text(part)),
  replace: (_c, _d, s, args) => (args.length < 2 ? undefined : s.replaceAll(text(args[0]), () => text(args[1]))),
  split: (_c, _d, s, [separator]) => splitText(s, separator === undefined ? ',' : text(separator)),
  trim: (_c, _d, s) => s.trim(),
  trim_start: (_c, _d, s) => s.trimStart(),
  trim_end: (_c, _d, s) => s.trimEnd(),
  lowercase: (_c, _d, s) => s.toLowerCase(),
  lower: (_c, _d, s) => s.toLowerCase(),
  to_lower: (_c, _d, s) => s.toLowerCase(),
  uppercase: (_c, _d, s) => s.toUpperCase(),
  upper: (_c, _d, s) => s.toUpperCase(),
  to_upper: (_c, _d, s) => s.toUpperCase(),
  substring: (_c, _d, s, [start, end]) => substring(s, start, end),
  index_of: (_c, _d, s, [part]) => positionOf(s, s.indexOf(text(part))),
  last_index_of: (_c, _d, s, [part]) => positionOf(s, s.lastIndexOf(text(part))),
  chars: (_c, _d, s) => [...s],
  char_at: (_c, _d, s, [index]) => codePointAt(s, typeof index === 'number' ? index : 0),
  lines: (_c, _d, s) => linesOf(s),
  repeat: (_c, _d, s, [n]) => s.repeat(Math.max(0, integer(n, 1))),
  reverse: (_c, _d, s) => [...s].reverse().join(''),
  pad_left: (_c, _d, s, [width, fill]) => padText(s, integer(width, 0), fill === undefined ? ' ' : text(fill), 'left'),
  pad_right: (_c, _d, s, [width, fill]) => padText(s, integer(width, 0), fill === undefined ? ' ' : text(fill), 'right'),
  iter: (_c, _d, s) => iterOf(s),
};

/** A missing argument is the empty text. */
function text(value: Value): string {
  return typeof value === 'string' ? value : value === undefined ? '' : display(value);
}

function integer(value: Value, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

/** From a start to an end position, both clamped. */
function substring(s: string, start: Value, end: Value): string {
  const from = Math.max(0, integer(start, 0));
  const to = end === undefined ? undefined : Math.max(0, integer(end, 0));
  return to !== undefined && to <= from ? '' : sliceText(s, from, to);
}
