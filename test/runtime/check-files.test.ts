import { expect, test } from 'vitest';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { checkFiles } from '../../src/runtime/program/check-files.ts';

/** Checks the first file, or all that are named, of a small tree. @returns `PATH:LINE SEVERITY message` */
function check(tree: Readonly<Record<string, string>>, paths = [Object.keys(tree)[0] as string]): string[] {
  const files = new FakeFiles();
  files.mkdir('/p');
  for (const [name, text] of Object.entries(tree)) files.write(name, text);
  return checkFiles(files, paths).flatMap((report) =>
    report.diagnostics.map(({ path, span, severity, message }) => `${path}:${span?.line} ${severity} ${message}`),
  );
}

test('an imported function is checked against its own types', () => {
  expect(
    check({
      '/p/main.harn': 'import { area } from "./m"\nprintln(area({w: "x"}))',
      '/p/m.harn': 'type Box = {w: int}\npub fn area(b: Box) -> int { return b.w }',
    }),
  ).toEqual(["/p/main.harn:2 error Argument 1 ('b'): expected {w: int}, got {w: string}"]);
});

test('types come through an import of names, and through a module in between', () => {
  expect(
    check({
      '/p/main.harn': 'import { make } from "./facade"\nlet b: Box = make(1)\nfn f(c: Colour) { match c { Colour.Red -> { } } }',
      '/p/facade.harn': 'pub import "./m"',
      '/p/m.harn': 'type Box = {w: int}\nenum Colour { Red, Blue }\npub fn make(w: int) -> {h: int} { return {h: w} }',
    }),
  ).toEqual([
    "/p/main.harn:2 error 'b' declared as {w: int}, but assigned {h: int} (missing field 'w' (int))",
    '/p/main.harn:3 error Non-exhaustive match on enum Colour: missing variants "Blue"',
  ]);
});

test('a struct keeps its methods across files', () => {
  expect(
    check({
      '/p/main.harn': 'import "./m"\nfn f<T>(x: T) where T: Sized { }\nf(Box({w: 1}))\nf(Lid({w: 1}))',
      '/p/m.harn':
        'interface Sized { fn size(self) -> int }\nstruct Box { w: int }\nstruct Lid { w: int }\nimpl Box { fn size(self) -> int { return self.w } }\npub fn nothing() {}',
    }),
  ).toEqual([
    "/p/main.harn:4 error Type 'Lid' does not satisfy interface 'Sized': missing method(s): size (required by constraint `where T: Sized`)",
  ]);
});

test('a deprecated function warns in other files', () => {
  expect(check({ '/p/main.harn': 'import "./m"\nold()', '/p/m.harn': '@deprecated(since: "2")\npub fn old() {}' })).toEqual([
    '/p/main.harn:2 warning `old` is deprecated (since 2)',
  ]);
});

test('mistakes of imported modules are reported with their path, once', () => {
  const tree = { '/p/a.harn': 'import "./m"', '/p/b.harn': 'import "./m"', '/p/m.harn': 'pub fn f() -> int { return "x" }' };
  const mistake = "/p/m.harn:1 error return type doesn't match: expected int, got string";
  expect(check(tree, ['/p/a.harn', '/p/b.harn'])).toEqual([mistake]);
  expect(check(tree, ['/p/a.harn', '/p/m.harn'])).toEqual([mistake]);
});

test('a missing module hides no other mistake, and no name is missed then', () => {
  expect(check({ '/p/main.harn': 'import "./gone"\nfrom_gone()\nlet x: int = "a"' })).toEqual([
    "/p/main.harn:1 error Import error: cannot read '/p/gone.harn': No such file or directory (os error 2)",
    "/p/main.harn:3 error 'x' declared as int, but assigned string",
  ]);
});

test('names that collide are mistakes of the import', () => {
  expect(check({ '/p/main.harn': 'import "./a"\nimport "./b"\nf()', '/p/a.harn': 'pub fn f() {}', '/p/b.harn': 'pub fn f() {}' })).toEqual([
    '/p/main.harn:2 error Import collision: \'f\' is already defined when importing ./b. Use selective imports to disambiguate: import { f } from "..."',
  ]);
});

test('modules that import each other are checked', () => {
  expect(
    check({
      '/p/a.harn': 'import { g } from "./b"\npub fn f(x: int) { if x > 0 { g("x") } }\npipeline default() { f(1) }',
      '/p/b.harn': 'import { f } from "./a"\npub fn g(x: int) { f("y") }',
    }).sort(),
  ).toEqual([
    "/p/a.harn:2 error Argument 1 ('x'): expected int, got string",
    "/p/b.harn:2 error Argument 1 ('x'): expected int, got string",
  ]);
});

