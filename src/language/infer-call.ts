import type { Span } from '../diagnostics/span.ts';
import type { Element, Expression, Statement, TypeNode } from './ast.ts';
import { namesDeclaredIn } from './check-names.ts';
import type { Scope } from './check-scope.ts';
import { attributesOf, bareDeclaration, isCallableDeclaration, type Signature, signatureOf } from './check-signature.ts';
import { type CheckState, nearName } from './check-state.ts';
import { inferArguments } from './infer-arguments.ts';
import { type CallNode, callBuiltin } from './infer-builtin.ts';
import { constructStruct, structNamed } from './infer-construct.ts';
import { bindParameters, substitute } from './infer-generic.ts';
import { schemaType } from './infer-schema.ts';
import { resolveType } from './type-resolve.ts';
import { ANY, generic, kindOf, renderType, type Type } from './types.ts';
import { isAssignable, whyUnsatisfied } from './types-assignability.ts';

/** A call of a bare name: a value in scope, an import, a struct, a builtin, or a mistake. */
export function inferCall(state: CheckState, node: CallNode): Type {
  const { name } = node.callee;
  const variable = state.scope.value(name);
  if (variable?.declaration !== undefined) return callDeclared(state, variable.declaration, state.scope, node);
  if (variable !== undefined) {
    const { type } = variable;
    const args = inferArguments(state, node.args);
    if (type.kind === 'function' && !node.args.some(isSpread)) checkFunctionValue(state, type, args, node);
    return type.kind === 'function' ? type.result : ANY;
  }
  const imported = state.environment.imports.get(name);
  if (imported !== undefined) return callDeclared(state, imported.node, imported.scope, node);
  const struct = structNamed(state, name);
  if (struct !== undefined) return constructStruct(state, struct, node);
  const signature = state.environment.builtins.get(name);
  if (signature !== undefined) return callBuiltin(state, name, signature, node);
  inferArguments(state, node.args);
  if (!state.environment.globals.has(name) && state.scope.type(name) === undefined) reportUnknown(state, name, node.span);
  return ANY;
}

function isSpread(element: Element): boolean {
  return element.kind === 'Spread';
}

function callDeclared(state: CheckState, statement: Statement, scope: Scope, node: CallNode): Type {
  const declaration = bareDeclaration(statement);
  warnAboutDeprecation(state, statement, node);
  if (!isCallableDeclaration(declaration)) {
    inferArguments(state, node.args);
    return ANY;
  }
  return checkArguments(state, signatureOf(state, declaration, scope), node, node.typeArgs);
}

function warnAboutDeprecation(state: CheckState, statement: Statement, node: CallNode): void {
  for (const attribute of attributesOf(statement)) {
    if (attribute.name !== 'deprecated') continue;
    const text = (name: string): string | undefined => {
      const value = attribute.args.find((arg) => arg.name === name)?.value;
      return value?.kind === 'string' || value?.kind === 'identifier' ? value.value : undefined;
    };
    const since = text('since');
    const use = text('use');
    const message = `\`${node.callee.name}\` is deprecated${since === undefined ? '' : ` (since ${since})`}`;
    state.warn(message, node.span, use === undefined ? {} : { help: `use \`${use}\` instead` });
  }
}

function reportUnknown(state: CheckState, name: string, span: Span): void {
  if (!state.environment.isComplete) return;
  // A function may see the functions of its callers, wherever in the file they are declared.
  const names = state.namesOfFile(() => namesDeclaredIn(state.items));
  if (names.has(name)) return;
  const near = nearName(name, [...names, ...state.environment.imports.keys(), ...state.environment.builtins.keys()]);
  const hint = near === undefined ? '' : ` — did you mean \`${near}\`?`;
  state.error(`call target \`${name}\` is not defined or imported${hint}`, span);
}

interface CallSite {
  readonly args: readonly Element[];
  readonly span: Span;
}

