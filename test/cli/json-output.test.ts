import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { CliWorld, events } from './harn.ts';

const world = new CliWorld();
afterAll(() => world.remove());

const TERMINAL: ReadonlySet<unknown> = new Set(['result', 'error']);

/** Exactly one terminal event, at the end of lines that are numbered without gaps. */
function terminalOf(stdout: string) {
  const lines = events(stdout);
  expect(lines.map(({ data }) => data.seq)).toEqual(lines.map((_, index) => index + 1));
  expect(lines.filter(({ data }) => TERMINAL.has(data.event_type))).toHaveLength(1);
  const last = lines.at(-1);
  expect(TERMINAL.has(last?.data.event_type)).toBe(true);
  return last;
}

describe('T39: a mistake on the command line is a line of JSON as well, and exit code 2', () => {
  it.each([
    ['a missing script', ['run', 'missing.harn', '--json'], 'cannot read missing.harn: there is no such file'],
    ['an unknown option', ['run', '--json', '--frob'], 'unknown option --frob; see harn run --help'],
    ['nothing to run', ['run', '--json'], 'nothing to run; give a script: harn run script.harn'],
    ['a missing replay file', ['run', '-e', '1', '--json', '--llm-mock', 'no.jsonl'], '--llm-mock: cannot read no.jsonl (ENOENT)'],
    ['a resume of nothing', ['workers', 'resume', '--json'], 'resume takes a worker: harn workers resume <worker>'],
  ])('of a run: %s', async (_name, argv, message) => {
    const platform = createFakePlatform();
    expect(await main(argv, platform)).toBe(2);
    expect(terminalOf(platform.stdio.stdout)).toEqual({
      schemaVersion: 1,
      ok: false,
      data: { event_type: 'error', seq: 1, exit_code: 2 },
      error: { code: 'usage', message, details: {} },
      warnings: [],
    });
    expect(platform.stdio.stderr).toBe(`harn: ${message}\n`);
  });

  it.each([
    [['workers', 'show', '--json'], 'show takes a worker: harn workers show <worker>'],
    [['workers', 'list', '--json', '--sort', 'size'], '--sort: size is no key; there are created, age, state, wake'],
    [['check', '--json', 'missing'], 'there is no file or folder missing'],
    [['check', '--json', '--bog'], "unknown option '--bog'"],
    [['fmt', '--json', '--line-width', 'x'], '--line-width: x is no number of characters'],
    [['explain', '--json', 'NO-1'], 'there is no code NO-1; harn explain lists them all'],
    [['doctor', '--json', '--model', 'm'], '--model needs a provider: harn doctor PROVIDER --model NAME'],
    [['frob', '--json'], "unknown command 'frob'"],
  ])('of %j', async (argv, message) => {
    const platform = createFakePlatform();
    expect(await main(argv, platform)).toBe(2);
    expect(JSON.parse(platform.stdio.stdout)).toEqual({
      schemaVersion: 1,
      ok: false,
      data: null,
      error: { code: 'usage', message, details: {} },
      warnings: [],
    });
    expect(platform.stdio.stderr).toContain(`harn: ${message}\n`);
  });

  it('words behind -- ask for nothing', async () => {
    const platform = createFakePlatform();
    expect(await main(['run', 'missing.harn', '--', '--json'], platform)).toBe(2);
    expect(platform.stdio.stdout).toBe('');
  });
});

describe('every command that has --json prints one envelope', () => {
  it.each([
    [['explain']],
    [['explain', 'HARN-SUS-003']],
    [['doctor']],
    [['workers', 'list']],
    [['workers', 'prune']],
    [['workers', 'verify']],
  ])('%j', async (argv) => {
    const platform = createFakePlatform();
    expect(await main([...argv, '--json'], platform)).toBe(0);
    expect(JSON.parse(platform.stdio.stdout)).toMatchObject({ schemaVersion: 1, ok: true, error: null, warnings: [] });
    expect(platform.stdio.stdout.match(/\n/g)).toHaveLength(1);
  });
});

