import { schemaFaults } from '../../agent/json-schema.ts';
import { completeArguments, renderToolValue, resultStatus, type Tool } from '../../agent/tools/tool.ts';
import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { callValue } from '../call.ts';
import { caughtValue } from '../caught.ts';
import type { Context, Run } from '../context.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { fromJson, toJson } from '../json.ts';
import { deriveContext } from '../task-context.ts';
import { type HarnFunction, isCallable, type Value } from '../value.ts';
import { bindTools, toolEntries } from './agent-tools.ts';
import { field, optionsJson } from './agent-values.ts';

/** What a script offers to clients of the Model Context Protocol (`mcp_tools`, `mcp_resource`, …), for whoever serves it. */
export interface McpOffer {
  readonly tools: readonly OfferedTool[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly prompts: readonly OfferedPrompt[];
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Undefined where results are texts. */
  readonly outputSchema: JsonObject | undefined;
  readonly annotations: JsonObject;
  call(args: JsonObject, signal: AbortSignal): Promise<OfferedResult>;
}

export interface OfferedResult {
  readonly text: string;
  readonly structured: JsonObject | undefined;
  readonly isError: boolean;
}

export interface OfferedResource {
  readonly uri: string;
  /** `name`, `description`, `mimeType` as far as they are given. */
  readonly facts: JsonObject;
  readonly text: string;
}

export interface OfferedTemplate {
  readonly uriTemplate: string;
  readonly facts: JsonObject;
  /** @param variables what the address has in the places of the template */
  read(variables: JsonObject, signal: AbortSignal): Promise<string>;
}

export interface OfferedPrompt {
  readonly name: string;
  readonly description: string;
  /** `{name, description?, required?}`. */
  readonly arguments: readonly JsonObject[];
  /** @returns messages: `{role, text}` */
  get(args: JsonObject, signal: AbortSignal): Promise<readonly { readonly role: string; readonly text: string }[]>;
}

interface Registered {
  readonly tools: Value[];
  readonly resources: OfferedResource[];
  readonly templates: ((context: Context) => OfferedTemplate)[];
  readonly prompts: ((context: Context) => OfferedPrompt)[];
}

const OFFER = Symbol('MCP offer');

function registered(run: Run): Registered {
  return run.service(OFFER, () => ({ tools: [], resources: [], templates: [], prompts: [] }));
}

/** @param caller named in errors. @throws plain error for what is no tool registry */
export function registerTools(run: Run, caller: string, registry: Value): void {
  if (field(registry, '_type') !== 'tool_registry') throw plainError(`${caller}: argument must be a tool registry`);
  registered(run).tools.push(...toolEntries(registry));
}

/** @throws plain error: which key is missing */
export function registerResource(run: Run, config: Value): void {
  registered(run).resources.push({
    uri: required('mcp_resource', config, 'uri'),
    facts: resourceFacts('mcp_resource', config),
    text: required('mcp_resource', config, 'text'),
  });
}

/** @throws plain error: which key is missing */
export function registerTemplate(run: Run, config: Value): void {
  const caller = 'mcp_resource_template';
  const uriTemplate = required(caller, config, 'uri_template');
  const facts = resourceFacts(caller, config);
  const handler = requiredHandler(caller, config);
  registered(run).templates.push((context) => ({
    uriTemplate,
    facts,
    read: async (variables, signal) => display(await callHandler(context, handler, variables, signal)),
  }));
}

/** @throws plain error: which key is missing */
export function registerPrompt(run: Run, config: Value): void {
  const name = required('mcp_prompt', config, 'name');
  const handler = requiredHandler('mcp_prompt', config);
  const { description, arguments: given } = optionsJson(config);
  registered(run).prompts.push((context) => ({
    name,
    description: typeof description === 'string' ? description : '',
    arguments: Array.isArray(given) ? given.filter(isJsonObject) : [],
    get: async (args, signal) => promptMessages(toJson(await callHandler(context, handler, args, signal))),
  }));
}

function required(caller: string, config: Value, key: string): string {
  const value = field(config, key);
  if (typeof value !== 'string' || value === '') throw plainError(`${caller}: config needs \`${key}\`, a string`);
  return value;
}

function requiredHandler(caller: string, config: Value): HarnFunction {
  const handler = field(config, 'handler');
  if (!isCallable(handler)) throw plainError(`${caller}: config needs \`handler\`, a function`);
  return handler;
}

function resourceFacts(caller: string, config: Value): JsonObject {
  const { description, mime_type: mimeType } = optionsJson(config);
  return {
    name: required(caller, config, 'name'),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
  };
}

/** A text is one message of the user; a list says who speaks. */
function promptMessages(value: Json): { readonly role: string; readonly text: string }[] {
  if (!Array.isArray(value)) return [{ role: 'user', text: renderToolValue(value) }];
  return value.map((item) =>
    isJsonObject(item)
      ? { role: item.role === 'assistant' ? 'assistant' : 'user', text: renderToolValue(item.content ?? '') }
      : { role: 'user', text: renderToolValue(item) },
  );
}

/** @throws Error with the text of what the handler threw */
async function callHandler(context: Context, handler: HarnFunction, args: JsonObject, signal: AbortSignal): Promise<Value> {
  try {
    return await callValue(deriveContext(context, { signal }), 0, handler, fromJson(args));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(display(caughtValue(error)), { cause: error });
  }
}

/**
 * What the script has offered by now, bound to the context in which its handlers run; undefined when that is nothing.
 *
 * @throws HarnError `plain` for a tool that nothing can execute
 */
export function mcpOffer(context: Context): McpOffer | undefined {
  const { tools, resources, templates, prompts } = registered(context.run);
  if (tools.length + resources.length + templates.length + prompts.length === 0) return undefined;
  return {
    tools: bindTools(context, tools, null).map((tool, index) => offeredTool(tool, optionsJson(tools[index]))),
    resources,
    templates: templates.map((bind) => bind(context)),
    prompts: prompts.map((bind) => bind(context)),
  };
}

function offeredTool(tool: Tool, { outputSchema }: JsonObject): OfferedTool {
  const { name, description, parameters, annotations } = tool;
  return {
    name,
    description,
    inputSchema: parameters,
    // The protocol takes schemas of objects alone.
    outputSchema: isJsonObject(outputSchema) && outputSchema.type === 'object' ? outputSchema : undefined,
    annotations,
    call: (args, signal) => callTool(tool, args, signal),
  };
}

/** A fault of the tool is a result that says so: the client's model is to read it. */
async function callTool(tool: Tool, given: JsonObject, signal: AbortSignal): Promise<OfferedResult> {
  const args = completeArguments(given, tool.parameters);
  const faults = schemaFaults(args, tool.parameters, tool.name);
  if (faults.length > 0) return failed(`invalid arguments: ${faults.join('; ')}`);
  try {
    const answer = await tool.handler(args, { callId: tool.name, signal });
    if (answer.kind === 'park') return failed(`${tool.name} asks to park, which only a loop can do`);
    const text = answer.text ?? renderToolValue(answer.value);
    const isError = resultStatus(answer.value, text) !== 'ok';
    return { text, structured: isJsonObject(answer.value) ? answer.value : undefined, isError };
  } catch (error) {
    signal.throwIfAborted();
    return failed(errorText(error));
  }
}

function failed(text: string): OfferedResult {
  return { text, structured: undefined, isError: true };
}
