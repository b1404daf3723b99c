import { nearestName } from '../base/near-name.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Element, Statement } from './ast.ts';
import { checkArguments } from './check-arguments.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { namesDeclaredIn } from './check-names.ts';
import type { Scope, Variable } from './check-scope.ts';
import { attributesOf, isCallableDeclaration, signatureOf } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { foreignName } from './foreign-syntax.ts';
import { inferArguments } from './infer-arguments.ts';
import { type CallNode, callBuiltin } from './infer-builtin.ts';
import { constructStruct, structNamed } from './infer-construct.ts';
import { ANY, kindOf, renderType, type Type } from './types.ts';
import { isAssignable } from './types-assignability.ts';
import { bareDeclaration } from './walk.ts';

/** A call of a bare name: a value in scope, an import, a struct, a builtin, or a mistake. */
export function inferCall(state: CheckState, node: CallNode): Type {
  const { name } = node.callee;
  const variable = state.scope.value(name);
  if (variable?.declaration !== undefined) return callDeclared(state, variable.declaration, state.scope, node);
  if (variable !== undefined) {
    const { type } = variable;
    const args = inferArguments(state, node.args);
    warnAboutNoFunction(state, variable, node);
    if (type.kind === 'function' && !node.args.some(isSpread)) checkFunctionValue(state, type, args, node);
    return type.kind === 'function' ? type.result : ANY;
  }
  const imported = state.environment.imports.get(name);
  if (imported !== undefined) return callDeclared(state, imported.node, imported.scope, node);
  const struct = structNamed(state, name);
  if (struct !== undefined) return constructStruct(state, struct, node);
  const signature = state.environment.builtins.get(name);
  if (signature !== undefined) return callBuiltin(state, name, signature, node);
  inferArguments(state, node.args);
  if (!state.environment.globals.has(name) && state.scope.type(name) === undefined) reportUnknown(state, name, node.span);
  return ANY;
}

/** A variable that holds no function; a builtin of its name would be called instead (spec/language.md 5.2). */
function warnAboutNoFunction(state: CheckState, { known, type, name }: Variable, node: CallNode): void {
  if (!state.environment.lints) return;
  const kind = kindOf(type.kind === 'any' ? (known ?? type) : type);
  if (kind === undefined || kind === 'closure' || kind === 'nil' || state.environment.builtins.has(name)) return;
  state.warn(`'${name}' holds a value of type ${kind}, which cannot be called`, node.span, { code: CHECKER_CODES.notCallable.code });
}

function isSpread(element: Element): boolean {
  return element.kind === 'Spread';
}

function callDeclared(state: CheckState, statement: Statement, scope: Scope, node: CallNode): Type {
  const declaration = bareDeclaration(statement);
  warnAboutDeprecation(state, statement, node);
  if (!isCallableDeclaration(declaration)) {
    inferArguments(state, node.args);
    return ANY;
  }
  return checkArguments(state, signatureOf(state, declaration, scope), node, node.typeArgs).result;
}

function warnAboutDeprecation(state: CheckState, statement: Statement, node: CallNode): void {
  for (const attribute of attributesOf(statement)) {
    if (attribute.name !== 'deprecated') continue;
    const text = (name: string): string | undefined => {
      const value = attribute.args.find((arg) => arg.name === name)?.value;
      return value?.kind === 'string' || value?.kind === 'identifier' ? value.value : undefined;
    };
    const since = text('since');
    const use = text('use');
    const message = `\`${node.callee.name}\` is deprecated${since === undefined ? '' : ` (since ${since})`}`;
    state.warn(message, node.span, use === undefined ? {} : { help: `use \`${use}\` instead` });
  }
}

function reportUnknown(state: CheckState, name: string, span: Span): void {
  if (!state.environment.isComplete) return;
  // A function may see the functions of its callers, wherever in the file they are declared.
  const names = state.namesOfFile(() => namesDeclaredIn(state.items));
  if (names.has(name)) return;
  const foreign = foreignName(name);
  const module = state.environment.moduleOf(name);
  const near =
    foreign === undefined && module === undefined
      ? nearestName(name, [...names, ...state.environment.imports.keys(), ...state.environment.builtins.keys()])
      : undefined;
  const hint = near === undefined ? '' : ` — did you mean \`${near}\`?`;
  const help = module === undefined ? foreign : `write \`import { ${name} } from "${module}"\` at the top of the file`;
  state.error(`call target \`${name}\` is not defined or imported${hint}`, span, { help });
}

function checkFunctionValue(state: CheckState, type: Extract<Type, { kind: 'function' }>, args: readonly Type[], node: CallNode): void {
  for (const [index, given] of args.entries()) {
    const wanted = type.params[index];
    const arg = node.args[index];
    if (wanted === undefined || arg === undefined || isAssignable(given, wanted)) continue;
    const name = type.names?.[index];
    state.error(
      `Argument ${index + 1}${name === undefined ? '' : ` ('${name}')`}: expected ${renderType(wanted)}, got ${renderType(given)}`,
      arg.span,
    );
  }
}
