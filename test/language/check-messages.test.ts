import { describe, expect, test } from 'vitest';
import { parse } from '../../src/language/parser.ts';
import { BUILTIN_SIGNATURES } from '../../src/runtime/builtin-signatures.ts';
import { checkText, inFunction } from './check-text.ts';

/** One message of the checker: a program that gets it, where, and the same program put right, which gets none. */
interface Row {
  readonly wrong: string;
  readonly message: string;
  readonly right: string;
  readonly help?: string;
  readonly code?: string;
}

const E = 'enum E { A, B(n: int) }\n';
const TAGGED = 'type Ping = {kind: "ping", at: int}\ntype Pong = {kind: "pong", by: string}\n';
const NAMED = 'interface Named { fn label(self, n: int) -> string }\nstruct S { x: int }\n';

function bound(methods: string): string {
  return `${NAMED}${methods === '' ? '' : `impl S { ${methods} }\n`}fn show<T>(v: T) where T: Named { return v.label(1) }\nfn f() { show(S {x: 1}) }`;
}

const GOOD_LABEL = bound('fn label(self, n: int) -> string { return "" }');

function unsatisfied(detail: string, line = 5): string {
  return `${line}:15 Type 'S' does not satisfy interface 'Named': ${detail} (required by constraint \`where T: Named\`)`;
}

const TEXT = 'write one text: `"n is ${n}"`';

