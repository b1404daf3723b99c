import { expect, test } from 'vitest';
import { linesOf, runText, type ScriptRow } from '../run-text.ts';

test('a log line is one JSON object with the fields', async () => {
  const { err } = await runText('mock_time(0)\nlog_warn("full", {disk: 1})\nlog_json("k", [1])');
  expect(
    err
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { ts: '1970-01-01T00:00:00.000Z', level: 'warn', msg: 'full', disk: 1 },
    { ts: '1970-01-01T00:00:00.000Z', k: [1] },
  ]);
});

test('fields cannot pose as level or message', async () => {
  const { err } = await runText('log_info("real", {msg: "false", level: "error"})');
  expect(JSON.parse(err)).toMatchObject({ msg: 'real', level: 'info' });
});

const ROWS: readonly ScriptRow[] = [
  [
    'a level hides what is below',
    'capture_stderr_start()\nlog_set_level("warn")\nlog_info("x")\nlog_error("y")\nprintln(capture_stderr_take().contains("x"))',
    ['false'],
  ],
  [
    'an unknown level',
    'println(try { log_set_level("loud") } catch (e) { e })',
    ["log_set_level: unknown level 'loud'; use debug, info, warn, error"],
  ],
  ['there is no trace outside of a span', 'println(trace_id())', ['nil']],
  [
    'spans nest within one trace',
    'log_set_level("error")\nlet a = trace_start("a")\nlet b = trace_start("b")\nprintln(a.trace_id == b.trace_id)\nprintln(a.span_id == b.span_id)\ntrace_end(b)\nprintln(trace_id() == a.trace_id)\ntrace_end(a)\nprintln(trace_id())',
    ['true', 'false', 'true', 'nil'],
  ],
  [
    'log lines inside of a span carry its id',
    'let s = trace_start("a")\ncapture_stderr_start()\nlog_info("x")\nprintln(json_parse(capture_stderr_take()).span_id == s.span_id)',
    ['true'],
  ],
  [
    'closed spans are kept when asked for',
    'log_set_level("error")\ntrace_end(trace_start("lost"))\nenable_tracing()\nlet s = trace_start("kept")\nsleep_ms(5)\ntrace_end(s)\nprintln(trace_spans().map({ x -> x.name }))\nprintln(trace_summary())',
    ['[kept]', 'kept: 5ms'],
  ],
  [
    'uuid_parse knows the usual forms',
    'println(uuid_parse("URN:UUID:6BA7B8109DAD11D180B400C04FD430C8"))\nprintln(uuid_parse("{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"))\nprintln(uuid_parse("6ba7b810"))',
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'nil'],
  ],
  ['uuid_v5 of a known name', 'println(uuid_v5("dns", "www.example.com"))', ['2ed6657d-e927-568b-95e1-2665a8aea6a2']],
  [
    'uuid_v5 in an unknown namespace',
    'println(try { uuid_v5("x", "y") } catch (e) { e })',
    ["uuid_v5: unknown namespace 'x'; use dns, url, oid, x500 or a UUID"],
  ],
  ['uuid_v7 says its version', 'println(uuid_v7()[14])\nprintln(uuid_nil())', ['7', '00000000-0000-0000-0000-000000000000']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
