import { describe, expect, test } from 'vitest';
import { parse } from '../../src/language/parser.ts';
import { messagesOf } from './outline.ts';

describe('what does not read is said with its place', () => {
  const separator = 'separator (`;` or newline)';
  const rows: readonly (readonly [source: string, message: string])[] = [
    ['let fs = [len]; let r = fs[0]("a")', `Expected top-level item ${separator}, got ( at 1:30`],
    ['let c = true; let v = c ? [1] : [2]', `Expected top-level item ${separator}, got : at 1:31`],
    ['let a = 1;; let b = 2', 'Expected expression, got ; at 1:11'],
    ['let a = 1 let b = 2', `Expected top-level item ${separator}, got let at 1:11`],
    ['let v = 1_000', `Expected top-level item ${separator}, got id(_000) at 1:10`],
    ['fn f() {\n  let a = 1 let b = 2\n}', `Expected statement ${separator}, got let at 2:13`],
    ['f(1)(2)', `Expected top-level item ${separator}, got ( at 1:5`],
    ['if a { 1 }; else { 2 }', 'Expected expression, got else at 1:13'],
    ['try { 1 }; catch { 2 }', 'Expected expression, got catch at 1:12'],
    ['while (a) && b { 1 }', 'Expected {, got && at 1:11'],
    ['let x =', 'Unexpected end of file, expected expression'],
    ['fn f() {', 'Unexpected end of file, expected }'],
    ['f(1', 'Unexpected end of file, expected expression'],
    ['let 5 = 1', 'Expected variable name or destructuring pattern, got int(5) at 1:5'],
    ['let "a" = 1', 'Expected variable name or destructuring pattern, got str(a) at 1:5'],
    ['f(1.5 :)', 'Expected expression, got : at 1:7'],
    ['let a = \n\n)', 'Expected expression, got ) at 3:1'],
    ['x.\n', 'Expected property name, got \\n at 1:3'],
    ['pub let a = 1', 'Expected fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub, got let at 1:5'],
    ['pub interface I { }', 'Expected fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub, got interface at 1:5'],
    ['fn f(a = 1, b) { a }', 'Expected Required parameter cannot follow a parameter with a default value, got id(b) at 1:13'],
    ['fn f(...a, b) { a }', 'Expected Rest parameter must be the last parameter, got id(b) at 1:12'],
    ['select { }', 'Expected at least one select case, got } at 1:10'],
    ['select { timeout 1s { 1 } default { 2 } }', 'Expected select cannot have both timeout and default, got id(default) at 1:27'],
    [
      'parallel each xs with { speed: 2 } { x -> x }',
      'Expected known option (only `max_concurrent` is supported in `parallel ... with { ... }`; got `speed`), got id(speed) at 1:25',
    ],
    ['parallel each xs { x -> x } as list', 'Expected `stream` after `parallel each ... as`, got id(list) at 1:32'],
    ['parallel settle xs { x -> x } as stream', '`as stream` is only valid after `parallel each ... { ... }`'],
    ['let x = <<EOF', 'Heredocs are not part of the language at 1:9'],
    ['f() = 1', 'Expected assignment target (a variable, property or subscript), got id(f) at 1:1'],
    ['a?.b = 1', 'Expected assignment target (a variable, property or subscript), got id(a) at 1:1'],
    ['let {a: {b}} = c', 'Expected variable name, got { at 1:9'],
    ['"a ${1 +}"', 'Expected expression, got } at 1:9'],
    ['"a ${1 2}"', 'Expected }, got int(2) at 1:8'],
    ['let a = "${\'x\'}"', "Unexpected character ''' at 1:12"],
    ['@a(-"x")\nfn f() { }', 'Expected number, got str(x) at 1:5'],
    ['fn f() { eval_pack p { a: 1 } }', 'Expected statement (eval packs stand at the top level of a file), got eval_pack at 1:10'],
    ['fn f() { import "a" }', 'Expected statement (imports stand at the top level of a file), got import at 1:10'],
  ];
  test.each(rows)('%j', (source, message) => expect(messagesOf(source)).toEqual([message]));
});

