import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, ROOT } from './harn.ts';

/** A script as a server of the Model Context Protocol, asked by clients that are scripts as well. */
const HARN = join(ROOT, 'bin/harn.js');

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
  world.write('offer.harn', OFFER);
});
afterEach(() => world.remove());

const OFFER = `
pipeline default() {
  println("printed while the script ran")
  var tools = tool_registry()
  tools = tool_define(tools, "greet", "Greets somebody", {
    parameters: {name: "string", mark: {type: "string", default: "!"}},
    annotations: {readOnlyHint: true},
    handler: { args ->
      println("printed by a handler")
      "Hello, \${args.name}\${args.mark}"
    },
  })
  tools = tool_define(tools, "sum", "Adds", {
    parameters: {a: "int", b: "int"},
    returns: {type: "object", properties: {sum: {type: "integer"}}},
    handler: { args -> {sum: args.a + args.b} },
  })
  tools = tool_define(tools, "fail", "Fails", {handler: { args -> throw "it broke" }})
  mcp_tools(tools)
  mcp_resource({uri: "docs://readme", name: "README", mime_type: "text/markdown", text: "# Hello"})
  mcp_resource_template({uri_template: "config://{key}", name: "Configuration", handler: { args -> "value of \${args.key}" }})
  mcp_prompt({
    name: "review",
    description: "Review code",
    arguments: [{name: "code", required: true}],
    handler: { args -> [{role: "user", content: "Review: \${args.code}"}, {role: "assistant", content: "Gladly."}] },
  })
}
`;

/** Runs a script whose variable \`client\` is connected to the server. @returns what it printed */
function ask(body: string, options = ''): string[] {
  const args = `["${HARN}", "serve", "mcp", "${join(world.folder, 'offer.harn')}"]`;
  world.write(
    'use.harn',
    `let client = mcp_connect({command: "${process.execPath}", args: ${args}${options}})\n${body}\nmcp_disconnect(client)\n`,
  );
  const { code, stdout, stderr } = world.harn(['run', 'use.harn']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim().split('\n');
}

const TRY = 'fn try_it(f) { try { println(f()) } catch (e) { println("E ${e}") } }\n';

describe('harn serve mcp', () => {
  test.each([
    ['clients of 2025', ''],
    ['clients of 2026', ', protocol: "2026-07-28"'],
  ])('tools, for %s', (_who, options) => {
    const lines = ask(
      `${TRY}println(mcp_list_tools(client).map({ one -> one.name }))
println(mcp_list_tools(client)[0].inputSchema.required)
println(mcp_call(client, "greet", {name: "you"}))
println(mcp_call(client, "sum", {a: 3, b: 4}).sum)
try_it({ -> mcp_call(client, "fail") })
try_it({ -> mcp_call(client, "greet") })
try_it({ -> mcp_call(client, "nope") })`,
      options,
    );
    expect(lines).toEqual([
      '[greet, sum, fail]',
      '[name]',
      'Hello, you!',
      '7',
      'E it broke',
      'E invalid arguments: greet: missing required field `name`',
      expect.stringContaining('no tool nope'),
    ]);
  });

  test('resources, texts made from their address, and prompts', () => {
    const lines = ask(`${TRY}println(mcp_list_resources(client).map({ one -> one.uri }))
println(mcp_read_resource(client, "docs://readme"))
println(mcp_read_resource(client, "config://colour"))
try_it({ -> mcp_read_resource(client, "other://x") })
println(mcp_list_prompts(client)[0].arguments[0].name)
println(mcp_get_prompt(client, "review", {code: "x"}).messages.map({ m -> "\${m.role}: \${m.content.text}" }))
try_it({ -> mcp_get_prompt(client, "review") })`);
    expect(lines).toEqual([
      '[docs://readme]',
      '# Hello',
      'value of colour',
      expect.stringContaining('no resource other://x'),
      'code',
      '[user: Review: x, assistant: Gladly.]',
      expect.stringContaining('needs the argument code'),
    ]);
  });

  test('standard output holds the protocol alone; the end of the input is the end', () => {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
    const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`;
    const { code, stdout, stderr } = world.harn(['serve', 'mcp', 'offer.harn'], { input });
    expect(code).toBe(0);
    for (const line of stdout.split('\n').filter((one) => one !== '')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
    expect(stderr).toContain('printed while the script ran');
  });

  test('a script that offers nothing, one that fails, and another protocol are refused', () => {
    world.write('none.harn', 'println("hi")\n');
    const none = world.harn(['serve', 'mcp', 'none.harn']);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('the script offers nothing to serve; call mcp_tools');
    world.write('bad.harn', 'mcp_serve("not a registry")\n');
    const bad = world.harn(['serve', 'mcp', 'bad.harn']);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain('mcp_serve: argument must be a tool registry');
    expect(world.harn(['serve', 'http', 'none.harn'])).toMatchObject({ code: 2 });
  });

  test('what is offered is checked when it is', () => {
    const rows = [
      ['mcp_resource({name: "a", text: "b"})', 'mcp_resource: config needs `uri`, a string'],
      ['mcp_resource_template({uri_template: "a://{b}", name: "c"})', 'mcp_resource_template: config needs `handler`, a function'],
      ['mcp_prompt({handler: { a -> "" }})', 'mcp_prompt: config needs `name`, a string'],
    ] as const;
    world.write('bad.harn', rows.map(([code]) => `try { ${code} } catch (e) { println(e) }\n`).join(''));
    expect(world.harn(['run', 'bad.harn']).stdout.trim().split('\n')).toEqual(rows.map(([, message]) => message));
  });

  test('nothing of the SDK is read before it is needed', () => {
    const dist = join(ROOT, 'dist', readFileSync(join(ROOT, 'dist/current'), 'utf8'));
    const holders = readdirSync(dist).filter(
      (name) => name.endsWith('.cjs') && readFileSync(join(dist, name), 'latin1').includes('StdioServerTransport'),
    );
    expect(holders).toEqual(['mcp-server.cjs']);
  });
});