describe('the value of a run', () => {
  it('has the text of what JSON has no form for', () => {
    const { stdout } = world.harn(['run', '--json', '-e', 'pipeline default() { return {a: 2s, b: [Ok(1), nil, 0.5], c: { x -> x }} }']);
    expect(terminalOf(stdout)?.data).toMatchObject({
      event_type: 'result',
      value: { a: '2s', b: ['Result.Ok(1)', null, 0.5], c: '<fn(x)>' },
    });
  });

  it('is an error when it is a Result.Err', () => {
    const { code, stdout } = world.harn(['run', '--json', '-e', 'Err("no luck")']);
    expect([code, terminalOf(stdout)]).toMatchObject([
      1,
      { ok: false, data: { event_type: 'error', exit_code: 1 }, error: { code: 'result_err', message: 'no luck' } },
    ]);
  });
});

describe('a rejected script', () => {
  it('says where each mistake is', () => {
    world.write('bad.harn', 'println("fine")\nlet x: int = "s"\n');
    const { stdout } = world.harn(['run', '--json', 'bad.harn']);
    expect(terminalOf(stdout)).toMatchObject({
      ok: false,
      error: { details: { errors: 1, diagnostics: [{ severity: 'error', path: 'bad.harn', line: 2, column: 1 }] } },
    });
  });

  it('one that fails says where it failed', () => {
    world.write('fails.harn', 'println("fine")\nlet d = nil\nd.x.y\n');
    const { stdout } = world.harn(['run', '--json', 'fails.harn']);
    expect(terminalOf(stdout)).toMatchObject({ ok: false, error: { code: 'runtime', details: { at: { path: 'fails.harn', line: 3 } } } });
  });
});

describe('an error that harn has not foreseen', () => {
  // Throws in the process of the command, outside everything that it waits for.
  const defect = world.write('defect.cjs', "process.once('SIGUSR2', () => { throw new Error('a defect'); });\n");

  it('ends a run with code 70, its text on standard error and the terminal event', async () => {
    const run = world.start(['run', '--json', '-e', 'println("up")\nsleep(60000)'], { NODE_OPTIONS: `--require=${defect}` });
    await run.saw('up');
    run.child.kill('SIGUSR2');
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(70);
    expect(stderr).toMatch(/^harn: internal error; please report it with this text:\nError: a defect\n/);
    expect(terminalOf(stdout)).toMatchObject({
      data: { event_type: 'error', exit_code: 70 },
      error: { code: 'internal', message: 'a defect' },
    });
  });
});

describe('what the system refuses is no defect of harn', () => {
  it.each([
    ['run', '-e', 'println("x")'],
    ['run', '-e', 'for i in 0 to 20000 { println("some text that fills the pipe") }'],
    ['workers', 'list', '--json'],
    ['--help'],
    ['--version'],
  ])('standard output on a full disk: %s', (...args) => {
    const { code, stderr } = world.shell('exec "$0" "$@" >/dev/full', args);
    expect([code, stderr]).toEqual([1, 'harn: standard output takes nothing any more (ENOSPC)\n']);
  });

  it('standard error on a full disk changes no exit code', () => {
    expect(world.shell('exec "$0" "$@" 2>/dev/full', ['run', '-e', 'throw "x"']).code).toBe(1);
    expect(world.shell('exec "$0" "$@" 2>/dev/full', ['frob']).code).toBe(2);
  });

  it.each([['run', '-e', '1'], ['run', 'x.harn'], ['workers', 'list'], ['check']])('a current folder that is gone: %s %s', (...args) => {
    const { code, stderr } = world.shell('mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"', args);
    expect([code, stderr]).toEqual([1, 'harn: the current folder is gone; change to one that exists\n']);
  });

  it('a folder that cannot be made, also where the system says that it is not there', () => {
    const { code, stderr } = world.harn(['init', '/proc/project']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^harn: \/proc\/project: .+ \(mkdir\)\n$/);
  });

  it('a recording that cannot be written', () => {
    writeFileSync(`${world.folder}/taken`, '');
    const { code, stderr, stdout } = world.harn([
      'run',
      '--json',
      '-e',
      'llm_mock({text: "a"})\nllm_call("x", nil, {provider: "mock"})',
      '--llm-mock-record',
      'taken/tape',
    ]);
    expect(code).toBe(1);
    expect(stderr).toBe('harn: taken/tape: not a directory (open)\n');
    expect(terminalOf(stdout)).toMatchObject({ error: { code: 'ENOTDIR' }, data: { exit_code: 1 } });
  });
});
