import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codePointAt, codePointCount, padText, positionOf, sliceText, splitText } from '../../src/runtime/text.ts';

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom('a', '😀', 'é') }));
const position = fc.integer({ min: 0, max: 20 });

describe('text by code point', () => {
  test('counts what Array.from counts', () => {
    fc.assert(fc.property(text, (s) => codePointCount(s) === Array.from(s).length));
  });

  test('slices as the array of code points does', () => {
    fc.assert(fc.property(text, position, position, (s, from, to) => sliceText(s, from, to) === Array.from(s).slice(from, to).join('')));
  });

  test('finds the code point at a position', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: -3, max: 20 }), (s, at) => codePointAt(s, at) === (at < 0 ? undefined : Array.from(s)[at])),
    );
  });

  test('gives positions of parts in code points', () => {
    fc.assert(
      fc.property(text, text, text, (before, part, after) => {
        const whole = before + part + after;
        const expected = Array.from(whole.slice(0, whole.indexOf(part))).length;
        expect(positionOf(whole, whole.indexOf(part))).toBe(expected);
      }),
    );
  });

  test('joining the pieces gives the text again', () => {
    fc.assert(
      fc.property(text, fc.string({ minLength: 1, maxLength: 2 }), (s, separator) => splitText(s, separator).join(separator) === s),
    );
    fc.assert(fc.property(text, (s) => splitText(s, '').join('') === s));
  });

  test('padding reaches the width and keeps the text', () => {
    fc.assert(
      fc.property(text, position, fc.constantFrom('left', 'right'), (s, width, side) => {
        const padded = padText(s, width, '😀x', side);
        expect(codePointCount(padded)).toBe(Math.max(width, codePointCount(s)));
        expect(side === 'left' ? padded.endsWith(s) : padded.startsWith(s)).toBe(true);
      }),
    );
  });
});
