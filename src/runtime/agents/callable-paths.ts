import { dictEntries, dictOf } from '../dict.ts';
import { Dict, type HarnFunction, isCallable, type Value } from '../value.ts';

/**
 * Callables inside plain data, such as the predicates of `permissions`. JSON keeps nil in their place; the path to the
 * place is their slot in the snapshot, and leads back to it after a restore.
 */
export function callablesIn(value: Value, path: string): { readonly slot: string; readonly fn: HarnFunction }[] {
  if (isCallable(value)) return [{ slot: path, fn: value }];
  return membersOf(value, path).flatMap(([item, inner]) => callablesIn(item, inner));
}

/** The same data with the callables that were found again in their places. */
export function withCallables(value: Value, path: string, callables: ReadonlyMap<string, HarnFunction>): Value {
  if (value === undefined) return callables.get(path);
  if (Array.isArray(value)) return value.map((item: Value, index) => withCallables(item, `${path}[${index}]`, callables));
  if (!(value instanceof Dict)) return value;
  return dictOf(dictEntries(value).map(([key, item]): [string, Value] => [key, withCallables(item, `${path}.${key}`, callables)]));
}

function membersOf(value: Value, path: string): [item: Value, path: string][] {
  if (Array.isArray(value)) return value.map((item: Value, index): [Value, string] => [item, `${path}[${index}]`]);
  return value instanceof Dict ? dictEntries(value).map(([key, item]): [Value, string] => [item, `${path}.${key}`]) : [];
}
