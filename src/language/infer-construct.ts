import { nearestName } from '../base/near-name.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Element, EnumDeclaration, Expression, StructDeclaration } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { namesDeclaredIn } from './check-names.ts';
import type { CheckState } from './check-state.ts';
import { inferArguments } from './infer-arguments.ts';
import { bindParameters, substitute } from './infer-generic.ts';
import { abstractScope, resolveType } from './type-resolve.ts';
import { ANY, type Declared, kindOf, NIL, renderType, type Type } from './types.ts';
import { isAssignable } from './types-assignability.ts';

/** The enum that an expression names; undefined when a variable has that name, or when it is no enum. */
export function enumNamed(state: CheckState, node: Expression): Declared<EnumDeclaration> | undefined {
  if (node.kind !== 'Identifier' || state.scope.value(node.name) !== undefined) return undefined;
  const meaning = state.scope.type(node.name);
  return meaning?.kind === 'declared' && meaning.node.kind === 'Enum' ? { node: meaning.node, scope: meaning.scope } : undefined;
}

export function structNamed(state: CheckState, name: string): Declared<StructDeclaration> | undefined {
  const meaning = state.scope.type(name);
  return meaning?.kind === 'declared' && meaning.node.kind === 'Struct' ? { node: meaning.node, scope: meaning.scope } : undefined;
}

/** `E.V` (without `args`) or `E.V(a, b)`. */
export function inferVariant(
  state: CheckState,
  declaration: Declared<EnumDeclaration>,
  node: { readonly name: string; readonly nameSpan: Span; readonly span: Span },
  args: readonly Element[] | undefined,
): Type {
  const { node: declared, scope } = declaration;
  const types = inferArguments(state, args ?? []);
  const variant = declared.variants.find(({ name }) => name === node.name);
  const bindings = new Map<string, Type>();
  if (variant === undefined) {
    state.warn(`Unknown variant '${node.name}' in enum '${declared.name}'`, node.nameSpan);
  } else if (args !== undefined && !args.some(({ kind }) => kind === 'Spread')) {
    if (args.length !== variant.params.length) {
      state.warn(`${declared.name}.${node.name} expects ${variant.params.length} argument(s), got ${args.length}`, node.span);
    }
    const inner = abstractScope(declared.typeParams, scope);
    for (const [index, param] of variant.params.entries()) {
      const given = types[index];
      const arg = args[index];
      if (param.type === undefined || given === undefined || arg === undefined) continue;
      const wanted = resolveType(param.type, inner);
      bindParameters(declared, wanted, given, bindings);
      const expected = substitute(wanted, bindings, declared.typeParams);
      if (!isAssignable(given, expected)) {
        state.error(`${declared.name}.${node.name} expects ${param.name}: ${renderType(expected)}, got ${renderType(given)}`, arg.span);
      }
    }
  }
  return { kind: 'enum', declaration, args: declared.typeParams.map(({ name }) => bindings.get(name) ?? ANY) };
}

type CallNode = Extract<Expression, { kind: 'Call' }>;

interface GivenField {
  readonly name: string;
  readonly value: Expression;
  readonly span: Span;
}

/** `S {a: 1}`. */
export function inferStructLiteral(state: CheckState, node: Extract<Expression, { kind: 'StructLiteral' }>): Type {
  const struct = structNamed(state, node.name);
  if (struct !== undefined) return checkStruct(state, struct, node.fields, node.span);
  for (const field of node.fields) state.infer(field.value);
  if (state.environment.isComplete && !isDeclaredSomewhere(state, node.name)) {
    const near = nearestName(node.name, structNames(state));
    state.error(`unknown struct type \`${node.name}\`${near === undefined ? '' : ` — did you mean \`${near}\`?`}`, node.span);
  }
  return ANY;
}

/** Structs of any block can be made anywhere in their file. */
function isDeclaredSomewhere(state: CheckState, name: string): boolean {
  return (
    state.scope.type(name) !== undefined ||
    state.scope.value(name) !== undefined ||
    state.namesOfFile(() => namesDeclaredIn(state.items)).has(name)
  );
}

function structNames(state: CheckState): string[] {
  const names: string[] = [];
  for (let scope: typeof state.scope | undefined = state.scope; scope !== undefined; scope = scope.parent) {
    for (const [name, meaning] of scope.types) if (meaning.kind === 'declared' && meaning.node.kind === 'Struct') names.push(name);
  }
  return names;
}

/** `S({a: 1})`; any other argument makes a struct of which nothing is known. */
export function constructStruct(state: CheckState, struct: Declared<StructDeclaration>, node: CallNode): Type {
  const [only] = node.args;
  const isLiteral = only?.kind === 'Dict' && only.entries.every((entry) => entry.kind === 'Entry' && typeof entry.key === 'string');
  if (node.args.length !== 1 || only?.kind !== 'Dict' || !isLiteral) {
    const [given] = inferArguments(state, node.args);
    warnAboutConstructor(state, struct.node, given, node);
    return { kind: 'struct', declaration: struct, args: struct.node.typeParams.map(() => ANY) };
  }
  const fields = only.entries.flatMap((entry): GivenField[] =>
    entry.kind === 'Entry' && typeof entry.key === 'string' ? [{ name: entry.key, value: entry.value, span: entry.span }] : [],
  );
  return checkStruct(state, struct, fields, node.span);
}

/** What is no dict gives no fields (spec/language.md 6.13). */
function warnAboutConstructor(state: CheckState, { name, fields }: StructDeclaration, given: Type | undefined, node: CallNode): void {
  const kind = given && kindOf(given);
  if (fields.length === 0 || node.args.some((arg) => arg.kind === 'Spread')) return;
  if (node.args.length === 1 && (kind === undefined || kind === 'dict' || kind === 'struct')) return;
  const [first] = fields;
  const help = `write \`${name} {${first?.name}: …}\``;
  state.warn(`struct '${name}' is built from named fields: this gives one without any`, node.span, {
    code: CHECKER_CODES.noFields.code,
    help,
  });
}

function checkStruct(state: CheckState, struct: Declared<StructDeclaration>, given: readonly GivenField[], span: Span): Type {
  const { node, scope } = struct;
  const inner = abstractScope(node.typeParams, scope);
  const bindings = new Map<string, Type>();
  for (const field of given) {
    const type = state.infer(field.value);
    const declared = node.fields.find(({ name }) => name === field.name);
    if (declared === undefined) {
      state.warn(`Unknown field '${field.name}' in struct '${node.name}'`, field.span);
      continue;
    }
    if (declared.type === undefined) continue;
    const wanted = resolveType(declared.type, inner);
    bindParameters(node, wanted, type, bindings);
    const expected = substitute(wanted, bindings, node.typeParams);
    if (!isAssignable(type, expected) && !(declared.isOptional && isAssignable(type, { kind: 'union', members: [expected, NIL] }))) {
      state.error(`Field '${field.name}' in struct '${node.name}' expects ${renderType(expected)}, got ${renderType(type)}`, field.span);
    }
  }
  for (const field of node.fields) {
    if (field.isOptional || given.some(({ name }) => name === field.name)) continue;
    state.warn(`Missing field '${field.name}' in struct '${node.name}' construction`, span);
  }
  return { kind: 'struct', declaration: struct, args: node.typeParams.map(({ name }) => bindings.get(name) ?? ANY) };
}
