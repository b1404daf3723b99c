import { afterAll, describe, expect, it } from 'vitest';
import { WORKER_COMMANDS } from '../../src/cli/worker-commands.ts';
import { CliWorld, events } from './harn.ts';

const world = new CliWorld();
afterAll(() => world.remove());

interface Row {
  readonly rule: string;
  readonly args: readonly string[];
  readonly code: number;
  /** What standard error must contain; empty means that it stays empty. */
  readonly stderr: string;
  readonly stdout?: string;
}

const script = (text: string, ...rest: string[]): string[] => ['run', '-e', text, ...rest];

const rows: readonly Row[] = [
  { rule: 'a script that ends well', args: script('println("a")'), code: 0, stderr: '', stdout: 'a\n' },
  { rule: 'an entry value that is text', args: script('pipeline default() { return "seven" }'), code: 0, stderr: '', stdout: '' },
  { rule: 'an entry value that is an int', args: script('pipeline default() { return 7 }'), code: 7, stderr: '' },
  { rule: 'the value of the last statement', args: script('println("a")\n3'), code: 3, stderr: '' },
  { rule: 'an int below the range', args: script('-5'), code: 0, stderr: '' },
  { rule: 'an int above the range', args: script('100000'), code: 255, stderr: '' },
  { rule: 'exit(n), which runs no finally', args: script('try { exit(9) } finally { println("no") }'), code: 9, stderr: '', stdout: '' },
  { rule: 'exit(n) above the range', args: script('exit(256)'), code: 255, stderr: '' },
  { rule: 'Result.Ok', args: script('Ok(1)'), code: 0, stderr: '' },
  { rule: 'Result.Err, whose payload is shown', args: script('Err("no luck")'), code: 1, stderr: 'error: no luck\n' },
  { rule: 'a lexer error', args: script('let x = "open'), code: 1, stderr: 'Unterminated string' },
  { rule: 'a parser error', args: script('let = 1'), code: 1, stderr: 'error: ' },
  { rule: 'a checker error', args: script('let x: int = "s"'), code: 1, stderr: 'declared as int, but assigned string' },
  { rule: 'a missing import', args: script('import "no/such/file"'), code: 1, stderr: 'no/such/file' },
  { rule: 'a thrown value', args: script('throw "broken"'), code: 1, stderr: 'error: Thrown: broken\n' },
  { rule: 'a run-time error', args: script('let d = nil\nd.x.y'), code: 1, stderr: ' (line 2)' },
  { rule: 'a HARN code', args: script('resume_agent("worker_missing")'), code: 1, stderr: 'error: Runtime error: HARN-SUS-004' },
  {
    rule: 'a model error',
    args: script('llm_mock({error: {category: "auth"}})\nllm_call("x", nil, {provider: "mock"})'),
    code: 1,
    stderr: 'error: Error [auth]',
  },
  {
    rule: 'a loop that parked',
    args: script(
      'llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "a decision"}}]})\nagent_loop("x", nil, {provider: "mock"})',
    ),
    code: 0,
    stderr: 'harn: resume with: harn run --resume .harn/workers/worker_',
  },
  { rule: 'a resume of what is not there', args: ['run', '--resume', 'worker_none.json'], code: 1, stderr: '  snapshot: ' },
  { rule: 'a missing script', args: ['run', 'missing.harn'], code: 2, stderr: 'harn: cannot read missing.harn: there is no such file\n' },
  { rule: 'a script that is a folder', args: ['run', '.'], code: 2, stderr: 'harn: cannot read .: it is a directory\n' },
  { rule: 'nothing to run', args: ['run'], code: 2, stderr: 'give a script: harn run script.harn' },
  { rule: 'an unknown option', args: ['run', '--frob', 'a.harn'], code: 2, stderr: 'unknown option --frob; see harn run --help' },
  { rule: 'a misspelt option', args: ['run', '--jsno', 'a.harn'], code: 2, stderr: 'unknown option --jsno; did you mean --json?' },
  { rule: 'an unknown command', args: ['frob'], code: 2, stderr: "harn: unknown command 'frob'" },
  { rule: 'a misspelt command of workers', args: ['workers', 'lst'], code: 2, stderr: 'harn workers --help lists the commands' },
  { rule: 'an empty name of a script', args: ['run', ''], code: 2, stderr: 'the name of the script is empty' },
  { rule: 'an empty name of a worker', args: ['run', '--resume', ''], code: 2, stderr: '--resume needs a value' },
  { rule: 'a code that is nearly one', args: ['explain', 'sus-03'], code: 2, stderr: 'did you mean HARN-SUS-003?' },
  { rule: 'two scripts', args: ['run', 'a.harn', 'b'], code: 2, stderr: 'harn run a.harn -- b' },
  { rule: '--resume with a script', args: ['run', '--resume', 'w.json', 'yes'], code: 2, stderr: 'harn run --resume w.json -- "yes"' },
  { rule: '--resume with -e', args: ['run', '--resume', 'w.json', '-e', '1'], code: 2, stderr: '--resume and -e exclude each other' },
  {
    rule: '--allow with --deny',
    args: ['run', '--allow', 'len', '--deny', 'len', 'a.harn'],
    code: 2,
    stderr: '--allow and --deny exclude each other',
  },
  {
    rule: 'a flag where a value should be',
    args: ['run', '--resume', '--quiet'],
    code: 2,
    stderr: '--resume needs a value: --resume <path-or-id>',
  },
  {
    rule: 'replaying and recording at once',
    args: ['run', '--llm-mock', 'a', '--llm-mock-record', 'b', 'c.harn'],
    code: 2,
    stderr: '--llm-mock and --llm-mock-record exclude each other',
  },
  {
    rule: 'an option without its value',
    args: ['run', 'a.harn', '--llm-mock'],
    code: 2,
    stderr: '--llm-mock needs a value: --llm-mock <file>',
  },
  { rule: 'a value for a switch', args: ['run', 'a.harn', '--json=yes'], code: 2, stderr: '--json takes no value' },
  { rule: 'a resume flag without --resume', args: ['run', 'a.harn', '--suspension', 's'], code: 2, stderr: '--suspension needs --resume' },
  {
    rule: 'a replay file that is not there',
    args: script('1', '--llm-mock', 'none.jsonl'),
    code: 2,
    stderr: '--llm-mock: cannot read none.jsonl',
  },
  { rule: 'a misspelt builtin in --deny', args: script('1', '--deny', 'read_fil'), code: 2, stderr: 'did you mean read_file?' },
  { rule: '--version', args: ['--version'], code: 0, stderr: '', stdout: '0.1.0\n' },
];

