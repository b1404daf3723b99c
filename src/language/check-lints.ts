import { nearestName } from '../base/near-name.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Assignment, Binding, Expression, Identifier, Statement } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { METHOD_NAMES } from './check-members.ts';
import { namesDeclaredIn } from './check-names.ts';
import type { Variable } from './check-scope.ts';
import type { CheckState } from './check-state.ts';
import { foreignName } from './foreign-syntax.ts';
import { kindOf } from './types.ts';

/**
 * What is allowed and still worth a word (spec/language.md 11.5): only `harn check` says these, a run never does. Each
 * rule is one function that the walk calls where the thing happens.
 */

// ---- names ----

/** A name that is read and that no declaration, import, global or builtin brings into the file. */
export function lintUndeclared(state: CheckState, node: Identifier): void {
  const { environment } = state;
  const { name, span } = node;
  if (!environment.lints || !environment.isComplete) return;
  if (environment.globals.has(name) || state.scope.type(name) !== undefined) return;
  // What is declared elsewhere in the file may be in sight when the place is reached.
  const names = state.namesOfFile(() => namesDeclaredIn(state.items));
  if (names.has(name)) return;
  const near = nearestName(name, [...names, ...environment.imports.keys(), ...environment.globals]);
  const help = foreignName(name) ?? (near === undefined ? 'declare it with `let`, or import it' : `did you mean \`${near}\`?`);
  state.warn(`'${name}' is not declared`, span, { code: CHECKER_CODES.undeclared.code, help });
}

// ---- values ----

/** Methods that only make a new value. */
const DERIVING: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(['push', 'pop', 'reverse', 'sort', 'sort_by', 'unique']),
  dict: new Set(['merge', 'remove']),
  set: new Set(['add', 'remove', 'delete', 'union', 'difference', 'intersect', 'intersection', 'symmetric_difference']),
  string: METHOD_NAMES.string ?? new Set(),
};

/** `xs.push(x)` as a statement, as it would change the list in other languages. */
export function lintDropped(state: CheckState, statement: Statement): void {
  if (statement.kind !== 'ExpressionStatement') return;
  const call = statement.expression;
  if (call.kind === 'Call') return lintPureCall(state, call, statement);
  if (call.kind !== 'MethodCall' || call.receiver.kind !== 'Identifier') return;
  const type = state.certainType(call.receiver, state.infer(call.receiver));
  if (DERIVING[kindOf(type) ?? '']?.has(call.name) !== true) return;
  const { name } = call.receiver;
  const message = `'${name}' keeps its value: '${call.name}' gives a new one`;
  state.warn(message, call.span, { code: CHECKER_CODES.droppedResult.code, help: `write \`${name} = ${name}.${call.name}(…)\`` });
}

/** `trim(s)` as a statement. The last value of a script is its entry value. */
function lintPureCall(state: CheckState, { callee, span }: Extract<Expression, { kind: 'Call' }>, statement: Statement): void {
  if (!PURE_BUILTINS.has(callee.name) || !state.environment.builtins.has(callee.name) || statement === state.items.at(-1)) return;
  if (state.scope.value(callee.name) !== undefined || state.environment.imports.has(callee.name)) return;
  state.warn('nothing takes this value', span, { code: CHECKER_CODES.lostResult.code, help: `\`${callee.name}\` does nothing but answer` });
}

// ---- constants ----

/** Builtins that give the same for the same arguments and touch nothing else. */
const PURE_BUILTINS: ReadonlySet<string> = new Set(
  (
    'len format to_string to_int to_float type_of abs min max floor ceil round sqrt pow sign lowercase uppercase trim split join ' +
    'replace starts_with ends_with contains substring range set pair keys values entries sort unique reverse ' +
    'regex_escape json_stringify duration_ms duration_seconds duration_minutes duration_hours duration_days Ok Err'
  ).split(' '),
);

/** A `const` should be something that is known before the script runs (spec/language.md 5.1). */
export function lintConstant(state: CheckState, node: Binding): void {
  if (!state.environment.lints || node.keyword !== 'const' || node.pattern.kind !== 'NamePattern') return;
  if (isFoldable(state, node.value)) return;
  const message = `the value of const '${node.pattern.name}' is only known at run time`;
  state.warn(message, node.value.span, { code: CHECKER_CODES.notFoldable.code, help: 'use `let`' });
}

