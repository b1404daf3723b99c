import { appendFileSync, copyFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld, type Ended, events } from './harn.ts';
import { editSnapshot } from './parked-loop.ts';

/** A folder with a parked loop, made once and copied for each test. */
const template = new CliWorld();
afterAll(() => template.remove());

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const SCRIPT = `tool note(text: string, tags: list<string> = [], factor: float = 1.0, where: {line: int, file: string} = {line: 1, file: "a"}) -> string {
  description "Writes a line down."
  return "noted \${text}"
}

pipeline default() {
  let result = agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: note, max_iterations: 6})
  return result
}
`;

const note = (text: string): object => ({ tool_calls: [{ name: 'note', arguments: { text } }] });
const parks = (conditions?: object): object => ({
  tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'needs a decision', ...(conditions && { conditions }) } }],
});

function mock(name: string, ...entries: readonly object[]): string {
  return world.write(name, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** A loop that parked after one call of its tool. @returns its snapshot */
function park(conditions?: object): string {
  if (conditions !== undefined) return parkIn(world, conditions);
  if (!existsSync(join(template.folder, '.harn'))) parkIn(template);
  for (const name of ['.harn', 'work.harn']) cpSync(join(template.folder, name), join(world.folder, name), { recursive: true });
  return world.snapshots()[0] as string;
}

function parkIn(place: CliWorld, conditions?: object): string {
  place.write('work.harn', SCRIPT);
  place.write('park.jsonl', [note('first'), parks(conditions)].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const { code, stderr } = place.harn(['run', '--llm-mock', 'park.jsonl', 'work.harn']);
  expect(code, stderr).toBe(0);
  return place.snapshots()[0] as string;
}

const idOf = (snapshot: string): string => basename(snapshot, '.json');
const workers = (...args: string[]): Ended => world.harn(['workers', ...args]);
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
const json = (...args: string[]): any => JSON.parse(workers(...args, '--json').stdout);

/** A worker whose tool waits until the file `go` exists. */
function startRunning(): ReturnType<CliWorld['start']> {
  world.write(
    'hold.harn',
    `tool hold() -> string {
  description "Waits for a file."
  println("holding")
  while !file_exists("go") { sleep(10ms) }
  return "held"
}
agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: hold})
`,
  );
  return world.start([
    'run',
    '--llm-mock',
    mock('hold.jsonl', { tool_calls: [{ name: 'hold', arguments: {} }] }, { text: 'done' }),
    'hold.harn',
  ]);
}

describe('a worker is named', () => {
  it('by its id, the beginning of it, and its path from anywhere', () => {
    const snapshot = park();
    const id = idOf(snapshot);
    world.write('harn.toml', '');
    world.write('deep/er/keep', '');
    const relative = snapshot.slice(world.folder.length + 1);
    for (const name of [id, id.slice(0, 12), snapshot, relative]) expect(json('show', name).data.worker.id).toBe(id);
    const below = world.harn(['workers', 'show', relative], { cwd: join(world.folder, 'deep/er') });
    expect(below.stdout).toContain(id);
  });

  it('and a name that leads nowhere says what to do', () => {
    const id = idOf(park());
    expect(workers('show', 'worker_none')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/HARN-SUS-004: .*(?:12 characters).*\n {2}harn workers list --all shows what there is\n/),
    });
    copyFileSync(world.snapshots()[0] as string, join(world.folder, `.harn/workers/${id.slice(0, 30)}.json`));
    expect(workers('show', id.slice(0, 14)).stderr).toContain('2 workers begin like this');
    expect(json('why', 'worker_none')).toMatchObject({ ok: false, data: null, error: { code: 'HARN-SUS-004' } });
  });

  it.each([
    [['show'], 'show takes a worker: harn workers show <worker>'],
    [['close', 'a', 'b'], 'close takes one worker: harn workers close <worker>'],
    [['show', 'a', '--last', 'x'], '--last: x is no count of messages'],
    [['wait', 'a', '--until', 'asleep'], '--until: asleep is no state'],
    [['wait', 'a', '--timeout', 'soon'], '--timeout: soon is no number of seconds'],
    [['close', 'a', '--reason', ' '], '--reason: give a text'],
  ])('%j is a usage error', (args, text) => {
    expect(workers(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(text) });
  });
});

describe('harn workers show', () => {
  it('shows the head and the transcript, long texts cut unless everything is asked for', () => {
    world.write('work.harn', SCRIPT);
    const long = Array.from({ length: 12 }, (_, line) => `line ${line + 1}`).join('\n');
    world.harn(['run', '--llm-mock', mock('park.jsonl', note(long), parks()), 'work.harn']);
    const [snapshot = ''] = world.snapshots();
    const { code, stdout, stderr } = workers('show', snapshot);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^worker_\S+\nname {6}top-level-agent \(top_level_agent\)\nstate {5}suspended\n/);
    expect(stdout).toContain('reason    needs a decision\n');
    expect(stdout).toContain('script    work.harn\n');
    expect(stdout).toMatch(/-- 1 user\nwork\n\n-- 2 assistant\n-> note\(text: "line 1\\nline 2/);
    expect(stdout).toContain('line 8\n[4 more lines; --full shows everything]\n');
    expect(stdout).not.toContain('\nline 9');
    expect(workers('show', snapshot, '--full').stdout).toContain('\nline 12\n');
    const last = workers('show', snapshot, '--last', '1').stdout;
    expect(last).toContain('… 4 earlier messages; --full shows everything\n\n-- 5 tool agent_await_resumption');
    expect(json('show', snapshot).data.transcript.messages).toHaveLength(5);
  });

  it('writes nothing that a terminal would act on', () => {
    world.write('work.harn', SCRIPT);
    world.harn(['run', '--llm-mock', mock('park.jsonl', note('\u001b]0;owned\u0007\u001b[2J'), parks()), 'work.harn']);
    expect(workers('show', world.snapshots()[0] as string).stdout).not.toMatch(/[\u001b\u0007]/);
  });

  it('shows the settled turns of a worker that runs elsewhere', async () => {
    const run = startRunning();
    await run.saw('holding');
    const { id } = json('list').data.workers[0];
    const shown = json('show', id).data;
    expect(shown.worker).toMatchObject({ status: 'running', lifecycle_state: 'running' });
    expect(workers('show', id).stdout).toContain(`runs in   pid ${run.child.pid} on `);
    world.write('go', '');
    await run.ended;
  });
});

describe('harn workers resume', () => {
  it('is harn run --resume: same events, same code, same state', () => {
    const resumed = (command: readonly string[]): unknown[] => {
      const snapshot = park();
      const mockFile = mock('finish.jsonl', note('second'), { text: 'all done' });
      const { code, stdout } = world.harn([...command, idOf(snapshot), '--json', '--llm-mock', mockFile, '--', 'go', 'on']);
      const types = events(stdout).map(({ data }) => [data.event_type, data.kind, data.exit_code]);
      const last = JSON.parse(readFileSync(snapshot, 'utf8'));
      rmSync(join(world.folder, '.harn'), { recursive: true });
      return [code, types, last.status, last.history, last.transcript.messages.map((message: { content: string }) => message.content)];
    };
    expect(resumed(['workers', 'resume'])).toEqual(resumed(['run', '--resume']));
  });

  it('takes the flags of a resume, and no others', () => {
    const snapshot = park();
    const first = JSON.parse(readFileSync(snapshot, 'utf8')).suspension.suspension_id;
    expect(workers('resume', snapshot, '--llm-mock', mock('again.jsonl', parks()), '--quiet').code).toBe(0);
    expect(workers('resume', snapshot, '--suspension', first)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('stale suspension'),
    });
    expect(workers('resume', snapshot, '-e', '1')).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown option -e') });
  });
});

describe('harn workers close', () => {
  it('ends a worker for good, with its reason, and says so the second time', () => {
    const snapshot = park({ timeout: { duration_minutes: 60 } });
    expect(workers('close', snapshot, '--reason', 'obsolete')).toMatchObject({
      code: 0,
      stdout: `${idOf(snapshot)} is closed; nothing can resume it\n`,
    });
    expect(JSON.parse(readFileSync(snapshot, 'utf8'))).toMatchObject({
      status: 'cancelled',
      suspension: null,
      armed: null,
      rejected: { by: 'operator', reason: 'obsolete' },
    });
    const bytes = readFileSync(snapshot, 'utf8');
    expect(json('close', snapshot)).toMatchObject({
      ok: true,
      data: { worker: { status: 'cancelled', lifecycle_state: 'closed' }, was_over: true },
    });
    expect(readFileSync(snapshot, 'utf8')).toBe(bytes);
    expect(workers('resume', snapshot)).toMatchObject({ code: 1, stderr: expect.stringContaining('HARN-SUS-010') });
  });

  it('leaves a worker alone that another process runs', async () => {
    const run = startRunning();
    await run.saw('holding');
    const { id } = json('list').data.workers[0];
    expect(json('close', id)).toMatchObject({
      ok: false,
      error: { code: 'HARN-SUS-006', message: expect.stringContaining('close_agent: '), details: { operation: 'close_agent' } },
    });
    world.write('go', '');
    expect(await run.ended).toMatchObject({ code: 0 });
  });
});

/** A retriggerable worker whose script has ended after its first cycle. @returns its id */
function parkBetweenCycles(): string {
  world.write(
    'cycles.harn',
    `llm_mock({text: "one"})
let worker = spawn_agent({name: "w", task: "work", options: {provider: "mock"}, carry: {retriggerable: true}})
println(worker.id)
while list_agents()[0].status == "running" { sleep(1ms) }
`,
  );
  const { stdout } = world.harn(['run', 'cycles.harn']);
  return stdout.trim();
}

describe('a worker between two cycles', () => {
  /** A script whose worker waits for its next cycle, while the file `go` does not exist. */
  async function resting(): Promise<{ run: ReturnType<CliWorld['start']>; id: string }> {
    world.write(
      'rests.harn',
      `for text in ["one", "two"] { llm_mock({text: text}) }
let worker = spawn_agent({name: "w", task: "work", options: {provider: "mock"}, carry: {retriggerable: true}})
while list_agents()[0].status == "running" { sleep(1ms) }
println("resting")
while !file_exists("go") { sleep(10ms) }
worker_trigger(worker, "more")
while list_agents()[0].status == "running" { sleep(1ms) }
println(worker_result(worker).summary)
`,
    );
    const run = world.start(['run', 'rests.harn']);
    await run.saw('resting');
    return { run, id: json('list').data.workers[0].id };
  }

  it('4.3 belongs to the process of its script while that lives, and goes on there', async () => {
    const { run, id } = await resting();
    expect(workers('list').stdout).toMatch(/awaiting.* by its script/);
    expect(json('show', id).data.worker).toMatchObject({ status: 'awaiting', lifecycle_state: 'running' });
    expect(workers('show', id).stdout).toContain(`runs in   pid ${run.child.pid} on `);
    expect(workers('why', id).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'worker_trigger of the script that started it starts its next cycle; nobody else can wake it',
    );
    const refused = json('close', id);
    expect(refused.error).toMatchObject({
      code: 'HARN-SUS-006',
      details: { detail: { owner: 'other-process', owner_pid: run.child.pid } },
    });
    const waiting = world.start(['workers', 'wait', id]);
    await waiting.saw('is awaiting; waiting until the script that started it gives it more work; nobody else can wake it');
    world.write('go', '');
    expect(await run.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('two') });
    expect(json('close', id)).toMatchObject({ ok: true });
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'cancelled\n' });
  });

  it('4.3 belongs to nobody when that process is gone, and can be closed but not resumed', async () => {
    const { run, id } = await resting();
    run.child.kill('SIGKILL');
    await run.ended;
    expect(workers('list').stdout).toMatch(/awaiting.* nobody/);
    expect(workers('why', id).stdout.replaceAll(/\s+/g, ' ')).toContain(
      `nobody: the process of its script is gone; harn workers close ${id} ends it`,
    );
    expect(world.harn(['run', '--resume', id])).toMatchObject({ code: 1, stderr: expect.stringContaining('HARN-SUS-003') });
    expect(workers('close', id)).toMatchObject({ code: 0 });
    expect(json('list', '--all').data.workers).toMatchObject([{ id, status: 'cancelled' }]);
  });
});

