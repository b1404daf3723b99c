import { describe, expect, test } from 'vitest';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { runScript } from '../../src/runtime/run.ts';

/** Runs `/app/main.harn` among these files. @returns what it printed, or the message that it failed with */
async function run(files: Readonly<Record<string, string>>, path = '/app/main.harn'): Promise<readonly string[] | string> {
  const platform = createFakePlatform({ cwd: '/app', files });
  let printed = '';
  const outcome = await runScript({
    platform,
    script: { path, text: files[path] ?? '' },
    argv: [],
    stateRoot: '/app/.harn',
    output: {
      out: (piece) => {
        printed += piece;
      },
      err: () => {},
    },
  });
  if (outcome.kind === 'failed') return outcome.failure.message;
  if (outcome.kind === 'rejected') return outcome.diagnostics.map(({ message }) => message).join('; ');
  return printed.split('\n').slice(0, -1);
}

test('a script without a file stands in the folder it is run from', async () => {
  expect(await run({ '<stdin>': 'println(source_dir())\nprintln(asset_root())' }, '<stdin>')).toEqual(['/app', '/app']);
});

const COUNTER = `var count = 0
let start = 10
pub fn next_number() { count = count + 1; return count }
pub fn seen() { return count }
pub fn sum_with_next() { return count + next_number() }
fn helper() { return start }
pub fn through_helper() { return helper() }
pub fn with_default(a = start, ...rest) { return [a, rest] }
pub struct Point { x: int }
impl Point { fn doubled(self) { return self.x * 2 } }
pub enum Light { Red, Green(n) }
println("statements of a module do not run")`;

const LINES: readonly (readonly [rule: string, files: Readonly<Record<string, string>>, lines: readonly string[]])[] = [
  [
    'the variables of a module are one store for all who import it',
    {
      '/app/counter.harn': COUNTER,
      '/app/other.harn': 'import "./counter"\npub fn also() { return next_number() }',
      '/app/main.harn':
        'import { next_number, seen } from "./counter"\nimport { also } from "./other.harn"\nnext_number()\nalso()\nprintln(seen())',
    },
    ['2'],
  ],
  [
    'an operand that a later call changes keeps its value',
    { '/app/counter.harn': COUNTER, '/app/main.harn': 'import "./counter"\nnext_number()\nprintln(sum_with_next())' },
    ['3'],
  ],
  [
    'an imported function sees what is private at home',
    {
      '/app/counter.harn': COUNTER,
      '/app/main.harn': 'import "./counter"\nprintln(through_helper())\nprintln(with_default())\nprintln(with_default(1, 2))',
    },
    ['10', '[10, []]', '[1, [2]]'],
  ],
  [
    'a tool or a skill that a block declares does not take the name of one of the file',
    {
      '/app/kit.harn': `pub tool read(path: string) -> string { description "file"
 return path }
pub skill guide { description "file" }
pub fn shadow() { tool read(n: int) -> int { description "block"
 return n }
 skill guide { description "block" }
 return [read.tools[0].description, guide.skills[0].description] }`,
      '/app/main.harn':
        'import { read, guide, shadow } from "./kit"\nprintln(shadow())\nprintln(read.tools[0].description)\nprintln(guide.skills[0].description)',
    },
    ['[block, block]', 'file', 'file'],
  ],
  [
    'structs with their methods and enums come along',
    { '/app/counter.harn': COUNTER, '/app/main.harn': 'import "./counter"\nprintln(Point {x: 4}.doubled())\nprintln(Light.Green(3))' },
    ['8', 'Light.Green(3)'],
  ],
  [
    'a private function can be imported by its name, also beside a module that hides it',
    {
      '/app/counter.harn': COUNTER,
      '/app/facade.harn': 'pub import "./counter"',
      '/app/main.harn': 'import "./facade"\nimport { helper, seen } from "./counter"\nprintln(helper())\nprintln(seen())',
    },
    ['10', '0'],
  ],
  [
    'everything is visible of a module that marks nothing as public',
    { '/app/plain.harn': 'fn one() { return 1 }\nfn two() { return 2 }', '/app/main.harn': 'import "./plain"\nprintln(one() + two())' },
    ['3'],
  ],
  [
    'modules may import each other',
    {
      '/app/even.harn': 'import "./odd"\npub fn even(n) { if n == 0 { return true }; return odd(n - 1) }',
      '/app/odd.harn': 'import "./even"\npub fn odd(n) { if n == 0 { return false }; return even(n - 1) }',
      '/app/main.harn': 'import "./even"\nprintln(even(7))\nprintln(even(20000))',
    },
    ['false', 'true'],
  ],
  [
    'a local variable shadows an import',
    {
      '/app/plain.harn': 'pub fn one() { return 1 }',
      '/app/main.harn': 'import { one } from "./plain"\nlet f = one\nlet one = 5\nprintln(one)',
    },
    ['5'],
  ],
  [
    'packages are found as a file, a folder, or through their manifest',
    {
      '/app/.harn/packages/kit/tool.harn': 'pub fn a() { return "file" }',
      '/app/.harn/packages/bag/lib.harn': 'pub fn b() { return "folder" }',
      '/app/.harn/packages/box/harn.toml': '[exports]\nlib = "src/main.harn"\n"deep/part" = "src/part.harn"\n',
      '/app/.harn/packages/box/src/main.harn': 'pub fn c() { return "lib" }',
      '/app/.harn/packages/box/src/part.harn': 'pub fn d() { return "part" }',
      '/app/main.harn': 'import kit::tool::{a}\nimport "bag"\nimport "box"\nimport "box/deep/part"\nprintln("${a()} ${b()} ${c()} ${d()}")',
    },
    ['file folder lib part'],
  ],
];

