import type { Binding, Block, Expression, ForLoop, Statement } from './ast.ts';
import { checkAssignment, forgetAssigned } from './check-assignment.ts';
import { checkDeclaration } from './check-declaration.ts';
import { boundaryOf, lintConstant, lintDropped } from './check-lints.ts';
import { assignedNames, isDeclaration, loopNames, patternNames } from './check-names.ts';
import { isCallableDeclaration, signatureOf, signatureType } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { checkIdleValue, checkIterable } from './check-useless.ts';
import { warnAboutPartialLadder } from './infer-builtin.ts';
import { checkCondition } from './narrow.ts';
import { resolveType } from './type-resolve.ts';
import { ANY, itemOf, NEVER, NIL, renderType, type Type } from './types.ts';
import { explainMisfit, isAssignable } from './types-assignability.ts';
import { bareDeclaration } from './walk.ts';

/** Checks statements in order. @returns the value of the last one; `never` when control does not reach the end */
export function checkStatements(state: CheckState, statements: readonly Statement[]): Type {
  hoist(state, statements);
  let value: Type = NIL;
  let hasLeft = false;
  let hasWarned = false;
  for (const [index, statement] of statements.entries()) {
    if (hasLeft && !hasWarned && !isDeclaration(statement)) {
      state.warn('unreachable code', statement.span);
      hasWarned = true;
    }
    value = checkStatement(state, statement);
    if (index < statements.length - 1 || state.dropped.has(statement)) {
      lintDropped(state, statement);
      checkIdleValue(state, statement);
    }
    hasLeft ||= value.kind === 'never';
  }
  return hasLeft ? NEVER : value;
}

/** The body of a loop has no value. */
function dropTail(state: CheckState, body: Block): void {
  const last = body.statements.at(-1);
  if (last !== undefined) state.dropped.add(last);
}

/** Types and functions are known in their whole block, whatever the order. */
function hoist(state: CheckState, statements: readonly Statement[]): void {
  state.scope.declareTypes(statements);
  for (const statement of statements) {
    const node = bareDeclaration(statement);
    if (node.kind === 'Function' || node.kind === 'Tool') {
      // A signature may name types of the block, so it is read only now.
      state.declare(node.name, signatureType(signatureOf(state, node, state.scope)), { declaration: statement });
    } else if (isCallableDeclaration(node) || node.kind === 'Skill' || node.kind === 'EvalPack') {
      state.declare(node.name, ANY);
    }
  }
}

function checkStatement(state: CheckState, node: Statement): Type {
  switch (node.kind) {
    case 'ExpressionStatement':
      return state.infer(node.expression);
    case 'Binding':
      return checkBinding(state, node);
    case 'Assignment':
      checkAssignment(state, node);
      return NIL;
    case 'Return':
      checkReturn(state, node.value);
      return NEVER;
    case 'Throw':
      state.infer(node.value);
      warnAboutPartialLadder(state, 'throw', node.span);
      return NEVER;
    case 'Break':
    case 'Continue':
      return NEVER;
    case 'For':
      checkFor(state, node);
      return NIL;
    case 'While':
      forgetAssigned(state, assignedNames([node.condition, node.body]), state.flow);
      checkLoopBody(state, () => {
        state.flow = checkCondition(state, node.condition).whenTrue;
        dropTail(state, node.body);
        return state.block(node.body);
      });
      return NIL;
    case 'Guard': {
      const { whenTrue, whenFalse } = checkCondition(state, node.condition);
      const before = state.flow;
      const otherwise = state.branch(whenFalse, () => state.block(node.otherwise));
      state.flow = otherwise.type.kind === 'never' ? whenTrue : before.join(whenTrue, otherwise.flow);
      return NIL;
    }
    case 'Require': {
      const { whenTrue, whenFalse } = checkCondition(state, node.condition);
      const { message } = node;
      if (message !== undefined) state.branch(whenFalse, () => state.infer(message));
      state.flow = whenTrue;
      return NIL;
    }
    case 'Mutex':
      return state.block(node.body).kind === 'never' ? NEVER : NIL;
    case 'Defer':
      checkDefer(state, node);
      return NIL;
    case 'Select':
      checkSelect(state, node);
      return NIL;
    case 'Yield':
      if (node.value !== undefined) state.infer(node.value);
      if (state.frame?.kind === 'stream') state.error('`yield` is not a stream emit; use `emit` inside `gen fn`', node.span);
      return NIL;
    case 'Emit':
      checkEmit(state, node);
      return NIL;
    default:
      checkDeclaration(state, node);
      return NIL;
  }
}

