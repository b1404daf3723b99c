import fc from 'fast-check';
import { expect, test } from 'vitest';
import { displayFloat } from '../../src/runtime/display.ts';
import { expressionTable } from './expression-table.ts';

test('the digits of a float read back as the same double', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = displayFloat(value);
      expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Object.is(Number(text), value)).toBe(true);
    }),
  );
});

expressionTable(
  'display of kinds',
  [
    ['nil', 'nil'],
    ['true', 'true'],
    ['5.0', '5.0'],
    ['-0.0', '-0.0'],
    ['0.1 + 0.2', '0.30000000000000004'],
    ['1000000000000000.0', '1000000000000000'],
    ['100000000000000.0', '100000000000000.0'],
    ['0.0000001', '0.0000001'],
    ['1.0 / 0', 'inf'],
    ['-1.0 / 0', '-inf'],
    ['0.0 / 0', 'NaN'],
    ['["a", ["b"]]', '[a, [b]]'],
    ['{b: 1, a: "x"}', '{a: x, b: 1}'],
    ['{}', '{}'],
    ['set(1, "a")', 'set(1, a)'],
    ['set()', 'set()'],
    ['bytes_from_string("hi")', 'b"6869"'],
    ['bytes_from_string("x" * 34)', `b"${'78'.repeat(32)}"...+2`],
    ['{ a, b -> a }', '<fn(a, b)>'],
    ['len', '<builtin len>'],
    ['[120s, 90s, 1d, 1500ms, 0s, duration_hours(-2)]', '[2m, 90s, 24h, 1500ms, 0ms, -2h]'],
    ['Color.Red', 'Color.Red'],
    ['Color.Mix(1, "b")', 'Color.Mix(1, b)'],
    ['Point {y: 1, x: 2}', 'Point {x: 2, y: 1}'],
    ['1 to 5', '1 to 5'],
    ['0 to 3 exclusive', '0 to 3 exclusive'],
    ['pair(1, "a")', '(1, a)'],
    ['iter([1])', '<iter>'],
    ['used()', '<iter (exhausted)>'],
    ['[Ok(42), Err("boom")]', '[Result.Ok(42), Result.Err(boom)]'],
    ['channel("name")', '<channel:name>'],
    ['atomic(3)', '<atomic:3>'],
    ['rng_seed(1)', '<rng>'],
  ],
  {
    setup:
      'enum Color { Red\n Mix(a, b) }\nstruct Point { x: int\n y: int }\nfn used() {\n let it = iter([1])\n it.to_list()\n return it\n}',
  },
);
