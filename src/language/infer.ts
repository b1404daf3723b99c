import type { Block, Closure, Expression, Identifier, IfExpression } from './ast.ts';
import { forgetAssigned } from './check-assignment.ts';
import { lintUndeclared } from './check-lints.ts';
import { assignedNames } from './check-names.ts';
import { lintReturnedReminder } from './check-reminders.ts';
import { isCallableDeclaration, parameterInside, signatureOf, signatureType } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { checkParallel } from './check-useless.ts';
import { resultOf } from './infer-builtin.ts';
import { inferCall } from './infer-call.ts';
import { inferStructLiteral } from './infer-construct.ts';
import { inferMatch } from './infer-match.ts';
import { inferMethodCall, inferProperty, inferSubscript } from './infer-member.ts';
import { inferBinary } from './infer-operator.ts';
import { aliasSchema } from './infer-schema.ts';
import { checkCondition } from './narrow.ts';
import type { Flow } from './narrow-flow.ts';
import { resolveType } from './type-resolve.ts';
import {
  ANY,
  BOOL,
  base,
  CLOSURE,
  DICT,
  FLOAT,
  functionType,
  generic,
  INT,
  itemOf,
  kindOf,
  LIST,
  listOf,
  NIL,
  type ShapeField,
  STRING,
  type Type,
  union,
} from './types.ts';
import { bareDeclaration, ifChain } from './walk.ts';

/** Checks an expression and everything in it. @returns its type; `never` when evaluation does not come back */
export function inferExpression(state: CheckState, node: Expression): Type {
  switch (node.kind) {
    case 'Int':
      return INT;
    case 'Float':
      return FLOAT;
    case 'Duration':
      return base('duration');
    case 'String':
      return STRING;
    case 'Interpolation':
      for (const part of node.parts) if (typeof part !== 'string') state.infer(part);
      return STRING;
    case 'Bool':
      return BOOL;
    case 'Nil':
      return NIL;
    case 'Identifier':
      return inferIdentifier(state, node);
    case 'List':
      return inferList(state, node);
    case 'Dict':
      return inferDict(state, node);
    case 'StructLiteral':
      return inferStructLiteral(state, node);
    case 'Closure':
      return inferClosure(state, node);
    case 'Binary':
      return inferBinary(state, node);
    case 'Unary':
      return inferUnary(state, node);
    case 'Ternary':
      return inferBranches(
        state,
        node.condition,
        () => state.infer(node.then),
        () => state.infer(node.otherwise),
      );
    case 'Range':
      state.infer(node.start);
      state.infer(node.end);
      return base('range');
    case 'Pipe': {
      state.infer(node.left);
      const target = state.infer(node.right);
      return target.kind === 'function' ? target.result : ANY;
    }
    case 'Call':
      return inferCall(state, node);
    case 'MethodCall':
      return inferMethodCall(state, node);
    case 'Property':
      return inferProperty(state, node);
    case 'Subscript':
      return inferSubscript(state, node);
    case 'Slice': {
      const receiver = state.infer(node.receiver);
      if (node.start !== undefined) state.infer(node.start);
      if (node.end !== undefined) state.infer(node.end);
      return kindOf(receiver) === 'string' ? STRING : kindOf(receiver) === 'list' ? receiver : ANY;
    }
    case 'Propagate': {
      const type = state.infer(node.value);
      return isResult(type) ? (type.args[0] ?? ANY) : ANY;
    }
    case 'TryStar':
      if (state.frame === undefined) {
        state.error('try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target', node.span);
      }
      return state.infer(node.value);
    case 'If':
      return inferIf(state, node);
    case 'Match':
      return inferMatch(state, node);
    case 'Parallel':
      return inferParallel(state, node);
    case 'Retry':
      state.infer(node.count);
      inferRepeated(state, node.body);
      return ANY;
    case 'Deadline':
      state.infer(node.duration);
      return state.block(node.body);
    case 'Try':
      return inferTry(state, node);
    case 'Spawn':
      inferTask(state, node.body);
      return base('task_handle');
  }
}

