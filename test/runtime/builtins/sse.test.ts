import { expect, test } from 'vitest';
import { createFakePlatform } from '../../../src/platform/fake-platform.ts';
import { expressionTable } from '../expression-table.ts';
import { runText } from '../run-text.ts';

expressionTable(
  'events of a server',
  [
    [String.raw`sse_event({event: "e", data: "one\ntwo", id: "1", retry_ms: 5})`, 'id: 1\nevent: e\nretry: 5\ndata: one\ndata: two\n\n'],
    [String.raw`sse_event({id: "a\nevent: forged", data: {b: 1}})`, 'id: a event: forged\ndata: {"b":1}\n\n'],
    ['sse_event("x", {event: "e"})', 'event: e\ndata: x\n\n'],
    ['opened().headers["content-type"]', 'text/event-stream; charset=utf-8'],
    ['sent()', '[true, true, {type: timeout}]'],
    ['taken()', '[{data: a, event: nil, id: nil, retry_ms: nil, type: event}, {comment: beat, type: comment}]'],
    ['sse_server_send(sse_server_response({max_event_bytes: 5}), "long text")', 'error: sse_server_send: event of 17 bytes exceeds 5'],
    ['full()', 'error: sse_server_send: buffer of 1 events is full'],
    ['ended("close")', '[true, false, false, {type: close}]'],
    ['ended("cancel")', '[true, false, false, {type: close}]'],
    ['ended("disconnect")', '[true, false, false, {type: close}]'],
    ['sse_server_flush("none")', 'error: sse_server_flush: unknown stream none'],
  ],
  {
    setup: `fn opened() { return sse_server_response({}) }
fn sent() { let r = opened()
  return [sse_server_send(r, "a"), sse_server_flush(r), sse_server_mock_receive(opened())] }
fn taken() { let r = opened()
  sse_server_send(r, "a")
  sse_server_heartbeat(r, "beat")
  return [sse_server_mock_receive(r), sse_server_mock_receive(r)] }
fn full() { let r = sse_server_response({max_buffered_events: 1})
  sse_server_send(r, "a")
  return sse_server_send(r, "b") }
fn ended(how) { let r = opened()
  let done = if how == "close" { sse_server_close(r) } else { if how == "cancel" { sse_server_cancel(r, "why") } else { sse_server_mock_disconnect(r) } }
  return [done, sse_server_close(r), sse_server_send(r, "late"), sse_server_mock_receive(r)] }`,
  },
);

test('a client reads events as they arrive, in pieces of any size', async () => {
  const platform = createFakePlatform({ respond: () => ({ body: ['event: e\nda', 'ta: 1\n\ndata: 2\n', '\n'] }) });
  const { out } = await runText(
    `let s = sse_connect("GET", "http://a.test/", {})
for i in 1 to 4 { let got = sse_receive(s, 1000)
  print("\${got?.type} \${got?.event} \${got?.data};") }
print([sse_close(s), sse_close(s)])`,
    platform,
  );
  expect(out).toBe('open nil nil;event e 1;event nil 2;nil nil nil;[true, false]');
});

test('a refused stream is an error that names the status', async () => {
  const platform = createFakePlatform({ respond: () => ({ status: 401 }) });
  const { out } = await runText(
    'try { sse_connect("GET", "http://a.test/", {}) } catch (e) { print("${e}; ${error_category(e)}") }',
    platform,
  );
  expect(out).toBe('sse_connect: http://a.test/ answered 401; auth');
});
