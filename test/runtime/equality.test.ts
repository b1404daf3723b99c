import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareValues, equals, structuralKey } from '../../src/runtime/equality.ts';
import { setItems, setOf } from '../../src/runtime/sets.ts';
import { Float, SetValue, type Value } from '../../src/runtime/value.ts';
import { arbitraryInt, arbitraryValue } from './arbitrary-value.ts';
import { expressionTable } from './expression-table.ts';

/** NaN equals nothing, not even itself, wherever it hides. */
function holdsNaN(value: Value): boolean {
  return structuralKey(value).includes('fNaN');
}

describe('equality', () => {
  test('a value equals itself unless it holds NaN', () => {
    fc.assert(fc.property(arbitraryValue, (value) => equals(value, value) === !holdsNaN(value)));
  });

  test('it does not depend on the order of the operands', () => {
    fc.assert(fc.property(arbitraryValue, arbitraryValue, (a, b) => equals(a, b) === equals(b, a)));
  });

  test('equal structural keys mean equal values', () => {
    fc.assert(fc.property(arbitraryValue, arbitraryValue, (a, b) => structuralKey(a) !== structuralKey(b) || holdsNaN(a) || equals(a, b)));
  });

  test('ints are equal exactly when their structural keys are', () => {
    fc.assert(fc.property(arbitraryInt, arbitraryInt, (a, b) => equals(a, b) === (structuralKey(a) === structuralKey(b))));
  });

  test('a set holds each key once, in the order of first occurrence', () => {
    fc.assert(
      fc.property(fc.array(arbitraryValue), (values) => {
        const keys = setItems(setOf(values)).map(structuralKey);
        expect(keys).toEqual([...new Set(values.map(structuralKey))]);
      }),
    );
  });

  test('sets are equal whatever the order of their elements', () => {
    fc.assert(
      fc.property(fc.array(arbitraryInt), (values) => {
        const [set, reversed] = [setOf(values), setOf(values.toReversed())];
        expect(equals(set, reversed)).toBe(true);
        expect(structuralKey(set)).toBe(structuralKey(reversed));
      }),
    );
  });
});

describe('order', () => {
  test('it turns around with its operands', () => {
    fc.assert(
      fc.property(
        arbitraryValue,
        arbitraryValue,
        (a, b) => Math.sign(compareValues(a, b)) === -Math.sign(compareValues(b, a)) + 0 || compareValues(a, b) === 0,
      ),
    );
  });

  test('of ints it is exact beyond 2^53', () => {
    fc.assert(
      fc.property(
        arbitraryInt,
        arbitraryInt,
        (a, b) => Math.sign(compareValues(a, b)) === (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0),
      ),
    );
  });

  test('of strings it is that of their UTF-8 bytes', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
    fc.assert(
      fc.property(text, text, (a, b) => Math.sign(compareValues(a, b)) === Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))),
    );
  });

  test('NaN and values of different kinds count as equal', () => {
    for (const [a, b] of [
      [new Float(Number.NaN), 1],
      [1, 'a'],
      [undefined, 1],
      [[1], [2]],
      [new SetValue(new Map()), 1],
    ] as const) {
      expect(compareValues(a, b)).toBe(0);
    }
  });
});

expressionTable(
  'equality of kinds',
  [
    ['u(1) == u(1.0)', 'true'],
    ['u(1) == u("1")', 'false'],
    ['u(nil) == u(false)', 'false'],
    ['u([1, [2]]) == u([1.0, [2]])', 'true'],
    ['u({a: 1, b: 2}) == u({b: 2, a: 1})', 'true'],
    ['u({a: 1}) == u({a: 1, b: nil})', 'false'],
    ['u(set(1, 2)) == u(set(2, 1))', 'true'],
    ['u(Ok(1)) == u(Ok(1))', 'true'],
    ['u(Ok(1)) == u(Err(1))', 'false'],
    ['u(1 to 3) == u(1 to 4 exclusive)', 'false'],
    ['u(1 to 3) == u(1 to 3)', 'true'],
    ['u(pair(1, 2)) == u(pair(1, 2))', 'true'],
    ['u(len) == u(len)', 'true'],
    ['u(len) == u(trim)', 'false'],
    ['u(f) == u(f)', 'false'],
    ['u(120s) == u(2m)', 'true'],
    ['u(bytes_from_string("a")) == u(bytes_from_string("a"))', 'true'],
    ['u(atomic(1)) == u(atomic(1))', 'true'],
    ['u(task) == u(task)', 'true'],
    ['u(task) == u(spawn { 1 })', 'false'],
    ['u(channel("x")) == u(channel("x"))', 'false'],
    ['u(9223372036854775807) == u(9223372036854775806)', 'false'],
    ['u(1) < u("a")', 'false'],
    ['u(1) >= u("a")', 'true'],
    ['u(pair(1, 2)) < u(pair(1, 3))', 'true'],
    ['u([1]) < u([2])', 'false'],
    ['u("ﬀ") < u("😀")', 'true'],
  ],
  { setup: 'fn u(x) { return x }\nlet f = { x -> x }\nlet task = spawn { 1 }' },
);

expressionTable(
  'truth of kinds',
  [
    ['truth([false, nil, 0, 0.0, -0.0, "", [], {}, set(), 0s, bytes_from_string("")])', '[]'],
    ['truth([true, 1, 0.5, "0", [nil], {a: nil}, set(nil), 1ms, 5 to 1, Err("no"), { -> nil }]).count()', '11'],
  ],
  { setup: 'fn truth(xs) { return xs.filter({ x -> if x { true } else { false } }) }' },
);
