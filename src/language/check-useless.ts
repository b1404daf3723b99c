import type { Block, Expression, FunctionDeclaration, Program, Statement } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { isDeclaration } from './check-names.ts';
import type { CheckState } from './check-state.ts';
import { kindOf, type Type } from './types.ts';
import { bareDeclaration, ifChain, isProducer } from './walk.ts';

/*
 * Statements that do nothing where something was meant. They run as the language says, so these are warnings; each names
 * what would do it.
 */

/** With a pipeline or `fn main` in the file only bindings and declarations of its top level run (spec/language.md 5.8). */
export function checkIdleStatements(state: CheckState, { items }: Program): void {
  if (state.environment.role !== 'entry') return;
  const entry = items.map(bareDeclaration).find(isEntry);
  if (entry === undefined) return warnAboutUncalledMain(state, items);
  const idle = items.find((item) => !isDeclaration(item) && !RUNS_BESIDE_AN_ENTRY.has(item.kind));
  if (idle === undefined) return;
  const what = entry.kind === 'Pipeline' ? 'a pipeline' : '`fn main`';
  state.warn(`this statement never runs: the file has ${what}`, idle.span, {
    code: CHECKER_CODES.neverRuns.code,
    help: 'only bindings and declarations of the top level run beside it; move the rest into it',
  });
}

const RUNS_BESIDE_AN_ENTRY: ReadonlySet<Statement['kind']> = new Set(['Import', 'Binding', 'Pipeline', 'EvalPack']);

function isEntry(node: Statement): boolean {
  return node.kind === 'Pipeline' || (node.kind === 'Function' && node.name === 'main' && node.params.length > 0);
}

/** `fn main()` is a function like any other: only one that takes the harness is the entry (spec/language.md 15.2). */
function warnAboutUncalledMain(state: CheckState, items: readonly Statement[]): void {
  const main = items
    .map(bareDeclaration)
    .find((item) => item.kind === 'Function' && item.name === 'main' && item.params.length === 0 && item.body.statements.length > 0);
  if (main?.kind !== 'Function' || items.some((item) => !isDeclaration(item) && item.kind !== 'Import' && item.kind !== 'Binding')) return;
  state.warn('nothing calls `main`', main.nameSpan, {
    code: CHECKER_CODES.neverRuns.code,
    help: 'write `fn main(harness: Harness)`, which is called by itself, or call it: `main()`',
  });
}

/** `fn add(a, b) { a + b }`: a named function gives nil unless it says `return` (spec/language.md 5.5). */
export function checkLostResult(state: CheckState, node: FunctionDeclaration): void {
  if (node.isStream || isProducer(node)) return;
  const lost = lostValue(node.body);
  if (lost === undefined) return;
  state.warn(`'${node.name}' does not return this value: a named function gives nil`, lost.span, {
    code: CHECKER_CODES.lostResult.code,
    help: 'write `return` before it',
  });
}

function lostValue(body: Block | undefined): Expression | undefined {
  const last = body?.statements.at(-1);
  if (last?.kind !== 'ExpressionStatement') return undefined;
  const { expression } = last;
  if (expression.kind !== 'If') return isIdle(expression) ? expression : undefined;
  const { links, otherwise } = ifChain(expression);
  if (otherwise === undefined) return undefined;
  for (const block of [...links.map(({ then }) => then), otherwise]) {
    const lost = lostValue(block);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** Does nothing but give a value, and that not by what it calls? */
function isIdle(node: Expression): boolean {
  switch (node.kind) {
    case 'Int':
    case 'Float':
    case 'Duration':
    case 'String':
    case 'Interpolation':
    case 'Bool':
    case 'Identifier':
    case 'List':
    case 'Dict':
    case 'StructLiteral':
    case 'Closure':
    case 'Binary':
    case 'Unary':
    case 'Ternary':
    case 'Range':
    case 'Property':
    case 'Subscript':
    case 'Slice':
      return true;
    default:
      return false;
  }
}

/** `a == 1` or `- 3` as a statement whose value nobody takes. */
export function checkIdleValue(state: CheckState, statement: Statement): void {
  // The last value of a script is its entry value, and an int there its exit code.
  if (statement.kind !== 'ExpressionStatement' || statement === state.items.at(-1)) return;
  const { expression } = statement;
  const isSign = expression.kind === 'Unary' && expression.operator === '-';
  const isComparison = expression.kind === 'Binary' && expression.operator === '==';
  if (!isSign && !isComparison) return;
  const help = isSign ? 'a line that begins with `-` stands alone: end the line before it with the operator' : '`=` assigns';
  state.warn('nothing takes this value', expression.span, { code: CHECKER_CODES.lostResult.code, help });
}

/** What a `for` over a value of the kind could have meant; it runs no round (spec/language.md 6.2). */
const INSTEAD: Readonly<Record<string, string | undefined>> = {
  int: 'write `for i in 0 to n exclusive { … }`',
  float: 'write `for i in 0 to n exclusive { … }`',
  string: 'write `for c in s.chars() { … }`, or `s.lines()`',
  bool: undefined,
  duration: undefined,
  closure: 'call it',
  struct: undefined,
  enum: undefined,
};

export function checkIterable(state: CheckState, node: Expression, type: Type): void {
  const kind = kindOf(type);
  if (kind === undefined || !Object.hasOwn(INSTEAD, kind)) return;
  state.warn(`a loop over a value of type ${kind} runs no round`, node.span, { code: CHECKER_CODES.emptyLoop.code, help: INSTEAD[kind] });
}

/** `parallel` counts, `parallel each` and `parallel settle` take a list; the other way round they give nil (spec/language.md 10.1). */
export function checkParallel(state: CheckState, node: Extract<Expression, { kind: 'Parallel' }>, operand: Type): void {
  const kind = kindOf(operand);
  const counts = node.form === 'count';
  if (counts ? kind !== 'list' : kind !== 'int') return;
  const message = counts
    ? '`parallel` takes a number: over a list it gives nil'
    : `\`parallel ${node.form}\` takes a list: over an int it gives nil`;
  const help = counts ? 'write `parallel each xs { x -> … }`' : 'write `parallel n { i -> … }`';
  state.warn(message, node.operand.span, { code: CHECKER_CODES.emptyLoop.code, help });
}
