import type { Import } from '../../language/ast.ts';
import type { Resolution } from '../../language/scope.ts';
import { PRELUDE } from '../../stdlib/sources.ts';

/**
 * Builtins that are written in Harn. They stand in `std/prelude/…`; a module that uses such a name without declaring
 * it gets an import that nobody wrote. A program that uses none of them compiles none of them.
 */
export function preludeImports({ uses }: Resolution, modulePath: string): readonly Import[] {
  const byModule = new Map<string, Set<string>>();
  for (const { name } of uses.free) {
    const home = Object.hasOwn(PRELUDE, name) ? PRELUDE[name] : undefined;
    if (home === undefined || home === modulePath) continue;
    byModule.set(home, (byModule.get(home) ?? new Set()).add(name));
  }
  const start = { start: 0, end: 0, line: 1, column: 1 };
  return [...byModule].map(([path, names]) => ({
    kind: 'Import',
    isPublic: false,
    path,
    pathSpan: start,
    names: [...names].map((text) => ({ text, span: start })),
    spelling: 'string',
    span: start,
  }));
}
