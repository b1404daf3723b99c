import { expect, test } from 'vitest';
import { runText } from './run-text.ts';

/** The line of the failing expression with `«»` around what the carets cover. */
const ROWS: readonly (readonly [rule: string, script: string])[] = [
  ['an operator', 'let a = 1\nlet b = 0\nprintln(3 + «a / b» * 2)'],
  ['the inner of two alike', 'fn f(a, b) { return «a / b» / 7 }\nf(1, 0)'],
  ['the outer of two alike', 'fn f(a, b) { return «7 / a / b» }\nf(1, 0)'],
  ['text and number', 'let n = 1\nprintln(«"n = " + n»)'],
  ['a sign', 'let s = "a"\nprintln(len([«-s»]))'],
  ['a power', 'let s = "a"\nprintln(«s ** 2»)'],
  ['a float', 'fn f(x: float) { return 1.5 + «x % 0.0» }\nf(2.5)'],
  ['an operand that is no float', 'fn f(x) { return «1.5 * x» }\nf("a")'],
  ['`+=`', 'fn f(n) {\n  var t = 1\n  «t += n»\n}\nf("a")'],
  ['a property of nil', 'let d = {a: nil}\nprintln("v: " + d.a.«b»)'],
  ['the second link of three', 'let d = {a: nil}\nprintln(d.a.«b».c)'],
  ['an element', 'let n = nil\nprintln(1, «n[0]»)'],
  ['an element of a range', 'let r = 1 to 3\nprintln(«r[10]» + 1)'],
  ['a slice', 'println("abc" + «"abc"[0:1.5]»)'],
  ['an index that is written to', 'var xs = [1]\nlet y = 2; «xs[5]» = y'],
  ['a nested index that is written to', 'var xs = [[1]]\n«xs[0][5]» = 2'],
  ['a property that is written to', 'var n = 5\n«n.x» = 2'],
  ['an immutable name', 'let x = 1\n«x» = 2'],
  ['a second declaration', 'let x = 1\nlet «x» = 2'],
  ['a call of what is no function', 'fn f(cb) { return 1 + «cb»(1) }\nf(5)'],
  ['a pipe into what is no function', 'let n = [5]\nprintln(3 |> «n[0]»)'],
  ['a builtin', 'println(1, «unwrap(Err("m"))»)'],
  ['a builtin of one line of a call over several', 'println(\n  [1,\n    «unwrap(Err("m"))»,\n  ],\n)'],
  ['a builtin that waits', 'let r = [1, «exec("/nonexistent/program")»]'],
  ['a file that is missing', 'let t = «read_file("nope.txt")».trim()'],
  ['a method', 'println(iter([1]).«take»(-1))'],
  ['a method with the name of a struct method', 'struct S { x }\nimpl S { fn take(self, n) { return n } }\nprintln(iter([1]).«take»(-1))'],
  ['a spread', 'println([1, ...«5»])'],
  ['a spread of a dict', 'println(len(«{a: 1, ...5}»))'],
  ['a pattern', 'let «{a}» = 5'],
  ['a propagation', 'fn f(x) { return 1 + «x»? }\nf(5)'],
  ['a parameter', 'fn f(a, «n: int») { return n }\nlet v = json_parse("\\"a\\"")\nf(1, v)'],
  ['a match without an arm', 'let x = 3\nmatch «x» {\n  1 -> { 2 }\n}'],
  ['a callback', 'println([1, 0].map({ x -> 5 + «1 / x» }))'],
  ['after something was waited for', 'fn f(x) {\n  sleep(1)\n  return [x.«y»]\n}\nf(1)'],
  ['wide characters before it', 'let 名前 = "x"; println(«名前 + 1»)'],
];

/** Known to the checker, which refuses the script, when it stands in a function. */
const STATIC: ReadonlySet<string> = new Set(['text and number', 'a power', 'wide characters before it']);

/** The same in a function that waits, where V8 tells of it differently. */
const WAITING: typeof ROWS = ROWS.filter(([rule, script]) => !STATIC.has(rule) && !/\bfn f\(/.test(script)).map(([rule, script]) => [
  `${rule}, in a function that waits`,
  `fn waiting() {\nsleep(1)\n${script}\n}\nwaiting()`,
]);

test.each([...ROWS, ...WAITING])('%s is underlined', async (_rule, marked) => {
  const script = marked.replace(/[«»]/g, '');
  const { outcome } = await runText(script);
  if (outcome.kind !== 'failed') throw new Error(`the script ended with ${JSON.stringify(outcome)}`);
  const { at } = outcome.failure;
  const lines = script.split('\n');
  const line = [...(lines[(at?.line ?? 0) - 1] ?? '')];
  const start = (at?.column ?? 1) - 1;
  const end = start + (at?.length ?? line.length);
  const shown = `${line.slice(0, start).join('')}«${line.slice(start, end).join('')}»${line.slice(end).join('')}`;
  expect(shown).toBe(marked.split('\n').find((text) => text.includes('«')));
});
