import { normalInt } from '../arithmetic.ts';
import { dictEntries, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { Dict, Float, SetValue, StructValue, type Value } from '../value.ts';

/** Data as YAML and TOML libraries exchange it: ints are bigint, floats number, so that neither loses its kind. */
export type PlainData = null | boolean | number | bigint | string | Date | readonly PlainData[] | { readonly [key: string]: PlainData };

/** What a parser read, as a value. A date becomes its text. */
export function fromPlainData(data: unknown): Value {
  switch (typeof data) {
    case 'string':
    case 'boolean':
      return data;
    case 'bigint':
      return BigInt.asIntN(64, data) === data ? normalInt(data) : new Float(Number(data));
    case 'number':
      return new Float(data);
    case 'object':
      break;
    default:
      return undefined;
  }
  if (data === null) return undefined;
  if (Array.isArray(data)) return data.map(fromPlainData);
  if (data instanceof Date) return data.toISOString();
  if (data instanceof Uint8Array) return new Uint8Array(data);
  return dictOf(Object.entries(data).map(([key, item]) => [key, fromPlainData(item)]));
}

/** The JSON mapping of spec/language.md 4.3, except that kinds JSON has no form for are written as their display text. */
export function toPlainData(value: Value): PlainData {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'number':
      return BigInt(value);
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'function':
      return display(value);
    default:
      return fromObject(value);
  }
}

function fromObject(value: Exclude<Value, undefined | number | string | boolean | bigint>): PlainData {
  if (Array.isArray(value)) return value.map(toPlainData);
  if (value instanceof Dict) return fields(value);
  if (value instanceof StructValue) return fields(value.fields);
  if (value instanceof SetValue) return [...value.items.values()].map(toPlainData);
  // An integral float is written without its point, as JSON does.
  if (value instanceof Float) return Number.isSafeInteger(value.value) ? BigInt(value.value) : value.value;
  if (value instanceof Uint8Array) return { $bytes_b64: Buffer.from(value).toString('base64') };
  return display(value);
}

function fields(dict: Dict): PlainData {
  return Object.fromEntries(dictEntries(dict).map(([key, item]) => [key, toPlainData(item)]));
}
