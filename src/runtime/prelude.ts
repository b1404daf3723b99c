import type { Import, Program } from '../language/ast.ts';
import { namesDeclaredIn } from '../language/check-names.ts';
import { forEachChild, type TreeNode } from '../language/walk.ts';
import { PRELUDE } from '../stdlib/sources.ts';

/**
 * Builtins that are written in Harn. They stand in `std/prelude/…`; a module that uses such a name without declaring
 * it gets an import that nobody wrote. A program that uses none of them compiles none of them.
 */
export function preludeImports(program: Program, modulePath: string): readonly Import[] {
  const used = usedNames(program);
  if (used.size === 0) return [];
  const byModule = new Map<string, string[]>();
  for (const name of used) {
    const home = PRELUDE[name] ?? '';
    if (home !== modulePath) byModule.set(home, [...(byModule.get(home) ?? []), name]);
  }
  const start = { start: 0, end: 0, line: 1, column: 1 };
  return [...byModule].map(([path, names]) => ({
    kind: 'Import',
    isPublic: false,
    path,
    pathSpan: start,
    names: names.map((text) => ({ text, span: start })),
    spelling: 'string',
    span: start,
  }));
}

/** Names of the prelude that are called, or read where the file declares nothing of that name. */
function usedNames(program: Program): ReadonlySet<string> {
  const called = new Set<string>();
  const read = new Set<string>();
  const visit = (node: TreeNode): void => {
    if (node.kind === 'Call' && node.callee.name in PRELUDE) called.add(node.callee.name);
    else if (node.kind === 'Identifier' && node.name in PRELUDE) read.add(node.name);
    forEachChild(node, visit);
  };
  for (const item of program.items) visit(item);
  if (called.size + read.size === 0) return called;
  const declared = namesDeclaredIn(program.items);
  for (const name of read) if (!declared.has(name)) called.add(name);
  for (const item of program.items) {
    const declaration = item.kind === 'Attributed' ? item.declaration : item;
    if (declaration.kind === 'Function') called.delete(declaration.name);
  }
  return called;
}
