import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, divide, modulo, multiply, negate, normalInt, power, subtract } from '../../src/runtime/arithmetic.ts';
import { Float, type Value } from '../../src/runtime/value.ts';
import { runText } from './run-text.ts';

/** Ints behave as 64-bit two's complement, whatever they are stored in. BigInt says what that means. */
const EDGES = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)];
const int64 = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);

const wrap = (value: bigint): bigint => BigInt.asIntN(64, value);

type Operation = readonly [symbol: string, own: (a: Value, b: Value) => Value, model: (a: bigint, b: bigint) => bigint];

const OPERATIONS: readonly Operation[] = [
  ['+', add, (a, b) => wrap(a + b)],
  ['-', subtract, (a, b) => wrap(a - b)],
  ['*', multiply, (a, b) => wrap(a * b)],
  ['/', divide, (a, b) => wrap(a / b)],
  ['%', modulo, (a, b) => wrap(a % b)],
];

/** A number while it is safe, never -0, a bigint only beyond. */
function expectInt(actual: Value, expected: bigint): void {
  expect(Object.is(actual, normalInt(expected))).toBe(true);
}

describe('the operators on ints', () => {
  test.each(OPERATIONS)('`%s` wraps at 64 bits', (symbol, own, model) => {
    fc.assert(
      fc.property(int64, int64, (a, b) => {
        fc.pre(b !== 0n || (symbol !== '/' && symbol !== '%'));
        expectInt(own(normalInt(a), normalInt(b)), model(a, b));
      }),
    );
  });

  test('`**` wraps at 64 bits', () => {
    fc.assert(
      fc.property(int64, fc.bigInt({ min: 0n, max: 80n }), (a, b) => {
        expectInt(power(normalInt(a), normalInt(b)), wrap(a ** b));
      }),
    );
  });

  test('a minus sign wraps at 64 bits', () => {
    fc.assert(
      fc.property(int64, (a) => {
        expectInt(negate(normalInt(a)), wrap(-a));
      }),
    );
  });
});

test('compiled code computes as the operators do', async () => {
  const cases = fc.sample(fc.tuple(int64, int64, fc.constantFrom(...OPERATIONS)), { numRuns: 400, seed: 7 });
  const usable = cases.filter(([, b, [symbol]]) => b !== 0n || (symbol !== '/' && symbol !== '%'));
  const functions = OPERATIONS.map(([symbol], index) => `fn op_${index}(a, b) { return a ${symbol} b }`);
  const calls = usable.flatMap(([a, b, operation]) => {
    const [symbol] = operation;
    // Once with values that nothing is known of, once with variables whose kind the compiler infers.
    return [
      `println(op_${OPERATIONS.indexOf(operation)}(${literal(a)}, ${literal(b)}))`,
      `if true { let x = ${literal(a)}; let y = ${literal(b)}; println(x ${symbol} y) }`,
    ];
  });
  const { out } = await runText([...functions, ...calls].join('\n'));
  expect(out.trimEnd().split('\n')).toEqual(usable.flatMap(([a, b, [, , model]]) => [String(model(a, b)), String(model(a, b))]));
});

/** The smallest int has no literal of its own: 9223372036854775808 is a float. */
function literal(value: bigint): string {
  return value === -(2n ** 63n) ? '(-9223372036854775807 - 1)' : `(${value})`;
}

const MESSAGES: readonly (readonly [operation: (a: Value, b: Value) => Value, a: Value, b: Value, message: string])[] = [
  [add, 1, undefined, 'Type error: Cannot add int and nil'],
  [subtract, 'a', 1, 'Type error: Cannot subtract int from string'],
  [multiply, true, 1, 'Type error: Cannot multiply bool and int'],
  [divide, [], 1, 'Runtime error: Cannot divide list by int'],
  [modulo, 1, 'a', 'Runtime error: Cannot modulo int by string'],
  [power, 'a', 1, 'Type error: Cannot exponentiate string by int'],
  [divide, 1, 0, 'Runtime error: Division by zero'],
  [modulo, new Float(1), new Float(0), 'Runtime error: Division by zero'],
];

test.each(MESSAGES)('operands that do not fit are named: %#', (operation, a, b, message) => {
  expect(() => operation(a, b)).toThrow(message);
});
