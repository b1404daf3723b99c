import { nearestName } from '../base/near-name.ts';
import { builtinNames, namespaceMembers } from '../runtime/builtin-access.ts';
import type { BuiltinPolicy } from '../runtime/builtin-policy.ts';
import { UsageError } from './parse-options.ts';
import type { RunArguments } from './run-options.ts';

/**
 * What `--allow` and `--deny` ask for. A name may be that of a namespace, such as `stream`.
 * @throws UsageError for a name that is no builtin: a misspelt `--deny` would protect nothing
 */
export function builtinPolicy({ options }: RunArguments): BuiltinPolicy {
  if (typeof options.deny === 'string') return { kind: 'except', names: namesOf('--deny', options.deny) };
  if (typeof options.allow === 'string') return { kind: 'only', names: namesOf('--allow', options.allow) };
  return { kind: 'everything' };
}

function namesOf(flag: string, list: string): ReadonlySet<string> {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = new Set(builtinNames());
  const unknown = names.find((name) => !known.has(name) && namespaceMembers(name).length === 0);
  if (unknown === undefined) return new Set(names);
  const near = nearestName(unknown, known);
  throw new UsageError(`${flag}: there is no builtin ${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`);
}