describe('harn workers wait', () => {
  it('comes back when another process has ended the worker', async () => {
    const snapshot = park();
    const waiting = world.start(['workers', 'wait', snapshot]);
    await waiting.saw('is suspended; waiting until somebody resumes or closes it');
    workers('resume', snapshot, '--llm-mock', mock('finish.jsonl', { text: 'all done' }));
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'completed\n' });
  });

  it('comes back in the state that is asked for', async () => {
    const run = startRunning();
    await run.saw('holding');
    const { id } = json('list').data.workers[0];
    expect(workers('wait', id, '--until', 'running,suspended')).toMatchObject({ code: 0, stdout: 'running\n' });
    const waiting = world.start(['workers', 'wait', id, '--until', 'interrupted', '--json']);
    run.child.kill('SIGKILL');
    expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({ ok: true, data: { worker: { id, status: 'interrupted' } } });
  });

  it('gives up when the time is up, and when the state cannot be reached any more', () => {
    const snapshot = park();
    expect(workers('wait', snapshot, '--timeout', '0.05')).toMatchObject({
      code: 1,
      stdout: 'suspended\n',
      stderr: expect.stringContaining('is still suspended'),
    });
    expect(json('wait', snapshot, '--timeout', '0')).toMatchObject({
      ok: false,
      error: { code: 'timeout' },
      data: { worker: { status: 'suspended' } },
    });
    workers('close', snapshot);
    expect(workers('wait', snapshot)).toMatchObject({ code: 0, stdout: 'cancelled\n' });
    expect(json('wait', snapshot, '--until', 'running')).toMatchObject({ ok: false, error: { code: 'unreachable' } });
  });

  it('says what ends the wait for a worker that waits for its script, and where it stands when a signal ends it', async () => {
    const id = parkBetweenCycles();
    const waiting = world.start(['workers', 'wait', id]);
    await waiting.saw('is awaiting; waiting until somebody closes it; nobody else can wake it');
    waiting.child.kill('SIGINT');
    const { code, stdout, stderr } = await waiting.ended;
    expect([code, stdout]).toEqual([130, 'awaiting\n']);
    expect(stderr).toContain(`harn: stopped waiting; ${id} is still awaiting\n`);
  });

  it('says so when the worker failed', () => {
    const snapshot = park();
    mock('fails.jsonl', { error: { category: 'auth', message: 'no key' } });
    expect(workers('resume', snapshot, '--llm-mock', 'fails.jsonl').code).toBe(1);
    expect(workers('wait', snapshot)).toMatchObject({ code: 1, stdout: 'failed\n', stderr: expect.stringContaining('no key') });
    expect(workers('wait', snapshot, '--until', 'failed')).toMatchObject({ code: 0, stdout: 'failed\n' });
  });
});