describe('a spelling of another language is answered with ours', () => {
  const rows: readonly (readonly [source: string, help: string])[] = [
    ['const f = (x) => x + 1', 'a function as a value is written `{ x -> x + 1 }`'],
    ['println(xs.map(x => x * 2))', 'a function as a value is written `{ x -> x + 1 }`'],
    ['x => x', 'a function as a value is written `{ x -> x + 1 }`'],
    ['let f = |x| x', 'a function as a value is written `{ x -> x + 1 }`'],
    ['let f = (a, b) -> a + b', 'a function as a value is written `{ x -> x + 1 }`'],
    ['match 3 {\n  1 -> "one"\n}', 'an arm is written `pattern -> { value }`'],
    ['let c = Colour::Red', 'a case of an enum is written `Enum.Case`'],
    ['println "a"', 'a call takes parentheses: `println(…)`'],
    ['try { f() }\nlet x = 1\ncatch (e) { }', '`catch` follows the brace that closes its `try`'],
    ['if a { 1 }; else { 2 }', '`else` follows the brace that closes its `if`, with nothing between'],
    ['let mut x = 3', 'a name that will change is declared with `var`'],
    ['fn f(a) int { return a }', 'a result type stands behind `->`: `fn f(a: int) -> int { … }`'],
    ['match x {\n  3 => f()\n}', 'an arm is written `pattern -> { value }`'],
    ['if a === 1 { f() }', 'there is no `===`; `==` compares by contents'],
    ['if a !== 1 { f() }', 'there is no `!==`; `!=` compares by contents'],
    ['x++', 'there is no `++`; write `x += 1`'],
    ['x--\ny', 'there is no `--`; write `x -= 1`'],
    ['x := 2', 'a name is declared with `let x = …`, or with `var` when it will change'],
    ['tool t() {\n  description: "d"\n}', 'write `description "…"`, without a colon'],
    ['let d = {name}', 'a dict names each value: write `{name: name}`'],
    ['function f() { }', 'a function is declared with `fn name(…) { … }`'],
    ['def f(a):', 'a function is declared with `fn name(…) { … }`'],
    ['async fn f() { }', 'there is no `async`: a call that has to wait simply waits'],
    ['let x = await f()', 'there is no `await` before a call: it simply waits; `await(task)` takes what `spawn` gave'],
    ['export fn f() { }', 'what other files may import begins with `pub`'],
    ['class A { }', 'there are no classes; write `struct Name { field: type }`, and its methods in `impl Name { … }`'],
    ['throw new Error("bad")', 'there is no `new`; a struct is built by `Name {field: value}`, and any value can be thrown'],
    ['switch (x) { }', 'write `match value { 1 -> { … } }`, with one arm a line'],
    ['try { f() } except (e) { }', 'write `catch (e) { … }`'],
    ['for x of xs { }', 'write `for item in list { … }`'],
    ['for (let i = 0; i < 3; i += 1) { }', 'write `for i in 0 to n exclusive { … }`'],
    ['if a { } elif b { }', 'write `else if`'],
    ['if not a { }', 'write `!x`'],
    ['let x = a and b', 'write `&&`'],
    ['let x = typeof 3', 'write `type_of(x)`'],
    ['import x from "m"', 'write `import { name } from "path"`, or `import "path"` for all of it'],
    ['interface A { x: int }', 'an interface holds methods; the shape of a dict is `type Name = {field: type}`'],
    ['if (a) f()', 'what follows stands in braces: `{ … }`'],
    ["let s = 'a'", 'strings stand in double quotes: `"…"`'],
    ['f(`a ${b}`)', 'strings stand in double quotes, also with `${…}` in them; `"""` opens one of several lines'],
    ['# a comment', 'a comment begins with `//`'],
    ['fn f(a) => a + 1', 'the body of a function stands in braces: `fn f(a) { return … }`'],
    ['let f = (x) -> x', 'a function as a value is written `{ x -> x + 1 }`'],
    ['let f = lambda x: x', 'a function as a value is written `{ x -> x + 1 }`'],
    ['let a = b & c', 'write `&&`'],
    ['let a = b | c', 'write `||`'],
    ['let a = b <> c', 'there is no `<>`; write `!=`'],
    ['for i in 0..3 { }', 'a range is written `0 to 3`, or `0 to 3 exclusive` without its end'],
    ['fn f(xs: int[]) { }', 'a list is written `list<int>`'],
    ['fn f(a?: int) { }', 'a parameter that may be left out has a default: `fn f(a = nil)`'],
    ['let d = {a = 1}', 'an entry of a dict is written `name: value`'],
    ['if a = 1 { }', '`==` compares; `=` only assigns'],
    ['f(a = 1)', 'arguments have no names: give them in their order, or take one dict: `f({name: value})`'],
    ['f(1, a: 2)', 'arguments have no names: give them in their order, or take one dict: `f({name: value})`'],
    ['match a {\n  1: { 2 }\n}', 'an arm is written `pattern -> { value }`'],
    ['let s = f"n ${n}"', 'strings take `${…}` without a prefix: `"n is ${n}"`'],
    ['let a = .5', 'a float has a digit before its point: `0.5`'],
    ['let a = 1_000', 'digits stand together, without `_`'],
    ['let a = 1e5', 'a number has no exponent: write out its zeros, or `pow(10.0, n)`'],
    ['let a = 0xff', 'an int is written in decimal digits'],
    ['let a = +1', 'a number has no `+` before it'],
    ['let a = 1;;', 'one `;` is enough'],
    ['if a { } elseif b { }', 'write `else if`'],
    ['unless a { }', 'write `if !condition { … }`'],
    ['do { f() } while a', 'write `while true { … }` with a `break` in it'],
    ['raise "x"', 'write `throw value`'],
    ['del d["a"]', 'write `d = d.remove(key)`'],
    ['assert a == 1', 'a call takes parentheses: `assert(condition, message)`'],
    ['let a = "x" if b else "y"', 'write `condition ? one : other`'],
    ['from m import x', 'write `import { name } from "path"`, or `import "path"` for all of it'],
    ['let fs = require("fs")', 'write `import { name } from "path"`, or `import "path"` for all of it'],
    ['fn f() { return 1, 2 }', 'several values are returned as a list: `return [a, b]`'],
    ['let a, b = [1, 2]', 'a list is taken apart by `let [a, b] = …`'],
    ['let x: int\nf()', 'a name gets its first value where it is declared: `var x = nil`'],
    ['for i, x in xs { }', 'write `for (i, x) in iter(xs).enumerate()`, or `for {key, value} in d`'],
    ['for (const x of xs) { }', 'write `for item in list { … }`'],
    ['guard a > 0\nf()', 'a guard says what happens otherwise: `guard condition else { return }`'],
    ['fn f() { g() } }', 'this `}` closes nothing'],
    ['f(1))', 'this `)` closes nothing'],
    ['f("a"\nlet x = 1', 'the `(` at 1:2 is never closed'],
    ['let d = {a: 1, b: 2\nf(d)', 'the `{` at 1:9 is never closed'],
    ['fn f(a, b {\n  return a\n}', 'the `(` at 1:5 is never closed'],
    ['let a\u00a0= 1', 'this looks like a blank and is none; type it again as a space'],
    ['let a = 3 \u2013 1', 'use a plain `-`'],
    ['f("a ${b")', 'close the `${` with `}`; a plain `$` is written `\\$`'],
    ['f("a ${}")', 'an expression stands between `${` and `}`; a plain `$` is written `\\$`'],
    ['/* a', 'close it with `*/`, once for each `/*` in it'],
    ['let s = "a', 'close it with `"` on this line; text of several lines stands between `"""`'],
  ];
  test.each(rows)('%j', (source, help) => {
    expect(parse({ path: 'a.harn', text: source }).diagnostics[0]?.help).toBe(help);
  });

  test.each(['let a = 1 let b = 2', 'f(1)(2)', 'let 5 = 1', 'let a = \n\n,', 'x.\n'])('%j gets no guess', (source) => {
    expect(parse({ path: 'a.harn', text: source }).diagnostics.map(({ help }) => help)).toEqual([undefined]);
  });
});

