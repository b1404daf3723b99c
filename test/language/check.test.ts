import { expect, test } from 'vitest';
import { checkText, errorsOf, inFunction, warningsOf } from './check-text.ts';

type Row = readonly [rule: string, script: string, messages: readonly string[]];

const ERRORS: readonly Row[] = [
  ['a binding fits its annotation', 'let s: int = "a"', ["1:1 's' declared as int, but assigned string"]],
  ['nil fits only where it is allowed', 'let s: string = nil', ["1:1 's' declared as string, but assigned nil"]],
  [
    'a missing field is named',
    'let u: {name: string, age: int} = {age: 1}',
    ["1:1 'u' declared as {name: string, age: int}, but assigned {age: int} (missing field 'name' (string))"],
  ],
  [
    'a wrong field is named',
    'let u: {name: string} = {name: 1}',
    ["1:1 'u' declared as {name: string}, but assigned {name: int} (field 'name' has type int, expected string)"],
  ],
  ['an assignment fits the annotation', inFunction('var x: int = 1\nx = "a"'), ["3:1 can't assign string to 'x' (declared as int)"]],
  ['an assignment fits the first value', inFunction('var x = 1\nx = "a"'), ["3:1 can't assign string to 'x' (declared as int)"]],
  ['a returned value fits the result', 'fn f() -> int { return "a" }', ["1:24 return type doesn't match: expected int, got string"]],
  [
    'a pipeline has a result too',
    'pipeline p(task) -> int {\n  return "a"\n}',
    ["2:10 return type doesn't match: expected int, got string"],
  ],
  [
    'a tool and a closure have results too',
    'tool t() -> int { return "a" }\nlet c = fn(x) -> int { return "b" }',
    ["1:26 return type doesn't match: expected int, got string", "2:31 return type doesn't match: expected int, got string"],
  ],
  [
    'a generator returns nothing',
    'fn g() {\n  yield 1\n  return 2\n}',
    ["3:10 return type doesn't match: expected Generator<any>, got int"],
  ],
  [
    'every argument is checked',
    'fn f(a: int, b: string) {}\nf("x", 2)',
    ["2:3 Argument 1 ('a'): expected int, got string", "2:8 Argument 2 ('b'): expected string, got int"],
  ],
  ['rest arguments are checked one by one', 'fn f(...xs: int) {}\nf(1, "a")', ["2:6 Argument 2 ('xs'): expected int, got string"]],
  [
    'methods check their arguments',
    'struct P { x: int }\nimpl P { fn add(self, n: int) { return n } }\nP({x: 1}).add("a")',
    ["3:15 Argument 1 ('n'): expected int, got string"],
  ],
  [
    'closures check their arguments',
    'fn wrapper(g: fn(int) -> int) {\nlet f = fn(x: int) { x }\nf("a")\ng("b")\n}',
    ["3:3 Argument 1 ('x'): expected int, got string", '4:3 Argument 1: expected int, got string'],
  ],
  ['text and numbers do not add', 'println("n=" + 1)', ["1:9 can't add string and int"]],
  [
    'what only one way assigns may be nil',
    inFunction('var x = nil\nif true { x = 5 }\nlet y: int = x'),
    ["4:1 'y' declared as int, but assigned int | nil"],
  ],
  ['an assignment with an operator is arithmetic', inFunction('var s = "a"\ns += 1'), ["3:1 can't add string and int"]],
  ['minus needs numbers', 'println("a" - "b")', ["1:9 can't use '-' on string and string (needs numeric operands)"]],
  [
    'division, modulo and power need numbers',
    'println([1 / "a", nil % 2, true ** 2])',
    [
      "1:10 can't use '/' on int and string (needs numeric operands)",
      "1:19 can't use '%' on nil and int (needs numeric operands)",
      "1:28 can't use '**' on bool and int (needs numeric operands)",
    ],
  ],
  ['times repeats only text', 'println(true * 5)', ["1:9 can't multiply bool and int (try string * int)"]],
  ['a call needs a target', 'missing_thing(1)', ['1:1 call target `missing_thing` is not defined or imported']],
  [
    'a near name is offered',
    'fn render_all() {}\nrender_al()',
    ['2:1 call target `render_al` is not defined or imported — did you mean `render_all`?'],
  ],
  [
    'agent builtins are names like others',
    'prntln("x")',
    ['1:1 call target `prntln` is not defined or imported — did you mean `println`?'],
  ],
  [
    'a type parameter has one meaning',
    'fn keep<T>(a: T, b: T) -> T { return a }\nkeep(1, "x")',
    ["2:1 type parameter 'T' was inferred as both int and string"],
  ],
  [
    'type arguments are counted',
    'fn id<T>(a: T) -> T { return a }\nid<int, string>(1)',
    ["2:1 Function 'id' expects 1 type arguments, got 2"],
  ],
  ['type arguments need parameters', 'fn f(a) {}\nf<int>(1)', ["2:1 Function 'f' does not declare type parameters"]],
  ['builtins have no type parameters', 'len<int>([])', ["1:1 Builtin function 'len' does not declare type parameters"]],
  [
    'an explicit type argument binds',
    'fn id<T>(a: T) -> T { return a }\nid<int>("x")',
    ["2:1 type parameter 'T' was inferred as both int and string"],
  ],
  [
    'what a type parameter became is used in the result',
    'fn first<T>(xs: list<T>) -> T { return xs[0] }\nlet s: string = first([1])',
    ["2:1 's' declared as string, but assigned int"],
  ],
  [
    'a struct field fits its type',
    'struct S { f: int }\nlet a = S {f: "x"}\nlet b = S({f: "y"})',
    ["2:12 Field 'f' in struct 'S' expects int, got string", "3:12 Field 'f' in struct 'S' expects int, got string"],
  ],
  ['an unknown struct is refused', 'struct Pt { x: int }\nlet a = Pq {x: 1}', ['2:9 unknown struct type `Pq` — did you mean `Pt`?']],
  ['a payload fits its type', 'enum E { V(p: int) }\nlet a = E.V("x")', ['2:13 E.V expects p: int, got string']],
  [
    'a generic struct remembers what it holds',
    inFunction('struct B<T> { v: T }\nlet b = B {v: 1}\nlet s: string = b.v'),
    ["4:1 's' declared as string, but assigned int"],
  ],
  ['yield does not emit', 'gen fn g() -> Stream<int> {\n  yield 1\n}', ['2:3 `yield` is not a stream emit; use `emit` inside `gen fn`']],
  ['emit needs a gen fn', 'fn f() {\n  emit 1\n}', ['2:3 `emit` can only be used inside a `gen fn`']],
  ['an emitted value fits', 'gen fn g() -> Stream<int> {\n  emit "a"\n}', ["2:8 emit type doesn't match: expected int, got string"]],
  ['a gen fn makes a stream', 'gen fn g() -> int { emit 1 }', ['1:1 `gen fn` must return Stream<T>, got int']],
  [
    'try* needs a function',
    'let a = try* len(1)',
    ['1:9 try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target'],
  ],
  [
    'alternatives are literals',
    inFunction('match wrapper() { 1 | x -> { } }'),
    [
      '2:23 Or-pattern alternatives must be literal patterns (string, int, float, bool, nil, or `_`). Identifier bindings and destructuring patterns are not allowed inside `|`.',
    ],
  ],
  [
    'one mistake gives one message',
    inFunction('let a: int = "x" - 1\nlet b: string = a + 1\nlet c = nothing_here(a)'),
    [
      "2:14 can't use '-' on string and int (needs numeric operands)",
      "3:1 'b' declared as string, but assigned int",
      '4:9 call target `nothing_here` is not defined or imported',
    ],
  ],
];

