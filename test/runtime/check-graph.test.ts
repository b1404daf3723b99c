import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  ['a program with errors prints nothing', 'println(1)\nlet x: int = "a"', ["REJECTED 'x' declared as int, but assigned string"]],
  [
    'all errors are told at once',
    'let a: int = "a"\nlet b: int = "b"',
    ["REJECTED 'a' declared as int, but assigned string; 'b' declared as int, but assigned string"],
  ],
  ['warnings do not stop a run', 'fn f(a, b) { println(a) }\nf(1)', ['1']],
  ['an assignment to let fails only where it is reached', 'let x = 1\nif len([]) > 0 { x = 2 }\nprintln(x)', ['1']],
  ['every module of the library passes', 'import "std/text"\nimport "std/collections"\nimport "std/json"\nprintln("ok")', ['ok']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