/** spec/language.md 8.5, in its order. */
const ERRORS: readonly Row[] = [
  { wrong: 'let x: int = "a"', message: "1:1 'x' declared as int, but assigned string", right: 'let x: int = 1' },
  {
    wrong: 'let u: {n: string, a: int} = {n: "x"}',
    message: "1:1 'u' declared as {n: string, a: int}, but assigned {n: string} (missing field 'a' (int))",
    right: 'let u: {n: string, a?: int} = {n: "x"}',
  },
  {
    wrong: 'let u: {n: string} = {n: 1}',
    message: "1:1 'u' declared as {n: string}, but assigned {n: int} (field 'n' has type int, expected string)",
    right: 'let u: {n: string} = {n: "1"}',
  },
  {
    wrong: inFunction('var x: int = 1\n  x = "a"'),
    message: "3:3 can't assign string to 'x' (declared as int)",
    right: inFunction('var x: int = 1\n  x = 2'),
  },
  {
    wrong: 'fn f() -> int {\n  return "a"\n}',
    message: "2:10 return type doesn't match: expected int, got string",
    right: 'fn f() -> int {\n  return 1\n}',
  },
  {
    wrong: 'fn f(a, p: int) {}\nfn g() { f(nil, "x") }',
    message: "2:17 Argument 2 ('p'): expected int, got string",
    right: 'fn f(a, p: int) {}\nfn g() { f(nil, 2) }',
  },
  {
    wrong: 'println(schema_pick({}, "a"))',
    message: "1:25 Argument 2 ('keys'): expected list, got string",
    right: 'println(schema_pick({}, ["a"]))',
  },
  { wrong: 'println("n" + 1)', message: "1:9 can't add string and int", help: TEXT, right: 'println("n" + "1")' },
  {
    wrong: inFunction('var s = "n"\n  s += 1'),
    message: "3:3 can't add string and int",
    help: TEXT,
    right: inFunction('var s = "n"\n  s += "1"'),
  },
  ...['-', '/', '%', '**'].map((operator) => ({
    wrong: `println(1 ${operator} "a")`,
    message: `1:9 can't use '${operator}' on int and string (needs numeric operands)`,
    right: `println(1 ${operator} 2.5)`,
  })),
  { wrong: 'println(nil * 2)', message: "1:9 can't multiply nil and int (try string * int)", right: 'println("a" * 2)' },
  { wrong: 'let a = missing_one(1)', message: '1:9 call target `missing_one` is not defined or imported', right: 'let a = len([])' },
  {
    wrong: 'fn render_all() {}\nrender_al()',
    message: '2:1 call target `render_al` is not defined or imported — did you mean `render_all`?',
    right: 'fn render_all() {}\nrender_all()',
  },
  {
    wrong: 'fn both<T>(a: T, b: T) {}\nboth(1, "x")',
    message: "2:1 type parameter 'T' was inferred as both int and string",
    right: 'fn both<T>(a: T, b: T) {}\nboth(1, 2)',
  },
  {
    wrong: 'fn id<T>(a: T) {}\nid<int, int>(1)',
    message: "2:1 Function 'id' expects 1 type arguments, got 2",
    right: 'fn id<T>(a: T) {}\nid<int>(1)',
  },
  {
    wrong: 'fn id(a) {}\nid<int>(1)',
    message: "2:1 Function 'id' does not declare type parameters",
    right: 'fn id<T>(a: T) {}\nid<int>(1)',
  },
  { wrong: 'println(len<int>([]))', message: "1:9 Builtin function 'len' does not declare type parameters", right: 'println(len([]))' },
  {
    wrong: 'fn f() { return llm_call<int, int>("a") }',
    message: "1:17 Builtin function 'llm_call' expects 1 type arguments, got 2",
    right: 'fn f() { return llm_call<int>("a") }',
  },
  { wrong: bound(''), message: unsatisfied('missing method(s): label', 4), right: GOOD_LABEL },
  {
    wrong: bound('fn label(self) -> string { return "" }'),
    message: unsatisfied("method 'label' has 0 parameter(s), expected 1"),
    right: GOOD_LABEL,
  },
  {
    wrong: bound('fn label(self, n: string) -> string { return n }'),
    message: unsatisfied("method 'label' parameter 1 has type 'string', expected 'int'"),
    right: GOOD_LABEL,
  },
  {
    wrong: bound('fn label(self, n: int) -> int { return n }'),
    message: unsatisfied("method 'label' returns 'int', expected 'string'"),
    right: GOOD_LABEL,
  },
  {
    wrong: `interface Box { type Item fn put(self, v: Item) fn take(self) -> Item }\nstruct S { x: int }\nimpl S { fn put(self, v: int) {} fn take(self) -> string { return "" } }\nfn show<T>(v: T) where T: Box {}\nshow(S {x: 1})`,
    message:
      "5:6 Type 'S' does not satisfy interface 'Box': associated type 'Item' resolves to 'string', expected 'int' (required by constraint `where T: Box`)",
    right: `interface Box { type Item fn put(self, v: Item) fn take(self) -> Item }\nstruct S { x: int }\nimpl S { fn put(self, v: int) {} fn take(self) -> int { return 1 } }\nfn show<T>(v: T) where T: Box {}\nshow(S {x: 1})`,
  },
  {
    wrong: 'struct S { f: int }\nlet s = S {f: "x"}',
    message: "2:12 Field 'f' in struct 'S' expects int, got string",
    right: 'struct S { f: int }\nlet s = S {f: 1}',
  },
  {
    wrong: 'struct Pt { x: int }\nlet p = Pq {x: 1}',
    message: '2:9 unknown struct type `Pq` — did you mean `Pt`?',
    right: 'struct Pt { x: int }\nlet p = Pt {x: 1}',
  },
  { wrong: `${E}let e = E.B("x")`, message: '2:13 E.B expects n: int, got string', right: `${E}let e = E.B(1)` },
  {
    wrong: `${E}fn f(e: E) {\n  match e { E.A -> { 1 } }\n}`,
    message: '3:3 Non-exhaustive match on enum E: missing variants "B"',
    right: `${E}fn f(e: E) {\n  match e { E.A -> { 1 } E.B(n) -> { n } }\n}`,
  },
  {
    wrong: `${TAGGED}fn f(m: Ping | Pong) {\n  match m.kind { "ping" -> { 1 } }\n}`,
    message: '4:3 Non-exhaustive match on tagged shape union: missing variants "pong"',
    right: `${TAGGED}fn f(m: Ping | Pong) {\n  match m.kind { "ping" -> { 1 } "pong" -> { 2 } }\n}`,
  },
  {
    wrong: 'fn f(v: int | string) {\n  match v { 1 -> { 1 } }\n}',
    message: '2:3 Non-exhaustive match on union type: missing string',
    right: 'fn f(v: int | string) {\n  match v { 1 -> { 1 } _ -> { 2 } }\n}',
  },
  {
    wrong: 'fn f(v: "x" | "y") {\n  match v { "x" -> { 1 } }\n}',
    message: '2:3 Non-exhaustive match on literal union: missing "y"',
    right: 'fn f(v: "x" | "y") {\n  match v { "x" | "y" -> { 1 } }\n}',
  },
  {
    wrong: 'fn f(v: "x" | "y") {\n  if v == "x" { return 1 }\n  unreachable(v)\n}',
    message: '3:3 unreachable() argument has type `"y"` — not all cases are handled',
    right: 'fn f(v: "x" | "y") {\n  if v == "x" { return 1 }\n  if v == "y" { return 2 }\n  unreachable(v)\n}',
  },
  {
    wrong: 'gen fn g() -> Stream<int> {\n  yield 1\n}',
    message: '2:3 `yield` is not a stream emit; use `emit` inside `gen fn`',
    right: 'gen fn g() -> Stream<int> {\n  emit 1\n}',
  },
  { wrong: 'fn g() {\n  emit 1\n}', message: '2:3 `emit` can only be used inside a `gen fn`', right: 'gen fn g() {\n  emit 1\n}' },
  {
    wrong: 'gen fn g() -> Stream<int> {\n  emit "a"\n}',
    message: "2:8 emit type doesn't match: expected int, got string",
    right: 'gen fn g() -> Stream<int> {\n  emit 1\n}',
  },
  {
    wrong: 'gen fn g() -> int { emit 1 }',
    message: '1:1 `gen fn` must return Stream<T>, got int',
    right: 'gen fn g() -> Stream<int> { emit 1 }',
  },
  {
    wrong: 'let a = try* len([])',
    message: '1:9 try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target',
    right: inFunction('let a = try* len([])'),
  },
  ...(
    [
      ['fn give<out T>(v: T) {}', 'out', 'function', 'give', 'fn give<in T>(v: T) {}'],
      ['type Make<in T> = {v: T}', 'in', 'type alias', 'Make', 'type Make<out T> = {v: T}'],
      ['type Take<out T> = fn(T) -> nil', 'out', 'type alias', 'Take', 'type Take<in T> = fn(T) -> nil'],
      ['enum Maybe<in T> { Some(v: T), None }', 'in', 'enum', 'Maybe', 'enum Maybe<out T> { Some(v: T), None }'],
      ['struct Cell<in T> { v: T }', 'in', 'struct', 'Cell', 'struct Cell<out T> { v: T }'],
      ['interface Sink<out T> { fn put(self, v: T) }', 'out', 'interface', 'Sink', 'interface Sink<in T> { fn put(self, v: T) }'],
    ] as const
  ).map(([wrong, variance, kind, name, right]): Row => {
    const [declared, position] = variance === 'out' ? ['(covariant)', 'contravariant'] : ['(contravariant)', 'covariant'];
    return {
      wrong,
      right,
      message: `1:1 type parameter 'T' is declared '${variance}' ${declared} but appears in a ${position} position in ${kind} '${name}'`,
    };
  }),
  {
    wrong: 'fn f(v) {\n  match v { 1 | x -> { } _ -> { } }\n}',
    message:
      '2:17 Or-pattern alternatives must be literal patterns (string, int, float, bool, nil, or `_`). Identifier bindings and destructuring patterns are not allowed inside `|`.',
    right: 'fn f(v) {\n  match v { 1 | 2 -> { } _ -> { } }\n}',
  },
  {
    wrong: 'fn main(h: Harness) {}',
    message: '1:9 the first parameter of `main` must be `harness: Harness`',
    code: 'HARN-NAM-101',
    help: 'write `fn main(harness: Harness)`',
    right: 'fn main(harness: Harness) {}',
  },
];

