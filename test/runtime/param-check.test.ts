import { expect, test } from 'vitest';
import { linesOf } from './run-text.ts';

/** Annotation of a parameter, a value that does not fit it, and the text that is caught. */
const REFUSED: readonly (readonly [type: string, value: string, text: string])[] = [
  ['int', '"abc"', "Runtime error: TypeError: parameter 'p' expected int, got string (abc)"],
  ['string', '3', "Runtime error: TypeError: parameter 'p' expected string, got int (3)"],
  ['bool', 'nil', "Runtime error: TypeError: parameter 'p' expected bool, got nil (nil)"],
  ['string | int', 'true', "Runtime error: TypeError: parameter 'p' expected string|int, got bool (true)"],
  ['"a" | "b"', '"c"', 'Runtime error: TypeError: parameter \'p\' expected "a"|"b", got string (c)'],
  ['list', '3', "Runtime error: TypeError: parameter 'p' expected list, got int (3)"],
  ['list<int>', '[1, "x"]', "Runtime error: TypeError: parameter 'p'[1]: expected type 'int', got 'string'"],
  ['dict', '3', "Type error: parameter 'p': expected dict or struct, got int"],
  ['dict<string, int>', '{a: 1, b: "x"}', "Type error: parameter 'p': field 'b' expected int, got string"],
  ['{a: int}', '3', "Type error: parameter 'p': expected dict or struct, got int"],
  ['{age: int}', '{}', "Type error: parameter 'p': missing field 'age' (int)"],
  ['{age: int}', '{agee: 1}', "Type error: parameter 'p': missing field 'age' (int), did you mean 'agee'?"],
  ['{name: string}', '{name: 1}', "Type error: parameter 'p': field 'name' expected string, got int"],
  ['{address: {city: string}}', '{address: {}}', "Type error: parameter 'p.address': missing field 'city' (string)"],
  ['{address: {city: string}}', '{address: "x"}', "Type error: parameter 'p': field 'address' expected dict or struct, got string"],
  ['Named', '{}', "Type error: parameter 'p': missing field 'name' (string)"],
  ['Shown', '3', "Type error: parameter 'p': expected value satisfying interface 'Shown', got int"],
];

const ACCEPTED: readonly (readonly [type: string, value: string])[] = [
  ['int', '1.5'],
  ['float', '1'],
  ['{a: int, b?: int}', '{a: 1, c: 2}'],
  ['{a: int, b?: int}', '{a: 1, b: nil}'],
  ['{x: int}', 'Point {x: 1}'],
  ['dict', 'Point {x: 1}'],
  ['Shown', 'Point {x: 1}'],
  ['closure', 'len'],
  ['fn(int) -> int', '{ x -> x }'],
  ['list<any>', '[1, "x"]'],
  ['Unheard', '1'],
  ['Point', '1'],
];

const PRELUDE = `type Named = {name: string}
interface Shown { fn show(self) -> string }
struct Point { x: int }
fn id(v) { return v }
`;

test.each(REFUSED)('a parameter %s refuses %s', async (type, value, text) => {
  expect(await linesOf(`${PRELUDE}fn f(p: ${type}) { println("accepted") }\ntry { f(id(${value})) } catch (e) { println(e) }`)).toEqual([
    text,
  ]);
});

test.each(ACCEPTED)('a parameter %s accepts %s', async (type, value) => {
  expect(await linesOf(`${PRELUDE}fn f(p: ${type}) { println("accepted") }\nf(id(${value}))`)).toEqual(['accepted']);
});

test('closures, methods and rest parameters are checked too', async () => {
  expect(
    await linesOf(`struct P { x: int }
impl P { fn add(self, n: int) { return n } }
fn rest(...n: int) { return n }
fn id(v) { return v }
let c = { n: int -> n }
try { c(id("a")) } catch (e) { println(e) }
try { P({x: 1}).add(id("b")) } catch (e) { println(e) }
try { rest(1, id("c")) } catch (e) { println(e) }`),
  ).toEqual([
    "Runtime error: TypeError: parameter 'n' expected int, got string (a)",
    "Runtime error: TypeError: parameter 'n' expected int, got string (b)",
    "Runtime error: TypeError: parameter 'n' expected int, got string (c)",
  ]);
});
