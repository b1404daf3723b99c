import { toDouble } from '../arithmetic.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictKeys, dictOf, dictValues } from '../dict.ts';
import { structuralKey } from '../equality.ts';
import { runtimeError, thrownText, typeError } from '../errors.ts';
import { iterOf } from '../iterate.ts';
import { andThen, type MaybeAsync } from '../maybe-async.ts';
import { entryDicts } from '../methods/methods-dict.ts';
import { chunkList, flatMapList, groupList, keyed, partitionList, windowList } from '../methods/methods-list.ts';
import { setItems, setOf } from '../sets.ts';
import { Dict, Float, type HarnFunction, isCallable, Pair, RangeValue, SetValue, typeOf, type Value } from '../value.ts';

type List = readonly Value[];

function listOf(name: string, value: Value): List {
  if (Array.isArray(value)) return value;
  throw runtimeError(`${name}: first argument must be a list, got ${typeOf(value)}`);
}

function callbackOf(name: string, args: readonly Value[]): HarnFunction {
  const fn = args[1];
  if (fn === undefined) throw runtimeError(`${name}: callback is required`);
  if (!isCallable(fn)) throw runtimeError(`${name}: callback must be callable, got ${typeOf(fn)}`);
  return fn;
}

/** A builtin over a list and a callback. */
function withCallback(
  name: string,
  signature: string,
  doc: string,
  run: (context: Context, depth: number, xs: List, fn: HarnFunction) => MaybeAsync<Value>,
): Builtin {
  return { signature, doc, colour: 'callback', call: (c, d, ...args) => run(c, d, listOf(name, args[0]), callbackOf(name, args)) };
}

function setArgument(name: string, value: Value): SetValue {
  if (value instanceof SetValue) return value;
  throw thrownText(`${name}: first argument must be a set`);
}

/** A builtin over two sets; a second argument that is none counts as empty. */
function ofSets(
  name: string,
  result: string,
  doc: string,
  run: (a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>) => Value,
): Builtin {
  return {
    signature: `(a: set | any, b: set | any) -> ${result}`,
    doc,
    call: (_c, _d, a, b) => run(setArgument(name, a).items, b instanceof SetValue ? b.items : setOf([]).items),
  };
}

const select = (items: ReadonlyMap<string, Value>, keep: (key: string) => boolean): SetValue =>
  new SetValue(new Map([...items].filter(([key]) => keep(key))));

function range(args: readonly Value[]): RangeValue {
  const isInteger = (value: Value): boolean => typeof value === 'number' || typeof value === 'bigint';
  switch (args.length) {
    case 1:
      if (!isInteger(args[0])) throw typeError('range(n): expected integer argument');
      return new RangeValue(0, Number(args[0]), true);
    case 2:
      if (!args.every(isInteger)) throw typeError('range(a, b): expected integer arguments');
      return new RangeValue(Number(args[0]), Number(args[1]), true);
    default:
      throw typeError(`range expects 1 or 2 integer arguments, got ${args.length}`);
  }
}

