import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { dictEntries, dictOf } from './dict.ts';
import { structuralKey } from './equality.ts';
import { HarnessHandle } from './harness.ts';
import {
  Dict,
  Duration,
  EnumValue,
  enumValue,
  Float,
  type HarnFunction,
  isCallable,
  Pair,
  RangeValue,
  SetValue,
  StructValue,
  type Value,
} from './value.ts';

/**
 * Values of a script in a snapshot (spec/agents.md 4.7 `closures`, 5.12): what a closure captured must come back
 * equal in another process, or be refused by name. JSON holds nil, bool, int, string, list and dict; all else is an
 * object with the key `$harn` that says what it is. Functions are named by module and symbol or offset; with them
 * go their own captures. Nothing that lives in this process (channels, tasks, most handles) can be saved; the harness can,
 * because it holds no state.
 */
const TAG = '$harn';

export interface EncodedCaptures {
  /** Captured values by name; those that cannot be saved are left out. */
  readonly captures: JsonObject;
  /** Paths of what was left out, e.g. `config.lock` or `queue`. */
  readonly unserialisable: readonly string[];
}

/** Finds functions of the program again. */
export interface FunctionResolver {
  /** A named function, or the handler of a declared tool. */
  named(module: string, symbol: string): HarnFunction;
  closure(module: string, offset: number, captures: Readonly<Record<string, Value>>): HarnFunction;
  builtin(name: string): HarnFunction;
  /** The harness of the run, or one part of it. */
  harness(part: string | undefined): Value;
}

export function encodeCaptures(captures: Readonly<Record<string, Value>>): EncodedCaptures {
  const encoder = new Encoder();
  const encoded: Record<string, Json> = {};
  for (const [name, value] of Object.entries(captures)) {
    const json = encoder.encode(value, name);
    if (json !== undefined) encoded[name] = json;
  }
  return { captures: encoded, unserialisable: encoder.refused };
}

/** @throws HarnError `plain` for a form that this harn does not know */
export function decodeCaptures(captures: JsonObject, resolver: FunctionResolver): Record<string, Value> {
  return Object.fromEntries(Object.entries(captures).map(([name, json]) => [name, decode(json, resolver)]));
}

class Encoder {
  readonly refused: string[] = [];
  /** Closures around the value being encoded: one that holds itself cannot be written down. */
  readonly #open = new Set<HarnFunction>();

  /** Undefined when some part could not be saved; its path is then in `refused`. */
  encode(value: Value, path: string): Json | undefined {
    if (value === undefined) return null;
    if (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number') return value;
    if (typeof value === 'bigint') return { [TAG]: 'int', value: String(value) };
    if (isCallable(value)) return this.#function(value, path);
    if (Array.isArray(value)) return this.#list(value, path);
    if (value instanceof Dict) return this.#dict(value, path);
    if (value instanceof Float) return { [TAG]: 'float', value: floatText(value.value) };
    if (value instanceof Duration) return { [TAG]: 'duration', ms: value.ms };
    if (value instanceof Uint8Array) return { [TAG]: 'bytes', base64: Buffer.from(value).toString('base64') };
    if (value instanceof SetValue) return tagged('set', 'items', this.#list([...value.items.values()], path));
    if (value instanceof Pair) return tagged('pair', 'items', this.#list([value.first, value.second], path));
    if (value instanceof RangeValue) return { [TAG]: 'range', start: value.start, end: value.end, exclusive: value.isExclusive };
    if (value instanceof StructValue) return this.#struct(value, path);
    if (value instanceof EnumValue) return this.#enum(value, path);
    if (value instanceof HarnessHandle) return { [TAG]: 'harness', part: value.part ?? null };
    return this.#refuse(path);
  }

  #list(items: readonly Value[], path: string): Json | undefined {
    const encoded = items.map((item, index) => this.encode(item, `${path}[${index}]`));
    return encoded.every((item) => item !== undefined) ? encoded : undefined;
  }

  #dict(dict: Dict, path: string): Json | undefined {
    const entries = dictEntries(dict).map(([key, item]): [string, Json | undefined] => [key, this.encode(item, `${path}.${key}`)]);
    if (!entries.every(([, item]) => item !== undefined)) return undefined;
    const hasTag = entries.some(([key]) => key === TAG);
    // An ordinary object with the key of a tag would be read back as something else.
    return hasTag ? { [TAG]: 'dict', entries: entries as [string, Json][] } : Object.fromEntries(entries);
  }

  #struct(value: StructValue, path: string): Json | undefined {
    const fields = this.#dict(value.fields, path);
    return fields === undefined ? undefined : { [TAG]: 'struct', name: value.structName, fields };
  }

