import { expect, test } from 'vitest';
import { runText } from '../runtime/run-text.ts';

/** Cases that implementations of the language get wrong: number, what it shows, program, and its output or its error. */
interface Case {
  readonly number: number;
  readonly rule: string;
  readonly program: string;
  readonly prints?: readonly string[];
  /** A part of the text that a refused or failed program shows. */
  readonly fails?: string;
}

const CASES: readonly Case[] = [
  { number: 1, rule: 'unary binds tighter than `**`', program: 'println(-2 ** 2)', prints: ['4'] },
  { number: 2, rule: 'truncation, sign of the left side', program: 'println(7 / -2); println(-7 % 3)', prints: ['-3', '-1'] },
  {
    number: 3,
    rule: 'operator wraps, builtin goes to float',
    program: 'println(2 ** -1); println(2 ** 64); println(pow(2, 64))',
    prints: ['0.5', '0', '18446744073709552000'],
  },
  {
    number: 4,
    rule: 'wrap; the second literal is a float of at least 1e15: shortest round-trip digits, padded with zeros, no `.0`',
    program: 'println(9223372036854775807 + 1); println(9223372036854775808)',
    prints: ['-9223372036854775808', '9223372036854776000'],
  },
  {
    number: 5,
    rule: 'only int/int throws',
    program: 'try { println(1 / 0) } catch (e) { println(e) }; println(1.0 / 0)',
    prints: ['Division by zero', 'inf'],
  },
  {
    number: 6,
    rule: 'display and JSON differ',
    program: 'println(5.0); println(json_stringify([5.0, 2.5])); println(0.1 + 0.2)',
    prints: ['5.0', '[5,2.5]', '0.30000000000000004'],
  },
  { number: 7, rule: 'number kind follows the text', program: 'println(json_parse("[1, 2.0, null]"))', prints: ['[1, 2.0, nil]'] },
  {
    number: 8,
    rule: 'see program',
    program: 'println(to_int(true)); println(to_int(" 5")); println(to_int("-5")); println(to_int(-2.9))',
    prints: ['nil', 'nil', '-5', '-2'],
  },
  {
    number: 9,
    rule: 'incomparable kinds count as equal in ordering (warning only)',
    program: 'println(1 < "a"); println(1 >= "a")',
    prints: ['false', 'true'],
  },
  { number: 10, rule: 'result is bool', program: 'println(1 || 2); println("" && "x")', prints: ['true', 'false'] },
  { number: 11, rule: '`??` binds tighter than `+`', program: 'println(false ?? 1); println(1 + nil ?? 2)', prints: ['false', '3'] },
  {
    number: 12,
    rule: 'sets use the structural key',
    program: 'println("1" == 1); println(1 == 1.0); println(len(set(1, 1.0)))',
    prints: ['false', 'true', '2'],
  },
  {
    number: 13,
    rule: 'see program',
    program: 'println(set(1, 2) == set(2, 1)); println((1 to 3) == (1 to 4 exclusive))',
    prints: ['true', 'false'],
  },
  {
    number: 14,
    rule: 'see program',
    program: 'println([1] in [[1]]); println("k" in {k: nil}); println(2 in "a2")',
    prints: ['true', 'true', 'true'],
  },
  {
    number: 15,
    rule: 'Results and empty ranges are true',
    program: 'if Err("no") { println("a") }; if (5 to 1) { println("b") }; if [] { println("c") }',
    prints: ['a', 'b'],
  },
  { number: 16, rule: 'see program', program: 'println("ab" * 0 + "."); println(3 * "ab")', prints: ['.', 'ababab'] },
  {
    number: 17,
    rule: 'see program',
    program: 'println([3, 1] |> len); println("a,b" |> split(_, ",")); println(5 |> _ - 2)',
    prints: ['2', '[a, b]', '3'],
  },
  {
    number: 18,
    rule: 'see program',
    program: 'let n = nil; println(n?.x); println(n?.go(1)); println(nil ?? 0 ?? 1)',
    prints: ['nil', 'nil', '0'],
  },
  {
    number: 19,
    rule: 'long dash is U+2014',
    program: 'try { println([...5]) } catch (e) { println(e) }',
    prints: ['Type error: cannot destructure int with [...] pattern — expected list'],
  },
  {
    number: 20,
    rule: 'unknown escapes keep the backslash',
    program: 'println("\\d" == r"\\d"); println("a\\tb".len())',
    prints: ['true', '3'],
  },
  { number: 21, rule: 'quotes inside interpolation', program: 'println("${1 + 1}${"a"}-${[1, "b"]}")', prints: ['2a-[1, b]'] },
  {
    number: 22,
    rule: 'end position against length',
    program: 'println("abcdef".substring(2, 4)); println(substring("abcdef", 2, 4))',
    prints: ['cd', 'cdef'],
  },
  {
    number: 23,
    rule: 'defaults `,` and blank',
    program: 'println("a b,c".split()); println(split("a b,c"))',
    prints: ['[a b, c]', '[a, b,c]'],
  },
  { number: 24, rule: 'see program', program: 'println("ab".split("")); println("a-b".replace("-"))', prints: ['[, a, b, ]', 'nil'] },
  {
    number: 25,
    rule: 'see program',
    program: 'println(len("👍🏽")); println(len(unicode_graphemes("👍🏽"))); println("ab"[-1]); println("ab".char_at(-1))',
    prints: ['2', '1', 'b', 'nil'],
  },
  {
    number: 26,
    rule: 'see program',
    program: 'println(format("{b}-{a}-{x}", {a: 1, b: 2})); println(format("{}/{}", 1))',
    prints: ['2-1-{x}', '1/{}'],
  },
  { number: 27, rule: 'strings are not iterated by for', program: 'for ch in "ab" { println(ch) }; println("end")', prints: ['end'] },
  {
    number: 28,
    rule: 'sorted keys, unquoted text',
    program: 'println({b: 1, a: "x"}); println({}); println(set())',
    prints: ['{a: x, b: 1}', '{}', 'set()'],
  },
  {
    number: 29,
    rule: 'see program',
    program: 'let d = {count: 9}; println(d.count); println(d.count()); println([1].len())',
    prints: ['9', '1', 'nil'],
  },
  {
    number: 30,
    rule: 'see program',
    program: 'let xs = [1]; xs.push(2); println(xs); println([1, 2][5]); println([1, 2, 3][1:99]); println("abc"[-2:])',
    prints: ['[1]', 'nil', '[2, 3]', 'bc'],
  },
  {
    number: 31,
    rule: 'negative write below the start clamps',
    program: 'var ys = [1, 2]; ys[-1] = 9; ys[-9] = 0; println(ys)',
    prints: ['[0, 9]'],
  },
  {
    number: 32,
    rule: 'read is nil, write throws',
    program: 'try { var zs = [1]; zs[1] = 2 } catch (e) { println(e) }',
    prints: ['Runtime error: Index 1 out of bounds for list of length 1'],
  },
  {
    number: 33,
    rule: 'see program',
    program: 'println(1 to 3); println(0 to 3 exclusive); try { println((1 to 3)[9]) } catch (e) { println(e) }',
    prints: ['1 to 3', '0 to 3 exclusive', 'Runtime error: range index out of range: index 9 for range of length 3'],
  },
  {
    number: 34,
    rule: 'see program',
    program: 'println([1, 2, 3].partition({ x -> x > 1 })); println(partition([1, 2, 3], { x -> x > 1 }))',
    prints: ['[[2, 3], [1]]', '{match: [2, 3], no_match: [1]}'],
  },
  {
    number: 35,
    rule: 'see program',
    program: 'println(["a"].enumerate()); println(iter(["a"]).enumerate().to_list())',
    prints: ['[{index: 0, value: a}]', '[(0, a)]'],
  },
  {
    number: 36,
    rule: 'shared, single pass',
    program: 'let it = iter([1, 2, 3]); println(it.take(2).to_list()); println(it.take(9).to_list()); println(it)',
    prints: ['[1, 2]', '[3]', '<iter (exhausted)>'],
  },
  {
    number: 37,
    rule: 'see program',
    program: 'println([[1, [2]], 3].flatten()); println([1, "1", 1.0, 1].unique()); println([false, 0, nil, ""].compact())',
    prints: ['[1, [2], 3]', '[1, 1, 1.0]', '[false, 0, ]'],
  },
  {
    number: 38,
    rule: 'see program',
    program: 'println([1, 2, 3].group_by({ x -> x > 1 })); println({a: 1, b: 2}.rekey({ k -> "z" }))',
    prints: ['{false: [1], true: [2, 3]}', '{z: 2}'],
  },
  {
    number: 39,
    rule: 'entry dicts against pairs',
    program: 'for e in {a: 1} { println(e) }; for (k, v) in iter({a: 1}) { println("${k}=${v}") }',
    prints: ['{key: a, value: 1}', 'a=1'],
  },
  {
    number: 40,
    rule: 'see program',
    program: 'println([1, 2, 3].window(2)); println([1].window(2)); println([5, 6, 7].chunk(2))',
    prints: ['[[1, 2], [2, 3]]', '[]', '[[5, 6], [7]]'],
  },
  {
    number: 41,
    rule: 'see program',
    program: 'println(json_stringify({b: 5s, a: set(1, 2), c: Ok(1)}))',
    prints: ['{"a":[1,2],"b":null,"c":null}'],
  },
  {
    number: 42,
    rule: 'named functions need `return`',
    program: 'fn f() { 5 }; let h = { -> 5 }; println(f()); println(h())',
    prints: ['nil', '5'],
  },
  { number: 43, rule: 'capture by value', program: 'var n = 1; let show = { -> n }; n = 2; println(show())', prints: ['1'] },
  {
    number: 44,
    rule: 'private copy per call',
    program: 'var n = 0; let inc = { -> n = n + 1; n }; println(inc()); println(inc()); println(n)',
    prints: ['1', '1', '0'],
  },
  {
    number: 45,
    rule: 'handles are shared',
    program: 'let a = atomic(0); let inc = { -> atomic_add(a, 1) }; inc(); inc(); println(atomic_get(a))',
    prints: ['2'],
  },
  {
    number: 46,
    rule: 'defaults: absence for calls, nil for patterns',
    program: 'fn f(a, b = 2) { println(b) }; f(1); f(1, nil); let {k = 3} = {k: nil}; println(k)',
    prints: ['2', 'nil', '3'],
  },
  {
    number: 47,
    rule: 'see program',
    program: 'println({ a, b -> a }); println(type_of(len)); println(len)',
    prints: ['<fn(a, b)>', 'builtin', '<builtin len>'],
  },
  {
    number: 48,
    rule: 'see program',
    program: 'fn g() { yield 1; return }; let it = g(); println(it.next()); println(it.next())',
    prints: ['{done: false, value: 1}', '{done: true, value: nil}'],
  },
  {
    number: 49,
    rule: 'list patterns are a minimum length',
    program: 'println(match [1, 2, 3] { [a, b] -> { a + b } _ -> { 0 } })',
    prints: ['3'],
  },
  { number: 50, rule: 'an identifier always binds', program: 'let x = 1; println(match 2 { x -> { x } })', prints: ['2'] },
  {
    number: 51,
    rule: 'see program',
    program: 'fn pick(v) { return match v { 1 -> { "one" } } }; try { pick(3) } catch (e) { println(e) }',
    prints: ['No match arm matched the value'],
  },
  {
    number: 52,
    rule: 'no double wrapping',
    program: 'println(try { Ok(1) }); println(try { 1 }); println(try { throw {a: 1} })',
    prints: ['Result.Ok(1)', 'Result.Ok(1)', 'Result.Err({a: 1})'],
  },
  {
    number: 53,
    rule: 'runtime errors arrive as strings',
    program: 'fn f(v) { return v.x }; try { f(nil) } catch (e) { println("${type_of(e)}: ${e}") }',
    prints: ['string: Type error: cannot access property `x` on nil'],
  },
  {
    number: 54,
    rule: 'see program',
    program: 'fn f() { try { return 1 } finally { println("fin") } }; println(f())',
    prints: ['fin', '1'],
  },
  {
    number: 55,
    rule: 'see program',
    program: 'fn f() { defer { println("a") }; defer { println("b") }; println("body"); return 1 }; f()',
    prints: ['body', 'b', 'a'],
  },
  {
    number: 56,
    rule: 'the last error is rethrown',
    program: 'var n = 0; try { retry 3 { n += 1; throw "e${n}" } } catch (e) { println(e) }',
    prints: ['e3'],
  },
  {
    number: 57,
    rule: 'typed catch lets other values pass',
    program: 'enum Bad { Net }; try { try { throw "x" } catch (e: Bad) { println("typed") } } catch (e) { println("outer ${e}") }',
    prints: ['outer x'],
  },
  {
    number: 58,
    rule: 'see program',
    program: 'println(unwrap_or(Err(1), 7)); println(unwrap_or(5, 7)); try { unwrap(Err("m")) } catch (e) { println(e) }',
    prints: ['7', '5', 'Runtime error: unwrap called on Err: m'],
  },
  {
    number: 59,
    rule: 'largest unit that divides, at most hours',
    program: 'println(120s); println(90s); println(1d); println(1500ms); println(0s)',
    prints: ['2m', '90s', '24h', '1500ms', '0ms'],
  },
  { number: 60, rule: 'output in source order', program: 'parallel each [30, 5] { ms -> sleep(ms); println(ms) }', prints: ['30', '5'] },
  {
    number: 61,
    rule: 'payload is the display text',
    program: 'let r = parallel settle [1, 2] { x -> if x == 2 { throw "boom" }; x }; println(r.results); println(r.failed)',
    prints: ['[Result.Ok(1), Result.Err(Thrown: boom)]', '1'],
  },
  {
    number: 62,
    rule: 'see program',
    program: 'let ch = channel("c", 1); send(ch, 1); close_channel(ch); println(send(ch, 2)); println(receive(ch)); println(receive(ch))',
    prints: ['false', '1', 'nil'],
  },
  { number: 63, rule: 'see program', program: 'let h = spawn { 5 }; println(await(h)); println(await(h))', prints: ['5', 'nil'] },
  {
    number: 64,
    rule: 'call of a subscript; inside an argument list `fs[0]("a")` would read as two arguments',
    program: 'let fs = [len]; let r = fs[0]("a")',
    fails: 'Expected top-level item separator (`;` or newline), got ( at 1:30',
  },
  {
    number: 65,
    rule: '`?[` is an optional subscript',
    program: 'let c = true; let v = c ? [1] : [2]',
    fails: 'Expected top-level item separator (`;` or newline), got : at 1:31',
  },
  {
    number: 66,
    rule: 'keyword in a pattern',
    program: 'let {in: q} = {in: 1}',
    fails: "Expected field name, got 'in' (reserved keyword) at 1:6",
  },
  { number: 67, rule: 'see program', program: 'let a = 1;; let b = 2', fails: 'Expected expression, got ; at 1:11' },
  {
    number: 68,
    rule: 'see program',
    program: 'let a = 1 let b = 2',
    fails: 'Expected top-level item separator (`;` or newline), got let at 1:11',
  },
  {
    number: 69,
    rule: 'see program',
    program: 'let v = 1_000',
    fails: 'Expected top-level item separator (`;` or newline), got id(_000) at 1:10',
  },
  { number: 70, rule: 'see program', program: 'let s: int = "a"', fails: "'s' declared as int, but assigned string" },
  { number: 71, rule: 'see program', program: 'println("n=" + 1)', fails: "can't add string and int" },
  {
    number: 72,
    rule: 'see program',
    program: 'fn f() -> int { return "a" }',
    fails: "return type doesn't match: expected int, got string",
  },
  {
    number: 73,
    rule: 'containers are invariant',
    program: 'fn f(a: list<float>) { println(a) }; pipeline default() { f([1]) }',
    fails: "Argument 1 ('a'): expected list<float>, got list<int>",
  },
  {
    number: 74,
    rule: 'see program',
    program: 'let x = 1; let x = 2',
    fails: "Runtime error: Cannot redeclare immutable variable 'x' in the same scope (use 'var' for mutable bindings)",
  },
  { number: 75, rule: 'warning first, then the run fails', program: 'let x = 1; x = 2', fails: 'Cannot assign to immutable binding: x' },
  { number: 76, rule: 'A leading minus starts a new statement', program: 'let a = 5\n- 3\nprintln(a)', prints: ['5'] },
  {
    number: 77,
    rule: 'A leading `+`, `.` or `|>` continues',
    program: 'let a = 5\n  + 3\nlet s = "  hi  "\n  .trim()\n  .upper()\nprintln(a)\nprintln(s)\nprintln(s\n  |> len)',
    prints: ['8', 'HI', '2'],
  },
  { number: 78, rule: 'A bare return stops at the line end', program: 'fn f() {\n  return\n  42\n}\nprintln(f())', prints: ['nil'] },
  {
    number: 79,
    rule: 'Block strings lose their common indent and one final newline',
    program: 'let t = """\n    a\n      b ${1 + 1}\n\n    c\\n\n    """\nprintln(t)\nprintln("|")',
    prints: ['a', '  b 2', '', 'c\\n', '|'],
  },
  { number: 80, rule: 'Nested comments', program: '/* outer /* inner */ still outer */ println("ok")', prints: ['ok'] },
  {
    number: 81,
    rule: 'A failed guard falls through to the next arm',
    program:
      'fn size(n) {\n  return match n {\n    0 -> { "zero" }\n    k if k > 100 -> { "big" }\n    1 | 2 | 3 -> { "few" }\n    k -> { "some ${k}" }\n  }\n}\nprintln(size(500))\nprintln(size(2))\nprintln(size(50))',
    prints: ['big', 'few', 'some 50'],
  },
  {
    number: 82,
    rule: 'Functions may call each other whatever their order',
    program:
      'fn even(n) { if n == 0 { return true }; return odd(n - 1) }\nfn odd(n) { if n == 0 { return false }; return even(n - 1) }\nprintln(even(7))',
    prints: ['false'],
  },
  {
    number: 83,
    rule: 'Parent pipeline first, then the child',
    program: 'pipeline base() { println("base") }\npipeline default() extends base { println("child") }',
    prints: ['base', 'child'],
  },
  {
    number: 84,
    rule: 'With a pipeline in the file, bare top-level statements do not run, bindings do',
    program: 'let greeting = "hi"\nprintln("never")\npipeline default() { println(greeting) }',
    prints: ['hi'],
  },
  {
    number: 85,
    rule: 'Blocks assign outer variables, closures do not',
    program:
      'pipeline default() {\n  var n = 0\n  for i in 1 to 3 { n += i }\n  if n == 6 { n = 10 }\n  [1, 2].map({ x -> n = n + x })\n  println(n)\n}',
    prints: ['10'],
  },
  {
    number: 86,
    rule: 'Structs compare by fields and print sorted',
    program:
      'struct P { y: int\n x: int\n tag?: string }\nlet a = P {y: 1, x: 2}\nlet b = P {x: 2, y: 1}\nprintln(a == b)\nprintln(a)\nprintln(a.tag)\nprintln(type_of(a))',
    prints: ['true', 'P {x: 2, y: 1}', 'nil', 'struct'],
  },
  {
    number: 87,
    rule: 'Enums',
    program:
      'enum Shape { Dot\n Box(w, h) }\nlet s = Shape.Box(2, 3)\nprintln(s)\nprintln(s.variant)\nprintln(s.fields)\nprintln(s == Shape.Box(2, 3))\nmatch s {\n  Shape.Dot -> { println("dot") }\n  Shape.Box(w, h) -> { println(w * h) }\n}',
    prints: ['Shape.Box(2, 3)', 'Box', '[2, 3]', 'true', '6'],
  },
  {
    number: 88,
    rule: '`?` returns the Err from the function',
    program:
      'fn half(n) { if n % 2 == 1 { return Err("odd ${n}") }; return Ok(n / 2) }\nfn quarter(n) {\n  let h = half(n)?\n  return half(h)\n}\nprintln(quarter(8))\nprintln(quarter(6))\nprintln(quarter(5))',
    prints: ['Result.Ok(2)', 'Result.Err(odd 3)', 'Result.Err(odd 5)'],
  },
  {
    number: 89,
    rule: 'Destructuring',
    program:
      'let {a, b: renamed, c = 7, ...rest} = {a: 1, b: 2, d: 4}\nlet [x, _, y = "none", ...more] = [10, 20]\nprintln("${a} ${renamed} ${c} ${rest}")\nprintln("${x} ${y} ${more}")',
    prints: ['1 2 7 {d: 4}', '10 none []'],
  },
  {
    number: 90,
    rule: 'Deadline error is a plain string and categorises as timeout',
    program: 'try {\n  deadline 20ms { sleep(5s) }\n} catch (e) {\n  println(e)\n  println(error_category(e))\n}',
    prints: ['Deadline exceeded', 'timeout'],
  },
  {
    number: 91,
    rule: 'select takes the first ready case in source order',
    program:
      'let a = channel("a")\nlet b = channel("b")\nsend(b, 1)\nsend(a, 2)\nselect {\n  m from a { println("a ${m}") }\n  m from b { println("b ${m}") }\n}',
    prints: ['a 2'],
  },
  {
    number: 92,
    rule: 'Run-time parameter check of a shape',
    program:
      'fn show(u: {name: string, age: int}) { println(u.name) }\nlet bad = json_parse("{\\"name\\": \\"Ada\\"}")\ntry { show(bad) } catch (e) { println(e) }',
    prints: ["Type error: parameter 'u': missing field 'age' (int)"],
  },
  {
    number: 93,
    rule: 'Template rendering',
    program:
      'println(render_string("{{ for x in xs }}{{ loop.index }}:{{ x | upper }}{{ if not loop.last }}, {{ end }}{{ else }}none{{ end }} {{who}} {{ a.b }}|", {xs: ["p", "q"]}))',
    prints: ['1:P, 2:Q {{who}} |'],
  },
];

test.each(CASES.map((row) => [row.number, row.rule, row] as const))('case %i: %s', async (_number, _rule, { program, prints, fails }) => {
  const { out, outcome } = await runText(program);
  if (fails === undefined) {
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ kind: 'value' });
    expect(out.trimEnd().split('\n')).toEqual(prints?.join('\n').trimEnd().split('\n'));
    return;
  }
  const texts =
    outcome.kind === 'rejected'
      ? outcome.diagnostics.map(({ message }) => message)
      : outcome.kind === 'failed'
        ? [outcome.failure.message]
        : [];
  expect(texts.join('\n')).toContain(fails);
});
