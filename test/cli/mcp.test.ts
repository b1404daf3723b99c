import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, type Ended, events, ROOT } from './harn.ts';

/** Servers of the Model Context Protocol as tool sources, over real processes and real HTTP. */
const SERVER = join(ROOT, 'test/cli/mcp-server.mjs');

let world: CliWorld;
const children: ChildProcess[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill();
  world.remove();
});

type Turn = { readonly text?: string; readonly tool_calls?: readonly { readonly name: string; readonly arguments?: object }[] };

/** A loop whose options hold `servers`, against a scripted model. */
function script(servers: string, more = ''): void {
  world.write(
    'work.harn',
    `pipeline default() {
  let result = agent_loop("work", nil, {provider: "mock", tool_format: "native", max_iterations: 9, mcp_servers: ${servers}${more}})
  println("status: \${result.status}")
  if result.status == "done" { println(json_stringify(result.tools)) }
}
`,
  );
}

function stdio(name: string, more = '', env = '["MCP_LOG"]'): string {
  return `{name: "${name}", command: "${process.execPath}", args: ["${SERVER}"], env: ${env}${more}}`;
}

function turns(...entries: readonly Turn[]): string {
  return world.write('turns.jsonl', entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

function call(name: string, args: object = {}): Turn {
  return { tool_calls: [{ name, arguments: args }] };
}

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
  return world.harn(['run', ...args], { env: { MCP_LOG: join(world.folder, 'mcp.log'), ...env } });
}

/** Results of tools as the model read them, from the events of `--json`. */
function results(stdout: string): unknown[] {
  return events(stdout).flatMap(({ data }) => {
    const event = data as { type?: string; event?: string; result?: unknown };
    return 'call_id' in event && 'result' in event ? [event.result] : [];
  });
}

function startHttp(): Promise<string> {
  const child = spawn(process.execPath, [SERVER, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve) => {
    child.stdout.once('data', (data: Buffer) => resolve(`http://127.0.0.1:${data.toString().trim()}/mcp`));
  });
}

const log = (): string[] => world.read('mcp.log').trim().split('\n');

describe('tools of MCP servers', () => {
  test('over stdio and over HTTP, each under the name of its server', async () => {
    const url = await startHttp();
    script(`[${stdio('one')}, {name: "two", url: "${url}", headers: {Authorization: "Bearer mcp-canary-77"}}]`);
    const mock = turns(call('one__echo', { message: 'a' }), call('two__echo', { message: 'b' }), call('one__structured'), { text: 'end' });
    const { code, stdout } = run(['--json', '--llm-mock', mock, 'work.harn']);
    expect(code).toBe(0);
    expect(results(stdout)).toEqual(['a', 'b', '{"n":1}']);
    expect(log().at(-1)).toMatch(/^end /);
  });

  test('what fails is an error of the tool: its own, an unknown name, a dead server, silence; the loop goes on', () => {
    script(`[${stdio('one', ', timeout_ms: 1500')}]`, ', loop_detect_warn: 0, loop_detect_block: 0, loop_detect_skip: 0');
    const mock = turns(
      call('one__fail'),
      call('one__die'),
      call('one__echo', { message: 'back' }),
      call('one__hang'),
      call('one__nothing'),
      {
        text: 'end',
      },
    );
    const { code, stdout } = run(['--json', '--llm-mock', mock, 'work.harn']);
    expect(code).toBe(0);
    expect(results(stdout)).toEqual([
      'Error: it broke',
      expect.stringMatching(/^Error: MCP server one: .*closed/i),
      'back',
      expect.stringMatching(/^Error: MCP server one: .*timed out/i),
      'Error: unknown tool one__nothing',
    ]);
  });

  test('a server over HTTP that is gone is an error of the tool', async () => {
    const url = await startHttp();
    script(`[{name: "two", url: "${url}", headers: {Authorization: "Bearer mcp-canary-77"}}]`);
    const mock = turns(call('two__echo', { message: 'a' }), call('two__die'), call('two__echo', { message: 'b' }), { text: 'end' });
    const { code, stdout } = run(['--json', '--llm-mock', mock, 'work.harn']);
    expect(code).toBe(0);
    const gone = expect.stringMatching(/^Error: MCP server two: /);
    expect(results(stdout)).toEqual(['a', gone, gone]);
  });

  test('a server that cannot be started is told, and the loop goes on without it', () => {
    script('[{name: "gone", command: "./no-such-server"}]');
    const { code, stdout } = run(['--json', '--llm-mock', turns({ text: 'end' }), 'work.harn']);
    expect(code).toBe(0);
    expect(stdout).toContain('"mcp_server_error"');
    expect(stdout).toContain('MCP server gone: ');
    const shown = run(['--llm-mock', turns({ text: 'end' }), 'work.harn']);
    expect(shown.stderr).toMatch(/^harn: MCP server gone: .*no-such-server.*\nharn: the loop goes on without the tools of gone\n$/s);
  });

  test('a server that is required ends the loop before its first turn', () => {
    script('[{name: "gone", command: "./no-such-server", required: true}]');
    const { code, stderr } = run(['--llm-mock', turns({ text: 'end' }), 'work.harn']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('MCP server gone: ');
  });

  test('a server of harn.toml goes by its name', () => {
    world.write('harn.toml', `[[mcp]]\nname = "mine"\ncommand = "${process.execPath}"\nargs = ["${SERVER}"]\n`);
    script('["mine"]');
    const { stdout } = run(['--json', '--llm-mock', turns(call('mine__echo', { message: 'a' }), { text: 'end' }), 'work.harn']);
    expect(results(stdout)).toEqual(['a']);
  });

  test('nothing of the SDK is read before it is needed', () => {
    const dist = join(ROOT, 'dist', readFileSync(join(ROOT, 'dist/current'), 'utf8'));
    const holders = readdirSync(dist).filter(
      (name) => name.endsWith('.cjs') && readFileSync(join(dist, name), 'latin1').includes('notifications/initialized'),
    );
    expect(holders.sort()).toEqual(['mcp-client.cjs', 'mcp-server.cjs']);
  });
});

describe('a parked loop', () => {
  const PARK = [call('one__echo', { message: 'a' }), call('agent_await_resumption', { reason: 'a decision' })];

  function park(env?: string): string {
    script(`[${stdio('one', '', env)}]`);
    expect(run(['--llm-mock', turns(...PARK), 'work.harn'])).toMatchObject({ code: 0, stdout: 'status: suspended\n' });
    return world.snapshots()[0] ?? '';
  }

  test('holds no process, and its tools are bound again with the first call', () => {
    const snapshot = park();
    expect(log().map((line) => line.split(' ')[0])).toEqual(['start', 'call', 'end']);
    const mock = turns(call('one__echo', { message: 'b' }), { text: 'end' });
    const { code, stdout } = run(['--resume', snapshot, '--json', '--llm-mock', mock]);
    expect(code).toBe(0);
    expect(results(stdout)).toEqual(['b']);
    expect(log().map((line) => line.split(' ')[0])).toEqual(['start', 'call', 'end', 'start', 'call', 'end']);
  });

  test('needs no server when it does not call one', () => {
    const snapshot = park();
    expect(run(['--resume', snapshot, '--llm-mock', turns({ text: 'end' })])).toMatchObject({ code: 0 });
    expect(log().filter((line) => line.startsWith('start'))).toHaveLength(1);
  });

  test('keeps names of variables and no values', () => {
    // The tool itself gives the value away, which is the server's doing.
    const snapshot = park(`{MCP_SECRET: "mcp-canary-42", MCP_LOG: "${join(world.folder, 'mcp.log')}"}`);
    const saved = JSON.parse(readFileSync(snapshot, 'utf8')) as { config: { spec: { options: { mcp_servers: { env: unknown }[] } } } };
    expect(saved.config.spec.options.mcp_servers[0]?.env).toEqual(['MCP_LOG', 'MCP_SECRET']);
    expect(JSON.stringify(saved.config)).not.toContain('canary');
    const mock = turns(call('one__echo', { message: 'b' }), { text: 'end' });
    const { stdout } = run(['--resume', snapshot, '--json', '--llm-mock', mock], { MCP_SECRET: 'again' });
    expect(results(stdout)).toEqual(['b again']);
  });

  test('keeps no header, and takes those of the environment again', async () => {
    const url = await startHttp();
    const headers = (key: string): string => `[{name: "two", url: "${url}", ${key}}]`;
    const mock = [call('two__echo', { message: 'a' }), call('agent_await_resumption', { reason: 'a decision' })];
    script(headers('headers: {Authorization: "Bearer mcp-canary-77"}'));
    expect(run(['--llm-mock', turns(...mock), 'work.harn'])).toMatchObject({ code: 0 });
    expect(readFileSync(world.snapshots()[0] ?? '', 'utf8').split('"source"')[0]).not.toContain('"Bearer');
    const [first = ''] = world.snapshots();
    const lost = run(['--resume', first, '--json', '--llm-mock', turns(call('two__echo', { message: 'b' }), { text: 'end' })]);
    expect(results(lost.stdout)).toEqual([expect.stringMatching(/^Error: MCP server two: /)]);

    script(headers('headers_env: {Authorization: "WIKI"}'));
    expect(run(['--llm-mock', turns(...mock), 'work.harn'], { WIKI: 'Bearer mcp-canary-77' })).toMatchObject({ code: 0 });
    const second = world.snapshots().find((path) => path !== first) ?? '';
    expect(readFileSync(second, 'utf8')).not.toContain('canary');
    const again = turns(call('two__echo', { message: 'b' }), { text: 'end' });
    const resumed = run(['--resume', second, '--json', '--llm-mock', again], { WIKI: 'Bearer mcp-canary-77' });
    expect(results(resumed.stdout)).toEqual(['b']);
  });

  test('is told when the server offers other tools than before', () => {
    const snapshot = park('["MCP_LOG", "MCP_TOOLS"]');
    const mock = turns(call('one__echo', { message: 'b' }), { text: 'end' });
    const { stdout } = run(['--resume', snapshot, '--json', '--llm-mock', mock], { MCP_TOOLS: 'later' });
    expect(stdout).toContain('"mcp_tools_changed"');
    expect(stdout).toContain('"later"');
  });
});

test('a server that cannot be started is told of by name', () => {
  world.write('none.harn', 'try { mcp_connect("no-such-program-anywhere") } catch (e) { println(e) }');
  expect(run(['none.harn']).stdout).toContain('mcp_connect: failed to spawn the server: No such file or directory');
});

describe('a tool that has to ask', () => {
  const SURE: readonly (readonly [input: readonly string[], outcome: string])[] = [
    [['--', 'yes'], 'sent 7'],
    [['--', '{"sure": false}'], 'accept: kept 7'],
    [[], 'cancel: kept 7'],
  ];
  test.each(SURE)('parks the loop, and %j goes back to a new process of the server', (input, outcome) => {
    script(`[{name: "bank", command: "${process.execPath}", args: ["${SERVER}", "--modern"], env: ["MCP_LOG"], protocol: "2026-07-28"}]`);
    const { code, stdout, stderr } = run(['--llm-mock', turns(call('bank__transfer', { amount: 7 })), 'work.harn']);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: 'status: suspended\n' });
    expect(stderr).toContain('MCP server bank asks: Send 7?');
    const started = log().filter((line) => line.startsWith('start')).length;
    expect(log().filter((line) => line.startsWith('end'))).toHaveLength(started);
    const mock = turns({ text: 'end' });
    const resumed = run(['--resume', world.snapshots()[0] ?? '', '--json', '--llm-mock', mock, ...input]);
    expect(resumed).toMatchObject({ code: 0 });
    expect(results(resumed.stdout)).toEqual([outcome]);
    expect(resumed.stdout).toContain(`\\"result\\":\\"${outcome}\\"`);
  });

  test('may ask again: the loop parks once more, and the model is asked only when the tool is done', () => {
    script(`[{name: "shop", command: "${process.execPath}", args: ["${SERVER}", "--modern"], env: ["MCP_LOG"], protocol: "2026-07-28"}]`);
    expect(run(['--llm-mock', turns(call('shop__wizard')), 'work.harn'])).toMatchObject({ code: 0, stdout: 'status: suspended\n' });
    const [snapshot = ''] = world.snapshots();
    const none = turns();
    const second = run(['--resume', snapshot, '--llm-mock', none, '--', 'red']);
    expect(second.code).toBe(0);
    expect(second.stderr).toContain('MCP server shop asks: Which size?');
    const third = run(['--resume', snapshot, '--json', '--llm-mock', turns({ text: 'end' }), '--', 'large']);
    expect(third.code).toBe(0);
    expect(third.stdout).toContain('\\"result\\":\\"made red and large\\"');
    expect(log().filter((line) => line === 'call wizard')).toHaveLength(3);
  });

  test('is not alone: calls of one turn are answered one after the other, each by a resume of its own', () => {
    script(`[{name: "bank", command: "${process.execPath}", args: ["${SERVER}", "--modern"], env: ["MCP_LOG"], protocol: "2026-07-28"}]`);
    const both = { tool_calls: [7, 8].map((amount) => ({ name: 'bank__transfer', arguments: { amount } })) };
    const first = run(['--llm-mock', turns(both), 'work.harn']);
    expect(first.stderr).toContain('MCP server bank asks: Send 7?');
    const [snapshot = ''] = world.snapshots();
    const second = run(['--resume', snapshot, '--llm-mock', turns(), '--', 'yes']);
    expect(second.stderr).toContain('MCP server bank asks: Send 8?');
    const third = run(['--resume', snapshot, '--json', '--llm-mock', turns({ text: 'end' }), '--', 'no']);
    expect(results(third.stdout)).toEqual(['accept: kept 8']);
    const { messages } = JSON.parse(readFileSync(snapshot, 'utf8')).transcript as { messages: { content: string }[] };
    expect(JSON.stringify(messages)).toContain('sent 7');
  });
});

