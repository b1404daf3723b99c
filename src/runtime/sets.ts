import { structuralKey } from './equality.ts';
import { SetValue, type Value } from './value.ts';

/** Sets by structural key (spec/language.md 4.4), in insertion order. */
export function setOf(values: Iterable<Value>): SetValue {
  const items = new Map<string, Value>();
  for (const value of values) {
    const key = structuralKey(value);
    if (!items.has(key)) items.set(key, value);
  }
  return new SetValue(items);
}

export function setItems(set: SetValue): Value[] {
  return [...set.items.values()];
}
