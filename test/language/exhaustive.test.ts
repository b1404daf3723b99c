import { expect, test } from 'vitest';
import { errorsOf } from './check-text.ts';

const PRELUDE = `enum E { A, B(x: int), C }
type Msg = {kind: "ping", ttl: int} | {kind: "pong", ms: int}
type Lit = "x" | "y"
fn wrapper(e: E, m: Msg, l: Lit, n: 1 | 2, b: int | string | nil, t: bool, s: string, r: Result<int, string>, q) {
`;

const ROWS: readonly (readonly [match: string, message: string | undefined])[] = [
  ['match e { E.A -> { } E.B(x) -> { } E.C -> { } }', undefined],
  ['match e { E.A -> { } }', 'Non-exhaustive match on enum E: missing variants "B", "C"'],
  ['match e { E.A -> { } _ -> { } }', undefined],
  ['match e { E.A -> { } other -> { } }', undefined],
  ['match e { E.A -> { } E.B(x) if x > 1 -> { } E.C -> { } }', 'Non-exhaustive match on enum E: missing variants "B"'],
  ['match e { E.A -> { } _ if q -> { } }', 'Non-exhaustive match on enum E: missing variants "B", "C"'],
  ['match e.variant { "A" -> { } "C" -> { } }', 'Non-exhaustive match on enum E: missing variants "B"'],
  ['match e.variant { "A" | "B" -> { } "C" -> { } }', undefined],
  ['match r { Result.Ok(v) -> { } }', 'Non-exhaustive match on enum Result: missing variants "Err"'],
  ['match m.kind { "ping" -> { } }', 'Non-exhaustive match on tagged shape union: missing variants "pong"'],
  ['match m.kind { "ping" | "pong" -> { } }', undefined],
  ['match m { {kind: "ping"} -> { } }', 'Non-exhaustive match on tagged shape union: missing variants "pong"'],
  ['match m { {kind: "ping"} -> { } {kind: k} -> { } }', undefined],
  ['match l { "x" -> { } }', 'Non-exhaustive match on literal union: missing "y"'],
  ['match l { "x" -> { } "y" -> { } }', undefined],
  ['match n { 1 -> { } }', 'Non-exhaustive match on literal union: missing 2'],
  ['match b { nil -> { } 1 -> { } }', 'Non-exhaustive match on union type: missing string'],
  ['match b { nil -> { } 1 -> { } "a" -> { } }', undefined],
  ['match t { true -> { } }', undefined],
  ['match s { "a" -> { } }', undefined],
  ['match q { 1 -> { } }', undefined],
  ['if l == "x" { } else { match l { "y" -> { } } }', undefined],
];

test.each(ROWS)('%s', (match, message) => {
  const errors = errorsOf(`${PRELUDE}${match}\n}`);
  expect(errors.map((line) => line.replace(/^\S+ /, ''))).toEqual(message === undefined ? [] : [message]);
});

test('the message points to the match', () => {
  expect(errorsOf(`${PRELUDE}  let v = match l { "x" -> { 1 } }\n}`)[0]).toMatch(/^5:11 /);
});
