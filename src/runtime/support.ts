import {
  addOwned,
  index,
  indexOptional,
  property,
  propertyOptional,
  readPath,
  slice,
  writeIndex,
  writeInner,
  writePath,
  writeProperty,
} from './access.ts';
import { add, divide, floatModulo, modulo, multiply, negate, operandToDouble, power, subtract } from './arithmetic.ts';
import { settle } from './call.ts';
import { caughtValue } from './caught.ts';
import { selectCases } from './concurrency/channel.ts';
import { parallelCount, parallelEach, parallelSettle, parallelStream } from './concurrency/parallel.ts';
import { enterMutex, leaveMutex } from './concurrency/sync.ts';
import { spawnTask } from './concurrency/tasks.ts';
import type { Run } from './context.ts';
import { enterDeadline } from './deadline.ts';
import { copyDict, dictGet, dictHas, dictKeys, dictOf, dictSize } from './dict.ts';
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
import { codePointCount } from './text.ts';
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
  throw Object.assign(error, { at: { line, column, length: [...name].length }, help });
}

function undefinedCall(module: ModuleRecord, name: string, line: number, column: number, inSight: readonly string[], help?: string): never {
  const near = module.nearName(name, inSight);
  const error =
    near === undefined ? bareError(`Undefined builtin: ${name}`) : runtimeError(`Undefined builtin: ${name} (did you mean \`${near}\`?)`);
  throw Object.assign(error, { at: { line, column, length: [...name].length }, help });
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