test.each(ERRORS)('%s', (_rule, script, messages) => {
  expect(errorsOf(script)).toEqual(messages);
});

const WARNINGS: readonly Row[] = [
  ['let is not assigned to', 'let x = 1\nx = 2', ["2:1 Cannot assign to 'x': variable is immutable (declared with 'let')"]],
  ['code behind a return is dead', 'fn f() {\n  return 1\n  println(2)\n  println(3)\n}', ['3:3 unreachable code']],
  ['two ways out are a way out', 'fn f(x) {\n  if x { return 1 } else { throw "e" }\n  println(2)\n}', ['3:3 unreachable code']],
  ['arguments are counted', 'fn f(a, b) {}\nf(1)', ["2:1 Function 'f' expects 2 arguments, got 1"]],
  ['defaults widen the count', 'fn f(a, b = 1) {}\nf()\nf(1)\nf(1, 2)', ["2:1 Function 'f' expects 1-2 arguments, got 0"]],
  ['a rest parameter takes any number', 'fn f(a, ...b) {}\nf()\nf(1, 2, 3)', []],
  [
    'a pattern of another kind never matches',
    inFunction('let x = 1\nmatch x { "a" -> { } _ -> { } }'),
    ['3:11 Match pattern type mismatch: matching int against string literal'],
  ],
  ['order needs an order', 'println([1] < [2])', ["1:9 Comparison '<' may not be meaningful for types list<int> and list<int>"]],
  ['different kinds are never equal', 'println(1 == "1")', ["1:9 Comparing int with string using '==' may give unexpected results"]],
  [
    'fields of a struct are known',
    'struct S { f: int, g?: int }\nlet a = S {h: 1}',
    ["2:12 Unknown field 'h' in struct 'S'", "2:9 Missing field 'f' in struct 'S' construction"],
  ],
  [
    'variants of an enum are known',
    'enum E { A, B(x: int) }\nlet a = E.C\nlet b = E.B(1, 2)',
    ["2:11 Unknown variant 'C' in enum 'E'", '3:9 E.B expects 1 argument(s), got 2'],
  ],
  [
    'a bound lists the methods',
    'interface I { fn a(self) }\nfn f<T>(x: T) where T: I {\n  x.b()\n}',
    ["3:5 Method 'b' not found in interface 'I' (constraint on 'T')"],
  ],
  ['attributes are known', '@retyr\nfn f() {}', ['1:1 unknown attribute `@retyr`']],
  ['@test is for pipelines', '@test\nfn f() {}', ['1:1 `@test` only applies to pipeline declarations']],
  ['@acp_tool is for functions', '@acp_tool\npipeline p(task) {}', ['1:1 `@acp_tool` only applies to function declarations']],
  ['a deprecated function warns', '@deprecated(since: "0.8", use: "g")\nfn f() {}\nf()', ['3:1 `f` is deprecated (since 0.8)']],
  [
    'a ladder that ends early says what it forgot',
    'fn f(v: unknown) {\n  if type_of(v) == "string" { return 1 }\n  if type_of(v) == "int" { return 2 }\n  unreachable("x")\n}',
    [
      '4:3 `unreachable()` reached but `v: unknown` was not fully narrowed — uncovered concrete type(s): float, bool, nil, list, dict, closure, bytes',
    ],
  ],
];

