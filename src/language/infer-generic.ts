import type { TypeParameter } from './ast.ts';
import { ANY, functionType, generic, isNil, membersOf, type Type, union } from './types.ts';
import { isAssignable } from './types-assignability.ts';

/** Two arguments that say different things of one type parameter. */
export interface BindingConflict {
  readonly name: string;
  readonly first: Type;
  readonly second: Type;
}

/**
 * Learns from one argument what the type parameters stand for (spec/language.md 8.10). The first binding wins.
 *
 * @returns the conflict, when a later argument says something else
 */
export function bindParameters(
  { typeParams }: { readonly typeParams: readonly TypeParameter[] },
  wanted: Type,
  given: Type,
  bindings: Map<string, Type>,
): BindingConflict | undefined {
  if (typeParams.length === 0 || given.kind === 'any' || given.kind === 'never') return undefined;
  const own = new Set(typeParams.map(({ name }) => name));
  return bind(wanted, given, own, bindings);
}

function bind(wanted: Type, given: Type, own: ReadonlySet<string>, bindings: Map<string, Type>): BindingConflict | undefined {
  if (given.kind === 'any' || given.kind === 'parameter') return undefined;
  const all = (pairs: readonly (readonly [Type, Type | undefined])[]): BindingConflict | undefined => {
    for (const [inner, actual] of pairs) {
      const conflict = actual && bind(inner, actual, own, bindings);
      if (conflict !== undefined) return conflict;
    }
    return undefined;
  };
  switch (wanted.kind) {
    case 'parameter':
      return own.has(wanted.name) ? bindOne(wanted.name, given, bindings) : undefined;
    case 'generic':
      if (wanted.name === 'dict' && given.kind === 'shape') {
        return all([[wanted.args[1] ?? ANY, given.fields.length === 0 ? undefined : union(given.fields.map(({ type }) => type))]]);
      }
      return given.kind === 'generic' && given.name === wanted.name
        ? all(wanted.args.map((arg, index) => [arg, given.args[index]]))
        : undefined;
    case 'struct':
    case 'enum':
    case 'interface':
      return given.kind === wanted.kind && given.declaration.node.name === wanted.declaration.node.name
        ? all(wanted.args.map((arg, index) => [arg, given.args[index]]))
        : undefined;
    case 'shape':
      return given.kind === 'shape'
        ? all(wanted.fields.map((field) => [field.type, given.fields.find(({ name }) => name === field.name)?.type]))
        : undefined;
    case 'function':
      return given.kind === 'function'
        ? all([...wanted.params.map((param, index) => [param, given.params[index]] as const), [wanted.result, given.result]])
        : undefined;
    case 'union': {
      // `list<T> | nil` learns T from a list, `T | nil` from what is not nil.
      const alike = wanted.members.find((member) => member.kind === given.kind && member.kind !== 'base');
      if (alike !== undefined) return bind(alike, given, own, bindings);
      const open = wanted.members.filter((member) => member.kind === 'parameter' && own.has(member.name));
      const [only] = open;
      const rest = union(
        membersOf(given).filter((member) => !wanted.members.some((other) => other !== only && isAssignable(member, other))),
      );
      return open.length === 1 && only !== undefined && rest.kind !== 'never' ? bind(only, rest, own, bindings) : undefined;
    }
    default:
      return undefined;
  }
}

function bindOne(name: string, given: Type, bindings: Map<string, Type>): BindingConflict | undefined {
  const first = bindings.get(name);
  if (first === undefined || isNil(first)) {
    bindings.set(name, given);
    return undefined;
  }
  if (isNil(given) || isAssignable(given, first) || isAssignable(first, given)) return undefined;
  return { name, first, second: given };
}

/** Puts the bindings in; a parameter that nothing is known of is dynamic. */
export function substitute(type: Type, bindings: ReadonlyMap<string, Type>, typeParams: readonly TypeParameter[]): Type {
  return typeParams.length === 0 ? type : replace(type, bindings, new Set(typeParams.map(({ name }) => name)));
}

function replace(type: Type, bindings: ReadonlyMap<string, Type>, own: ReadonlySet<string>): Type {
  const inner = (part: Type): Type => replace(part, bindings, own);
  switch (type.kind) {
    case 'parameter':
      return own.has(type.name) ? (bindings.get(type.name) ?? ANY) : type;
    case 'generic': {
      const args = type.args.map(inner);
      return type.name === 'list' && args[0]?.kind === 'any' ? generic('list') : generic(type.name, args);
    }
    case 'struct':
    case 'enum':
    case 'interface':
      return { ...type, args: type.args.map(inner) };
    case 'shape':
      return { kind: 'shape', fields: type.fields.map((field) => ({ ...field, type: inner(field.type) })) };
    case 'function':
      return functionType(type.params.map(inner), inner(type.result), type.required, type.hasRest);
    case 'union':
      return union(type.members.map(inner));
    default:
      return type;
  }
}