/** spec/language.md 8.7, in its order. */
const WARNINGS: readonly Row[] = [
  {
    wrong: 'let x = 1\nx = 2',
    message: "2:1 Cannot assign to 'x': variable is immutable (declared with 'let')",
    code: 'HARN-OWN-001',
    help: 'declare it with `var`',
    right: 'var x = 1\nx = 2',
  },
  {
    wrong: 'const X = 1\nX = 2',
    message: "2:1 Cannot assign to 'X': variable is immutable (declared with 'const')",
    code: 'HARN-OWN-001',
    help: 'declare it with `var`',
    right: 'var X = 1\nX = 2',
  },
  ...['return 1', 'throw "e"'].map((exit) => ({
    wrong: `fn f() {\n  ${exit}\n  println(2)\n}`,
    message: '3:3 unreachable code',
    right: `fn f(c) {\n  if c { ${exit} }\n  println(2)\n}`,
  })),
  ...['break', 'continue'].map((exit) => ({
    wrong: `for x in [1] {\n  ${exit}\n  println(x)\n}`,
    message: '3:3 unreachable code',
    right: `for x in [1] {\n  if x { ${exit} }\n  println(x)\n}`,
  })),
  { wrong: 'fn f(a, b) {}\nf(1)', message: "2:1 Function 'f' expects 2 arguments, got 1", right: 'fn f(a, b) {}\nf(1, 2)' },
  { wrong: 'fn f(a, b = 1) {}\nf()', message: "2:1 Function 'f' expects 1-2 arguments, got 0", right: 'fn f(a, b = 1) {}\nf(1)' },
  {
    wrong: 'fn f(x: int) {\n  match x { "a" -> { } _ -> { } }\n}',
    message: '2:13 Match pattern type mismatch: matching int against string literal',
    right: 'fn f(x: int) {\n  match x { 1 -> { } _ -> { } }\n}',
  },
  ...['<', '>', '<=', '>='].map((operator) => ({
    wrong: `println({} ${operator} {})`,
    message: `1:9 Comparison '${operator}' may not be meaningful for types {} and {}`,
    right: `println("a" ${operator} "b")`,
  })),
  ...['==', '!='].map((operator) => ({
    wrong: `println(1 ${operator} "1")`,
    message: `1:9 Comparing int with string using '${operator}' may give unexpected results`,
    right: `println(1 ${operator} 1.0)`,
  })),
  {
    wrong: 'struct S { f: int }\nlet s = S {f: 1, g: 2}',
    message: "2:18 Unknown field 'g' in struct 'S'",
    right: 'struct S { f: int }\nlet s = S {f: 1}',
  },
  {
    wrong: 'struct S { f: int, g: int }\nlet s = S {f: 1}',
    message: "2:9 Missing field 'g' in struct 'S' construction",
    right: 'struct S { f: int, g?: int }\nlet s = S {f: 1}',
  },
  { wrong: `${E}let e = E.C`, message: "2:11 Unknown variant 'C' in enum 'E'", right: `${E}let e = E.A` },
  { wrong: `${E}let e = E.B(1, 2)`, message: '2:9 E.B expects 1 argument(s), got 2', right: `${E}let e = E.B(1)` },
  {
    wrong: `${NAMED}fn f<T>(x: T) where T: Named {\n  x.name()\n}`,
    message: "4:5 Method 'name' not found in interface 'Named' (constraint on 'T')",
    right: `${NAMED}fn f<T>(x: T) where T: Named {\n  x.label(1)\n}`,
  },
  { wrong: '@retyr\nfn f() {}', message: '1:1 unknown attribute `@retyr`', right: '@retry\nfn f() {}' },
  { wrong: '@test\nfn f() {}', message: '1:1 `@test` only applies to pipeline declarations', right: '@test\npipeline f(task) {}' },
  {
    wrong: '@acp_tool\npipeline p(task) {}',
    message: '1:1 `@acp_tool` only applies to function declarations',
    right: '@acp_tool\nfn p(task) {}',
  },
  {
    wrong: '@deprecated(since: "0.8", use: "g")\nfn f() {}\nfn g() {}\nf()',
    message: '4:1 `f` is deprecated (since 0.8)',
    help: 'use `g` instead',
    right: '@deprecated(since: "0.8", use: "g")\nfn f() {}\nfn g() {}\ng()',
  },
  ...(
    [
      ['unreachable("v")', 'unreachable()'],
      ['throw "v"', 'throw'],
    ] as const
  ).map(([exit, site]) => ({
    wrong: `fn f(v: unknown) {\n  if type_of(v) == "int" { return 1 }\n  ${exit}\n}`,
    message: `3:3 \`${site}\` reached but \`v: unknown\` was not fully narrowed — uncovered concrete type(s): string, float, bool, nil, list, dict, closure, bytes`,
    right: `fn f(v: unknown) {\n  ${exit}\n}`,
  })),
];

