import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import { type ToolCallContext, type ToolReturn, toolFault } from '../tools/tool.ts';
import type { McpCall, McpConnection, McpTool } from './mcp-client.ts';
import { answersOf, questionReturn } from './mcp-question.ts';
import type { McpSpec } from './mcp-spec.ts';

/**
 * The servers of one owner (a loop, or the script itself). A connection is made when it is first needed, made again
 * after the server went away, and closed with the pool: a parked loop holds no process.
 */
export class McpPool {
  readonly #connect: Connect;
  readonly #specs = new Map<string, McpSpec>();
  readonly #open = new Map<string, Promise<McpConnection>>();
  /** Servers whose tools were compared with those that the loop was started with. */
  readonly #compared = new Set<string>();
  readonly #onChange: (server: string, change: JsonObject) => void;

  /** @param onChange told when a server offers other tools than before a park */
  constructor(connect: Connect, onChange: (server: string, change: JsonObject) => void = () => undefined) {
    this.#connect = connect;
    this.#onChange = onChange;
  }

  add(spec: McpSpec): void {
    this.#specs.set(spec.name, spec);
  }

  get names(): readonly string[] {
    return [...this.#specs.keys()];
  }

  has(server: string): boolean {
    return this.#specs.has(server);
  }

  isConnected(server: string): boolean {
    return this.#open.has(server);
  }

  /** @throws HarnError `tool_error` when the server cannot be reached */
  async tools(server: string, signal: AbortSignal): Promise<readonly McpTool[]> {
    return this.#use(server, signal, (connection, call) => connection.tools(call));
  }

  /**
   * Calls a tool. Whatever goes wrong is an error of the tool: the server's own words, a server that is dead, a call
   * that takes too long.
   */
  async callTool(
    server: string,
    tool: string,
    args: JsonObject,
    { signal, continuation }: Pick<ToolCallContext, 'signal' | 'continuation'>,
  ): Promise<ToolReturn> {
    const answers = continuation === undefined ? undefined : answersOf(continuation);
    const result = await this.#use(server, signal, async (connection, call) => {
      await this.#compare(server, connection, call);
      return connection.callTool(tool, args, call, answers);
    });
    if ('requests' in result) return questionReturn(server, result);
    if (result.isError) throw toolFault(result.text === '' ? `${server} reported an error without a text` : result.text);
    const hasText = result.content.some((block) => isJsonObject(block) && block.type === 'text');
    return { kind: 'value', value: result.structured ?? result.text, ...(hasText ? { text: result.text } : {}) };
  }

  /** How a call of the server is bounded. @throws HarnError `tool_error` for a server that is not configured */
  callOf(server: string, signal: AbortSignal): McpCall {
    const spec = this.#specs.get(server);
    if (spec === undefined) throw toolFault(`no MCP server ${server} is configured`);
    return { signal, timeoutMs: spec.timeout_ms ?? DEFAULT_TIMEOUT_MS };
  }

  /** Runs `use` over the server's connection, made now where there is none; whatever fails is a fault of the tool. */
  async #use<T>(server: string, signal: AbortSignal, use: (connection: McpConnection, call: McpCall) => Promise<T>): Promise<T> {
    const call = this.callOf(server, signal);
    try {
      const connection = await this.connection(server, call);
      return await use(connection, call);
    } catch (error) {
      signal.throwIfAborted();
      throw toolFault(`MCP server ${server}: ${errorText(error)}`, error);
    }
  }

  async connection(server: string, call: McpCall): Promise<McpConnection> {
    const known = await this.#open.get(server);
    if (known?.isOpen() === true) return known;
    const spec = this.#specs.get(server);
    if (spec === undefined) throw toolFault(`no MCP server ${server} is configured`);
    const connecting = this.#connect(spec, call);
    this.#open.set(server, connecting);
    try {
      return await connecting;
    } catch (error) {
      this.#open.delete(server);
      throw error;
    }
  }

  /** After a restore the list may be another one; the tools that the model knows stay, and the difference is told. */
  async #compare(server: string, connection: McpConnection, call: McpCall): Promise<void> {
    const expected = this.#specs.get(server)?.tools_sha256;
    if (expected === undefined || this.#compared.has(server)) return;
    this.#compared.add(server);
    const tools = await connection.tools(call);
    if (toolsDigest(tools) !== expected) this.#onChange(server, { server, tools: tools.map((tool) => tool.name) });
  }

  /** The tools of this server are those that the loop starts with. */
  markCompared(server: string): void {
    this.#compared.add(server);
  }

  async release(server: string): Promise<void> {
    const open = this.#open.get(server);
    this.#open.delete(server);
    const connection = await open?.catch(() => undefined);
    await connection?.close().catch(() => undefined); // gone is gone
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((server) => this.release(server)));
  }
}

export type Connect = (spec: McpSpec, call: McpCall) => Promise<McpConnection>;

const DEFAULT_TIMEOUT_MS = 60_000;

/** Changes when a server offers other tools, or the same ones with other parameters. */
export function toolsDigest(tools: readonly McpTool[]): string {
  const sorted = [...tools].sort((left, right) => (left.name < right.name ? -1 : 1));
  const text = JSON.stringify(sorted.map(({ name, description, inputSchema }) => [name, description, inputSchema]));
  return sha256(text);
}
