import { HarnError } from '../base/harn-error.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { isCallOption } from './known-options.ts';
import type { Loop } from './loop-context.ts';
import { decodeLoopOptions, type LoopOptions, loopOptionNames } from './loop-options.ts';
import { modelFrames } from './model-frames.ts';

/**
 * Patches of `post_turn_callback` (spec/agents.md 3.6): other options for the rest of the activation. How the model is
 * asked may change, and how long and how hard the loop tries. What it may do, and what it is, may not: limits only
 * ever narrow, and tools, session and daemon belong to the whole life of the worker.
 */
const PATCHABLE: ReadonlySet<string> = new Set([
  'max_iterations', 'max_nudges', 'nudge', 'loop_until_done', 'persistent', 'done_sentinel', 'llm_retries', 'llm_backoff_ms',
  'schema_retries', 'tool_retries', 'tool_backoff_ms', 'tool_call_timeout', 'stop_after_successful_tools',
  'require_successful_tools', 'turn_policy', 'token_budget', 'budget', 'native_tool_fallback', 'reminders', 'timeout',
]); // biome-ignore format: a list to be scanned

/** @throws HarnError `plain` for an option that may not change, or cannot be what it is given */
export function checkPatches({ options }: Loop, patches: JsonObject): void {
  const fixed = Object.keys(patches).find((name) => loopOptionNames().has(name) && !PATCHABLE.has(name) && !isCallOption(name));
  if (fixed !== undefined) throw new HarnError('plain', `agent_loop: post_turn_callback may not change \`${fixed}\` of a running loop`);
  decodeLoopOptions({ ...options.model, ...patches });
}

/** What the journal keeps of patches: all of this activation, and that calls stay in the form which the history has. */
export function mergedPatches({ frame, progress }: Loop, patches: JsonObject): JsonObject {
  return { ...progress.counters.option_patches, ...patches, tool_format: frame.format };
}

/** Lets the loop go on under what its journal holds. */
export async function adoptPatches(loop: Loop): Promise<void> {
  const { activation, live, world } = loop;
  const options: LoopOptions = decodeLoopOptions({ ...loop.options.model, ...loop.progress.counters.option_patches });
  const { system } = activation.config;
  const { frame, turnFrame } = await modelFrames(world, options, { system: text(system), tools: live.tools });
  if (options.maxIterations !== loop.options.maxIterations) loop.turnLimit = options.maxIterations;
  Object.assign(loop, { options, frame, turnFrame });
  loop.dispatcher.options = options;
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
