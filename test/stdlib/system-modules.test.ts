import { describe, expect, test } from 'vitest';
import { createFakePlatform, type FakePlatform, type FakePlatformOptions } from '../../src/platform/fake-platform.ts';
import { runText } from '../runtime/run-text.ts';

/** Lines that a script prints on a machine of its own, with the frozen clock of the script. */
async function linesOn(options: FakePlatformOptions, script: string): Promise<{ lines: string[]; platform: FakePlatform; err: string }> {
  const platform = createFakePlatform({ cwd: '/project', ...options });
  const { out, err, outcome } = await runText(`mock_time(0)\n${script}`, platform);
  const lines = out.split('\n').slice(0, -1);
  if (outcome.kind === 'failed') lines.push(`FAILED ${outcome.failure.message}`);
  return { lines, platform, err };
}

type Row = readonly [rule: string, options: FakePlatformOptions, script: string, lines: readonly string[]];

const ESCAPE = '\u001b';

const OS: readonly Row[] = [
  [
    'what kind of machine',
    { system: { platform: 'windows' } },
    'println([is_windows(), is_linux(), path_separator()])',
    ['[true, false, \\]'],
  ],
  [
    'a required variable',
    { env: { A: 'x' } },
    'println(env_required("A"))\nenv_required("B")',
    ['x', 'FAILED Thrown: the environment variable B is not set'],
  ],
  [
    'flags',
    { env: { A: 'Yes', B: '0' } },
    'println([env_flag("A"), env_flag("B", true), env_flag("C"), env_flag("C", true)])',
    ['[true, false, false, true]'],
  ],
  [
    'numbers',
    { env: { A: ' 8 ', B: 'x' } },
    'println([env_int("A"), env_int("C", 3)])\nenv_int("B")',
    ['[8, 3]', 'FAILED Thrown: the environment variable B is no int: x'],
  ],
  ['a machine without a person', { env: { GITHUB_ACTIONS: 'true' } }, 'println(is_ci())', ['true']],
  ['a machine with a person', {}, 'println(is_ci())', ['false']],
  [
    'which looks through PATH',
    { env: { PATH: '/a:/b' }, files: { '/b/tool': '' } },
    'println(which("tool"))\nprintln(which("none"))',
    ['/b/tool', 'nil'],
  ],
  [
    'a program that works',
    { process: ({ args }) => ({ stdout: `${args.join('+')}\n` }) },
    'println(run_checked("git", ["a", "b"]))',
    ['a+b'],
  ],
  [
    'a program that fails',
    { process: () => ({ status: 2, stderr: 'one\nno such branch\n' }) },
    'run_checked("git", ["x"])',
    ['FAILED Thrown: `git x` ended with 2: no such branch'],
  ],
  ['a line that fails', { process: () => ({ status: 1 }) }, 'shell_checked("false")', ['FAILED Thrown: `false` ended with 1']],
  [
    'home',
    { system: { homeDirectory: '/home/ada' } },
    'println([expand_home("~/x"), expand_home("~"), expand_home("~x")])',
    ['[/home/ada/x, /home/ada, ~x]'],
  ],
  [
    'a temporary directory goes, also after an error',
    {},
    'let seen = shared_cell("seen", "")\ntry { with_temp_dir({ path -> shared_set(seen, path)\nprintln(file_exists(path))\nthrow "no" }) } catch (e) { println(e) }\nprintln(file_exists(shared_get(seen)))',
    ['true', 'no', 'false'],
  ],
];

const GHA: readonly Row[] = [
  [
    'commands escape what would end them',
    {},
    String.raw`println(gha_command("warning", "50% of\nall", {file: "a,b:c", line: 3, col: nil}))`,
    ['::warning file=a%2Cb%3Ac,line=3::50%25 of%0Aall'],
  ],
  ['messages', {}, 'gha_error("bad")\ngha_debug("x")\ngha_mask("key")', ['::error::bad', '::debug::x', '::add-mask::key']],
  [
    'a group ends after an error',
    {},
    'try { gha_group("Build", { -> throw "no" }) } catch (e) { println(e) }',
    ['::group::Build', '::endgroup::', 'no'],
  ],
  [
    'inputs',
    { env: { INPUT_MY_NAME: 'ada', INPUT_EMPTY: '' } },
    'println([gha_input("my name"), gha_input("empty", "none")])',
    ['[ada, none]'],
  ],
  [
    'outside of a job',
    {},
    'println(is_gha())\nprintln(gha_event())\ngha_summary("x")',
    ['false', '{}', 'FAILED Thrown: GITHUB_STEP_SUMMARY is not set: this does not run in GitHub Actions'],
  ],
  [
    'the event and the run',
    {
      env: { GITHUB_EVENT_PATH: '/e.json', GITHUB_REPOSITORY: 'a/b', GITHUB_RUN_ID: '7' },
      files: { '/e.json': '{"action":"opened"}' },
    },
    'println(gha_event().action)\nprintln(gha_context().run_url)',
    ['opened', 'https://github.com/a/b/actions/runs/7'],
  ],
];

