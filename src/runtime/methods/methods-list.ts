import { add, isInt } from '../arithmetic.ts';
import { callValue, callWithOne, callWithTwo, inOrder } from '../call.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { compareValues, equals, isTruthy, structuralKey } from '../equality.ts';
import { iterOf } from '../iterate.ts';
import { andThen, type MaybeAsync } from '../maybe-async.ts';
import { Float, type HarnFunction, isCallable, type Value } from '../value.ts';
import type { MethodTable } from './methods.ts';

type List = readonly Value[];

/**
 * Methods of lists (spec/language.md 7.1). None changes its receiver. Those that call back stay synchronous when the
 * callback does; without a callable they answer nil unless the table of the specification says otherwise.
 */
export const LIST_METHODS: MethodTable<List> = {
  count: (_c, _d, xs) => xs.length,
  empty: (_c, _d, xs) => xs.length === 0,
  first: (_c, _d, xs, [n]) => (n === undefined ? xs[0] : xs.slice(0, size(n))),
  last: (_c, _d, xs, [n]) => (n === undefined ? xs.at(-1) : size(n) === 0 ? [] : xs.slice(-size(n))),
  map: (c, d, xs, [fn]) => (isCallable(fn) ? mapList(c, d, xs, fn) : undefined),
  filter: (c, d, xs, [fn]) => (isCallable(fn) ? filterList(c, d, xs, fn) : undefined),
  reduce: (c, d, xs, [initial, fn]) => (isCallable(fn) ? reduceList(c, d, xs, initial, fn) : undefined),
  find: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(findAt(c, d, xs, fn), (at) => xs[at]) : undefined),
  find_index: (c, d, xs, [fn]) => (isCallable(fn) ? findAt(c, d, xs, fn) : undefined),
  any: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(findAt(c, d, xs, fn), (at) => at >= 0) : false),
  all: (c, d, xs, [fn]) => every(c, d, xs, fn),
  every: (c, d, xs, [fn]) => every(c, d, xs, fn),
  none: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(findAt(c, d, xs, fn), (at) => at < 0) : xs.length === 0),
  flat_map: (c, d, xs, [fn]) => (isCallable(fn) ? flatMapList(c, d, xs, fn) : undefined),
  flatten: (_c, _d, xs) => xs.flatMap((item) => (Array.isArray(item) ? (item as List) : [item])),
  sort: (_c, _d, xs) => sortValues(xs),
  sort_by: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(keyed(c, d, xs, fn), sortKeyed) : undefined),
  reverse: (_c, _d, xs) => xs.toReversed(),
  min: (_c, _d, xs) => extreme(xs, -1),
  max: (_c, _d, xs) => extreme(xs, 1),
  min_by: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(keyed(c, d, xs, fn), (items) => extremeKeyed(items, -1)) : undefined),
  max_by: (c, d, xs, [fn]) => (isCallable(fn) ? andThen(keyed(c, d, xs, fn), (items) => extremeKeyed(items, 1)) : undefined),
  sum: (_c, _d, xs) => sumOf(xs),
  join: (_c, _d, xs, [separator]) => joinList(xs, separator === undefined ? '' : display(separator)),
  contains: (_c, _d, xs, [value]) => xs.some((item) => equals(item, value)),
  index_of: (_c, _d, xs, [value]) => xs.findIndex((item) => equals(item, value)),
  enumerate: (_c, _d, xs) =>
    xs.map((value, index) =>
      dictOf([
        ['index', index],
        ['value', value],
      ]),
    ),
  zip: (_c, _d, xs, [other]) => (Array.isArray(other) ? zipLists(xs, other as List) : []),
  slice: (_c, _d, xs, [start, end]) => sliceList(xs, start, end),
  take: (_c, _d, xs, [n]) => xs.slice(0, size(n)),
  skip: (_c, _d, xs, [n]) => xs.slice(size(n)),
  unique: (_c, _d, xs) => uniqueList(xs),
  push: (_c, _d, xs, args) => (args.length === 0 ? xs.slice() : [...xs, args[0]]),
  pop: (_c, _d, xs) => xs.slice(0, -1),
  partition: (c, d, xs, [fn]) => (isCallable(fn) ? partitionList(c, d, xs, fn) : undefined),
  group_by: (c, d, xs, [fn]) => (isCallable(fn) ? groupList(c, d, xs, fn) : undefined),
  tally: (_c, _d, xs) => tally(xs),
  chunk: (_c, _d, xs, [n]) => chunkList(xs, n),
  each_slice: (_c, _d, xs, [n]) => chunkList(xs, n),
  window: (_c, _d, xs, [n, step]) => windowList(xs, n, step),
  each_cons: (_c, _d, xs, [n, step]) => windowList(xs, n, step),
  sliding_window: (_c, _d, xs, [n, step]) => windowList(xs, n, step),
  compact: (_c, _d, xs) => xs.filter((item) => item !== undefined),
  iter: (_c, _d, xs) => iterOf(xs),
};