test('a call of a script takes no longer than the server may', () => {
  const spec = `{name: "it", command: "${process.execPath}", args: ["${SERVER}"], timeout_ms: 700}`;
  world.write('use.harn', `let client = mcp_connect(${spec})\ntry { mcp_call(client, "hang") } catch (e) { println(e) }\n`);
  expect(run(['use.harn']).stdout).toBe('mcp_call: the call timed out after 700 ms (timeout_ms)\n');
});

test('a script uses a server itself', () => {
  world.write(
    'use.harn',
    `let client = mcp_connect("${process.execPath}", ["${SERVER}"])
println(type_of(client))
println(mcp_list_tools(client).map({ one -> one.name }))
println(mcp_call(client, "echo", {message: "hi"}))
println(mcp_call(client, "structured").n)
try { mcp_call(client, "fail") } catch (e) { println(e) }
println(mcp_read_resource(client, "memo://a"))
println(mcp_get_prompt(client, "greet", {who: "you"}).messages[0].content.text)
let info = mcp_server_info(client)
println("\${info.name} \${info.version} \${info.connected}")
mcp_disconnect(client)
println(mcp_server_info(client).connected)
`,
  );
  const { code, stdout } = run(['use.harn']);
  expect({ code, lines: stdout.trim().split('\n') }).toEqual({
    code: 0,
    lines: [
      'mcp_client',
      '[echo, structured, fail, hang, die]',
      'hi',
      '1',
      'it broke',
      'text of memo://a',
      'hello you',
      'test-server 1.2.3 true',
      'false',
    ],
  });
});
