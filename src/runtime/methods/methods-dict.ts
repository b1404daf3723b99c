import { callValue, inOrder } from '../call.ts';
import { dictEntries, dictGet, dictHas, dictKeys, dictOf, dictRemove, dictSize, dictValues, mergeDicts } from '../dict.ts';
import { display } from '../display.ts';
import { isTruthy } from '../equality.ts';
import { iterOf } from '../iterate.ts';
import { andThen, type MaybeAsync } from '../maybe-async.ts';
import { Dict, isCallable, type Value } from '../value.ts';
import type { MethodTable } from './methods.ts';

/** Methods of dicts (spec/language.md 7.3). Keys come out in ascending order; key arguments are displayed. */
export const DICT_METHODS: MethodTable<Dict> = {
  keys: (_c, _d, dict) => dictKeys(dict),
  values: (_c, _d, dict) => dictValues(dict),
  entries: (_c, _d, dict) => entryDicts(dict),
  count: (_c, _d, dict) => dictSize(dict),
  has: (_c, _d, dict, [key]) => dictHas(dict, display(key)),
  get: (_c, _d, dict, [key, fallback]) => (dictHas(dict, display(key)) ? dictGet(dict, display(key)) : fallback),
  merge: (_c, _d, dict, [other]) => (other instanceof Dict ? mergeDicts(dict, other) : dict),
  map_values: (c, d, dict, [fn]) =>
    isCallable(fn) ? rebuilt(dict, ([key, value]) => andThen(callValue(c, d, fn, value), (mapped) => [key, mapped])) : undefined,
  map_keys: (c, d, dict, [fn]) =>
    isCallable(fn) ? rebuilt(dict, ([key, value]) => andThen(callValue(c, d, fn, key), (name) => [display(name), value])) : undefined,
  rekey: (c, d, dict, args) => DICT_METHODS.map_keys?.(c, d, dict, args),
  filter: (c, d, dict, [fn]) =>
    isCallable(fn)
      ? rebuilt(dict, ([key, value]) => andThen(callValue(c, d, fn, value), (keep) => (isTruthy(keep) ? [key, value] : undefined)))
      : undefined,
  remove: (_c, _d, dict, [key]) => dictRemove(dict, display(key)),
  iter: (_c, _d, dict) => iterOf(dict),
};

/** `{key, value}` dicts in order. */
export function entryDicts(dict: Dict): Value[] {
  return dictEntries(dict).map(([key, value]) =>
    dictOf([
      ['key', key],
      ['value', value],
    ]),
  );
}

type Entry = [string, Value];

/** A dict of what `step` makes of each entry, in order; undefined drops it. */
function rebuilt(dict: Dict, step: (entry: Entry) => MaybeAsync<Entry | undefined>): MaybeAsync<Value> {
  const entries = dictEntries(dict);
  const kept: Entry[] = [];
  const done = inOrder(entries.length, (index) =>
    andThen(step(entries[index] as Entry), (entry) => {
      if (entry !== undefined) kept.push(entry);
    }),
  );
  return done instanceof Promise ? done.then(() => dictOf(kept)) : dictOf(kept);
}
