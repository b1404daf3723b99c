import type { Assignment, BinaryOperator, Expression } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { lintEscape } from './check-lints.ts';
import { rootName } from './check-names.ts';
import type { Variable } from './check-scope.ts';
import type { CheckState } from './check-state.ts';
import { inferOperator } from './infer-operator.ts';
import type { Flow } from './narrow-flow.ts';
import { ANY, CLOSURE, DICT, isNil, kindOf, LIST, membersOf, NIL, renderType, type Type, union } from './types.ts';
import { isAssignable } from './types-assignability.ts';

/** Checks `x = e`, `x += e` and writes through `x.a` and `x[i]`. */
export function checkAssignment(state: CheckState, node: Assignment): void {
  const { target } = node;
  const value = node.operator === '=' ? state.infer(node.value) : inferCompound(state, node);
  if (target.kind !== 'Identifier') checkParts(state, target);
  const name = rootName(target);
  const variable = name === undefined ? undefined : state.scope.value(name);
  if (variable === undefined) return;
  if (variable.span !== undefined) state.written.add(variable.span.start);
  lintEscape(state, variable, node);
  if (variable.keyword === 'let' || variable.keyword === 'const') {
    const message = `Cannot assign to '${variable.name}': variable is immutable (declared with '${variable.keyword}')`;
    state.warn(message, node.span, { code: CHECKER_CODES.immutableAssigned.code, help: 'declare it with `var`' });
  } else if (target.kind !== 'Identifier') {
    writeThrough(state, variable);
  } else {
    assign(state, variable, value, node);
  }
}

function inferCompound(state: CheckState, node: Assignment): Type {
  const operator = node.operator.slice(0, -1) as BinaryOperator;
  const left = state.infer(node.target);
  const right = state.infer(node.value);
  return inferOperator(state, operator, left, right, node);
}

/** Indices and inner receivers of a target are read. */
function checkParts(state: CheckState, target: Expression): void {
  if (target.kind !== 'Property' && target.kind !== 'Subscript') return;
  if (target.kind === 'Subscript') state.infer(target.index);
  checkParts(state, target.receiver);
}

function assign(state: CheckState, variable: Variable, value: Type, node: Assignment): void {
  state.flow.forget(variable);
  checkAssigned(state, variable, value, node);
  if (membersOf(variable.type).length > 1 && membersOf(variable.type).some(isNil)) narrowToAssigned(state, variable, value);
}

/** What may be nil is not nil from here on, until the ways to this place meet one that assigned nothing. */
function narrowToAssigned(state: CheckState, variable: Variable, value: Type): void {
  if (value.kind === 'any' || value.kind === 'unknown' || value.kind === 'never' || membersOf(value).some(isNil)) return;
  if (isAssignable(value, variable.type)) state.flow.narrow({ variable, key: String(variable.id), fields: [] }, widened(value));
}

function checkAssigned(state: CheckState, variable: Variable, value: Type, node: Assignment): void {
  const { type } = variable;
  if (variable.isAnnotated) {
    if (!isAssignable(value, type)) report(state, variable, value, node);
    return;
  }
  if (isNil(type) || isNil(value)) {
    variable.type = union([isNil(type) ? value : type, NIL]);
    return;
  }
  if (isAssignable(value, type)) return;
  const wider = widened(type);
  if (isAssignable(value, wider) || areNumeric(value, type)) variable.type = areNumeric(value, type) ? ANY : wider;
  else report(state, variable, value, node);
}

function areNumeric(a: Type, b: Type): boolean {
  const isNumeric = (type: Type): boolean => kindOf(type) === 'int' || kindOf(type) === 'float';
  return isNumeric(a) && isNumeric(b);
}

function report(state: CheckState, variable: Variable, value: Type, node: Assignment): void {
  state.error(`can't assign ${renderType(value)} to '${variable.name}' (declared as ${renderType(variable.type)})`, node.span);
}

/** After a write to a field or element the container is one of its kind; a written annotation still holds. */
function writeThrough(state: CheckState, variable: Variable): void {
  state.flow.forget(variable);
  if (!variable.isAnnotated) variable.type = widened(variable.type);
}

/** What an unannotated variable may hold once it is assigned to: its first value fixes the kind, not the contents. */
function widened(type: Type): Type {
  switch (type.kind) {
    case 'shape':
      return DICT;
    case 'generic':
      return type.name === 'list' ? LIST : type.name === 'dict' ? DICT : ANY;
    case 'function':
      return CLOSURE;
    case 'base':
      return isNil(type) ? ANY : type;
    case 'enum':
    case 'struct':
      return { ...type, args: [] };
    default:
      return ANY;
  }
}

/** Before code that may run again, or that may have been left half-way: what it assigns is only known by its kind. */
export function forgetAssigned(state: CheckState, names: ReadonlySet<string>, flow: Flow): void {
  for (const name of names) {
    const variable = state.scope.value(name);
    if (variable === undefined) continue;
    flow.forget(variable);
    if (!variable.isAnnotated) variable.type = widened(variable.type);
  }
}
