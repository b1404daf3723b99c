import type { Span } from '../diagnostics/span.ts';
import type { Element, Expression, TypeNode } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { rendered } from './check-options.ts';
import type { Signature } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { foreignName, PREFIXED_STRING } from './foreign-syntax.ts';
import { inferArguments } from './infer-arguments.ts';
import { bindParameters, substitute } from './infer-generic.ts';
import { schemaType } from './infer-schema.ts';
import { isHandle, resolveType } from './type-resolve.ts';
import { ANY, generic, kindOf, membersOf, NIL, renderType, type Type } from './types.ts';
import { isAssignable, whyUnsatisfied } from './types-assignability.ts';

interface CallSite {
  readonly args: readonly Element[];
  readonly span: Span;
  /** Was there a handle before these? Then it may have been meant for the first parameter. */
  readonly isAfterHandle?: boolean;
}

/** What a call comes to. */
interface Checked {
  readonly result: Type;
  /** The arguments that belong to parameters, and their types. */
  readonly args: readonly Element[];
  readonly given: readonly Type[];
}

/** Checks a call against what the function declares. */
export function checkArguments(state: CheckState, signature: Signature, node: CallSite, typeArgs: readonly TypeNode[] = []): Checked {
  const given = inferArguments(state, node.args);
  if (!beginsWithHandle(state, signature, node.args, given)) return checkGiven(state, signature, node, given, typeArgs);
  return checkGiven(state, signature, { ...node, args: node.args.slice(1), isAfterHandle: true }, given.slice(1), typeArgs);
}

/**
 * Builtins of the agent half drop a handle that comes before their arguments (spec/language.md 15.3); to others it is an argument
 * like any. A parameter may carry the handle by its name alone.
 */
function beginsWithHandle(state: CheckState, signature: Signature, [first]: readonly Element[], [type]: readonly Type[]): boolean {
  if (signature.kind !== 'builtin' || first === undefined || type === undefined || signature.params[0]?.name === 'harness') return false;
  if (isHandle(type) || type.kind !== 'any') return isHandle(type);
  const root = first.kind === 'Property' ? first.receiver : first;
  if (root.kind !== 'Identifier') return false;
  return /^_?harness$/.test(root.name) || (first.kind === 'Property' && isHandle(state.scope.value(root.name)?.type ?? ANY));
}

function checkGiven(
  state: CheckState,
  signature: Signature,
  node: CallSite,
  types: readonly Type[],
  typeArgs: readonly TypeNode[],
): Checked {
  const bindings = explicitBindings(state, signature, typeArgs, node.span);
  const spreadAt = node.args.findIndex(({ kind }) => kind === 'Spread');
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
    // Passing nil to a builtin is leaving the argument out.
    const isLeftOut = signature.kind === 'builtin' && index >= signature.required && given === NIL;
    if (!isLeftOut && !isAccepted(signature, given, expected)) {
      const wants = signature.kind === 'builtin' ? rendered(expected) : renderType(expected);
      state.error(`Argument ${index + 1} ('${param.name}'): expected ${wants}, got ${renderType(given)}`, arg.span);
    }
    if (!isLeftOut && param.meant !== undefined) warnAboutKind(state, signature.name, param.name, param.meant, arg, given);
    checkBounds(state, signature, wanted, bindings, arg.span);
  }
  return { result: substitute(signature.result, bindings, signature.typeParams), args: node.args, given: types };
}

/** A builtin decides by the value it gets: it refuses only what can in no case be right. */
function isAccepted(signature: Signature, given: Type, expected: Type): boolean {
  if (given.kind === 'never') return true;
  if (signature.kind === 'builtin') return membersOf(given).some((member) => isAssignable(member, expected));
  return isAssignable(given, expected);
}

/** The builtin takes it, and gives nil, nothing or something empty for it. */
function warnAboutKind(state: CheckState, builtin: string, name: string, meant: Type, arg: Expression, given: Type): void {
  const known = state.certainType(arg, given);
  if (known.kind === 'never' || known === NIL || membersOf(known).some((member) => isAssignable(member, meant))) return;
  const help = builtin === 'contains' && kindOf(known) === 'dict' ? 'write `d.has(key)`' : undefined;
  state.warn(`${builtin} makes nothing of a value of type ${renderType(known)}: '${name}' should be ${rendered(meant)}`, arg.span, {
    code: CHECKER_CODES.meaninglessArgument.code,
    help,
  });
}

function isSchema(type: Type): boolean {
  return type.kind === 'generic' && type.name === 'Schema';
}

function explicitBindings(
  state: CheckState,
  { kind, name, typeParams }: Signature,
  typeArgs: readonly TypeNode[],
  span: Span,
): Map<string, Type> {
  const bindings = new Map<string, Type>();
  if (typeArgs.length === 0) return bindings;
  const subject = `${kind === 'builtin' ? 'Builtin function' : 'Function'} '${name}'`;
  if (typeParams.length === 0) {
    state.error(`${subject} does not declare type parameters`, span);
  } else if (typeParams.length !== typeArgs.length) {
    state.error(`${subject} expects ${typeParams.length} type arguments, got ${typeArgs.length}`, span);
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
  if (node.isAfterHandle === true && given < required) return;
  const wanted = required === params.length ? String(required) : `${required}-${params.length}`;
  if (signature.kind === 'builtin' && node.args.some((arg) => isForeignWord(state, arg))) return;
  const isOutput = signature.kind === 'builtin' && given > params.length && /^(?:e?print(?:ln)?|log)$/.test(name);
  state.warn(`Function '${name}' expects ${wanted} arguments, got ${given}`, node.span, isOutput ? { help: outputHelp(node.args) } : {});
}

/** `println(typeof x)` reads as two arguments; the word is the mistake, and is said where it is met. */
function isForeignWord(state: CheckState, arg: Element): boolean {
  return arg.kind === 'Identifier' && state.scope.value(arg.name) === undefined && foreignName(arg.name) !== undefined;
}

function outputHelp([first, second]: readonly Element[]): string {
  const isPrefix = first?.kind === 'Identifier' && first.name.length === 1 && first.span.end === second?.span.start;
  return isPrefix ? PREFIXED_STRING : 'only the first is shown: write one text, `"${a} ${b}"`';
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
