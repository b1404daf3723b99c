import { LOOP_OPTION_NAMES } from '../../agent/loop-options.ts';
import type { OptionNames } from '../../language/check-state.ts';

/** The options of a loop hold those of its model calls; services have more, so that of a call only a near miss is a mistake. */
const OF_A_CALL = { names: LOOP_OPTION_NAMES, isComplete: false };

/** Names that the options of builtins may have, for `harn check`. A run does not load this. */
export const OPTION_NAMES: ReadonlyMap<string, OptionNames> = new Map([
  ['agent_loop', { parameter: 2, names: LOOP_OPTION_NAMES, isComplete: true }],
  ['llm_call', { parameter: 2, ...OF_A_CALL }],
  ['llm_call_safe', { parameter: 2, ...OF_A_CALL }],
  ['llm_stream', { parameter: 2, ...OF_A_CALL }],
  ['llm_completion', { parameter: 3, ...OF_A_CALL }],
  ['sub_agent_run', { parameter: 1, ...OF_A_CALL }],
]);