/** A count from an argument: negative and non-numbers read as 0. */
function size(value: Value): number {
  if (typeof value === 'number') return Math.max(0, value);
  return typeof value === 'bigint' && value > 0n ? Number.MAX_SAFE_INTEGER : 0;
}

/*
 * map, filter and reduce are what hot loops are made of: a plain loop as long as the callback stays synchronous, and an
 * asynchronous one from the first element for which it does not.
 */
export function mapList(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<Value[]> {
  const result: Value[] = [];
  for (let index = 0; index < xs.length; index++) {
    const value = callWithOne(context, depth, fn, xs[index]);
    if (value instanceof Promise) return mapRest(context, depth, xs, fn, result, value);
    result.push(value);
  }
  return result;
}

async function mapRest(
  context: Context,
  depth: number,
  xs: List,
  fn: HarnFunction,
  result: Value[],
  pending: Promise<Value>,
): Promise<Value[]> {
  result.push(await pending);
  while (result.length < xs.length) result.push(await callWithOne(context, depth, fn, xs[result.length]));
  return result;
}

export function filterList(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<Value[]> {
  const result: Value[] = [];
  for (let index = 0; index < xs.length; index++) {
    const keep = callWithOne(context, depth, fn, xs[index]);
    if (keep instanceof Promise) return filterRest(context, depth, xs, fn, result, index, keep);
    if (isTruthy(keep)) result.push(xs[index]);
  }
  return result;
}

async function filterRest(
  context: Context,
  depth: number,
  xs: List,
  fn: HarnFunction,
  result: Value[],
  from: number,
  pending: Promise<Value>,
): Promise<Value[]> {
  if (isTruthy(await pending)) result.push(xs[from]);
  for (let index = from + 1; index < xs.length; index++) {
    if (isTruthy(await callWithOne(context, depth, fn, xs[index]))) result.push(xs[index]);
  }
  return result;
}

export function reduceList(context: Context, depth: number, xs: List, initial: Value, fn: HarnFunction): MaybeAsync<Value> {
  let result = initial;
  for (let index = 0; index < xs.length; index++) {
    const next = callWithTwo(context, depth, fn, result, xs[index]);
    if (next instanceof Promise) return reduceRest(context, depth, xs, fn, index, next);
    result = next;
  }
  return result;
}

async function reduceRest(
  context: Context,
  depth: number,
  xs: List,
  fn: HarnFunction,
  from: number,
  pending: Promise<Value>,
): Promise<Value> {
  let result = await pending;
  for (let index = from + 1; index < xs.length; index++) result = await callWithTwo(context, depth, fn, result, xs[index]);
  return result;
}

/** Index of the first element that the callback accepts, -1 when there is none. */
export function findAt(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<number> {
  let found = -1;
  const done = inOrder(xs.length, (index) =>
    andThen(callValue(context, depth, fn, xs[index]), (hit) => {
      if (!isTruthy(hit)) return true;
      found = index;
      return false;
    }),
  );
  return done instanceof Promise ? done.then(() => found) : found;
}

function every(context: Context, depth: number, xs: List, fn: Value): MaybeAsync<Value> {
  if (!isCallable(fn)) return true;
  let holds = true;
  const done = inOrder(xs.length, (index) =>
    andThen(callValue(context, depth, fn, xs[index]), (hit) => {
      holds = isTruthy(hit);
      return holds;
    }),
  );
  return done instanceof Promise ? done.then(() => holds) : holds;
}

export function flatMapList(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<Value> {
  const result: Value[] = [];
  const done = inOrder(xs.length, (index) =>
    andThen(callValue(context, depth, fn, xs[index]), (value) => {
      if (Array.isArray(value)) for (const item of value) result.push(item);
      else result.push(value);
    }),
  );
  return done instanceof Promise ? done.then(() => result) : result;
}

/** Ascending and stable. JavaScript would move every nil to the end, where it is as good as any other neighbour here. */
export function sortValues(xs: List): Value[] {
  if (!xs.includes(undefined)) return [...xs].sort(compareValues);
  return [...xs.keys()].sort((a, b) => compareValues(xs[a], xs[b])).map((index) => xs[index]);
}

interface Keyed {
  readonly item: Value;
  readonly key: Value;
}

/** Each element with the key that the callback computes for it, once. */
export function keyed(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<Keyed[]> {
  const items: Keyed[] = [];
  const done = inOrder(xs.length, (index) =>
    andThen(callValue(context, depth, fn, xs[index]), (key) => void items.push({ item: xs[index], key })),
  );
  return done instanceof Promise ? done.then(() => items) : items;
}

function sortKeyed(items: Keyed[]): Value {
  return items.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item);
}

/** The first of the smallest (-1) or largest (1). */
function extreme(xs: List, sign: -1 | 1): Value {
  return xs.reduce((best, item, index) => (index === 0 || compareValues(item, best) * sign > 0 ? item : best), undefined);
}

function extremeKeyed(items: readonly Keyed[], sign: -1 | 1): Value {
  let best = items[0];
  for (const candidate of items) if (best !== undefined && compareValues(candidate.key, best.key) * sign > 0) best = candidate;
  return best?.item;
}

/** Numbers only; a float makes the sum a float. */
export function sumOf(xs: List): Value {
  let sum: Value = 0;
  for (const item of xs) if (isInt(item) || item instanceof Float) sum = add(sum, item);
  return sum;
}

export function joinList(xs: List, separator: string): string {
  let result = '';
  for (let i = 0; i < xs.length; i++) {
    const item = xs[i];
    result += (i === 0 ? '' : separator) + (typeof item === 'string' ? item : display(item));
  }
  return result;
}

function zipLists(xs: List, ys: List): Value {
  return xs.slice(0, ys.length).map((item, index) => [item, ys[index]]);
}

function sliceList(xs: List, start: Value, end: Value): Value {
  const position = (value: Value, fallback: number): number => (typeof value === 'number' ? value : fallback);
  return xs.slice(position(start, 0), position(end, xs.length));
}

/** First occurrences by structural key. */
export function uniqueList(xs: List): Value[] {
  const seen = new Set<string>();
  return xs.filter((item) => {
    const key = structuralKey(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export function partitionList(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<[Value[], Value[]]> {
  const matching: Value[] = [];
  const rest: Value[] = [];
  const done = inOrder(xs.length, (index) =>
    andThen(callValue(context, depth, fn, xs[index]), (hit) => void (isTruthy(hit) ? matching : rest).push(xs[index])),
  );
  const result: [Value[], Value[]] = [matching, rest];
  return done instanceof Promise ? done.then(() => result) : result;
}

/** Lists by the display of the callback's answer. */
export function groupList(context: Context, depth: number, xs: List, fn: HarnFunction): MaybeAsync<Value> {
  return andThen(keyed(context, depth, xs, fn), (items) => {
    const groups = new Map<string, Value[]>();
    for (const { item, key } of items) {
      const name = display(key);
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [item]);
      else group.push(item);
    }
    return dictOf(groups);
  });
}

function tally(xs: List): Value {
  const counts = new Map<string, number>();
  for (const item of xs) {
    const key = display(item);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return dictOf(counts);
}

/** Lists of up to n elements; n below 1 reads as 1. */
export function chunkList(xs: List, n: Value): Value[] {
  const length = typeof n === 'number' ? Math.max(1, n) : 1;
  const chunks: Value[] = [];
  for (let i = 0; i < xs.length; i += length) chunks.push(xs.slice(i, i + length));
  return chunks;
}

/** Full windows only. */
export function windowList(xs: List, n: Value, step: Value): Value[] {
  const length = typeof n === 'number' ? Math.max(1, n) : 2;
  const stride = typeof step === 'number' ? Math.max(1, step) : 1;
  const windows: Value[] = [];
  for (let i = 0; i + length <= xs.length; i += stride) windows.push(xs.slice(i, i + length));
  return windows;
}