/** What reads as nil, runs no round or never runs: a run says so too. */
const SILENT: readonly Row[] = [
  {
    wrong: 'let d = {a: 1}\nd.remove("a")\nprintln(d)',
    message: "2:1 'd' keeps its value: 'remove' gives a new one",
    code: 'HARN-OWN-005',
    help: 'write `d = d.remove(…)`',
    right: 'let d = {a: 1}\nfn f(d) {\nd.remove("a")\nreturn d }',
  },
  ...['for x in 1 to 3 { ys.push(x) }', 'ys.push(1)\nprintln(ys)', 'while len(ys) < 3 { ys.push(1) }'].map((statement) => ({
    wrong: `fn f() {\nlet ys = []\n${statement}\nreturn ys\n}`,
    message: `3:${statement.indexOf('ys.push') + 1} 'ys' keeps its value: 'push' gives a new one`,
    code: 'HARN-OWN-005',
    help: 'write `ys = ys.push(…)`',
    right: 'var ys = []\nfor x in 1 to 3 { ys = ys.push(x) }\nfn f(zs) { zs.push(1)\nreturn [1].map({ z -> ys.push(z) }) }',
  })),
  ...(
    [
      ['let xs = [1]\nprintln(xs.lenght)', '2:12', 'list', 'lenght', 'write `len(x)`', 'let xs = [1]\nprintln(xs.count)'],
      ['println("a".length)', '1:13', 'string', 'length', 'write `len(x)`', 'println("a".count)\nprintln("a"?.length)'],
      ['println([2, 1].sort)', '1:16', 'list', 'sort', 'it is a method: write `.sort(…)`', 'println([2, 1].sort())'],
      ['println([1].frist)', '1:13', 'list', 'frist', 'did you mean `first`?', 'println([1].first)'],
      ['println(Ok(1).value)', '1:15', 'enum', 'value', 'write `unwrap(result)`, or match its variants', 'println(Ok(1).variant)'],
    ] as const
  ).map(([wrong, at, kind, name, help, right]) => ({
    wrong,
    message: `${at} a value of type ${kind} has no property '${name}': it reads as nil`,
    code: 'HARN-NAM-003',
    help,
    right,
  })),
  ...(
    [
      ['let xs = [1]\nlet ys = xs.append(2)', '2:13', 'list', 'append', 'write `xs = xs.push(item)`', 'let xs = [1]\nlet ys = xs.push(2)'],
      ['println(" a".strip())', '1:14', 'string', 'strip', 'write `s.trim()`', 'println(" a".trim())'],
      ['println("a".startswth("a"))', '1:13', 'string', 'startswth', 'did you mean `starts_with`?', 'println("a".starts_with("a"))'],
      [
        'let d = {a: 1}\nprintln(d.items())',
        '2:11',
        'dict',
        'items',
        'write `d.entries()`',
        'let d = {items: { -> 1 }}\nprintln(d.items())',
      ],
      ['println(5.to_string())', '1:11', 'int', 'to_string', 'write `to_string(n)`', 'fn f(d: dict) { return d.size() }'],
      ['println(iter([1]).next())', '1:19', 'iter', 'next', 'write `it.first()`, or loop over it', 'println(iter([1]).first())'],
      ['println(set(1).has(1))', '1:16', 'set', 'has', 'write `s.contains(item)`', 'println(set(1).contains(1))'],
      ['println(Ok(1).unwrap())', '1:15', 'enum', 'unwrap', 'write `unwrap(result)`', 'println(unwrap(Ok(1)))'],
    ] as const
  ).map(([wrong, at, kind, name, help, right]) => ({
    wrong,
    message: `${at} a value of type ${kind} has no method '${name}': the call gives nil`,
    code: 'HARN-NAM-003',
    help,
    right,
  })),
  {
    wrong: 'struct P { total: int }\nlet p = P {total: 1}\nprintln(p.totl)',
    message: "3:11 struct 'P' has no field 'totl': it reads as nil",
    code: 'HARN-NAM-003',
    help: 'did you mean `total`?',
    right: 'struct P { total?: int }\nlet p = P {}\nprintln(p.total)',
  },
  {
    wrong: 'struct P { f }\nlet p = P {f: { -> 1 }}\nprintln(p.f())',
    message: "3:11 struct 'P' has no method 'f': the call gives nil",
    code: 'HARN-NAM-003',
    help: 'it is a field: write `let f = x.f`, then `f(…)`',
    right: 'struct P { f }\nlet p = P {f: { -> 1 }}\nlet f = p.f\nprintln(f())',
  },
  {
    wrong: 'struct P { x }\nimpl P { fn area(self) { return 1 } }\nlet p = P {x: 1}\nprintln(p.aera())',
    message: "4:11 struct 'P' has no method 'aera': the call gives nil",
    code: 'HARN-NAM-003',
    help: 'did you mean `area`?',
    right: 'struct P { x }\nimpl P { fn area(self) { return 1 } }\nlet p = P {x: 1}\nprintln(p.area())',
  },
  {
    wrong: 'fn f(a: strng) { return a }',
    message: "1:9 unknown type 'strng': nothing is checked here",
    code: 'HARN-NAM-004',
    help: 'did you mean `string`?',
    right: 'fn f<T>(a: T, b: string) { return a }',
  },
  {
    wrong: 'type T = {n?: list<number>}',
    message: "1:20 unknown type 'number': nothing is checked here",
    code: 'HARN-NAM-004',
    help: 'write `int` or `float`',
    right: 'type T = {n?: list<int>, h: HarnessStdio, a: atomic, u: T}\ninterface I { type Item\n fn next(self) -> Item }',
  },
  {
    wrong: 'pipeline default() { println("in") }\nlet a = 1\nprintln("never")',
    message: '3:1 this statement never runs: the file has a pipeline',
    code: 'HARN-LNT-001',
    help: 'only bindings and declarations of the top level run beside it; move the rest into it',
    right: 'pipeline default() { println("in") }\nlet a = 1\nfn f() { return 1 }',
  },
  {
    wrong: 'fn main() { println("in") }',
    message: '1:4 nothing calls `main`',
    code: 'HARN-LNT-001',
    help: 'write `fn main(harness: Harness)`, which is called by itself, or call it: `main()`',
    right: 'fn main() { println("in") }\nmain()',
  },
  {
    wrong: 'fn add(a, b) { a + b }',
    message: "1:16 'add' does not return this value: a named function gives nil",
    code: 'HARN-LNT-002',
    help: 'write `return` before it',
    right: 'fn add(a, b) { return a + b }\nlet f = fn(a) { a }\nfn g() { f(1) }\ntool t(a: int) { a }',
  },
  {
    wrong: 'fn f(a) { if a { 1 } else { "b" } }',
    message: "1:18 'f' does not return this value: a named function gives nil",
    code: 'HARN-LNT-002',
    help: 'write `return` before it',
    right: 'fn f(a) { return if a { 1 } else { "b" } }\nfn g(a) { if a { 1 } }',
  },
  {
    wrong: 'fn f() {\n  let a = 5\n  - 3\n  return a\n}',
    message: '3:3 nothing takes this value',
    code: 'HARN-LNT-002',
    help: 'a line that begins with `-` stands alone: end the line before it with the operator',
    right: 'fn f() {\n  let a = 5 -\n    3\n  return a\n}',
  },
  {
    wrong: 'var a = 1\na == 2\nprintln(a)',
    message: '2:1 nothing takes this value',
    code: 'HARN-LNT-002',
    help: '`=` assigns',
    right: 'var a = 1\na = 2\nlet f = { b -> b == 2 }\na == 2',
  },
  {
    wrong: 'let n = 3\nfor i in n { println(i) }',
    message: '2:10 a loop over a value of type int runs no round',
    code: 'HARN-LNT-003',
    help: 'write `for i in 0 to n exclusive { … }`',
    right: 'let n = 3\nfor i in 0 to n exclusive { println(i) }',
  },
  {
    wrong: 'for c in "ab" { println(c) }',
    message: '1:10 a loop over a value of type string runs no round',
    code: 'HARN-LNT-003',
    help: 'write `for c in s.chars() { … }`, or `s.lines()`',
    right: 'for c in "ab".chars() { println(c) }',
  },
  {
    wrong: 'let r = parallel [1, 2] { x -> x }',
    message: '1:18 `parallel` takes a number: over a list it gives nil',
    code: 'HARN-LNT-003',
    help: 'write `parallel each xs { x -> … }`',
    right: 'let r = parallel each [1, 2] { x -> x }',
  },
  {
    wrong: 'let r = parallel each 2 { x -> x }',
    message: '1:23 `parallel each` takes a list: over an int it gives nil',
    code: 'HARN-LNT-003',
    help: 'write `parallel n { i -> … }`',
    right: 'let r = parallel 2 { x -> x }',
  },
  {
    wrong: 'struct P { x: int }\nlet p = P(1)',
    message: "2:9 struct 'P' is built from named fields: this gives one without any",
    code: 'HARN-NAM-006',
    help: 'write `P {x: …}`',
    right: 'struct P { x: int }\nfn f(d) { return P(d) }',
  },
  ...(
    [
      [
        'len(5)',
        'len',
        '1:5',
        'int',
        'value',
        'string | bytes | list | dict | set | range',
        'println([len([]), len({a: 1}), len(1 to 2)])',
      ],
      ['sqrt("4")', 'sqrt', '1:6', 'string', 'value', 'int | float', 'println([sqrt(4), sqrt(to_int("4"))])'],
      ['sleep("1s")', 'sleep', '1:7', 'string', 'time', 'duration | int | float', 'sleep(1ms)\nfn f(t) { sleep(t) }'],
      ['send(1, 2)', 'send', '1:6', 'int', 'channel', 'channel', 'send(channel("a"), 2)'],
      ['let x = 5\nlet k = keys(x)', 'keys', '2:14', 'int', 'dict', 'dict', 'let x = {a: 1}\nlet k = keys(x)'],
      ['group_by([1], 2)', 'group_by', '1:15', 'int', 'callback', 'closure', 'group_by([1], { x -> x })\ngroup_by([1], to_string)'],
    ] as const
  ).map(([wrong, builtin, at, kind, name, wanted, right]) => ({
    wrong,
    message: `${at} ${builtin} makes nothing of a value of type ${kind}: '${name}' should be ${wanted}`,
    code: 'HARN-LNT-004',
    right,
  })),
  {
    wrong: 'println([3, 1].sort_by({ x -> [x] }))',
    message: '1:16 sort_by by a value of type list, which has no order: everything stays where it is',
    code: 'HARN-LNT-005',
    help: 'write `pair(a, b)`, which is compared part by part',
    right: 'println([3, 1].sort_by({ x -> pair(x, "a") }))\nlet d = {sort_by: { f -> 1 }}\nd.sort_by({ x -> [x] })',
  },
  {
    wrong: 'println([3, 1].max_by({ x -> x > 2 }))',
    message: '1:16 max_by by a value of type bool, which has no order: everything stays where it is',
    code: 'HARN-LNT-005',
    help: 'write `… ? 1 : 0`',
    right: 'println([3, 1].max_by({ x -> x > 2 ? 1 : 0 }))',
  },
  {
    wrong: 'let s = " a"\ns.trim()\nprintln(s)',
    message: "2:1 's' keeps its value: 'trim' gives a new one",
    code: 'HARN-OWN-005',
    help: 'write `s = s.trim(…)`',
    right: 'let s = " a"\nprintln(s.trim())',
  },
  {
    wrong: 'let s = " a"\ntrim(s)\nprintln(s)',
    message: '2:1 nothing takes this value',
    code: 'HARN-LNT-002',
    help: '`trim` does nothing but answer',
    right: 'fn trim(s) { println(s) }\ntrim(" a")\nlen("ab")',
  },
  {
    wrong: 'var total = 0\nlet r = [1, 2].map({ x -> total += x })\nprintln(total)',
    message: "2:27 'total' is a copy here: the variable outside keeps its value",
    code: 'HARN-OWN-003',
    help: 'return the new value, or share it through `atomic`, a channel or `shared_cell`',
    right: 'var n = 0\nlet next = { ->\n  n = n + 1\n  n\n}\nfor x in [1, 2] { n += x }',
  },
  {
    wrong: 'let n = "5"\nif n == 5 { println(n) }',
    message: "2:4 Comparing string with int using '==' may give unexpected results",
    right: 'let n = "5"\nif n == "5" { println(n) }',
  },
  {
    wrong: 'println(contains({a: 1}, "a"))',
    message: "1:18 contains makes nothing of a value of type {a: int}: 'container' should be string | list",
    code: 'HARN-LNT-004',
    help: 'write `d.has(key)`',
    right: 'println(contains([1], 1))',
  },
  {
    wrong: 'let n = 1\nprintln("n", n)',
    message: "2:1 Function 'println' expects 0-1 arguments, got 2",
    help: 'only the first is shown: write one text, `"${a} ${b}"`',
    right: 'let n = 1\nprintln("n ${n}")',
  },
  {
    wrong: 'println(f"n")',
    message: "1:1 Function 'println' expects 0-1 arguments, got 2",
    help: 'strings take `${…}` without a prefix: `"n is ${n}"`',
    right: 'println("n")',
  },
];

