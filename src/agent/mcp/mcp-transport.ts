import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type McpHttp, mcpFetch } from './mcp-fetch.ts';
import { secretsOfAddress, secretsOfEnvironment, secretsOfHeaders } from './mcp-secrets.ts';
import type { McpSpec } from './mcp-spec.ts';

export interface McpWorld extends McpHttp {
  readonly version: string;
}

interface Opened {
  readonly transport: StdioClientTransport | StreamableHTTPClientTransport;
  /** The end of what the server wrote to standard error. */
  errorTail(): string;
  /** Values that the server was given to be reached, or to reach others. */
  readonly secrets: readonly string[];
}

const TAIL_CHARS = 2000;

/** @throws Error for an address that a variable should hold and does not */
export function openTransport(world: McpWorld, spec: McpSpec, timeoutMs: number): Opened {
  return spec.transport === 'http' ? openHttp(world, spec, timeoutMs) : openStdio(world, spec);
}

function openHttp(world: McpWorld, spec: McpSpec, timeoutMs: number): Opened {
  const headers = { ...spec.headers, ...variables(world, Object.entries(spec.headers_env ?? {})) };
  const address = addressOf(world, spec);
  const transport = new HttpTransport(address, { requestInit: { headers }, fetch: mcpFetch(world, timeoutMs) });
  const ofAddress = spec.url_env === undefined ? [] : secretsOfAddress(address);
  return { transport, errorTail: () => '', secrets: [...ofAddress, ...secretsOfHeaders(headers)] };
}

function addressOf({ env }: McpWorld, { url, url_env: variable }: McpSpec): URL {
  if (variable === undefined) return new URL(url ?? '');
  const value = env(variable)?.trim() ?? '';
  if (URL.canParse(value)) return new URL(value);
  throw new Error(
    value === '' ? `the variable ${variable}, which is to hold its address, is not set` : `the variable ${variable} holds no address`,
  );
}

function openStdio(world: McpWorld, spec: McpSpec): Opened {
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
  return { transport, errorTail: () => tail.trim(), secrets: secretsOfEnvironment(own) };
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

function isNames(env: NonNullable<McpSpec['env']>): env is readonly string[] {
  return Array.isArray(env);
}

function variables({ env }: McpHttp, wanted: Iterable<readonly [key: string, variable: string]>): Record<string, string> {
  return Object.fromEntries(
    [...wanted].flatMap(([key, variable]) => {
      const value = env(variable);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
