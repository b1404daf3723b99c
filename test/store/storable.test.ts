import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH, storableSizeOf } from '../../src/store/storable.ts';

function nested(levels: number): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

/** JSON has one zero. */
function withOneZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(withOneZero);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withOneZero(part)]));
}

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

describe('T23 what a snapshot cannot hold is refused by its path', () => {
  test.each([
    ['NaN', { a: [1, { b: Number.NaN }] }, 'a.1.b is NaN, which JSON cannot hold'],
    ['an infinity', { a: Number.NEGATIVE_INFINITY }, 'a is -Infinity, which JSON cannot hold'],
    ['a closure', { a: { run: () => 1 } }, 'a.run is of type function, which JSON cannot hold'],
    ['a big integer', { a: [2n] }, 'a.0 is of type bigint, which JSON cannot hold'],
    ['a hole in a list', { a: [undefined] }, 'a.0 is of type undefined, which JSON cannot hold'],
    ['a date', { a: { at: new Date(0) } }, 'a.at is a Date, which JSON cannot hold'],
    ['a map', { a: new Map() }, 'a is a Map, which JSON cannot hold'],
    ['a cycle', { a: cycle }, 'a.self.self.self.self.self.self.self.… is nested deeper than 1000 levels, or in itself'],
    ['what is too deep', { a: nested(MAX_DEPTH + 1) }, 'a.0.0.0.0.0.0.0.… is nested deeper than 1000 levels, or in itself'],
  ])('%s', (_what, document, message) => {
    expect(() => storableSizeOf(document as object)).toThrow(message);
  });

  test('a value that stands in two places is none of them', () => {
    const shared = { n: 1 };
    expect(() => storableSizeOf({ a: shared, b: [shared], c: undefined, d: nested(MAX_DEPTH - 1) })).not.toThrow();
  });

  test('T27: the least size is never more than the text has bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(storableSizeOf(value)).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(value)));
        expect(storableSizeOf({ value, gone: undefined })).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify({ value })));
      }),
    );
    expect(storableSizeOf(['é', { key: 'x' }])).toBeGreaterThan(12);
  });

  test('whatever is let through comes back equal', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }), (value) => {
        const document = { value };
        try {
          storableSizeOf(document);
        } catch {
          return;
        }
        expect(JSON.parse(JSON.stringify(document))).toEqual(withOneZero(document));
      }),
    );
  });
});
