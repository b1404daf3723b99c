import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, type Ended } from './harn.ts';

/** A script as a server of the Model Context Protocol over HTTP. */
let world: CliWorld;
let running: ReturnType<CliWorld['start']>[] = [];
beforeEach(() => {
  world = new CliWorld();
  world.write('offer.harn', OFFER);
});
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  running = [];
  world.remove();
});

const OFFER = `
pipeline default() {
  println("printed while the script ran")
  var tools = tool_define(tool_registry(), "greet", "Greets", {
    parameters: {name: "string"},
    handler: { args -> "Hello, \${args.name}!" },
  })
  tools = tool_define(tools, "wait", "Waits for a file", {
    parameters: {path: "string"},
    handler: { args ->
      eprintln("waiting")
      while !file_exists(args.path) { sleep(10ms) }
      "there"
    },
  })
  mcp_tools(tools)
}
`;

interface Serving extends ReturnType<CliWorld['start']> {
  readonly url: string;
}

async function serve(env: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const started = world.start(['serve', 'mcp', 'offer.harn', '--http', '--port', '0'], env);
  running.push(started);
  let told = '';
  started.child.stderr?.on('data', (data: Buffer) => {
    told += data.toString();
  });
  await started.saw('/mcp (Ctrl-C');
  return { ...started, url: /http:\S+/.exec(told)?.[0] ?? '' };
}

function use(name: string, url: string, body: string, options = ''): Promise<Ended> {
  world.write(name, `let client = mcp_connect({name: "it", url: "${url}"${options}})\n${body}\nmcp_disconnect(client)\n`);
  return world.start(['run', name]).ended;
}

const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };

function post(url: string, method: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: method === 'initialize' ? HELLO : {} });
  return fetch(url, { method: 'POST', headers: { ...ACCEPT, ...headers }, body });
}

/** `fetch` writes the header itself. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method: 'POST', headers: { ...ACCEPT, host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
    asked.end('{}');
  });
}

describe('harn serve mcp --http', () => {
  test.each([
    ['of 2025', ''],
    ['of 2026', ', protocol: "2026-07-28"'],
  ])('several clients %s at once', async (_which, options) => {
    const { url } = await serve();
    const body = 'println(mcp_list_tools(client).map({ one -> one.name }))\nprintln(mcp_call(client, "greet", {name: "you"}))';
    const ends = await Promise.all(['a.harn', 'b.harn'].map((name) => use(name, url, body, options)));
    expect(ends).toMatchObject(ends.map(() => ({ code: 0, stdout: '[greet, wait]\nHello, you!\n', stderr: '' })));
  });

  test('a session is opened by the first request, and gone when it was ended', async () => {
    const { url } = await serve();
    const opened = await post(url, 'initialize');
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    expect(session['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(await (await post(url, 'tools/list', session)).text()).toContain('greet');
    expect((await post(url, 'tools/list')).status).toBe(400);
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(200);
    expect((await post(url, 'tools/list', session)).status).toBe(404);
  });

  test('pages of other sites, other names of the host and other paths are refused', async () => {
    const { url } = await serve();
    expect((await post(url, 'initialize', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(url, 'initialize', { origin: 'http://localhost:6274' })).status).toBe(200);
    expect(await statusFor(url, 'evil.example')).toBe(403);
    expect((await post(url.replace('/mcp', '/other'), 'initialize')).status).toBe(404);
  });

  test('with a token nobody else is heard, and the token is told nowhere', async () => {
    const token = 'mcp-canary-31';
    const { url, child, ended } = await serve({ HARN_MCP_TOKEN: token });
    expect((await post(url, 'initialize')).status).toBe(401);
    expect((await post(url, 'initialize', { authorization: 'Bearer other' })).status).toBe(401);
    const { stdout } = await use(
      'a.harn',
      url,
      'println(mcp_call(client, "greet", {name: "you"}))',
      `, headers: {Authorization: "Bearer ${token}"}`,
    );
    expect(stdout).toBe('Hello, you!\n');
    child.kill('SIGTERM');
    const end = await ended;
    expect(end.code).toBe(0);
    expect(`${end.stdout}${end.stderr}`).not.toContain('canary');
  });

  test('a signal ends it once what is under way has its answer', async () => {
    const { url, child, ended, saw } = await serve();
    await post(url, 'initialize'); // a client that never says good-bye
    const path = join(world.folder, 'there');
    const asked = use('a.harn', url, `println(mcp_call(client, "wait", {path: "${path}"}))`);
    await saw('waiting');
    child.kill('SIGINT');
    world.write('there', '');
    expect(await asked).toMatchObject({ code: 0, stdout: 'there\n' });
    expect(await ended).toMatchObject({ code: 0, stdout: '' });
  });

  test('a second signal ends it at once', async () => {
    const { url, child, ended, saw } = await serve();
    const asked = use('a.harn', url, `println(mcp_call(client, "wait", {path: "${join(world.folder, 'never')}"}))`);
    await saw('waiting');
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect((await ended).code).toBeGreaterThan(128);
    expect((await asked).code).toBe(1);
  });

  test('what cannot be is said before the script runs, what the system refuses after it', async () => {
    const wrong = (...args: string[]): Ended => world.harn(['serve', 'mcp', 'offer.harn', ...args]);
    expect(wrong('--port', '8080')).toMatchObject({ code: 2, stderr: expect.stringContaining('--port needs --http') });
    expect(wrong('--http', '--port', 'eighty')).toMatchObject({ code: 2, stderr: expect.stringContaining('from 0 to 65535, got eighty') });
    expect(wrong('--http', '--host', '0.0.0.0')).toMatchObject({ code: 2, stderr: expect.stringContaining('set HARN_MCP_TOKEN') });
    const { url } = await serve();
    const taken = wrong('--http', '--port', new URL(url).port);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('something else listens there; --port 0 takes a free one') });
  });
});
