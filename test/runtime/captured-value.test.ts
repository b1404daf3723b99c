import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCaptures, encodeCaptures, type FunctionResolver } from '../../src/runtime/captured-value.ts';
import type { Run } from '../../src/runtime/context.ts';
import { dictOf } from '../../src/runtime/dict.ts';
import { structuralKey } from '../../src/runtime/equality.ts';
import { Harness } from '../../src/runtime/harness.ts';
import {
  Duration,
  enumValue,
  Float,
  type FunctionMeta,
  Handle,
  type HarnFunction,
  Pair,
  RangeValue,
  SetValue,
  StructValue,
  type Value,
} from '../../src/runtime/value.ts';

class Lock extends Handle {
  readonly typeName = 'lock';
  display(): string {
    return '<lock>';
  }
}

function fn(meta: Partial<FunctionMeta>, captures?: Record<string, Value>): HarnFunction {
  const made = (() => undefined) as unknown as HarnFunction;
  return Object.assign(
    made,
    { meta: { kind: 'closure', name: '', params: [], isAsync: false, ...meta } as FunctionMeta },
    captures && { captures: () => captures },
  );
}

const HELPER = fn({ name: 'helper', origin: { module: '/m.harn', symbol: 'helper', offset: 3 } });
const LEN = fn({ kind: 'builtin', name: 'len' });
// Only the names of its parts are asked for, so that no run is needed.
const HARNESS = new Harness({} as Run);
const RESOLVER: FunctionResolver = {
  named: (module, symbol) => fn({ name: symbol, origin: { module, symbol, offset: 3 } }),
  closure: (module, offset, captures) => fn({ origin: { module, offset } }, captures),
  builtin: (name) => fn({ kind: 'builtin', name }),
  harness: (part) => (part === undefined ? HARNESS : HARNESS.property(part)),
};

function trip(value: Value): Value {
  const { captures, unserialisable } = encodeCaptures({ x: value });
  expect(unserialisable).toEqual([]);
  return decodeCaptures(JSON.parse(JSON.stringify(captures)), RESOLVER).x;
}

describe('T23: captured values come back equal or are refused by path', () => {
  const data = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Value>(
        undefined,
        true,
        false,
        2n ** 60n,
        new Duration(1500),
        new Float(2),
        new Float(-0),
        new Float(Number.NaN),
        new Float(Number.POSITIVE_INFINITY),
      ),
      fc.integer(),
      fc.string(),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => new Uint8Array(bytes)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', '$harn', '__proto__', '10'), tie('value')).map((entries) => dictOf(Object.entries(entries))),
      fc.tuple(tie('value'), tie('value')).map(([first, second]) => new Pair(first, second)),
      fc.array(fc.integer(), { maxLength: 3 }).map((items) => new SetValue(new Map(items.map((item) => [structuralKey(item), item])))),
      tie('value').map((field) => enumValue('Shape', 'Circle', [field])),
      tie('value').map((field) => new StructValue('Point', dictOf([['x', field]]))),
      fc.constant<Value>(new RangeValue(1, 5, true)),
    ),
  })).value;

  test('data of every kind', () => {
    fc.assert(
      fc.property(data, (value) => {
        expect(trip(value)).toEqual(value);
      }),
    );
  });

  test('functions by name, builtins by name, closures with their captures', () => {
    const closure = fn({ origin: { module: '/m.harn', offset: 40 } }, { base: 41, help: HELPER });
    const back = trip([HELPER, LEN, closure]) as readonly HarnFunction[];
    expect(back.map((one) => [one.meta.kind, one.meta.name, one.meta.origin])).toEqual([
      ['closure', 'helper', { module: '/m.harn', symbol: 'helper', offset: 3 }],
      ['builtin', 'len', undefined],
      ['closure', '', { module: '/m.harn', offset: 40 }],
    ]);
    expect(back[2]?.captures?.()).toMatchObject({ base: 41 });
  });

  test('the harness and its parts, because they hold nothing', () => {
    expect((trip(HARNESS) as Harness).isEqualTo(HARNESS)).toBe(true);
    expect((trip(HARNESS.property('fs')) as Handle).typeName).toBe('HarnessFs');
  });

  test('what cannot be saved is named by its path, the rest is kept', () => {
    const { captures, unserialisable } = encodeCaptures({ ok: 1, lock: new Lock(), deep: dictOf([['list', [1, new Lock()]]]) });
    expect(captures).toEqual({ ok: 1 });
    expect(unserialisable).toEqual(['lock', 'deep.list[1]']);
  });

  test('a value that stands in two places, and whole numbers beyond 2^53, come back equal in both', () => {
    const shared = dictOf([['n', [2n ** 53n + 1n, -(2n ** 70n)]]]);
    const back = trip(
      dictOf([
        ['a', shared],
        ['b', [shared, shared]],
      ]),
    );
    expect(back).toEqual(
      dictOf([
        ['a', shared],
        ['b', [shared, shared]],
      ]),
    );
  });

  test('a closure that holds itself is refused', () => {
    const captures: Record<string, Value> = {};
    const self = fn({ origin: { module: '/m.harn', offset: 1 } }, captures);
    captures.again = self;
    expect(encodeCaptures({ self }).unserialisable).toEqual(['self.again']);
  });
});