/** Checks a call against what the function declares. @returns the type of the result */
export function checkArguments(state: CheckState, signature: Signature, node: CallSite, typeArgs: readonly TypeNode[] = []): Type {
  const types = inferArguments(state, node.args);
  const bindings = explicitBindings(state, signature.name, signature, typeArgs, node.span);
  const spreadAt = node.args.findIndex(isSpread);
  if (spreadAt === -1) warnAboutCount(state, signature, node);
  const settled = spreadAt === -1 ? types : types.slice(0, spreadAt);
  for (const [index, type] of settled.entries()) {
    const arg = node.args[index] as Expression;
    const param = signature.params[index] ?? signature.rest;
    if (param === undefined) continue;
    const wanted = param.type;
    const given = signature.typeParams.length > 0 && isSchema(wanted) ? generic('Schema', [schemaType(state, arg)]) : type;
    const conflict = bindParameters(signature, wanted, given, bindings);
    if (conflict !== undefined) {
      state.error(
        `type parameter '${conflict.name}' was inferred as both ${renderType(conflict.first)} and ${renderType(conflict.second)}`,
        node.span,
      );
      continue;
    }
    const expected = substitute(wanted, bindings, signature.typeParams);
    if (!isAssignable(given, expected)) {
      state.error(`Argument ${index + 1} ('${param.name}'): expected ${renderType(expected)}, got ${renderType(given)}`, arg.span);
    }
    checkBounds(state, signature, wanted, bindings, arg.span);
  }
  return substitute(signature.result, bindings, signature.typeParams);
}

function isSchema(type: Type): boolean {
  return type.kind === 'generic' && type.name === 'Schema';
}

function explicitBindings(
  state: CheckState,
  name: string,
  { typeParams }: Pick<Signature, 'typeParams'>,
  typeArgs: readonly TypeNode[],
  span: Span,
): Map<string, Type> {
  const bindings = new Map<string, Type>();
  if (typeArgs.length === 0) return bindings;
  if (typeParams.length === 0) {
    state.error(`Function '${name}' does not declare type parameters`, span);
  } else if (typeParams.length !== typeArgs.length) {
    state.error(`Function '${name}' expects ${typeParams.length} type arguments, got ${typeArgs.length}`, span);
  } else {
    for (const [index, param] of typeParams.entries()) {
      const arg = typeArgs[index];
      if (arg !== undefined) bindings.set(param.name, resolveType(arg, state.scope));
    }
  }
  return bindings;
}

function warnAboutCount(state: CheckState, signature: Signature, node: CallSite): void {
  const { required, params, name } = signature;
  const given = node.args.length;
  if (signature.rest !== undefined || (given >= required && given <= params.length)) return;
  const wanted = required === params.length ? String(required) : `${required}-${params.length}`;
  state.warn(`Function '${name}' expects ${wanted} arguments, got ${given}`, node.span);
}

function checkBounds(state: CheckState, signature: Signature, wanted: Type, bindings: ReadonlyMap<string, Type>, span: Span): void {
  for (const { parameter, wanted: bound } of signature.bounds) {
    const type = bindings.get(parameter);
    if (type === undefined || bound.kind !== 'interface' || !mentions(wanted, parameter)) continue;
    const detail = type.kind === 'struct' ? whyUnsatisfied(type, bound) : scalarDetail(type, bound);
    if (detail === undefined) continue;
    const name = renderType(bound);
    state.error(
      `Type '${renderType(type)}' does not satisfy interface '${name}': ${detail} (required by constraint \`where ${parameter}: ${name}\`)`,
      span,
    );
  }
}

const METHODLESS: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'nil', 'string', 'list']);

/** A plain value has no methods of a script. */
function scalarDetail(type: Type, bound: Extract<Type, { kind: 'interface' }>): string | undefined {
  const { methods } = bound.declaration.node;
  if (methods.length === 0 || !METHODLESS.has(kindOf(type) ?? '')) return undefined;
  return `missing method(s): ${methods.map(({ name }) => name).join(', ')}`;
}

function mentions(type: Type, parameter: string): boolean {
  switch (type.kind) {
    case 'parameter':
      return type.name === parameter;
    case 'generic':
    case 'struct':
    case 'enum':
    case 'interface':
      return type.args.some((arg) => mentions(arg, parameter));
    case 'union':
      return type.members.some((member) => mentions(member, parameter));
    default:
      return false;
  }
}

function checkFunctionValue(state: CheckState, type: Extract<Type, { kind: 'function' }>, args: readonly Type[], node: CallNode): void {
  for (const [index, given] of args.entries()) {
    const wanted = type.params[index];
    const arg = node.args[index];
    if (wanted === undefined || arg === undefined || isAssignable(given, wanted)) continue;
    const name = type.names?.[index];
    state.error(
      `Argument ${index + 1}${name === undefined ? '' : ` ('${name}')`}: expected ${renderType(wanted)}, got ${renderType(given)}`,
      arg.span,
    );
  }
}
