import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { CliWorld, type Ended } from './harn.ts';

/**
 * A server of the Model Context Protocol that repeats what it was given to be reached, in everything that it says. Nothing
 * of it may stand in what leaves harn: output, JSON stream, hooks, audits, errors, snapshot, journal and all other files.
 */
const KEY = 'mcp-canary-6b1f';
const VARIABLES = { WIKI_AUTH: `Bearer ${KEY}`, MCP_TOKEN: KEY };

let world: CliWorld;
let server: Server;
let fault: string;
/** What lay on the disk whenever the server was asked. */
let seen: string[];
beforeEach(async () => {
  world = new CliWorld();
  fault = '';
  seen = [];
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  world.remove();
});

/** The secret address: a path and a query that nobody else knows. */
const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${KEY}-in-a-path/mcp?api_key=${KEY}`;

/** All files of the world but the compiled scripts. */
function files(): string {
  return readdirSync(world.folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('cache'))
    .map((name) => join(world.folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => `${path}\n${readFileSync(path, 'utf8')}`)
    .join('\n');
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const said = `${request.url} ${request.headers.authorization}`;
  const { id, method, params = {} } = JSON.parse(body) as { id?: number; method: string; params?: JsonObject };
  if (id === undefined) return void response.writeHead(202).end();
  const reply = (message: JsonObject): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  if (method === 'tools/call') seen.push(files());
  const [stage = '', what] = fault.split(' ');
  if (method === STAGES[stage]) {
    if (what === 'status') return void response.writeHead(401).end(`who is ${said}?`);
    if (what === 'text') return void response.writeHead(200, { 'content-type': 'application/json' }).end(`${said} is no JSON`);
    if (what === 'error') return reply({ error: { code: -32603, message: `broken: ${said}`, data: { said } } });
    if (what === 'silence') return;
    if (what === 'cut') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write(`: ${said}\n\n`, () => request.socket.resetAndDestroy());
    }
  }
  reply({ result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...resultOf(method, params, said) } });
}

const STAGES: Readonly<Record<string, string>> = { connect: 'initialize', list: 'tools/list', call: 'tools/call' };

function resultOf(method: string, params: JsonObject, said: string): JsonObject {
  const info = { capabilities: { tools: {} }, serverInfo: { name: said, version: '1' }, instructions: said };
  const text = (more: JsonObject = {}): JsonObject => ({ content: [{ type: 'text', text: `It is ${said}` }], ...more });
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-11-25', ...info };
    case 'server/discover':
      return { supportedVersions: ['2026-07-28'], ...info };
    case 'tools/list':
      return {
        tools: ['tell', 'fail', 'ask'].map((name): Json => ({ name, description: said, inputSchema: { type: 'object', title: said } })),
      };
    case 'tools/call':
      if (params.name === 'fail') return text({ isError: true });
      if (params.name === 'ask' && params.inputResponses === undefined) {
        const form = {
          message: `Give ${said}?`,
          requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
          mode: 'form',
        };
        return { resultType: 'input_required', inputRequests: { q: { method: 'elicitation/create', params: form } }, requestState: 'kept' };
      }
      return text({ structuredContent: { said } });
    default:
      return {};
  }
}

const HTTP = '{name: "wiki", url_env: "WIKI_URL", headers_env: {Authorization: "WIKI_AUTH"}, timeout_ms: 900';

function loop(servers: string): void {
  world.write(
    'work.harn',
    `fn watch(e) {
  println("HOOK \${json_stringify(e)}")
  return nil
}
pipeline default() {
  for name in ["pre_suspend", "post_suspend", "pre_resume", "post_resume", "pre_finish", "post_finish"] { register_session_hook(name, watch) }
  for name in ["WorkerSpawned", "WorkerProgressed", "WorkerSuspended", "WorkerResumed", "WorkerCompleted"] { register_worker_hook(name, watch) }
  let result = try { agent_loop("work", nil, {provider: "mock", tool_format: "native", max_iterations: 9, mcp_servers: ${servers}}) } catch e { e }
  println("RESULT \${json_stringify(result)}")
  println("AUDITS \${json_stringify(lifecycle_audit_log_snapshot())}")
  println("CALLS \${json_stringify(llm_mock_calls())}")
}
`,
  );
}

function run(args: readonly string[], ...turns: readonly JsonObject[]): Promise<Ended> {
  const mock = world.write('turns.jsonl', turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  return world.start(['run', '--json', '--trace', '--llm-mock', mock, ...args], { ...VARIABLES, WIKI_URL: address() }).ended;
}

const calls = (...names: readonly string[]): JsonObject => ({ tool_calls: names.map((name) => ({ name, arguments: {} })) });
const PARK: JsonObject = { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'a decision' } }] };

function expectNoSecret(...ends: readonly Ended[]): void {
  for (const text of [...ends.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...seen, files()]) expect(text).not.toContain('canary');
}

describe('what a server over HTTP was given stands nowhere', () => {
  test('when all goes well, over a park and a resume', async () => {
    loop(`[${HTTP}}]`);
    const parked = await run(['work.harn'], calls('wiki__tell', 'wiki__fail'), calls('wiki__tell'), PARK);
    expect(parked.code).toBe(0);
    expect(parked.stdout).toContain('It is /[secret]');
    const resumed = await run(['--resume', world.snapshots()[0] ?? '', '--', 'go on'], calls('wiki__tell'), { text: 'end' });
    expect(resumed.code).toBe(0);
    expect(seen).toHaveLength(4);
    expectNoSecret(parked, resumed);
  });

  const FAULTS = ['connect', 'list', 'call'].flatMap((stage) =>
    ['status', 'text', 'error', 'silence', 'cut'].map((what) => `${stage} ${what}`),
  );
  test.each(FAULTS)('when it fails: %s', async (which) => {
    fault = which;
    loop(`[${HTTP}}]`);
    const ended = await run(['work.harn'], calls('wiki__tell'), { text: 'end' });
    expect(ended.stdout).toContain('MCP server wiki: ');
    expectNoSecret(ended);
  });

  test('when it is required, and the loop ends by it', async () => {
    fault = 'connect status';
    loop(`[${HTTP}, required: true}]`);
    const ended = await run(['work.harn'], { text: 'end' });
    expect(ended.stdout).toContain('MCP server wiki: it answered 401');
    expectNoSecret(ended);
  });

  test('when it asks, the loop parks with its question, and it is answered', async () => {
    loop(`[${HTTP}, protocol: "2026-07-28"}]`);
    const parked = await run(['work.harn'], calls('wiki__ask'));
    expect(parked.stdout).toContain('MCP server wiki asks: Give /[secret]');
    const resumed = await run(['--resume', world.snapshots()[0] ?? '', '--', 'yes'], { text: 'end' });
    expect(resumed).toMatchObject({ code: 0 });
    expect(seen).toHaveLength(2);
    expectNoSecret(parked, resumed);
  });

  test('when a script asks it itself', async () => {
    world.write(
      'use.harn',
      `let client = mcp_connect(${HTTP}})
