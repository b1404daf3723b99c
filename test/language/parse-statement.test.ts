import { describe, expect, test } from 'vitest';
import { outline } from './outline.ts';

type Row = readonly [source: string, tree: string];

function check(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    test.each(rows)('%j', (source, tree) => expect(outline(source)).toBe(tree));
  });
}

check('bindings', [
  ['let a = 1', '(let a 1)'],
  ['var a: int = 1', '(var a :int 1)'],
  ['const A: int = 1', '(const A :int 1)'],
  ['const = 1', '(= const 1)'],
  ['let _ = f()', '(let _ (f!))'],
  ['let {a, b: c, d = 1, e: f = 2, ...g} = h', '(let {a b:c d=1 e:f=2 ...g} h)'],
  ['let [a, _, b = 1, ...c] = d', '(let [a _ b=1 ...c] d)'],
  ['let {} = a', '(let {} a)'],
  ['let [] = a', '(let [] a)'],
  ['let {\n  a,\n  b,\n} = c', '(let {a b} c)'],
]);

check('assignments', [
  ...['=', '+=', '-=', '*=', '/=', '%='].map((operator): Row => [`a ${operator} 1`, `(${operator} a 1)`]),
  ['a.b = 1', '(= (.b a) 1)'],
  ['a[0].b = 1', '(= (.b ([] a 0)) 1)'],
  ['a =\n  1', '(= a 1)'],
  ['{ -> n = n + 1; n }', '(\\ [] {(= n (+ n 1)); n})'],
]);

check('loops and simple statements', [
  ['for x in xs { f(x) }', '(for x xs {(f! x)})'],
  ['for (k, v) in it { f(k) }', '(for (k, v) it {(f! k)})'],
  ['for {key, value} in d { f(key) }', '(for {key value} d {(f! key)})'],
  ['for [a, b] in xs { f(a) }', '(for [a b] xs {(f! a)})'],
  ['for i in 1 to 3 { break; continue }', '(for i (to 1 3) {break; continue})'],
  ['while a < 1 { a += 1 }', '(while (< a 1) {(+= a 1)})'],
  ['while (a < 1) { f() }', '(while (< a 1) {(f!)})'],
  ['if (a) && b { f() }', '(if (&& a b) {(f!)})'],
  ['return', '(return)'],
  ['return a + 1', '(return (+ a 1))'],
  ['throw {code: 1}', '(throw (dict code=1))'],
  ['guard a else { return }', '(guard a {(return)})'],
  ['require a > 1', '(require (> a 1))'],
  ['require a > 1, "small"', '(require (> a 1) "small")'],
  ['mutex { f() }', '(mutex {(f!)})'],
  ['defer { f() }', '(defer {(f!)})'],
  ['gen fn g() { emit 1 }', '(gen-fn g [] {(emit 1)})'],
  ['fn g() { yield 1; yield }', '(fn g [] {(yield 1); (yield)})'],
  ['select {\n  m from a { f(m) }\n  timeout 5s { g() }\n}', '(select (m a {(f! m)}) (timeout 5000ms {(g!)}))'],
  ['select { m from a { f(m) } default { g() } }', '(select (m a {(f! m)}) default {(g!)})'],
  ['select(a, b)', '(select! a b)'],
]);

check('separators', [
  ['a; b', 'a; b'],
  ['a;\n\nb\n;', '! Expected expression, got ; at 4:1'],
  ['\n\na\n\n\nb;\n', 'a; b'],
  ['f() { }', '! Expected top-level item separator (`;` or newline), got { at 1:5'],
]);

