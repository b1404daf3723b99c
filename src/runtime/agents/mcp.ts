import { posix as path } from 'node:path';
import { parse } from 'smol-toml';
import packageJson from '../../../package.json' with { type: 'json' };
import type { McpTool } from '../../agent/mcp/mcp-client.ts';
import { type Connect, McpPool, toolsDigest } from '../../agent/mcp/mcp-pool.ts';
import { decodeMcpSpec, type McpSpec, mcpToolName } from '../../agent/mcp/mcp-spec.ts';
import type { ToolCallContext, ToolReturn } from '../../agent/tools/tool.ts';
import { plainEvent } from '../../agent/transcript/transcript.ts';
import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Context, Run } from '../context.ts';
import { dictEntries, dictOf } from '../dict.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { taskTree } from '../task-context.ts';
import { Dict, type Value } from '../value.ts';
import { type AgentServices, agentServices, inboxOf } from './agent-services.ts';
import { toolEntries } from './agent-tools.ts';
import { agentValue, field, optionsJson } from './agent-values.ts';

/**
 * MCP servers of loops and of scripts. A loop that names servers in `mcp_servers` gets their tools as entries of its
 * registry whose executor is `mcp_server`; they are saved and bound again like any others, and only the call needs a
 * connection. The SDK is loaded with the first one.
 */
const POOLS = Symbol('MCP pools');

/** Pools by session; the script's own is under the empty name. Closed at the latest with the run. */
function pools(run: Run): Map<string, McpPool> {
  return run.service(POOLS, (owner) => {
    const made = new Map<string, McpPool>();
    owner.signal.addEventListener('abort', () => {
      for (const pool of made.values()) void pool.close();
    });
    return made;
  });
}

function connector(run: Run): Connect {
  return async (spec, call) => {
    const { connectMcp } = await import('../../agent/mcp/mcp-client.ts');
    return connectMcp({ http: run.platform.http, env: (name) => run.platform.env.get(name), version: packageJson.version }, spec, call);
  };
}

/** The servers that the script connects to itself, and those of harn.toml. */
export function scriptPool(run: Run): McpPool {
  const known = pools(run).get('');
  if (known !== undefined) return known;
  const pool = new McpPool(connector(run));
  for (const spec of registeredServers(run).values()) pool.add(spec);
  pools(run).set('', pool);
  return pool;
}

/** `[[mcp]]` of harn.toml. @throws plain error for an entry that cannot be */
function registeredServers({ platform, projectRoot }: Run): ReadonlyMap<string, McpSpec> {
  if (projectRoot === undefined) return new Map();
  const file = path.join(projectRoot, 'harn.toml');
  let entries: unknown;
  try {
    entries = parse(platform.files.readText(file)).mcp ?? [];
  } catch (error) {
    throw plainError(`${file}: ${errorText(error)}`);
  }
  if (!Array.isArray(entries)) throw plainError(`${file}: mcp must be a list of tables: [[mcp]]`);
  const specs = entries.map((entry) => decodeMcpSpec(entry as Json, `${file}: [[mcp]]`)); // TOML has no other values here
  return new Map(specs.map((spec) => [spec.name, spec]));
}

/**
 * The pool of a loop's session. Its servers are those of `mcp_servers`; a name alone stands for an entry of harn.toml.
 *
 * @throws plain error for a server that cannot be
 */
function sessionPool(run: Run, sessionId: string, servers: Json): McpPool {
  const known = pools(run).get(sessionId);
  if (known !== undefined) return known;
  const services = agentServices(run);
  const pool = new McpPool(connector(run), (_server, change) => tell(services, sessionId, 'mcp_tools_changed', change));
  for (const spec of serverSpecs(run, servers)) pool.add(spec);
  pools(run).set(sessionId, pool);
  return pool;
}

function serverSpecs(run: Run, servers: Json): McpSpec[] {
  const list = Array.isArray(servers) ? servers : [servers];
  return list.map((server) => {
    if (typeof server !== 'string') return decodeMcpSpec(server, 'mcp_servers');
    const registered = registeredServers(run).get(server);
    if (registered === undefined) throw plainError(`mcp_servers: no server ${server} in harn.toml; name its command or url`);
    return registered;
  });
}

