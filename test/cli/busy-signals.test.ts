import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, events } from './harn.ts';
import { mockFile } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const LOOP = 'provider: "mock", tool_format: "native"';
const NODE_OPTIONS = `--import=${join(import.meta.dirname, 'tell-listeners.mjs')}`;
const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => world.start(args, { NODE_OPTIONS, ...env });
const journals = (): string[] => readdirSync(join(world.folder, '.harn/workers')).filter((name) => name.endsWith('.journal.jsonl'));

/** Code that keeps the thread, and what a tool of the model calls. */
const BUSY: readonly (readonly [string, string])[] = [
  ['a loop', 'while true {}'],
  ['recursion', 'fn fall(n) { if n > 0 { fall(n - 1); fall(n - 1) } }\nfall(50)'],
  ['functions called by a builtin', 'while true { [1, 2, 3].map({ x -> x + 1 }) }'],
  ['waits that are over at once', 'while true { await(spawn { 1 }) }'],
];

describe('T42 a signal while code keeps the thread', () => {
  test.each(BUSY)('after the loops have ended, in %s: ends the process at once', async (_what, code) => {
    world.write('work.harn', `agent_loop("work", nil, {${LOOP}})\nprintln("busy")\n${code}\n`);
    const run = start(['run', 'work.harn']);
    await run.saw('[deaf]');
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ signal: 'SIGTERM', stdout: 'busy\n' });
  });

  test('in a tool: what the journal has is resumed', async () => {
    world.write(
      'work.harn',
      `tool spin() -> string { println("busy"); while true {} }
agent_loop("work", nil, {${LOOP}, tools: spin})
`,
    );
    const run = start(['run', 'work.harn', '--llm-mock', mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'spin' }] }])]);
    await run.saw('[deaf]');
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ signal: 'SIGINT' });
    const [journal = ''] = journals();
    const end = mockFile(world, 'b.jsonl', [{ text: 'end' }]);
    expect(world.harn(['run', '--resume', journal.replace('.journal.jsonl', ''), '--llm-mock', end])).toMatchObject({
      code: 0,
      stdout: 'end\n',
    });
  });

  test('is heard again once the code waits', async () => {
    world.write(
      'work.harn',
      `tool spin() -> string {
  while !file_exists("go") {}
  sleep(600000)
  return "late"
}
agent_loop("work", nil, {${LOOP}, tools: spin})
`,
    );
    const calls = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'spin' }] }]);
    const run = start(['run', 'work.harn', '--llm-mock', calls], { HARN_SIGNAL_GRACE_MS: '0' });
    await run.saw('[deaf]');
    world.write('go', '');
    await run.saw('[deaf]\n[listens]');
    run.child.kill('SIGTERM');
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([143, expect.stringContaining('harn: agent interrupted')]);
  });

  /** The first signal comes while the tool waits; then it keeps the thread for good. */
  const TOOL = `tool spin() -> string {
  println("waits")
  while !file_exists("go") { sleep(1) }
  println("busy")
  while true {}
}
agent_loop("work", nil, {${LOOP}, tools: spin})
`;

  test('the second one ends the process at once, whatever grace time the first one gave', async () => {
    world.write('work.harn', TOOL);
    const calls = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'spin' }] }]);
    const run = start(['run', 'work.harn', '--llm-mock', calls], { HARN_SIGNAL_GRACE_MS: '600000' });
    await run.saw('waits');
    run.child.kill('SIGTERM');
    await run.saw('received, parking at the next turn boundary');
    world.write('go', '');
    await run.saw('[deaf]');
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ signal: 'SIGTERM' });
  });

  test.each([[[]], [['--json']]])('the grace time of the first one ends it too %j', async (options) => {
    world.write('work.harn', TOOL);
    const calls = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'spin' }] }]);
    const run = start(['run', ...options, 'work.harn', '--llm-mock', calls], { HARN_SIGNAL_GRACE_MS: '1500' });
    await run.saw('waits');
    run.child.kill('SIGTERM');
    await run.saw('received, parking at the next turn boundary');
    world.write('go', '');
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(143);
    expect(world.read(`.harn/workers/${journals()[0]}`)).toContain('"reason":"signal SIGTERM"');
    if (options.length === 0) expect(stderr).toContain('harn: agent interrupted');
    else expect(events(stdout).at(-1)).toMatchObject({ error: { code: 'signal', details: { signal: 'SIGTERM' } } });
  });
});
