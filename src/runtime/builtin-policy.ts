import type { Run } from './context.ts';
import { runtimeError } from './errors.ts';

/** Which builtins a run may use (`--allow`, `--deny`); the scripts and loops it resumes are held to it as well. */
export type BuiltinPolicy =
  | { readonly kind: 'everything' }
  | { readonly kind: 'only'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'except'; readonly names: ReadonlySet<string> };

interface Slot {
  policy: BuiltinPolicy;
}

const POLICY = Symbol('builtin policy');

function slot(run: Run): Slot {
  return run.service(POLICY, (): Slot => ({ policy: { kind: 'everything' } }));
}

export function setBuiltinPolicy(run: Run, policy: BuiltinPolicy): void {
  slot(run).policy = policy;
}

/** Computing, printing and failing stay possible under every `only` policy: they reach nothing outside the script. */
const ALWAYS: ReadonlySet<string> = new Set([
  'println',
  'print',
  'log',
  'type_of',
  'to_string',
  'to_int',
  'to_float',
  'len',
  'assert',
  'assert_eq',
  'assert_ne',
  'json_parse',
  'json_stringify',
  'abs',
  'min',
  'max',
  'floor',
  'ceil',
  'round',
  'keys',
  'values',
  'entries',
  'throw_error',
  'Ok',
  'Err',
  'is_ok',
  'is_err',
  'unwrap',
  'unwrap_or',
  'unwrap_err',
  'error_category',
  'require',
  'exit',
]);

/** Makes what a call of this builtin fails with; undefined when it may be used. */
export function refusalOf(run: Run, name: string): (() => Error) | undefined {
  const { policy } = slot(run);
  if (policy.kind === 'everything') return undefined;
  const isNamed = policy.names.has(name) || policy.names.has(name.split('.')[0] as string);
  if (policy.kind === 'except') {
    return isNamed ? () => runtimeError(`Permission denied: builtin '${name}' is not allowed (--deny names it)`) : undefined;
  }
  if (isNamed || ALWAYS.has(name)) return undefined;
  return () => runtimeError(`Permission denied: builtin '${name}' is not allowed (add it to --allow)`);
}
