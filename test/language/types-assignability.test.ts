import { expect, test } from 'vitest';
import { errorsOf } from './check-text.ts';

const PRELUDE = `enum Color { Red, Green }
enum Size { Big }
struct Dog { name: string }
struct Cat { name: string }
impl Dog { fn speak(self) -> string { return self.name } }
interface Speaker { fn speak(self) -> string }
struct In<in T> { f: fn(T) -> nil }
struct Out<out T> { v: T }
struct Both<T> { v: T }
type Tagged<T> = {tag: T, handle: fn(T) -> nil}
`;

/** Does a value of the first type fit the second? Both ways of every row are stated. */
const ROWS: readonly (readonly [from: string, to: string, fits: boolean])[] = [
  ['any', 'int', true],
  ['int', 'any', true],
  ['int', 'unknown', true],
  ['unknown', 'int', false],
  ['unknown', 'any', true],
  ['unknown', 'unknown', true],
  ['never', 'int', true],
  ['int', 'never', false],
  ['int', 'float', true],
  ['float', 'int', false],
  ['int | nil', 'int', false],
  ['int', 'int | nil', true],
  ['int | string', 'string | int | nil', true],
  ['string?', 'string | nil', true],
  ['"a"', 'string', true],
  ['string', '"a"', true],
  ['"a"', '"b"', false],
  ['"a"', '"a" | "b"', true],
  ['"a" | "b"', '"a"', false],
  ['1', 'int', true],
  ['1', 'string', false],
  ['{a: int}', '{a: int}', true],
  ['{a: int, b: int}', '{a: int}', true],
  ['{a: int}', '{a: int, b: int}', false],
  ['{a: int}', '{a: int, b?: int}', true],
  ['{a: int}', '{a: float}', true],
  ['{a: string}', '{a: int}', false],
  ['{a: int}', 'dict', true],
  ['dict', '{a: int}', true],
  ['{a: int}', 'dict<string, int>', true],
  ['{a: int}', 'dict<string, string>', false],
  ['{a: int} & {b: string}', '{a: int, b: string}', true],
  ['list<int>', 'list', true],
  ['list', 'list<int>', true],
  ['list<int>', 'list<float>', false],
  ['list<int>', 'list<int | string>', false],
  ['[int]', 'list<int>', true],
  ['dict<string, int>', 'dict<string, float>', false],
  ['dict', 'dict<string, int>', true],
  ['iter<int>', 'iter<float>', true],
  ['iter<float>', 'iter<int>', false],
  ['Stream<int>', 'Stream<float>', true],
  ['Generator<int>', 'Stream<int>', false],
  ['Stream<int>', 'Generator<int>', false],
  ['fn(float) -> int', 'fn(int) -> float', true],
  ['fn(int) -> int', 'fn(float) -> int', false],
  ['fn(int) -> float', 'fn(int) -> int', false],
  ['fn(int) -> int', 'fn(int, int) -> int', false],
  ['closure', 'fn(int) -> int', true],
  ['fn(int) -> int', 'closure', true],
  ['int', 'closure', false],
  ['Color', 'Color', true],
  ['Color', 'Size', false],
  ['Dog', 'Dog', true],
  ['Dog', 'Cat', false],
  ['Dog', 'Speaker', true],
  ['Cat', 'Speaker', false],
  ['int', 'Speaker', false],
  ['Dog', '{name: string}', true],
  ['Out<int>', 'Out<float>', true],
  ['Out<float>', 'Out<int>', false],
  ['In<float>', 'In<int>', true],
  ['In<int>', 'In<float>', false],
  ['Both<int>', 'Both<float>', false],
  ['Both<int>', 'Both', true],
  ['Result<int, string>', 'Result<float, string>', true],
  ['Result<int, string>', 'Result<string, string>', false],
  ['{tag: "a", handle: fn("a") -> nil}', 'Tagged<"a" | "b">', true],
  ['{tag: "a", handle: fn("b") -> nil}', 'Tagged<"a" | "b">', false],
  ['channel', 'task_handle', false],
];

