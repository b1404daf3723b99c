import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, events } from './harn.ts';
import { FINISHES, mockFile, parkedLoop } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

interface Saved {
  readonly status: string;
  readonly transcript: { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
}

const saved = (path: string): Saved => JSON.parse(readFileSync(path, 'utf8')) as Saved;
const texts = (path: string): unknown[] => saved(path).transcript.messages.map(({ content }) => content);
const finish = (): string => mockFile(world, 'finish.jsonl', FINISHES);

describe('over processes', () => {
  test('R3: another process goes on where the first one stopped, with all of its turns', () => {
    const snapshot = parkedLoop(world);
    const before = texts(snapshot);
    expect(before).toEqual(['work', '', 'noted', '', expect.stringContaining('agent_await_resumption was not dispatched')]);
    expect(world.harn(['run', '--resume', snapshot, '--llm-mock', finish(), '--', 'go on'])).toMatchObject({ code: 0 });
    expect(saved(snapshot).status).toBe('completed');
    expect(texts(snapshot)).toEqual([...before, 'go on', '', 'noted', 'all done']);
  });

  test('R97: the command line and a script give the same transcript', () => {
    const snapshot = parkedLoop(world);
    const copy = join(world.folder, 'elsewhere/.harn/workers', snapshot.split('/').at(-1) as string);
    world.write('elsewhere/.harn/workers/keep', '');
    copyFileSync(snapshot, copy);
    const script = `println(wait_agent(resume_agent("${snapshot}", "go on")).status)`;
    expect(world.harn(['run', '-e', script, '--llm-mock', finish()])).toMatchObject({ code: 0, stdout: 'noted second\ncompleted\n' });
    const other = new CliWorld();
    try {
      const moved = join(other.folder, 'worker.json');
      copyFileSync(copy, moved);
      expect(other.harn(['run', '--resume', moved, '--llm-mock', finish(), '--', 'go on'])).toMatchObject({ code: 0 });
      expect(texts(moved)).toEqual(texts(snapshot));
    } finally {
      other.remove();
    }
  });

  test('R96: a resume by the command line has each hook once, and so has the park that follows it', () => {
    world.write(
      'watch.harn',
      `fn watch() {
  for name in ["pre_suspend", "post_suspend", "pre_resume", "post_resume"] {
    register_session_hook(name, { e -> append_file(env_or("EFFECTS", ""), "\${e.event}\\n") })
  }
  return true
}
let is_watching = watch()
pub fn watched() { return is_watching }
`,
    );
    const park = { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] };
    world.write('work.harn', 'import { watched } from "./watch"\nagent_loop("work", nil, {provider: "mock", tool_format: "native"})\n');
    world.harn(['run', 'work.harn', '--llm-mock', mockFile(world, 'a.jsonl', [park])]);
    expect(world.read('effects')).toBe('PreSuspend\nPostSuspend\n');
    const [snapshot = ''] = world.snapshots();
    expect(world.harn(['run', '--resume', snapshot, '--llm-mock', mockFile(world, 'b.jsonl', [park])])).toMatchObject({ code: 0 });
    expect(world.read('effects')).toBe('PreSuspend\nPostSuspend\nPreResume\nPostResume\nPreSuspend\nPostSuspend\n');
  });

  test('T33: what was denied stays denied, from another folder and with the project gone', () => {
    world.write(
      'project/work.harn',
      `tool erase() -> string {
  append_file(env_or("EFFECTS", ""), "erased\\n")
  return "erased"
}
agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: erase, permissions: {deny: ["erase"]}})
`,
    );
    const park = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] }]);
    const env = { HARN_STATE_DIR: join(world.folder, '.harn') };
    expect(world.harn(['run', 'project/work.harn', '--llm-mock', park], { env })).toMatchObject({ code: 0 });
    rmSync(join(world.folder, 'project'), { recursive: true });
    const [snapshot = ''] = world.snapshots();
    const tries = mockFile(world, 'b.jsonl', [{ tool_calls: [{ name: 'erase' }] }, { text: 'end' }]);
    expect(world.harn(['run', '--resume', snapshot, '--llm-mock', tries], { cwd: '/' })).toMatchObject({ code: 0, stdout: 'end\n' });
    expect(String(texts(snapshot).at(-2))).toContain('permission_denied');
    expect(readdirSync(world.folder)).not.toContain('effects');
  });
});