describe('harn workers why', () => {
  it('says of a worker that waits for its script what can still be done', () => {
    const id = parkBetweenCycles();
    const { code, stdout } = workers('why', id);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`nobody: the process of its script is gone; harn workers close ${id} ends it`);
    expect(workers('list').stdout).toMatch(/awaiting.* nobody/);
  });

  it('says what a timeout and a topic would do, and that nobody will do it', () => {
    const snapshot = park({ timeout: { duration_minutes: 90, on_timeout: 'fail' }, on_event: 'deploys' });
    world.harn(['run', '-e', 'event_log.emit("deploys", "shipped", {sha: "abc"})']);
    const { code, stdout } = workers('why', snapshot);
    expect(code).toBe(0);
    expect(stdout).toMatch(/is suspended for \S+, parked by\n? *itself, after turn 2/);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/timeout \(\S+Z, in 1h\d+m\): ends it as failed; nothing resumes it after that/);
    expect(text).toContain('topic deploys: the next record resumes it with its payload as input; 1 record came since');
    expect(text).toContain('owner: ResumeBy.local_runtime;');
    expect(text).toMatch(/nobody will wake it: pid \d+ armed it and is gone/);
    expect(stdout).toContain(`harn run --resume .harn/workers/${basename(snapshot)}\n`);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(line.includes('harn run') ? 120 : 80);
  });

  it('says what a trigger waits for, its schedule and its predicate included', () => {
    world.write(
      'waits.harn',
      `let watch = {kind: "push", provider: "github", when: { event -> event.kind == "push" }}
let ticks = {kind: "tick", provider: "cron", schedule: "30 4 * * *", timezone: "UTC"}
for trigger in [watch, ticks] {
  sub_agent_run("wait", {background: true, provider: "mock", resume_when: {trigger: trigger}})
}
`,
    );
    expect(world.harn(['run', 'waits.harn'])).toMatchObject({ code: 0 });
    const texts = world.snapshots().map((snapshot) => workers('why', snapshot).stdout.replaceAll(/\s+/g, ' '));
    expect(texts.join('\n')).toContain(
      'trigger: an event push of github that passes the predicate of the script resumes it with the event as input',
    );
    expect(texts.join('\n')).toMatch(/trigger: the schedule 30 4 \* \* \* in UTC, next \S+T04:30:00.000Z, in \S+ resumes it/);
  });

  it('shows what changed in the script, line by line, and which tools still fit', () => {
    const snapshot = park();
    world.write('work.harn', SCRIPT.replace('noted', 'wrote'));
    const { code, stdout } = workers('why', snapshot);
    expect(code).toBe(0);
    expect(stdout).toContain('work.harn: changed (+1 -1)\n');
    expect(stdout).toContain('    -  return "noted ${text}"\n    +  return "wrote ${text}"\n');
    expect(stdout).toContain('tools that fit: note\n');
    expect(json('why', snapshot).data.program).toMatchObject({
      modules: [{ path: 'work.harn', state: 'changed', difference: { added: 1, removed: 1 } }],
      tools: [{ name: 'note', state: 'fits' }],
    });
  });

  const CHANGES: readonly (readonly [string, (snapshot: string) => void, { code: string | null; reason?: string }])[] = [
    ['nothing', () => undefined, { code: null }],
    ['the script is gone', () => rmSync(join(world.folder, 'work.harn')), { code: null }],
    ['a comment', () => appendFileSync(join(world.folder, 'work.harn'), '// more\n'), { code: null }],
    ['the tool is gone', () => world.write('work.harn', SCRIPT.replaceAll('note', 'memo')), { code: 'HARN-SUS-004', reason: 'program' }],
    [
      'a parameter',
      () => world.write('work.harn', SCRIPT.replace('text: string,', 'text: string, more: int,')),
      { code: 'HARN-SUS-004', reason: 'program' },
    ],
    ['a default', () => world.write('work.harn', SCRIPT.replace('1.0', '1.5')), { code: 'HARN-SUS-004', reason: 'program' }],
    ['it no longer compiles', () => appendFileSync(join(world.folder, 'work.harn'), 'fn {\n'), { code: 'HARN-SUS-004', reason: 'program' }],
    ['closed', (snapshot) => workers('close', snapshot), { code: 'HARN-SUS-010' }],
    ['completed', (snapshot) => workers('resume', snapshot, '--llm-mock', mock('end.jsonl', { text: 'done' })), { code: 'HARN-SUS-003' }],
    [
      'conditions that nobody could have written',
      (snapshot) =>
        editSnapshot(snapshot, (document) => Object.assign(document.suspension, { conditions: { timeout: { duration_minutes: -1 } } })),
      { code: 'HARN-SUS-004', reason: 'malformed' },
    ],
  ];
  it.each(CHANGES)('foretells what a resume does: %s', (_name, change, expected) => {
    const snapshot = park();
    change(snapshot);
    const foretold = json('why', snapshot);
    expect(foretold.data.resume).toMatchObject({ accepted: expected.code === null, code: expected.code, reason: expected.reason ?? null });
    expect(foretold.ok).toBe(expected.code === null);
    const real = workers('resume', snapshot, '--llm-mock', mock('real.jsonl', { text: 'done' }));
    expect(real.code).toBe(expected.code === null ? 0 : 1);
    if (expected.code !== null) expect(real.stderr).toContain(expected.code);
  });

  it('foretells a stale suspension, a strict resume and a running worker', async () => {
    const snapshot = park();
    const first = JSON.parse(readFileSync(snapshot, 'utf8')).suspension.suspension_id;
    workers('resume', snapshot, '--llm-mock', mock('again.jsonl', parks()));
    expect(json('why', snapshot, '--suspension', first).data.resume).toMatchObject({ code: 'HARN-SUS-004', reason: 'stale' });
    appendFileSync(join(world.folder, 'work.harn'), '// more\n');
    const strict = world.harn(['workers', 'why', snapshot, '--json'], { env: { HARN_RESUME_STRICT: '1' } });
    expect(JSON.parse(strict.stdout).data.resume).toMatchObject({ code: 'HARN-SUS-004', reason: 'program' });
    const run = startRunning();
    await run.saw('holding');
    const running = json('list', '--state', 'running').data.workers[0].id;
    expect(json('why', running).data.resume).toMatchObject({ accepted: false, code: 'HARN-SUS-003' });
    world.write('go', '');
    await run.ended;
  });

  it('mentions hooks that may deny it, and knows a copy of a closed worker', () => {
    const snapshot = park();
    expect(workers('why', snapshot).stdout).toMatch(/Resume now\n {2}accepted\n/);
    world.write('harn.toml', '[[hooks]]\nevent = "PreResume"\nhandler = "hooks.harn::on_resume"\n');
    world.write('hooks.harn', 'pub fn on_resume(event) { return {block: true, reason: "not today"} }\n');
    expect(workers('why', snapshot).stdout).toContain('accepted, unless a pre_resume hook of harn.toml denies it\n');
    expect(json('why', snapshot).data.resume).toMatchObject({ accepted: true, hooks: true });
    copyFileSync(snapshot, join(world.folder, 'copy.json'));
    workers('close', snapshot);
    expect(json('why', 'copy.json').data).toMatchObject({ worker: { status: 'cancelled' }, resume: { code: 'HARN-SUS-010' } });
  });

  it('changes nothing', () => {
    const snapshot = park({ timeout: { duration_minutes: 90 } });
    const before = readFileSync(snapshot, 'utf8') + world.read('.harn/waiters.jsonl');
    world.write('work.harn', `${SCRIPT.replace('pipeline', 'let effect = append_file("ran", "x")\npipeline')}`);
    for (const command of ['why', 'show', 'verify']) workers(command, snapshot);
    expect(readFileSync(snapshot, 'utf8') + world.read('.harn/waiters.jsonl')).toBe(before);
    expect(world.snapshots()).toHaveLength(1);
    expect(() => world.read('ran')).toThrow('ENOENT');
  });
});

