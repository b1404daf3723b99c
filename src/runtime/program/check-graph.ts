import { lookupIn } from '../../base/lookup.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Statement } from '../../language/ast.ts';
import { checkProgram, moduleScope } from '../../language/check.ts';
import type { Scope } from '../../language/check-scope.ts';
import type { Declared } from '../../language/types.ts';
import { BUILTIN_SIGNATURES } from '../builtin-signatures.ts';
import { BUILTIN_TYPES } from '../builtin-types.ts';
import { GLOBAL_NAMES } from '../globals.ts';
import { harnessBuiltin } from '../harness-methods.ts';
import { moduleExporting } from './import-path.ts';
import { ImportFailure, importedNames } from './module-names.ts';
import type { SourceGraph, SourceModule } from './source-graph.ts';

const BUILTINS = lookupIn(BUILTIN_SIGNATURES, (signature) => signature);

export interface CheckGraphOptions {
  /** Say also what never stops a run. */
  readonly lints?: boolean;
}

/** Checks the entry and every module that it imports (spec/language.md 8.1). */
export function checkGraph(graph: SourceGraph, { lints = false }: CheckGraphOptions = {}): readonly Diagnostic[] {
  const scopes = new Map<SourceModule, Scope>();
  return graph.order.flatMap((module) => {
    // Modules come before their importers; of a cycle only what is known already can be seen.
    const importedScopes = module.imports.flatMap(({ module: target }) => (target && scopes.get(target)) ?? []);
    scopes.set(module, moduleScope(module.program, importedScopes));
    const imports = importedValues(module, scopes);
    const found = checkProgram(module.program, {
      role: module === graph.entry ? 'entry' : 'module',
      names: module.names,
      builtins: BUILTINS,
      builtinTypes: BUILTIN_TYPES,
      handleMethod: harnessBuiltin,
      globals: GLOBAL_NAMES,
      imports: imports ?? new Map(),
      importedScopes,
      moduleOf: moduleExporting,
      lints,
      isComplete: imports !== undefined && module.imports.every(({ module: target }) => target !== undefined),
    });
    return found.map((diagnostic) => ({ ...diagnostic, path: module.path }));
  });
}

/** Undefined when the names collide: the import itself reports that. */
function importedValues(
  module: SourceModule,
  scopes: ReadonlyMap<SourceModule, Scope>,
): ReadonlyMap<string, Declared<Statement>> | undefined {
  try {
    const values = new Map<string, Declared<Statement>>();
    for (const [name, { home, declaration }] of importedNames(module).values) {
      const scope = scopes.get(home) ?? moduleScope(home.program, []);
      values.set(name, { node: withAttributes(home, declaration), scope });
    }
    return values;
  } catch (error) {
    if (error instanceof ImportFailure) return undefined;
    throw error;
  }
}

function withAttributes(home: SourceModule, declaration: Statement): Statement {
  return home.program.items.find((item) => item.kind === 'Attributed' && item.declaration === declaration) ?? declaration;
}