function isFoldable(state: CheckState, node: Expression): boolean {
  const fold = (part: Expression): boolean => isFoldable(state, part);
  switch (node.kind) {
    case 'Int':
    case 'Float':
    case 'Duration':
    case 'String':
    case 'Bool':
    case 'Nil':
      return true;
    case 'Interpolation':
      return node.parts.every((part) => typeof part === 'string' || fold(part));
    case 'Identifier': {
      const variable = state.scope.value(node.name);
      return variable === undefined ? CONSTANT_GLOBALS.has(node.name) : variable.keyword === 'const';
    }
    case 'List':
      return node.items.every((item) => fold(item.kind === 'Spread' ? item.value : item));
    case 'Dict':
      return node.entries.every(
        (entry) => fold(entry.value) && (entry.kind === 'Spread' || typeof entry.key === 'string' || fold(entry.key)),
      );
    case 'Unary':
      return fold(node.operand);
    case 'Binary':
      return fold(node.left) && fold(node.right);
    case 'Ternary':
      return fold(node.condition) && fold(node.then) && fold(node.otherwise);
    case 'Range':
      return fold(node.start) && fold(node.end);
    case 'Subscript':
      return fold(node.receiver) && fold(node.index);
    case 'Property':
      return isVariantName(state, node.receiver) || fold(node.receiver);
    case 'Call': {
      const isBuiltin = state.scope.value(node.callee.name) === undefined && PURE_BUILTINS.has(node.callee.name);
      return isBuiltin && node.args.every((arg) => arg.kind !== 'Spread' && fold(arg));
    }
    default:
      return false;
  }
}

const CONSTANT_GLOBALS: ReadonlySet<string> = new Set(['pi', 'e']);

function isVariantName(state: CheckState, node: Expression): boolean {
  if (node.kind !== 'Identifier' || state.scope.value(node.name) !== undefined) return false;
  const meaning = state.scope.type(node.name);
  return meaning?.kind === 'declared' && meaning.node.kind === 'Enum';
}

// ---- ownership ----

/**
 * Closures, tasks and functions of the entry file hold copies of the variables around them (spec/language.md 5.3): an
 * assignment there never reaches the owner.
 */
export function lintEscape(state: CheckState, variable: Variable, node: Assignment): void {
  const { environment, frame } = state;
  if (variable.keyword !== 'var' || variable.owner === frame) return;
  // What comes after it may read the copy; behind the last statement nothing does.
  if (!environment.lints && !state.finals.has(node)) return;
  // Variables of a module are one store for all of its functions, and a pipeline is the body of its file.
  if (variable.owner === undefined && (environment.role === 'module' || frame?.kind === 'pipeline')) return;
  state.warn(`'${variable.name}' is a copy here: the variable outside keeps its value`, node.span, {
    code: CHECKER_CODES.ownershipEscape.code,
    help: 'return the new value, or share it through `atomic`, a channel or `shared_cell`',
  });
}

// ---- values from outside ----

/** Builtins whose answer has whatever form the world gave it. */
const BOUNDARIES: ReadonlySet<string> = new Set('json_parse json_extract yaml_parse toml_parse xml_parse host_call mcp_call'.split(' '));

/** The builtin that brings a value in from outside without a check; undefined for any other expression. */
export function boundaryOf(state: CheckState, node: Expression): string | undefined {
  if (node.kind !== 'Call' || !BOUNDARIES.has(node.callee.name) || node.typeArgs.length > 0) return undefined;
  return state.scope.value(node.callee.name) === undefined ? node.callee.name : undefined;
}

/** A part is read of a value whose form nobody has looked at. Said once for each variable. */
export function lintBoundary(state: CheckState, receiver: Expression, span: Span): void {
  if (!state.environment.lints) return;
  const variable = receiver.kind === 'Identifier' ? state.scope.value(receiver.name) : undefined;
  const source = variable === undefined ? boundaryOf(state, receiver) : variable.boundary;
  if (source === undefined) return;
  if (variable !== undefined) {
    if (state.flow.get({ variable, key: String(variable.id), fields: [] }) !== undefined || state.reportedBoundaries.has(variable)) return;
    state.reportedBoundaries.add(variable);
  }
  const what = variable === undefined ? `the answer of ${source}` : `'${variable.name}' comes from ${source} and`;
  state.warn(`${what} is used without a look at its form`, span, {
    code: CHECKER_CODES.unvalidatedBoundary.code,
    help: 'check it with `schema_expect(value, SomeType)`, or test it with `schema_is` or `type_of` first',
  });
}

// ---- the harness ----

const AMBIENT_STDIO: ReadonlyMap<string, string> = new Map(
  'print println eprint eprintln read_line read_stdin log progress is_stdin_tty is_stdout_tty is_stderr_tty'
    .split(' ')
    .map((name) => [name, name] as const)
    .concat([['prompt_user', 'prompt']]),
);

/** Who has been handed the harness should print through it, so that callers decide where it goes. */
export function lintAmbientStdio(state: CheckState, name: string, span: Span): void {
  const method = state.environment.lints ? AMBIENT_STDIO.get(name) : undefined;
  const handle = method && handleInScope(state);
  if (handle === undefined) return;
  state.warn(`ambient \`${name}\` where \`${handle}\` is at hand`, span, {
    code: CHECKER_CODES.ambientStdio.code,
    help: `use \`${handle}.stdio.${method}\``,
  });
}

function handleInScope(state: CheckState): string | undefined {
  for (let scope: typeof state.scope | undefined = state.scope; scope !== undefined; scope = scope.parent) {
    for (const variable of scope.values.values()) {
      if (variable.type.kind === 'base' && variable.type.name === 'Harness') return variable.name;
    }
  }
  return undefined;
}
