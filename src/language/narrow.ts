import type { Expression } from './ast.ts';
import type { CheckState } from './check-state.ts';
import { schemaType } from './infer-schema.ts';
import { type Flow, type Path, pathOf } from './narrow-flow.ts';
import { ANY, base, CLOSURE, DICT, isNil, kindOf, LIST, membersOf, NIL, type Type, union, withoutNil } from './types.ts';

/** What holds when a condition was true, and when it was false. */
export interface Outcomes {
  readonly whenTrue: Flow;
  readonly whenFalse: Flow;
}

/**
 * Checks a condition and reads what it says of variables (spec/language.md 8.4). Both outcomes are computed in one
 * walk, so that `!`, `&&` and `||` combine them in either direction.
 */
export function checkCondition(state: CheckState, condition: Expression): Outcomes {
  if (condition.kind === 'Unary' && condition.operator === '!') {
    const { whenTrue, whenFalse } = checkCondition(state, condition.operand);
    return { whenTrue: whenFalse, whenFalse: whenTrue };
  }
  if (condition.kind === 'Binary' && (condition.operator === '&&' || condition.operator === '||')) {
    const before = state.flow;
    const left = checkCondition(state, condition.left);
    const isAnd = condition.operator === '&&';
    state.flow = (isAnd ? left.whenTrue : left.whenFalse).fork();
    const right = checkCondition(state, condition.right);
    state.flow = before;
    return isAnd
      ? { whenTrue: right.whenTrue, whenFalse: before.join(left.whenFalse, right.whenFalse) }
      : { whenTrue: before.join(left.whenTrue, right.whenTrue), whenFalse: right.whenFalse };
  }
  state.infer(condition);
  return readTest(state, condition);
}

function readTest(state: CheckState, condition: Expression): Outcomes {
  const whenTrue = state.flow.fork();
  const whenFalse = state.flow.fork();
  const outcomes = { whenTrue, whenFalse };
  switch (condition.kind) {
    case 'Identifier':
    case 'Property':
    case 'Subscript':
      narrowPath(state, whenTrue, condition, withoutNil);
      break;
    case 'Binary': {
      const { operator, left, right } = condition;
      if (operator !== '==' && operator !== '!=') break;
      const [equal, different] = operator === '==' ? [whenTrue, whenFalse] : [whenFalse, whenTrue];
      if (isTestValue(right)) narrowEqual(state, left, right, equal, different);
      else if (isTestValue(left)) narrowEqual(state, right, left, equal, different);
      break;
    }
    case 'Call':
      if (condition.callee.name === 'schema_is' || condition.callee.name === 'is_type') {
        const [value, schema] = condition.args;
        if (value !== undefined && schema !== undefined && value.kind !== 'Spread' && schema.kind !== 'Spread') {
          const type = schemaType(state, schema);
          narrowPath(state, whenTrue, value, () => type);
        }
      }
      break;
    case 'MethodCall': {
      const [key] = condition.args;
      if (condition.name === 'has' && key?.kind === 'String') {
        narrowPath(state, whenTrue, condition.receiver, (type) => withField(type, key.value));
      }
      break;
    }
    default:
      break;
  }
  return outcomes;
}

type TestValue = Extract<Expression, { kind: 'Nil' | 'String' | 'Int' }>;

function isTestValue(node: Expression): node is TestValue {
  return node.kind === 'Nil' || node.kind === 'String' || node.kind === 'Int';
}

/** `subject == value`, with what holds when they are equal and when they differ. Also used for the arms of a match. */
export function narrowEqual(state: CheckState, subject: Expression, value: TestValue, equal: Flow, different: Flow): void {
  if (value.kind === 'Nil') {
    narrowPath(state, equal, subject, (type) => onlyNil(type));
    narrowPath(state, different, subject, withoutNil);
    return;
  }
  const tested = typeOfArgument(subject);
  if (tested !== undefined && value.kind === 'String') {
    narrowPath(state, equal, tested, (type) => ofKind(type, value.value));
    narrowPath(state, different, tested, (type) => notOfKind(type, value.value));
    const variable = tested.kind === 'Identifier' ? state.scope.value(tested.name) : undefined;
    if (variable !== undefined) different.ruleOut(variable, value.value);
    return;
  }
  narrowPath(state, equal, subject, (type) => equalTo(type, value.value));
  narrowPath(state, different, subject, (type) => differentFrom(type, value.value));
  const tag = fieldOf(subject);
  if (tag === undefined) return;
  narrowPath(state, equal, tag.receiver, (type) =>
    filterShapes(type, tag.field, (field) => field === undefined || canEqual(field, value.value)),
  );
  narrowPath(state, different, tag.receiver, (type) =>
    filterShapes(type, tag.field, (field) => field?.kind !== 'literal' || field.value !== value.value),
  );
}

