import { foreignName } from '../language/foreign-syntax.ts';
import { add, divide, floatModulo, isInt, modulo, multiply, negate, operandToDouble, power, subtract } from './arithmetic.ts';
import { settle } from './call.ts';
import { caughtValue } from './caught.ts';
import { selectCases } from './concurrency/channel.ts';
import { parallelCount, parallelEach, parallelSettle, parallelStream } from './concurrency/parallel.ts';
import { enterMutex, leaveMutex } from './concurrency/sync.ts';
import { spawnTask } from './concurrency/tasks.ts';
import type { Run } from './context.ts';
import { enterDeadline } from './deadline.ts';
import { copyDict, dictGet, dictHas, dictKeys, dictOf, dictSetOwned, dictSize } from './dict.ts';
import { display } from './display.ts';
import { compareValues, equals, isTruthy } from './equality.ts';
import { bareError, runtimeError, thrown, thrownText, typeError } from './errors.ts';
import { depthLimit, enter, interrupt } from './interrupt.ts';
import { abandon, forSource, producer } from './iterate.ts';
import { fromJson } from './json.ts';
import { escaping, OwnedParts, own } from './owned-parts.ts';
import { checkParameter } from './param-check.ts';
import type { ModuleRecord } from './program/module-record.ts';
import { isInRange, rangeLength } from './ranges.ts';
import { cleanupContext } from './task-context.ts';
import { codePointAt, codePointCount, sliceText } from './text.ts';
import {
  BigDict,
  Dict,
  Duration,
  END,
  EnumOfOne,
  EnumOfThree,
  EnumOfTwo,
  EnumValue,
  enumValue,
  Float,
  type FunctionMeta,
  type HarnFunction,
  isCallable,
  Pair,
  RangeValue,
  SetValue,
  StructValue,
  TailCall,
  textOf,
  typeOf,
  type Value,
} from './value.ts';

/**
 * What emitted code calls: the slow paths behind its inlined fast ones, and everything that raises. Nothing else of
 * the run time is within reach of a script.
 */
export function createSupport(run: Run) {
  return { ...SUPPORT, interrupts: depthLimit(run) };
}

export type Support = ReturnType<typeof createSupport>;

const RESULT = 'Result';

// ---- access ----

function property(receiver: Value, name: string): Value {
  if (receiver instanceof Dict) return dictGet(receiver, name);
  if (receiver instanceof StructValue) return dictGet(receiver.fields, name);
  const found = knownProperty(receiver, name);
  if (found !== MISSING) return found;
  if (receiver instanceof Pair) throw typeError(`cannot access property \`${name}\` on pair (expected \`first\` or \`second\`)`);
  throw typeError(`cannot access property \`${name}\` on ${typeOf(receiver)}`);
}

