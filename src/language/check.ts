import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import type { EnumDeclaration, EnumVariant, Program, TypeNode } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { Scope } from './check-scope.ts';
import { type CheckEnvironment, CheckState } from './check-state.ts';
import { checkStatements } from './check-statement.ts';
import { checkTypeNames } from './check-type-names.ts';
import { checkIdleStatements } from './check-useless.ts';
import { inferExpression } from './infer.ts';

/**
 * The gradual checker (spec/language.md chapter 8): one walk over the tree, in the order in which the script would run,
 * that infers a type for each expression and compares it with what was declared. A type that is not known is `any`, which
 * fits everything: the checker stays silent unless it is sure. Errors refuse the run, warnings do not.
 *
 * The walk keeps three things apart: scopes (which name means what), the flow (what the tests passed so far say of
 * variables), and the frame (what the enclosing function has promised). Each message is made in one place only, and
 * whatever was complained about becomes `any`, so that one mistake gives one message.
 */
export function checkProgram(program: Program, environment: CheckEnvironment): readonly Diagnostic[] {
  const fileScope = importingScope(environment.importedScopes);
  const state = new CheckState(environment, fileScope, program.items, { infer: inferExpression, statements: checkStatements });
  const last = program.items.at(-1);
  if (last !== undefined) state.dropped.add(last);
  try {
    state.statements(program.items);
    checkTypeNames(state);
    checkIdleStatements(state, program);
  } catch (error) {
    // A tree nested deeper than the stack is left to the emitter, which has its own limit.
    if (!(error instanceof RangeError)) throw error;
  }
  if (environment.lints) reportNeverAssigned(state);
  return state.diagnostics;
}

function reportNeverAssigned(state: CheckState): void {
  for (const [start, { name, span }] of state.variables) {
    if (state.written.has(start) || name.startsWith('_')) continue;
    const message = `'${name}' is declared with 'var' but never assigned to`;
    state.warn(message, span, { code: CHECKER_CODES.neverAssigned.code, help: 'use `let`' });
  }
}

/** The types that a module declares or passes on, for the environment of its importers. */
export function moduleScope(program: Program, importedScopes: readonly Scope[]): Scope {
  const scope = importingScope(importedScopes);
  scope.declareTypes(program.items);
  return scope;
}

function importingScope(importedScopes: readonly Scope[]): Scope {
  const scope = new Scope();
  for (const imported of importedScopes) scope.importTypes(imported);
  if (!scope.types.has('Result')) scope.types.set('Result', { kind: 'declared', node: RESULT, scope });
  return scope;
}

const NOWHERE: Span = { start: 0, end: 0, line: 1, column: 1 };

/** `enum Result<out T, out E> { Ok(value: T) Err(error: E) }` is declared everywhere. */
const RESULT: EnumDeclaration = {
  kind: 'Enum',
  isPublic: true,
  name: 'Result',
  nameSpan: NOWHERE,
  typeParams: [
    { name: 'T', variance: 'out', span: NOWHERE },
    { name: 'E', variance: 'out', span: NOWHERE },
  ],
  variants: [variant('Ok', 'value', 'T'), variant('Err', 'error', 'E')],
  span: NOWHERE,
};

function variant(name: string, field: string, typeName: string): EnumVariant {
  const type: TypeNode = { kind: 'NamedType', name: typeName, args: [], span: NOWHERE };
  return { name, params: [{ name: field, nameSpan: NOWHERE, type, defaultValue: undefined, isRest: false, span: NOWHERE }], span: NOWHERE };
}
