import { createHash } from 'node:crypto';
import { renderJson } from '../../agent/json-text.ts';
import { parametersSchema } from '../../agent/tools/tool.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Context, Run } from '../context.ts';
import { thrownText } from '../errors.ts';
import type { HarnFunction, Value } from '../value.ts';
import { agentValue, optionsJson } from './agent-values.ts';

/**
 * Callables made from a description and schemas (`tool_synthesize`). By default they only show what they would do; a
 * host behind them has to be named, and is asked when there is one.
 */
export type SynthesizedTool = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly return_type: Json;
  readonly capabilities: readonly string[];
  readonly side_effect_level: string;
  readonly executor: 'dry_run' | 'host_bridge';
  readonly host_tool: string | null;
};

const CACHE = Symbol('synthesized tools');

/** Tools of this run by their id, oldest first. */
export function synthesizedTools(run: Run): Map<string, SynthesizedTool> {
  return run.service(CACHE, () => new Map());
}

/** @throws text for a configuration that names no backend for its executor, or no description */
export function synthesizeTool(context: Context, config: Value): HarnFunction {
  const given = optionsJson(config);
  const tool = describe(given);
  synthesizedTools(context.run).set(tool.id, tool);
  const call = (_context: Context, _depth: number, args: Value): Value => dispatch(tool, args);
  const meta = { kind: 'closure', name: tool.name, params: ['args'], isAsync: false } as const;
  return Object.defineProperty(call, 'meta', { value: meta }) as unknown as HarnFunction;
}

function describe(given: JsonObject): SynthesizedTool {
  const text = (key: string): string | undefined => (typeof given[key] === 'string' && given[key] !== '' ? given[key] : undefined);
  const description = text('description');
  if (description === undefined) throw thrownText('tool_synthesize: a description is required');
  const executor = given.executor ?? 'dry_run';
  if (executor !== 'dry_run' && executor !== 'host_bridge')
    throw thrownText(`tool_synthesize: unknown executor ${String(executor)}; use dry_run or host_bridge, and mcp_call for a server`);
  const hostTool = text('host_tool') ?? null;
  if (executor === 'host_bridge' && hostTool === null) throw thrownText('tool_synthesize: host_bridge needs host_tool');
  const capabilities = Array.isArray(given.capabilities) ? given.capabilities.map(String).sort() : [];
  const facts = {
    name: text('name') ?? 'synthesized_tool',
    description,
    parameters: parametersSchema(isJsonObject(given.parameters) ? given.parameters : undefined),
    return_type: given.return_type ?? null,
    capabilities,
    side_effect_level: text('side_effect_level') ?? levelFrom(capabilities),
    executor,
    host_tool: hostTool,
  } as const;
  return { id: `tool_${createHash('sha256').update(renderJson(facts)).digest('hex').slice(0, 16)}`, ...facts };
}

/** The strongest that a capability hints at. */
function levelFrom(capabilities: readonly string[]): string {
  const has = (pattern: RegExp): boolean => capabilities.some((capability) => pattern.test(capability));
  if (has(/^(http|network|oauth|web)/)) return 'network';
  if (has(/^(process|shell|exec)/)) return 'process_exec';
  if (has(/write|edit|delete/)) return 'workspace_write';
  return capabilities.length === 0 ? 'none' : 'read_only';
}

function dispatch(tool: SynthesizedTool, args: Value): Value {
  const given = optionsJson(args);
  const required = Array.isArray(tool.parameters.required) ? tool.parameters.required : [];
  const missing = required.find((name) => given[String(name)] === undefined);
  if (missing !== undefined) throw thrownText(`${tool.name}: missing required argument ${String(missing)}`);
  switch (tool.executor) {
    case 'dry_run':
      return agentValue({
        status: 'dry_run',
        tool_id: tool.id,
        name: tool.name,
        description: tool.description,
        side_effect_level: tool.side_effect_level,
        capabilities: tool.capabilities,
        args: given,
        return_type: tool.return_type,
      });
    case 'host_bridge':
      throw thrownText(`${tool.name}: no host offers the tool '${tool.host_tool ?? ''}'`);
  }
}