describe('a keyword is refused where a name is wanted', () => {
  const rows: readonly (readonly [source: string, message: string])[] = [
    ['let tool = 1', "Expected variable name or destructuring pattern, got 'tool' (reserved keyword) at 1:5"],
    ['let {in: q} = {in: 1}', "Expected field name, got 'in' (reserved keyword) at 1:6"],
    ['let {type: t} = d', "Expected field name, got 'type' (reserved keyword) at 1:6"],
    ['fn if() { 1 }', "Expected function name, got 'if' (reserved keyword) at 1:4"],
    ['fn f(match) { 1 }', "Expected parameter name, got 'match' (reserved keyword) at 1:6"],
    ['for in in xs { 1 }', "Expected loop variable name or destructuring pattern, got 'in' (reserved keyword) at 1:5"],
    ['struct S { type: int }', "Expected field name, got 'type' (reserved keyword) at 1:12"],
    ['import { fn } from "a"', "Expected import name, got 'fn' (reserved keyword) at 1:10"],
    ['pipeline parallel() { 1 }', "Expected pipeline name, got 'parallel' (reserved keyword) at 1:10"],
  ];
  test.each(rows)('%j', (source, message) => expect(messagesOf(source)).toEqual([message]));
});

describe('reading goes on behind a mistake', () => {
  test('each statement of a block is judged alone', () => {
    const source = 'fn f() {\n  let a = )\n  let b = 1\n  let c = *\n}\nlet d = ]\nfn g() { 1 }';
    expect(messagesOf(source)).toEqual([
      'Expected expression, got ) at 2:11',
      'Expected expression, got * at 4:11',
      'Expected expression, got ] at 6:9',
    ]);
    const kept = parse({ path: 't', text: source }).program.items;
    expect(kept.map((item) => (item.kind === 'Function' ? item.name : item.kind))).toEqual(['f', 'g']);
  });

  test('the brackets that a broken statement opened are passed over with it', () => {
    expect(messagesOf('foo bar {\n  let x = 1\n  if x { }\n}\nlet y = 2')).toHaveLength(1);
  });

  test('a missing brace is one mistake', () => {
    expect(messagesOf('fn f() {\n  if a {\n    for b in c {\n')).toEqual(['Unexpected end of file, expected }']);
  });

  test('it says which bracket is not closed', () => {
    expect(parse({ path: 't', text: 'fn f() {\n  g([1, 2]\n' }).diagnostics[0]).toMatchObject({
      label: 'file ends here',
      help: 'the `(` at 2:4 is never closed',
    });
  });

  test('at most twenty are reported', () => {
    expect(messagesOf('let = 1\n'.repeat(100))).toHaveLength(20);
  });

  test('a diagnostic names the file, the stage and the token', () => {
    expect(parse({ path: 'a.harn', text: 'let a = 1 let b = 2' }).diagnostics).toEqual([
      {
        severity: 'error',
        stage: 'parser',
        message: 'Expected top-level item separator (`;` or newline), got let at 1:11',
        path: 'a.harn',
        span: { start: 10, end: 13, line: 1, column: 11 },
        label: 'unexpected token',
      },
    ]);
  });
});