/** Collections, sets and iterators (spec/language.md 12.3). */
export const COLLECTIONS: BuiltinGroup = {
  name: 'collections',
  title: 'Lists, dicts, sets, iterators',
  errors: [
    {
      text: 'Runtime error: NAME: first argument must be a list, got T',
      when: '`chunk`, `window`, `group_by`, `partition`, `dedup_by`, `flat_map`',
    },
    { text: 'Runtime error: NAME: callback is required', when: 'the function is missing' },
    { text: 'Runtime error: NAME: callback must be callable, got T', when: 'the function is something else' },
    { text: 'NAME: first argument must be a set', when: '`set_…` of something else' },
    {
      text: 'Type error: range(n): expected integer argument',
      when: 'also `range(a, b): expected integer arguments` and `range expects 1 or 2 integer arguments, got N`',
    },
    { text: 'Type error: iter: value of type T is not iterable', when: '`iter`' },
    { text: 'Runtime error: pair: expected 2 arguments, got N', when: '`pair`' },
  ],
  builtins: {
    keys: {
      signature: '(dict: dict | any) -> list<string>',
      doc: 'The keys in ascending order.',
      call: (_c, _d, dict) => (dict instanceof Dict ? dictKeys(dict) : []),
    },
    values: {
      signature: '(dict: dict | any) -> list',
      doc: 'The values in the order of their keys.',
      call: (_c, _d, dict) => (dict instanceof Dict ? dictValues(dict) : []),
    },
    entries: {
      signature: '(dict: dict | any) -> list<dict>',
      doc: '`{key, value}` dicts in the order of the keys.',
      call: (_c, _d, dict) => (dict instanceof Dict ? entryDicts(dict) : []),
    },
    range: {
      signature: '(...bounds: any) -> range',
      doc: '`range(n)` counts from 0, `range(a, b)` from a; the end is left out.',
      call: (_c, _d, ...args) => range(args),
    },
    chunk: {
      signature: '(items: list | any, size: int | any = 1) -> list<list>',
      doc: 'Lists of up to `size` elements.',
      call: (_c, _d, xs, n) => chunkList(listOf('chunk', xs), n),
    },
    window: {
      signature: '(items: list | any, size: int | any = 2, step: int | any = 1) -> list<list>',
      doc: 'All full windows of `size` elements.',
      call: (_c, _d, xs, n, step) => windowList(listOf('window', xs), n, step),
    },
    group_by: withCallback(
      'group_by',
      '(items: list | any, callback: closure | any) -> dict',
      'Lists of elements by what the callback answers, displayed.',
      groupList,
    ),
    partition: withCallback(
      'partition',
      '(items: list | any, callback: closure | any) -> {match: list, no_match: list}',
      '`{match, no_match}`: the elements that the callback accepts, and the others.',
      (c, d, xs, fn) =>
        andThen(partitionList(c, d, xs, fn), ([match, rest]) =>
          dictOf([
            ['match', match],
            ['no_match', rest],
          ]),
        ),
    ),
    dedup_by: withCallback(
      'dedup_by',
      '(items: list | any, callback: closure | any) -> list',
      'The first element for each key that the callback gives.',
      (c, d, xs, fn) =>
        andThen(keyed(c, d, xs, fn), (items) => {
          const seen = new Set<string>();
          return items.filter(({ key }) => !seen.has(structuralKey(key)) && seen.add(structuralKey(key))).map(({ item }) => item);
        }),
    ),
    flat_map: withCallback(
      'flat_map',
      '(items: list | any, callback: closure | any) -> list',
      'What the callback answers, lists spread one level.',
      flatMapList,
    ),
    set: {
      signature: '(...items: any) -> set',
      doc: 'A set of the arguments; lists and sets among them are expanded.',
      call: (_c, _d, ...args) =>
        setOf(args.flatMap((arg) => (Array.isArray(arg) ? (arg as List) : arg instanceof SetValue ? setItems(arg) : [arg]))),
    },
    set_add: {
      signature: '(set: set | any, value: any) -> set',
      doc: 'With the value.',
      call: (_c, _d, set, value) => setOf([...setItems(setArgument('set_add', set)), value]),
    },
    set_remove: {
      signature: '(set: set | any, value: any) -> set',
      doc: 'Without the value.',
      call: (_c, _d, set, value) => select(setArgument('set_remove', set).items, (key) => key !== structuralKey(value)),
    },
    set_contains: {
      signature: '(set: set | any, value: any) -> bool',
      doc: 'True when the set holds a value of the same kind that is equal.',
      call: (_c, _d, set, value) => setArgument('set_contains', set).items.has(structuralKey(value)),
    },
    set_union: ofSets(
      'set_union',
      'set',
      'Elements of either.',
      (a, b) => new SetValue(new Map([...a, ...[...b].filter(([key]) => !a.has(key))])),
    ),
    set_intersect: ofSets('set_intersect', 'set', 'Elements of both.', (a, b) => select(a, (key) => b.has(key))),
    set_difference: ofSets('set_difference', 'set', 'Elements of the first that are not in the second.', (a, b) =>
      select(a, (key) => !b.has(key)),
    ),
    set_symmetric_difference: ofSets(
      'set_symmetric_difference',
      'set',
      'Elements of exactly one.',
      (a, b) => new SetValue(new Map([...select(a, (key) => !b.has(key)).items, ...select(b, (key) => !a.has(key)).items])),
    ),
    set_is_subset: ofSets('set_is_subset', 'bool', 'True when every element of the first is in the second.', (a, b) =>
      [...a.keys()].every((key) => b.has(key)),
    ),
    set_is_superset: ofSets('set_is_superset', 'bool', 'True when every element of the second is in the first.', (a, b) =>
      [...b.keys()].every((key) => a.has(key)),
    ),
    set_is_disjoint: ofSets(
      'set_is_disjoint',
      'bool',
      'True when they share no element.',
      (a, b) => ![...a.keys()].some((key) => b.has(key)),
    ),
    iter: {
      signature: '(value: any) -> iter',
      doc: 'A single-pass iterator over anything iterable.',
      call: (_c, _d, value) => iterOf(value),
    },
    pair: {
      signature: '(first: any, second: any) -> pair',
      doc: 'A pair with `.first` and `.second`.',
      call: (_c, _d, ...args) => {
        if (args.length !== 2) throw runtimeError(`pair: expected 2 arguments, got ${args.length}`);
        return new Pair(args[0], args[1]);
      },
    },
    sqrt: {
      signature: '(value: int | float | any) -> float | nil',
      doc: 'The square root as a float; nil for anything but a number.',
      call: (_c, _d, value) => {
        const number = toDouble(value);
        return number === undefined ? undefined : new Float(Math.sqrt(number));
      },
    },
  },
};