function tell(services: AgentServices, sessionId: string, type: string, facts: JsonObject): void {
  services.events.emit({ type, session_id: sessionId, ...facts });
  inboxOf(services, sessionId).tape.push(plainEvent(type, `${String(facts.server)}: ${String(facts.message ?? type)}`, facts));
}

/** The options of a loop with the tools of its servers among its tools. A server that is down is told, and has none. */
export async function withMcpServers(context: Context, options: Value, sessionId: string): Promise<Value> {
  const servers = toJson(field(options, 'mcp_servers'));
  if (!(options instanceof Dict) || servers === null || (Array.isArray(servers) && servers.length === 0)) return options;
  const pool = sessionPool(context.run, sessionId, servers);
  const specs = serverSpecs(context.run, servers);
  const found = await Promise.all(specs.map((spec) => serverTools(context, pool, spec, sessionId)));
  const entries = found.flatMap(({ spec, tools }) => tools.map((tool) => agentValue(toolEntry(spec, tool))));
  const digests = found.map(({ spec, tools }) => ({ ...spec, ...(tools.length === 0 ? {} : { tools_sha256: toolsDigest(tools) }) }));
  return dictOf([
    ...dictEntries(options).filter(([key]) => key !== 'tools' && key !== 'mcp_servers'),
    ['tools', [...toolEntries(field(options, 'tools')), ...entries]],
    ['mcp_servers', digests.map((spec) => agentValue(spec as JsonObject))], // no undefined values in it
  ]);
}

async function serverTools(
  context: Context,
  pool: McpPool,
  spec: McpSpec,
  sessionId: string,
): Promise<{ readonly spec: McpSpec; readonly tools: readonly McpTool[] }> {
  try {
    const tools = await pool.tools(spec.name, context.signal);
    pool.markCompared(spec.name);
    return { spec, tools };
  } catch (error) {
    context.signal.throwIfAborted();
    if (spec.required === true) throw plainError(`agent_loop: ${errorText(error)}`);
    tell(agentServices(context.run), sessionId, 'mcp_server_error', { server: spec.name, message: errorText(error) });
    return { spec, tools: [] };
  }
}

function toolEntry(spec: McpSpec, tool: McpTool): JsonObject {
  return {
    name: mcpToolName(spec.name, tool.name),
    description: tool.description,
    parameters: tool.inputSchema,
    annotations: tool.annotations,
    executor: 'mcp_server',
    mcp_server: spec.name,
    mcp_tool: tool.name,
  };
}

/** Runs a tool whose executor is `mcp_server`, over the servers of the loop or, where it has none of that name, of the script. */
export async function callMcpTool(
  context: Context,
  entry: Value,
  sessionId: string | undefined,
  servers: Json,
  args: JsonObject,
  call: ToolCallContext,
): Promise<ToolReturn> {
  const facts = optionsJson(entry);
  const server = String(facts.mcp_server);
  const own = sessionId === undefined || servers === null ? undefined : sessionPool(context.run, sessionId, servers);
  const pool = own?.has(server) === true ? own : scriptPool(context.run);
  const tool = typeof facts.mcp_tool === 'string' ? facts.mcp_tool : String(facts.name);
  return pool.callTool(server, tool, args, call);
}

/** A parked loop holds no process, and neither does one that ended. */
export function closeMcpSession(run: Run, sessionId: string): void {
  const pool = pools(run).get(sessionId);
  if (pool === undefined) return;
  pools(run).delete(sessionId);
  taskTree(run).track(pool.close());
}

/** A Server Card: what a server says of itself in a file. */
export function readServerCard(run: Run, file: string): JsonObject {
  let card: unknown;
  try {
    card = JSON.parse(run.platform.files.readText(file));
  } catch (error) {
    throw plainError(`mcp_server_card: ${file}: ${errorText(error)}`);
  }
  if (!isJsonObject(card)) throw plainError(`mcp_server_card: ${file} holds no object`);
  return card;
}