describe('source that nests or chains without end is refused, never a crash', () => {
  const COUNT = 100_000;
  const openings = [
    ...[
      '(',
      '[',
      '{',
      '{k: ',
      '-',
      '!',
      'try* ',
      '{ -> ',
      'if x { ',
      'f(',
      'f<',
      'a ? ',
      'a ** ',
      'a[',
      'match x { a -> { ',
      'fn() { ',
      'P {x: ',
      '@a([',
    ],
    ...['let x: list<', 'let x: {a: ', 'let x: fn(', 'let x: fn() -> ', '"${f("', '{ a = '],
  ];
  test.each(openings)('%j again and again', (opening) => {
    expect(messagesOf(opening.repeat(COUNT)).length).toBeGreaterThan(0);
  });

  test.each([
    ['a long sum', `a${' + a'.repeat(COUNT)}`],
    ['a long pipe', `a${' |> f'.repeat(COUNT)}`],
    ['a long path', `a${'.b'.repeat(COUNT)}`],
    ['a long chain of comparisons', `a${' < a'.repeat(COUNT)}`],
    ['sums within sums', `${'('.repeat(200)}a${`${' + a'.repeat(200)})`.repeat(200)}`],
  ])('%s', (_name, source) => {
    expect(messagesOf(source)[0]).toMatch(/^Expression is too long: more than 500 operators in a row at 1:\d+$/);
  });

  test('a nesting of a hundred levels is fine', () => {
    expect(messagesOf(`${'['.repeat(100)}${']'.repeat(100)}`)).toEqual([]);
    expect(messagesOf(`${'if a { '.repeat(60)}${'}'.repeat(60)}`)).toEqual([]);
  });
});