const SIGNAL: readonly Row[] = [
  [
    'names and numbers',
    {},
    'println([signal_number("TERM"), signal_number("sigint"), signal_number(9), signal_name(15), signal_name(99)])',
    ['[15, 2, 9, SIGTERM, nil]'],
  ],
  ['exit codes', {}, 'println([signal_exit_code("INT"), signal_of_exit_code(143), signal_of_exit_code(1)])', ['[130, SIGTERM, nil]']],
  ['an unknown signal', {}, 'signal_number("FOO")', ['FAILED Thrown: unknown signal: FOO']],
  ['a number that is no signal', {}, 'send_signal(9, -9)', ['FAILED Thrown: unknown signal: -9']],
  ['groups of processes are refused', {}, 'send_signal(0)', ['FAILED Thrown: a process id is a positive int, got 0']],
  ['nothing to stop', { process: () => ({ status: 1 }) }, 'println(stop_process(9))', ['gone']],
  [
    'a process that ends when asked',
    { process: ({ command }) => ({ status: command.startsWith('kill -15 9') ? 0 : 1 }) },
    'println(stop_process(9))',
    ['terminated'],
  ],
  [
    'a process that does not end is killed after the grace time',
    { process: () => ({ status: 0 }) },
    'println(stop_process(9, 100ms))\nprintln(now_ms())',
    ['killed', '100'],
  ],
];

const IO: readonly Row[] = [
  ['lines of standard input', { stdin: 'a\nb\n' }, 'println(stdin_lines())', ['[a, b]']],
  ['each line as it comes', { stdin: 'a\nb\n' }, 'println(each_stdin_line({ line -> println(line.upper()) }))', ['A', 'B', '2']],
  ['JSON in, JSON lines out', { stdin: '[{"a":1},2]' }, 'print_jsonl(stdin_json())', ['{"a":1}', '2']],
  ['blank lines of JSON Lines count for nothing', { stdin: '1\n\n{"a":2}\n' }, 'println(stdin_jsonl())', ['[1, {a: 2}]']],
  [
    'a bad line is named',
    {},
    String.raw`println(try { parse_jsonl("1\n{") } catch (e) { e.starts_with("line 2: JSON parse error") })`,
    ['true'],
  ],
  [
    'files of JSON Lines',
    {},
    'write_jsonl("/d/x.jsonl", [1])\nappend_jsonl("/d/x.jsonl", {b: 2})\nprintln(read_jsonl("/d/x.jsonl"))',
    ['[1, {b: 2}]'],
  ],
  ['a pipe and a person', { tty: ['stdin'] }, 'println(has_piped_stdin())', ['false']],
];

const ANSI: readonly Row[] = [
  [
    'off, styles leave the text alone',
    {},
    'println(style("a", {color: "red", bold: true}) + underline("b") + rgb("c", 1, 2, 3))\nprintln(link("a", "http://b.test"))',
    ['abc', 'a (http://b.test)'],
  ],
  [
    'on, each style ends by itself',
    {},
    'set_color_mode("always")\nprintln(underline("a") + on_rgb("b", 1, 2, 3))',
    [`${ESCAPE}[4ma${ESCAPE}[24m${ESCAPE}[48;2;1;2;3mb${ESCAPE}[49m`],
  ],
  [
    'what is stripped',
    {},
    'set_color_mode("always")\nprintln(strip_ansi(style("a", {color: "red", italic: true}) + link("b", "http://x.test") + cursor_up(2) + "c"))',
    ['abc'],
  ],
  [
    'columns',
    {},
    'println([visible_width("abc"), visible_width("日本"), visible_width("👍🏽"), visible_width("é"), visible_width("")])',
    ['[3, 4, 2, 1, 0]'],
  ],
  [
    'padding and cutting',
    {},
    'println(pad_visible("日", 4) + "|" + pad_visible("a", 3, "left") + "|" + pad_visible("a", 4, "both") + "|")\nprintln(truncate_visible("日本語", 5))\nprintln(truncate_visible("abc", 3))',
    ['日  |  a| a  |', '日本…', 'abc'],
  ],
];