describe('D9 T41: exit codes', () => {
  it.each(rows)('$rule: $code', ({ args, code, stderr, stdout }) => {
    const ended = world.harn(args);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr: stderr === '' ? '' : expect.stringContaining(stderr) });
    if (stdout !== undefined) expect(ended.stdout).toBe(stdout);
    if (code === 2) expect(ended.stdout).toBe('');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('a script without loops is ended by %s with its code', async (signal) => {
    const run = world.start(script('println("up")\nsleep(60000)\nprintln("no")', '--json'));
    await run.saw('up');
    run.child.kill(signal);
    const { code, stdout } = await run.ended;
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(events(stdout).at(-1)).toMatchObject({
      ok: false,
      data: { event_type: 'error' },
      error: { code: 'signal', details: { signal } },
    });
  });

  it('a script whose reader went away ends, even when it never waits', async () => {
    const run = world.start(script('var i = 0\nwhile true { println(i)\n i += 1 }'));
    await run.saw('9\n');
    run.child.stdout?.destroy();
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([141, '']);
  });
});

describe('flags of run', () => {
  it('words behind -- are the argv of the script', () => {
    expect(world.harn(script('println(argv)', '--', '-x', 'two words')).stdout).toBe('[-x, two words]\n');
  });

  it('--deny fails the call, and only when it happens', () => {
    const { code, stdout, stderr } = world.harn(script('println("a")\nread_file("x")', '--deny', 'read_file,exec'));
    expect([code, stdout]).toEqual([1, 'a\n']);
    expect(stderr).toContain("Permission denied: builtin 'read_file' is not allowed (--deny names it) (line 2)");
  });

  it('--allow leaves what computes and prints', () => {
    const { code, stdout, stderr } = world.harn(script('println(len("abc"))\nexec("ls")', '--allow', 'read_file'));
    expect([code, stdout]).toEqual([1, '3\n']);
    expect(stderr).toContain("builtin 'exec' is not allowed (add it to --allow)");
  });

  it('--deny holds for the methods of the handle as well', () => {
    expect(world.harn(script('harness.fs.read_text("x")', '--deny', 'read_file')).stderr).toContain("builtin 'read_file' is not allowed");
  });

  it('--trace says what the models cost', () => {
    const { stderr } = world.harn(
      script('llm_mock({text: "hi", input_tokens: 3, output_tokens: 4})\nllm_call("x", nil, {provider: "mock"})', '--trace'),
    );
    expect(stderr).toMatch(/^harn: 1 model call, 3 input tokens, 4 output tokens, \$\d\.\d{4}\n$/);
  });

  it('what --llm-mock-record wrote can be replayed', () => {
    const call = 'println(llm_call("x", nil, {provider: "mock"}).text)';
    world.harn(script(`llm_mock({text: "recorded"})\n${call}`, '--llm-mock-record', 'tape.jsonl'));
    expect(world.harn(script(call, '--llm-mock', 'tape.jsonl')).stdout).toBe('recorded\n');
  });

  it('--quiet tells nothing of a park', () => {
    const park =
      'llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "r"}}]})\nagent_loop("x", nil, {provider: "mock"})';
    expect(world.harn(script(park, '--quiet')).stderr).toBe('');
  });
});

