import { beforeAll, expect, test } from 'vitest';
import type { BuiltinGroup } from '../../src/runtime/builtin.ts';
import { BUILTIN_GROUPS } from '../../src/runtime/builtin-index.ts';
import { linesOf } from '../runtime/run-text.ts';

/**
 * The errors on the reference pages are promises: they can be had, and read as the page says. Capital letters and `…` of
 * a text stand for what varies. `u` hides a value from the checker.
 */
const CAUSES: Readonly<Record<string, readonly (readonly [text: string, cause: string])[]>> = {
  agent: [
    [
      'agent_loop: tool NAME has no executable backend',
      'agent_loop("x", nil, {provider: "mock", tools: {_type: "tool_registry", tools: [{name: "a"}]}})',
    ],
  ],
  bytes: [
    ['Type error: NAME: expected bytes, got T', 'bytes_to_string(u(5))'],
    ['NAME: invalid UTF-8', 'bytes_to_string(bytes_from_hex("ff"))'],
    ['NAME: invalid ENCODING', 'hex_decode("zz")'],
  ],
  collections: [
    ['Runtime error: NAME: first argument must be a list, got T', 'chunk(u(5), 2)'],
    ['Runtime error: NAME: callback is required', 'group_by([1], nil)'],
    ['Runtime error: NAME: callback must be callable, got T', 'partition([1], u(5))'],
    ['NAME: first argument must be a set', 'set_add(u(5), 1)'],
    ['Type error: range(n): expected integer argument', 'range(u("a"))'],
    ['Type error: iter: value of type T is not iterable', 'iter(u(5))'],
    ['Runtime error: pair: expected 2 arguments, got N', 'pair(...[1])'],
  ],
  compression: [
    ['NAME: …', 'gzip_decode("x")'],
    ['NAME: expected a list of entries', 'tar_create(u(5))'],
    ['NAME: an entry needs a path', 'zip_create([{content: "x"}])'],
    ['NAME: unsafe path P', 'zip_extract(zip_create([{path: "../x", content: ""}]))'],
  ],
  concurrency: [
    ['NAME: first argument must be a channel', 'send(u(1), 2)'],
    ['Type error: channel_select: first argument must be a list, got T', 'channel_select(u(5))'],
    ['Runtime error: parallel_race: expected at least one item', 'parallel_race([], { x -> x })'],
    ['Runtime error: parallel_race: all N task(s) failed: A; B', 'parallel_race([1, 2], { x -> throw "no" })'],
    [
      'kind:cancelled:VM cancelled by host',
      `let told = shared_cell("told", "")
let h = spawn { try { sleep(1h) } catch (e) { shared_set(told, e) } }
yield_now()
cancel(h)
yield_now()
yield_now()
throw shared_get(told)`,
    ],
  ],
  cookies: [['cookie_serialize: invalid cookie name `N`', 'cookie_serialize("a b", 1)']],
  core: [
    ['Assertion failed', 'assert(false)'],
    ['assert_eq requires at least 2 arguments', 'assert_eq(...[1])'],
    ['Runtime error: unwrap called on Err: E', 'unwrap(Err("x"))'],
    ['Runtime error: unwrap_err called on non-Err', 'unwrap_err(5)'],
    ['Runtime error: unreachable code was reached: V', 'unreachable(u(5))'],
    ['{category, message}', 'throw_error("x", "auth")'],
  ],
  dates: [
    ['Cannot parse date: S', 'date_parse("x")'],
    ['Unknown timezone: Z', 'date_to_zone(0, "Nowhere")'],
    ['Type error: NAME: expected a timestamp or a date dict, got T', 'date_add("x", 1s)'],
    ['NAME: timestamp is out of range', 'date_format(99999999999999)'],
    ['NAME: invalid date components', 'date_from_components({year: 2026, month: 13, day: 1})'],
    ['Type error: NAME: expected a duration, got T', 'duration_to_human(u(5))'],
  ],
  events: [
    ['event_log.subscribe: topic is required', 'event_log.subscribe({})'],
    ['HARN-CHN-…: …', 'emit_channel("", 1)'],
  ],
  files: [
    ['Failed to read file P: DETAIL', 'read_file("/nowhere/at/all")'],
    ['Failed to copy A to B: DETAIL', 'copy_file("/nowhere/at/all", "/nowhere/else/b")'],
    ['walk_dir: root path is required', 'walk_dir(nil)'],
  ],
  formats: [
    ['CSV parse error: …', 'csv_parse("\\"a")'],
    ['NAME: invalid delimiter', 'csv_parse("a", {delimiter: ""})'],
    ['query_stringify: expected dicts of key and value, got T', 'query_stringify([1])'],
    ['url_parse: invalid URL: S', 'url_parse("no url")'],
  ],
  harness: [
    ['Type error: HarnessRandom.range expects an integer min argument', 'harness.random.range(u("a"), 1)'],
    ['Type error: HarnessRandom.bytes expects a length from 1 through 1024', 'harness.random.bytes(0)'],
    ['Type error: HarnessProcess.run: command.program must be a non-empty string', 'harness.process.run({})'],
  ],
  host: [
    [`host_call: 'N' is not of the form capability.operation`, 'host_call("a")'],
    ['host_call: the host has no operation N', 'host_call("a.b")'],
    [`host_tool_call: no host offers the tool 'N'`, 'host_tool_call("a")'],
  ],
  'http-server': [
    ['NAME: unknown server ID', 'http_server_ready({id: "none"})'],
    ['Type error: NAME: handler must be callable', 'http_server_route(http_server(), "GET", "/", 5)'],
    ['http_server_tls_pem: cannot read P: DETAIL', 'http_server_tls_pem("/nowhere/a", "/nowhere/b")'],
  ],
  http: [
    ['HTTP request failed: …', 'http_get("http://127.0.0.1:9/")'],
    ['NAME: unknown stream ID', 'http_stream_read("none")'],
    ['http_request: invalid url: U', 'http_get("no url")'],
    [
      '{category, host, message, port, reason, type, url}',
      `egress_policy({deny: ["*"], default: "deny"})
http_get("http://a.test/")`,
    ],
  ],
  'json-query': [
    ['json_extract: failed to parse JSON', 'json_extract("none")'],
    ['json_extract: expected an object, got T', 'json_extract("[1]", "a")'],
    ['json_pointer_set: nothing at P', 'json_pointer_set({}, "/a/b", 1)'],
    ['jq: …', 'jq({}, ".[")'],
  ],
  json: [['JSON parse error: DETAIL', 'json_parse("{")']],
  lifecycle: [
    ['HARN-SUS-002: …', 'parse_resume_conditions({timeout: {duration_minutes: 0}})'],
    ['HARN-SUS-005: …', 'agent_await_resumption(" ")'],
    ['pipeline_on_finish: callback must be a function, got T', 'pipeline_on_finish(5)'],
    ['invoke_resume_by: callback must be a function or nil, got T', 'invoke_resume_by(5, harness, {})'],
  ],
  llm: [
    [
      '{category, kind, message, model, provider, reason, retry_after_ms}',
      `llm_mock({error: {category: "rate_limit", message: "slow", retry_after_ms: 5}})
llm_call("x", nil, {provider: "mock", llm_retries: 0})`,
    ],
    ['llm_mock: expected a dict', 'llm_mock(5)'],
    ['llm_budget: expected a number of US dollars', 'llm_budget("x")'],
  ],
  logging: [[`log_set_level: unknown level 'L'; use debug, info, warn, error`, 'log_set_level("loud")']],
  math: [
    ['Runtime error: cannot convert non-finite float to int', 'floor(1.0 / 0)'],
    ['Runtime error: float is outside the representable int range', 'floor(1000000000000.0 * 1000000000000.0)'],
    ['Type error: rng_seed(seed): seed must be an integer', 'rng_seed("a")'],
  ],
  metadata: [
    ['Type error: metadata_set: data must be a dict, got T', 'metadata_set("a", "n", u(5))'],
    ['compute_content_hash: D is no directory', 'compute_content_hash("/nowhere/at/all")'],
  ],
  multipart: [
    ['multipart_parse: …', 'multipart_parse("x", "multipart/form-data")'],
    ['multipart_field_text: field is not valid UTF-8', 'multipart_field_text({bytes: bytes_from_hex("ff")})'],
  ],
  process: [
    ['exec: command is required', 'exec()'],
    ['exec failed: P: DETAIL', 'exec("no-such-program-anywhere")'],
  ],
  'rate-limit': [['Type error: with_rate_limit: expected callable, got T', 'with_rate_limit("mock", u(5))']],
  regex: [['Invalid regex: DETAIL', 'regex_match("(", "a")']],
  schema: [
    [
      `at LOC: expected type 'string', got 'int'; …`,
      'schema_expect({a: 1, b: 2}, {type: "dict", properties: {a: {type: "string"}, b: {type: "string"}}})',
    ],
    ['Type error: a schema must be a dict, got T', 'schema_is(1, u(5))'],
  ],
  sessions: [
    ['NAME: missing session id', 'agent_session_fork(nil)'],
    ['NAME: unknown session: ID', 'agent_session_fork("none")'],
    ['NAME: expected a count', 'agent_session_trim(agent_session_open(), "x")'],
    ['agent_subscribe: expected a function', 'agent_subscribe("a", 5)'],
  ],
  shared: [[`Runtime error: NAME: no shared cell 'K' in scope S`, 'shared_get("none")']],
  signing: [
    ['NAME: unsupported algorithm `A`; expected ES256, RS256 or HS256', 'jwt_sign("none", {}, "x")'],
    ['NAME: keys and signatures are hex', 'ed25519_sign("zz", "x")'],
    ['NAME: …', 'jwt_sign("ES256", {}, "no key")'],
  ],
  skills: [
    ['skill_define: name must be a non-empty string', 'skill_define(skill_registry(), " ")'],
    [`skill_define: 'K' must be a string`, 'skill_define(skill_registry(), "a", {invocation: []})'],
    ['NAME: first argument must be a skill registry', 'skill_count({})'],
    ['skill_select: names must be a list', 'skill_select(skill_registry(), "a")'],
  ],
  sse: [
    ['NAME: unknown stream ID', 'sse_receive("none")'],
    ['sse_server_send: …', 'sse_server_send("none", 1)'],
  ],
  streams: [
    ['Runtime error: stream.collect: max cap N exceeded', 'stream.collect([1, 2], 1)'],
    ['Runtime error: stream.interleave: expected at least two sources', 'stream.interleave([1])'],
    ['Type error: stream.NAME: value of type T is not iterable', 'stream.first(u(5))'],
    ['Type error: stream.NAME: expected callable, got T', 'stream.map([1], u(5))'],
    ['Type error: stream.NAME: expected an int of at least N, got V', 'stream.take([1], u(-1))'],
  ],
  strings: [
    ['Runtime error: str_pad: side must be left, right, or both', 'str_pad("a", 3, " ", "top")'],
    ['Runtime error: unicode_normalize: form must be NFC, NFD, NFKC, or NFKD', 'unicode_normalize("a", "x")'],
  ],
  supervisor: [
    ['Runtime error: supervisor_start: …', 'supervisor_start({strategy: "none"})'],
    [`Runtime error: NAME: unknown supervisor 'S'`, 'supervisor_state("none")'],
  ],
  synchronisation: [
    ['Type error: sync_rwlock_acquire: mode must be "read" or "write", got V', 'sync_rwlock_acquire("a", "both")'],
    ['Type error: NAME: capacity must be a positive int, got V', 'sync_semaphore_acquire("a", 0)'],
  ],
  templates: [
    ['Failed to read template P: DETAIL', 'render("/nowhere/at/all")'],
    [
      'P at L:C: MESSAGE',
      `let file = path_join(temp_dir(), "errors-" + uuid())
defer { delete_file(file) }
write_file(file, "{{ if }}")
render(file)`,
    ],
    [
      'P at L:C: circular include detected: A → …',
      `let file = path_join(temp_dir(), "errors-" + uuid())
defer { delete_file(file) }
write_file(file, "{{ include \\"\${file}\\" }}")
render(file)`,
    ],
  ],
  terminal: [[`set_color_mode: unknown mode 'M'; use auto, always or never`, 'set_color_mode("loud")']],
  time: [['Deadline exceeded', 'deadline 1s { sleep(2s) }']],
  toml: [
    ['TOML parse error: …', 'toml_parse("=")'],
    ['TOML stringify error: the top level must be a dict', 'toml_stringify(5)'],
    ['TOML stringify error: a list with nil has no TOML form', 'toml_stringify({a: [nil]})'],
  ],
  tools: [
    ['tool_define: …', 'tool_define(tool_registry(), "a", "b", {})'],
    ['NAME: first argument must be a tool registry', 'tool_count({})'],
    ['NAME: no tool registry bound', 'tool_ref("a")'],
    ['NAME: unknown tool `N`', 'tool_bind(tool_registry(), { -> tool_ref("a") })'],
    ['tool_select: names must be a list', 'tool_select(tool_registry(), "a")'],
  ],
  transcripts: [
    ['transcript_import: expected a string', 'transcript_import(5)'],
    ['HARN-RMD-…: …', 'transcript.inject_reminder(transcript(), {})'],
    ['transcript.clear_reminders: unknown filter `F`; expected id, tag or dedupe_key', 'transcript.clear_reminders(transcript(), {x: 1})'],
  ],
  triggers: [
    ['trigger_register: spec must be a dict, got T', 'trigger_register(u(5))'],
    ['trigger_register: …', 'trigger_register({})'],
    ['trigger_fire: …', 'trigger_fire("none", {provider: "a", kind: "b"})'],
  ],
  uuid: [[`uuid_v5: unknown namespace 'N'; use dns, url, oid, x500 or a UUID`, 'uuid_v5("none", "a")']],
  websocket: [
    ['websocket_connect: invalid url: U', 'websocket_connect("http://a")'],
    ['websocket_connect: no server or mock for U: …', 'websocket_connect("ws://a.test/")'],
    ['NAME: unknown socket ID', 'websocket_send("none", "x")'],
    ['NAME: unknown server S', 'websocket_route("none", "/")'],
    [
      'websocket_send: unknown message type T',
      `websocket_mock("ws://a.test/*", [])
websocket_send(websocket_connect("ws://a.test/x"), "x", {type: "loud"})`,
    ],
    [
      'websocket_server: address A is in use',
      `let one = websocket_server("127.0.0.1:4000")
websocket_server("127.0.0.1:4000")`,
    ],
  ],
  workers: [
    [
      'HARN-SUS-001: …',
      `llm_mock({text: "<done>##DONE##</done>"})
let w = spawn_agent({name: "a", task: "b", node: {provider: "mock"}})
wait_agent(w)
suspend_agent(w)`,
    ],
    [
      'HARN-SUS-010: …',
      `llm_mock({text: "<done>##DONE##</done>"})
let w = spawn_agent({name: "a", task: "b", node: {provider: "mock"}})
close_agent(w)
resume_agent(w)`,
    ],
    [
      'send_input: task must be a non-empty string',
      `llm_mock({text: "<done>##DONE##</done>"})
let w = spawn_agent({name: "a", task: "b", node: {provider: "mock"}})
wait_agent(w)
send_input(w, " ")`,
    ],
    [
      'worker_trigger: worker ID is not retriggerable',
      `llm_mock({text: "<done>##DONE##</done>"})
let w = spawn_agent({name: "a", task: "b", node: {provider: "mock"}})
wait_agent(w)
worker_trigger(w)`,
    ],
    ['resume_agent: continue_transcript must be a bool', 'resume_agent("w", nil, 5)'],
  ],
  yaml: [['YAML parse error: …', 'yaml_parse("a: [")']],
};