test('a file that does not parse is not checked', () => {
  expect(check({ '/p/main.harn': 'let x: int = "a"\nlet = 3' })).toHaveLength(1);
});

test('a pipeline that extends another repeats no message', () => {
  expect(
    check({ '/p/main.harn': 'pipeline base(task) {\n  let x: int = "a"\n}\npipeline child(task) extends base { println(x) }' }),
  ).toHaveLength(1);
});

test('a file that cannot be read is reported', () => {
  expect(check({ '/p/main.harn': '' }, ['/p/gone.harn'])).toEqual([
    '/p/gone.harn:undefined error cannot read the file: there is no such file',
  ]);
});

test('what only compiling finds is found without running, in every module', () => {
  expect(
    check({
      '/p/main.harn': 'import "./m"\nfn f() { break }\ncontinue',
      '/p/m.harn': 'pub fn g() {\n  for x in [1] { let h = { -> break } }\n}',
    }),
  ).toEqual([
    '/p/main.harn:2 error Compile error at line 2: break outside of loop',
    '/p/main.harn:3 error Compile error at line 3: continue outside of loop',
    '/p/m.harn:2 error Compile error at line 2: break outside of loop',
  ]);
});

test('a program with other mistakes is not compiled', () => {
  expect(check({ '/p/main.harn': 'let x: int = "a"\nbreak' })).toEqual(["/p/main.harn:1 error 'x' declared as int, but assigned string"]);
});

/** Warnings with what to do about them, as `LINE message; help`. */
function hints(text: string): string[] {
  const files = new FakeFiles();
  files.mkdir('/p');
  files.write('/p/main.harn', text);
  return checkFiles(files, ['/p/main.harn']).flatMap((report) =>
    report.diagnostics.map(({ code, span, message, help }) => `${code} ${span?.line}:${span?.column} ${message}; ${help}`),
  );
}