println(json_stringify([mcp_server_info(client), mcp_list_tools(client), mcp_call(client, "tell")]))
println(try { mcp_call(client, "fail") } catch e { e })
`,
    );
    const ended = await run(['use.harn']);
    expect(ended.stdout).toContain('It is /[secret]');
    expectNoSecret(ended);
  });
});

test('what the process of a server was given does not stand in what it wrote before it died', async () => {
  world.write('noisy.mjs', 'console.error(`the token is ${process.env.MCP_TOKEN}`);\nprocess.exit(3);\n');
  loop(`[{name: "noisy", command: "${process.execPath}", args: ["noisy.mjs"], env: ["MCP_TOKEN"]}]`);
  const ended = await run(['work.harn'], { text: 'end' });
  expect(ended.stdout).toContain('the token is [secret]');
  expectNoSecret(ended);
});

describe('an address that holds a secret in the open is refused, without showing it', () => {
  test.each([
    [`http://user:${KEY}@wiki.invalid/mcp`, 'a user name or password'],
    [`http://wiki.invalid/mcp?api_key=${KEY}`, 'a secret (api_key)'],
    [`http://wiki.invalid/mcp?accessToken=${KEY}`, 'a secret (accessToken)'],
  ])('%s', async (url, what) => {
    world.write('harn.toml', `[[mcp]]\nname = "wiki"\nurl = "${url}"\n`);
    world.write('use.harn', 'mcp_connect("wiki")\n');
    const { code, stderr } = world.harn(['run', 'use.harn']);
    expect(code).toBe(1);
    expect(stderr).toContain(`server wiki: its url holds ${what}; put it into a variable`);
    expect(stderr).not.toContain('canary');
  });

  test.each([
    [{}, 'the variable WIKI_URL, which is to hold its address, is not set'],
    [{ WIKI_URL: KEY }, 'the variable WIKI_URL holds no address'],
  ])('a variable that does not help: %j', (env, message) => {
    world.write('use.harn', 'mcp_connect({name: "wiki", url_env: "WIKI_URL"})\n');
    const { stderr } = world.harn(['run', 'use.harn'], { env });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('canary');
  });
});
