import type { EnumDeclaration, InterfaceMethod, Parameter, StructDeclaration, TypeNode } from './ast.ts';
import { Scope } from './check-scope.ts';
import { parameterScope, resolveType } from './type-resolve.ts';
import { ANY, type FunctionType, isNil, kindOf, renderType, type ShapeField, type Type } from './types.ts';

/** May a value of type `from` stand where `to` is wanted (spec/language.md 8.3)? Answers yes whenever it is not known. */
export function isAssignable(from: Type, to: Type): boolean {
  if (from === to || from.kind === 'any' || to.kind === 'any' || from.kind === 'never' || to.kind === 'unknown') return true;
  if (from.kind === 'unknown' || to.kind === 'never') return false;
  if (from.kind === 'parameter' || to.kind === 'parameter') return true;
  if (from.kind === 'union') return from.members.every((member) => isAssignable(member, to));
  if (to.kind === 'union') return to.members.some((member) => isAssignable(from, member));
  switch (to.kind) {
    case 'base':
      return fitsBase(from, to.name);
    case 'literal':
      return from.kind === 'literal' ? from.value === to.value : fitsBase(from, kindOf(to) as string);
    case 'generic':
      return fitsGeneric(from, to);
    case 'shape':
      return fitsShape(from, to.fields);
    case 'function':
      return from.kind === 'function' ? fitsFunction(from, to) : kindOf(from) === 'closure';
    case 'enum':
      return from.kind === 'enum' && fitsNominal(from.declaration.node, from.args, to.declaration.node, to.args);
    case 'struct':
      // A dict may be on its way to become the struct: nothing checks that before it runs.
      if (from.kind === 'struct') return fitsNominal(from.declaration.node, from.args, to.declaration.node, to.args);
      return kindOf(from) === 'dict' || from.kind === 'interface';
    case 'interface':
      if (from.kind === 'struct') return whyUnsatisfied(from, to) === undefined;
      return from.kind === 'interface' ? true : kindOf(from) === 'dict';
  }
}

/** Neither may be any wider than the other: what a container that can be written to needs. */
export function isEquivalent(a: Type, b: Type): boolean {
  return isAssignable(a, b) && isAssignable(b, a);
}

function fitsBase(from: Type, name: string): boolean {
  const kind = kindOf(from);
  return kind === name || (kind === 'int' && name === 'float') || from.kind === 'interface';
}

function fitsGeneric(from: Type, to: Extract<Type, { kind: 'generic' }>): boolean {
  if (to.name === 'Schema') return kindOf(from) === 'dict' || (from.kind === 'generic' && from.name === 'Schema');
  if (to.name === 'dict') return fitsDict(from, to.args[1]);
  if (from.kind !== 'generic' || from.name !== to.name) return false;
  const isInvariant = to.name === 'list';
  return to.args.every((arg, index) => {
    const given = from.args[index] ?? ANY;
    return isInvariant ? isEquivalent(given, arg) : isAssignable(given, arg);
  });
}

function fitsDict(from: Type, value: Type | undefined): boolean {
  switch (from.kind) {
    case 'shape':
      return value === undefined || from.fields.every((field) => isAssignable(field.type, value));
    case 'generic':
      if (from.name === 'Schema') return true;
      return from.name === 'dict' && (value === undefined || from.args[1] === undefined || isEquivalent(from.args[1], value));
    default:
      return from.kind === 'struct' || from.kind === 'interface';
  }
}

function fitsShape(from: Type, fields: readonly ShapeField[]): boolean {
  if (from.kind !== 'shape') return kindOf(from) === 'dict' || from.kind === 'struct' || from.kind === 'interface';
  return misfit(from.fields, fields) === undefined;
}

/** The first field of the target that the given fields miss or hold with another type. */
function misfit(given: readonly ShapeField[], wanted: readonly ShapeField[]): { wanted: ShapeField; given?: ShapeField } | undefined {
  const byName = new Map(given.map((field) => [field.name, field]));
  for (const field of wanted) {
    const found = byName.get(field.name);
    if (found === undefined) {
      if (!field.isOptional) return { wanted: field };
    } else if (!isAssignable(found.type, field.type) && !(field.isOptional && kindOf(found.type) === 'nil')) {
      return { wanted: field, given: found };
    }
  }
  return undefined;
}

/** Why one shape does not fit another, as messages add it in parentheses; empty when that says nothing more. */
export function explainMisfit(from: Type, to: Type): string {
  if (from.kind !== 'shape' || to.kind !== 'shape') return '';
  const found = misfit(from.fields, to.fields);
  if (found === undefined) return '';
  const { name, type } = found.wanted;
  if (found.given === undefined) return ` (missing field '${name}' (${renderType(type)}))`;
  return ` (field '${name}' has type ${renderType(found.given.type)}, expected ${renderType(type)})`;
}