test.each(WARNINGS)('%s', (_rule, script, messages) => {
  expect(warningsOf(script)).toEqual(messages);
});

test('an assignment to let has a code, a replacement is a help', () => {
  expect(checkText('let x = 1\nx = 2')[0]?.code).toBe('HARN-OWN-001');
  expect(checkText('@deprecated(since: "0.8", use: "g")\nfn f() {}\nf()')[0]?.help).toBe('use `g` instead');
});

test('a variable that nothing assigns to is only untidy', () => {
  const script = 'var a = 1\nvar b = 1\nvar c = {k: 1}\nvar _d = 1\nb = 2\nc.k = 2\nprintln(a)';
  expect(checkText(script)).toEqual([]);
  const [only, ...rest] = checkText(script, { lints: true });
  expect(rest).toEqual([]);
  expect(only).toMatchObject({ code: 'HARN-OWN-002', message: "'a' is declared with 'var' but never assigned to", severity: 'warning' });
});

const MAIN: readonly (readonly [script: string, isRefused: boolean])[] = [
  ['fn main(harness: Harness) {}', false],
  ['fn main(_harness: Harness) {}', false],
  ['fn main(harness) {}', false],
  ['fn main() {}', false],
  ['pipeline main(harness: Harness, task: string) {}', false],
  ['pipeline main(task) {}', false],
  ['fn main(h: Harness) {}', true],
  ['fn main(harness: string) {}', true],
  ['pipeline main(name: string) {}', true],
];

test.each(MAIN)('the signature `%s` of the entry is refused: %s', (script, isRefused) => {
  expect(checkText(script).map(({ code }) => code)).toEqual(isRefused ? ['HARN-NAM-101'] : []);
});

test('a call target is only missed when every import was found', () => {
  expect(checkText('missing_thing(1)', { isComplete: false })).toEqual([]);
});

