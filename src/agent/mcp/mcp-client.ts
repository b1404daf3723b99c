import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { isSpawnFault, mcpFault, startFault } from './mcp-fault.ts';
import { withoutSecrets } from './mcp-secrets.ts';
import type { McpSpec } from './mcp-spec.ts';
import { type McpWorld, openTransport } from './mcp-transport.ts';

/** A connection to a server, over the SDK of the Model Context Protocol; it is loaded with the first one. */
export interface McpConnection {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  /** True until the server, or the connection to it, is gone. */
  isOpen(): boolean;
  tools(call: McpCall): Promise<readonly McpTool[]>;
  /** @param answers to what the server had asked before it went on */
  callTool(name: string, args: JsonObject, call: McpCall, answers?: McpAnswers): Promise<McpResult | McpQuestion>;
  resources(call: McpCall): Promise<Json>;
  readResource(uri: string, call: McpCall): Promise<JsonObject>;
  prompts(call: McpCall): Promise<Json>;
  prompt(name: string, args: JsonObject, call: McpCall): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface McpCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** As a server lists it: texts of a stranger. */
export type McpTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject;
};

export interface McpResult {
  readonly isError: boolean;
  /** Text blocks joined; other blocks by their kind. */
  readonly text: string;
  readonly structured: JsonObject | undefined;
  readonly content: readonly Json[];
}

/** The server cannot go on before somebody has answered; what it kept comes back with the answers. */
export interface McpQuestion {
  readonly requests: JsonObject;
  readonly state: string | undefined;
}

export interface McpAnswers {
  readonly responses: JsonObject;
  readonly state: string | undefined;
}

/** @throws Error whose message says what could not be done, with the end of what the server wrote to standard error */
export async function connectMcp(world: McpWorld, spec: McpSpec, call: McpCall): Promise<McpConnection> {
  const client = new Client(
    { name: 'harn', version: world.version },
    { inputRequired: { autoFulfill: false }, capabilities: { elicitation: { form: {} } }, ...negotiation(spec) },
  );
  const { transport, errorTail, secrets } = openTransport(world, spec, call.timeoutMs);
  const shown = <T extends Json>(value: T): T => withoutSecrets(value, secrets);
  /** What a server answers, and what goes wrong, without what it was given to be reached. */
  const told = async (answer: Promise<object>, one: McpCall): Promise<JsonObject> => {
    try {
      return shown(asJson(await answer));
    } catch (error) {
      throw new Error(shown(mcpFault(error, one)));
    }
  };
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
  };
  const options = { signal: call.signal, timeout: call.timeoutMs };
  try {
    await client.connect(transport, options);
  } catch (error) {
    await client.close().catch(() => undefined); // it never was open
    const tail = errorTail();
    // The fault of the system goes along; one of a server may hold what must not be seen.
    const cause = isSpawnFault(error) ? { cause: error } : {};
    throw new Error(shown(`${startFault(spec, error, call)}${tail === '' ? '' : `\n${tail}`}`), cause);
  }
  const optionsOf = ({ signal, timeoutMs }: McpCall) => ({ signal, timeout: timeoutMs });
  return {
    serverInfo: shown(asJson(client.getServerVersion() ?? {})),
    capabilities: shown(asJson(client.getServerCapabilities() ?? {})),
    isOpen: () => isOpen,
    tools: async (one) => jsonList((await told(client.listTools(undefined, optionsOf(one)), one)).tools).map(toolOf),
    callTool: async (name, args, one, answers) => {
      const params = { name, arguments: args, ...answerParams(answers) };
      let state: string | undefined;
      const asked = client.callTool(params, { ...optionsOf(one), allowInputRequired: true }).then((result) => {
        // It goes back as it came: a server may have signed it.
        if ('requestState' in result && typeof result.requestState === 'string') state = result.requestState;
        return result;
      });
      const result = await told(asked, one);
      return result.resultType === 'input_required' ? questionOf(result, state) : resultOf(result);
    },
    resources: async (one) => (await told(client.listResources(undefined, optionsOf(one)), one)).resources ?? [],
    readResource: (uri, one) => told(client.readResource({ uri }, optionsOf(one)), one),
    prompts: async (one) => (await told(client.listPrompts(undefined, optionsOf(one)), one)).prompts ?? [],
    prompt: (name, args, one) => told(client.getPrompt({ name, arguments: textArguments(args) }, optionsOf(one)), one),
    close: () => client.close(),
  };
}

/** Servers of 2025 ask by requests of their own, which nobody could answer while a loop is parked; newer ones by results. */
function negotiation({ protocol }: McpSpec): Pick<ClientOptions, 'versionNegotiation'> {
  if (protocol === undefined) return {};
  return { versionNegotiation: { mode: protocol === 'auto' ? 'auto' : { pin: protocol } } };
}

function answerParams(answers: McpAnswers | undefined): { readonly inputResponses?: JsonObject; readonly requestState?: string } {
  if (answers === undefined) return {};
  return { inputResponses: answers.responses, ...(answers.state === undefined ? {} : { requestState: answers.state }) };
}

function questionOf({ inputRequests }: JsonObject, state: string | undefined): McpQuestion {
  return { requests: isJsonObject(inputRequests) ? inputRequests : {}, state };
}

function jsonList(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The SDK's own types are open objects of JSON. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function toolOf({ name, description, inputSchema, annotations }: JsonObject): McpTool {
  return {
    name: String(name),
    description: typeof description === 'string' ? description : '',
    // A tool without arguments may leave `properties` out, and would pass for the short form of parameters.
    inputSchema: { type: 'object', properties: {}, ...(isJsonObject(inputSchema) ? inputSchema : {}) },
    annotations: isJsonObject(annotations) ? annotations : {},
  };
}

function resultOf({ content, structuredContent, isError }: JsonObject): McpResult {
  const blocks = Array.isArray(content) ? content : [];
  return {
    isError: isError === true,
    text: blocks.map(blockText).join('\n'),
    structured: isJsonObject(structuredContent) ? structuredContent : undefined,
    content: blocks,
  };
}

function blockText(block: Json): string {
  if (!isJsonObject(block)) return '';
  if (typeof block.text === 'string') return block.text;
  if (isJsonObject(block.resource) && typeof block.resource.text === 'string') return block.resource.text;
  return `[${String(block.type ?? 'content')}${typeof block.mimeType === 'string' ? ` ${block.mimeType}` : ''}]`;
}

/** Prompts take texts only. */
function textArguments(args: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}
