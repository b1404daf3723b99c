import { BigDict, bigEntries, DICT_LIMIT, Dict, type Value } from './value.ts';

/**
 * Dicts (spec/language.md 4.1): string keys, always seen in ascending order of their UTF-8 bytes. Small ones keep
 * their keys as own properties, big ones in a Map; nothing outside this file and the emitter's fast paths cares.
 */
export function dictGet(dict: Dict, key: string): Value {
  const entries = bigEntries(dict);
  return entries === undefined ? dict[key] : entries.get(key);
}

export function dictHas(dict: Dict, key: string): boolean {
  const entries = bigEntries(dict);
  return entries === undefined ? Object.hasOwn(dict, key) : entries.has(key);
}

export function dictSize(dict: Dict): number {
  return bigEntries(dict)?.size ?? Object.keys(dict).length;
}

/** Keys in the order a script sees them. */
export function dictKeys(dict: Dict): string[] {
  const entries = bigEntries(dict);
  return sortKeys(entries === undefined ? Object.keys(dict) : [...entries.keys()]);
}

/** Entries in the order a script sees them. */
export function dictEntries(dict: Dict): [string, Value][] {
  return dictKeys(dict).map((key) => [key, dictGet(dict, key)]);
}

/** Values in the order of their keys. */
export function dictValues(dict: Dict): Value[] {
  return dictKeys(dict).map((key) => dictGet(dict, key));
}

/** A new dict of these entries; a later key wins. */
export function dictOf(entries: Iterable<readonly [string, Value]>): Dict {
  let dict = new Dict();
  let size = 0;
  for (const [key, value] of entries) {
    if (!(dict instanceof BigDict) && !Object.hasOwn(dict, key)) size++;
    if (size > DICT_LIMIT && !(dict instanceof BigDict)) dict = grow(dict);
    dictSetOwned(dict, key, value);
  }
  return dict;
}

function grow(dict: Dict): BigDict {
  return new BigDict(new Map(Object.entries(dict)));
}

/** A copy that may be written to. Text of its own (diagnostic values) is not copied: a changed one is ordinary. */
export function copyDict(dict: Dict): Dict {
  const entries = bigEntries(dict);
  if (entries !== undefined) return new BigDict(new Map(entries));
  return Object.assign(new Dict(), dict);
}

/**
 * Writes into a dict that nobody else holds.
 * @returns the dict to go on with: another one when it outgrew its form
 */
export function dictSetOwned(dict: Dict, key: string, value: Value): Dict {
  const entries = bigEntries(dict);
  if (entries !== undefined) {
    entries.set(key, value);
    return dict;
  }
  // Counting keys on each write would be quadratic; a dict near its limit is counted when a new key comes.
  if (dict[key] === undefined && !Object.hasOwn(dict, key) && Object.keys(dict).length >= DICT_LIMIT) {
    const big = grow(dict);
    dictSetOwned(big, key, value);
    return big;
  }
  dict[key] = value;
  return dict;
}

export function dictSet(dict: Dict, key: string, value: Value): Dict {
  return dictSetOwned(copyDict(dict), key, value);
}

export function dictRemove(dict: Dict, key: string): Dict {
  const copy = copyDict(dict);
  const entries = bigEntries(copy);
  if (entries === undefined) Reflect.deleteProperty(copy, key);
  else entries.delete(key);
  return copy;
}

/** Both dicts in one, the right side wins. */
export function mergeDicts(left: Dict, right: Dict): Dict {
  let result = copyDict(left);
  const entries = bigEntries(right);
  if (entries !== undefined) {
    for (const [key, value] of entries) result = dictSetOwned(result, key, value);
    return result;
  }
  for (const key of Object.keys(right)) result = dictSetOwned(result, key, right[key]);
  return result;
}

/** Ascending order of UTF-8 bytes, which is the order of code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above every other unit.
    const isHighX = x >= 0xd800 && x <= 0xdfff;
    const isHighY = y >= 0xd800 && y <= 0xdfff;
    if (isHighX !== isHighY) return isHighX ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

function sortKeys(keys: string[]): string[] {
  return keys.length < 2 ? keys : keys.sort(compareText);
}
