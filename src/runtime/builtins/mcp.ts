import type { McpCall, McpConnection } from '../../agent/mcp/mcp-client.ts';
import { decodeMcpSpec } from '../../agent/mcp/mcp-spec.ts';
import { errorText, hasCode } from '../../base/harn-error.ts';
import type { Json } from '../../base/json.ts';
import { agentServices } from '../agents/agent-services.ts';
import { agentValue, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import { assertMayAct } from '../agents/autonomy-tier.ts';
import { readServerCard, scriptPool } from '../agents/mcp.ts';
import { registerPrompt, registerResource, registerTemplate, registerTools } from '../agents/mcp-offer.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context, Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { errorDetail } from '../file-errors.ts';
import { toJson } from '../json.ts';
import { Dict, Handle, typeOf, type Value } from '../value.ts';

/** Servers of the Model Context Protocol, used by the script itself; for the tools of a loop see `mcp_servers` of agent_loop. */
type Args = readonly Value[];

class McpClientHandle extends Handle {
  readonly typeName = 'mcp_client';
  readonly server: string;

  constructor(server: string) {
    super();
    this.server = server;
  }

  display(): string {
    return `<mcp_client:${this.server}>`;
  }
}

function builtin(signature: string, doc: string, run: (context: Context, args: Args) => Promise<Value>): Builtin {
  return { signature, doc, colour: 'async', call: (context, _depth, ...args) => run(context, withoutHarness(args)) };
}

/** A plain name is a server of harn.toml; a dict says how to reach one; else it is a command with its arguments. */
async function connect(context: Context, [first, args]: Args): Promise<Value> {
  const pool = scriptPool(context.run);
  if (typeof first === 'string' && args === undefined && pool.has(first)) {
    await use(context, 'mcp_connect', new McpClientHandle(first), async () => undefined);
    return new McpClientHandle(first);
  }
  const given: Json = first instanceof Dict ? optionsJson(first) : { command: display(first), args: toJson(args) ?? [] };
  const name = agentServices(context.run).random.id('mcp');
  const spec = decodeMcpSpec({ name, ...given }, 'mcp_connect');
  pool.add(spec);
  const handle = new McpClientHandle(spec.name);
  await use(context, 'mcp_connect', handle, async () => undefined);
  return handle;
}

/** @throws plain error: which function, which server, what went wrong */
async function use<T>(
  context: Context,
  caller: string,
  client: Value,
  run: (connection: McpConnection, call: McpCall) => Promise<T>,
): Promise<T> {
  if (!(client instanceof McpClientHandle)) throw plainError(`${caller}: expected an mcp_client, got ${typeOf(client)}`);
  assertMayAct(context.run, 'use MCP servers');
  const pool = scriptPool(context.run);
  const call = pool.callOf(client.server, context.signal);
  try {
    return await run(await pool.connection(client.server, call), call);
  } catch (error) {
    context.signal.throwIfAborted();
    throw plainError(`${caller}: ${startFault(error) ?? errorText(error)}`);
  }
}

/** Undefined for any other fault than a program that cannot be started. */
function startFault(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const isUnstartable = ['ENOENT', 'EACCES', 'ENOTDIR'].some((code) => hasCode(cause, code));
  return isUnstartable ? `failed to spawn the server: ${errorDetail(cause)}` : undefined;
}

async function callTool(context: Context, [client, name, args]: Args): Promise<Value> {
  const result = await use(context, 'mcp_call', client, (connection, call) => connection.callTool(display(name), optionsJson(args), call));
  if ('requests' in result) throw plainError(`mcp_call: ${display(name)} asks for input; only a tool of a loop can wait for it`);
  if (result.isError) throw plainError(result.text);
  if (result.structured !== undefined) return agentValue(result.structured);
  const isText = result.content.every((block) => typeof block === 'object' && block !== null && 'text' in block);
  return isText ? result.text : agentValue([...result.content]);
}

function listing(caller: string, list: (connection: McpConnection, call: McpCall) => Promise<Json>) {
  return async (context: Context, [client]: Args): Promise<Value> => agentValue(await use(context, caller, client, list));
}

async function readResource(context: Context, [client, uri]: Args): Promise<Value> {
  const { contents } = await use(context, 'mcp_read_resource', client, (connection, call) => connection.readResource(display(uri), call));
  const parts = Array.isArray(contents) ? contents : [];
  const texts = parts.flatMap((part) => (typeof part === 'object' && part !== null && 'text' in part ? [String(part.text)] : []));
  return parts.length === 1 && texts.length === 1 ? texts[0] : agentValue(parts);
}

async function serverInfo(context: Context, [client]: Args): Promise<Value> {
  if (client instanceof McpClientHandle && !scriptPool(context.run).isConnected(client.server)) {
    return dictOf([
      ['name', client.server],
      ['connected', false],
    ]);
  }
  return use(context, 'mcp_server_info', client, async (connection) =>
    agentValue({ name: '', ...connection.serverInfo, capabilities: connection.capabilities, connected: connection.isOpen() }),
  );
}

async function disconnect(context: Context, [client]: Args): Promise<Value> {
  if (!(client instanceof McpClientHandle)) throw plainError(`mcp_disconnect: expected an mcp_client, got ${typeOf(client)}`);
  await scriptPool(context.run).release(client.server);
  return undefined;
}

async function registryStatus(context: Context): Promise<Value> {
  const pool = scriptPool(context.run);
  const servers = pool.names.map((name) => ({ name, active: pool.isConnected(name) }));
  return agentValue({ count: servers.length, active: servers.filter((server) => server.active).length, servers });
}

/** What the script offers itself; `harn serve mcp` serves it. */
function offering(signature: string, doc: string, register: (run: Run, value: Value) => void): Builtin {
  return builtin(signature, doc, async (context, [value]) => {
    register(context.run, value);
    return undefined;
  });
}

const SERVED = 'once `harn serve mcp` serves the script';

export const MCP: BuiltinGroup = {
  name: 'mcp',
  title: 'Model Context Protocol',
  errors: [{ text: 'FUNCTION: WHAT WENT WRONG', when: 'the server cannot be started or reached, or refuses the request' }],
  builtins: {
    mcp_connect: builtin(
      '(server: any, args: list = nil) -> any',
      'Connects to a server: a command with its arguments, a dict `{command, args, env}` or `{url, headers}`, or the name of an [[mcp]] entry of harn.toml.',
      connect,
    ),
    mcp_list_tools: builtin(
      '(client: any) -> list<dict>',
      'The tools of a server: `{name, description, inputSchema, annotations}`.',
      listing('mcp_list_tools', async (connection, call) => [...(await connection.tools(call))]),
    ),
    mcp_call: builtin(
      '(client: any, name: string, args: dict = nil) -> any',
      'Calls a tool: structured data where the server gives it, else its text, else its content blocks. Throws the text of an error of the tool.',
      callTool,
    ),
    mcp_list_resources: builtin(
      '(client: any) -> list<dict>',
      'The resources of a server.',
      listing('mcp_list_resources', (connection, call) => connection.resources(call)),
    ),
    mcp_read_resource: builtin(
      '(client: any, uri: string) -> any',
      'A resource: its text, or its parts where it has several.',
      readResource,
    ),
    mcp_list_prompts: builtin(
      '(client: any) -> list<dict>',
      'The prompts of a server.',
      listing('mcp_list_prompts', (connection, call) => connection.prompts(call)),
    ),
    mcp_get_prompt: builtin(
      '(client: any, name: string, args: dict = nil) -> dict',
      'A prompt with its arguments filled in.',
      async (context, args) =>
        agentValue(
          await use(context, 'mcp_get_prompt', args[0], (connection, call) =>
            connection.prompt(display(args[1]), optionsJson(args[2]), call),
          ),
        ),
    ),
    mcp_server_info: builtin(
      '(client: any) -> dict',
      'Name, version and capabilities of the server, and whether it is connected.',
      serverInfo,
    ),
    mcp_disconnect: builtin('(client: any) -> nil', 'Ends a connection, and with it a server that was started for it.', disconnect),
    mcp_registry_status: builtin('() -> dict', 'The servers of harn.toml and of mcp_connect: `{count, active, servers}`.', registryStatus),
    mcp_ensure_active: builtin(
      '(name: string) -> any',
      'Connects to a server of harn.toml and gives its client.',
      async (context, [name]) => {
        if (!scriptPool(context.run).has(display(name))) throw plainError(`mcp_ensure_active: no server ${display(name)} is registered`);
        const handle = new McpClientHandle(display(name));
        await use(context, 'mcp_ensure_active', handle, async () => undefined);
        return handle;
      },
    ),
    mcp_release: builtin(
      '(name: string) -> nil',
      'Ends the connection to a server of harn.toml; nothing happens without one.',
      async (context, [name]) => {
        await scriptPool(context.run).release(display(name));
        return undefined;
      },
    ),
    mcp_tools: offering('(registry: any) -> nil', `Offers tools to clients of the protocol, ${SERVED}.`, (run, registry) =>
      registerTools(run, 'mcp_tools', registry),
    ),
    mcp_serve: offering('(registry: any) -> nil', 'Another name of mcp_tools.', (run, registry) =>
      registerTools(run, 'mcp_serve', registry),
    ),
    mcp_resource: offering(
      '(config: any) -> nil',
      `Offers a text, ${SERVED}: \`{uri, name, text, description?, mime_type?}\`.`,
      registerResource,
    ),
    mcp_resource_template: offering(
      '(config: any) -> nil',
      `Offers texts that a function makes from their address, ${SERVED}: \`{uri_template, name, handler, description?, mime_type?}\`. The handler gets the parts of the address by name.`,
      registerTemplate,
    ),
    mcp_prompt: offering(
      '(config: any) -> nil',
      `Offers a prompt, ${SERVED}: \`{name, handler, description?, arguments?}\`. The handler gives a text, or a list of \`{role, content}\`.`,
      registerPrompt,
    ),
    mcp_server_card: builtin(
      '(path: string) -> dict',
      'The Server Card in a JSON file: what a server says of itself.',
      async (context, [file]) => agentValue(readServerCard(context.run, display(file))),
    ),
  },
};