function fitsFunction(from: FunctionType, to: FunctionType): boolean {
  const wanted = to.params.length;
  if (wanted < from.required || (wanted > from.params.length && !from.hasRest)) return false;
  // Who wants nil drops what comes back.
  return (
    (isNil(to.result) || isAssignable(from.result, to.result)) &&
    to.params.every((param, index) => isAssignable(param, from.params[index] ?? ANY))
  );
}

function fitsNominal(
  from: EnumDeclaration | StructDeclaration,
  fromArgs: readonly Type[],
  to: EnumDeclaration | StructDeclaration,
  toArgs: readonly Type[],
): boolean {
  if (from.name !== to.name) return false;
  return toArgs.every((wanted, index) => {
    const given = fromArgs[index] ?? ANY;
    switch (to.typeParams[index]?.variance) {
      case 'out':
        return isAssignable(given, wanted);
      case 'in':
        return isAssignable(wanted, given);
      default:
        return isEquivalent(given, wanted);
    }
  });
}

// ---- interfaces ----

type StructType = Extract<Type, { kind: 'struct' }>;
type InterfaceType = Extract<Type, { kind: 'interface' }>;

/**
 * Why a struct does not satisfy an interface; undefined when it does. Satisfaction is structural over `impl` methods;
 * associated types are fixed by the first method that uses them.
 */
export function whyUnsatisfied(struct: StructType, wanted: InterfaceType): string | undefined {
  const { node } = wanted.declaration;
  const find = (name: string) =>
    struct.declaration.scope.method(struct.declaration.node.name, name) ??
    wanted.declaration.scope.method(struct.declaration.node.name, name);
  const missing = node.methods.map(({ name }) => name).filter((name) => find(name) === undefined);
  if (missing.length > 0) return `missing method(s): ${missing.join(', ')}`;
  const scopes = {
    wanted: new Scope(parameterScope(node.typeParams, wanted.args, wanted.declaration.scope)),
    given: struct.declaration.scope,
  };
  const associated = new Map<string, Type | undefined>();
  for (const { name, type } of node.associated) {
    associated.set(name, type && resolveType(type, scopes.wanted));
    scopes.wanted.types.set(name, { kind: 'type', type: ANY });
  }
  for (const method of node.methods) {
    const problem = compareMethod(method, find(method.name) as InterfaceMethod, scopes, associated);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function compareMethod(
  wanted: InterfaceMethod,
  given: InterfaceMethod,
  scopes: { readonly wanted: Scope; readonly given: Scope },
  associated: Map<string, Type | undefined>,
): string | undefined {
  const expected = withoutSelf(wanted.params);
  const actual = withoutSelf(given.params);
  if (expected.length !== actual.length) {
    return `method '${wanted.name}' has ${actual.length} parameter(s), expected ${expected.length}`;
  }
  const own = parameterScope(given.typeParams, [], scopes.given);
  const theirs = parameterScope(wanted.typeParams, [], scopes.wanted);
  for (const [index, param] of expected.entries()) {
    const problem = compareTypes(param.type, actual[index]?.type, theirs, own, associated, isAccepted);
    if (typeof problem === 'string') return problem;
    if (problem !== undefined) {
      return `method '${wanted.name}' parameter ${index + 1} has type '${problem.given}', expected '${problem.wanted}'`;
    }
  }
  const problem = compareTypes(wanted.returnType, given.returnType, theirs, own, associated, isAssignable);
  if (typeof problem === 'string' || problem === undefined) return problem;
  return `method '${wanted.name}' returns '${problem.given}', expected '${problem.wanted}'`;
}

function isAccepted(given: Type, wanted: Type): boolean {
  return isAssignable(wanted, given);
}

function compareTypes(
  wanted: TypeNode | undefined,
  given: TypeNode | undefined,
  theirs: Scope,
  own: Scope,
  associated: Map<string, Type | undefined>,
  fits: (given: Type, wanted: Type) => boolean,
): string | { readonly given: string; readonly wanted: string } | undefined {
  if (wanted === undefined || given === undefined) return undefined;
  const actual = resolveType(given, own);
  if (wanted.kind === 'NamedType' && associated.has(wanted.name)) {
    const known = associated.get(wanted.name);
    associated.set(wanted.name, known ?? actual);
    if (known === undefined || isEquivalent(actual, known)) return undefined;
    return `associated type '${wanted.name}' resolves to '${renderType(actual)}', expected '${renderType(known)}'`;
  }
  const expected = resolveType(wanted, theirs);
  return fits(actual, expected) ? undefined : { given: renderType(actual), wanted: renderType(expected) };
}

function withoutSelf(params: readonly Parameter[]): readonly Parameter[] {
  return params[0]?.name === 'self' ? params.slice(1) : params;
}
