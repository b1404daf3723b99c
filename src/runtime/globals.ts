import { namespaceMembers } from './builtin-access.ts';
import type { Context } from './context.ts';
import { runtimeError } from './errors.ts';
import { Harness } from './harness.ts';
import { Namespace } from './namespace.ts';
import { Float, type Value } from './value.ts';

/** Makes the value of a name that groups of builtins provide, such as `harness` or `stream`. */
export type GlobalProvider = (context: Context) => Value;

interface Globals {
  readonly providers: Map<string, GlobalProvider>;
}

const GLOBALS = Symbol('globals');

/** Names that are values without a declaration (spec/language.md 5.2). */
export const GLOBAL_NAMES: ReadonlySet<string> = new Set([
  'pi',
  'e',
  'argv',
  'harness',
  'stream',
  'event_log',
  'transcript',
  'workflow',
  'ResumeBy',
]);

function globalsOf(context: Context): Globals {
  return context.run.service(GLOBALS, () => ({ providers: new Map() }));
}

/** Lets a group of builtins provide the value of a global name. */
export function provideGlobal(context: Context, name: string, provider: GlobalProvider): void {
  globalsOf(context).providers.set(name, provider);
}

export function globalValue(context: Context, name: string): Value {
  switch (name) {
    case 'pi':
      return new Float(Math.PI);
    case 'e':
      return new Float(Math.E);
    case 'argv':
      return context.run.argv;
    case 'harness':
      return new Harness(context.run);
    default: {
      const provider = globalsOf(context).providers.get(name);
      if (provider === undefined && namespaceMembers(name).length > 0) return new Namespace(context.run, name);
      if (provider === undefined) throw runtimeError(`${name} is not available here`);
      return provider(context);
    }
  }
}