describe('harn workers verify', () => {
  it('finds nothing wrong with what a run leaves', () => {
    const snapshot = park();
    expect(workers('verify')).toEqual({
      code: 0,
      stdout: `${idOf(snapshot)} ok (suspended)\n`,
      stderr: '1 file checked: 0 with errors, 0 with warnings\n',
    });
    expect(workers('verify', '--quiet').stdout).toBe('');
  });

  const DAMAGE: readonly (readonly [string, (snapshot: string) => void, number, string])[] = [
    [
      'a changed byte',
      (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('needs a', 'needs no')),
      1,
      'error snapshot: integrity: the checksum does not match the content',
    ],
    [
      'half a file',
      (file) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 900)),
      1,
      'error snapshot: malformed: not valid JSON',
    ],
    [
      'a newer format',
      (file) => editSnapshot(file, (document) => Object.assign(document, { version: 9 })),
      1,
      'error snapshot: version: written by harn',
    ],
    [
      'a field of another type',
      (file) => editSnapshot(file, (document) => Object.assign(document, { history: 'none' })),
      1,
      'error snapshot: malformed: field `history`',
    ],
    [
      'no suspension',
      (file) => editSnapshot(file, (document) => Object.assign(document, { suspension: null })),
      1,
      'error state: suspended, but without a suspension',
    ],
    [
      'an unknown condition',
      (file) => editSnapshot(file, (document) => Object.assign(document.suspension, { conditions: { moon: 'full' } })),
      1,
      'error conditions: malformed: field `suspension.conditions',
    ],
    [
      'a result without its call',
      (file) => editSnapshot(file, (document) => document.transcript.messages.splice(1, 1)),
      0,
      'warning transcript: not fit to be sent; a resume repairs it: result_dropped',
    ],
    [
      'a changed script',
      () => appendFileSync(join(world.folder, 'work.harn'), '// more\n'),
      0,
      'warning program: work.harn changed since the park',
    ],
    [
      'a script without its tool',
      () => world.write('work.harn', 'pipeline default() {}\n'),
      1,
      'error program: program: the script changed and the tool note is gone',
    ],
    [
      'a journal of another snapshot',
      (file) => writeFileSync(journalOf(file), `${JSON.stringify({ ...OPEN, base: { sha256: 'x' } })}\n`),
      1,
      'error journal: integrity: the journal beside it builds on another snapshot',
    ],
    [
      'a line of the journal that is none',
      (file) =>
        writeFileSync(
          journalOf(file),
          `${JSON.stringify({ ...OPEN, base: { sha256: JSON.parse(readFileSync(file, 'utf8')).integrity.sha256 } })}\nnoise\n{"t":"turn"}\n`,
        ),
      1,
      'error journal: malformed: line 2 of the journal',
    ],
    ['a torn journal', (file) => writeFileSync(journalOf(file), '{"t":"open"'), 0, 'note journal: it ends inside its first record'],
    [
      'a claim of a process that is gone',
      (file) => writeFileSync(`${file}.claim`, `${JSON.stringify(CLAIM)}\n`),
      0,
      'note claim: left by pid 1 on elsewhere, which is gone',
    ],
    [
      'another name',
      (file) => renameSync(file, join(world.folder, '.harn/workers/other.json')),
      0,
      'note snapshot: the file is named otherwise',
    ],
    ['a file of somebody', (file) => writeFileSync(join(file, '../todo.txt'), ''), 0, 'warning snapshot: not a file of harn'],
  ];
  it.each(DAMAGE)('%s', (_name, damage, code, text) => {
    const snapshot = park();
    damage(snapshot);
    const verified = workers('verify');
    expect(verified.code).toBe(code);
    expect(verified.stdout.replaceAll(/\s+/g, ' ')).toContain(text);
  });

  it('checks the journal of an interrupted worker, torn at its end', async () => {
    const run = startRunning();
    await run.saw('holding');
    run.child.kill('SIGKILL');
    await run.ended;
    const { id } = json('list').data.workers[0];
    appendFileSync(join(world.folder, `.harn/workers/${id}.journal.jsonl`), '{"t":"resu');
    const { code, stdout } = workers('verify', id);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${id} ok (interrupted)\n`)]);
    expect(stdout).toMatch(/note journal: \d+ records since the snapshot/);
    expect(stdout).toContain('note journal: the last record is torn and does not count');
  });
});

describe('what programs read', () => {
  it('has exactly the members that the documentation names', () => {
    const snapshot = park({ timeout: { duration_minutes: 60 } });
    const row = [
      'age_ms', 'created_at', 'id', 'kind', 'lifecycle_state', 'mode', 'name', 'parent_worker_id', 'process', 'reason', 'since',
      'snapshot_path', 'status', 'suspension',
    ]; // biome-ignore format: a list to be scanned
    const suspension = [
      'armed_by', 'attendance', 'initiator', 'next_wake_at', 'on_event', 'resume_by_mechanism', 'suspended_at_turn', 'suspension_id',
      'timeout', 'trigger',
    ]; // biome-ignore format: a list to be scanned
    const { data: listed } = json('list');
    expect(members(listed)).toEqual(['hidden', 'state_root', 'workers']);
    expect(members(listed.workers[0])).toEqual(row);
    expect(members(listed.workers[0].suspension)).toEqual(suspension);
    expect(members(json('show', snapshot).data)).toEqual(['loop', 'script_path', 'transcript', 'worker']);
    const { data: why } = json('why', snapshot);
    expect(members(why)).toEqual(['program', 'resume', 'waiting_records', 'worker']);
    expect(members(why.worker)).toEqual(row);
    expect(members(why.program)).toEqual(['lost_callbacks', 'modules', 'tools']);
    expect(members(why.resume)).toEqual(['accepted', 'code', 'command', 'hooks', 'reason']);
    const { data: verified } = json('verify');
    expect(members(verified)).toEqual(['checked', 'with_errors', 'with_warnings', 'workers']);
    expect(members(verified.workers[0])).toEqual(['findings', 'id', 'ok', 'path', 'status']);
    expect(members(json('wait', snapshot, '--until', 'suspended').data)).toEqual(['worker']);
    expect(members(json('close', snapshot).data)).toEqual(['was_over', 'worker']);
    expect(members(json('prune', '--older-than', '0s').data)).toEqual(['removed', 'skipped', 'workers']);
  });
});

const members = (value: object): string[] => Object.keys(value).sort();

describe('harn workers prune', () => {
  it('removes workers that are over for long enough, and only with --yes', () => {
    const snapshot = park();
    workers('close', snapshot);
    world.harn(['run', '-e', 'agent_loop("x", nil, {provider: "mock", tool_format: "native"})', '--llm-mock', mock('p.jsonl', parks())]);
    const open = world.snapshots().find((path) => path !== snapshot) as string;
    writeFileSync(`${snapshot}.tmp_1`, 'left by a writer that was killed');
    expect(workers('prune')).toEqual({ code: 0, stdout: '', stderr: 'harn: 0 workers would be removed\n' });
    expect(workers('prune', '--older-than', '0s')).toMatchObject({ code: 0, stderr: 'harn: 1 worker would be removed; --yes does it\n' });
    expect(existsSync(snapshot)).toBe(true);
    expect(json('prune', '--older-than', '0s', '--yes').data).toMatchObject({
      removed: true,
      skipped: 0,
      workers: [{ id: idOf(snapshot), status: 'cancelled' }],
    });
    expect(readdirSync(join(world.folder, '.harn/workers')).sort()).toEqual(['closed.index', basename(open)]);
  });

  it('a copy of a pruned worker that was closed stays refused', () => {
    const snapshot = park();
    copyFileSync(snapshot, join(world.folder, 'copy.json'));
    workers('close', snapshot);
    workers('prune', '--older-than', '0s', '--yes');
    expect(workers('resume', 'copy.json').stderr).toContain('HARN-SUS-010');
  });

  it('leaves a worker alone that somebody holds', () => {
    const snapshot = park();
    workers('close', snapshot);
    const heartbeat_at = new Date().toISOString();
    writeFileSync(`${snapshot}.claim`, `${JSON.stringify({ ...CLAIM, heartbeat_at })}\n`);
    expect(workers('prune', '--older-than', '0s', '--yes')).toMatchObject({
      code: 0,
      stderr: 'harn: 0 workers removed, 1 left alone because somebody uses them\n',
    });
    expect(existsSync(snapshot)).toBe(true);
  });

  it('an age is a number with a unit', () => {
    expect(workers('prune', '--older-than', 'long')).toMatchObject({ code: 2, stderr: expect.stringContaining('such as 30d') });
  });
});

const journalOf = (snapshot: string): string => snapshot.replace(/\.json$/, '.journal.jsonl');
const OPEN = { t: 'open', v: 1, worker_id: 'w', generation: 9, claim_token: 'x', suspension_id: null, at: '2026-01-01T00:00:00.000Z' };
const CLAIM = {
  token: 't',
  suspension_id: null,
  pid: 1,
  host: 'elsewhere',
  generation: 2,
  claimed_at: '2020-01-01T00:00:00.000Z',
  heartbeat_at: '2020-01-01T00:00:00.000Z',
};
