import { requestConditions } from '../../agent/self-park.ts';
import { parametersSchema, type Tool, type ToolHandler, type ToolReturn, toolFault } from '../../agent/tools/tool.ts';
import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { brandedRequest } from '../../lifecycle/await-resumption.ts';
import { callValue } from '../call.ts';
import { caughtValue } from '../caught.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { fromJson, stringifyPretty, toJson } from '../json.ts';
import { deriveContext } from '../task-context.ts';
import { type HarnFunction, isCallable, typeOf, type Value } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { field, optionsJson } from './agent-values.ts';
import { withToolHooks } from './tool-hooks.ts';

/** Entries of a registry, of a list of entries, or of a list of registries; nil gives none. */
export function toolEntries(tools: Value): Value[] {
  if (tools === undefined) return [];
  if (Array.isArray(tools)) return tools.flatMap((item: Value) => (field(item, '_type') === 'tool_registry' ? toolEntries(item) : [item]));
  const entries = field(tools, 'tools');
  if (field(tools, '_type') !== 'tool_registry' || !Array.isArray(entries)) {
    throw new HarnError('plain', 'tools: expected a tool registry or a list of tools');
  }
  return entries;
}

/** Binds the entries of `tools` to a context in which their handlers run. @param mcpServers of the loop's options */
export function bindTools(context: Context, tools: Value, mcpServers: Json): Tool[] {
  return toolEntries(tools).map((entry) => bindTool(context, entry, mcpServers));
}

/** @throws HarnError `plain` for an entry that nothing can execute (2.2) */
function bindTool(context: Context, entry: Value, mcpServers: Json): Tool {
  const name = field(entry, 'name');
  if (typeof name !== 'string') {
    throw new HarnError(
      'plain',
      `tools: a ${typeOf(entry)} without a name is no tool; tools are declared with \`tool\` or made by tool_define`,
    );
  }
  const facts = optionsJson(entry);
  const handler = field(entry, 'handler');
  const executor = executorOf(facts);
  if (executor === 'harn' && !isCallable(handler)) throw new HarnError('plain', `agent_loop: tool ${name} has no executable backend`);
  return {
    name,
    description: typeof facts.description === 'string' ? facts.description : '',
    parameters: parametersSchema(isJsonObject(facts.parameters) ? facts.parameters : undefined),
    annotations: isJsonObject(facts.annotations) ? facts.annotations : {},
    policy: isJsonObject(facts.policy) ? facts.policy : {},
    idempotent: isIdempotent(facts),
    timeoutMs: typeof facts.timeout_ms === 'number' ? facts.timeout_ms : undefined,
    deferLoading: facts.defer_loading === true,
    namespace: typeof facts.namespace === 'string' ? facts.namespace : undefined,
    executor,
    handler: handlerOf(context, entry, name, executor, mcpServers),
  };
}

function handlerOf(context: Context, entry: Value, name: string, executor: Tool['executor'], mcpServers: Json): ToolHandler {
  const handler = field(entry, 'handler');
  if (isCallable(handler)) return (args, call) => callHandler(deriveContext(context, { signal: call.signal }), name, handler, args);
  if (executor !== 'mcp_server') {
    return async () => {
      throw toolFault(`tool ${name} runs with ${executor}, which this host does not provide`);
    };
  }
  return async (args, call) => {
    const { callMcpTool } = await import('./mcp.ts');
    return callMcpTool(context, entry, currentLoop(context)?.sessionId, mcpServers, args, call);
  };
}

function executorOf({ executor }: JsonObject): Tool['executor'] {
  return executor === 'host_bridge' || executor === 'mcp_server' || executor === 'provider_native' ? executor : 'harn';
}

/** Declared by `idempotent: true` or the annotation of the protocols (2.2). */
export function isIdempotent({ idempotent, annotations }: JsonObject): boolean {
  return idempotent === true || (isJsonObject(annotations) && annotations.idempotentHint === true);
}

async function callHandler(context: Context, name: string, handler: HarnFunction, args: JsonObject): Promise<ToolReturn> {
  try {
    return await withToolHooks(context, name, args, async (given) => toolReturn(await callValue(context, 0, handler, fromJson(given))));
  } catch (error) {
    throw asToolError(error);
  }
}

export function toolReturn(value: Value): ToolReturn {
  const request = brandedRequest(value);
  if (request !== undefined) {
    const { reason, resumeBy } = request;
    return { kind: 'park', request: { reason, initiator: 'self', ...requestConditions(request), resumeBy: resumeBy?.value } };
  }
  const json = toJson(value);
  if (typeof value === 'string' || value === undefined) return { kind: 'value', value: json };
  return { kind: 'value', value: json, text: stringifyPretty(value) };
}

/** What a script throws, as the text that `Error: …` goes before. Defects and the end of the run pass through. */
function asToolError(error: unknown): unknown {
  return toolFault(display(caughtValue(error)), error);
}