/** `x` of `type_of(x)`. */
function typeOfArgument(node: Expression): Expression | undefined {
  const [argument] = node.kind === 'Call' && node.callee.name === 'type_of' ? node.args : [];
  return argument === undefined || argument.kind === 'Spread' ? undefined : argument;
}

function fieldOf(node: Expression): { readonly receiver: Expression; readonly field: string } | undefined {
  if (node.kind === 'Property') return { receiver: node.receiver, field: node.name };
  return node.kind === 'Subscript' && node.index.kind === 'String' ? { receiver: node.receiver, field: node.index.value } : undefined;
}

function narrowPath(state: CheckState, flow: Flow, node: Expression, change: (type: Type) => Type): void {
  const path = pathOf(node, state.scope);
  const before = path && (state.typeAt(path) ?? fieldType(state, path));
  if (path === undefined || before === undefined) return;
  const after = change(before);
  if (after !== before) flow.narrow(path, after);
}

/** The type of a field that no test has looked at yet. */
function fieldType(state: CheckState, path: Path): Type | undefined {
  let type: Type | undefined = state.flow.get({ ...path, key: String(path.variable.id) }) ?? path.variable.type;
  for (const name of path.fields) type = type?.kind === 'shape' ? type.fields.find((field) => field.name === name)?.type : undefined;
  return type;
}

function filter(type: Type, keeps: (member: Type) => boolean): Type {
  const members = membersOf(type);
  const kept = members.filter(keeps);
  return kept.length === members.length ? type : union(kept);
}

function onlyNil(type: Type): Type {
  return type.kind === 'any' || type.kind === 'unknown' || type.kind === 'parameter' || membersOf(type).some(isNil) ? NIL : type;
}

const KINDS: Readonly<Record<string, Type>> = {
  int: base('int'),
  float: base('float'),
  string: base('string'),
  bool: base('bool'),
  nil: NIL,
  list: LIST,
  dict: DICT,
  closure: CLOSURE,
  bytes: base('bytes'),
};

function ofKind(type: Type, kind: string): Type {
  const exact = Object.hasOwn(KINDS, kind) ? (KINDS[kind] as Type) : ANY;
  if (kindOf(type) === undefined && type.kind !== 'union') return exact;
  return union(
    membersOf(type).flatMap((member): Type[] => {
      const known = kindOf(member);
      if (known === kind) return [member];
      // An int may come where a float was announced, and the reverse.
      return known === undefined || (isNumeric(known) && isNumeric(kind)) ? [exact] : [];
    }),
  );
}

function isNumeric(kind: string): boolean {
  return kind === 'int' || kind === 'float';
}

function notOfKind(type: Type, kind: string): Type {
  return filter(type, (member) => kindOf(member) !== kind);
}

function canEqual(type: Type, value: string | bigint): boolean {
  if (type.kind === 'literal') return type.value === value;
  const kind = kindOf(type);
  return kind === undefined || kind === (typeof value === 'string' ? 'string' : 'int') || (kind === 'float' && typeof value === 'bigint');
}

function equalTo(type: Type, value: string | bigint): Type {
  return type.kind === 'union' ? filter(type, (member) => canEqual(member, value)) : type;
}

function differentFrom(type: Type, value: string | bigint): Type {
  return filter(type, (member) => member.kind !== 'literal' || member.value !== value);
}

function filterShapes(type: Type, field: string, keeps: (field: Type | undefined) => boolean): Type {
  return filter(type, (member) => member.kind !== 'shape' || keeps(member.fields.find(({ name }) => name === field)?.type));
}

/** The optional field is there. */
function withField(type: Type, name: string): Type {
  if (type.kind !== 'shape' || !type.fields.some((field) => field.name === name && field.isOptional)) return type;
  return { kind: 'shape', fields: type.fields.map((field) => (field.name === name ? { ...field, isOptional: false } : field)) };
}
