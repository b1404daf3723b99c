import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dictEntries, dictGet, dictHas, dictKeys, dictOf, dictRemove, dictSet, dictSize, mergeDicts } from '../../src/runtime/dict.ts';
import { BigDict, DICT_LIMIT, Dict } from '../../src/runtime/value.ts';

/** Keys that plain objects treat in a special way, next to ordinary ones. */
const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', '1', '10', '9', '-1', 'ä', '😀', 'ﬀ'),
  fc.string({ unit: 'grapheme', maxLength: 3 }),
);
const entries = fc.array(fc.tuple(key, fc.integer()), { maxLength: 150 });

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function expectSame(dict: Dict, model: ReadonlyMap<string, unknown>): void {
  expect(dictKeys(dict)).toEqual([...model.keys()].sort(byBytes));
  expect(dictSize(dict)).toBe(model.size);
  for (const [name, value] of model) {
    expect(dictHas(dict, name)).toBe(true);
    expect(dictGet(dict, name)).toBe(value);
  }
}

describe('dicts', () => {
  test('hold what a Map would hold, in the order of bytes', () => {
    fc.assert(fc.property(entries, (pairs) => expectSame(dictOf(pairs), new Map(pairs))));
  });

  test('follow a Map through any sequence of changes, and leave the old dict alone', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ kind: fc.constant('remove' as const), key }),
    );
    fc.assert(
      fc.property(entries, fc.array(change, { maxLength: 30 }), (pairs, changes) => {
        let dict = dictOf(pairs);
        const model = new Map(pairs);
        for (const step of changes) {
          const before = dict;
          const shown = JSON.stringify(dictEntries(before));
          dict = step.kind === 'set' ? dictSet(dict, step.key, step.value) : dictRemove(dict, step.key);
          if (step.kind === 'set') model.set(step.key, step.value);
          else model.delete(step.key);
          expect(JSON.stringify(dictEntries(before))).toBe(shown);
        }
        expectSame(dict, model);
      }),
    );
  });

  test('merge as Maps do, the right side winning', () => {
    fc.assert(
      fc.property(entries, entries, (left, right) => expectSame(mergeDicts(dictOf(left), dictOf(right)), new Map([...left, ...right]))),
    );
  });

  test('do not see what objects inherit', () => {
    const dict = dictOf([]);
    for (const name of ['constructor', '__proto__', 'toString', 'valueOf']) {
      expect(dictHas(dict, name)).toBe(false);
      expect(dictGet(dict, name)).toBe(undefined);
    }
  });

  test(`change their form beyond ${DICT_LIMIT} keys and stay dicts`, () => {
    const pairs = Array.from({ length: DICT_LIMIT + 1 }, (_, index): [string, number] => [`k${index}`, index]);
    expect(dictOf(pairs.slice(1))).not.toBeInstanceOf(BigDict);
    expect(dictOf(pairs)).toBeInstanceOf(BigDict);
    expect(dictOf(pairs)).toBeInstanceOf(Dict);
    expect(dictSet(dictOf(pairs.slice(1)), 'k0', 0)).toBeInstanceOf(BigDict);
  });
});
