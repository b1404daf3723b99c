import type { Builtin, BuiltinGroup } from './builtin.ts';
import { BUILTIN_GROUPS, BUILTIN_INDEX } from './builtin-index.ts';
import { refusalOf } from './builtin-policy.ts';
import type { ModuleInfo, Run } from './context.ts';
import { harnessPartBuiltins } from './harness-methods.ts';
import type { HarnFunction } from './value.ts';

/**
 * Builtins by name. Which group a name lives in and how it waits is known from a generated index, so that a program
 * loads only the groups it uses.
 */
interface LoadedBuiltins {
  readonly definitions: Map<string, Builtin>;
  readonly functions: Map<string, HarnFunction>;
}

const LOADED = Symbol('builtins');

function loaded(run: Run): LoadedBuiltins {
  return run.service(LOADED, () => ({ definitions: new Map(), functions: new Map() }));
}

export function builtinNames(): string[] {
  return Object.keys(BUILTIN_INDEX);
}

export function isBuiltin(name: string): boolean {
  return Object.hasOwn(BUILTIN_INDEX, name);
}

/** Names of the builtins `namespace.…`; none when there is no such namespace. */
export function namespaceMembers(namespace: string): string[] {
  return builtinNames().filter((name) => name.startsWith(`${namespace}.`));
}

/** Builtins that are reached through a name: members of a namespace, methods of `harness.PART`. */
function membersOf(name: string): string[] {
  return name.startsWith('harness.') ? harnessPartBuiltins(name.slice('harness.'.length)) : namespaceMembers(name);
}

/** Loads the groups that hold these builtins; names that are none are ignored. */
export async function loadBuiltins(run: Run, names: Iterable<string>): Promise<void> {
  const { definitions } = loaded(run);
  const groups = new Set<string>();
  for (const name of names) {
    const entry = BUILTIN_INDEX[name];
    if (entry !== undefined && !definitions.has(name)) groups.add(entry[0]);
    for (const member of membersOf(name)) {
      const group = BUILTIN_INDEX[member]?.[0];
      if (group !== undefined) groups.add(group);
    }
  }
  for (const group of groups) {
    const { builtins }: BuiltinGroup = await (BUILTIN_GROUPS[group] as () => Promise<BuiltinGroup>)();
    for (const [name, definition] of Object.entries(builtins)) definitions.set(name, definition);
  }
}

/** The callable of a builtin whose group has been loaded. */
export function builtinFunction(run: Run, name: string, module: ModuleInfo): HarnFunction {
  const refusal = refusalOf(run, name);
  if (refusal !== undefined) return refusing(name, refusal);
  const { definitions, functions } = loaded(run);
  const known = functions.get(name);
  if (known !== undefined) return known;
  const definition = definitions.get(name);
  if (definition === undefined) throw new Error(`the builtin ${name} was used before its group was loaded`);
  const implementation = definition.forModule === undefined ? definition.call : definition.forModule(module);
  if (implementation === undefined) throw new Error(`the builtin ${name} has no implementation`);
  // The function itself becomes the value: a wrapper would cost every call an argument list.
  const fn = implementation as HarnFunction;
  const meta = { kind: 'builtin', name, params: [], isAsync: definition.colour === 'async' } as const;
  if (fn.meta === undefined) Object.defineProperty(fn, 'meta', { value: meta });
  else if (fn.meta.name !== name) throw new Error(`the builtins ${fn.meta.name} and ${name} share one function`);
  if (definition.forModule === undefined) functions.set(name, fn);
  return fn;
}

/** Stands where a builtin would: it fails only when it is called, as the place that called it. */
function refusing(name: string, refusal: () => Error): HarnFunction {
  const refuse = (): never => {
    throw refusal();
  };
  return Object.assign(refuse, { meta: { kind: 'builtin', name, params: [], isAsync: false } as const });
}
