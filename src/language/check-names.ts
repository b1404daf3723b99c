import type { Expression, Pattern, Statement } from './ast.ts';
import { forEachChild, type TreeNode } from './walk.ts';

/** Every name of a value that is declared anywhere below these statements. */
export function namesDeclaredIn(statements: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: TreeNode): void => {
    collect(node, names);
    forEachChild(node, visit);
  };
  for (const statement of statements) visit(statement);
  return names;
}

function collect(node: TreeNode, names: Set<string>): void {
  switch (node.kind) {
    case 'Function':
    case 'Tool':
    case 'Pipeline':
    case 'Override':
      names.add(node.name);
      for (const param of node.params) names.add(param.name);
      break;
    case 'Closure':
      for (const param of node.params) names.add(param.name);
      break;
    case 'Skill':
    case 'EvalPack':
    case 'Struct':
    case 'Enum':
      names.add(node.name);
      break;
    case 'Import':
      for (const name of node.names ?? []) names.add(name.text);
      break;
    case 'Binding':
      for (const name of patternNames(node.pattern)) names.add(name);
      break;
    case 'For':
      for (const name of loopNames(node.pattern)) names.add(name);
      break;
    case 'Select':
      for (const item of node.cases) names.add(item.variable);
      break;
    case 'Try':
      if (node.catchClause?.variable !== undefined) names.add(node.catchClause.variable);
      break;
    case 'Parallel':
      if (node.variable !== undefined) names.add(node.variable);
      break;
    case 'Match':
      for (const arm of node.arms) for (const pattern of arm.patterns) for (const name of matchNames(pattern)) names.add(name);
      break;
    default:
      break;
  }
}

/** Declarations are fine behind a `return`. */
export function isDeclaration(node: Statement): boolean {
  switch (node.kind) {
    case 'Function':
    case 'Tool':
    case 'Skill':
    case 'Struct':
    case 'Enum':
    case 'TypeAlias':
    case 'Interface':
    case 'Impl':
    case 'Attributed':
    case 'Override':
      return true;
    default:
      return false;
  }
}

/** Names that a pattern of a binding introduces. */
export function patternNames(pattern: Pattern): string[] {
  switch (pattern.kind) {
    case 'NamePattern':
      return [pattern.name];
    case 'DictPattern':
      return [...pattern.fields.map(({ target }) => target), ...(pattern.rest === undefined ? [] : [pattern.rest])];
    case 'ListPattern':
      return [...pattern.items.map(({ target }) => target), ...(pattern.rest === undefined ? [] : [pattern.rest])];
  }
}

export function loopNames(pattern: Extract<Statement, { kind: 'For' }>['pattern']): string[] {
  return pattern.kind === 'PairPattern' ? [pattern.first, pattern.second] : patternNames(pattern);
}

/** Names that the pattern of a match arm binds. */
export function matchNames(pattern: Expression): string[] {
  const sub = (nodes: readonly { readonly kind: string }[]): string[] =>
    nodes.flatMap((node) => (node.kind === 'Identifier' ? [(node as { readonly name?: string }).name ?? ''] : []));
  switch (pattern.kind) {
    case 'Identifier':
      return [pattern.name];
    case 'MethodCall':
      return sub(pattern.args);
    case 'List':
      return sub(pattern.items);
    case 'Dict':
      return sub(pattern.entries.map((entry) => entry.value));
    default:
      return [];
  }
}

/** Variables that are assigned to, or written through, anywhere in these statements. */
export function assignedNames(nodes: readonly TreeNode[]): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: TreeNode): void => {
    if (node.kind === 'Assignment') {
      const name = rootName(node.target);
      if (name !== undefined) names.add(name);
    }
    forEachChild(node, visit);
  };
  for (const node of nodes) visit(node);
  return names;
}

/** `x` of `x`, `x.a`, `x[i].b`. */
export function rootName(target: Expression): string | undefined {
  switch (target.kind) {
    case 'Identifier':
      return target.name;
    case 'Property':
    case 'Subscript':
      return rootName(target.receiver);
    default:
      return undefined;
  }
}
