import { toDouble } from '../arithmetic.ts';
import { dictGet, dictHas, dictKeys, dictSet } from '../dict.ts';
import { display } from '../display.ts';
import { equals } from '../equality.ts';
import { typeError } from '../errors.ts';
import { translatePattern } from '../regex-syntax.ts';
import { Dict, isCallable, StructValue, typeOf, type Value } from '../value.ts';
import { canonicalSchema } from './schema-dialect.ts';

/**
 * Validation of values against schema dicts (spec/language.md 8.9). One walk does both jobs: it collects the messages
 * depth first, and it rebuilds the value when defaults have to be filled in.
 */
export interface Validation {
  readonly errors: readonly string[];
  /** The value, with defaults filled in when that was asked for. */
  readonly value: Value;
}

export type Defaults = 'apply' | 'ignore';

/** @throws type error when the schema itself is not a dict */
export function validate(value: Value, schema: Value, defaults: Defaults): Validation {
  if (!(schema instanceof Dict)) throw typeError(`a schema must be a dict, got ${typeOf(schema)}`);
  const root = canonicalSchema(schema);
  const validator = new Validator(root, defaults);
  const result = validator.visit(value, root, '', []);
  return { errors: validator.errors, value: result };
}

class Validator {
  errors: string[] = [];
  readonly #root: Dict;
  readonly #defaults: Defaults;

  constructor(root: Dict, defaults: Defaults) {
    this.#root = root;
    this.#defaults = defaults;
  }

  /** `refs` are the references followed for this very value: one met twice says nothing more. */
  visit(value: Value, schema: Dict, path: string, refs: readonly string[]): Value {
    const reference = dictGet(schema, '$ref');
    if (typeof reference === 'string') {
      if (refs.includes(reference)) return value;
      const target = this.#resolve(reference);
      if (target !== undefined) return this.visit(value, target, path, [...refs, reference]);
      this.#fail(path, `unknown reference '${reference}'`);
      return value;
    }
    if (value === undefined && dictGet(schema, 'nullable') === true) return value;
    if (!this.#checkType(value, schema, path)) return value;
    this.#checkLiterals(value, schema, path);
    let result = this.#visitChoices(value, schema, path, refs);
    if (typeof value === 'string') this.#checkText(value, schema, path);
    else if (Array.isArray(result)) result = this.#visitList(result, schema, path);
    else if (result instanceof Dict || result instanceof StructValue) result = this.#visitDict(result, schema, path);
    else this.#checkNumber(value, schema, path);
    return result;
  }

  #fail(path: string, problem: string): void {
    this.errors.push(`at ${path === '' ? 'root' : path}: ${problem}`);
  }

