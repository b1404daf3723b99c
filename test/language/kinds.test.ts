import { expect, test } from 'vitest';
import { linesOf } from '../runtime/run-text.ts';

/** What the emitter infers of variables shows only in results: a wrong guess prints a wrong number. */
const ROWS: readonly (readonly [rule: string, body: string, printed: string])[] = [
  ['a counter stays a whole number', 'var n = 0\nfor i in 0 to 3 { n = n + i * 2 }\nprintln(n)', '12'],
  [
    'a variable widens to a float through another',
    'var a = 1\nvar b = 2\nfor i in 0 to 2 { a = b\n b = a * 0.5 }\nprintln("${a} ${b}")',
    '0.5 0.25',
  ],
  ['a variable that changes its kind keeps each value', 'var v: any = 1\nprintln(v + 1)\nv = "a"\nprintln(v + "b")', '2|ab'],
  ['two variables that swap kinds', 'var a: any = 1\nvar b: any = 2.5\nlet t = a\na = b\nb = t\nprintln("${a} ${b}")', '2.5 1'],
  ['whole numbers wrap wherever they come from', 'var a = 1\nvar b = 0\nfor i in 1 to 64 { b = a + a\n a = b }\nprintln(a)', '0'],
  ['a float of a branch is a float', 'var x = 1\nfor i in 0 to 1 { x = i == 0 ? 2 : x }\nprintln(x / 4)', '0'],
  ['an index that is assigned to may be anything', 'for i in 0 to 1 { i = i + 0.5\n println(i) }', '0.5|1.5'],
];

for (const [rule, body, printed] of ROWS) {
  test(rule, async () => {
    expect((await linesOf(`fn f() {\n${body}\n}\nf()`)).join('|')).toBe(printed);
  });
}

test('variables made of each other cost no more than their number', async () => {
  const links = Array.from({ length: 400 }, (_, at) => `let b${at + 1} = b${at} + b${at}`).join('\n');
  const script = `fn f() {\nvar a = 1\nfor i in 0 to 2 {\nlet b0 = a\n${links}\na = b400 + 1\n}\nreturn a\n}\nprintln(f())`;
  expect(await linesOf(script)).toEqual(['1']);
});
