import type { Context } from './context.ts';

/**
 * How Harn values look in JavaScript (spec/language.md chapter 4). The emitter, the builtins and the methods all
 * rely on this page; docs/ARCHITECTURE.md has the reasons and docs/decisions the measurements.
 *
 * - nil is `undefined`: a missing argument, a missing key and an index out of range are then nil for free.
 * - int is a `number` while it is a safe integer and a `bigint` beyond, never a bigint that would fit a number,
 *   and never -0. `normalInt` (runtime/arithmetic.ts) makes it so.
 * - float is the class `Float`; the emitter keeps it as a raw double where it can prove the type of a local.
 * - string is a well-formed JavaScript string; lengths and positions count code points.
 * - bytes is `Uint8Array`; list is an array that nobody but its owner variable may change (copy-on-write).
 * - a callable is a JavaScript function with the hidden parameters `(context, depth, ...args)` and a `meta`.
 */
export type Value =
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Float
  | Duration
  | Uint8Array
  | readonly Value[]
  | Dict
  | SetValue
  | HarnFunction
  | EnumValue
  | StructValue
  | RangeValue
  | Pair
  | Iter
  | Producer
  | Handle;

export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class Duration {
  /** Signed whole milliseconds. */
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

/**
 * A dict of up to `DICT_LIMIT` keys keeps them as its own properties: a constant key is then an inline-cached
 * property read. Its prototype is empty, so `__proto__` and `constructor` are ordinary keys. Use the functions of
 * runtime/dict.ts unless the keys are known to be few and constant.
 */
export class Dict {
  [key: string]: Value;
}
Object.setPrototypeOf(Dict.prototype, null);
Reflect.deleteProperty(Dict.prototype, 'constructor');

/** Key count above which a dict becomes a `BigDict`. */
export const DICT_LIMIT = 64;

const ENTRIES = Symbol('entries');
const TEXT = Symbol('text');

/** A dict with many keys: they live in a Map. It is a `Dict` to every `instanceof`, but has no own string keys. */
export class BigDict extends Dict {
  declare readonly [ENTRIES]: Map<string, Value>;
  constructor(entries: Map<string, Value>) {
    super();
    Object.defineProperty(this, ENTRIES, { value: entries });
  }
}
Object.setPrototypeOf(BigDict.prototype, Dict.prototype);
Reflect.deleteProperty(BigDict.prototype, 'constructor');

/** The Map behind a big dict; undefined for a small one. */
export function bigEntries(dict: Dict): Map<string, Value> | undefined {
  return (dict as { [ENTRIES]?: Map<string, Value> })[ENTRIES];
}

/** Gives a dict a text of its own: diagnostic values and handles of parked loops (spec/language.md 4.1, 6.6). */
export function withText(dict: Dict, text: string): Dict {
  Object.defineProperty(dict, TEXT, { value: text, enumerable: false });
  return dict;
}

/** The text that stands in for this dict, undefined for an ordinary dict. */
export function textOf(dict: Dict): string | undefined {
  return (dict as { [TEXT]?: string })[TEXT];
}

/** A set: values by structural key (runtime/equality.ts `structuralKey`), in insertion order. Immutable. */
export class SetValue {
  readonly items: ReadonlyMap<string, Value>;
  constructor(items: ReadonlyMap<string, Value>) {
    this.items = items;
  }
}

/**
 * A value of an enum. Payloads of up to three values stand in the object itself, so that a match reads them without
 * going through an array; `f0` to `f2` are nil where there is no payload. Made by `enumValue`.
 */
export abstract class EnumValue {
  readonly enumName: string;
  readonly variant: string;
  constructor(enumName: string, variant: string) {
    this.enumName = enumName;
    this.variant = variant;
  }
  abstract get fields(): readonly Value[];
  abstract get f0(): Value;
  abstract get f1(): Value;
  abstract get f2(): Value;
}

/** No payload, or more than three values. */
class EnumOfMany extends EnumValue {
  readonly fields: readonly Value[];
  constructor(enumName: string, variant: string, fields: readonly Value[]) {
    super(enumName, variant);
    this.fields = fields;
  }
  get f0(): Value {
    return this.fields[0];
  }
  get f1(): Value {
    return this.fields[1];
  }
  get f2(): Value {
    return this.fields[2];
  }
}

export class EnumOfOne extends EnumValue {
  readonly f0: Value;
  constructor(enumName: string, variant: string, f0: Value) {
    super(enumName, variant);
    this.f0 = f0;
  }
  get fields(): readonly Value[] {
    return [this.f0];
  }
  get f1(): Value {
    return undefined;
  }
  get f2(): Value {
    return undefined;
  }
}

export class EnumOfTwo extends EnumValue {
  readonly f0: Value;
  readonly f1: Value;
  constructor(enumName: string, variant: string, f0: Value, f1: Value) {
    super(enumName, variant);
    this.f0 = f0;
    this.f1 = f1;
  }
  get fields(): readonly Value[] {
    return [this.f0, this.f1];
  }
  get f2(): Value {
    return undefined;
  }
}

export class EnumOfThree extends EnumValue {
  readonly f0: Value;
  readonly f1: Value;
  readonly f2: Value;
  constructor(enumName: string, variant: string, f0: Value, f1: Value, f2: Value) {
    super(enumName, variant);
    this.f0 = f0;
    this.f1 = f1;
    this.f2 = f2;
  }
  get fields(): readonly Value[] {
    return [this.f0, this.f1, this.f2];
  }
}

export function enumValue(enumName: string, variant: string, fields: readonly Value[]): EnumValue {
  const [f0, f1, f2] = fields;
  switch (fields.length) {
    case 1:
      return new EnumOfOne(enumName, variant, f0);
    case 2:
      return new EnumOfTwo(enumName, variant, f0, f1);
    case 3:
      return new EnumOfThree(enumName, variant, f0, f1, f2);
    default:
      return new EnumOfMany(enumName, variant, fields);
  }
}

export class StructValue {
  readonly structName: string;
  /** Present fields only. */
  readonly fields: Dict;
  constructor(structName: string, fields: Dict) {
    this.structName = structName;
    this.fields = fields;
  }
}

export class RangeValue {
  readonly start: number;
  /** As written: the last value when inclusive, one past it when exclusive. */
  readonly end: number;
  readonly isExclusive: boolean;
  constructor(start: number, end: number, isExclusive: boolean) {
    this.start = start;
    this.end = end;
    this.isExclusive = isExclusive;
  }
}

export class Pair {
  readonly first: Value;
  readonly second: Value;
  constructor(first: Value, second: Value) {
    this.first = first;
    this.second = second;
  }
}

/** What a pull answers when nothing is left. */
export const END: unique symbol = Symbol('end');
export type Pulled = Value | typeof END;

/** Anything that gives values one at a time. A pull may answer a promise; pulls never overlap. */
export interface Source {
  pull(context: Context, depth: number): Pulled | Promise<Pulled>;
  /**
   * Tells the source that nobody will pull again (loop left early), so that it can clean up; a promise when that
   * waits. Idempotent, and harmless after the end.
   */
  abandon?(): void | Promise<void>;
}

/** `iter`: single pass, shared. `exhausted` becomes true when a pull meets the end. A loop left early does not end it. */
export class Iter implements Source {
  readonly source: Source;
  exhausted = false;
  constructor(source: Source) {
    this.source = source;
  }

  pull(context: Context, depth: number): Pulled | Promise<Pulled> {
    if (this.exhausted) return END;
    const pulled = this.source.pull(context, depth);
    return pulled instanceof Promise ? pulled.then((value) => this.#noted(value)) : this.#noted(pulled);
  }

  #noted(pulled: Pulled): Pulled {
    if (pulled === END) this.exhausted = true;
    return pulled;
  }
}

/**
 * `generator` (a `fn` with `yield`) and `stream` (a `gen fn`, `parallel each … as stream`, `stream.*`). It is done
 * after the end, after an error, and when it was abandoned.
 */
export class Producer implements Source {
  readonly kind: 'generator' | 'stream';
  readonly source: Source;
  done = false;
  constructor(kind: 'generator' | 'stream', source: Source) {
    this.kind = kind;
    this.source = source;
  }

  pull(context: Context, depth: number): Pulled | Promise<Pulled> {
    if (this.done) return END;
    let pulled: Pulled | Promise<Pulled>;
    try {
      pulled = this.source.pull(context, depth);
    } catch (error) {
      this.done = true;
      throw error;
    }
    if (!(pulled instanceof Promise)) return this.#noted(pulled);
    return pulled.then(
      (value) => this.#noted(value),
      (error: unknown) => {
        this.done = true;
        throw error;
      },
    );
  }

  abandon(): void | Promise<void> {
    if (this.done) return undefined;
    this.done = true;
    return this.source.abandon?.();
  }

  #noted(pulled: Pulled): Pulled {
    if (pulled === END) this.done = true;
    return pulled;
  }
}