/** spec/language.md 11.5: what only `harn check` says. */
const LINTS: readonly Row[] = [
  {
    wrong: 'let total = 1\ntotal()',
    message: "2:1 'total' holds a value of type int, which cannot be called",
    code: 'HARN-NAM-005',
    right: 'let len = 1\nlen([])\nfn f(g) { return g() }',
  },
  {
    wrong: 'let total = 1\nprintln(totl)',
    message: "2:9 'totl' is not declared",
    code: 'HARN-NAM-001',
    help: 'did you mean `total`?',
    right: 'let total = 1\nprintln(total)',
  },
  {
    wrong: 'let x = null',
    message: "1:9 'null' is not declared",
    code: 'HARN-NAM-001',
    help: 'write `nil`',
    right: 'fn f() { return late }\nlet late = len\nprintln(pi)',
  },
  {
    wrong: 'var x = 1\nprintln(x)',
    message: "1:1 'x' is declared with 'var' but never assigned to",
    code: 'HARN-OWN-002',
    help: 'use `let`',
    right: 'let x = 1\nprintln(x)',
  },
  ...(
    [
      [
        'fn f(xs) {\n  var n = 0\n  xs.for_each({ x -> n = n + x; n })\n  return n\n}',
        '3:22',
        'fn f(xs) {\n  var n = 0\n  for x in xs { n = n + x }\n  return n\n}',
      ],
      ['fn f() {\n  var n = 0\n  spawn { n = 1; n }\n  return n\n}', '3:11', 'fn f() {\n  var n = 0\n  if true { n = 1 }\n  return n\n}'],
      ['var n = 0\nfn f() { n += 1; return n }', '2:10', 'var n = 0\npipeline p(task) { n += 1 }'],
    ] as const
  ).map(([wrong, at, right]) => ({
    wrong,
    right,
    message: `${at} 'n' is a copy here: the variable outside keeps its value`,
    code: 'HARN-OWN-003',
    help: 'return the new value, or share it through `atomic`, a channel or `shared_cell`',
  })),
  ...(
    [
      [
        'fn f(text) {\n  let c = json_parse(text)\n  return c.port\n}',
        "3:10 'c' comes from json_parse and",
        'fn f(text) {\n  let c = json_parse(text)\n  if type_of(c) == "dict" { return c.port }\n}',
      ],
      [
        'fn f(text) {\n  let c = json_parse(text)\n  return c["port"]\n}',
        "3:10 'c' comes from json_parse and",
        'type C = {port: int}\nfn f(text) {\n  let c = json_parse(text)\n  if schema_is(c, C) { return c["port"] }\n}',
      ],
      [
        'fn f(text) { return yaml_parse(text).port }',
        '1:21 the answer of yaml_parse',
        'type C = {port: int}\nfn f(text) { return schema_expect(yaml_parse(text), C).port }',
      ],
      [
        'fn f(text) {\n  let c = json_parse(text)\n  return c.port\n}',
        "3:10 'c' comes from json_parse and",
        'fn f(text) {\n  let c: {port: int} = json_parse(text)\n  return c.port\n}',
      ],
    ] as const
  ).map(([wrong, subject, right]) => ({
    wrong,
    right,
    message: `${subject} is used without a look at its form`,
    code: 'HARN-OWN-004',
    help: 'check it with `schema_expect(value, SomeType)`, or test it with `schema_is` or `type_of` first',
  })),
  ...(
    [
      ['const STARTED = now_ms()', '1:17', 'const SECOND = 1000\nconst MINUTE = SECOND * 60'],
      ['let n = 1\nconst NEXT = n + 1', '2:14', 'const N = 1\nconst NEXT = [N + 1, ...[N], len("abc")]'],
      ['const F = { x -> x }', '1:11', `${E}const F = {a: E.A, b: "\${pi}", c: true ? -1 : [2][0]}`],
    ] as const
  ).map(([wrong, at, right]) => ({
    wrong,
    right,
    message: `${at} the value of const '${/const (\w+)/.exec(wrong)?.[1]}' is only known at run time`,
    code: 'HARN-MET-001',
    help: 'use `let`',
  })),
  {
    wrong: 'fn main(harness: Harness) {\n  println("a")\n}',
    message: '2:3 ambient `println` where `harness` is at hand',
    code: 'HARN-LNT-053',
    help: 'use `harness.stdio.println`',
    right: 'fn main(harness: Harness) {\n  harness.stdio.println("a")\n}\nfn helper() { println("b") }',
  },
  {
    wrong: 'fn ask(h: Harness) {\n  let f = { -> prompt_user("a") }\n}',
    message: '2:16 ambient `prompt_user` where `h` is at hand',
    code: 'HARN-LNT-053',
    help: 'use `h.stdio.prompt`',
    right: 'fn ask(h: Harness) {\n  let f = { -> h.stdio.prompt("a") }\n}',
  },
  ...(
    [
      ['transcript.inject_reminder(t, {body: "a"})', '2:31', 'transcript.inject_reminder(t, {body: "a", ttl_turns: 1})'],
      [
        'transcript.inject_reminder(t, {body: "a", preserve_on_compact: false})',
        '2:31',
        'transcript.inject_reminder(t, {body: "a", preserve_on_compact: true})',
      ],
      [
        'let f = { _ -> {reminder: {body: "a"}} }',
        '2:27',
        'let f = { _ -> {reminder: {body: "a", ttl_turns: 2}} }\nlet d = {reminder: {text: "a"}}',
      ],
      ['transcript.inject_reminder(t, {body: "a", tags: []})', '2:31', 'transcript.inject_reminder(t, {...t, body: "a"})'],
    ] as const
  ).map(([wrong, at, right]) => ({
    wrong: `let t = transcript()\n${wrong}`,
    right: `let t = transcript()\n${right}`,
    message: `${at} a reminder that compaction may drop has no ttl_turns`,
    code: 'HARN-RMD-004',
    help: 'set `ttl_turns`, or `preserve_on_compact: true` when it must stay',
  })),
];

