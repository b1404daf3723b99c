import type { Span } from '../diagnostics/span.ts';
import type { Expression } from './ast.ts';
import type { Scope } from './check-scope.ts';
import type { CheckState } from './check-state.ts';
import { inferArguments } from './infer-arguments.ts';
import { schemaType } from './infer-schema.ts';
import { pathOf } from './narrow-flow.ts';
import { parse } from './parser.ts';
import { resolveType } from './type-resolve.ts';
import { ANY, generic, itemOf, NEVER, renderType, type Type, withoutNil } from './types.ts';

export type CallNode = Extract<Expression, { kind: 'Call' }>;

/** Builtins that take the type of their answer as a type argument. */
const GENERIC_BUILTINS: Readonly<Record<string, number>> = {
  llm_call: 1,
  llm_call_safe: 1,
  llm_completion: 1,
  llm_call_structured: 1,
  llm_call_structured_safe: 1,
  llm_call_structured_result: 1,
  schema_parse: 1,
  schema_check: 1,
  schema_expect: 1,
  ask_user: 1,
  dual_control: 1,
};

export function callBuiltin(state: CheckState, name: string, signature: string, node: CallNode): Type {
  if (name === 'unreachable') return checkUnreachable(state, node);
  const types = inferArguments(state, node.args);
  const typeParams = Object.hasOwn(GENERIC_BUILTINS, name) ? (GENERIC_BUILTINS[name] ?? 0) : 0;
  if (node.typeArgs.length > 0 && typeParams !== node.typeArgs.length) {
    const problem =
      typeParams === 0 ? 'does not declare type parameters' : `expects ${typeParams} type arguments, got ${node.typeArgs.length}`;
    state.error(`Builtin function '${name}' ${problem}`, node.span);
  }
  const [first, second] = node.args;
  const isPlain = first !== undefined && first.kind !== 'Spread';
  switch (name) {
    case 'Ok':
      return resultOf(state, types[0] ?? ANY, ANY);
    case 'Err':
      return resultOf(state, ANY, types[0] ?? ANY);
    case 'schema_of':
      return isPlain ? generic('Schema', [schemaType(state, first)]) : ANY;
    case 'schema_expect':
      return second === undefined || second.kind === 'Spread' ? ANY : schemaType(state, second);
    case 'schema_check':
    case 'schema_parse':
      return second === undefined || second.kind === 'Spread' ? ANY : resultOf(state, schemaType(state, second), ANY);
    case 'iter':
      return generic('iter', types[0] === undefined ? [] : [itemOf(types[0])]);
    default:
      return builtinResult(state, signature);
  }
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

/** What stands behind the arrow of a signature. */
function builtinResult(state: CheckState, signature: string): Type {
  const arrow = signature.lastIndexOf(') -> ');
  const text = arrow === -1 ? 'any' : signature.slice(arrow + 5);
  const known = state.builtinResults.get(text);
  if (known !== undefined) return known;
  const type = certain(readType(text, state.fileScope));
  state.builtinResults.set(text, type);
  return type;
}

/**
 * Scripts know when a builtin answers nil or which of its forms they get: `to_int("1")` may stand where an int is wanted.
 */
function certain(type: Type): Type {
  if (type.kind !== 'union') return type;
  const rest = withoutNil(type);
  return rest.kind === 'union' ? ANY : rest;
}

/** A signature that does not read says nothing. */
function readType(text: string, scope: Scope): Type {
  const [item] = parse({ path: '', text: `type Result = ${text}` }).program.items;
  return item?.kind === 'TypeAlias' ? resolveType(item.type, scope) : ANY;
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
