import type { EnumDeclaration, InterfaceDeclaration, StructDeclaration } from './ast.ts';
import type { Scope } from './check-scope.ts';

/**
 * The types of the gradual checker (spec/language.md 8.2). `any` stands for everything that is not known: no rule
 * ever complains about it. Generic names with no arguments are the bare forms (`list`, `iter`), whose arguments are
 * not known either.
 */
export type Type =
  | { readonly kind: 'any' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'never' }
  | { readonly kind: 'base'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | bigint }
  | { readonly kind: 'generic'; readonly name: GenericName; readonly args: readonly Type[] }
  | { readonly kind: 'shape'; readonly fields: readonly ShapeField[] }
  | FunctionType
  | { readonly kind: 'union'; readonly members: readonly Type[] }
  | { readonly kind: 'enum'; readonly declaration: Declared<EnumDeclaration>; readonly args: readonly Type[] }
  | { readonly kind: 'struct'; readonly declaration: Declared<StructDeclaration>; readonly args: readonly Type[] }
  | { readonly kind: 'interface'; readonly declaration: Declared<InterfaceDeclaration>; readonly args: readonly Type[] }
  | { readonly kind: 'parameter'; readonly name: string };

export type GenericName = 'list' | 'dict' | 'iter' | 'Generator' | 'Stream' | 'Schema' | 'Pair';

export interface FunctionType {
  readonly kind: 'function';
  readonly params: readonly Type[];
  readonly result: Type;
  /** Parameters that a caller has to give; fewer than `params` when some have defaults. */
  readonly required: number;
  readonly hasRest: boolean;
  /** Names of the parameters, for messages; a written function type has none. */
  readonly names?: readonly string[];
}

export interface ShapeField {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: Type;
}

/** A declaration with the scope in which the types inside it are to be read. */
export interface Declared<Node> {
  readonly node: Node;
  readonly scope: Scope;
}

export const ANY: Type = { kind: 'any' };
export const UNKNOWN: Type = { kind: 'unknown' };
export const NEVER: Type = { kind: 'never' };
export const NIL: Type = base('nil');
export const INT: Type = base('int');
export const FLOAT: Type = base('float');
export const STRING: Type = base('string');
export const BOOL: Type = base('bool');
export const CLOSURE: Type = base('closure');
export const LIST: Type = generic('list');
export const DICT: Type = generic('dict');

export function base(name: string): Type {
  return { kind: 'base', name };
}

export function generic(name: GenericName, args: readonly Type[] = []): Type {
  return { kind: 'generic', name, args };
}

export function listOf(item: Type): Type {
  return item.kind === 'any' ? LIST : generic('list', [item]);
}

export function functionType(params: readonly Type[], result: Type, required = params.length, hasRest = false): FunctionType {
  return { kind: 'function', params, result, required, hasRest };
}

/** The type of a value that has one of these; `any` swallows, `never` vanishes. */
export function union(types: readonly Type[]): Type {
  const members: Type[] = [];
  for (const type of types) {
    if (type.kind === 'any') return ANY;
    for (const member of membersOf(type)) if (!members.some((known) => isSame(known, member))) members.push(member);
  }
  if (members.length === 0) return NEVER;
  return members.length === 1 ? (members[0] as Type) : { kind: 'union', members };
}

/** The alternatives of a union; any other type is its own only one, and `never` has none. */
export function membersOf(type: Type): readonly Type[] {
  if (type.kind === 'union') return type.members;
  return type.kind === 'never' ? [] : [type];
}

export function isNil(type: Type): boolean {
  return type.kind === 'base' && type.name === 'nil';
}

export function withoutNil(type: Type): Type {
  return type.kind === 'union' || isNil(type) ? union(membersOf(type).filter((member) => !isNil(member))) : type;
}

export function isSame(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'any':
    case 'unknown':
    case 'never':
      return true;
    default:
      return renderType(a) === renderType(b);
  }
}

/**
 * What `type_of` would say of every value of the type; undefined when that is not known or differs between values.
 */
export function kindOf(type: Type): string | undefined {
  switch (type.kind) {
    case 'base':
      return type.name;
    case 'literal':
      return typeof type.value === 'string' ? 'string' : 'int';
    case 'generic':
      return GENERIC_KINDS[type.name];
    case 'shape':
      return 'dict';
    case 'function':
      return 'closure';
    case 'enum':
    case 'struct':
      return type.kind;
    case 'union': {
      const [first, ...rest] = type.members.map(kindOf);
      return rest.every((kind) => kind === first) ? first : undefined;
    }
    default:
      return undefined;
  }
}

/** The type of what a `for` over the value sees. */
export function itemOf(type: Type): Type {
  if (type.kind === 'generic' && type.name !== 'dict' && type.name !== 'Schema' && type.name !== 'Pair') return type.args[0] ?? ANY;
  const kind = kindOf(type);
  return kind === 'range' ? INT : kind === 'string' ? STRING : ANY;
}

const GENERIC_KINDS: Readonly<Record<GenericName, string | undefined>> = {
  list: 'list',
  dict: 'dict',
  iter: 'iter',
  Generator: 'generator',
  Stream: 'stream',
  Schema: undefined,
  Pair: 'pair',
};

/** A type as messages print it. */
export function renderType(type: Type): string {
  switch (type.kind) {
    case 'any':
    case 'unknown':
    case 'never':
      return type.kind;
    case 'base':
    case 'parameter':
      return type.name;
    case 'literal':
      return typeof type.value === 'string' ? JSON.stringify(type.value) : String(type.value);
    case 'generic':
      return withArgs(type.name, type.args);
    case 'shape':
      return `{${type.fields.map((field) => `${field.name}${field.isOptional ? '?' : ''}: ${renderType(field.type)}`).join(', ')}}`;
    case 'function':
      return `fn(${type.params.map(renderType).join(', ')}) -> ${renderType(type.result)}`;
    case 'union':
      return type.members.map(renderType).join(' | ');
    case 'enum':
    case 'struct':
    case 'interface':
      return withArgs(type.declaration.node.name, type.args.every((arg) => arg.kind === 'any') ? [] : type.args);
  }
}

function withArgs(name: string, args: readonly Type[]): string {
  return args.length === 0 ? name : `${name}<${args.map(renderType).join(', ')}>`;
}
