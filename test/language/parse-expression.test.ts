import { describe, expect, test } from 'vitest';
import { outline } from './outline.ts';

type Row = readonly [source: string, tree: string];

describe('operators bind from loosest to tightest', () => {
  const rows: readonly Row[] = [
    ['a |> b |> c', '(|> (|> a b) c)'],
    ['a to b |> f', '(|> (to a b) f)'],
    ['a + 1 to b * 2 exclusive', '(to-exclusive (+ a 1) (* b 2))'],
    ['c ? 1 to 2', '! Expected :, got to at 1:7'],
    ['a || b && c || d', '(|| (|| a (&& b c)) d)'],
    ['a && b == c && d', '(&& (&& a (== b c)) d)'],
    ['a == b < c', '(== a (< b c))'],
    ['a < b < c', '(< (< a b) c)'],
    ['a in b', '(in a b)'],
    ['a not in b', '(not in a b)'],
    ['!x in y', '(in (! x) y)'],
    ['a < b + c', '(< a (+ b c))'],
    ['1 + nil ?? 2', '(+ 1 (?? nil 2))'],
    ['a ?? b * c', '(?? a (* b c))'],
    ['a - b - c', '(- (- a b) c)'],
    ['a * b / c % d', '(% (/ (* a b) c) d)'],
    ['2 ** 3 ** 2', '(** 2 (** 3 2))'],
    ['-2 ** 2', '(** (- 2) 2)'],
    ['2 ** -1', '(** 2 (- 1))'],
    ['-a.b', '(- (.b a))'],
    ['!!a', '(! (! a))'],
    ['try* f(x)', '(try* (f! x))'],
    ['(a + b) * c', '(* (+ a b) c)'],
    ['a ? b : c', '(? a b c)'],
    ['a ? b : c ? d : e', '(? a b (? c d e))'],
    ['a ? b ? c : d : e', '(? a (? b c d) e)'],
    ['a == 1 ? -1 : 5s', '(? (== a 1) (- 1) 5000ms)'],
  ];
  test.each(rows)('%s', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('where a line ends', () => {
  const rows: readonly Row[] = [
    ...['|>', '||', '&&', '==', '!=', '<', '>', '<=', '>=', '??', '+', '*', '/', '%', '**'].map(
      (operator): Row => [`a\n  ${operator} b`, `(${operator} a b)`],
    ),
    ...['-', 'in', 'not in', '+', '&&', '|>', '<'].map((operator): Row => [`a ${operator}\n\n b`, `(${operator} a b)`]),
    ['a\n  .b\n  ?.c()', '(?.c! (.b a))'],
    ['let a = 5\n- 3', '(let a 5); (- 3)'],
    ['a\n[1]', 'a; [1]'],
    ['a\n(1)', 'a; 1'],
    ['a\nin b', '! Expected expression, got in at 2:1'],
    ['let a =\n  5', '(let a 5)'],
    ['f(\n  1,\n  2\n)', '(f! 1 2)'],
    ['[\n  1\n  2\n]', '[1 2]'],
    ['[1\n -2]', '[1 (- 2)]'],
    ['{\n  a:\n    1,\n}', '(dict a=1)'],
    ['fn f() {\n  return\n  42\n}', '(fn f [] {(return); 42})'],
    ['if a { 1 }\nelse { 2 }', '(if a {1} else {2})'],
    ['try { 1 }\ncatch (e) { 2 }\nfinally { 3 }', '(try {1} (catch e {2}) finally {3})'],
    ['a \\\n - b', '(- a b)'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('a brace is a closure when an arrow stands directly inside, else a dict', () => {
  const rows: readonly Row[] = [
    ['f({})', '(f! (dict))'],
    ['f({ -> 1 })', '(f! (\\ [] {1}))'],
    ['f({ a, b -> a })', '(f! (\\ [a b] {a}))'],
    ['f({ a: int, b = 2 -> a })', '(f! (\\ [a:int b=2] {a}))'],
    ['f({ x ->\n  let y = x\n  y\n})', '(f! (\\ [x] {(let y x); y}))'],
    ['f({k: 1, "two words": 2, [k]: 3, ...d})', '(f! (dict k=1 two words=2 [k]=3 ...d))'],
    ['f({k: { x -> x }})', '(f! (dict k=(\\ [x] {x})))'],
    ['f({k: fn(x) { x }})', '(f! (dict k=(fn [x] {x})))'],
    ['f({k: fn(x) -> int { x }})', '(f! (dict k=(fn [x] ->int {x})))'],
    ['f({in: 1, if: 2, select: 3, skill: 4, finally: 5})', '(f! (dict in=1 if=2 select=3 skill=4 finally=5))'],
    ['f({a: 1 b: 2})', '(f! (dict a=1 b=2))'],
    ['f({x})', '! Expected :, got } at 1:5'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('a brace behind a name', () => {
  const rows: readonly Row[] = [
    ['P {}', '(new P)'],
    ['P {x: 1, "y": 2, in: 3}', '(new P x=1 y=2 in=3)'],
    ['P {\n  x: 1\n  y: 2\n}', '(new P x=1 y=2)'],
    ['if Ready { go() }', '(if Ready {(go!)})'],
    ['for x in Items { f(x) }', '(for x Items {(f! x)})'],
    ['if ready {}', '(if ready {})'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('an angle bracket behind a name', () => {
  const rows: readonly Row[] = [
    ['f<int>(1)', '(f<int>! 1)'],
    ['f<list<int>, {a: string}>(1)', '(f<list<int> {a:string}>! 1)'],
    ['f<fn(int) -> string | nil>(1)', '(f<(fn [int] (string | nil))>! 1)'],
    ['a < b', '(< a b)'],
    ['a < b > c', '(> (< a b) c)'],
    ['a < b && c > (d)', '(&& (< a b) (> c d))'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('a question mark behind a value', () => {
  const rows: readonly Row[] = [
    ['f()?', '(propagate (f!))'],
    ['f()?.x', '(?.x (f!))'],
    ['a?[0]', '(?[] a 0)'],
    ['a? [0]', '(?[] a 0)'],
    ['f(a?)', '(f! (propagate a))'],
    ['a? + 1', '(+ (propagate a) 1)'],
    ['a ?\nb', '(propagate a); b'],
    ...['x', '1', '1.5', '2s', '"s"', '"${x}"', 'true', 'false', 'nil', '(x)', '{}', '!x', '-x', 'fn() { 1 }'].map(
      (then): Row => [`a ? ${then} : 0`, `(? a ${outline(`f(${then})`).slice(4, -1)} 0)`],
    ),
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('postfix forms', () => {
  const rows: readonly Row[] = [
    ['a.b.c', '(.c (.b a))'],
    ['a.in.if.select', '(.select (.if (.in a)))'],
    ['a?.b(1)', '(?.b! a 1)'],
    ['a[1][2]', '([] ([] a 1) 2)'],
    ['a[1:2]', '([:] a 1 2)'],
    ['a[:2]', '([:] a - 2)'],
    ['a[1:]', '([:] a 1 -)'],
    ['a[:]', '([:] a - -)'],
    ['a.b(1)[0].c', '(.c ([] (.b! a 1) 0))'],
    ['f(1, ...xs)', '(f! 1 ...xs)'],
    ['f(1 2)', '(f! 1 2)'],
    ['(f)(2)', '(f! 2)'],
    ['"a".len()', '(.len! "a")'],
    ['5.name', '(.name 5)'],
    ['[...a, 1]', '[...a 1]'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('the placeholder of a pipe makes a closure', () => {
  const rows: readonly Row[] = [
    ['v |> f(_, 1)', '(|> v (\\ [__pipe] {(f! __pipe 1)}))'],
    ['v |> _.trim()', '(|> v (\\ [__pipe] {(.trim! __pipe)}))'],
    ['v |> [_, -_]', '(|> v (\\ [__pipe] {[__pipe (- __pipe)]}))'],
    ['v |> _[0] + _.b', '(|> v (\\ [__pipe] {(+ ([] __pipe 0) (.b __pipe))}))'],
    ['v |> xs[_:]', '(|> v (\\ [__pipe] {([:] xs __pipe -)}))'],
    ['v |> { _ -> 1 }', '(|> v (\\ [_] {1}))'],
    ['v |> f({k: _})', '(|> v (f! (dict k=_)))'],
    ['v |> f("${_}")', '(|> v (f! (text _)))'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('literals', () => {
  const rows: readonly Row[] = [
    ['1500ms', '1500ms'],
    ['2w', '1209600000ms'],
    ['9223372036854775808', '9223372036854776000.0'],
    ['true', 'true'],
    ['nil', 'nil'],
    [String.raw`r"\d"`, String.raw`raw"\\d"`],
    ['"""\n  a\n  """', 'block"a"'],
    ['"a${1 + 1}${"b"}-"', '(text "a" (+ 1 1) "b" "-")'],
    ['"${ {k: 1}.k }"', '(text (.k (dict k=1)))'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});

describe('blocks that are values', () => {
  const rows: readonly Row[] = [
    ['let x = if a { 1 } else if b { 2 } else { 3 }', '(let x (if a {1} else {(else-if b {2} else {3})}))'],
    ['match v { 1 | 2 -> { a } k if k > 3 -> { b } _ -> { c } }', '(match v (1|2 {a}) (k if (> k 3) {b}) (_ {c}))'],
    [
      'match v {\n  E.A(x) -> { x }\n  {k: "v", n: n} -> { n }\n  [p, _] -> { p }\n}',
      '(match v ((.A! E x) {x}) ((dict k="v" n=n) {n}) ([p _] {p}))',
    ],
    ['parallel 3 { i -> i }', '(parallel 3 i {i})'],
    ['parallel 3 { work() }', '(parallel 3 {(work!)})'],
    ['parallel each xs with { max_concurrent: 2 } { x -> x }', '(parallel-each xs max=2 x {x})'],
    ['parallel each xs { x -> x } as stream', '(parallel-each xs x {x} stream)'],
    ['parallel settle xs { x -> x }', '(parallel-settle xs x {x})'],
    ['retry 3 { f() }', '(retry 3 {(f!)})'],
    ['retry (n + 1) { f() }', '(retry (+ n 1) {(f!)})'],
    ['deadline 5s { f() }', '(deadline 5000ms {(f!)})'],
    ['let t = try { f() }', '(let t (try {(f!)}))'],
    ['try { f() } catch { g() }', '(try {(f!)} (catch {(g!)}))'],
    ['try { f() } catch e { g() }', '(try {(f!)} (catch e {(g!)}))'],
    ['try { f() } catch (e: Bad) { g() }', '(try {(f!)} (catch e :Bad {(g!)}))'],
    ['let h = spawn { f() }', '(let h (spawn {(f!)}))'],
    ['let g = fn(a: int = 1, ...rest) -> int { a }', '(let g (fn [a:int=1 ...rest] ->int {a}))'],
  ];
  test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
});