it('a worker that is no root loop says as well how to go on, when a resume parked it again', () => {
  const own = new CliWorld();
  try {
    const park = (reason: string): string => `{tool_calls: [{name: "agent_await_resumption", arguments: {reason: "${reason}"}}]}`;
    const parked = own.harn(
      script(`llm_mock(${park('first')})\nlet h = spawn_agent({name: "child", task: "go"})\nprintln(wait_agent(h).status)`),
    );
    expect(parked).toEqual({ code: 0, stdout: 'suspended\n', stderr: '' });
    own.write('again.jsonl', '{"tool_calls":[{"name":"agent_await_resumption","arguments":{"reason":"second"}}]}\n');
    const [snapshot = ''] = own.snapshots();
    const resumed = own.harn(['run', '--resume', snapshot, '--llm-mock', 'again.jsonl']);
    expect([resumed.code, resumed.stdout]).toEqual([0, '']);
    expect(resumed.stderr).toMatch(
      /^harn: agent parked \(worker_\S+\): second\nharn: resume with: harn run --resume \.harn\/workers\/worker_\S+\.json\n$/,
    );
  } finally {
    own.remove();
  }
});

describe('help', () => {
  const workerCommands = Object.keys(WORKER_COMMANDS).map((name) => ['workers', name, '--help']);

  /** What `harn --help` lists. */
  function commandNames(): string[] {
    const [, list = ''] = world.harn(['--help']).stdout.split(/^Commands:$/m);
    return [...list.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
  }

  it('of every command fits 80 columns', { timeout: 60_000 }, () => {
    const names = commandNames().filter((name) => name !== 'help');
    expect(names).toEqual(expect.arrayContaining(['run', 'serve', 'workers']));
    const commands = [['--help'], ['help', 'run'], ...names.map((name) => [name, '--help']), ...workerCommands];
    for (const args of commands) {
      const { code, stdout, stderr } = world.harn(args);
      expect([args, code, stderr]).toEqual([args, 0, '']);
      expect(stdout).toMatch(/^Usage: harn/);
      for (const line of stdout.split('\n')) expect(line.length, `${args.join(' ')}: ${line}`).toBeLessThanOrEqual(80);
    }
  });
});