test.each(ROWS)('%s into %s: %s', (from, to, fits) => {
  const errors = errorsOf(`${PRELUDE}fn wrapper(p: ${from}) {\n  let x: ${to} = p\n}`);
  expect(errors.length === 0).toBe(fits);
});

/** Type parameters marked `in` or `out`, and whether the declaration keeps the promise. */
const VARIANCE: readonly (readonly [declaration: string, message: string | undefined])[] = [
  ['type R<out T> = fn() -> T', undefined],
  ['type S<in T> = fn(T) -> nil', undefined],
  ['type T1<out T> = fn(fn(T) -> nil) -> nil', undefined],
  [
    'type B<out T> = fn(T) -> int',
    "type parameter 'T' is declared 'out' (covariant) but appears in a contravariant position in type alias 'B'",
  ],
  ['type C<in T> = fn() -> T', "type parameter 'T' is declared 'in' (contravariant) but appears in a covariant position in type alias 'C'"],
  ['fn f<in T>(x: T) {}', undefined],
  ['fn f<out T>(x: T) {}', "type parameter 'T' is declared 'out' (covariant) but appears in a contravariant position in function 'f'"],
  ['enum E<in T> { V(x: T) }', "type parameter 'T' is declared 'in' (contravariant) but appears in a covariant position in enum 'E'"],
  ['struct S<in T> { x: T }', "type parameter 'T' is declared 'in' (contravariant) but appears in a covariant position in struct 'S'"],
  [
    'interface I<in T> { fn m() -> T }',
    "type parameter 'T' is declared 'in' (contravariant) but appears in a covariant position in interface 'I'",
  ],
];

test.each(VARIANCE)('%s', (declaration, message) => {
  expect(errorsOf(declaration)).toEqual(message === undefined ? [] : [`1:1 ${message}`]);
});

const SATISFACTION: readonly (readonly [rule: string, wanted: string, given: string, detail: string | undefined])[] = [
  ['same methods', 'fn a(self) -> int', 'fn a(self) -> int { return 1 }', undefined],
  ['every missing method is named', 'fn a(self)\nfn b(self)', '', 'missing method(s): a, b'],
  ['parameters are counted without self', 'fn a(self, x: int)', 'fn a(self) {}', "method 'a' has 0 parameter(s), expected 1"],
  ['parameters have types', 'fn a(self, x: int)', 'fn a(self, x: string) {}', "method 'a' parameter 1 has type 'string', expected 'int'"],
  ['results have types', 'fn a(self) -> int', 'fn a(self) -> string { return "" }', "method 'a' returns 'string', expected 'int'"],
  ['what is not annotated fits', 'fn a(self, x: int) -> int', 'fn a(self, x) { return x }', undefined],
  ['an associated type is bound by the method', 'type Item\nfn a(self) -> Item', 'fn a(self) -> string { return "" }', undefined],
  [
    'a default of an associated type holds',
    'type Item = int\nfn a(self) -> Item',
    'fn a(self) -> string { return "" }',
    "associated type 'Item' resolves to 'string', expected 'int'",
  ],
  [
    'an associated type has one meaning',
    'type Item\nfn a(self) -> Item\nfn b(self) -> Item',
    'fn a(self) -> string { return "" }\nfn b(self) -> int { return 1 }',
    "associated type 'Item' resolves to 'int', expected 'string'",
  ],
];

test.each(SATISFACTION)('interfaces: %s', (_rule, wanted, given, detail) => {
  const script = `interface I {\n${wanted}\n}\nstruct S { }\nimpl S {\n${given}\n}\nfn f<T>(x: T) where T: I {}\nf(S {})`;
  const errors = errorsOf(script).map((line) => line.replace(/^\S+ /, ''));
  expect(errors).toEqual(
    detail === undefined ? [] : [`Type 'S' does not satisfy interface 'I': ${detail} (required by constraint \`where T: I\`)`],
  );
});
