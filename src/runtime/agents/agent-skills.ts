import type { LoopCallbacks } from '../../agent/loop-live.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { isCallable, type Value } from '../value.ts';
import { field } from './agent-values.ts';

/** `on_activate` and `on_deactivate` of the skills of a loop; undefined when none has any. */
export function skillCallback(context: Context, options: Value): LoopCallbacks['skill'] {
  const entries = skillList(field(options, 'skills'));
  if (!entries.some((entry) => isCallable(field(entry, 'on_activate')) || isCallable(field(entry, 'on_deactivate')))) return undefined;
  return async (moment, name) => {
    const skill = entries.find((entry) => field(entry, 'name') === name);
    const fn = field(skill, moment);
    if (isCallable(fn)) await callValue(context, 0, fn);
  };
}

function skillList(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value.flatMap((item: Value) => skillList(item));
  if (field(value, '_type') === 'skill_registry') return skillList(field(value, 'skills'));
  return value === undefined ? [] : [value];
}
