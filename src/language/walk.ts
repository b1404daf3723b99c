import type { Block, Element, Expression, IfExpression, Statement } from './ast.ts';

/** Any part of a tree that holds expressions or statements. */
export type TreeNode = Expression | Statement | Block | Element;

/**
 * Calls `visit` for each direct child, in source order. Types, patterns and names are not children. Every `else if` of a
 * chain counts as part of its first `if`.
 */
export function forEachChild(node: TreeNode, visit: (child: TreeNode) => void): void {
  switch (node.kind) {
    // The leaves that there are most of come first: V8 compares one kind after the other until it has compiled this.
    case 'Identifier':
    case 'Int':
    case 'String':
      return;
    case 'Block':
      return all(node.statements, visit);
    case 'Attributed':
      return visit(node.declaration);
    case 'Pipeline':
    case 'Override':
    case 'Function':
    case 'Tool':
    case 'Closure':
      for (const param of node.params) maybe(param.defaultValue, visit);
      return visit(node.body);
    case 'Skill':
      for (const field of node.fields) visit(field.value);
      return;
    case 'EvalPack':
      for (const field of node.fields) visit(field.value);
      all(node.body, visit);
      return maybe(node.summarize, visit);
    case 'Impl':
      return all(node.methods, visit);
    case 'Binding':
      if (node.pattern.kind === 'DictPattern') for (const field of node.pattern.fields) maybe(field.defaultValue, visit);
      if (node.pattern.kind === 'ListPattern') for (const item of node.pattern.items) maybe(item.defaultValue, visit);
      return visit(node.value);
    case 'For':
      visit(node.iterable);
      return visit(node.body);
    case 'While':
      visit(node.condition);
      return visit(node.body);
    case 'Return':
    case 'Yield':
      return maybe(node.value, visit);
    case 'Throw':
    case 'Emit':
    case 'Propagate':
    case 'TryStar':
    case 'Spread':
      return visit(node.value);
    case 'Guard':
      visit(node.condition);
      return visit(node.otherwise);
    case 'Require':
      visit(node.condition);
      return maybe(node.message, visit);
    case 'Mutex':
    case 'Defer':
    case 'Spawn':
      return visit(node.body);
    case 'Select':
      for (const item of node.cases) {
        visit(item.channel);
        visit(item.body);
      }
      if (node.timeout !== undefined) {
        visit(node.timeout.duration);
        visit(node.timeout.body);
      }
      return maybe(node.otherwise, visit);
    case 'Assignment':
      visit(node.target);
      return visit(node.value);
    case 'ExpressionStatement':
      return visit(node.expression);
    case 'Interpolation':
      for (const part of node.parts) if (typeof part !== 'string') visit(part);
      return;
    case 'List':
      return all(node.items, visit);
    case 'Dict':
      for (const entry of node.entries) {
        if (entry.kind === 'Spread') {
          visit(entry);
        } else {
          if (typeof entry.key !== 'string') visit(entry.key);
          visit(entry.value);
        }
      }
      return;
    case 'StructLiteral':
      for (const field of node.fields) visit(field.value);
      return;
    case 'Binary':
    case 'Pipe':
      visit(node.left);
      return visit(node.right);
    case 'Unary':
      return visit(node.operand);
    case 'Ternary':
      visit(node.condition);
      visit(node.then);
      return visit(node.otherwise);
    case 'Range':
      visit(node.start);
      return visit(node.end);
    case 'Call':
      visit(node.callee);
      return all(node.args, visit);
    case 'MethodCall':
      visit(node.receiver);
      return all(node.args, visit);
    case 'Property':
      return visit(node.receiver);
    case 'Subscript':
      visit(node.receiver);
      return visit(node.index);
    case 'Slice':
      visit(node.receiver);
      maybe(node.start, visit);
      return maybe(node.end, visit);
    case 'If': {
      const { links, otherwise } = ifChain(node);
      for (const { condition, then } of links) {
        visit(condition);
        visit(then);
      }
      return maybe(otherwise, visit);
    }
    case 'Match':
      visit(node.subject);
      for (const arm of node.arms) {
        all(arm.patterns, visit);
        maybe(arm.guard, visit);
        visit(arm.body);
      }
      return;
    case 'Parallel':
      visit(node.operand);
      maybe(node.maxConcurrent, visit);
      return visit(node.body);
    case 'Retry':
      visit(node.count);
      return visit(node.body);
    case 'Deadline':
      visit(node.duration);
      return visit(node.body);
    case 'Try':
      visit(node.body);
      if (node.catchClause !== undefined) visit(node.catchClause.body);
      return maybe(node.finallyBlock, visit);
    default:
      return;
  }
}

// Functions of the file, not closures: every pass over a tree runs through here, most often in code that is still cold.
function maybe(child: TreeNode | undefined, visit: (child: TreeNode) => void): void {
  if (child !== undefined) visit(child);
}

function all(children: readonly TreeNode[], visit: (child: TreeNode) => void): void {
  for (const child of children) visit(child);
}

/** Calling such a function only makes a generator or stream; its body waits at the pull. */
export function isProducer(node: TreeNode): boolean {
  return node.kind === 'Function' && (node.isStream || node.yields);
}

export interface IfChain {
  /** The `if` and every `else if` behind it. */
  readonly links: readonly IfExpression[];
  /** The last `else`. */
  readonly otherwise: Block | undefined;
}

/** The declaration behind attributes. */
export function bareDeclaration(statement: Statement): Statement {
  return statement.kind === 'Attributed' ? statement.declaration : statement;
}

/** `if … else if … else …` as a list: its tree leans to one side, and it may be as long as any list. */
export function ifChain(node: IfExpression): IfChain {
  const links = [node];
  for (let link = node; ; ) {
    const [only] = link.otherwise?.statements ?? [];
    if (only?.kind !== 'ExpressionStatement' || only.expression.kind !== 'If' || !only.expression.isElseIf) {
      return { links, otherwise: link.otherwise };
    }
    link = only.expression;
    links.push(link);
  }
}
