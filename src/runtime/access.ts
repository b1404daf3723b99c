import { add, isInt } from './arithmetic.ts';
import { dictGet, dictKeys, dictSetOwned } from './dict.ts';
import { display } from './display.ts';
import { runtimeError, typeError } from './errors.ts';
import type { OwnedParts } from './owned-parts.ts';
import { rangeLength } from './ranges.ts';
import { codePointAt, codePointCount, sliceText } from './text.ts';
import { Dict, EnumValue, Pair, RangeValue, StructValue, typeOf, type Value } from './value.ts';

/*
 * Properties, elements and slices of values, read and written, as emitted code asks for them where its inlined fast paths
 * do not apply (spec/language.md 3.8, 3.9). Writes go in place: whoever writes has made sure that nobody else sees the
 * container (docs/ARCHITECTURE.md, "Compiled code").
 */

export function property(receiver: Value, name: string): Value {
  if (receiver instanceof Dict) return dictGet(receiver, name);
  if (receiver instanceof StructValue) return dictGet(receiver.fields, name);
  const found = knownProperty(receiver, name);
  if (found !== MISSING) return found;
  if (receiver instanceof Pair) throw typeError(`cannot access property \`${name}\` on pair (expected \`first\` or \`second\`)`);
  throw typeError(`cannot access property \`${name}\` on ${typeOf(receiver)}`);
}

/** `x?.name`: nil for nil and for kinds without properties. */
export function propertyOptional(receiver: Value, name: string): Value {
  if (receiver === undefined) return undefined;
  if (receiver instanceof Dict) return dictGet(receiver, name);
  if (receiver instanceof StructValue) return dictGet(receiver.fields, name);
  const found = knownProperty(receiver, name);
  return found === MISSING ? undefined : found;
}

const MISSING = Symbol('missing');

function knownProperty(receiver: Value, name: string): Value | typeof MISSING {
  if (Array.isArray(receiver)) {
    switch (name) {
      case 'count':
        return receiver.length;
      case 'empty':
        return receiver.length === 0;
      case 'first':
        return receiver[0];
      case 'last':
        return receiver.at(-1);
      default:
        return undefined;
    }
  }
  if (typeof receiver === 'string') {
    if (name === 'count') return codePointCount(receiver);
    return name === 'empty' ? receiver === '' : undefined;
  }
  if (receiver instanceof EnumValue) {
    if (name === 'variant') return receiver.variant;
    return name === 'fields' ? receiver.fields : undefined;
  }
  if (receiver instanceof Pair && name === 'first') return receiver.first;
  if (receiver instanceof Pair && name === 'second') return receiver.second;
  if (hasProperties(receiver)) return receiver.property(name);
  return MISSING;
}

/** Handles with properties (the harness). */
interface WithProperties {
  property(name: string): Value;
}

function hasProperties(value: Value): value is Value & WithProperties {
  return typeof value === 'object' && typeof (value as Partial<WithProperties>).property === 'function';
}

export function index(receiver: Value, key: Value): Value {
  if (Array.isArray(receiver)) {
    const at = indexOf(key);
    return at === undefined ? undefined : receiver[at < 0 ? receiver.length + at : at];
  }
  if (receiver instanceof Dict) return dictGet(receiver, typeof key === 'string' ? key : display(key));
  if (typeof receiver === 'string') return charAt(receiver, key);
  if (receiver instanceof RangeValue && isInt(key)) return rangeAt(receiver, key);
  if (receiver instanceof StructValue) return dictGet(receiver.fields, display(key));
  throw typeError(`cannot index into ${typeOf(receiver)} with ${typeOf(key)}`);
}

export function indexOptional(receiver: Value, key: Value): Value {
  return receiver === undefined ? undefined : index(receiver, key);
}

function indexOf(key: Value): number | undefined {
  if (typeof key === 'number') return key;
  return undefined;
}

function charAt(text: string, key: Value): Value {
  if (typeof key !== 'number') return undefined;
  return codePointAt(text, key < 0 ? codePointCount(text) + key : key);
}

function rangeAt(range: RangeValue, key: number | bigint): Value {
  const length = rangeLength(range);
  const position = key < 0 ? length + Number(key) : Number(key);
  if (position < 0 || position >= length)
    throw runtimeError(`range index out of range: index ${display(key)} for range of length ${length}`);
  return range.start + position;
}

