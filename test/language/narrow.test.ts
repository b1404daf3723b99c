import { expect, test } from 'vitest';
import { errorsOf } from './check-text.ts';

/** Each row is the body of a function with the parameters below. */
const PRELUDE = `type Msg = {kind: "ping", ttl: int} | {kind: "pong", ms: int} | {kind: "end", why: string}
type Verdict = "ok" | "bad" | "open"
type Opt = {a: int, note?: string}
fn wrapper(s: string | nil, m: string | int | nil, u: unknown, g: Msg, v: Verdict, o: Opt, d: {f: int | nil}, any_value) {
`;

/** `is(T; e)` stands for a binding that fails with the type of `e` unless it fits T. */
function body(text: string): string {
  return `${PRELUDE}${text.replaceAll(/\bis\(([^;]*); ([^)]*)\)/g, 'let _x: $1 = $2')}\n}`;
}

const HOLDS: readonly (readonly [rule: string, text: string])[] = [
  ['!= nil removes nil', 'if s != nil { is(string; s) } else { is(nil; s) }'],
  ['== nil keeps nil', 'if s == nil { is(nil; s) } else { is(string; s) }'],
  ['nil may stand on the left', 'if nil != s { is(string; s) }'],
  ['a bare name removes nil', 'if s { is(string; s) }'],
  ['type_of keeps and removes', 'if type_of(m) == "string" { is(string; m) } else { is(int | nil; m) }'],
  ['type_of != is the reverse', 'if type_of(m) != "string" { is(int | nil; m) } else { is(string; m) }'],
  ['unknown becomes what was tested', 'if type_of(u) == "int" { is(int; u) }'],
  ['schema_is narrows to the alias', 'if schema_is(u, Opt) { is(Opt; u) }'],
  ['is_type narrows to the schema of the alias', 'if is_type(u, schema_of(Opt)) { is(Opt; u) }'],
  ['a schema that is not known opens the value', 'if schema_is(u, {type: "string"}) { is(string; u) }'],
  ['a tag filters the shapes', 'if g.kind == "ping" { is(int; g.ttl)\nis({kind: "ping", ttl: int}; g) }'],
  ['!= on a tag filters the other way', 'if g.kind != "end" { } else { is({kind: "end", why: string}; g) }'],
  ['a literal filters a literal union', 'if v == "ok" { is("ok"; v) } else { is("bad" | "open"; v) }'],
  ['not swaps', 'if !(s == nil) { is(string; s) }'],
  ['and adds up when true', 'if m != nil && type_of(m) == "string" { is(string; m) }'],
  ['the right side of and knows the left', 'if type_of(m) == "int" && m + 1 > 2 { }'],
  ['or adds up when false', 'if m == nil || type_of(m) == "int" { } else { is(string; m) }'],
  ['or joins when true', 'if type_of(m) == "string" || type_of(m) == "int" { is(string | int; m) }'],
  ['has makes a field present', 'if o.has("note") { is({a: int, note: string}; o) }'],
  ['an optional field reads without nil', 'is(string; o.note)'],
  ['a field is narrowed too', 'if d.f != nil { is(int; d.f) }'],
  ['a guard that leaves', 'guard s != nil else { return 1 }\nis(string; s)'],
  ['require leaves', 'require s != nil, "no"\nis(string; s)'],
  ['an if that leaves', 'if s == nil { return 1 }\nis(string; s)'],
  ['an else that leaves', 'if s != nil { } else { throw "x" }\nis(string; s)'],
  ['several exits add up', 'if type_of(m) == "string" { return 1 }\nif m == nil { return 2 }\nis(int; m)'],
  ['unreachable and friends leave', 'if s == nil { unreachable() }\nis(string; s)'],
  ['break and continue leave', 'for i in [1] {\n if s == nil { continue }\n is(string; s)\n}'],
  ['a while condition holds inside', 'while s != nil { is(string; s) }'],
  ['a ternary narrows', 'is(string; s != nil ? s : "none")'],
  ['match arms narrow by literal', 'match v { "ok" -> { is("ok"; v) } "bad" | "open" -> { is("bad" | "open"; v) } }'],
  ['match arms narrow by tag', 'match g.kind { "ping" -> { is(int; g.ttl) } "pong" | "end" -> { is({kind: string}; g) } }'],
  ['match on type_of narrows', 'match type_of(m) { "string" -> { is(string; m) } "int" -> { is(int; m) } _ -> { is(nil; m) } }'],
  ['later arms see what is left', 'match m { nil -> { } _ -> { is(string | int; m) } }'],
  ['?? removes nil', 'is(string; s ?? "none")'],
  ['closures keep what is known', 'if s != nil { let f = { -> s }\nis(string; f()) }'],
  [
    'both branches together keep what was known before',
    'if s == nil { return 1 }\nif any_value { println(1) } else { println(2) }\nis(string; s)',
  ],
  [
    'a complete ladder reaches unreachable',
    'if type_of(m) == "string" { return 1 }\nif type_of(m) == "int" { return 2 }\nif m == nil { return 3 }\nunreachable(m)',
  ],
];

test.each(HOLDS)('%s', (_rule, text) => {
  expect(errorsOf(body(text))).toEqual([]);
});

const FAILS: readonly (readonly [rule: string, text: string, message: string])[] = [
  ['nothing is narrowed without a test', 'is(string; s)', "'_x' declared as string, but assigned string | nil"],
  ['the false side of a bare name is not nil', 'if s { } else { is(nil; s) }', "'_x' declared as nil, but assigned string | nil"],
  [
    'the false side of schema_is is unchanged',
    'if schema_is(u, Opt) { } else { is(int; u) }',
    "'_x' declared as int, but assigned unknown",
  ],
  [
    'unknown stays unknown when a test fails',
    'if type_of(u) == "int" { return 1 }\nis(string; u)',
    "'_x' declared as string, but assigned unknown",
  ],
  [
    'an if that may come back narrows nothing',
    'if s == nil { println(1) }\nis(string; s)',
    "'_x' declared as string, but assigned string | nil",
  ],
  [
    'an assignment ends it',
    'var x: string | nil = s\nif x != nil {\n x = nil\n is(string; x)\n}',
    "'_x' declared as string, but assigned string | nil",
  ],
  [
    'an assignment later in a loop ends it',
    'var x: string | nil = s\nguard x != nil else { return 1 }\nfor i in [1, 2] {\n is(string; x)\n x = nil\n}',
    "'_x' declared as string, but assigned string | nil",
  ],
  [
    'a loop may not have run',
    'for i in [1] {\n if s == nil { break }\n}\nis(string; s)',
    "'_x' declared as string, but assigned string | nil",
  ],
  [
    'a deferred block sees later values',
    'var x: string | nil = s\nguard x != nil else { return 1 }\ndefer { is(string; x) }',
    "'_x' declared as string, but assigned string | nil",
  ],
  [
    'unreachable asks for every case',
    'if type_of(m) == "string" { return 1 }\nunreachable(m)',
    'unreachable() argument has type `int | nil` — not all cases are handled',
  ],
];

test.each(FAILS)('%s', (_rule, text, message) => {
  expect(errorsOf(body(text)).map((line) => line.replace(/^\S+ /, ''))).toEqual([message]);
});
