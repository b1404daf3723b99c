import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkText } from './check-text.ts';

const PIECES = [
  'let x = 1',
  'var y: int? = nil',
  'x',
  'y',
  'f(x)',
  'fn f<T>(a: T, ...b: int) -> T { return a }',
  'if x { y } else { x }',
  'if x {',
  'while y {',
  'match x { 1 -> { x } E.B(v) if v -> { v } {k: "a"} -> { } [a, 2] -> { } _ -> { } }',
  'match x {',
  '"a" | "b" -> { x }',
  'return x',
  'throw x',
  'enum E { A, B(x: int) }',
  'E.B(1)',
  'E.A',
  'struct S<T> { a: T }',
  'S {a: 1}',
  'S({b: 2})',
  'interface I { fn m(self) -> I }',
  'impl S { fn m(self) { return self.a } }',
  'type R = {n: R?, k: "a" | "b"} | {k: "c"}',
  'gen fn g() -> Stream<int> { emit 1 }',
  'yield 1',
  'x.a.b = y',
  'x[1]["k"]',
  'let d: R = {a: 1, ...x}',
  '[1, ...x]',
  'let c = { a, b -> a + b }',
  'x ?? y',
  'x |> f',
  'let t = try { x } catch (e) { e }',
  'parallel each x { i -> i }',
  'defer { y = 2 }',
  'y += 1',
  'unreachable(x)',
  'if type_of(x) == "int" && x != nil {',
  'if schema_is(x, R) || x.k == "a" {',
  'x?.a',
  'x?',
  '1 to 3',
  '"${x}"',
  'guard x else { return }',
  'for (a, b) in x {',
  'select { v from x { } }',
  'pipeline p(task) extends q {',
  'pipeline q(task) {',
  '@deprecated(use: "g")',
  'let {a, b: [c] = 1} = x',
  'let {a, ...rest} = x',
  'const K = len([])',
  'retry 3 {',
  'deadline 1s {',
  'spawn { x }',
];

/** Programs that look like programs: pieces in any order, kept when they parse. */
const PROGRAMS = fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom('\n', ' ', '; ')), { maxLength: 30 }).map((parts) => {
  const text = parts.flat().join('');
  const open = [...text].reduce((depth, character) => depth + (character === '{' ? 1 : character === '}' ? -1 : 0), 0);
  return text + '}'.repeat(Math.max(0, open));
});

test('the checker never throws, and every message has a place in the text', () => {
  fc.assert(
    fc.property(PROGRAMS, (text) => {
      const found = checkText(text, { globals: new Set(), lints: true }, 'recovered');
      for (const { span } of found) expect(span !== undefined && span.start >= 0 && span.end <= text.length).toBe(true);
    }),
    { numRuns: 300 },
  );
});
