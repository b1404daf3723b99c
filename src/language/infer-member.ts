import type { Expression } from './ast.ts';
import { checkArguments } from './check-arguments.ts';
import { lintBoundary } from './check-lints.ts';
import { checkKey, checkMember } from './check-members.ts';
import { lintInjectedReminder } from './check-reminders.ts';
import { signatureOf } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { inferArguments } from './infer-arguments.ts';
import { callBehindMethod } from './infer-builtin.ts';
import { enumNamed, inferVariant } from './infer-construct.ts';
import { pathOf } from './narrow-flow.ts';
import { parameterScope, resolveType } from './type-resolve.ts';
import {
  ANY,
  BOOL,
  base,
  DICT,
  generic,
  INT,
  itemOf,
  kindOf,
  LIST,
  listOf,
  membersOf,
  renderType,
  STRING,
  type Type,
  union,
} from './types.ts';
import { isAssignable } from './types-assignability.ts';

/** `x.name` and `x["name"]`: a test may have said more of it than the type of `x` does. */
export function inferProperty(state: CheckState, node: Extract<Expression, { kind: 'Property' }>): Type {
  const declared = enumNamed(state, node.receiver);
  if (declared !== undefined) return inferVariant(state, declared, node, undefined);
  const receiver = state.infer(node.receiver);
  if (!node.isOptional) lintBoundary(state, node.receiver, node.span);
  const path = node.isOptional ? undefined : pathOf(node, state.scope);
  const narrowed = path && state.flow.get(path);
  if (narrowed !== undefined) return narrowed.kind === 'never' ? ANY : narrowed;
  checkMember(state, node, state.certainType(node.receiver, receiver));
  return node.isOptional ? ANY : fieldOf(receiver, node.name);
}

export function inferSubscript(state: CheckState, node: Extract<Expression, { kind: 'Subscript' }>): Type {
  const receiver = state.infer(node.receiver);
  state.infer(node.index);
  if (!node.isOptional) lintBoundary(state, node.receiver, node.span);
  const path = node.isOptional ? undefined : pathOf(node, state.scope);
  const narrowed = path && state.flow.get(path);
  if (narrowed !== undefined) return narrowed.kind === 'never' ? ANY : narrowed;
  if (node.isOptional) return ANY;
  if (kindOf(receiver) === 'string') return STRING;
  if (receiver.kind === 'shape' && node.index.kind === 'String') return fieldOf(receiver, node.index.value);
  if (receiver.kind !== 'generic') return ANY;
  if (receiver.name === 'list') return receiver.args[0] ?? ANY;
  return receiver.name === 'dict' ? (receiver.args[1] ?? ANY) : ANY;
}

/** What reading a field gives; a field that the type does not mention may be there all the same. */
function fieldOf(type: Type, name: string): Type {
  switch (type.kind) {
    case 'shape':
      return type.fields.find((field) => field.name === name)?.type ?? ANY;
    case 'struct': {
      const { node, scope } = type.declaration;
      const field = node.fields.find((candidate) => candidate.name === name);
      return field?.type === undefined ? ANY : resolveType(field.type, parameterScope(node.typeParams, type.args, scope));
    }
    case 'enum':
      return name === 'variant' ? STRING : name === 'fields' ? LIST : ANY;
    case 'union':
      return membersOf(type).every(({ kind }) => kind === 'shape') ? union(type.members.map((member) => fieldOf(member, name))) : ANY;
    default:
      return propertyOfKind(type, name);
  }
}

function propertyOfKind(type: Type, name: string): Type {
  const kind = kindOf(type);
  if (kind !== 'list' && kind !== 'string') return ANY;
  if (name === 'count') return INT;
  if (name === 'empty') return BOOL;
  return kind === 'list' && (name === 'first' || name === 'last') ? itemOf(type) : ANY;
}

export function inferMethodCall(state: CheckState, node: Extract<Expression, { kind: 'MethodCall' }>): Type {
  const declared = enumNamed(state, node.receiver);
  if (declared !== undefined) return inferVariant(state, declared, node, node.args);
  lintInjectedReminder(state, node.receiver, node.name, node.args);
  const answer = callBehindMethod(state, node);
  if (answer !== undefined) return answer;
  const receiver = state.infer(node.receiver);
  checkMember(state, node, state.certainType(node.receiver, receiver));
  if (node.isOptional) {
    inferArguments(state, node.args);
    return ANY;
  }
  if (receiver.kind === 'struct') return inferStructMethod(state, receiver, node);
  const args = inferArguments(state, node.args);
  checkKey(state, node, state.certainType(node.receiver, receiver), args[0]);
  if (receiver.kind === 'parameter') warnAboutBound(state, receiver.name, node);
  const field = receiver.kind === 'shape' ? fieldOf(receiver, node.name) : ANY;
  if (field.kind === 'function') return field.result;
  return methodResult(receiver, node.name, args);
}

