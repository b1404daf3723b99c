import { expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { STDLIB_SOURCES } from '../../src/stdlib/sources.ts';
import { linesOf, runText } from '../runtime/run-text.ts';

/** Module, what a script does with it, and what it prints. */
const ROWS: readonly (readonly [module: string, script: string, lines: readonly string[]])[] = [
  ['json', 'println(pretty({b: [1, {}], a: "x"}))', ['{', '  "a": "x",', '  "b": [', '    1,', '    {}', '  ]', '}']],
  ['json', 'println(safe_parse("{"))', ['nil']],
  ['json', 'println(merge({a: 1, b: 1}, {b: 2}))', ['{a: 1, b: 2}']],
  ['json', 'println(pick({a: nil, b: 1}, ["a", "z"]))', ['{a: nil}']],
  ['json', 'println(omit({a: 1, b: 2}, ["a", "z"]))', ['{b: 2}']],
  ['collections', 'println(filter_nil({a: nil, b: "", c: "null", d: 0, e: false}))', ['{d: 0, e: false}']],
  ['path', 'println(ext("a/b.tar.gz"))\nprintln("[${ext("plain")}]")\nprintln(stem("/x/main.harn"))', ['gz', '[]', 'main']],
  ['path', 'println(normalize("a\\\\b"))\nprintln(is_absolute("/x"))', ['a/b', 'true']],
  [
    'schema',
    'println(schema_object({a: schema_string(), b: schema_field(schema_int(), false), c: schema_default(schema_bool(), true)}))',
    ['{properties: {a: {type: string}, b: {type: int}, c: {default: true, type: bool}}, required: [a], type: dict}'],
  ],
  ['schema', 'println(schema_list(schema_enum(["a"]), {min_items: 1}))', ['{items: {enum: [a]}, min_items: 1, type: list}']],
  ['schema', 'println(is_type(nil, schema_nullable(schema_int())))', ['true']],
  ['schema', 'println(is_type(1, schema_union(schema_int(), schema_string())))', ['true']],
  ['schema', 'println(get_typed_value({}, schema_object({a: schema_default(schema_int(), 3)}), true))', ['{a: 3}']],
  ['schema', 'println(try { get_typed_value(1, schema_string()) } catch (e) { e })', ["at root: expected type 'string', got 'int'"]],
  ['async', 'let n = atomic(0)\nprintln(wait_for(100, 10, { -> atomic_add(n, 1) >= 2 }))\nprintln(now_ms())', ['true', '20']],
  ['async', 'println(wait_for(25, 10, { -> false }))\nprintln(now_ms())', ['nil', '20']],
  ['async', 'let n = atomic(0)\nprintln(retry_until(5, { -> atomic_add(n, 1) == 1 }))\nprintln(atomic_get(n))', ['true', '2']],
  [
    'async',
    'let n = atomic(0)\nfn f() {\n  if atomic_add(n, 1) < 2 { throw "no" }\n  return "done"\n}\nprintln(retry_with_backoff(3, 10, f))\nprintln(now_ms())',
    ['done', '30'],
  ],
  ['async', 'println(try { retry_with_backoff(2, 10, { -> throw "always" }) } catch (e) { e })', ['always']],
  [
    'async',
    'circuit_breaker("c", 1, 1000)\nprintln(try { circuit_call("c", { -> throw "down" }) } catch (e) { e })\nprintln(try { circuit_call("c", { -> 1 }) } catch (e) { e })',
    ['down', 'circuit open: c'],
  ],
  [
    'agent/events',
    'llm_mock({text: "hi"})\nlet seen = agent_capture_events("s", { -> agent_loop("x", nil, {provider: "mock", session_id: "s"}).text })\nprintln(seen.result)\nprintln(seen.events.map({ e -> e.type }))\nprintln(seen.events.all({ e -> e.session_id == "s" }))',
    ['hi', '[turn_start, agent_message_chunk, turn_end, iteration_end]', 'true'],
  ],
  ['text', 'println(int_to_string("12"))\nprintln(int_to_string("x"))\nprintln(float_to_string(2.5))', ['12', 'nil', '2.5']],
  ['text', 'println(parse_int_or("x", 7))\nprintln(parse_float_or("1.5", 0.0))', ['7', '1.5']],
  [
    'text',
    'println(parse_cells("a\\n```call go\\nx()\\n```\\n```\\ny\\n```"))',
    ['[{code: x(), lang: go, type: call}, {code: y, lang: , type: code}]'],
  ],
  ['text', 'println(truncate_head_tail("1\\n2\\n3\\n4", 1))', ['1', '... (2 lines omitted) ...', '4']],
  ['text', 'println(truncate_head_tail("1\\n2", 1))', ['1', '2']],
  [
    'text',
    'println(truncate_text("abcdef", 5))\nprintln(truncate_text("abc", 5))\nprintln(truncate_middle("abcdefgh", 6))',
    ['ab...', 'abc', 'ab...h'],
  ],
  ['text', 'println(single_line_or(" a\\n\\n b ", "none"))\nprintln(single_line_or("  ", "none"))', ['a b', 'none']],
  ['text', 'println(prefix_lines("a\\nb", "> "))\nprintln(indent("a\\n\\nb"))', ['> a', '> b', '  a', '', '  b']],
  ['text', 'println(extract_paths("see src/b.ts, ./a.go. and b.ts\\n// src/no.ts\\n/x/y.rs:3 src/b.ts"))', ['[./a.go, /x/y.rs, src/b.ts]']],
  ['text', 'println(detect_compile_error("fine"))\nprintln(detect_compile_error("SyntaxError: x"))', ['false', 'true']],
  ['text', 'println(has_got_want("got 1, want 2"))\nprintln(has_got_want("got 1"))', ['true', 'false']],
  ['text', 'println(format_test_errors("ok\\nFAIL a\\nerror: b"))', ['FAIL a', 'error: b']],
  [
    'testing',
    'println(with_host_mocks([{capability: "a", operation: "b", result: 1}], { -> host_call("a.b", {k: 2}) + host_call_count() }))\nprintln(host_call_count())',
    ['2', '0'],
  ],
  [
    'testing',
    'mock_host_result("a", "b", 1, {k: 2})\nhost_call("a.b", {k: 2, z: 3})\nassert_host_called("a", "b", {k: 2})\nassert_host_call_count(1, "a", "b")\nprintln(host_was_called("a", "b", {k: 3}))',
    ['false'],
  ],
  [
    'testing',
    'mock_host_error("a", "b", "no")\nprintln(try { host_call("a.b", {}) } catch (e) { e })\nprintln(try { assert_host_called("a", "c", nil, "missing") } catch (e) { e })',
    ['no', 'missing'],
  ],
  [
    'testing',
    'println(try { with_host_mocks([{operation: "b"}], { -> 1 }) } catch (e) { e })\nprintln(try { host_mock_pop_scope() } catch (e) { e })',
    ['with_host_mocks: an entry needs `capability` and `operation`', 'host_mock_pop_scope: no scope to pop'],
  ],
  [
    'testing',
    'println(with_mocks({host_mocks: [{capability: "a", operation: "b", result: 1}], llm_mocks: [{text: "t"}]}, { -> llm_call("q", nil, {provider: "mock"}).text + to_string(host_call("a.b", {})) }))',
    ['t1'],
  ],
  [
    'runtime',
    'println(runtime_task())\nprintln(runtime_dry_run())\nhost_mock("runtime", "task", "ship")\nprintln(runtime_task())',
    ['nil', 'false', 'ship'],
  ],
  [
    'runtime',
    'let done = process_exec("printf out; exit 3")\nprintln("${done.combined} ${done.status} ${done.exit_code} ${done.success}")',
    ['out completed 3 false'],
  ],
  ['host', 'println(host_tools())\nprintln(host_tool_available("Read"))', ['[]', 'false']],
  [
    'context',
    'println(context_render(context([section("a", "x"), context_attach("b", "p", "y")], {separator: "|"})))',
    ['[a]', 'x|[b]', 'Path: p', 'y'],
  ],
  ['context', 'println(context_render(context_add(context(), section("a", "12345", {max_chars: 2}))))', ['[a]', '12']],
  ['context', 'println(context_compact(context([section("a", " "), section("b", "123")]), 2).sections.map({ s -> s.content }))', ['[12]']],
  [
    'context',
    'let p = prompt_compose("do", nil, {system: "s", task_label: "L"})\nprintln(p.system)\nprintln(p.prompt.contains("<label>L</label>"))\nprintln("[${p.rendered_context}]")',
    ['s', 'true', '[]'],
  ],
  [
    'slug',
    'println(slugify(" Über  Café, 2! "))\nprintln(slugify("one two", 4))\nprintln("[${slugify("!!")}]")',
    ['uber-cafe-2', 'one', '[]'],
  ],
  ['table', 'println(render_table([{a: 1, b: "x"}, {a: 22}]))', ['a   b', '--  -', '1   x', '22']],
  ['table', 'println(render_table([{a: 1, b: "x"}], ["b"]))', ['b', '-', 'x']],
  [
    'fs',
    'let root = path_join(temp_dir(), uuid())\nlet file = path_join(root, "a/b.json")\nprintln(read_json_or(file, "none"))\nwrite_json(file, {k: [1]})\nprintln(read_file(file))\nprintln(read_json(file))\ndelete_file(root)',
    ['none', '{"k":[1]}', '', '{k: [1]}'],
  ],
];

test.each(ROWS)('std/%s: %s', async (module, script, lines) => {
  expect(await linesOf(`import "std/${module}"\n${script}`)).toEqual(lines);
});

/** A warning about a line of ours would be shown to a user who cannot change it. */
test.each(Object.keys(STDLIB_SOURCES).filter((name) => !name.startsWith('prelude/')))('std/%s runs without a warning', async (name) => {
  expect(await runText(`import "std/${name}"`)).toMatchObject({ out: '', err: '', outcome: { kind: 'value' } });
});

test.each(Object.entries(STDLIB_SOURCES))('std/%s is written in the style of harn fmt', (_name, source) => {
  expect(formatSource(source())).toMatchObject({ kind: 'formatted', text: source() });
});