describe('imports', () => {
  test.each(LINES)('%s', async (_rule, files, lines) => {
    expect(await run(files)).toEqual(lines);
  });
});

const A = { '/app/a.harn': 'pub fn f() { return 1 }\nfn hidden() { return 0 }' };
const B = { '/app/b.harn': 'pub fn f() { return 2 }' };

const FAILURES: readonly (readonly [main: string, files: Readonly<Record<string, string>>, message: string])[] = [
  ['import "./gone"', {}, "Import error: cannot read '/app/gone.harn': No such file or directory (os error 2)"],
  ['import "std/gone"', {}, 'Unknown stdlib module: std/gone'],
  ['import { g } from "./a"', A, "Import error: 'g' is not defined in ./a"],
  ['pub import { g } from "./a"', A, "Re-export error: 'g' is not exported by './a'"],
  ['import "./broken"', { '/app/broken.harn': 'fn f( {' }, 'Import parse error: Expected parameter name, got { at 1:7'],
  ['import "./broken"', { '/app/broken.harn': 'let x = `' }, "Import lex error: Unexpected character '`' at 1:9"],
  [
    'import "./a"\nimport "./b"',
    { ...A, ...B },
    'Import collision: \'f\' is already defined when importing ./b. Use selective imports to disambiguate: import { f } from "..."',
  ],
  [
    'import "./a"\nfn f() { return 3 }',
    A,
    'Import collision: \'f\' is already defined when importing ./a. Use selective imports to disambiguate: import { f } from "..."',
  ],
  ['pub import { f } from "./a"\nfn f() { return 3 }', A, "Re-export collision: 'f' is defined here and also re-exported from './a'"],
  [
    'import "./c"',
    { ...A, '/app/c.harn': 'pub import { f } from "./a"\npub fn f() { return 3 }' },
    "Re-export collision: 'f' is defined here and also re-exported from './a'",
  ],
  [
    'import "kit/../../secret"',
    { '/app/.harn/secret.harn': 'pub fn f() { return 1 }', '/app/.harn/packages/kit/lib.harn': '' },
    "Import error: 'kit/../../secret' leaves its package",
  ],
];

describe('imports that fail', () => {
  test.each(FAILURES)('%s', async (main, files, message) => {
    expect(await run({ ...files, '/app/main.harn': main })).toBe(message);
  });
});
