import { namespaceMembers } from './builtin-access.ts';
import type { Context } from './context.ts';
import { runtimeError } from './errors.ts';
import { Harness } from './harness.ts';
import { Namespace } from './namespace.ts';
import { Float, type Value } from './value.ts';

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
    default:
      if (namespaceMembers(name).length > 0) return new Namespace(context.run, name);
      throw runtimeError(`${name} is not available here`);
  }
}
