import type { Span } from '../diagnostics/span.ts';
import type { Expression } from './ast.ts';
import { checkArguments } from './check-arguments.ts';
import { lintAmbientStdio } from './check-lints.ts';
import { checkOptions } from './check-options.ts';
import { Scope } from './check-scope.ts';
import { readSignature, type Signature } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { inferArguments } from './infer-arguments.ts';
import { pathOf } from './narrow-flow.ts';
import { parse } from './parser.ts';
import { isHandle } from './type-resolve.ts';
import { ANY, generic, itemOf, NEVER, renderType, type Type, withoutNil } from './types.ts';

export type CallNode = Extract<Expression, { kind: 'Call' }>;

export function callBuiltin(state: CheckState, name: string, text: string, node: CallNode): Type {
  if (name === 'unreachable') return checkUnreachable(state, node);
  lintAmbientStdio(state, name, node.callee.span);
  const signature = builtinSignature(state, name, text);
  const { result, args, given } = checkArguments(state, signature, node, node.typeArgs);
  checkOptions(state, signature, args, given);
  const [first = ANY] = given;
  switch (name) {
    case 'Ok':
      return resultOf(state, first, ANY);
    case 'Err':
      return resultOf(state, ANY, first);
    case 'iter':
      return generic('iter', [itemOf(first)]);
    default:
      return result;
  }
}

type MethodCallNode = Extract<Expression, { kind: 'MethodCall' }>;

/** `stream.map(…)`, `harness.summary()`, `harness.fs.exists(…)`: the builtin behind it says what it takes. @returns its result */
export function callBehindMethod(state: CheckState, node: MethodCallNode): Type | undefined {
  const behind = node.isOptional ? undefined : builtinBehind(state, node);
  const text = behind === undefined ? undefined : state.environment.builtins.get(behind.name);
  if (behind === undefined || text === undefined) return undefined;
  const signature: Signature = { ...builtinSignature(state, behind.name, text), name: behind.shown };
  const { result, args, given } = checkArguments(state, signature, node);
  checkOptions(state, signature, args, given);
  return result;
}

function builtinBehind(
  state: CheckState,
  { receiver, name }: MethodCallNode,
): { readonly name: string; readonly shown: string } | undefined {
  if (receiver.kind === 'Property') return isRoot(state.infer(receiver.receiver)) ? partMethod(state, receiver.name, name) : undefined;
  if (receiver.kind !== 'Identifier') return undefined;
  const type = state.infer(receiver);
  if (isRoot(type)) return { name: `harness.${name}`, shown: `harness.${name}` };
  if (isHandle(type)) return partMethod(state, renderType(type).slice('Harness'.length).toLowerCase(), name);
  const isDeclared = state.scope.value(receiver.name) !== undefined || state.environment.imports.has(receiver.name);
  return isDeclared ? undefined : { name: `${receiver.name}.${name}`, shown: `${receiver.name}.${name}` };
}

function partMethod(state: CheckState, part: string, method: string): { readonly name: string; readonly shown: string } | undefined {
  const name = state.environment.handleMethod(part, method);
  return name === undefined ? undefined : { name, shown: `harness.${part}.${method}` };
}

function isRoot(type: Type): boolean {
  return type.kind === 'base' && type.name === 'Harness';
}

/** `Result<value, error>`; a `Result` of the script itself may have other parameters. */
export function resultOf(state: CheckState, value: Type, error: Type): Type {
  const meaning = state.scope.type('Result');
  if (meaning?.kind !== 'declared' || meaning.node.kind !== 'Enum') return ANY;
  const { node, scope } = meaning;
  return {
    kind: 'enum',
    declaration: { node, scope },
    args: node.typeParams.length === 2 ? [value, error] : node.typeParams.map(() => ANY),
  };
}

/** Signatures are texts so that pages and the checker read the same table; each is read at the first call. */
function builtinSignature(state: CheckState, name: string, text: string): Signature {
  const known = state.builtinSignatures.get(name);
  if (known !== undefined) return known;
  const scope = builtinScope(state);
  declareNamedTypes(state, scope, text);
  const [item] = parse({ path: '', text: `fn builtin${text} {}` }).program.items;
  if (item?.kind !== 'Function') throw new Error(`the signature of ${name} does not read: ${text}`);
  const read = readSignature(item, scope);
  const signature: Signature = { ...read, kind: 'builtin', name, result: certain(read.result) };
  state.builtinSignatures.set(name, signature);
  return signature;
}

function builtinScope(state: CheckState): Scope {
  if (state.builtinScope !== undefined) return state.builtinScope;
  const scope = new Scope();
  const result = state.fileScope.type('Result');
  if (result !== undefined) scope.types.set('Result', result);
  state.builtinScope = scope;
  return scope;
}

/** Most scripts call no builtin that needs one of these types. */
function declareNamedTypes(state: CheckState, scope: Scope, using: string): void {
  for (const [name, text] of Object.entries(state.environment.builtinTypes)) {
    if (!using.includes(name) || scope.types.has(name)) continue;
    scope.declareTypes(parse({ path: '', text }).program.items);
    declareNamedTypes(state, scope, text);
  }
}

/**
 * Scripts know when a builtin answers nil or which of its forms they get: `to_int("1")` may stand where an int is wanted.
 */
function certain(type: Type): Type {
  if (type.kind !== 'union') return type;
  const rest = withoutNil(type);
  return rest.kind === 'union' ? ANY : rest;
}

function checkUnreachable(state: CheckState, node: CallNode): Type {
  const [arg] = inferArguments(state, node.args);
  const [argument] = node.args;
  const path = argument?.kind === 'Identifier' ? pathOf(argument, state.scope) : undefined;
  if (path !== undefined && arg !== undefined && !isOpen(arg)) {
    state.error(`unreachable() argument has type \`${renderType(arg)}\` — not all cases are handled`, node.span);
  }
  warnAboutPartialLadder(state, 'unreachable()', node.span);
  return NEVER;
}

function isOpen(type: Type): boolean {
  return type.kind === 'never' || type.kind === 'any' || type.kind === 'unknown' || type.kind === 'parameter';
}

const LADDER = ['int', 'string', 'float', 'bool', 'nil', 'list', 'dict', 'closure', 'bytes'];

/** A ladder of `type_of` tests that ends here claims to have met every kind. */
export function warnAboutPartialLadder(state: CheckState, site: string, span: Span): void {
  for (const [variable, kinds] of state.flow.ruledOut) {
    if (variable.type.kind !== 'unknown' || state.scope.value(variable.name) !== variable) continue;
    const open = LADDER.filter((kind) => !kinds.has(kind));
    if (kinds.size === 0 || open.length === 0) continue;
    state.warn(
      `\`${site}\` reached but \`${variable.name}: unknown\` was not fully narrowed — uncovered concrete type(s): ${open.join(', ')}`,
      span,
    );
  }
}
