import { createFakePlatform } from '../../../src/platform/fake-platform.ts';
import { expressionTable } from '../expression-table.ts';

/** Rows of spec/language.md 12.10 to 12.15 that no other table looks at. */
expressionTable(
  'builtins',
  [
    // 12.10
    ['[acos(1), asin(0), atan(0), tan(0), acos(2)].map(to_string)', '[0.0, 0.0, 0.0, 0.0, NaN]'],
    ['[tan("x"), acos(nil)]', '[nil, nil]'],
    // 12.11
    [
      'schema_from_openapi_schema({type: "object", properties: {a: {type: "integer", nullable: true}}})',
      '{properties: {a: {nullable: true, type: int}}, type: dict}',
    ],
    ['schema_to_openapi_schema({type: "list", items: {type: "float"}})', '{items: {type: number}, type: array}'],
    // 12.12
    ['sha3_512("abc").starts_with("b751850b1a57168a")', 'true'],
    ['multipart_field_bytes(multipart_parse(form.body, form.content_type).fields[1])', 'b"7a7a"'],
    ['multipart_parse(form.body, form.content_type).fields.map({ f -> "${f.name} ${f.filename} ${f.text}" })', '[a nil 1, f x.txt zz]'],
    // 12.14
    ['[path_basename("/a/b.txt"), path_basename("/a/b/"), path_basename("/")]', '[b.txt, b, ]'],
    ['path_to_native("a/b")', 'a/b'],
    [
      'path_workspace_info("/etc/passwd", "/p")',
      '{host_path: /etc/passwd, kind: host_absolute, recovered_root_drift: false, workspace_path: nil}',
    ],
    ['path_workspace_info("").kind', 'invalid'],
    ['[path_workspace_normalize("b/../a.txt", "/p"), path_workspace_normalize("../up", "/p")]', '[a.txt, nil]'],
    ['[project_root(), execution_root(), runtime_paths().state_root.ends_with("harn") || true]', '[nil, /p, true]'],
    ['[home_dir(), hostname(), arch()].map(type_of)', '[string, string, string]'],
    [
      '[store_set("k", {a: 1}), store_save(), store_get("k"), store_delete("k"), store_delete("k"), store_get("k")]',
      '[nil, nil, {a: 1}, nil, nil, nil]',
    ],
    ['[checkpoint("s", nil), checkpoint_exists("s"), checkpoint_delete("s"), checkpoint_exists("s")]', '[nil, true, nil, false]'],
    // 12.15
    ['[mock_stdin("a\\n\\nb"), read_line(), read_line(), read_line(), read_line(), unmock_stdin()]', '[nil, a, , b, nil, nil]'],
    ['[mock_tty("stdout", true), is_stdout_tty(), unmock_tty()]', '[nil, true, nil]'],
    [
      '[capture_stderr_start(), eprint("a"), eprintln("b"), log_warn("w", {k: 1}), log_error(nil), log_json("n", [1])] ?? nil',
      '[nil, nil, nil, nil, nil, nil]',
    ],
    [
      'capture_stderr_take().lines().map({ l -> l.starts_with("{") ? omit_ts(json_parse(l)) : l })',
      '[ab, {k: 1, level: warn, msg: w}, {level: error, msg: }, {n: [1]}]',
    ],
    ['[enable_tracing(), trace_end(trace_start("s")), trace_spans().map({ s -> s.name }), enable_tracing(false)]', '[nil, nil, [s], nil]'],
    ['[shared_scope_id("process"), shared_scope_id() == shared_scope_id("task_group")]', '[process, true]'],
    [
      'shared_scope_id("bogus")',
      "error: Runtime error: shared_scope_id: unknown scope 'bogus', expected one of task, task_group, workflow_run, agent_session, tenant, process",
    ],
    [
      '[http_mock("GET", "https://a.test/*", {body: "x"}), http_get("https://a.test/1").body, http_mock_clear(), http_mock_calls()]',
      '[nil, x, nil, []]',
    ],
    ['[http_mock("get", "https://a.test/*", {status: 404}), http_get("https://a.test/1").ok, http_mock_clear()]', '[nil, false, nil]'],
    ['http_header(http_response_bytes(bytes_from_string("ab"), {headers: {"X-A": "1"}}), "x-a")', '1'],
    ['render_with_provenance("/p/t.prompt", {who: "Ada"}).text', 'Hello Ada'],
    ['render_with_provenance("/none")', 'error: Failed to read template /none: No such file or directory (os error 2)'],
    ['secret_scan("key AKIAIOSFODNN7EXAMPLE").map({ s -> "${s.detector} ${s.line}:${s.column}" })', '[aws_access_key_id 1:5]'],
    ['parse_junit_xml("no xml")', '[]'],
    [
      '[http_server_request(server, {method: "GET", path: "/u/7"}).body, http_server_test(server, {method: "PUT", path: "/u/7"}).status]',
      '[7, 405]',
    ],
    [
      '[http_server_set_ready(server, false), http_server_ready(server), http_server_readiness(server, { -> true })._type]',
      '[false, false, http_server]',
    ],
    [
      '[http_server_on_shutdown(server, { -> print("bye ") })._type, http_server_shutdown(server), http_server_shutdown(server)]',
      'bye [http_server, true, false]',
    ],
    ['http_server_test(server, {method: "GET", path: "/u/7"}).status', '503'],
    ['[http_server_tls_self_signed_dev("localhost").mode, http_server_tls_plain().scheme]', '[self_signed_dev, http]'],
    [
      '[sse_server_send(events, "x"), sse_server_heartbeat(events), sse_server_flush(events), sse_server_status(events).flushed_events]',
      '[true, true, true, 2]',
    ],
    ['[sse_server_mock_receive(events).data, sse_server_mock_receive(events).type]', '[x, comment]'],
    [
      '[sse_server_mock_disconnect(events), sse_server_disconnected(events), sse_server_send(events, "late"), sse_server_cancelled(events)]',
      '[true, true, false, false]',
    ],
    ['[sse_server_cancel(other, "why"), sse_server_cancelled(other), sse_server_status(other).cancel_reason]', '[true, true, why]'],
    [
      '[http_mock("GET", "https://st.test/*", {body: "abc"}), http_stream_info(http_stream_open("https://st.test/1")).status]',
      '[nil, 200]',
    ],
    ['llm_healthcheck("mock").valid', 'true'],
    ['[llm_session_cost().call_count, "mock" in llm_available_providers(), type_of(llm_info().provider)]', '[0, true, string]'],
    ['[workflow.pause("w").paused, workflow.resume("w").paused]', '[true, false]'],
  ],
  {
    setup: `mock_time(0)
fn omit_ts(d) { return d.remove("ts") }
let server = http_server({name: "x"})
http_server_route(server, "GET", "/u/{id}", { request -> http_response_text(request.path_params.id) })
let events = sse_server_response()
let other = sse_server_response()
let form = multipart_form_data([{name: "a", value: "1"}, {name: "f", filename: "x.txt", content: "zz"}])`,
    platform: createFakePlatform({ cwd: '/p', files: { '/p/t.prompt': 'Hello {{ who }}' } }),
  },
);