test.each([
  [
    'agent_loop("a", nil, {max_iteration: 3})',
    "HARN-NAM-002 1:23 agent_loop has no option 'max_iteration'; did you mean `max_iterations`?",
  ],
  ['agent_loop("a", nil, {zebra: 3})', "HARN-NAM-002 1:23 agent_loop has no option 'zebra'; it means nothing here; leave it out"],
  ['llm_call("a", nil, {providr: "mock"})', "HARN-NAM-002 1:21 llm_call has no option 'providr'; did you mean `provider`?"],
  [
    'agent_loop("a", {provider: "mock"})',
    'HARN-NAM-002 1:17 the options of agent_loop are its third argument; the second argument is the system prompt: `agent_loop(prompt, nil, {…})`',
  ],
  ['llm_call("a", nil, {timeuot: 3})', "HARN-NAM-002 1:21 llm_call has no option 'timeuot'; did you mean `timeout`?"],
  ['spawn_agent({taks: "a"})', "HARN-NAM-002 1:14 spawn_agent has no option 'taks'; did you mean `task`?"],
  ['spawn_agent(harness, {task: "a", wiat: true})', "HARN-NAM-002 1:34 spawn_agent has no option 'wiat'; did you mean `wait`?"],
  [
    'spawn_agent({task: "a", carry: {persist: false}, options: {provder: "mock"}})',
    "HARN-NAM-002 1:33 spawn_agent has no option 'carry.persist'; it means nothing here; leave it out",
    "HARN-NAM-002 1:60 spawn_agent has no option 'options.provder'; did you mean `provider`?",
  ],
  ['sub_agent_run("t", {allowed_tool: []})', "HARN-NAM-002 1:21 sub_agent_run has no option 'allowed_tool'; did you mean `allowed_tools`?"],
  ['suspend_agent("w", "r", {condition: nil})', "HARN-NAM-002 1:26 suspend_agent has no option 'condition'; did you mean `conditions`?"],
  ['resume_agent("w", {inputt: "go"})', "HARN-NAM-002 1:20 resume_agent has no option 'inputt'; did you mean `input`?"],
  ['daemon_spawn({task: "t", state_dr: "d"})', "HARN-NAM-002 1:26 daemon_spawn has no option 'state_dr'; did you mean `state_dir`?"],
  [
    'tool_define(tool_registry(), "n", "d", {parameters: {}, handlr: { a -> a }, owner: "me"})',
    "HARN-NAM-002 1:57 tool_define has no option 'handlr'; did you mean `handler`?",
  ],
  ['llm_mock({txt: "a"})', "HARN-NAM-002 1:11 llm_mock has no option 'txt'; did you mean `text`?"],
  [
    'register_tool_hook({pattern: "*", before: { c -> nil }})',
    "HARN-NAM-002 1:35 register_tool_hook has no option 'before'; it means nothing here; leave it out",
  ],
  [
    'trigger_register({kind: "k", provider: "p", handler: { e -> e }, dedup_key: "event.id"})',
    "HARN-NAM-002 1:66 trigger_register has no option 'dedup_key'; did you mean `dedupe_key`?",
  ],
  [
    'fn main(harness: Harness) { harness.net.get("u", {timout_ms: 5}) }',
    "HARN-NAM-002 1:51 harness.net.get has no option 'timout_ms'; did you mean `timeout_ms`?",
  ],
  [
    'fn f(agent: HarnessAgent) { agent.spawn_agent({taks: "a"}) }\nf(harness.agent)',
    "HARN-NAM-002 1:48 harness.agent.spawn_agent has no option 'taks'; did you mean `task`?",
  ],
  ['println(harness.fs.exists())', "undefined 1:9 Function 'harness.fs.exists' expects 1 arguments, got 0; undefined"],
  ['stream.take([1], "2")', "undefined 1:18 Argument 2 ('n'): expected int, got string; undefined"],
  ['http_get("u", {timout_ms: 5})', "HARN-NAM-002 1:16 http_get has no option 'timout_ms'; did you mean `timeout_ms`?"],
  [
    'agent_loop("a", nil, {tool_format: "nativ"})',
    'HARN-NAM-002 1:23 option \'tool_format\' of agent_loop should be "native" | "text", got "nativ"; did you mean `"native"`?',
  ],
  [
    'agent_loop("a", nil, {max_iterations: "5"})',
    "HARN-NAM-002 1:39 option 'max_iterations' of agent_loop should be int, got string; undefined",
  ],
  [
    'agent_loop("a", nil, {policy: {tools: "read"}})',
    "HARN-NAM-002 1:39 option 'policy.tools' of agent_loop should be list, got string; undefined",
  ],
  [
    'agent_loop("a", nil, "fast")',
    "HARN-LNT-004 1:22 agent_loop makes nothing of a value of type string: 'options' should be dict; undefined",
  ],
])('%j is doubted', (text, ...expected) => expect(hints(text)).toEqual(expected));

test.each([
  'agent_loop("a", nil, {max_iterations: 3, provider: "mine", mine: {top_a: 1}})',
  'llm_call("a", nil, {reasoning_effort: "low"})',
  'agent_loop("a", nil, {max_iterations: nil, temperature: 1, timeout: 30s, tools: [], nudge: env("NUDGE")})',
  'fn f(harness, w) {\n  spawn_agent(harness, {task: "a"})\n  suspend_agent(harness, w, "r", {wait_ms: 1})\n}\nf(nil, nil)',
  'fn main(harness: Harness) { agent_loop(harness.agent, "x", nil, {provider: "mock"}) }',
  'resume_agent("w", {anything: "else"})\nresume_agent("w", 5)',
  'fn f(n: int | nil) { agent_loop("a", nil, {max_iterations: n}) }\nf(1)',
  'let options = {max_iteration: 3}\nagent_loop("a", nil, options)',
  'fn agent_loop(a, b, c) { return [a, b, c] }\nagent_loop("a", nil, {max_iteration: 3})',
])('%j is not', (text) => expect(hints(text)).toEqual([]));

test.each([
  ['import { clampp } from "std/math"', 'did you mean `clamp`?'],
  ['import { clamp } from "std/maths"', 'did you mean `std/math`?'],
  ['import "std/constructor"', 'docs/language/standard-library.md lists the modules'],
  ['import "std/prelude/workflo"', 'docs/language/standard-library.md lists the modules'],
  ['import "lib/helpers"', /^a path begins at the folder of the importing file/],
])('%j says what to do', (text, help) => {
  const files = new FakeFiles();
  files.mkdir('/p');
  files.write('/p/main.harn', text);
  const [report] = checkFiles(files, ['/p/main.harn']);
  expect(report?.diagnostics).toHaveLength(1);
  expect(report?.diagnostics[0]?.help).toMatch(help);
});