export function slice(receiver: Value, start: Value, end: Value, hasStart: boolean, hasEnd: boolean): Value {
  const bound = (value: Value, isGiven: boolean, name: string): number | undefined => {
    if (!isGiven || value === undefined) return undefined;
    if (typeof value === 'number') return value;
    if (typeof value === 'bigint') return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
    throw typeError(`slice ${name} must be an integer, got ${typeOf(value)}`);
  };
  if (!Array.isArray(receiver) && typeof receiver !== 'string') throw typeError(`cannot slice ${typeOf(receiver)}`);
  const from = bound(start, hasStart, 'start');
  const to = bound(end, hasEnd, 'end');
  if (Array.isArray(receiver)) return receiver.slice(from ?? 0, to);
  return sliceText(receiver, from ?? 0, to);
}

// ---- writing ----

export function writeProperty(container: Value, name: string, value: Value): Value {
  if (container instanceof Dict) return dictSetOwned(container, name, value);
  if (container instanceof StructValue) {
    const fields = dictSetOwned(container.fields, name, value);
    return fields === container.fields ? container : new StructValue(container.structName, fields);
  }
  throw typeError(`cannot set property \`${name}\` on ${typeOf(container)}`);
}

export function writeIndex(container: Value, key: Value, value: Value): Value {
  if (Array.isArray(container)) {
    const list = container as Value[];
    const at = typeof key === 'number' ? key : Number.NaN;
    const position = at < 0 ? Math.max(0, list.length + at) : at;
    if (!(position < list.length)) throw runtimeError(`Index ${display(key)} out of bounds for list of length ${list.length}`);
    list[position] = value;
    return list;
  }
  if (container instanceof Dict) return dictSetOwned(container, typeof key === 'string' ? key : display(key), value);
  if (container instanceof StructValue) return writeProperty(container, display(key), value);
  throw typeError(`cannot assign into ${typeOf(container)} with ${typeOf(key)}`);
}

/**
 * `a.b[c] = v` where the caller owns the root: containers along the way are copied unless they are owned too. Below a
 * copy nothing is: its parts are shared with the container that it was copied from.
 */
export function writePath(root: Value, keys: readonly Value[], isName: readonly boolean[], value: Value, owned: OwnedParts): Value {
  const write = (container: Value, at: number, isOurs: boolean): Value => {
    const key = keys[at];
    if (at === keys.length - 1) return writeStep(container, key, isName[at] === true, value);
    const part = readStep(container, key, isName[at] === true);
    const isOwned = isOurs && owned.has(part);
    const written = write(isOwned ? part : owned.copy(part), at + 1, isOwned);
    if (isOwned && written === part) return container;
    owned.add(written);
    return writeStep(container, key, isName[at] === true, written);
  };
  return write(root, 0, true);
}

/** `writePath` with two keys, the most frequent form. */
export function writeInner(
  root: Value,
  first: Value,
  isFirstName: boolean,
  second: Value,
  isSecondName: boolean,
  value: Value,
  owned: OwnedParts,
): Value {
  const part = readStep(root, first, isFirstName);
  const isOwned = owned.has(part);
  const written = writeStep(isOwned ? part : owned.copy(part), second, isSecondName, value);
  owned.add(written);
  return isOwned && written === part ? root : writeStep(root, first, isFirstName, written);
}

function writeStep(container: Value, key: Value, isName: boolean, value: Value): Value {
  return isName ? writeProperty(container, key as string, value) : writeIndex(container, key, value);
}

export function readPath(root: Value, keys: readonly Value[], isName: readonly boolean[]): Value {
  return keys.reduce((container: Value, key, at) => readStep(container, key, isName[at] === true), root);
}

function readStep(container: Value, key: Value, isName: boolean): Value {
  return isName ? property(container, key as string) : index(container, key);
}

/** `x + more` where the variable may own `x`. */
export function addOwned(current: Value, more: Value, isOwned: boolean): Value {
  if (isOwned && current instanceof Dict && more instanceof Dict) {
    let result: Dict = current;
    for (const key of dictKeys(more)) result = dictSetOwned(result, key, dictGet(more, key));
    return result;
  }
  if (isOwned && Array.isArray(current) && Array.isArray(more)) {
    for (const item of more) current.push(item);
    return current;
  }
  return add(current, more);
}