function inferIdentifier(state: CheckState, node: Identifier): Type {
  const { name } = node;
  const variable = state.scope.value(name);
  if (variable !== undefined) {
    const type = state.typeAt({ variable, key: String(variable.id), fields: [] }) ?? ANY;
    // Tests left nothing of it, and still it is here: the annotation was wider than it said. Reading it comes back.
    return type.kind === 'never' ? ANY : type;
  }
  const imported = state.environment.imports.get(name);
  if (imported !== undefined) {
    const declaration = bareDeclaration(imported.node);
    return isCallableDeclaration(declaration) ? signatureType(signatureOf(state, declaration, imported.scope)) : ANY;
  }
  if (name === 'harness' && state.environment.globals.has(name)) return base('Harness');
  const schema = aliasSchema(state, name);
  if (schema !== undefined) return schema;
  // A namespace such as `transcript` may be called, and has members besides.
  if (state.environment.globals.has(name)) return ANY;
  if (state.environment.builtins.has(name)) return CLOSURE;
  lintUndeclared(state, node);
  return ANY;
}

function inferList(state: CheckState, node: Extract<Expression, { kind: 'List' }>): Type {
  const items: Type[] = [];
  for (const item of node.items) {
    if (item.kind === 'Spread') items.push(itemOf(state.infer(item.value)));
    else items.push(state.infer(item));
  }
  return items.length === 0 ? LIST : listOf(union(items));
}

function inferDict(state: CheckState, node: Extract<Expression, { kind: 'Dict' }>): Type {
  lintReturnedReminder(state, node);
  const fields = new Map<string, ShapeField>();
  let isShape = true;
  for (const entry of node.entries) {
    if (entry.kind === 'Spread') {
      const spread = state.infer(entry.value);
      if (spread.kind === 'shape') for (const field of spread.fields) fields.set(field.name, field);
      isShape &&= spread.kind === 'shape' && spread.fields.every(({ isOptional }) => !isOptional);
    } else {
      if (typeof entry.key !== 'string') {
        state.infer(entry.key);
        isShape = false;
      }
      const type = state.infer(entry.value);
      if (typeof entry.key === 'string') fields.set(entry.key, { name: entry.key, isOptional: false, type });
    }
  }
  return isShape ? { kind: 'shape', fields: [...fields.values()] } : DICT;
}

function inferClosure(state: CheckState, node: Closure): Type {
  const { scope } = state;
  const params = node.params.filter(({ isRest }) => !isRest);
  const declared = node.returnType && resolveType(node.returnType, scope);
  const returned: Type[] = [];
  const bounds = state.frame?.bounds ?? new Map();
  const last = state.activation({ kind: 'closure', result: declared, emits: undefined, returned, bounds }, () => {
    for (const param of node.params) {
      if (param.defaultValue !== undefined) state.infer(param.defaultValue);
      state.declare(param.name, parameterInside(param, scope));
    }
    return state.body(node.body);
  });
  const firstDefault = params.findIndex(({ defaultValue }) => defaultValue !== undefined);
  const type = functionType(
    params.map((param) => parameterInside(param, scope)),
    declared ?? union([...returned, last]),
    firstDefault === -1 ? params.length : firstDefault,
    params.length < node.params.length,
  );
  return { ...type, names: params.map(({ name }) => name) };
}

function inferUnary(state: CheckState, node: Extract<Expression, { kind: 'Unary' }>): Type {
  if (node.operator === '!') {
    const { whenTrue, whenFalse } = checkCondition(state, node.operand);
    state.flow = state.flow.join(whenTrue, whenFalse);
    return BOOL;
  }
  const kind = kindOf(state.infer(node.operand));
  return kind === 'int' ? INT : kind === 'float' ? FLOAT : ANY;
}

/** Either way of a condition; what holds afterwards is what holds at the end of the ways that come back. */
export function inferBranches(state: CheckState, condition: Expression, then: () => Type, otherwise: () => Type): Type {
  const { whenTrue, whenFalse } = checkCondition(state, condition);
  const before = state.flow;
  const first = state.branch(whenTrue, then);
  const second = state.branch(whenFalse, otherwise);
  return joinBranches(state, before, first, second);
}