/** `x?.name`: nil for nil and for kinds without properties. */
function propertyOptional(receiver: Value, name: string): Value {
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

function index(receiver: Value, key: Value): Value {
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

function indexOptional(receiver: Value, key: Value): Value {
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

function slice(receiver: Value, start: Value, end: Value, hasStart: boolean, hasEnd: boolean): Value {
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

function writeProperty(container: Value, name: string, value: Value): Value {
  if (container instanceof Dict) return dictSetOwned(container, name, value);
  if (container instanceof StructValue) {
    const fields = dictSetOwned(container.fields, name, value);
    return fields === container.fields ? container : new StructValue(container.structName, fields);
  }
  throw typeError(`cannot set property \`${name}\` on ${typeOf(container)}`);
}

function writeIndex(container: Value, key: Value, value: Value): Value {
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
function writePath(root: Value, keys: readonly Value[], isName: readonly boolean[], value: Value, owned: OwnedParts): Value {
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
function writeInner(
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

function readPath(root: Value, keys: readonly Value[], isName: readonly boolean[]): Value {
  return keys.reduce((container: Value, key, at) => readStep(container, key, isName[at] === true), root);
}

function readStep(container: Value, key: Value, isName: boolean): Value {
  return isName ? property(container, key as string) : index(container, key);
}

/** `x + more` where the variable may own `x`. */
function addOwned(current: Value, more: Value, isOwned: boolean): Value {
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

// ---- membership and ranges ----

function isIn(item: Value, container: Value): boolean {
  if (Array.isArray(container)) return container.some((element) => equals(item, element));
  if (container instanceof SetValue) return [...container.items.values()].some((element) => equals(item, element));
  if (container instanceof Dict) return dictHas(container, display(item));
  if (typeof container === 'string') return container.includes(display(item));
  if (container instanceof RangeValue) return isInRange(container, item);
  return false;
}

/** A bound of a range. Ranges count in doubles, so a bound beyond the safe integers is moved to the last of them. */
function bound(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint') return 0;
  return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

// ---- calls ----

function closure(fn: HarnFunction, meta: FunctionMeta, captures?: () => Record<string, Value>): HarnFunction {
  const target = fn as { meta?: FunctionMeta; captures?: HarnFunction['captures'] };
  target.meta = meta;
  if (captures !== undefined) target.captures = captures;
  return fn;
}

/** The function behind a called name, or the error of calling something else. `builtin` is the one of that name. */
function callable(value: Value, name: string, builtin?: HarnFunction): HarnFunction {
  if (isCallable(value)) return value;
  if (builtin !== undefined) return builtin;
  throw Object.assign(bareError(`Undefined builtin: ${name}`), {
    help: `\`${name}\` holds a value of type ${typeOf(value)}, not a function`,
  });
}

function pipeTarget(value: Value): HarnFunction {
  if (isCallable(value)) return value;
  throw typeError(`cannot pipe into ${typeOf(value)}`);
}

function spreadList(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  throw typeError(`cannot destructure ${typeOf(value)} with [...] pattern — expected list`);
}

function undefinedVariable(
  module: ModuleRecord,
  name: string,
  line: number,
  column: number,
  inSight: readonly string[],
  help?: string,
): never {
  const near = module.nearName(name, inSight);
  const error =
    near === undefined ? bareError(`Undefined variable: ${name}`) : runtimeError(`Undefined variable: ${name} (did you mean \`${near}\`?)`);
  throw Object.assign(error, { at: { line, column, length: [...name].length }, help: help ?? foreignName(name) });
}

function undefinedCall(module: ModuleRecord, name: string, line: number, column: number, inSight: readonly string[], help?: string): never {
  const near = module.nearName(name, inSight);
  const error =
    near === undefined ? bareError(`Undefined builtin: ${name}`) : runtimeError(`Undefined builtin: ${name} (did you mean \`${near}\`?)`);
  throw Object.assign(error, { at: { line, column, length: [...name].length }, help: help ?? foreignName(name) });
}

// ---- dicts, structs, destructuring ----

function dict(entries: readonly (readonly [string | undefined, Value])[]): Dict {
  const flat: [string, Value][] = [];
  for (const [key, value] of entries) {
    if (key !== undefined) flat.push([key, value]);
    else for (const [inner, item] of spreadDict(value)) flat.push([inner, item]);
  }
  return dictOf(flat);
}

function spreadDict(value: Value): [string, Value][] {
  if (value instanceof StructValue) return spreadDict(value.fields);
  if (!(value instanceof Dict)) throw typeError(`cannot destructure ${typeOf(value)} with {...} pattern — expected dict`);
  return dictKeys(value).map((key) => [key, dictGet(value, key)]);
}

function assertDict(value: Value): void {
  if (!(value instanceof Dict)) throw typeError(`cannot destructure ${typeOf(value)} with {...} pattern — expected dict`);
}

function assertList(value: Value): void {
  if (!Array.isArray(value)) throw typeError(`cannot destructure ${typeOf(value)} with [...] pattern — expected list`);
}

function dictWithout(value: Dict, keys: readonly string[]): Dict {
  return dictOf(
    dictKeys(value)
      .filter((key) => !keys.includes(key))
      .map((key) => [key, dictGet(value, key)]),
  );
}

/** `Name({…})`: a struct of those fields; anything but a dict gives one without fields. */
function struct(name: string, fields: Value): StructValue {
  return new StructValue(name, fields instanceof Dict ? copyDict(fields) : new Dict());
}

// ---- Result and errors ----

function isErr(value: Value): boolean {
  if (value instanceof EnumValue && value.enumName === RESULT) return value.variant === 'Err';
  throw typeError(`? operator requires a Result value, got ${typeOf(value)}`);
}

function okValue(value: EnumValue): Value {
  return value.f0;
}

function okOf(value: Value): Value {
  return value instanceof EnumValue && value.enumName === RESULT ? value : enumValue(RESULT, 'Ok', [value]);
}

function errOf(error: unknown): Value {
  return enumValue(RESULT, 'Err', [caughtValue(error)]);
}

function raise(value: Value): Error {
  return thrown(value, display(value));
}

function runDefers(defers: (() => void)[]): void {
  const failures: unknown[] = [];
  for (const run of defers.reverse()) {
    try {
      run();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function runDefersAsync(defers: (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const run of defers.reverse()) {
    try {
      await run();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function retryCount(value: Value): number {
  return typeof value === 'number' ? value : 1;
}

/** Number of elements (spec/language.md 12.1 `len`). */
export function lengthOf(value: Value): number {
  if (typeof value === 'string') return codePointCount(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Dict) return lengthOfDict(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof SetValue) return value.items.size;
  return value instanceof RangeValue ? rangeLength(value) : 0;
}

/** A diagnostic value stands in for its text. */
function lengthOfDict(value: Dict): number {
  const text = textOf(value);
  return text === undefined ? dictSize(value) : codePointCount(text);
}

const SUPPORT = {
  Dict,
  BigDict,
  Float,
  Duration,
  EnumValue,
  EnumOfOne,
  EnumOfTwo,
  EnumOfThree,
  enumValue,
  StructValue,
  TailCall,
  END,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  negate,
  floatModulo,
  operandToDouble,
  equals,
  less: (a: Value, b: Value) => compareValues(a, b) < 0,
  greater: (a: Value, b: Value) => compareValues(a, b) > 0,
  lessOrEqual: (a: Value, b: Value) => compareValues(a, b) <= 0,
  greaterOrEqual: (a: Value, b: Value) => compareValues(a, b) >= 0,
  // NaN compares as equal.
  truthy: isTruthy,
  truthyDouble: (value: number) => value !== 0,
  text: display,
  len: lengthOf,
  isIn,
  range: (start: Value, end: Value, isExclusive: boolean) => new RangeValue(bound(start), bound(end), isExclusive),
  bound,
  property,
  propertyOptional,
  index,
  indexOptional,
  slice,
  get: (dictionary: Dict, key: string) => dictGet(dictionary, key),
  own,
  writeProperty,
  writeIndex,
  writePath,
  writeInner,
  OwnedParts,
  escaping,
  readPath,
  addOwned,
  badTarget: () => {
    throw typeError('cannot assign to this expression; assign to a variable, or to a property or element of one');
  },
  immutable: (name: string) => {
    throw bareError(`Cannot assign to immutable binding: ${name}`);
  },
  redeclared: (name: string) => {
    throw runtimeError(`Cannot redeclare immutable variable '${name}' in the same scope (use 'var' for mutable bindings)`);
  },
  undefinedVariable,
  undefinedCall,
  closure,
  callable,
  pipeTarget,
  bounce: settle,
  spreadList,
  enter,
  dict,
  dictShape: (make: { prototype: unknown }) => {
    make.prototype = Dict.prototype;
    return make;
  },
  assertDict,
  assertList,
  dictWithout,
  struct,
  enumType: (name: string) => {
    throw bareError(`Undefined variable: ${name}`);
  },
  isErr,
  okValue,
  okOf,
  errOf,
  raise,
  caught: caughtValue,
  noMatch: () => {
    throw thrownText('No match arm matched the value');
  },
  runDefers,
  runDefersAsync,
  retryCount,
  forSource,
  abandon,
  producer,
  checkParameter,
  schema: fromJson,
  interrupt,
  enterDeadline,
  cleanupContext,
  enterMutex,
  leaveMutex,
  parallelCount,
  parallelEach,
  parallelSettle,
  parallelStream,
  spawnTask,
  selectCases,
};