const TUI: readonly Row[] = [
  [
    'wrapping breaks at blanks',
    {},
    String.raw`println(wrap_text("the quick brown incomprehensibilities\n\nend", 10))`,
    ['the quick', 'brown', 'incomprehensibilities', '', 'end'],
  ],
  [
    'a box is as wide as it needs, or as told',
    {},
    String.raw`println(box("a\nlonger"))
println(box("a long line", {width: 8, title: "T"}))`,
    ['╭────────╮', '│ a      │', '│ longer │', '╰────────╯', '╭─ T ──╮', '│ a l… │', '╰──────╯'],
  ],
  ['rules', {}, 'println(rule(nil, 4))\nprintln(rule("A", 8))', ['────', '── A ───']],
  ['names and values', {}, 'println(key_values({a: 1, long: 2}))', ['a     1', 'long  2']],
  ['columns', {}, 'println(columns(["a", "bb", "c"], 8))', ['a   bb', 'c']],
  [
    'a tree',
    {},
    'println(tree({label: "r", children: [{label: "a", children: [{label: "b"}]}, {label: "c"}]}))',
    ['r', '├── a', '│   └── b', '└── c'],
  ],
  ['bars', {}, 'println(progress_bar(1, 4, 8))\nprintln(progress_bar(0, 0, 2))', ['[##------]  25% (1/4)', '[##] 100% (0/0)']],
  [
    'an empty answer takes the fallback',
    { stdin: '\nBob\n' },
    'println(ask("Name?", "Ada"))\nprintln(ask("Name?"))\nprintln(ask("Name?", "none"))',
    ['Name? [Ada] Ada', 'Name? Bob', 'Name? [none] none'],
  ],
  [
    'yes, no and anything else',
    { stdin: 'maybe\nNO\n' },
    'println(confirm("Sure?", true))\nprintln(confirm("Sure?", true))',
    ['Sure? [Y/n] Please answer y or n.', 'Sure? [Y/n] false', 'Sure? [Y/n] true'],
  ],
  [
    'a choice by number, by text, and none',
    { stdin: '9\n2\nRED\n' },
    'for _ in 1 to 3 { println(choose("?", ["red", "blue"])) }',
    [
      '?',
      '  1. red',
      '  2. blue',
      '> Please choose 1 to 2.',
      '> blue',
      '?',
      '  1. red',
      '  2. blue',
      '> red',
      '?',
      '  1. red',
      '  2. blue',
      '> nil',
    ],
  ],
];

describe.each([
  ['os', OS],
  ['gha', GHA],
  ['signal', SIGNAL],
  ['io', IO],
  ['ansi', ANSI],
  ['tui', TUI],
] as const)('std/%s', (module, rows) => {
  test.each(rows)('%s', async (_rule, options, script, lines) => {
    expect((await linesOn(options, `import "std/${module}"\n${script}`)).lines).toEqual(lines);
  });
});

test('std/gha: outputs are written so that no value can end them', async () => {
  const { platform } = await linesOn(
    { env: { GITHUB_OUTPUT: '/out', GITHUB_PATH: '/path' } },
    String.raw`import "std/gha"
gha_set_output("text", "a\nb")
gha_set_output("list", [1])
gha_add_path("/opt/bin")`,
  );
  expect(platform.files.readText('/out')).toMatch(/^text<<(harn_[\w-]+)\na\nb\n\1\nlist<<(harn_[\w-]+)\n\[1\]\n\2\n$/);
  expect(platform.files.readText('/path')).toBe('/opt/bin\n');
});

test('std/io: die tells why on standard error', async () => {
  const { err, lines } = await linesOn({}, 'import "std/io"\ndie("no input", 3)\nprintln("never")');
  expect([err, lines]).toEqual(['no input\n', []]);
});