/**
 * Base class of run-time handles: task_handle, channel, atomic, rng, sync_permit, harness and its sub-handles.
 * Subclasses live with the builtins that make them.
 */
export abstract class Handle {
  /** What `type_of` says. */
  abstract readonly typeName: string;
  abstract display(): string;
  /** `==` between two handles (spec/language.md 3.3); most are never equal, not even to themselves. */
  isEqualTo(_other: Handle): boolean {
    return false;
  }
}

export interface FunctionMeta {
  /** `closure` for user functions, `builtin` for builtins. */
  readonly kind: 'closure' | 'builtin';
  readonly name: string;
  /** Declared parameter names, the rest parameter last with its dots: `["a", "...more"]`. */
  readonly params: readonly string[];
  /** True when a call may answer a promise. */
  readonly isAsync: boolean;
  /** Module and offset of the closure expression or declaration, for binding again after a restore. */
  readonly origin?: { readonly module: string; readonly symbol?: string; readonly offset: number };
}

/**
 * A callable value. `depth` counts call frames: a nested call passes `depth + CALL`, a tail call `depth + 1`.
 * The answer may be a promise when `meta.isAsync`, and a `TailCall` that the caller has to run: use
 * runtime/call.ts `callValue` unless you are emitted code.
 */
export interface HarnFunction {
  // biome-ignore lint/suspicious/noExplicitAny: emitted code returns values, promises and tail calls alike
  (context: Context, depth: number, ...args: Value[]): any;
  readonly meta: FunctionMeta;
  /**
   * Captured values by name, only in programs that can park a loop. To be asked when they are needed: functions of a
   * block capture each other before all of them exist.
   */
  readonly captures?: () => Readonly<Record<string, Value>>;
}

export const CALL = 64;
/** More than 512 nested frames is `Stack overflow: too many nested calls` (spec/language.md 5.4). */
export const DEPTH_LIMIT = 512 * CALL;

/** A tail call handed back to the caller so that the JavaScript stack does not grow. */
export class TailCall {
  readonly callee: HarnFunction;
  readonly args: readonly Value[];
  constructor(callee: HarnFunction, args: readonly Value[]) {
    this.callee = callee;
    this.args = args;
  }
}

export function isCallable(value: Value): value is HarnFunction {
  return typeof value === 'function';
}

/** The name that `type_of` gives (spec/language.md 4.1). */
export function typeOf(value: Value): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'int';
    case 'string':
      return 'string';
    case 'function':
      return value.meta.kind;
    default:
      break;
  }
  if (Array.isArray(value)) return 'list';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Float) return 'float';
  if (value instanceof Duration) return 'duration';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof SetValue) return 'set';
  if (value instanceof EnumValue) return 'enum';
  if (value instanceof StructValue) return 'struct';
  if (value instanceof RangeValue) return 'range';
  if (value instanceof Pair) return 'pair';
  if (value instanceof Iter) return 'iter';
  if (value instanceof Producer) return value.kind;
  return (value as Handle).typeName;
}