check('functions', [
  ['fn f(a, b: int, c: string = "x", ...rest: list<int>) -> bool { a }', '(fn f [a b:int c:string="x" ...rest:list<int>] ->bool {a})'],
  ['pub fn f() { }', '(fn pub f [] {})'],
  ['fn f<T, in A, out B>(a: T) where T: Show + Hash, A: Show { a }', '(fn f <T in A out B> [a:T] where T:Show+Hash where A:Show {a})'],
  ['fn f<out>(a: out) { a }', '(fn f <out> [a:out] {a})'],
  ['fn f(\n  a,\n  b,\n) ->\n  int { a }', '(fn f [a b] ->int {a})'],
  ['pub gen fn g() { emit 1 }', '(gen-fn pub g [] {(emit 1)})'],
  ['let gen = 1', '(let gen 1)'],
]);

check('pipelines, tools, skills', [
  ['pipeline default() { 1 }', '(pipeline default [] {1})'],
  ['pub pipeline a(x, y) extends b { 1 }', '(pipeline pub a [x y] extends b {1})'],
  ['pipeline main(harness: Harness, task: string = "none") -> int { 1 }', '(pipeline main [harness:Harness task:string="none"] ->int {1})'],
  ['override step(x) { 1 }', '(override step [x] {1})'],
  ['tool t(a: int) -> string {\n  description "does it"\n  a\n}', '(tool t [a:int] ->string "does it" {a})'],
  ['tool t() { description("x") }', '(tool t [] {(description! "x")})'],
  ['pub skill s {\n  when "asked"\n  tools [a, b]\n}', '(skill pub s when="asked" tools=[a b])'],
  ['eval_pack p "Title" {\n  runs: 3\n  f()\n  summarize { 1 }\n}', '(eval_pack p "Title" runs=3 (f!) summarize {1})'],
  ['eval_pack "id" { runs: 1 }', '(eval_pack id runs=1)'],
]);

check('types declared by name', [
  ['struct P { x: int, y?: string\n z }', '(struct P x:int y?:string z)'],
  ['pub struct P<T> { x: T }', '(struct pub P <T> x:T)'],
  ['enum E { A, B(x, y: int)\n C }', '(enum E A B[x y:int] C)'],
  ['pub enum E<T> { A(x: T) }', '(enum pub E <T> A[x:T])'],
  ['type A = int', '(type A int)'],
  ['pub type A<T> = list<T>', '(type pub A <T> list<T>)'],
  [
    'interface I<T> {\n  type Item = int\n  fn f(self) -> T\n  fn g<U>(self, a: U)\n}',
    '(interface I <T> type Item=int (fn f [self] ->T) (fn g <U> [self a:U]))',
  ],
  ['impl P {\n  fn f(self) { 1 }\n  pub fn g(self) { 2 }\n}', '(impl P (fn f [self] {1}) (fn pub g [self] {2}))'],
]);

check('types', [
  ['type A = int | string | nil', '(type A (int | string | nil))'],
  ['type A = int | string?', '(type A (int | (string | nil)))'],
  ['type A = B & C | D', '(type A ((B & C) | D))'],
  ['type A = [int]', '(type A list<int>)'],
  ['type A = dict<string, list<int>>', '(type A dict<string list<int>>)'],
  ['type A = {a: int, b?: string, in: nil}', '(type A {a:int b?:string in:nil})'],
  ['type A = {\n  a: int\n  b: int\n}', '(type A {a:int b:int})'],
  ['type A = "x" | -1 | 2', '(type A ("x" | -1 | 2))'],
  ['type A = true', '(type A bool)'],
  ['type A = fn(int, string) -> int | nil', '(type A (fn [int string] (int | nil)))'],
]);

check('imports and attributes', [
  ['import "a/b"', '(import a/b)'],
  ['pub import "a"', '(import pub a)'],
  ['import { x, y, } from "std/text"', '(import std/text [x y])'],
  ['import a::b::{x, y}', '(import a/b [x y])'],
  ['@test\nfn f() { 1 }', '(@test (fn f [] {1}))'],
  [
    '@retry(3, after: -1.5, on: ["a", b, nil, true])\n@deprecated\npub fn f() { 1 }',
    '(@retry =3 after=-1.5 on=["a" b nil true] @deprecated (fn pub f [] {1}))',
  ],
]);