function checkBinding(state: CheckState, node: Binding): Type {
  const { pattern, keyword } = node;
  const value = state.infer(node.value);
  const declared = node.type && resolveType(node.type, state.scope);
  lintConstant(state, node);
  if (pattern.kind !== 'NamePattern') {
    for (const part of pattern.kind === 'DictPattern' ? pattern.fields : pattern.items) {
      if (part.defaultValue !== undefined) state.infer(part.defaultValue);
    }
    for (const name of patternNames(pattern)) state.declare(name, ANY, { keyword });
    return value.kind === 'never' ? NEVER : NIL;
  }
  if (declared !== undefined && !isAssignable(value, declared)) {
    const detail = explainMisfit(value, declared);
    state.error(`'${pattern.name}' declared as ${renderType(declared)}, but assigned ${renderType(value)}${detail}`, node.span);
  }
  // Scripts rely on it that names of the file itself are dynamic: any function may see them at any time.
  const isOfFile = state.scope === state.fileScope;
  const type = isOfFile ? ANY : (declared ?? (value.kind === 'never' ? ANY : value));
  const boundary = declared === undefined ? boundaryOf(state, node.value) : undefined;
  // A `var` keeps its kind as a rule when that is what it begins with.
  const isCertain = isOfFile && (keyword !== 'var' || node.value.kind === 'List' || node.value.kind === 'Dict');
  state.declare(pattern.name, type, {
    keyword,
    isAnnotated: isOfFile || declared !== undefined,
    span: node.span,
    boundary,
    known: isCertain ? value : undefined,
  });
  if (keyword === 'var') state.variables.set(node.span.start, { name: pattern.name, span: node.span });
  return value.kind === 'never' ? NEVER : NIL;
}

function checkReturn(state: CheckState, node: Expression | undefined): void {
  const value = node === undefined ? NIL : state.infer(node);
  const { frame } = state;
  if (frame === undefined) return;
  frame.returned.push(value);
  if (node === undefined || frame.result === undefined || isAssignable(value, frame.result)) return;
  state.error(`return type doesn't match: expected ${renderType(frame.result)}, got ${renderType(value)}`, node.span);
}

function checkFor(state: CheckState, node: ForLoop): void {
  const iterable = state.infer(node.iterable);
  checkIterable(state, node.iterable, state.certainType(node.iterable, iterable));
  const item = itemOf(iterable);
  forgetAssigned(state, assignedNames([node.body]), state.flow);
  const { pattern } = node;
  dropTail(state, node.body);
  checkLoopBody(state, () =>
    state.block(node.body, () => {
      const isOfFile = state.scope.parent === state.fileScope;
      if (pattern.kind === 'NamePattern') {
        state.declare(pattern.name, isOfFile ? ANY : item, { isAnnotated: false });
      } else {
        for (const name of loopNames(pattern)) state.declare(name, ANY);
      }
    }),
  );
}

/** What a round learns is not known after the loop, which may have run no round at all. */
function checkLoopBody(state: CheckState, body: () => Type): void {
  const before = state.flow;
  state.branch(before.fork(), body);
  state.flow = before;
}

/** A deferred block sees what the variables hold when the function ends. */
function checkDefer(state: CheckState, node: Extract<Statement, { kind: 'Defer' }>): void {
  const before = state.flow;
  const later = before.fork();
  for (let scope: typeof state.scope | undefined = state.scope; scope !== undefined; scope = scope.parent) {
    for (const variable of scope.values.values()) if (variable.keyword === 'var') later.forget(variable);
  }
  forgetAssigned(state, variablesIn(state), later);
  state.branch(later, () => state.block(node.body));
  state.flow = before;
}

function variablesIn(state: CheckState): ReadonlySet<string> {
  const names = new Set<string>();
  for (let scope: typeof state.scope | undefined = state.scope; scope !== undefined; scope = scope.parent) {
    for (const [name, variable] of scope.values) if (variable.keyword === 'var') names.add(name);
  }
  return names;
}

function checkSelect(state: CheckState, node: Extract<Statement, { kind: 'Select' }>): void {
  const before = state.flow;
  for (const item of node.cases) {
    state.infer(item.channel);
    state.branch(before.fork(), () => state.block(item.body, () => state.declare(item.variable, ANY)));
    state.flow = before;
  }
  const { timeout, otherwise } = node;
  if (timeout !== undefined) {
    state.infer(timeout.duration);
    state.branch(before.fork(), () => state.block(timeout.body));
  }
  if (otherwise !== undefined) state.branch(before.fork(), () => state.block(otherwise));
  state.flow = before;
  forgetAssigned(state, assignedNames([node]), state.flow);
}

function checkEmit(state: CheckState, node: Extract<Statement, { kind: 'Emit' }>): void {
  const value = state.infer(node.value);
  if (state.frame?.kind !== 'stream') {
    state.error('`emit` can only be used inside a `gen fn`', node.span);
    return;
  }
  const { emits } = state.frame;
  if (emits !== undefined && !isAssignable(value, emits)) {
    state.error(`emit type doesn't match: expected ${renderType(emits)}, got ${renderType(value)}`, node.value.span);
  }
}
