import type { Element } from './ast.ts';
import type { CheckState } from './check-state.ts';
import { ANY, type Type } from './types.ts';

/** Checks the arguments of a call and answers their types; what a spread brings is not known. */
export function inferArguments(state: CheckState, args: readonly Element[]): Type[] {
  return args.map((arg) => {
    if (arg.kind !== 'Spread') return state.infer(arg);
    state.infer(arg.value);
    return ANY;
  });
}
