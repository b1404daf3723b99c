import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';
import { mockFile } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

/** A tool that goes on when the file `go` is there, which is after the signal, and then runs `code`. */
const waitingTool = (code: string): string => `let options = {provider: "mock", tool_format: "native"}
tool slow() -> string {
  println("in the tool")
  while !file_exists("go") { sleep(1) }
  ${code}
  return "late"
}
`;

async function stopped(script: string): Promise<{ readonly code: number | null; readonly stdout: string; readonly snapshot: string }> {
  world.write('work.harn', script);
  const run = world.start([
    'run',
    'work.harn',
    '--llm-mock',
    mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'slow' }] }, { text: 'end' }]),
  ]);
  await run.saw('in the tool');
  run.child.kill('SIGTERM');
  await run.saw('received, parking at the next turn boundary');
  world.write('go', '');
  const { code, stdout } = await run.ended;
  const [path = ''] = world.snapshots();
  return { code, stdout, snapshot: readFileSync(path, 'utf8') };
}

describe('T42 once a signal has asked for parks', () => {
  test.each([
    ['wait_agent', 'let w = sub_agent_run("work", options + {tools: slow, background: true})\nwait_agent(w)'],
    ['wait_agent with a list', 'let w = sub_agent_run("work", options + {tools: slow, background: true})\nwait_agent([w])'],
    ['sub_agent_run', 'sub_agent_run("work", options + {tools: slow})'],
    ['spawn_agent', 'spawn_agent({task: "work", options: options + {tools: slow}, wait: true})'],
    ['agent_loop', 'agent_loop("work", nil, options + {tools: slow})'],
  ])('nothing behind %s runs', async (_name, code) => {
    const { stdout, snapshot } = await stopped(`${waitingTool('')}
try { defer { println("deferred") }; ${code}; println("behind") } finally { println("finally") }
`);
    expect(stdout).toBe('in the tool\n');
    expect(JSON.parse(snapshot)).toMatchObject({ status: 'suspended', suspension: { reason: 'signal SIGTERM', initiator: 'operator' } });
  });

  test.each([
    ['agent_loop', 'agent_loop("more", nil, options)'],
    ['sub_agent_run', 'sub_agent_run("more", options)'],
    ['spawn_agent', 'spawn_agent({task: "more", options: options})'],
  ])('%s starts nothing in a tool, whose turn settles', async (_name, code) => {
    const { code: exitCode, snapshot } = await stopped(`${waitingTool(code)}agent_loop("work", nil, options + {tools: slow})\n`);
    expect(exitCode).toBe(143);
    expect(world.snapshots()).toHaveLength(1);
    expect(snapshot).toContain('nothing starts any more, a signal stops this process');
  });

  test('agent_loop starts nothing beside a loop', async () => {
    const { stdout } = await stopped(`${waitingTool('')}
spawn { while !file_exists("go") { sleep(1) }; agent_loop("more", nil, options); println("behind") }
agent_loop("work", nil, options + {tools: slow})
`);
    expect(stdout).toBe('in the tool\n');
    expect(world.snapshots()).toHaveLength(1);
  });
});
