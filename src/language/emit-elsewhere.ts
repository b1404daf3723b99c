import type { Program } from './ast.ts';
import { patternNames } from './check-names.ts';
import { forEachChild, type TreeNode } from './walk.ts';

/**
 * Where a name is declared that is not in sight of the place that reads it. Looked up only for a name that nothing in
 * sight declares, so that other programs pay nothing.
 *
 * @returns what to say; undefined when nothing in the file declares the name
 */
export function declaredElsewhere(program: Program, name: string): string | undefined {
  let found: string | undefined;
  const look = (node: TreeNode): void => {
    if (found !== undefined) return;
    if (node.kind === 'Enum' && node.variants.some((variant) => variant.name === name)) found = `write \`${node.name}.${name}\``;
    else if (node.kind === 'Binding' && patternNames(node.pattern).includes(name)) {
      found = `it is declared in line ${node.span.line}, which is not in sight here`;
    }
    forEachChild(node, look);
  };
  for (const item of program.items) look(item);
  return found;
}
