import fc from 'fast-check';
import { dictOf } from '../../src/runtime/dict.ts';
import { setOf } from '../../src/runtime/sets.ts';
import { Duration, enumValue, Float, Pair, RangeValue, StructValue, type Value } from '../../src/runtime/value.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 6 });

/** Ints of every size; beyond 2^53 they are bigint. */
export const arbitraryInt: fc.Arbitrary<number | bigint> = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger().map((n) => n + 0),
  fc.bigInt({ min: 9_007_199_254_740_992n, max: 9_223_372_036_854_775_807n }),
  fc.bigInt({ min: -9_223_372_036_854_775_808n, max: -9_007_199_254_740_992n }),
);

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(undefined),
  fc.boolean(),
  arbitraryInt,
  fc.double().map((n) => new Float(n)),
  text,
  fc.uint8Array({ maxLength: 4 }).map((bytes) => new Uint8Array(bytes)),
  fc.integer({ min: -5000, max: 5000 }).map((ms) => new Duration(ms)),
  fc
    .tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -5, max: 5 }), fc.boolean())
    .map(([a, b, open]) => new RangeValue(a, b, open)),
);

/** Values of every kind that holds others, a few levels deep. */
export const arbitraryValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map(dictOf),
    fc.array(tie('value'), { maxLength: 4 }).map(setOf),
    fc.tuple(tie('value'), tie('value')).map(([a, b]) => new Pair(a, b)),
    fc.array(tie('value'), { maxLength: 2 }).map((fields) => enumValue('E', 'V', fields)),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 2 }).map((fields) => new StructValue('S', dictOf(fields))),
  ),
})).value;

/** What JSON can hold, as values. */
export const arbitraryJsonValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(undefined),
    fc.boolean(),
    arbitraryInt,
    text,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 5 }).map(dictOf),
  ),
})).value;