describe('T41: each refusal of a resume ends with 1 and its code, and parks are told from ends by their value', () => {
  test.each([
    ['HARN-SUS-003', 'done', (snapshot: string) => ['--resume', snapshot]],
    ['HARN-SUS-004', 'parked', (snapshot: string) => ['--resume', `${snapshot}.nothing.json`]],
    ['HARN-SUS-004', 'parked', (snapshot: string) => ['--resume', snapshot, '--suspension', 'susp_older']],
    ['HARN-SUS-009', 'parked', (snapshot: string) => ['--resume', snapshot, '--', ' ']],
    ['HARN-SUS-010', 'closed', (snapshot: string) => ['--resume', snapshot]],
  ])('%s of a worker that is %s', (code, state, args) => {
    const snapshot = parkedLoop(world);
    if (state === 'done') world.harn(['run', '--resume', snapshot, '--llm-mock', finish()]);
    if (state === 'closed') world.harn(['run', '-e', `close_agent("${snapshot.split('/').at(-1)?.replace('.json', '')}")`]);
    const before = readFileSync(snapshot);
    const refused = world.harn(['run', '--json', '--llm-mock', finish(), ...args(snapshot)]);
    expect(refused.code).toBe(1);
    expect(events(refused.stdout).at(-1)).toMatchObject({ ok: false, error: { code } });
    expect(readFileSync(snapshot).equals(before)).toBe(true);
  });

  test.each([
    [
      'HARN-SUS-001',
      'llm_mock({text: "x"})\nlet h = spawn_agent({task: "x", options: {provider: "mock"}})\nwait_agent(h)\nsuspend_agent(h, "r")',
    ],
    ['HARN-SUS-002', 'parse_resume_conditions({timeout: 5})'],
    ['HARN-SUS-005', 'agent_await_resumption(" ")'],
    ['HARN-SUS-008', 'parse_resume_conditions({timeout: {duration_minutes: 1, on_timeout: "retry"}})'],
  ])('an uncaught %s of a script ends with 1 and its code', (code, script) => {
    const plain = world.harn(['run', '-e', script]);
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining(`${code}: `)]);
    const machine = world.harn(['run', '--json', '-e', script]);
    expect([machine.code, events(machine.stdout).at(-1)]).toMatchObject([1, { ok: false, data: { exit_code: 1 }, error: { code } }]);
  });

  test('a park and an end both end with 0; the value says which', () => {
    const snapshot = parkedLoop(world);
    const again = mockFile(world, 'again.jsonl', [{ tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'more' } }] }]);
    const parked = world.harn(['run', '--json', '--resume', snapshot, '--llm-mock', again]);
    expect([parked.code, events(parked.stdout).at(-1)?.data]).toMatchObject([0, { event_type: 'result', value: { status: 'suspended' } }]);
    const done = world.harn(['run', '--json', '--resume', snapshot, '--llm-mock', finish()]);
    expect([done.code, events(done.stdout).at(-1)?.data]).toMatchObject([0, { event_type: 'result', value: { status: 'completed' } }]);
  });
});

