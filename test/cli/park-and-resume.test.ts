import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, events, ROOT } from './harn.ts';
import { FINISHES, mockFile, PARKS, parkedLoop, SCRIPT } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const mock = (name: string, entries: readonly object[]): string => mockFile(world, name, entries);
const park = (): string => parkedLoop(world);
const finish = (): string => mock('finish.jsonl', FINISHES);

describe('a parked loop', () => {
  test('R83 leaves one file of mode 0600 and says how to go on', () => {
    const snapshot = park();
    expect(world.snapshots()).toHaveLength(1);
    expect(statSync(snapshot).mode & 0o777).toBe(0o600);
    world.write('again.harn', SCRIPT);
    const { stderr } = world.harn(['run', '--llm-mock', mock('park.jsonl', PARKS), 'again.harn']);
    expect(stderr).toMatch(
      /^harn: agent parked \(worker_[0-9a-f-]+\): needs a decision\nharn: resume with: harn run --resume \.harn\/workers\/worker_[0-9a-f-]+\.json\n$/,
    );
  });

  test('that cannot be written is told to the person too, and the loop goes on', () => {
    world.write('work.harn', SCRIPT);
    const args = ['run', '--llm-mock', mock('park.jsonl', [...PARKS, { text: 'then not' }]), 'work.harn'];
    const { code, stdout, stderr } = world.harn(args, { env: { HARN_SNAPSHOT_MAX_BYTES: '500' } });
    expect([code, stdout]).toEqual([0, 'noted first\nstatus: done\n']);
    expect(stderr).toMatch(
      /^harn: worker_\S+ could not be parked: suspend_agent: failed to persist snapshot \.harn\/workers\/worker_\S+\.json: it would have \d+ bytes, more than the limit of 500 \(HARN_SNAPSHOT_MAX_BYTES\)\n/,
    );
  });

  test('R36, R84: resumes from another directory, with its tools bound again', () => {
    const snapshot = park();
    const resumed = world.harn(['run', '--resume', snapshot, '--llm-mock', finish(), '--', 'go on'], { cwd: '/' });
    expect(resumed).toEqual({ code: 0, stdout: 'noted second\nall done\n', stderr: '' });
    expect(world.read('effects')).toBe('first\nsecond\n');
  });

  test('R85: the printed command works as printed, and from a folder below the project', () => {
    world.write('harn.toml', '');
    const snapshot = park();
    const below = join(world.folder, 'deep/er');
    world.write('deep/er/keep', '');
    const relative = snapshot.slice(world.folder.length + 1);
    expect(world.harn(['run', '--resume', relative, '--llm-mock', finish()], { cwd: below })).toMatchObject({ code: 0 });
  });

  test('R4: resumes on another machine: another folder, another home', () => {
    const snapshot = park();
    const other = new CliWorld();
    try {
      cpSync(join(world.folder, 'work.harn'), join(other.folder, 'work.harn'));
      cpSync(snapshot, join(other.folder, '.harn/workers', snapshot.split('/').at(-1) as string), { recursive: true });
      const mockFile = other.write('finish.jsonl', readFileSync(finish(), 'utf8'));
      expect(other.harn(['run', '--resume', other.snapshots()[0] as string, '--llm-mock', mockFile])).toMatchObject({
        code: 0,
        stdout: 'noted second\nall done\n',
      });
      expect(other.read('effects')).toBe('second\n');
    } finally {
      other.remove();
    }
  });

  test('R86: --json ends with the summary as the only terminal event', () => {
    const snapshot = park();
    const { code, stdout } = world.harn(['run', '--resume', snapshot, '--json', '--llm-mock', finish(), '--', 'go on']);
    expect(code).toBe(0);
    const lines = events(stdout);
    expect(lines.map(({ data }) => data.seq)).toEqual(lines.map((_, index) => index + 1));
    const terminal = lines.filter(({ data }) => data.event_type === 'result' || data.event_type === 'error');
    expect(terminal).toHaveLength(1);
    expect(terminal[0]).toBe(lines.at(-1));
    expect(terminal[0]?.data).toMatchObject({
      exit_code: 0,
      value: { status: 'completed', lifecycle_state: 'done', has_transcript: true },
    });
    expect(lines.find(({ data }) => data.event_type === 'tool_result')?.data).toMatchObject({ ok: true, result: 'noted' });
  });

  test('a retriggerable worker has done what was asked of it with the end of its cycle', () => {
    world.write(
      'spawner.harn',
      `pipeline main() {
        let worker = spawn_agent({name: "w", task: "work", options: {provider: "mock"}, carry: {retriggerable: true}})
        println(wait_agent(worker).status)
      }`,
    );
    expect(world.harn(['run', 'spawner.harn', '--llm-mock', mock('park.jsonl', PARKS)]).stdout).toBe('suspended\n');
    const resume = ['run', '--resume', world.snapshots()[0] as string];
    expect(world.harn([...resume, '--llm-mock', mock('end.jsonl', [{ text: 'the cycle is done' }])])).toEqual({
      code: 0,
      stdout: 'the cycle is done\n',
      stderr: '',
    });
    const again = world.harn([...resume, '--json', '--llm-mock', finish()]);
    expect(events(again.stdout).at(-1)).toMatchObject({ error: { code: 'HARN-SUS-003', details: { status: 'awaiting' } } });
    // Nobody can start its next cycle, so that nobody should wait for it.
    const id = basename(resume[2] as string, '.json');
    expect(world.harn(['run', '-e', `println(wait_agent("${id}").status)`])).toMatchObject({ code: 0, stdout: 'awaiting\n' });
  });

  test('hooks that only the body of the script registers hold no more after a cold resume, which says so; those of modules do', () => {
    world.write('guard.harn', 'let hook = register_session_hook("post_resume", { event -> println("resumed") })\n');
    world.write(
      'hooked.harn',
      `import "./guard"
      pipeline main() {
        register_session_hook("pre_resume", { event -> {block: true, reason: "not yet"} })
        register_session_hook("post_resume", { event -> nil })
        agent_loop("work", nil, {provider: "mock", tool_format: "native"})
      }`,
    );
    expect(world.harn(['run', 'hooked.harn', '--llm-mock', mock('park.jsonl', PARKS)]).code).toBe(0);
    const resumed = world.harn(['run', '--resume', world.snapshots()[0] as string, '--llm-mock', finish()]);
    expect(resumed.stderr).toBe(
      'harn: hooks of the script for pre_resume do not hold here: its body does not run again; [[hooks]] of harn.toml do\n',
    );
    expect([resumed.code, resumed.stdout.split('\n')[0]]).toEqual([0, 'resumed']);
  });

  test('R59: the model of a root that goes on in another process resumes the child that it started before', () => {
    const script = `
tool hire() -> string {
  return wait_agent(spawn_agent({task: "count", name: "kid", options: {provider: "mock", tool_format: "native"}})).id
}
println(agent_loop("root", nil, {provider: "mock", tool_format: "native", tools: hire, subagents: true}).status)
`;
    const asks = (reason: string): object => ({ tool_calls: [{ name: 'agent_await_resumption', arguments: { reason } }] });
    world.write('family.harn', script);
    world.harn([
      'run',
      '--llm-mock',
      mock('park.jsonl', [{ tool_calls: [{ name: 'hire' }] }, asks('how many?'), asks('kid waits')]),
      'family.harn',
    ]);
    const snapshots = world.snapshots().map((path) => JSON.parse(readFileSync(path, 'utf8')));
    const kid = snapshots.find(({ name }) => name === 'kid');
    const root = snapshots.find(({ name }) => name !== 'kid');
    const resumes = { tool_calls: [{ name: 'subagent_resume', arguments: { handle: kid.id, input: 'seven' } }] };
    const answers = mock('go.jsonl', [
      { ...resumes, match: '*tell the kid*', consume_match: true },
      { text: 'seven stars', match: '*count*' },
      { text: 'it is told', match: '*tell the kid*', consume_match: true },
    ]);
    const resumed = world.harn(['run', '--resume', root.id, '--llm-mock', answers, '--', 'tell the kid']);
    expect(resumed).toEqual({
      code: 0,
      stdout: 'it is told\n',
      stderr: `harn: agent interrupted (${kid.id}): the run ended before it did\nharn: resume with: harn run --resume .harn/workers/${kid.id}.json\n`,
    });
    const finished = world.harn(['run', '--resume', `.harn/workers/${kid.id}.json`, '--llm-mock', answers]);
    expect(finished).toMatchObject({ code: 0, stdout: 'seven stars\n' });
  });

  test('wait_agent and worker_result know the workers of earlier processes, and wait for one that runs in another', async () => {
    const snapshot = park();
    const id = basename(snapshot, '.json');
    const look = (text: string): string => {
      const { stdout, stderr } = world.harn(['run', '-e', text]);
      return stdout + stderr;
    };
    expect(look(`println(wait_agent("${id}").status)\nprintln(worker_result("${id}").reason)`)).toBe('suspended\nneeds a decision\n');
    expect(look('wait_agent("worker_nowhere")')).toContain('unknown worker: worker_nowhere');
    world.write('work.harn', SCRIPT.replace('append_file', 'println("at work")\n  while !file_exists("go") { sleep(5ms) }\n  append_file'));
    const resumed = world.start(['run', '--resume', snapshot, '--llm-mock', finish()]);
    await resumed.saw('at work');
    const waiting = world.start(['run', '-e', `println("waits")\nprintln(wait_agent("${id}").status)`]);
    await waiting.saw('waits');
    world.write('go', '');
    expect(await resumed.ended).toMatchObject({ code: 0 });
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'waits\ncompleted\n' });
  });

  test('a worker that nobody waited for is told when the run ends before it, and can go on', () => {
    world.write('left.harn', 'println(spawn_agent({task: "slow", options: {provider: "mock"}}).status)');
    const run = world.harn(['run', 'left.harn']);
    const [id] = /worker_[0-9a-f-]+/.exec(run.stderr) ?? [];
    expect(run).toEqual({
      code: 0,
      stdout: 'running\n',
      stderr: `harn: agent interrupted (${id}): the run ended before it did\nharn: resume with: harn run --resume .harn/workers/${id}.json\n`,
    });
    expect(world.harn(['run', '--quiet', 'left.harn']).stderr).toBe('');
    const last = events(world.harn(['run', '--json', 'left.harn']).stdout).at(-1);
    expect(last?.data).toMatchObject({ event_type: 'result', exit_code: 0 });
    expect(world.harn(['run', '--resume', String(id), '--llm-mock', mock('slow.jsonl', [{ text: 'done after all' }])]).stdout).toBe(
      'done after all\n',
    );
  });

  test('R70: the model sees the whole old conversation and the input', () => {
    const snapshot = park();
    world.harn(['run', '--resume', snapshot, '--llm-mock', finish(), '--', 'the typo is in line 3']);
    const saved = JSON.parse(readFileSync(snapshot, 'utf8'));
    const texts = JSON.stringify(saved.transcript.messages);
    for (const part of ['work', 'noted', 'the typo is in line 3', 'all done']) expect(texts).toContain(part);
  });

  test('T10: a finished run refuses another input, runs no tool and keeps its file', () => {
    const snapshot = park();
    world.harn(['run', '--resume', snapshot, '--llm-mock', finish()]);
    const before = readFileSync(snapshot);
    const again = world.harn(['run', '--resume', snapshot, '--llm-mock', finish(), '--', 'approve']);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('HARN-SUS-003');
    expect(again.stderr).toContain('status=completed');
    expect(readFileSync(snapshot).equals(before)).toBe(true);
    expect(world.read('effects')).toBe('first\nsecond\n');
  });

  test('R75: a blank input is refused and the loop stays parked', () => {
    const snapshot = park();
    const before = readFileSync(snapshot);
    const refused = world.harn(['run', '--resume', snapshot, '--', '   ']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('HARN-SUS-009');
    expect(readFileSync(snapshot).equals(before)).toBe(true);
  });

  test('T01, R16: of 24 processes that resume it at once one runs', { timeout: 180_000 }, async () => {
    const snapshot = park();
    const mockFile = finish();
    const racers = Array.from({ length: 24 }, () => world.start(['run', '--resume', snapshot, '--json', '--llm-mock', mockFile]));
    const ended = await Promise.all(racers.map((racer) => racer.ended));
    const won = ended.filter(({ code }) => code === 0);
    expect(won).toHaveLength(1);
    const codes = ended.filter(({ code }) => code !== 0).map(({ stdout }) => events(stdout).at(-1)?.error?.code);
    expect(codes).toHaveLength(23);
    expect(codes.filter((code) => code !== 'HARN-SUS-006' && code !== 'HARN-SUS-003')).toEqual([]);
    expect(world.read('effects')).toBe('first\nsecond\n');
  });

  test.each([
    ['no JSON', 'not json'],
    ['an array', '[]'],
    ['a version from the future', JSON.stringify({ _type: 'worker_snapshot', version: 99, id: 'worker_x' })],
    [
      '__proto__ keys',
      '{"_type":"worker_snapshot","version":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    ],
    ['deep nesting', `{"_type":"worker_snapshot","version":1,"transcript":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a changed byte', undefined],
  ])('T24: a hostile snapshot is refused with HARN-SUS-004: %s', (_name, text) => {
    const snapshot = park();
    const damaged = text ?? readFileSync(snapshot, 'utf8').replace('needs a decision', 'needs no decision');
    writeFileSync(snapshot, damaged);
    const refused = world.harn(['run', '--resume', snapshot]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('HARN-SUS-004');
    expect(readFileSync(snapshot, 'utf8')).toBe(damaged);
  });
});

test('T15: a resume runs nothing again and changes no earlier message', () => {
  world.write('work.harn', SCRIPT.replace('max_iterations: 6', 'max_iterations: 60'));
  const notes = (from: number, to: number): object[] =>
    Array.from({ length: to - from + 1 }, (_, index) => ({ tool_calls: [{ name: 'note', arguments: { text: `n${from + index}` } }] }));
  const [parks] = PARKS.slice(1);
  const messages = (snapshot: string): unknown[] => JSON.parse(readFileSync(snapshot, 'utf8')).transcript.messages;
  world.harn(['run', '--llm-mock', mock('a.jsonl', [...notes(1, 30), parks as object]), 'work.harn']);
  const [snapshot] = world.snapshots() as [string];
  const first = messages(snapshot);
  world.harn(['run', '--resume', snapshot, '--llm-mock', mock('b.jsonl', [...notes(31, 33), parks as object])]);
  const second = messages(snapshot);
  const last = world.harn(['run', '--resume', snapshot, '--llm-mock', mock('c.jsonl', [...notes(34, 34), { text: 'done' }])]);
  expect(last).toMatchObject({ code: 0, stdout: 'noted n34\ndone\n' });
  expect(world.read('effects').trimEnd().split('\n')).toEqual(Array.from({ length: 34 }, (_, index) => `n${index + 1}`));
  expect(second.slice(0, first.length)).toEqual(first);
  expect(messages(snapshot).slice(0, second.length)).toEqual(second);
});

describe('machine output', () => {
  test('T37: a reader that goes away early does not stop the run', async () => {
    const snapshot = park();
    const run = world.start(['run', '--resume', snapshot, '--json', '--llm-mock', finish()]);
    await run.saw('"seq":1,');
    run.child.stdout?.destroy();
    const { code, stderr } = await run.ended;
    expect(stderr).toBe('');
    expect([0, 141]).toContain(code);
    expect(JSON.parse(readFileSync(snapshot, 'utf8'))).toMatchObject({ status: 'completed' });
    expect(world.read('effects')).toBe('first\nsecond\n');
  });

  test.each([
    ['prints', 'println("a")\nprint("b")\n', 0, 'result'],
    ['fails', 'println("a")\nthrow "broken"\n', 1, 'error'],
    ['does not parse', 'let = 1\n', 1, 'error'],
    ['exits', 'println("a")\nexit(7)\n', 7, 'result'],
    ['ends with an int', 'println("a")\n300\n', 255, 'result'],
  ])('T39: every line of stdout is an event when a script %s', (_name, script, exitCode, terminal) => {
    world.write('s.harn', script);
    const { code, stdout } = world.harn(['run', '--json', 's.harn']);
    expect(code).toBe(exitCode);
    const lines = events(stdout);
    expect(lines.every((line) => (line as unknown as { schemaVersion: number }).schemaVersion === 1)).toBe(true);
    expect(lines.map(({ data }) => data.seq)).toEqual(lines.map((_, index) => index + 1));
    expect(
      lines.filter(({ data }) => data.event_type === 'result' || data.event_type === 'error').map(({ data }) => data.event_type),
    ).toEqual([terminal]);
    expect(lines.at(-1)?.data).toMatchObject({ event_type: terminal, exit_code: exitCode });
  });
});

describe('signals', () => {
  const SLOW = `
tool wait_a_bit() -> string { sleep(50)
 println("waited")
 return "ok" }
pipeline default() {
  for i in 0 to 400 { llm_mock({tool_calls: [{name: "wait_a_bit", arguments: {}}]}) }
  let options = {provider: "mock", tool_format: "native", tools: wait_a_bit, max_iterations: 400, loop_detect_warn: 0, loop_detect_block: 0, loop_detect_skip: 0}
  agent_loop("go", nil, options)
  println("never")
}
`;

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('D8 T42: %s parks the loop, and nothing behind it runs', async (signal, exitCode) => {
    world.write('slow.harn', SLOW);
    const run = world.start(['run', 'slow.harn']);
    await run.saw('waited');
    run.child.kill(signal);
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(exitCode);
    expect(stdout).not.toContain('never');
    expect(stderr).toContain(`harn: ${signal} received, parking at the next turn boundary`);
    expect(stderr).toContain(`: signal ${signal}\nharn: resume with: harn run --resume .harn/workers/worker_`);
    const saved = JSON.parse(readFileSync(world.snapshots()[0] as string, 'utf8'));
    expect(saved).toMatchObject({ status: 'suspended', suspension: { initiator: 'operator', reason: `signal ${signal}` } });
  });

  test('D8 T42: with --json the terminal event is the Suspension', async () => {
    world.write('slow.harn', SLOW);
    const run = world.start(['run', '--json', 'slow.harn']);
    await run.saw('waited');
    run.child.kill('SIGTERM');
    const { code, stdout } = await run.ended;
    expect(code).toBe(143);
    expect(events(stdout).at(-1)?.data).toMatchObject({
      event_type: 'result',
      exit_code: 143,
      value: { status: 'suspended', initiator: 'operator' },
    });
  });
});

test('the example of the README reviews a change, parks, and is finished by another process', () => {
  const fixture = join(ROOT, 'fixtures/review');
  const parked = world.harn(['run', '--llm-mock', join(fixture, 'review.llm-mock.jsonl'), join(fixture, 'review.harn')], {
    env: { REVIEW_OUTBOX: join(world.folder, 'outbox') },
  });
  expect(parked.code).toBe(0);
  expect(parked.stderr).toContain('harn: resume with: ');
  const [snapshot] = world.snapshots();
  const resumed = world.harn(['run', '--resume', snapshot as string, '--json', '--', 'approved, but fix the typo'], {
    cwd: '/',
    env: { REVIEW_OUTBOX: join(world.folder, 'outbox') },
  });
  expect(resumed.code).toBe(0);
  const last = events(resumed.stdout).at(-1);
  expect(last?.data).toMatchObject({ event_type: 'result', value: { status: 'completed' } });
  expect(world.read('outbox/review.md')).toContain('Decision: approved, but fix the typo');
});
