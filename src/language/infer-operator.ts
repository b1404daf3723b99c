import type { BinaryOperator, Expression } from './ast.ts';
import type { CheckState } from './check-state.ts';
import { checkCondition } from './narrow.ts';
import {
  ANY,
  BOOL,
  DICT,
  FLOAT,
  INT,
  kindOf,
  LIST,
  NEVER,
  renderType,
  type ShapeField,
  STRING,
  type Type,
  union,
  withoutNil,
} from './types.ts';
import { isEquivalent } from './types-assignability.ts';

type BinaryNode = Extract<Expression, { kind: 'Binary' }>;

export function inferBinary(state: CheckState, node: BinaryNode): Type {
  switch (node.operator) {
    case '&&':
    case '||': {
      const { whenTrue, whenFalse } = checkCondition(state, node);
      state.flow = state.flow.join(whenTrue, whenFalse);
      return BOOL;
    }
    case '??': {
      const left = state.infer(node.left);
      const before = state.flow;
      const right = state.branch(before.fork(), () => state.infer(node.right));
      state.flow = before;
      return left.kind === 'unknown' ? ANY : union([withoutNil(left), right.type]);
    }
    default: {
      const left = state.infer(node.left);
      const right = state.infer(node.right);
      if (left === NEVER || right === NEVER) return NEVER;
      if (!isComparison(node.operator)) return inferOperator(state, node.operator, left, right, node);
      // Only warnings come of a comparison.
      return inferOperator(state, node.operator, state.certainType(node.left, left), state.certainType(node.right, right), node);
    }
  }
}

function isComparison(operator: BinaryOperator): boolean {
  return ['==', '!=', '<', '>', '<=', '>='].includes(operator);
}

/** Checks `left operator right` of two known values; also for `+=` and its kind. */
export function inferOperator(
  state: CheckState,
  operator: BinaryOperator,
  left: Type,
  right: Type,
  node: { readonly span: Expression['span'] },
): Type {
  switch (operator) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '**':
      return inferArithmetic(state, operator, left, right, node);
    case '==':
    case '!=':
      warnAboutEquality(state, operator, left, right, node);
      return BOOL;
    case '<':
    case '>':
    case '<=':
    case '>=':
      warnAboutOrder(state, operator, left, right, node);
      return BOOL;
    default:
      return BOOL;
  }
}

/** Kinds whose arithmetic is settled; whatever another kind does is left to the run time. */
const SETTLED: ReadonlySet<string> = new Set(['int', 'float', 'string', 'bool', 'nil', 'list', 'dict', 'closure']);

function inferArithmetic(
  state: CheckState,
  operator: '+' | '-' | '*' | '/' | '%' | '**',
  left: Type,
  right: Type,
  node: { readonly span: Expression['span'] },
): Type {
  const a = kindOf(left);
  const b = kindOf(right);
  if (a === undefined || b === undefined || !SETTLED.has(a) || !SETTLED.has(b)) return ANY;
  if (isNumeric(a) && isNumeric(b)) return a === 'float' || b === 'float' ? FLOAT : INT;
  if (operator === '+') {
    if (a === 'string' && b === 'string') return STRING;
    if (a === 'list' && b === 'list') return isEquivalent(left, right) && left.kind === 'generic' ? left : LIST;
    if (a === 'dict' && b === 'dict') return mergeShapes(left, right);
    // An error of the agent half is a dict that counts as a text beside one.
    if (isBareDict(left) || isBareDict(right)) return ANY;
    const help = a === 'string' || b === 'string' ? 'write one text: `"n is ${n}"`' : undefined;
    state.error(`can't add ${renderType(left)} and ${renderType(right)}`, node.span, { help });
    return ANY;
  }
  if (operator === '*') {
    if ((a === 'string' && b === 'int') || (a === 'int' && b === 'string')) return STRING;
    state.error(`can't multiply ${renderType(left)} and ${renderType(right)} (try string * int)`, node.span);
    return ANY;
  }
  state.error(`can't use '${operator}' on ${renderType(left)} and ${renderType(right)} (needs numeric operands)`, node.span);
  return ANY;
}

function isNumeric(kind: string): boolean {
  return kind === 'int' || kind === 'float';
}

function isBareDict(type: Type): boolean {
  return type.kind === 'generic' && type.name === 'dict';
}

function mergeShapes(left: Type, right: Type): Type {
  if (left.kind !== 'shape' || right.kind !== 'shape') return DICT;
  const fields = new Map<string, ShapeField>(left.fields.map((field) => [field.name, field]));
  for (const field of right.fields) {
    const known = fields.get(field.name);
    const type = known !== undefined && field.isOptional ? union([known.type, field.type]) : field.type;
    fields.set(field.name, { ...field, type, isOptional: field.isOptional && (known?.isOptional ?? true) });
  }
  return { kind: 'shape', fields: [...fields.values()] };
}

/** Kinds between which `==` can only be false. */
const DISTINCT: ReadonlySet<string> = new Set(['int', 'float', 'string', 'bool', 'list', 'dict']);

function warnAboutEquality(
  state: CheckState,
  operator: string,
  left: Type,
  right: Type,
  node: { readonly span: Expression['span'] },
): void {
  const a = kindOf(left);
  const b = kindOf(right);
  if (a === undefined || b === undefined || a === b || !DISTINCT.has(a) || !DISTINCT.has(b)) return;
  if ((isNumeric(a) && isNumeric(b)) || isBareDict(left) || isBareDict(right)) return;
  state.warn(`Comparing ${renderType(left)} with ${renderType(right)} using '${operator}' may give unexpected results`, node.span);
}

function warnAboutOrder(state: CheckState, operator: string, left: Type, right: Type, node: { readonly span: Expression['span'] }): void {
  const a = kindOf(left);
  const b = kindOf(right);
  if (a === undefined || b === undefined || !SETTLED.has(a) || !SETTLED.has(b)) return;
  if ((isNumeric(a) && isNumeric(b)) || (a === 'string' && b === 'string')) return;
  state.warn(`Comparison '${operator}' may not be meaningful for types ${renderType(left)} and ${renderType(right)}`, node.span);
}
