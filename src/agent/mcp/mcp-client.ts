import { Client, type ClientOptions, type JSONRPCMessage, SdkErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { errorText, hasCode } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { type McpHttp, mcpFetch } from './mcp-fetch.ts';
import type { McpSpec } from './mcp-spec.ts';

/** The one file that knows the SDK of the Model Context Protocol; it is loaded with the first connection. */
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

export interface McpWorld extends McpHttp {
  readonly version: string;
}

/** @throws Error whose message says what could not be done, with the end of what the server wrote to standard error */
export async function connectMcp(world: McpWorld, spec: McpSpec, call: McpCall): Promise<McpConnection> {
  const client = new Client(
    { name: 'harn', version: world.version },
    { inputRequired: { autoFulfill: false }, capabilities: { elicitation: { form: {} } }, ...negotiation(spec) },
  );
  const { transport, errorTail, secrets } = openTransport(world, spec, call.timeoutMs);
  const hide = (text: string): string => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
  /** A server may repeat in its faults what it was given to be reached. */
  const told = async <T>(answer: Promise<T>, { timeoutMs }: McpCall): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (isTimeout(error)) throw new Error(`timed out after ${timeoutMs} ms (timeout_ms)`);
      const text = errorText(error);
      throw hide(text) === text ? error : new Error(hide(text));
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
    throw new Error(hide(`${startFault(spec, error, call)}${tail === '' ? '' : `\n${tail}`}`), cause);
  }
  const optionsOf = ({ signal, timeoutMs }: McpCall) => ({ signal, timeout: timeoutMs });
  return {
    serverInfo: asJson(client.getServerVersion() ?? {}),
    capabilities: asJson(client.getServerCapabilities() ?? {}),
    isOpen: () => isOpen,
    tools: async (one) => (await told(client.listTools(undefined, optionsOf(one)), one)).tools.map((tool) => toolOf(asJson(tool))),
    callTool: async (name, args, one, answers) => {
      const params = { name, arguments: args, ...answerParams(answers) };
      const result = asJson(await told(client.callTool(params, { ...optionsOf(one), allowInputRequired: true }), one));
      return result.resultType === 'input_required' ? questionOf(result) : resultOf(result);
    },
    resources: async (one) => asJson(await told(client.listResources(undefined, optionsOf(one)), one)).resources ?? [],
    readResource: async (uri, one) => asJson(await told(client.readResource({ uri }, optionsOf(one)), one)),
    prompts: async (one) => asJson(await told(client.listPrompts(undefined, optionsOf(one)), one)).prompts ?? [],
    prompt: async (name, args, one) => asJson(await told(client.getPrompt({ name, arguments: textArguments(args) }, optionsOf(one)), one)),
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

function questionOf({ inputRequests, requestState }: JsonObject): McpQuestion {
  return {
    requests: isJsonObject(inputRequests) ? inputRequests : {},
    state: typeof requestState === 'string' ? requestState : undefined,
  };
}

function isTimeout(error: unknown): boolean {
  return hasCode(error, SdkErrorCode.RequestTimeout);
}

function startFault({ command }: McpSpec, error: unknown, { timeoutMs }: McpCall): string {
  if (isTimeout(error)) return `gave no answer within ${timeoutMs} ms (timeout_ms)`;
  return isSpawnFault(error) ? `failed to spawn ${command} (${String((error as { code?: unknown }).code)})` : errorText(error);
}

function isSpawnFault(error: unknown): boolean {
  return String((error as { syscall?: unknown }).syscall).startsWith('spawn');
}

const TAIL_CHARS = 2000;

function openTransport(world: McpWorld, spec: McpSpec, timeoutMs: number) {
  if (spec.transport === 'http') {
    const headers = { ...spec.headers, ...variables(world, Object.entries(spec.headers_env ?? {})) };
    const transport = new HttpTransport(new URL(spec.url ?? ''), {
      requestInit: { headers },
      fetch: mcpFetch(world, timeoutMs),
    });
    return { transport, errorTail: () => '', secrets: Object.values(headers).flatMap(withoutScheme) };
  }
  const { env = {} } = spec;
  const own = isNames(env)
    ? variables(
        world,
        env.map((name) => [name, name] as const),
      )
    : env;
  const transport = new StdioClientTransport({
    command: spec.command ?? '',
    args: [...(spec.args ?? [])],
    env: { ...getDefaultEnvironment(), ...own },
    stderr: 'pipe',
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
  });
  let tail = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-TAIL_CHARS);
  });
  const secrets = Object.entries(own).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  return { transport, errorTail: () => tail.trim(), secrets: secrets.filter(isLong) };
}

/** An answer whose stream ends before it came would otherwise be awaited until the call times out. */
class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message) || !('id' in message) || message.id === undefined || !('method' in message))
      return super.send(message, options);
    const error = { code: CONNECTION_LOST, message: 'the connection broke off before the answer came' };
    const lost: JSONRPCMessage = { jsonrpc: '2.0', id: message.id, error };
    // After an answer it is one of an unknown request, which the client drops.
    return super.send(message, { ...options, onRequestStreamEnd: () => this.onmessage?.(lost) });
  }
}

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1] & object;

/** Free for implementations to use, as the protocol has it. */
const CONNECTION_LOST = -32_000;

const SECRET_NAME = /key|token|secret|passw|auth|credential/i;

/** Shorter values are no secrets, and stand in too many other words. */
function isLong(value: string): boolean {
  return value.length >= 6;
}

/** A header as a whole, and without `Bearer` before it. */
function withoutScheme(value: string): string[] {
  return [value, value.replace(/^\w+ +/, '')].filter(isLong);
}

function isNames(env: NonNullable<McpSpec['env']>): env is readonly string[] {
  return Array.isArray(env);
}

function variables({ env }: McpWorld, wanted: Iterable<readonly [key: string, variable: string]>): Record<string, string> {
  return Object.fromEntries(
    [...wanted].flatMap(([key, variable]) => {
      const value = env(variable);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** The SDK's own types are open objects of JSON. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function toolOf({ name, description, inputSchema, annotations }: JsonObject): McpTool {
  return {
    name: String(name),
    description: typeof description === 'string' ? description : '',
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object', properties: {} },
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