describe.each([
  ['errors of 8.5', 'error', ERRORS, false],
  ['warnings of 8.7', 'warning', WARNINGS, false],
  ['silent mistakes', 'warning', SILENT, false],
  ['lints of 11.5', 'warning', LINTS, true],
] as const)('%s', (_title, severity, rows, lints) => {
  test.each(rows)('$message', ({ wrong, message, right, help, code }) => {
    const found = checkText(wrong, { lints }).map((diagnostic) => ({
      severity: diagnostic.severity,
      message: `${diagnostic.span?.line}:${diagnostic.span?.column} ${diagnostic.message}`,
      code: diagnostic.code,
      help: diagnostic.help,
    }));
    expect(found).toEqual([{ severity, message, code, help }]);
    expect(checkText(right, { lints })).toEqual([]);
  });
});

/** Types that only the signature of a builtin knows. */
const BUILTIN_CALLS: readonly (readonly [body: string, messages: readonly string[]])[] = [
  ['let n: int = llm_call("a").text', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = llm_call("a", nil, {output_schema: Plan}).data.title', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = llm_call<Plan>("a").data.title', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = llm_call_structured("a", Plan).title', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = llm_call_structured_safe("a", schema_of(Plan)).data.title', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = schema_expect({}, Plan).title', ["2:1 'n' declared as int, but assigned string"]],
  ['let n: int = unwrap(schema_check({}, Plan))', []],
  ['let n: int = llm_call("a", nil, {output_schema: {type: "dict"}, model: "m"}).data.title', []],
  ['let n: int = llm_call("a", nil, nil).later', []],
  ['let r = llm_call(harness, "a", nil, {model: "m"})', []],
  ['let pick = [schema_pick][0]\n  pick({}, "a")', []],
  ['let k: list | string = "a"\n  schema_pick({}, k)', []],
  ['schema_pick(...[{}, "a"])', []],
  ['sync_mutex_acquire("k", nil)', []],
  ['channel(1)', []],
  ['let n: string = sqrt(4)', ["2:1 'n' declared as string, but assigned float"]],
  ['let n: int = partition([1], { x -> x }).match', ["2:1 'n' declared as int, but assigned list"]],
  ['let n: int = abs(4)', []],
  ['schema_pick(nil, ["a"])', ["2:13 Argument 1 ('schema'): expected dict, got nil"]],
];

test.each(BUILTIN_CALLS)('builtins are checked by their signature: %s', (body, messages) => {
  const found = checkText(`fn wrapper() {\n${body}\n}\ntype Plan = {title: string}`);
  expect(found.map(({ span, message }) => `${span?.line}:${span?.column} ${message}`)).toEqual(messages);
});

test('the signature of every builtin reads', () => {
  const wrong = Object.entries(BUILTIN_SIGNATURES).filter(
    ([, signature]) => parse({ path: '', text: `fn builtin${signature} {}` }).diagnostics.length > 0,
  );
  expect(wrong).toEqual([]);
});

test('lints are no business of a run', () => {
  expect(LINTS.flatMap(({ wrong }) => checkText(wrong))).toEqual([]);
});