interface Branch {
  readonly type: Type;
  readonly flow: Flow;
}

function joinBranches(state: CheckState, before: Flow, first: Branch, second: Branch): Type {
  if (first.type.kind === 'never') state.flow = second.flow;
  else state.flow = second.type.kind === 'never' ? first.flow : before.join(first.flow, second.flow);
  return union([first.type, second.type]);
}

/** Each condition is met where the ones before it do not hold; the branches come together from the last one on. */
function inferIf(state: CheckState, node: IfExpression): Type {
  const { links, otherwise } = ifChain(node);
  const branches = links.map(({ condition, then }) => {
    const { whenTrue, whenFalse } = checkCondition(state, condition);
    const before = state.flow;
    const first = state.branch(whenTrue, () => state.block(then));
    state.flow = whenFalse;
    return { before, first };
  });
  let type = otherwise === undefined ? NIL : state.block(otherwise);
  for (const { before, first } of branches.reverse()) type = joinBranches(state, before, first, { type, flow: state.flow });
  return type;
}

function isResult(type: Type): type is Extract<Type, { kind: 'enum' }> {
  return type.kind === 'enum' && type.declaration.node.name === 'Result';
}

function inferTry(state: CheckState, node: Extract<Expression, { kind: 'Try' }>): Type {
  const before = state.flow;
  const written = assignedNames([node.body]);
  const body = state.branch(before.fork(), () => state.block(node.body));
  // The body may have stopped anywhere: only what it left alone is still known in the catch block.
  const interrupted = before.fork();
  forgetAssigned(state, written, interrupted);
  let type = body.type;
  let after = body.type.kind === 'never' ? interrupted : body.flow;
  const { catchClause } = node;
  if (catchClause !== undefined) {
    const caught = state.branch(interrupted.fork(), () =>
      state.nested(() => {
        if (catchClause.variable !== undefined) state.declare(catchClause.variable, ANY);
        return state.block(catchClause.body);
      }),
    );
    type = union([body.type, caught.type]);
    if (body.type.kind === 'never') after = caught.flow;
    else if (caught.type.kind !== 'never') after = before.join(body.flow, caught.flow);
  }
  state.flow = after;
  if (node.finallyBlock !== undefined) {
    const last = state.block(node.finallyBlock);
    if (last.kind === 'never') return last;
  }
  if (catchClause !== undefined || node.finallyBlock !== undefined) return type;
  return isResult(type) || type.kind === 'any' ? type : resultOf(state, type.kind === 'never' ? ANY : type, ANY);
}

/** A block that may run again: what it assigns is not known at its start. */
function inferRepeated(state: CheckState, body: Block): void {
  forgetAssigned(state, assignedNames([body]), state.flow);
  const before = state.flow;
  state.branch(before.fork(), () => state.block(body));
  state.flow = before;
}

function inferTask(state: CheckState, body: Block, declare?: () => void): Type {
  const returned: Type[] = [];
  const frame = { kind: 'closure', result: undefined, emits: undefined, returned, bounds: new Map() } as const;
  const outer = state.frame;
  return state.activation(outer === undefined ? frame : { ...outer, result: undefined, returned }, () => {
    declare?.();
    return union([...returned, state.body(body)]);
  });
}

function inferParallel(state: CheckState, node: Extract<Expression, { kind: 'Parallel' }>): Type {
  const operand = state.infer(node.operand);
  checkParallel(state, node, state.certainType(node.operand, operand));
  if (node.maxConcurrent !== undefined) state.infer(node.maxConcurrent);
  const item = node.form === 'count' ? INT : itemOf(operand);
  const type = inferTask(state, node.body, () => {
    if (node.variable !== undefined) state.declare(node.variable, item);
  });
  if (node.asStream) return generic('Stream', [type]);
  return node.form === 'settle' ? DICT : LIST;
}
