import type { Closure, Expression, Identifier, Program, Property, Statement, ToolDeclaration } from './ast.ts';
import type { TreeNode } from './walk.ts';

/** What each name of a program means, and what later passes have to know of it (see resolve-names.ts). */
export interface Variable {
  readonly name: string;
  /** Unique in the module, a valid JavaScript identifier. */
  readonly jsName: string;
  readonly role: 'let' | 'var' | 'param' | 'loop' | 'function' | 'import';
  readonly owner: FunctionScope;
  /** Declared at the top level of the file. */
  readonly isTopLevel: boolean;
  /** For role `function`: its declaration. */
  readonly declaration: Statement | undefined;
  /** Right sides assigned to it, the initial one included; undefined stands for a value nobody can see here. */
  readonly values: (Expression | undefined)[];
  /** Counts over a range: its values are small integers as long as nothing else is assigned to it. */
  isRangeIndex: boolean;
  /** Assigned again after its declaration, or written through (`x[i] = …`). */
  isReassigned: boolean;
  /** Written through or grown in place: worth an owned bit. */
  isWrittenThrough: boolean;
  /** Written through at least two levels deep (`x[i][j] = …`): worth knowing also which inner containers it owns. */
  isWrittenDeep: boolean;
  isCaptured: boolean;
  /** Used by a closure that stands before its declaration: its JavaScript declaration moves to the start of the block. */
  isEarly: boolean;
}

/** One activation: the file, a function, a closure, a pipeline, the body of a task. Its facts leave out what is nested in it. */
export interface FunctionScope {
  readonly node: TreeNode | Program;
  readonly parent: FunctionScope | undefined;
  /** Data variables of enclosing activations used here or further inside. */
  readonly captures: Set<Variable>;
  /** Nodes that may have to wait, in the order of the text: calls, pipes, loops, `parallel`, `select`, `mutex`. */
  readonly waits: TreeNode[];
  /** Variables at the root of what is assigned to. */
  readonly assigned: Identifier[];
  hasDefer: boolean;
  /** Holds `return f(…)`: a call of it may answer a TailCall. */
  handsOn: boolean;
}

export interface Resolution {
  readonly file: FunctionScope;
  readonly references: ReadonlyMap<Identifier, Variable>;
  readonly scopes: ReadonlyMap<TreeNode, FunctionScope>;
  readonly uses: Uses;
  /** Expressions that need statements of their own before their value is there. */
  readonly lifted: ReadonlySet<TreeNode>;
  /** Types and implementations, wherever they stand. */
  readonly types: readonly Statement[];
  /** Nodes in which a type may stand that somebody wrote. */
  readonly annotated: readonly TreeNode[];
  /** Holds something that makes streams or generators. */
  readonly producesIterables: boolean;
  /** Variables by the node that declares them and their name. */
  declared(node: object, name: string): Variable;
  /** True when the same scope declared the name before, and neither of the two is `var`. */
  isRedeclaration(node: object, name: string): boolean;
  /** Early variables of a block or file, to be declared at its start. */
  earlyIn(block: object): readonly Variable[];
  /** Names in sight of an identifier that means none of them, for suggestions. */
  namesAround(node: Identifier): readonly string[];
}

/** How a program uses names, for questions about the whole of it. */
export interface Uses {
  /** Names that nothing in the file declares: builtins, imports, mistakes. */
  readonly free: readonly Identifier[];
  /** Identifiers whose value goes somewhere; those of `receivers` are only asked for a member. */
  readonly values: readonly Identifier[];
  readonly receivers: readonly Identifier[];
  /** `a.b` whose value goes somewhere, and `a.b` that is only asked for a member. */
  readonly members: readonly Property[];
  readonly receivingMembers: readonly Property[];
  /** Keys that `let {k} = …` takes out of something. */
  readonly picked: readonly string[];
  /** Some parameter has the type of a part of the harness. */
  readonly takesParts: boolean;
  /** Functions that are values as soon as they are there. */
  readonly callables: readonly (Closure | ToolDeclaration)[];
}

/** Links of a chain that are emitted inside of each other: each costs stack, here and in V8's parser. */
export const MAX_LINKS = 24;

/** The variable at the root of `a.b[c].d`. */
export function rootOf(target: Expression): Identifier | undefined {
  let node = target;
  while (node.kind === 'Property' || node.kind === 'Subscript') node = node.receiver;
  return node.kind === 'Identifier' ? node : undefined;
}

/** `if` whose branches are single expressions is a conditional expression: its condition and the two values. */
export function asTernary(
  node: Extract<Expression, { kind: 'If' }>,
  lifted: ReadonlySet<TreeNode>,
): [Expression, Expression, Expression | undefined] | undefined {
  const then = singleExpression(node.then.statements);
  const otherwise = node.otherwise && singleExpression(node.otherwise.statements);
  if (then === undefined || (node.otherwise !== undefined && otherwise === undefined)) return undefined;
  return lifted.has(then) || (otherwise !== undefined && lifted.has(otherwise)) ? undefined : [node.condition, then, otherwise];
}

function singleExpression(statements: readonly Statement[]): Expression | undefined {
  const only = statements.length === 1 ? statements[0] : undefined;
  return only?.kind === 'ExpressionStatement' ? only.expression : undefined;
}

/** Methods whose result may be made in place when the receiver is the variable that takes it. */
const GROWING_METHODS: ReadonlySet<string> = new Set(['push', 'pop']);

/** `xs = xs + […]`, `xs += …`, `xs = xs.push(v)`: statements that grow the variable's own container. */
export function growsInPlace(variable: Variable, operator: string, value: Expression): boolean {
  const isSelf = (node: Expression): boolean => node.kind === 'Identifier' && node.name === variable.name;
  if (operator === '+=') return value.kind === 'List' || value.kind === 'Dict';
  if (operator !== '=') return false;
  if (value.kind === 'Binary' && value.operator === '+')
    return isSelf(value.left) && (value.right.kind === 'List' || value.right.kind === 'Dict');
  return value.kind === 'MethodCall' && GROWING_METHODS.has(value.name) && isSelf(value.receiver);
}

/** A Harn name as a JavaScript identifier: characters beyond ASCII words are written as their code point. */
export function encodeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/gu, (character) => `$${character.codePointAt(0)?.toString(16)}$`);
}
