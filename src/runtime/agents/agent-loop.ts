import type { JsonObject } from '../../base/json.ts';
import { runRootLoop } from '../../lifecycle/start.ts';
import type { Context } from '../context.ts';
import { dictGet, dictSet } from '../dict.ts';
import { plainError } from '../errors.ts';
import { holdWhileStopping } from '../stopping.ts';
import { Dict, typeOf, type Value, withText } from '../value.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { agentValue, field, optionalText } from './agent-values.ts';
import { loopStart } from './loop-start.ts';

/** `agent_loop` of a script (spec/agents.md chapter 3): a root loop of lifecycle with the tools and callbacks of the options. */
export async function agentLoop(context: Context, [prompt, system, options]: readonly Value[]): Promise<Value> {
  const task = optionalText(prompt);
  if (task === undefined) throw plainError('agent_loop: a prompt is required');
  if (system !== undefined && typeof system !== 'string') throw plainError(`agent_loop: system must be a string, got ${typeOf(system)}`);
  if (options !== undefined && !(options instanceof Dict)) throw plainError(`agent_loop: options must be a dict, got ${typeOf(options)}`);
  const lifecycle = lifecycleOf(context.run);
  const end = await runRootLoop(lifecycle, await loopStart(context, { task, system, options }));
  await holdWhileStopping(context);
  return loopValue(end.result);
}

/** The result as a script sees it; a handle in it reads as the path of its snapshot (5.10). */
export function loopValue(result: JsonObject): Value {
  const value = agentValue(result);
  if (!(value instanceof Dict)) return value;
  return ['handle', 'worker'].reduce<Dict>((dict, key) => {
    const handle = dictGet(dict, key);
    const path = field(handle, 'snapshot_path');
    return handle instanceof Dict && typeof path === 'string' ? dictSet(dict, key, withText(handle, path)) : dict;
  }, value);
}