function inferStructMethod(
  state: CheckState,
  receiver: Extract<Type, { kind: 'struct' }>,
  node: Extract<Expression, { kind: 'MethodCall' }>,
): Type {
  const { declaration } = receiver;
  const { name } = declaration.node;
  const method = state.scope.method(name, node.name) ?? declaration.scope.method(name, node.name);
  if (method === undefined || method.params[0]?.name !== 'self') {
    inferArguments(state, node.args);
    return ANY;
  }
  const scope = parameterScope(declaration.node.typeParams, receiver.args, declaration.scope);
  return checkArguments(state, signatureOf(state, method, scope), node).result;
}

function warnAboutBound(state: CheckState, parameter: string, node: Extract<Expression, { kind: 'MethodCall' }>): void {
  const bounds = state.frame?.bounds.get(parameter) ?? [];
  const interfaces = bounds.filter((bound) => bound.kind === 'interface');
  if (interfaces.length === 0 || interfaces.length < bounds.length) return;
  if (interfaces.some(({ declaration }) => declaration.node.methods.some(({ name }) => name === node.name))) return;
  const names = interfaces.map(renderType).join(' + ');
  state.warn(`Method '${node.name}' not found in interface '${names}' (constraint on '${parameter}')`, node.nameSpan);
}

const STRINGS = listOf(STRING);
const ITERATOR = generic('iter');

/** Types of methods by their names, which stand in one text. */
type Results = readonly (readonly [type: Type, names: string])[];

/** Results of methods that are the same whatever the arguments (spec/language.md chapter 7); others are not known. */
const METHODS: Readonly<Record<string, Results>> = {
  string: [
    [INT, 'count len index_of last_index_of'],
    [BOOL, 'empty contains starts_with ends_with'],
    [STRING, 'trim trim_start trim_end lowercase lower to_lower uppercase upper to_upper substring repeat reverse pad_left pad_right'],
    [STRINGS, 'split chars lines'],
    [generic('iter', [STRING]), 'iter'],
  ],
  list: [
    [INT, 'count index_of find_index'],
    [BOOL, 'empty any all every none contains'],
    [LIST, 'map flat_map flatten zip partition chunk each_slice window each_cons sliding_window'],
    [listOf(DICT), 'enumerate'],
    [STRING, 'join'],
    [DICT, 'group_by tally'],
  ],
  dict: [
    [STRINGS, 'keys'],
    [LIST, 'values'],
    [listOf(DICT), 'entries'],
    [INT, 'count'],
    [BOOL, 'has'],
    [DICT, 'merge map_values map_keys rekey filter remove'],
    [ITERATOR, 'iter'],
  ],
  set: [
    [INT, 'count len'],
    [BOOL, 'empty contains is_subset is_superset is_disjoint any all every'],
    [base('set'), 'add remove delete union difference symmetric_difference intersect intersection map filter'],
    [LIST, 'to_list'],
    [ITERATOR, 'iter'],
  ],
  iter: [
    [ITERATOR, 'map filter flat_map take skip take_while skip_while zip enumerate chain chunks windows'],
    [LIST, 'to_list'],
    [base('set'), 'to_set'],
    [DICT, 'to_dict'],
    [INT, 'count'],
    [BOOL, 'any all'],
  ],
};

function resultOfMethod(kind: string, name: string): Type {
  const results = Object.hasOwn(METHODS, kind) ? METHODS[kind] : undefined;
  return results?.find(([, names]) => names.split(' ').includes(name))?.[0] ?? ANY;
}

/** List methods whose result holds the same elements. */
const KEEPING: ReadonlySet<string> = new Set('filter sort sort_by reverse slice take skip unique pop compact'.split(' '));

function methodResult(receiver: Type, name: string, args: readonly Type[]): Type {
  const kind = kindOf(receiver);
  if (kind === undefined) return ANY;
  if (kind === 'list' && receiver.kind === 'generic') {
    const item = receiver.args[0] ?? ANY;
    if (KEEPING.has(name)) return receiver;
    if (name === 'iter') return generic('iter', receiver.args);
    if (name === 'push') return args[0] !== undefined && isAssignable(args[0], item) ? receiver : LIST;
  }
  return resultOfMethod(kind, name);
}