  #enum(value: EnumValue, path: string): Json | undefined {
    const fields = this.#list(value.fields, path);
    return fields === undefined ? undefined : { [TAG]: 'enum', name: value.enumName, variant: value.variant, fields };
  }

  #function(fn: HarnFunction, path: string): Json | undefined {
    const { kind, name, origin } = fn.meta;
    if (kind === 'builtin') return { [TAG]: 'builtin', name };
    if (origin === undefined || this.#open.has(fn)) return this.#refuse(path);
    if (origin.symbol !== undefined) return { [TAG]: 'function', module: origin.module, symbol: origin.symbol };
    this.#open.add(fn);
    const captures = this.#captures(fn, path);
    this.#open.delete(fn);
    return captures === undefined ? undefined : { [TAG]: 'closure', module: origin.module, offset: origin.offset, captures };
  }

  #captures(fn: HarnFunction, path: string): JsonObject | undefined {
    const entries = Object.entries(fn.captures?.() ?? {}).map(([name, item]): [string, Json | undefined] => [
      name,
      this.encode(item, `${path}.${name}`),
    ]);
    return entries.every(([, item]) => item !== undefined) ? Object.fromEntries(entries) : undefined;
  }

  #refuse(path: string): undefined {
    this.refused.push(path);
    return undefined;
  }
}

function tagged(tag: string, key: string, value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : { [TAG]: tag, [key]: value };
}

/** JSON has no word for these. */
function floatText(value: number): Json {
  return Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? '-0' : String(value);
}

function decode(json: Json | undefined, resolver: FunctionResolver): Value {
  if (json === null || json === undefined) return undefined;
  if (typeof json !== 'object') return json;
  if (!isJsonObject(json)) return json.map((item) => decode(item, resolver));
  if (typeof json[TAG] !== 'string') {
    return dictOf(Object.entries(json).map(([key, item]): [string, Value] => [key, decode(item, resolver)]));
  }
  return decodeTagged(json[TAG], json, resolver);
}

function decodeTagged(tag: string, json: JsonObject, resolver: FunctionResolver): Value {
  const list = (value: Json | undefined): Value[] => (Array.isArray(value) ? value.map((item: Json) => decode(item, resolver)) : []);
  const number = (value: Json | undefined): number => Number(value);
  const text = (value: Json | undefined): string => String(value);
  switch (tag) {
    case 'int':
      return BigInt(text(json.value));
    case 'float':
      return new Float(number(json.value));
    case 'duration':
      return new Duration(number(json.ms));
    case 'bytes':
      return new Uint8Array(Buffer.from(text(json.base64), 'base64'));
    case 'set':
      return new SetValue(new Map(list(json.items).map((item): [string, Value] => [structuralKey(item), item])));
    case 'pair': {
      const [first, second] = list(json.items);
      return new Pair(first, second);
    }
    case 'range':
      return new RangeValue(number(json.start), number(json.end), json.exclusive === true);
    case 'struct':
      return new StructValue(text(json.name), decode(json.fields, resolver) as Dict); // written by #struct
    case 'enum':
      return enumValue(text(json.name), text(json.variant), list(json.fields));
    case 'dict':
      return dictOf(
        (Array.isArray(json.entries) ? json.entries : []).map((entry: Json): [string, Value] =>
          Array.isArray(entry) ? [text(entry[0]), decode(entry[1], resolver)] : ['', undefined],
        ),
      );
    case 'harness':
      return resolver.harness(typeof json.part === 'string' ? json.part : undefined);
    case 'builtin':
      return resolver.builtin(text(json.name));
    case 'function':
      return resolver.named(text(json.module), text(json.symbol));
    case 'closure':
      return resolver.closure(
        text(json.module),
        number(json.offset),
        decodeCaptures(isJsonObject(json.captures) ? json.captures : {}, resolver),
      );
    default:
      throw new HarnError('plain', `a captured value has the unknown form \`${tag}\``);
  }
}
