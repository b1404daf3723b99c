import { expect, test } from 'vitest';
import { linesOf, runText, type ScriptRow } from '../run-text.ts';

const ESC = '\u001b';

const ROWS: readonly ScriptRow[] = [
  ['mocked input gives lines and then nil', 'mock_stdin("a\\nb")\nprintln([read_line(), read_line(), read_line()])', ['[a, b, nil]']],
  ['reading all leaves nothing', 'mock_stdin("a\\nb\\n")\nread_line()\nprintln(read_stdin())\nprintln(read_line())', ['b', '', 'nil']],
  ['a prompt asks and reads', 'mock_stdin(" Ada \\n")\nlet name = prompt_user("name? ")\nprintln(name)', ['name? Ada']],
  [
    'captured errors are taken once',
    'capture_stderr_start()\neprint("a")\neprintln("b")\neprintln()\nprintln(json_stringify(capture_stderr_take()))',
    ['"ab\\n\\n"'],
  ],
  [
    'mocked terminals',
    'mock_tty("stdin", true)\nmock_tty("stderr", false)\nprintln(is_stdin_tty())\nprintln(is_stderr_tty())',
    ['true', 'false'],
  ],
  ['colours on a terminal only', 'mock_tty("stdout", false)\nprintln(color("x", "red"))', ['x']],
  [
    'colours always',
    'set_color_mode("always")\nprintln(color("x", "red") + bold("y") + dim("z"))',
    [`${ESC}[31mx${ESC}[0m${ESC}[1my${ESC}[0m${ESC}[2mz${ESC}[0m`],
  ],
  ['an unknown colour is plain', 'set_color_mode("always")\nprintln(color("x", "mauve"))', ['x']],
  [
    'an unknown mode',
    'println(try { set_color_mode("loud") } catch (e) { e })',
    ["set_color_mode: unknown mode 'loud'; use auto, always or never"],
  ],
  ['progress', 'progress("a", "m")\nprogress("a", "m", 50)\nprogress("a", "m", 3, 10)', ['[a] m', '[a] m (50%)', '[a] m (3/10)']],
  ['progress with a bar', 'progress("a", "m", {mode: "bar", current: 3, total: 5, width: 10})', ['[a] [######----] m (3/5)']],
  ['progress with a spinner', 'progress("a", "m", {mode: "spinner", step: 5})', ['[a] / m']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});

test('errors go to standard error', async () => {
  expect((await runText('eprintln("gone")')).err).toBe('gone\n');
});
