import { dictEntries } from './dict.ts';
import {
  Dict,
  Duration,
  EnumValue,
  Float,
  type Handle,
  Iter,
  Pair,
  Producer,
  RangeValue,
  SetValue,
  StructValue,
  textOf,
  type Value,
} from './value.ts';

/** The display form of a value (spec/language.md 4.2): what println, interpolation and join show. */
export function display(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return 'nil';
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'function':
      return value.meta.kind === 'builtin' ? `<builtin ${value.meta.name}>` : `<fn(${value.meta.params.join(', ')})>`;
    default:
      return displayObject(value);
  }
}

function displayObject(value: Exclude<Value, undefined | string | number | bigint | boolean>): string {
  if (Array.isArray(value)) return `[${value.map(display).join(', ')}]`;
  if (value instanceof Dict) return textOf(value) ?? displayFields(value);
  if (value instanceof Float) return displayFloat(value.value);
  if (value instanceof Duration) return displayDuration(value.ms);
  if (value instanceof Uint8Array) return displayBytes(value);
  if (value instanceof SetValue) return `set(${[...value.items.values()].map(display).join(', ')})`;
  if (value instanceof EnumValue) return displayEnum(value);
  if (value instanceof StructValue) return `${value.structName} ${displayFields(value.fields)}`;
  if (value instanceof RangeValue) return `${value.start} to ${value.end}${value.isExclusive ? ' exclusive' : ''}`;
  if (value instanceof Pair) return `(${display(value.first)}, ${display(value.second)})`;
  if (value instanceof Iter) return value.exhausted ? '<iter (exhausted)>' : '<iter>';
  if (value instanceof Producer) return value.done ? `<${value.kind} (done)>` : `<${value.kind}>`;
  return (value as Handle).display();
}

function displayFields(fields: Dict): string {
  return `{${dictEntries(fields)
    .map(([key, item]) => `${key}: ${display(item)}`)
    .join(', ')}}`;
}

function displayEnum(value: EnumValue): string {
  const name = `${value.enumName}.${value.variant}`;
  return value.fields.length === 0 ? name : `${name}(${value.fields.map(display).join(', ')})`;
}

/** One decimal for integral values below 1e15; otherwise shortest round-trip digits without an exponent. */
export function displayFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return `${Object.is(value, -0) ? '-0' : value}.0`;
  return plainDigits(value);
}

/** The shortest digits that read back as the same double, with zeros instead of an exponent. */
export function plainDigits(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', lead = '', fraction = '', exponentText = '0'] = match;
  const digits = lead + fraction;
  const exponent = Number(exponentText);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

const SHOWN_BYTES = 32;

function displayBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString('hex');
  return bytes.length > SHOWN_BYTES ? `b"${hex}"...+${bytes.length - SHOWN_BYTES}` : `b"${hex}"`;
}

/** The largest of h, m, s that divides exactly, else milliseconds. */
function displayDuration(ms: number): string {
  if (ms === 0) return '0ms';
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const) {
    if (ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
