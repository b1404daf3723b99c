import type { Json, JsonObject } from '../base/json.ts';

/**
 * A value of a script as far as conditions and trigger specs look into it: JSON, and leaves that they only pass on,
 * such as closures. Keeping the leaves lets a spec go through validation and come out as it was written.
 */
export type SpecValue = null | boolean | number | string | readonly SpecValue[] | SpecObject | Opaque;

export interface SpecObject {
  readonly [key: string]: SpecValue | undefined;
}

/** A leaf that is not JSON: a closure, a float, an integer beyond 2^53. */
export class Opaque {
  /** What `type_of` says of it. */
  readonly typeName: string;
  readonly value: unknown;
  constructor(typeName: string, value: unknown) {
    this.typeName = typeName;
    this.value = value;
  }
}

export function isSpecObject(value: SpecValue | undefined): value is SpecObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Opaque);
}

export function isCallableSpec(value: SpecValue | undefined): value is Opaque {
  return value instanceof Opaque && (value.typeName === 'closure' || value.typeName === 'builtin');
}

/** The name that `type_of` gives. */
export function specTypeName(value: SpecValue | undefined): string {
  if (value === undefined || value === null) return 'nil';
  if (value instanceof Opaque) return value.typeName;
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    case 'string':
      return 'string';
    default:
      return 'dict';
  }
}

const SECRET_KEY = /(secret|token|password|passwd|api[_-]?key|authorization|credential|private[_-]?key|cookie)/i;
const REDACTED = '[redacted]';

/** The declaration as envelopes and summaries show it: no closures, no values under keys that look like secrets (5.2). */
export function redactSpec(spec: SpecObject): JsonObject {
  return mapMembers(spec, (key, value) => (SECRET_KEY.test(key) && value !== null ? REDACTED : redactValue(value)));
}

/** The declaration as a snapshot keeps it: everything that JSON can hold; closures are bound again from the program. */
export function storableSpec(spec: SpecObject): JsonObject {
  return mapMembers(spec, (_key, value) => storableValue(value));
}

function redactValue(value: SpecValue): Json {
  if (value instanceof Opaque) return isCallableSpec(value) ? REDACTED : opaqueNumber(value);
  if (isSpecObject(value)) return redactSpec(value);
  return isSpecList(value) ? value.map(redactValue) : (value as Json);
}

function storableValue(value: SpecValue): Json | undefined {
  if (value instanceof Opaque) return isCallableSpec(value) ? undefined : opaqueNumber(value);
  if (isSpecObject(value)) return storableSpec(value);
  return isSpecList(value) ? value.map((item) => storableValue(item) ?? null) : (value as Json);
}

/** Floats carry their double; integers beyond 2^53 become the nearest one, which is later than any clock reaches. */
function opaqueNumber(value: Opaque): Json {
  return typeof value.value === 'number' || typeof value.value === 'bigint' ? Number(value.value) : REDACTED;
}

function isSpecList(value: SpecValue): value is readonly SpecValue[] {
  return Array.isArray(value);
}

function mapMembers(spec: SpecObject, map: (key: string, value: SpecValue) => Json | undefined): JsonObject {
  const members: [string, Json][] = [];
  for (const [key, value] of Object.entries(spec)) {
    const mapped = value === undefined ? undefined : map(key, value);
    if (mapped !== undefined) members.push([key, mapped]);
  }
  return Object.fromEntries(members);
}