/** Programs that run: the checker has nothing to say. */
const SILENT: readonly (readonly [rule: string, script: string])[] = [
  ['names of the file are dynamic', 'let q = 1\nlet z: string = q\nvar v = 1\nv = "a"\nfn f() -> string { return q }'],
  ['var nil takes any first value', inFunction('var x = nil\nx = 1\nx = nil\nlet y: int | nil = x')],
  [
    'what was assigned last counts',
    inFunction('var x = nil\nx = 5\nlet y: int = x\nvar z: string | nil = nil\nz = "a"\nlet s: string = z'),
  ],
  ['what both ways assign counts', inFunction('var x = nil\nif true { x = 1 } else { x = 2 }\nlet y: int = x')],
  [
    'var nil is open in a loop',
    inFunction('var best = nil\nfor x in [1, 2] {\n  if best == nil || x > best { best = x }\n}\nlet b: int = best'),
  ],
  ['a number may grow into a float', inFunction('var total = 0\nfor x in [1, 2] { total = total + x * 0.5 }\ntotal = total + 1')],
  ['a variable may be emptied', inFunction('var name = "a"\nname = nil\nlet n: string | nil = name')],
  ['a dict may change its fields', inFunction('var d = {a: 1}\nd = {b: "x"}\nd["c"] = 1\nd.a = "s"\nlet s: string = d.a')],
  ['a list may change its elements', inFunction('var xs = [1]\nxs = ["a"]\nxs[0] = nil\nlet s: string = xs[0]')],
  ['the empty list fits every list', 'let a: list<int> = []\nlet b: list<list<string>> = []'],
  ['unknown fields are dynamic', inFunction('let d = {a: 1}\nlet s: string = d.b')],
  ['undeclared types are dynamic', 'fn f(a: Whatever) -> Other { return a }\nlet x: int = f(1)'],
  ['functions of a block are known before they are declared', inFunction('let r: int = later(1)\nfn later(x: int) -> int { return x }')],
  ['functions of a caller may be called', 'fn a() { return helper() }\nfn b() {\n  fn helper() { return 1 }\n  return a()\n}'],
  ['callables of any kind may be called', 'fn f(cb, xs) {\n  let g = xs[0]\n  g(1)\n  return cb(2)\n}\nfor h in [len] { h([]) }'],
  ['a closure takes fewer arguments than it is given', 'fn f(cb: closure) { return cb(1, 2) }\nf({ -> 1 })\nf(len)'],
  [
    'enum values, structs and errors mix',
    'enum Result2 { A }\nlet r = Ok(1)\nlet e: Result<int, string> = Err("x")\nlet z = unwrap(r) + 1',
  ],
  ['a dict may become a struct', 'struct P { x: int }\nfn f(p: P) { return p }\nf({x: 1})'],
  ['optional fields may be nil', 'let u: {a: int, b?: int} = {a: 1, b: nil}'],
  ['a parameter that shadows a function is dynamic', 'fn size(x: int) -> int { return x }\nfn g(size) { return size("a") }'],
  ['recursive aliases are open', 'type Node = {v: int, next?: Node}\nlet n: Node = {v: 1, next: {v: 2, next: {v: 3}}}'],
  [
    'generators and streams',
    'fn g() { yield 1 }\ngen fn s() -> Stream<int> { emit 1 }\nfor x in g() { println(x) }\nlet t: Stream<int> = s()',
  ],
  ['match as a value', inFunction('let s: string = match 1 { 1 -> { "a" } _ -> { "b" } }')],
  ['schemas of aliases', 'type T = {a: int}\nlet t: T = schema_expect({a: 1}, T)\nlet s = schema_of(T)\nprintln(s.type)'],
  ['the handle', 'fn main(harness: Harness) { harness.stdio.println("x") }\nfn h(x: HarnessStdio) { x.println("a") }'],
  ['pipes', '[1, 2] |> { xs -> len(xs) } |> println\n"a" |> replace(_, "a", "b") |> println'],
  ['spread', 'fn f(a: int, b: string) {}\nlet xs = [1, "a"]\nf(...xs)\nlet d = {...{a: 1}, b: "x"}\nlet e: {a: int, b: string} = d'],
  ['try as a value', inFunction('let r = try { len([1]) }\nlet n: int = unwrap(r)\nlet m: int = try { 1 } catch (e) { 2 }')],
  [
    'a Result passes on',
    'fn a() -> Result<int, string> { return Ok(1) }\nfn b() -> Result<int, string> {\n  let v: int = a()?\n  return Ok(v + 1)\n}',
  ],
  ['structs of any block', 'fn a() { struct Pt { x: int } }\nfn b() { return Pt {x: 1} }'],
  [
    'interfaces',
    'interface I { fn m(self) -> int }\nstruct S { x: int }\nimpl S { fn m(self) -> int { return self.x } }\nfn f(i: I) -> int { return i.m() }\nf(S({x: 1}))',
  ],
];

test.each(SILENT)('%s', (_rule, script) => {
  expect(checkText(script).filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('code under a test that cannot hold is not code behind an exit', () => {
  expect(warningsOf('fn f(x: string) {\n  if type_of(x) == "int" {\n    let y = x\n    println(y)\n  }\n}')).toEqual([]);
});