/** An OpenAI server that leaves its first request without an answer and says `end` to all others. */
async function slowModel(): Promise<{ readonly server: Server; readonly env: NodeJS.ProcessEnv; readonly asked: Promise<void> }> {
  let hear = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    hear = resolve;
  });
  let count = 0;
  const server = createServer((_request, response) => {
    hear();
    if (++count === 1) return;
    const chunk = { model: 'm', choices: [{ delta: { content: 'end' }, finish_reason: 'stop' }] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
  return { server, env, asked };
}

const workerOnDisk = (): string =>
  readdirSync(join(world.folder, '.harn/workers'))
    .find((name) => name.endsWith('.journal.jsonl'))
    ?.replace('.journal.jsonl', '') ?? '';

describe.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('D8 T42: %s', (signal, exitCode) => {
  test('in a model call that does not end is not billed as a turn; the loop can be resumed', async () => {
    const model = await slowModel();
    try {
      world.write('work.harn', 'agent_loop("work", nil, {provider: "openai", model: "m"})\nprintln("never")\n');
      const run = world.start(['run', 'work.harn'], { ...model.env, HARN_SIGNAL_GRACE_MS: '50' });
      await model.asked;
      run.child.kill(signal);
      const { code, stdout, stderr } = await run.ended;
      expect([code, stdout]).toEqual([exitCode, '']);
      const id = workerOnDisk();
      expect(stderr).toContain(`harn: ${signal} received, parking at the next turn boundary`);
      expect(stderr).toContain(id);
      expect(world.read(`.harn/workers/${id}.journal.jsonl`)).toContain(`"reason":"signal ${signal}"`);
      const resumed = await world.start(['run', '--resume', id, '--json'], model.env).ended;
      const last = events(resumed.stdout).at(-1)?.data as { value?: { status?: string; result?: { llm?: { iterations?: number } } } };
      expect(last.value).toMatchObject({ status: 'completed', result: { summary: 'end', llm: { iterations: 1 } } });
    } finally {
      model.server.closeAllConnections();
      await new Promise((resolve) => model.server.close(resolve));
    }
  });

  test.each([['once'], ['twice']])(
    '%s in a tool that never ends leaves the last durable state, and the call is unknown afterwards',
    async (times) => {
      world.write(
        'work.harn',
        `tool stuck() -> string {
  println("in the tool")
  sleep(600000)
  return "late"
}
agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: stuck})
println("never")
`,
      );
      const calls = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'stuck' }] }]);
      const grace = times === 'once' ? '50' : '60000';
      const run = world.start(['run', '--json', 'work.harn', '--llm-mock', calls], { HARN_SIGNAL_GRACE_MS: grace });
      await run.saw('in the tool');
      run.child.kill(signal);
      if (times === 'twice') {
        await run.saw('parking at the next turn boundary');
        run.child.kill(signal);
      }
      const { code, stdout } = await run.ended;
      expect(code).toBe(exitCode);
      const id = workerOnDisk();
      if (times === 'once') {
        const terminal = events(stdout).filter(({ data }) => data.event_type === 'error' || data.event_type === 'result');
        expect(terminal).toMatchObject([{ ok: false, error: { code: 'signal', details: { signal, worker_ids: [id] } } }]);
        expect(terminal[0]).toEqual(events(stdout).at(-1));
      }
      const end = mockFile(world, 'b.jsonl', [{ text: 'end' }]);
      expect(world.harn(['run', '--resume', id, '--llm-mock', end])).toMatchObject({ code: 0, stdout: 'end\n' });
      expect(texts(join(world.folder, '.harn/workers', `${id}.json`))).toContain(
        'Error: stuck was interrupted; its outcome is unknown. It may or may not have taken effect.',
      );
    },
  );

  test('where a hook refuses the park leaves the loop interrupted, with an audit', async () => {
    world.write(
      'work.harn',
      `register_session_hook("pre_suspend", { e -> {decision: "deny", reason: "not now"} })
tool stuck() -> string {
  println("in the tool")
  sleep(600000)
  return "late"
}
agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: stuck})
`,
    );
    const calls = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'stuck' }] }]);
    const run = world.start(['run', 'work.harn', '--llm-mock', calls], { HARN_SIGNAL_GRACE_MS: '50' });
    await run.saw('in the tool');
    run.child.kill(signal);
    expect((await run.ended).code).toBe(exitCode);
    expect(world.read('.harn/events/pipeline.lifecycle.audit.jsonl')).toContain('"pre_suspend_denied"');
    expect(workerOnDisk()).toMatch(/^worker_/);
  });
});

describe('T35: a disk that refuses, with real files', () => {
  test('files that may not grow: the loop is told that it could not be parked, goes on and ends, and nothing half is left', () => {
    world.write(
      'work.harn',
      `tool big() -> string { return "x".repeat(100000) }
let r = agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: big})
println(r.status)
`,
    );
    const answers = mockFile(world, 'a.jsonl', [
      { tool_calls: [{ name: 'big' }] },
      { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] },
      { text: 'went on' },
    ]);
    world.harn(['run', '-e', '1']);
    const limited = world.limited(['run', 'work.harn', '--llm-mock', answers], { fileBytes: 32 * 1024 });
    expect([limited.code, limited.stdout]).toEqual([0, 'done\n']);
    expect(limited.stderr).toContain('only parks and ends are durable');
    expect(limited.stderr).toContain('EFBIG');
    expect(limited.stderr).not.toContain('resume with');
    expect(readdirSync(join(world.folder, '.harn/workers'))).toEqual([]);
    expect(world.harn(['run', 'work.harn', '--llm-mock', answers])).toMatchObject({ code: 0, stdout: 'suspended\n' });
  });

  test('a state folder that is a file: the loop runs, nothing is called parked, and the message names it', () => {
    world.write('.harn', 'not a folder');
    world.write('work.harn', 'let r = agent_loop("work", nil, {provider: "mock", tool_format: "native"})\nprintln(r.status)\n');
    const park = mockFile(world, 'a.jsonl', [
      { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] },
      { text: 'went on' },
    ]);
    const { code, stdout, stderr } = world.harn(['run', 'work.harn', '--llm-mock', park]);
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(stderr).toContain('.harn');
    expect(stderr).not.toContain('resume with');
    expect(readFileSync(join(world.folder, '.harn'), 'utf8')).toBe('not a folder');
  });
});
