import { toDouble } from './arithmetic.ts';
import { compareText, dictEntries, dictGet, dictHas, dictSize } from './dict.ts';
import {
  bigEntries,
  Dict,
  Duration,
  EnumValue,
  Float,
  Handle,
  Iter,
  Pair,
  RangeValue,
  SetValue,
  StructValue,
  textOf,
  type Value,
} from './value.ts';

/** `==` (spec/language.md 3.3): structural, never throws. */
export function equals(a: Value, b: Value): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  if (a === undefined || b === undefined || typeof a === 'boolean' || typeof b === 'boolean') return a === b;
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b;
  const x = toDouble(a);
  if (x !== undefined) return x === toDouble(b);
  if (typeof a === 'function' || typeof b === 'function') return isSameBuiltin(a, b);
  if (typeof a === 'string') return b instanceof Dict && textOf(b) === a;
  if (typeof b === 'string') return a instanceof Dict && textOf(a) === b;
  return equalObjects(a as object, b);
}

function isSameBuiltin(a: Value, b: Value): boolean {
  return (
    typeof a === 'function' &&
    typeof b === 'function' &&
    a.meta.kind === 'builtin' &&
    b.meta.kind === 'builtin' &&
    a.meta.name === b.meta.name
  );
}

function equalObjects(a: object, b: Value): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equals(item, b[index]));
  if (a instanceof Dict) return b instanceof Dict && equalDicts(a, b);
  if (a instanceof Duration) return b instanceof Duration && a.ms === b.ms;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && a.length === b.length && a.every((byte, index) => byte === b[index]);
  if (a instanceof SetValue) return b instanceof SetValue && equalSets(a, b);
  if (a instanceof EnumValue)
    return b instanceof EnumValue && a.enumName === b.enumName && a.variant === b.variant && equals(a.fields, b.fields);
  if (a instanceof StructValue) return b instanceof StructValue && a.structName === b.structName && equalDicts(a.fields, b.fields);
  if (a instanceof RangeValue) return b instanceof RangeValue && a.start === b.start && a.end === b.end && a.isExclusive === b.isExclusive;
  if (a instanceof Pair) return b instanceof Pair && equals(a.first, b.first) && equals(a.second, b.second);
  if (a instanceof Iter) return a === b;
  return a instanceof Handle && b instanceof Handle && a.isEqualTo(b);
}

function equalDicts(a: Dict, b: Dict): boolean {
  if (dictSize(a) !== dictSize(b)) return false;
  const keys = bigEntries(a)?.keys() ?? Object.keys(a);
  for (const key of keys) if (!dictHas(b, key) || !equals(dictGet(a, key), dictGet(b, key))) return false;
  return true;
}

function equalSets(a: SetValue, b: SetValue): boolean {
  if (a.items.size !== b.items.size) return false;
  const others = [...b.items.values()];
  return [...a.items].every(([key, value]) => b.items.has(key) || others.some((other) => equals(value, other)));
}

/**
 * Order of two values: negative, zero or positive. Numbers, strings and pairs have one; any other combination, and
 * NaN, counts as equal.
 */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (a instanceof Pair && b instanceof Pair) return compareValues(a.first, b.first) || compareValues(a.second, b.second);
  const x = typeof a === 'bigint' && !(b instanceof Float) ? a : toDouble(a);
  const y = typeof b === 'bigint' && !(a instanceof Float) ? b : toDouble(b);
  if (x === undefined || y === undefined) return 0;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Truth of a value (spec/language.md 3.4). */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'undefined':
      return false;
    case 'number':
      return value !== 0;
    case 'string':
      return value !== '';
    case 'object':
      break;
    default:
      return true;
  }
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Dict) return dictSize(value) > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Duration) return value.ms !== 0;
  if (value instanceof Uint8Array) return value.length > 0;
  if (value instanceof SetValue) return value.items.size > 0;
  return true;
}

/**
 * The typed structural key behind sets and `unique` (spec/language.md 4.4): equal keys mean the same value of the
 * same kind, so `1`, `1.0`, `"1"` and `true` all differ.
 */
export function structuralKey(value: Value): string {
  switch (typeof value) {
    case 'undefined':
      return 'n';
    case 'boolean':
      return value ? 'bt' : 'bf';
    case 'number':
    case 'bigint':
      return `i${value}`;
    case 'string':
      return `s${value.length}:${value}`;
    case 'function':
      return value.meta.kind === 'builtin' ? `B${value.meta.name}` : `F${identity(value)}`;
    default:
      return objectKey(value as object);
  }
}

function objectKey(value: object): string {
  if (Array.isArray(value)) return `l[${value.map(structuralKey).join(',')}]`;
  if (value instanceof Dict) return `d{${fieldKeys(value)}}`;
  if (value instanceof Float) return `f${Object.is(value.value, -0) ? '0' : value.value}`;
  if (value instanceof Duration) return `t${value.ms}`;
  if (value instanceof Uint8Array) return `y${Buffer.from(value).toString('hex')}`;
  if (value instanceof SetValue) return `S{${[...value.items.keys()].sort().join(',')}}`;
  if (value instanceof EnumValue) return `e${value.enumName}.${value.variant}(${value.fields.map(structuralKey).join(',')})`;
  if (value instanceof StructValue) return `u${value.structName}{${fieldKeys(value.fields)}}`;
  if (value instanceof RangeValue) return `r${value.start}:${value.end}:${value.isExclusive}`;
  if (value instanceof Pair) return `p(${structuralKey(value.first)},${structuralKey(value.second)})`;
  return `h${identity(value)}`;
}

function fieldKeys(fields: Dict): string {
  return dictEntries(fields)
    .map(([key, item]) => `${key.length}:${key}=${structuralKey(item)}`)
    .join(',');
}

/** Of the process, not of a run: values of two runs never meet, and a number means nothing but sameness. */
const identities = new WeakMap<object, number>();
let lastIdentity = 0;

/** A number that stands for one object as long as it lives; equal for nothing else. */
export function identity(value: object): number {
  let id = identities.get(value);
  if (id === undefined) {
    id = ++lastIdentity;
    identities.set(value, id);
  }
  return id;
}
