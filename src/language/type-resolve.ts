import type { TypeNode, TypeParameter } from './ast.ts';
import { Scope, type TypeDeclaration } from './check-scope.ts';
import {
  ANY,
  BOOL,
  base,
  functionType,
  type GenericName,
  generic,
  listOf,
  membersOf,
  NEVER,
  type ShapeField,
  type Type,
  UNKNOWN,
  union,
} from './types.ts';

/** Names of kinds that have no arguments. Any other name that nothing declares is not known, and so never wrong. */
const BASE_NAMES: ReadonlySet<string> = new Set([
  'int',
  'float',
  'string',
  'bool',
  'nil',
  'set',
  'bytes',
  'closure',
  'duration',
  'range',
  'task_handle',
  'channel',
]);

const GENERIC_NAMES: Readonly<Record<string, GenericName>> = {
  list: 'list',
  dict: 'dict',
  iter: 'iter',
  Iter: 'iter',
  generator: 'Generator',
  Generator: 'Generator',
  stream: 'Stream',
  Stream: 'Stream',
  Schema: 'Schema',
  pair: 'Pair',
  Pair: 'Pair',
};

/** Reads a written type. Aliases are transparent; one that contains itself is not known where it meets itself. */
export function resolveType(node: TypeNode, scope: Scope, inside: ReadonlySet<TypeDeclaration> = new Set()): Type {
  const inner = (type: TypeNode): Type => resolveType(type, scope, inside);
  switch (node.kind) {
    case 'LiteralType':
      return { kind: 'literal', value: node.value };
    case 'ShapeType':
      return {
        kind: 'shape',
        fields: node.fields.map((field) => ({ name: field.name, isOptional: field.isOptional, type: inner(field.type) })),
      };
    case 'FunctionType':
      return functionType(node.params.map(inner), inner(node.result));
    case 'UnionType':
      return union(node.members.map(inner));
    case 'IntersectionType':
      return intersection(node.members.map(inner));
    case 'NamedType':
      return resolveName(node.name, node.args, scope, inside);
  }
}

function resolveName(name: string, args: readonly TypeNode[], scope: Scope, inside: ReadonlySet<TypeDeclaration>): Type {
  const meaning = scope.type(name);
  const resolved = (): Type[] => args.map((arg) => resolveType(arg, scope, inside));
  if (meaning === undefined) return builtinType(name, resolved());
  if (meaning.kind === 'type') return meaning.type;
  const { node } = meaning;
  switch (node.kind) {
    case 'TypeAlias':
      if (inside.has(node)) return ANY;
      return distribute(node.typeParams, resolved(), (actual) =>
        resolveType(node.type, parameterScope(node.typeParams, actual, meaning.scope), new Set([...inside, node])),
      );
    case 'Enum':
      return { kind: 'enum', declaration: { node, scope: meaning.scope }, args: resolved() };
    case 'Struct':
      return { kind: 'struct', declaration: { node, scope: meaning.scope }, args: resolved() };
    case 'Interface':
      return { kind: 'interface', declaration: { node, scope: meaning.scope }, args: resolved() };
  }
}

/** `Harness` and its parts (spec/language.md 15.3): types without a structure of their own. */
function isHandleName(name: string): boolean {
  return /^Harness(?:[A-Z]\w*)?$/.test(name);
}

/** Is this the handle of capabilities or a part of it? */
export function isHandle(type: Type): boolean {
  return type.kind === 'base' && isHandleName(type.name);
}

/** What `type_of` says of values whose kind has no type of its own here. */
const OTHER_KINDS = ['atomic', 'rng', 'sync_permit', 'builtin', 'struct', 'enum'] as const;

/** Names that mean something in a type without a declaration. */
export const KNOWN_TYPE_NAMES: ReadonlySet<string> = new Set([
  ...BASE_NAMES,
  ...Object.keys(GENERIC_NAMES),
  ...OTHER_KINDS,
  'any',
  'unknown',
  'never',
  'Result',
]);

export function isKnownTypeName(name: string): boolean {
  return KNOWN_TYPE_NAMES.has(name) || isHandleName(name);
}

function builtinType(name: string, args: readonly Type[]): Type {
  if (BASE_NAMES.has(name) || isHandleName(name)) return base(name);
  switch (name) {
    case 'any':
      return ANY;
    case 'unknown':
      return UNKNOWN;
    case 'never':
      return NEVER;
    case 'true':
    case 'false':
      return BOOL;
    case 'list':
      return args[0] === undefined ? generic('list') : listOf(args[0]);
    default: {
      const known = Object.hasOwn(GENERIC_NAMES, name) ? GENERIC_NAMES[name] : undefined;
      return known === undefined ? ANY : generic(known, args);
    }
  }
}

/** The most alternatives that a distributed alias may grow to. */
const DISTRIBUTION_LIMIT = 64;

/**
 * `Container<A | B>` means `Container<A> | Container<B>` when the argument is a union of literals: each alternative then
 * fixes the parameter by itself.
 */
function distribute(params: readonly TypeParameter[], args: readonly Type[], apply: (args: readonly Type[]) => Type): Type {
  if (params.length === 0) return apply([]);
  let combinations: Type[][] = [[]];
  for (const [index] of params.entries()) {
    const arg = args[index] ?? ANY;
    const members = membersOf(arg);
    const choices = arg.kind === 'union' && members.every(({ kind }) => kind === 'literal') ? members : [arg];
    if (combinations.length * choices.length > DISTRIBUTION_LIMIT) return apply(params.map((_, at) => args[at] ?? ANY));
    combinations = combinations.flatMap((combination) => choices.map((choice) => [...combination, choice]));
  }
  return union(combinations.map(apply));
}

/** A scope in which the parameters stand for these types; missing ones are not known. */
export function parameterScope(params: readonly TypeParameter[], args: readonly Type[], parent: Scope): Scope {
  if (params.length === 0) return parent;
  const scope = new Scope(parent);
  for (const [index, { name }] of params.entries()) scope.types.set(name, { kind: 'type', type: args[index] ?? ANY });
  return scope;
}

/** A scope in which each parameter is a type of its own, for reading the declaration itself. */
export function abstractScope(params: readonly TypeParameter[], parent: Scope): Scope {
  return parameterScope(
    params,
    params.map(({ name }): Type => ({ kind: 'parameter', name })),
    parent,
  );
}

/** All fields of all shapes; what is not a shape cannot be intersected. */
function intersection(types: readonly Type[]): Type {
  const fields = new Map<string, ShapeField>();
  for (const type of types) {
    if (type.kind !== 'shape') return ANY;
    for (const field of type.fields) {
      const known = fields.get(field.name);
      fields.set(field.name, known === undefined || (known.isOptional && !field.isOptional) ? field : known);
    }
  }
  return { kind: 'shape', fields: [...fields.values()] };
}
