import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { HarnError } from '../../base/harn-error.ts';
import type { Json } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { secretIn } from './mcp-secrets.ts';

/** How a server of the Model Context Protocol is reached: all that a snapshot keeps of it, never a connection. */
export type McpSpec = {
  readonly name: string;
  readonly transport: 'stdio' | 'http';
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Variables of the server's process: their values, or their names to be taken from harn's own environment. */
  readonly env?: Readonly<Record<string, string>> | readonly string[] | undefined;
  readonly url?: string | undefined;
  /** The environment variable that holds the address, where that is a secret; saved in its place. */
  readonly url_env?: string | undefined;
  /** Sent as they are; not saved, because they hold keys. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Headers whose values are in these environment variables; saved. */
  readonly headers_env?: Readonly<Record<string, string>> | undefined;
  /** `auto` asks the server which revision it speaks, a date insists on one; 2025's when left out. */
  readonly protocol?: string | undefined;
  /** Bound of one call in milliseconds. */
  readonly timeout_ms?: number | undefined;
  /** True ends the loop before its first turn when the server cannot be reached. */
  readonly required?: boolean | undefined;
  /** Of the tools that the loop was started with. */
  readonly tools_sha256?: string | undefined;
};

const specSchema = lazily(() => {
  const text = z.nullish(z.string());
  const texts = z.record(z.string(), z.string());
  return z.looseObject({
    name: z.string().check(z.minLength(1)),
    transport: z.nullish(z.enum(['stdio', 'http', 'streamable_http', 'streamable-http'])),
    command: text,
    args: z.nullish(z.array(z.string())),
    cwd: text,
    env: z.nullish(z.union([texts, z.array(z.string())])),
    url: text,
    url_env: text,
    headers: z.nullish(texts),
    headers_env: z.nullish(texts),
    protocol: text,
    timeout_ms: z.nullish(z.int().check(z.positive())),
    required: z.nullish(z.boolean()),
    tools_sha256: text,
  });
});

/** @throws HarnError `plain`: which server and what is wrong with it */
export function decodeMcpSpec(value: Json, operation: string): McpSpec {
  const decoded = specSchema().safeParse(value, OWN_TEXTS_ONLY);
  if (!decoded.success) {
    const issue = decoded.error.issues[0];
    throw new HarnError('plain', `${operation}: ${issue?.path.join('.') ?? 'server'}: ${decodeProblem(issue, value)}`);
  }
  const { transport, command, url, ...rest } = decoded.data;
  const address = url ?? rest.url_env ?? undefined;
  const how = transport === 'stdio' || (transport === undefined && address === undefined) ? 'stdio' : 'http';
  const wanted = how === 'stdio' ? command : address;
  if (wanted === undefined || wanted === null || wanted === '') {
    throw new HarnError('plain', `${operation}: server ${rest.name} needs ${how === 'stdio' ? 'a command' : 'a url'}`);
  }
  if (how === 'http' && typeof url === 'string') checkAddress(url, `${operation}: server ${rest.name}`);
  return {
    name: rest.name,
    transport: how,
    ...(how === 'stdio' ? { command: wanted } : typeof url === 'string' ? { url } : {}),
    ...given(rest, ['url_env', 'args', 'cwd', 'env', 'headers', 'headers_env', 'protocol', 'timeout_ms', 'required', 'tools_sha256']),
  };
}

function checkAddress(url: string, who: string): void {
  if (!URL.canParse(url)) throw new HarnError('plain', `${who}: its url is no address`);
  const secret = secretIn(new URL(url));
  if (secret === undefined) return;
  throw new HarnError(
    'plain',
    `${who}: its url holds ${secret}; put it into a variable and name that in headers_env, or the whole address in url_env`,
  );
}

function given<T extends object, K extends keyof T>(from: T, keys: readonly K[]): { [P in K]?: NonNullable<T[P]> } {
  const entries = keys.flatMap((key) => (from[key] === undefined || from[key] === null ? [] : [[key, from[key]] as const]));
  return Object.fromEntries(entries) as { [P in K]?: NonNullable<T[P]> }; // entries of exactly these keys
}

/** The name under which a model sees a tool of a server. */
export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`;
}
