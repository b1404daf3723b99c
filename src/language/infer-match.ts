import type { Expression, MatchArm, MatchExpression } from './ast.ts';
import { matchNames } from './check-names.ts';
import type { CheckState } from './check-state.ts';
import { missingCases, patternKind } from './exhaustive.ts';
import { enumNamed } from './infer-construct.ts';
import { checkCondition, narrowEqual } from './narrow.ts';
import { pathOf } from './narrow-flow.ts';
import { parameterScope, resolveType } from './type-resolve.ts';
import { ANY, isNil, kindOf, renderType, type Type, union } from './types.ts';

/**
 * A match: each arm sees the subject as its pattern leaves it, and what the arms before did not take. The flow after it
 * is that of the arms that come back.
 */
export function inferMatch(state: CheckState, node: MatchExpression): Type {
  const subject = state.infer(node.subject);
  const receiver = node.subject.kind === 'Property' ? typeOfPath(state, node.subject.receiver) : undefined;
  const before = state.flow;
  let remaining = before.fork();
  let after: typeof before | undefined;
  const types: Type[] = [];
  for (const arm of node.arms) {
    checkAlternatives(state, arm);
    const entered = enter(state, node.subject, arm, remaining);
    state.flow = entered.inside;
    const type = checkArm(state, arm, subject);
    types.push(type);
    if (type.kind !== 'never') after = after === undefined ? state.flow : before.join(after, state.flow);
    if (arm.guard === undefined) remaining = entered.outside;
    for (const pattern of arm.patterns) warnAboutMismatch(state, subject, pattern);
  }
  state.flow = after ?? before;
  const missing = missingCases(node.subject, subject, receiver, node.arms);
  if (missing !== undefined) state.error(missing, node.span);
  return node.arms.length === 0 ? ANY : union(types);
}

function typeOfPath(state: CheckState, node: Expression): Type | undefined {
  const path = pathOf(node, state.scope);
  return path && state.typeAt(path);
}

const MESSAGE =
  'Or-pattern alternatives must be literal patterns (string, int, float, bool, nil, or `_`). Identifier bindings and destructuring patterns are not allowed inside `|`.';

function checkAlternatives(state: CheckState, arm: MatchArm): void {
  if (arm.patterns.length < 2) return;
  const wrong = arm.patterns.find(
    (pattern) => patternKind(pattern) === undefined && !(pattern.kind === 'Identifier' && pattern.name === '_'),
  );
  if (wrong !== undefined) state.error(MESSAGE, wrong.span);
}

type ArmFlow = CheckState['flow'];

function enter(state: CheckState, subject: Expression, arm: MatchArm, remaining: ArmFlow): { inside: ArmFlow; outside: ArmFlow } {
  const outer = state.flow;
  let inside: ArmFlow | undefined;
  let outside = remaining;
  for (const pattern of arm.patterns) {
    const equal = outside.fork();
    const different = outside.fork();
    if (pattern.kind === 'String' || pattern.kind === 'Int' || pattern.kind === 'Nil') {
      state.flow = outside;
      narrowEqual(state, subject, pattern, equal, different);
    }
    inside = inside === undefined ? equal : remaining.join(inside, equal);
    outside = different;
  }
  state.flow = outer;
  return { inside: inside ?? remaining.fork(), outside };
}

function checkArm(state: CheckState, arm: MatchArm, subject: Type): Type {
  return state.nested(() => {
    for (const pattern of arm.patterns) declarePattern(state, pattern, subject);
    if (arm.guard !== undefined) state.flow = checkCondition(state, arm.guard).whenTrue;
    return state.block(arm.body);
  });
}

function declarePattern(state: CheckState, pattern: Expression, subject: Type): void {
  if (pattern.kind === 'MethodCall' && enumNamed(state, pattern.receiver) !== undefined) {
    declarePayload(state, pattern, subject);
    return;
  }
  switch (pattern.kind) {
    case 'Identifier':
      // Reading the remaining type would be finer; the declared one is what the rest of the checker works with.
      state.declare(pattern.name, subject);
      break;
    case 'Dict':
    case 'List':
      for (const name of matchNames(pattern)) state.declare(name, ANY);
      break;
    case 'Property':
      if (enumNamed(state, pattern.receiver) !== undefined) state.infer(pattern);
      break;
    default:
      state.infer(pattern);
  }
}

function declarePayload(state: CheckState, pattern: Extract<Expression, { kind: 'MethodCall' }>, subject: Type): void {
  const variant = subject.kind === 'enum' ? subject.declaration.node.variants.find(({ name }) => name === pattern.name) : undefined;
  const declared = enumNamed(state, pattern.receiver);
  if (declared !== undefined && !declared.node.variants.some(({ name }) => name === pattern.name)) {
    state.warn(`Unknown variant '${pattern.name}' in enum '${declared.node.name}'`, pattern.nameSpan);
  }
  for (const [index, arg] of pattern.args.entries()) {
    if (arg.kind !== 'Identifier') continue;
    const type = variant?.params[index]?.type;
    if (type === undefined || subject.kind !== 'enum') state.declare(arg.name, ANY);
    else {
      const { node, scope } = subject.declaration;
      state.declare(arg.name, resolveType(type, parameterScope(node.typeParams, subject.args, scope)));
    }
  }
}

function warnAboutMismatch(state: CheckState, subject: Type, pattern: Expression): void {
  const wanted = patternKind(pattern);
  const kind = kindOf(subject);
  if (wanted === undefined || wanted === 'nil' || kind === undefined || kind === wanted || isNil(subject)) return;
  const isNumeric = (name: string): boolean => name === 'int' || name === 'float';
  if ((isNumeric(kind) && isNumeric(wanted)) || kind === 'enum' || kind === 'duration') return;
  state.warn(`Match pattern type mismatch: matching ${renderType(subject)} against ${wanted} literal`, pattern.span);
}
