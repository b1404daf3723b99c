import type { Json } from '../base/json.ts';
import type { LoopWorld } from './loop-context.ts';
import type { LoopOptions } from './loop-options.ts';
import { type RequestFrame, requestFrame } from './loop-request.ts';
import { resolveModel } from './providers/resolve-model.ts';
import { activeSkillsBlock, type Skill, skillTools } from './skills.ts';
import type { Tool } from './tools/tool.ts';
import { decodeToolSearch, nativeSearch, searchableTools, shownTools } from './tools/tool-search.ts';
import type { Transcript } from './transcript/transcript.ts';
import { activeSkills } from './turn-skills.ts';

/** What the options of a loop make of its model requests. */
export interface ModelFrames {
  /** With all tools. */
  readonly frame: RequestFrame;
  /** What one turn shows of them, by what was found and which skills are active. */
  readonly turnFrame: (sofar: Transcript) => RequestFrame;
  /** The tools that may be called: those given, and a search among them where the loop does the searching. */
  readonly tools: readonly Tool[];
}

/** Chooses the model and, by what it can do, how tools are told to it (spec/agents.md 1.4, 2.5). */
export async function modelFrames(
  world: LoopWorld,
  options: LoopOptions,
  given: { readonly system: string | undefined; readonly tools: readonly Tool[] },
): Promise<ModelFrames> {
  const { model: wished } = options;
  const wish = { provider: text(wished.provider), model: text(wished.model), modelTier: text(wished.model_tier) };
  await world.models.prepare?.();
  const target = resolveModel(wish, world.env, world.models.settings);
  const hasNativeTools = await world.models.hasNativeTools(target.provider, target.model);
  const search = decodeToolSearch(wished.tool_search);
  const toolSearch = search === undefined ? undefined : await nativeSearch(world.models, target, search, wished);
  const isSearching = search !== undefined && toolSearch === undefined;
  const tools = isSearching ? searchableTools(given.tools, search) : given.tools;
  const frameOf = (shown: readonly Tool[], active: readonly Skill[]): RequestFrame => ({
    ...requestFrame(target, hasNativeTools, withSkills(given.system, active), skillTools(shown, active), options),
    toolSearch,
  });
  const frame = frameOf(tools, []);
  return {
    frame,
    tools,
    turnFrame: (sofar) => {
      const active = activeSkills(options.skills, sofar);
      if (!isSearching && active.length === 0) return frame;
      return frameOf(isSearching ? shownTools(tools, search, sofar) : tools, active);
    },
  };
}

/** What skills say comes after what the author says. */
function withSkills(system: string | undefined, active: readonly Skill[]): string | undefined {
  const block = activeSkillsBlock(active);
  if (block === undefined) return system;
  return system === undefined || system === '' ? block : `${system}\n\n${block}`;
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