let groups: readonly BuiltinGroup[];

beforeAll(async () => {
  groups = await Promise.all(Object.values(BUILTIN_GROUPS).map((load) => load()));
});

/** A text of the table as a pattern over what `catch` sees. */
function patternOf(text: string): RegExp {
  const source = text
    .split(/(\b[A-Z]+\b|…|\{\w+(?:, \w+)*\})/)
    .map((part, index) => (index % 2 === 0 ? escapeRegex(part) : variable(part)))
    .join('');
  return new RegExp(`^${source}`, 's');
}

/** Words in capitals that stand as they are. */
const FIXED = new Set([
  'HTTP',
  'JSON',
  'YAML',
  'TOML',
  'CSV',
  'NFC',
  'NFD',
  'NFKC',
  'NFKD',
  'URL',
  'UUID',
  'VM',
  'UTF',
  'ES',
  'RS',
  'HARN',
  'SUS',
  'CHN',
  'RMD',
  'US',
]);

function variable(part: string): string {
  if (part.startsWith('{'))
    return part
      .slice(1, -1)
      .split(', ')
      .map((key) => `.*${key}: `)
      .join('');
  return FIXED.has(part) ? part : '.*';
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

const ROWS = Object.entries(CAUSES).flatMap(([group, causes]) => causes.map(([text, cause]) => [group, text, cause] as const));

test.each(ROWS)('%s: %s', async (_group, text, cause) => {
  const script = `fn u(x) { return x }\nlet seen = try {\n${cause}\n"nothing was thrown"\n} catch (e) { e }\nprintln(seen)`;
  expect((await linesOf(script)).join('\n')).toMatch(patternOf(text));
});

test('every cause here is of an error on a page', () => {
  const listed = new Set(groups.flatMap(({ name, errors }) => (errors ?? []).map(({ text }) => `${name}: ${text}`)));
  expect(ROWS.map(([group, text]) => `${group}: ${text}`).filter((title) => !listed.has(title))).toEqual([]);
});
