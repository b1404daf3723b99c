import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  ['main receives the harness', 'fn main(harness: Harness) { harness.stdio.println("in main") }', ['in main']],
  ['the global is the same handle', 'let global = harness\nprintln(global == harness)\nprintln(type_of(global))', ['true', 'Harness']],
  [
    'a part can be kept and passed on',
    'fn say(out) { out.println("x") }\nlet io = harness.stdio\nsay(io)\nprintln(type_of(io))',
    ['x', 'HarnessStdio'],
  ],
  [
    'a password is a line of input',
    'mock_stdin("secret\\nrest")\ncapture_stderr_start()\nlet word = harness.term.read_password("Key: ")\nprintln("${word} ${capture_stderr_take()}|${read_line()}")\nprintln(harness.term.read_password())',
    ['secret Key: |rest', 'nil'],
  ],
  ['a method is a value', '["a", "b"].map(harness.stdio.println)', ['a', 'b']],
  [
    'an unknown method is an error',
    'harness.stdio.shout("x")',
    ['FAILED Type error: value of type HarnessStdio has no method `shout` (line 2)'],
  ],
  [
    'a method of another part is unknown',
    'harness.stdio.read_text("x")',
    ['FAILED Type error: value of type HarnessStdio has no method `read_text` (line 2)'],
  ],
  [
    'an unknown method of the root is an error',
    'harness.shout()',
    ['FAILED Type error: value of type Harness has no method `shout` (line 2)'],
  ],
  ['the clock is the one of mock_time', 'harness.clock.sleep_ms(5)\nprintln(harness.clock.now_ms())', ['5']],
  [
    'testing sets the clock',
    'harness.testing.clock_set(50)\nharness.testing.clock_advance(7)\nprintln(now_ms())\nharness.testing.clock_reset()',
    ['57'],
  ],
  [
    'files by their new names',
    'println(harness.fs.exists("/no/such"))\nprintln(harness.fs.read_text_result("/no/such").variant)',
    ['false', 'Err'],
  ],
  ['both styles on files', 'println(harness.fs.file_exists("/no/such"))', ['false']],
  [
    'the environment',
    'println(harness.env.get("NO_SUCH_VARIABLE_HERE"))\nprintln(harness.env.get_or("NO_SUCH_VARIABLE_HERE", "d"))',
    ['nil', 'd'],
  ],
  ['random ranges include both ends', 'println(harness.random.range(3, 3))\nprintln(harness.random.range(2, 1))', ['3', 'nil']],
  [
    'random ranges want ints',
    'harness.random.range(1.5, 2)',
    ['FAILED Type error: HarnessRandom.range expects an integer min argument (line 2)'],
  ],
  [
    'random ranges want two ints',
    'harness.random.range(1)',
    ['FAILED Type error: HarnessRandom.range expects an integer max argument (line 2)'],
  ],
  ['random bytes', 'println(len(harness.random.bytes(1024)))', ['1024']],
  [
    'random bytes have a limit',
    'harness.random.bytes(0)',
    ['FAILED Type error: HarnessRandom.bytes expects a length from 1 through 1024 (line 2)'],
  ],
  [
    'random numbers',
    'println(harness.random.f64() < 1)\nprintln(harness.random.u64() >= 0)\nprintln(len(harness.random.uuid()))',
    ['true', 'true', '36'],
  ],
  ['templates', 'println(harness.fs.render_template("{{ a }}!", {a: 1}))', ['1!']],
  ['hashes', 'println(harness.crypto.sha256("hello")[0:8])', ['2cf24dba']],
  ['the network has mocks', 'http_mock("GET", "http://x/*", {body: "hi"})\nprintln(harness.net.get("http://x/1").body)', ['hi']],
  [
    'a part under its own name waits too',
    'http_mock("GET", "http://x/*", {body: "hi"})\nlet net = harness.net\nprintln(net.get("http://x/1").body)',
    ['hi'],
  ],
  [
    'a process that must have a name',
    'harness.process.run({program: ""})',
    ['FAILED Type error: HarnessProcess.run: command.program must be a non-empty string (line 2)'],
  ],
  ['shared state', 'println(harness.runtime.shared_get(harness.runtime.shared_cell("k", 3)))', ['3']],
  ['models', 'harness.llm.mock_enqueue({text: "t"})\nprintln(harness.llm.call("q", nil, {provider: "mock"}).text)', ['t']],
  ['tools', 'println(harness.tools.count(harness.tools.registry()))', ['0']],
  ['system facts', 'println(harness.system.pid() == pid())', ['true']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});

test('a process gets its input and its environment', async () => {
  const script = `let done = harness.process.run({program: "sh", args: ["-c", "cat; printf %s \\"$GREETING\\""], stdin: "in ", env: {GREETING: "hi"}})
println(done.stdout)
println(done.success)`;
  expect(await linesOf(script)).toEqual(['in hi', 'true']);
});
