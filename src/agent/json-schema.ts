import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { codePointLength, renderJson } from './json-text.ts';

/**
 * The part of JSON Schema that models and tools use. It is checked here and not by the schema builtins of the
 * language, because a tool call must be checked where no Harn value exists.
 *
 * @returns one line per fault, each beginning with the path of the value (`$.items[2].name`)
 */
export function schemaFaults(value: Json, schema: JsonObject, path = '$'): string[] {
  const type = schema.type;
  if (type !== undefined && !hasType(value, type)) return [`${path}: expected ${renderType(type)}, got ${jsonType(value)}`];
  if (value === null && schema.nullable === true) return [];
  return [
    ...choiceFaults(value, schema, path),
    ...combinationFaults(value, schema, path),
    ...(typeof value === 'string' ? stringFaults(value, schema, path) : []),
    ...(typeof value === 'number' ? numberFaults(value, schema, path) : []),
    ...(Array.isArray(value) ? arrayFaults(value, schema, path) : []),
    ...(isJsonObject(value) ? objectFaults(value, schema, path) : []),
  ];
}

export function jsonType(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Names of the language are accepted beside those of JSON Schema, since scripts write schemas by hand. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
  nil: 'null',
};

/** The JSON Schema name of a type, however a script spelled it. */
function schemaTypeName(name: string): string {
  return TYPE_NAMES[name] ?? name;
}

const SCHEMA_KEYS: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
]);
const SCHEMA_LIST_KEYS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SCHEMA_MAP_KEYS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** A schema as services read it, with the type names of JSON Schema at every depth; keys keep their order. */
export function standardSchema(schema: JsonObject): JsonObject {
  const inner = (part: Json | undefined): Json | undefined => (isJsonObject(part) ? standardSchema(part) : part);
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, Json | undefined][] => {
      if (key === 'type') return value === 'any' ? [] : [[key, standardType(value)]];
      if (SCHEMA_KEYS.has(key)) return [[key, inner(value)]];
      if (SCHEMA_LIST_KEYS.has(key) && Array.isArray(value)) return [[key, value.map((part) => inner(part) ?? part)]];
      if (SCHEMA_MAP_KEYS.has(key) && isJsonObject(value)) {
        return [[key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]))]];
      }
      return [[key, value]];
    }),
  );
}

function standardType(type: Json | undefined): Json | undefined {
  if (Array.isArray(type)) return type.map((one) => (typeof one === 'string' ? schemaTypeName(one) : one));
  return typeof type === 'string' ? schemaTypeName(type) : type;
}

function hasType(value: Json, type: Json): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(value, one));
  if (typeof type !== 'string') return true;
  const wanted = schemaTypeName(type);
  const actual = jsonType(value);
  return wanted === 'any' || wanted === actual || (wanted === 'number' && actual === 'integer');
}

function renderType(type: Json): string {
  return Array.isArray(type) ? type.map(String).join(' or ') : String(type);
}

function choiceFaults(value: Json, schema: JsonObject, path: string): string[] {
  const text = renderJson(value);
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => renderJson(choice) === text)) {
    return [`${path}: expected one of ${schema.enum.map((choice) => renderJson(choice)).join(', ')}, got ${text}`];
  }
  if (schema.const !== undefined && renderJson(schema.const) !== text)
    return [`${path}: expected ${renderJson(schema.const)}, got ${text}`];
  return [];
}

function combinationFaults(value: Json, schema: JsonObject, path: string): string[] {
  const faults: string[] = [];
  for (const part of subschemas(schema.allOf)) faults.push(...schemaFaults(value, part, path));
  const any = subschemas(schema.anyOf);
  if (any.length > 0 && !any.some((part) => schemaFaults(value, part, path).length === 0)) faults.push(`${path}: matches none of anyOf`);
  const one = subschemas(schema.oneOf);
  const matching = one.filter((part) => schemaFaults(value, part, path).length === 0).length;
  if (one.length > 0 && matching !== 1) faults.push(`${path}: matches ${matching} of oneOf, expected exactly one`);
  return faults;
}

function subschemas(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function stringFaults(value: string, schema: JsonObject, path: string): string[] {
  const faults: string[] = [];
  const length = codePointLength(value);
  if (typeof schema.minLength === 'number' && length < schema.minLength) faults.push(`${path}: shorter than ${schema.minLength}`);
  if (typeof schema.maxLength === 'number' && length > schema.maxLength) faults.push(`${path}: longer than ${schema.maxLength}`);
  if (typeof schema.pattern === 'string' && compile(schema.pattern)?.test(value) === false) {
    faults.push(`${path}: does not match ${schema.pattern}`);
  }
  return faults;
}

/** A pattern that is no regular expression checks nothing: it is the schema's fault, not the value's. */
function compile(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

function numberFaults(value: number, schema: JsonObject, path: string): string[] {
  const faults: string[] = [];
  if (typeof schema.minimum === 'number' && value < schema.minimum) faults.push(`${path}: less than ${schema.minimum}`);
  if (typeof schema.maximum === 'number' && value > schema.maximum) faults.push(`${path}: greater than ${schema.maximum}`);
  if (typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum) {
    faults.push(`${path}: not greater than ${schema.exclusiveMinimum}`);
  }
  if (typeof schema.exclusiveMaximum === 'number' && value >= schema.exclusiveMaximum) {
    faults.push(`${path}: not less than ${schema.exclusiveMaximum}`);
  }
  return faults;
}

function arrayFaults(value: readonly Json[], schema: JsonObject, path: string): string[] {
  const faults: string[] = [];
  if (typeof schema.minItems === 'number' && value.length < schema.minItems) faults.push(`${path}: fewer than ${schema.minItems} items`);
  if (typeof schema.maxItems === 'number' && value.length > schema.maxItems) faults.push(`${path}: more than ${schema.maxItems} items`);
  const { items } = schema;
  if (!isJsonObject(items)) return faults;
  return [...faults, ...value.flatMap((item, index) => schemaFaults(item, items, `${path}[${index}]`))];
}

function objectFaults(value: JsonObject, schema: JsonObject, path: string): string[] {
  const faults: string[] = [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === 'string' && value[name] === undefined) faults.push(`${path}: missing required field \`${name}\``);
  }
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const part = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isJsonObject(part)) faults.push(...schemaFaults(item, part, `${path}.${name}`));
    else if (part === undefined && schema.additionalProperties === false) faults.push(`${path}: unexpected field \`${name}\``);
    else if (part === undefined && isJsonObject(schema.additionalProperties)) {
      faults.push(...schemaFaults(item, schema.additionalProperties, `${path}.${name}`));
    }
  }
  return faults;
}
