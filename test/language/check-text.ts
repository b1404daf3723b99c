import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { checkProgram } from '../../src/language/check.ts';
import type { CheckEnvironment } from '../../src/language/check-state.ts';
import { parse } from '../../src/language/parser.ts';
import { resolveNames } from '../../src/language/resolve-names.ts';
import { BUILTIN_SIGNATURES } from '../../src/runtime/builtin-signatures.ts';
import { BUILTIN_TYPES } from '../../src/runtime/builtin-types.ts';
import { GLOBAL_NAMES } from '../../src/runtime/globals.ts';
import { harnessBuiltin } from '../../src/runtime/harness-methods.ts';

const BUILTINS = new Map(Object.entries(BUILTIN_SIGNATURES));

/** Checks one file that imports nothing. */
export function checkText(
  text: string,
  change: Partial<CheckEnvironment> = {},
  reading: 'whole' | 'recovered' = 'whole',
): readonly Diagnostic[] {
  const { program, diagnostics } = parse({ path: 'test.harn', text });
  if (reading === 'whole' && diagnostics.length > 0) throw new Error(`the test does not parse: ${diagnostics[0]?.message}`);
  return checkProgram(program, {
    names: resolveNames(program),
    role: 'entry',
    builtins: BUILTINS,
    builtinTypes: BUILTIN_TYPES,
    handleMethod: harnessBuiltin,
    globals: GLOBAL_NAMES,
    imports: new Map(),
    importedScopes: [],
    lints: false,
    moduleOf: () => undefined,
    isComplete: true,
    ...change,
  });
}

/** `LINE:COLUMN message` of each error. */
export function errorsOf(text: string): string[] {
  return linesOf(text, 'error');
}

export function warningsOf(text: string): string[] {
  return linesOf(text, 'warning');
}

function linesOf(text: string, severity: Diagnostic['severity']): string[] {
  return checkText(text)
    .filter((diagnostic) => diagnostic.severity === severity)
    .map(({ span, message }) => `${span?.line}:${span?.column} ${message}`);
}

/** The statements inside of a function, so that names are not those of the file. */
export function inFunction(statements: string): string {
  return `fn wrapper() {\n${statements}\n}`;
}
