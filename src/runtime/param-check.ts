import { editDistance } from '../base/edit-distance.ts';
import type { TypeDescriptor } from '../language/emit-types.ts';
import { dictGet, dictHas, dictKeys } from './dict.ts';
import { display } from './display.ts';
import { equals } from './equality.ts';
import { runtimeError, typeError } from './errors.ts';
import { Dict, isCallable, StructValue, typeOf, type Value } from './value.ts';

/** Run-time checks of annotated parameters (spec/language.md 8.8). Nothing else is checked while a script runs. */
export function checkParameter(name: string, type: TypeDescriptor, value: Value): void {
  if (matches(type, value)) return;
  throw mismatch(name, type, value);
}

/** Does the value fit? int and float accept each other; structs fit shapes. */
export function matches(type: TypeDescriptor, value: Value): boolean {
  switch (type.t) {
    case 'scalar':
      return matchesScalar(type.name, value);
    case 'list': {
      const { item } = type;
      return Array.isArray(value) && (item === undefined || value.every((element) => matches(item, element)));
    }
    case 'dict': {
      const inner = type.value;
      const fields = fieldsOf(value);
      return fields !== undefined && (inner === undefined || dictKeys(fields).every((key) => matches(inner, dictGet(fields, key))));
    }
    case 'shape': {
      const fields = fieldsOf(value);
      if (fields === undefined) return false;
      return type.fields.every((field) => {
        if (!dictHas(fields, field.name)) return field.optional;
        const item = dictGet(fields, field.name);
        return field.type === undefined || (field.optional && item === undefined) || matches(field.type, item);
      });
    }
    case 'union':
      return type.members.some((member) => matches(member, value));
    case 'literal':
      return equals(value, type.value);
    case 'callable':
      return isCallable(value);
    case 'interface':
      return value instanceof StructValue;
  }
}

function matchesScalar(name: string, value: Value): boolean {
  const kind = typeOf(value);
  switch (name) {
    case 'int':
    case 'float':
      return kind === 'int' || kind === 'float';
    case 'closure':
      return isCallable(value);
    default:
      return kind === name;
  }
}

function fieldsOf(value: Value): Dict | undefined {
  if (value instanceof Dict) return value;
  return value instanceof StructValue ? value.fields : undefined;
}

function mismatch(name: string, type: TypeDescriptor, value: Value): Error {
  switch (type.t) {
    case 'shape':
      return shapeMismatch(name, type, value);
    case 'interface':
      return typeError(`parameter '${name}': expected value satisfying interface '${type.name}', got ${typeOf(value)}`);
    case 'list':
      return listMismatch(name, type, value);
    case 'dict':
      return dictMismatch(name, type, value);
    default:
      return runtimeError(`TypeError: parameter '${name}' expected ${describe(type)}, got ${typeOf(value)} (${display(value)})`);
  }
}

function listMismatch(name: string, type: Extract<TypeDescriptor, { t: 'list' }>, value: Value): Error {
  const { item } = type;
  if (Array.isArray(value) && item !== undefined) {
    const index = value.findIndex((element) => !matches(item, element));
    const element = value[index];
    return runtimeError(`TypeError: parameter '${name}'[${index}]: expected type '${describe(item)}', got '${typeOf(element)}'`);
  }
  return runtimeError(`TypeError: parameter '${name}' expected list, got ${typeOf(value)} (${display(value)})`);
}

function dictMismatch(name: string, type: Extract<TypeDescriptor, { t: 'dict' }>, value: Value): Error {
  const fields = fieldsOf(value);
  if (fields === undefined) return typeError(`parameter '${name}': expected dict or struct, got ${typeOf(value)}`);
  const inner = type.value;
  const key = dictKeys(fields).find((candidate) => inner !== undefined && !matches(inner, dictGet(fields, candidate)));
  const expected = inner === undefined ? 'any' : describe(inner);
  return typeError(
    `parameter '${name}': field '${key}' expected ${expected}, got ${typeOf(key === undefined ? undefined : dictGet(fields, key))}`,
  );
}

function shapeMismatch(path: string, type: Extract<TypeDescriptor, { t: 'shape' }>, value: Value): Error {
  const fields = fieldsOf(value);
  if (fields === undefined) return typeError(`parameter '${path}': expected dict or struct, got ${typeOf(value)}`);
  for (const field of type.fields) {
    if (!dictHas(fields, field.name)) {
      if (field.optional) continue;
      const known = new Set(type.fields.map((other) => other.name));
      const near = dictKeys(fields).find((key) => !known.has(key) && editDistance(key, field.name, 2) <= 2);
      const hint = near === undefined ? '' : `, did you mean '${near}'?`;
      return typeError(`parameter '${path}': missing field '${field.name}' (${field.text})${hint}`);
    }
    const item = dictGet(fields, field.name);
    const inner = field.type;
    if (inner === undefined || (field.optional && item === undefined) || matches(inner, item)) continue;
    if (inner.t === 'shape' && fieldsOf(item) !== undefined) return shapeMismatch(`${path}.${field.name}`, inner, item);
    const expected = inner.t === 'shape' ? 'dict or struct' : describe(inner);
    return typeError(`parameter '${path}': field '${field.name}' expected ${expected}, got ${typeOf(item)}`);
  }
  return typeError(`parameter '${path}': expected dict or struct, got ${typeOf(value)}`);
}

/** A type as these messages print it: unions without blanks. */
function describe(type: TypeDescriptor): string {
  switch (type.t) {
    case 'scalar':
      return type.name;
    case 'list':
      return type.item === undefined ? 'list' : `list<${describe(type.item)}>`;
    case 'dict':
      return type.value === undefined ? 'dict' : `dict<string, ${describe(type.value)}>`;
    case 'shape':
      return 'dict';
    case 'union':
      return type.members.map(describe).join('|');
    case 'literal':
      return typeof type.value === 'string' ? JSON.stringify(type.value) : String(type.value);
    case 'callable':
      return 'closure';
    case 'interface':
      return type.name;
  }
}
