import { dictEntries, dictGet, dictHas, dictKeys, dictOf } from '../dict.ts';
import { Dict, type Value } from '../value.ts';

/**
 * The spellings of a schema (spec/language.md 8.9): the canonical dict of this language, JSON Schema, and the schema
 * objects of OpenAPI. Keys that no table names (`title`, `description`, …) are carried over as they are.
 */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'dict',
  array: 'list',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'nil',
};

const KEYS: Readonly<Record<string, string>> = {
  additionalProperties: 'additional_properties',
  minItems: 'min_items',
  maxItems: 'max_items',
  minLength: 'min_length',
  maxLength: 'max_length',
  minimum: 'min',
  maximum: 'max',
  anyOf: 'union',
  oneOf: 'union',
  allOf: 'all_of',
};

const JSON_TYPE_NAMES = inverted(TYPE_NAMES);
const JSON_KEYS: Readonly<Record<string, string>> = { ...inverted(KEYS), union: 'anyOf' };

/** Canonical type names that JSON Schema has other means for, or none. */
const JSON_TYPES_APART: Readonly<Record<string, readonly (readonly [string, Value])[]>> = {
  any: [],
  closure: [],
  set: [
    ['type', 'array'],
    ['uniqueItems', true],
  ],
  bytes: [
    ['type', 'string'],
    ['contentEncoding', 'base64'],
  ],
};

function inverted(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([from, to]) => [to, from]));
}

/** From any spelling to the canonical one; a canonical schema stays what it is. */
export function canonicalSchema(schema: Dict): Dict {
  return dictOf(
    dictEntries(schema).map(([key, value]) => {
      const name = KEYS[key] ?? key;
      if (name === 'type') return [name, eachName(value, TYPE_NAMES)];
      return [name, convertInner(name, value, canonicalSchema)];
    }),
  );
}

/** Canonical to JSON Schema, where `nullable` is a type among others. */
export function toJsonSchema(schema: Dict): Dict {
  return nullableAsType(spelledForJson(schema, toJsonSchema));
}

/** Canonical to OpenAPI, which keeps `nullable`. */
export function toOpenApiSchema(schema: Dict): Dict {
  return spelledForJson(schema, toOpenApiSchema);
}

function spelledForJson(schema: Dict, inner: (schema: Dict) => Dict): Dict {
  return dictOf(
    dictEntries(schema).flatMap(([key, value]): (readonly [string, Value])[] => {
      if (key !== 'type') return [[JSON_KEYS[key] ?? key, convertInner(key, value, inner)]];
      const apart = typeof value === 'string' && Object.hasOwn(JSON_TYPES_APART, value) ? JSON_TYPES_APART[value] : undefined;
      return [...(apart ?? [[key, eachName(value, JSON_TYPE_NAMES)] as const])];
    }),
  );
}

function nullableAsType(schema: Dict): Dict {
  if (dictGet(schema, 'nullable') !== true) return schema;
  const rest = dictEntries(schema).filter(([key]) => key !== 'nullable');
  const type = dictGet(schema, 'type');
  if (typeof type === 'string') return dictOf(rest.map(([key, value]) => [key, key === 'type' ? [type, 'null'] : value]));
  return dictOf([['anyOf', [dictOf(rest), dictOf([['type', 'null']])]]]);
}

function eachName(value: Value, names: Readonly<Record<string, string>>): Value {
  const one = (name: Value): Value => (typeof name === 'string' && Object.hasOwn(names, name) ? names[name] : name);
  return Array.isArray(value) ? value.map(one) : one(value);
}

/** Converts the schemas inside a value of the key with this canonical name. */
function convertInner(name: string, value: Value, convert: (schema: Dict) => Dict): Value {
  const one = (item: Value): Value => (item instanceof Dict ? convert(item) : item);
  switch (name) {
    case 'properties':
    case 'definitions':
    case '$defs':
    case 'schemas':
      return value instanceof Dict ? dictOf(dictEntries(value).map(([key, item]) => [key, one(item)])) : value;
    case 'components':
      return value instanceof Dict ? dictOf(dictEntries(value).map(([key, item]) => [key, convertInner(key, item, convert)])) : value;
    case 'items':
    case 'additional_properties':
      return one(value);
    case 'union':
    case 'all_of':
      return Array.isArray(value) ? value.map(one) : value;
    default:
      return value;
  }
}

/** No key is required any more, at any depth. */
export function partialSchema(schema: Dict): Dict {
  return dictOf(
    dictEntries(schema)
      .filter(([key]) => key !== 'required')
      .map(([key, value]) => [key, convertInner(KEYS[key] ?? key, value, partialSchema)]),
  );
}

/** The schema with the properties whose name passes, and with no other name required. Top level only. */
export function filterProperties(schema: Dict, keeps: (name: string) => boolean): Dict {
  const properties = dictGet(schema, 'properties');
  const required = dictGet(schema, 'required');
  return dictOf(
    dictKeys(schema).map((key) => {
      if (key === 'properties' && properties instanceof Dict) {
        return [key, dictOf(dictEntries(properties).filter(([name]) => keeps(name)))];
      }
      if (key === 'required' && Array.isArray(required)) return [key, required.filter((name) => typeof name === 'string' && keeps(name))];
      return [key, dictHas(schema, key) ? dictGet(schema, key) : undefined];
    }),
  );
}