  #checkType(value: Value, schema: Dict, path: string): boolean {
    const type = dictGet(schema, 'type');
    if (typeof type === 'string') {
      if (hasType(value, type)) return true;
      this.#fail(path, `expected type '${type}', got '${typeOf(value)}'`);
      return false;
    }
    if (Array.isArray(type) && !type.some((name) => typeof name === 'string' && hasType(value, name))) {
      this.#fail(path, 'value did not match any union branch');
      return false;
    }
    return true;
  }

  #checkLiterals(value: Value, schema: Dict, path: string): void {
    if (dictHas(schema, 'const')) {
      const constant = dictGet(schema, 'const');
      if (!equals(value, constant)) this.#fail(path, `expected constant ${display(constant)}, got ${display(value)}`);
    }
    const choices = dictGet(schema, 'enum');
    if (Array.isArray(choices) && !choices.some((choice) => equals(value, choice))) {
      this.#fail(path, `value must be one of ${display(choices)}`);
    }
  }

  #visitChoices(value: Value, schema: Dict, path: string, refs: readonly string[]): Value {
    let result = value;
    const union = dictGet(schema, 'union');
    if (Array.isArray(union)) {
      const fitting = union.find((branch): branch is Dict => branch instanceof Dict && this.#accepts(result, branch, path, refs));
      if (fitting === undefined) this.#fail(path, 'value did not match any union branch');
      else result = this.visit(result, fitting, path, refs);
    }
    const all = dictGet(schema, 'all_of');
    for (const part of Array.isArray(all) ? all : []) {
      if (part instanceof Dict) result = this.visit(result, part, path, refs);
    }
    return result;
  }

  #accepts(value: Value, schema: Dict, path: string, refs: readonly string[]): boolean {
    const outer = this.errors;
    this.errors = [];
    this.visit(value, schema, path, refs);
    const fits = this.errors.length === 0;
    this.errors = outer;
    return fits;
  }

  #checkText(value: string, schema: Dict, path: string): void {
    const length = [...value].length;
    const least = dictGet(schema, 'min_length');
    const most = dictGet(schema, 'max_length');
    if (typeof least === 'number' && length < least) this.#fail(path, `expected length >= ${least}, got ${length}`);
    if (typeof most === 'number' && length > most) this.#fail(path, `expected length <= ${most}, got ${length}`);
    const pattern = dictGet(schema, 'pattern');
    if (typeof pattern === 'string' && !compilePattern(pattern).test(value)) {
      this.#fail(path, `value does not match pattern '${pattern}'`);
    }
  }

  #checkNumber(value: Value, schema: Dict, path: string): void {
    const number = toDouble(value);
    if (number === undefined) return;
    const least = dictGet(schema, 'min');
    const most = dictGet(schema, 'max');
    const low = toDouble(least);
    const high = toDouble(most);
    if (low !== undefined && number < low) this.#fail(path, `expected value >= ${display(least)}, got ${display(value)}`);
    if (high !== undefined && number > high) this.#fail(path, `expected value <= ${display(most)}, got ${display(value)}`);
  }

  #visitList(list: readonly Value[], schema: Dict, path: string): Value {
    const least = dictGet(schema, 'min_items');
    const most = dictGet(schema, 'max_items');
    if (typeof least === 'number' && list.length < least) this.#fail(path, `expected at least ${least} items, got ${list.length}`);
    if (typeof most === 'number' && list.length > most) this.#fail(path, `expected at most ${most} items, got ${list.length}`);
    const items = dictGet(schema, 'items');
    if (!(items instanceof Dict)) return list;
    const visited = list.map((item, index) => this.visit(item, items, `${path}[${index}]`, []));
    return visited.some((item, index) => item !== list[index]) ? visited : list;
  }

  #visitDict(value: Dict | StructValue, schema: Dict, path: string): Value {
    const properties = asDict(dictGet(schema, 'properties'));
    let fields = value instanceof Dict ? value : value.fields;
    if (this.#defaults === 'apply') fields = withDefaults(fields, properties);
    const required = dictGet(schema, 'required');
    for (const key of Array.isArray(required) ? required : []) {
      if (typeof key === 'string' && !dictHas(fields, key)) this.#fail(path, `missing required key '${key}'`);
    }
    const additional = dictGet(schema, 'additional_properties');
    for (const key of dictKeys(fields)) {
      const property = properties !== undefined && dictHas(properties, key) ? dictGet(properties, key) : additional;
      if (property === false) this.#fail(path, `unexpected key '${key}'`);
      if (!(property instanceof Dict)) continue;
      const item = dictGet(fields, key);
      const visited = this.visit(item, property, path === '' ? key : `${path}.${key}`, []);
      if (visited !== item) fields = dictSet(fields, key, visited);
    }
    if (value instanceof Dict) return fields;
    return fields === value.fields ? value : new StructValue(value.structName, fields);
  }

  #resolve(reference: string): Dict | undefined {
    if (!reference.startsWith('#')) return undefined;
    let current: Value = this.#root;
    for (const part of reference.split('/').slice(1)) {
      if (!(current instanceof Dict)) return undefined;
      current = dictGet(current, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    return asDict(current);
  }
}

function asDict(value: Value): Dict | undefined {
  return value instanceof Dict ? value : undefined;
}

function withDefaults(fields: Dict, properties: Dict | undefined): Dict {
  let filled = fields;
  for (const key of properties === undefined ? [] : dictKeys(properties)) {
    const property = properties && dictGet(properties, key);
    if (!dictHas(filled, key) && property instanceof Dict && dictHas(property, 'default')) {
      filled = dictSet(filled, key, dictGet(property, 'default'));
    }
  }
  return filled;
}

/** The name is canonical: `dict`, `list`, `int`, … */
function hasType(value: Value, type: string): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'dict':
      return value instanceof Dict || value instanceof StructValue;
    case 'closure':
      return isCallable(value);
    default:
      return typeOf(value) === type;
  }
}

function compilePattern(pattern: string): RegExp {
  try {
    const { source, flags } = translatePattern(pattern, '', true);
    return new RegExp(source, flags);
  } catch (error) {
    throw typeError(`schema pattern '${pattern}' is not a regular expression: ${(error as Error).message}`);
  }
}
