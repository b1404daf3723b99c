import { createParser } from 'eventsource-parser';
import { errorText } from '../../base/harn-error.ts';
import { Inbox, TIMED_OUT } from '../agents/inbox.ts';
import { intArgument, optionsArgument, textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context, Run } from '../context.ts';
import { dictGet, dictOf, dictSet, mergeDicts } from '../dict.ts';
import { durationMs } from '../duration.ts';
import { thrownText } from '../errors.ts';
import { EgressPolicy } from '../http/egress.ts';
import { sendRequest } from '../http/http-client.ts';
import { type OutgoingRequest, outgoingRequest } from '../http/http-options.ts';
import { type SseFrame, sseFrame, writeSse } from '../http/sse-frame.ts';
import { SseServerResponse } from '../http/sse-server.ts';
import { mockMessages, TransportMocks } from '../http/transport-mocks.ts';
import { Dict, type Value } from '../value.ts';

// ---- receiving ----

interface OpenStream {
  readonly url: string;
  readonly inbox: Inbox<Dict>;
  readonly isMocked: boolean;
  readonly stop: () => void;
}

const STREAMS = Symbol('sse streams');

interface Streams {
  readonly open: Map<string, OpenStream>;
  last: number;
}

function streams(run: Run): Streams {
  return run.service(STREAMS, () => ({ open: new Map(), last: 0 }));
}

function frameValue(frame: SseFrame): Dict {
  if (frame.type === 'comment')
    return dictOf([
      ['type', 'comment'],
      ['comment', frame.comment],
    ]);
  return dictOf([
    ['type', 'event'],
    ['event', frame.event],
    ['data', frame.data],
    ['id', frame.id],
    ['retry_ms', frame.retryMs],
  ]);
}

const signalled = (type: string): Dict => dictOf([['type', type]]);

async function connect(context: Context, method: Value, url: Value, options: Dict): Promise<string> {
  const headers = dictSet(optionsArgument(dictGet(options, 'headers')), 'Accept', 'text/event-stream');
  // A stream has no end to wait for: only the caller's own timeout bounds it.
  const request = outgoingRequest(context, textArgument(method, 'GET'), url, mergeDicts(options, dictOf([['headers', headers]])));
  EgressPolicy.of(context.run).check(request.url);
  const inbox = new Inbox<Dict>();
  inbox.push(signalled('open'));
  const mock = TransportMocks.of(context.run).find('sse', request.url.href);
  if (mock !== undefined) {
    TransportMocks.of(context.run).record({ kind: 'sse', action: 'connect', url: request.url.href });
    for (const message of mock.messages) inbox.push(frameValue(sseFrame(message)));
    inbox.close();
    return register(context, { url: request.url.href, inbox, isMocked: true, stop: () => undefined });
  }
  const stop = await listen(context, { ...request, timeoutMs: undefined }, inbox);
  return register(context, { url: request.url.href, inbox, isMocked: false, stop });
}

function register(context: Context, stream: OpenStream): string {
  const state = streams(context.run);
  const id = `sse_${++state.last}`;
  state.open.set(id, stream);
  return id;
}

/** Reads in the background until the stream ends or `stop` is called. */
async function listen(context: Context, request: OutgoingRequest, inbox: Inbox<Dict>): Promise<() => void> {
  const response = await sendRequest(context, request);
  if (response.status < 200 || response.status > 299) throw thrownText(`sse_connect: ${request.url.href} answered ${response.status}`);
  const chunks = response.stream()[Symbol.asyncIterator]();
  const parser = createParser({
    onEvent: ({ event, data, id }) => inbox.push(frameValue({ type: 'event', event, data, id, retryMs: undefined })),
  });
  const decoder = new TextDecoder();
  const pump = async (): Promise<void> => {
    try {
      for (let next = await chunks.next(); next.done !== true && !inbox.isClosed; next = await chunks.next()) {
        parser.feed(decoder.decode(next.value, { stream: true }));
      }
    } catch {
      // A connection that breaks ends the stream; a reader learns it from the end.
    } finally {
      inbox.close();
    }
  };
  void pump();
  return () => {
    inbox.close();
    void chunks.return?.();
  };
}

async function receive(context: Context, id: Value, timeout: Value): Promise<Value> {
  const stream = streams(context.run).open.get(textArgument(id));
  if (stream === undefined) throw thrownText(`sse_receive: unknown stream ${textArgument(id)}`);
  const event = await stream.inbox.take(context, durationMs(timeout));
  return event === TIMED_OUT ? signalled('timeout') : event;
}

function close(context: Context, id: Value): boolean {
  const { open } = streams(context.run);
  const stream = open.get(textArgument(id));
  if (stream === undefined) return false;
  if (stream.isMocked) TransportMocks.of(context.run).record({ kind: 'sse', action: 'close', url: stream.url });
  stream.stop();
  return open.delete(textArgument(id));
}

// ---- sending ----

const DEFAULT_MAX_EVENT_BYTES = 1024 * 1024;
const DEFAULT_MAX_BUFFERED = 1024;
const HEADERS: readonly [string, Value][] = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache'],
  ['connection', 'keep-alive'],
  ['x-accel-buffering', 'no'],
];

function openResponse(context: Context, options: Dict): Dict {
  const registry = SseServerResponse.registry(context.run);
  const id = `sse_response_${registry.size + 1}`;
  registry.set(
    id,
    new SseServerResponse({
      maxEventBytes: intArgument(dictGet(options, 'max_event_bytes'), DEFAULT_MAX_EVENT_BYTES),
      maxBufferedEvents: intArgument(dictGet(options, 'max_buffered_events'), DEFAULT_MAX_BUFFERED),
    }),
  );
  return dictOf([
    ['id', id],
    ['type', 'sse_response'],
    ['status', intArgument(dictGet(options, 'status'), 200)],
    ['headers', mergeDicts(dictOf(HEADERS), optionsArgument(dictGet(options, 'headers')))],
    ['body', undefined],
    ['streaming', true],
  ]);
}

function responseOf(name: string, context: Context, stream: Value): SseServerResponse {
  const id = textArgument(stream instanceof Dict ? dictGet(stream, 'id') : stream);
  const found = SseServerResponse.registry(context.run).get(id);
  if (found === undefined) throw thrownText(`${name}: unknown stream ${id}`);
  return found;
}

function send(name: string, context: Context, stream: Value, frame: SseFrame): boolean {
  const response = responseOf(name, context, stream);
  try {
    return response.send(frame);
  } catch (error) {
    throw thrownText(`${name}: ${errorText(error)}`);
  }
}

function statusOf(response: SseServerResponse): Dict {
  return dictOf([
    ['buffered_events', response.bufferedEvents],
    ['sent_events', response.sentEvents],
    ['flushed_events', response.flushedEvents],
    ['closed', response.end !== undefined],
    ['cancelled', response.end === 'cancelled'],
    ['cancel_reason', response.cancelReason],
    ['disconnected', response.end === 'disconnected'],
  ]);
}

/** Server-sent events, both sides (spec/language.md 12.15). */
export const SSE: BuiltinGroup = {
  name: 'sse',
  title: 'Server-sent events',
  errors: [
    { text: 'sse_connect: U answered STATUS', when: 'the server refuses' },
    { text: 'NAME: unknown stream ID', when: 'a stream that was closed' },
    { text: 'sse_server_send: …', when: 'an event above the limit, or a full buffer' },
  ],
  builtins: {
    sse_connect: {
      signature: '(method: any, url: any, options: any = nil) -> string',
      doc: 'Opens an event stream; options are those of http_request. Gives its id.',
      colour: 'async',
      call: (c, _d, method, url, options) => connect(c, method, url, optionsArgument(options)),
    },
    sse_receive: {
      signature: '(stream: any, timeout_ms: any = nil) -> any',
      doc: '`{type: "open"}` first, then `{type: "event", event, data, id, retry_ms}`; `{type: "timeout"}` when nothing came in time, nil at the end.',
      colour: 'async',
      call: (c, _d, stream, timeout) => receive(c, stream, timeout),
    },
    sse_close: {
      signature: '(stream: any) -> bool',
      doc: 'Leaves an event stream; false when there was none.',
      call: (c, _d, stream) => close(c, stream),
    },
    sse_mock: {
      signature: '(pattern: any, events: any) -> nil',
      doc: 'Prepares the events of streams whose URL matches a pattern with `*`.',
      call: (c, _d, pattern, events) =>
        TransportMocks.of(c.run).register('sse', textArgument(pattern, '*'), mockMessages(events, 'events'), false),
    },
    sse_event: {
      signature: '(event: any, options: any = nil) -> string',
      doc: 'An event as it goes over the wire.',
      call: (_c, _d, event, options) => writeSse(sseFrame(event, optionsArgument(options))),
    },
    sse_server_response: {
      signature: '(options: any = nil) -> dict',
      doc: 'A response that sends events. Options: `max_event_bytes`, `max_buffered_events`, `status`, `headers`.',
      call: (c, _d, options) => openResponse(c, optionsArgument(options)),
    },
    sse_server_send: {
      signature: '(stream: any, event: any, options: any = nil) -> bool',
      doc: 'Sends an event; false when nobody listens any more. Throws for an event above the limit and for a full buffer.',
      call: (c, _d, stream, event, options) => send('sse_server_send', c, stream, sseFrame(event, optionsArgument(options))),
    },
    sse_server_heartbeat: {
      signature: '(stream: any, comment: any = "") -> bool',
      doc: 'Sends a comment that keeps the connection alive.',
      call: (c, _d, stream, comment) => send('sse_server_heartbeat', c, stream, { type: 'comment', comment: textArgument(comment) }),
    },
    sse_server_flush: {
      signature: '(stream: any) -> bool',
      doc: 'Counts all events as flushed; false when nobody listens any more.',
      call: (c, _d, stream) => responseOf('sse_server_flush', c, stream).flush(),
    },
    sse_server_status: {
      signature: '(stream: any) -> dict',
      doc: '`{buffered_events, sent_events, flushed_events, closed, cancelled, cancel_reason, disconnected}`.',
      call: (c, _d, stream) => statusOf(responseOf('sse_server_status', c, stream)),
    },
    sse_server_disconnected: {
      signature: '(stream: any) -> bool',
      doc: 'Whether the client went away.',
      call: (c, _d, stream) => responseOf('sse_server_disconnected', c, stream).end === 'disconnected',
    },
    sse_server_cancelled: {
      signature: '(stream: any) -> bool',
      doc: 'Whether the response was cancelled.',
      call: (c, _d, stream) => responseOf('sse_server_cancelled', c, stream).end === 'cancelled',
    },
    sse_server_cancel: {
      signature: '(stream: any, reason: any = nil) -> bool',
      doc: 'Cancels the response; false when it had ended.',
      call: (c, _d, stream, reason) =>
        responseOf('sse_server_cancel', c, stream).finish('cancelled', reason === undefined ? undefined : textArgument(reason)),
    },
    sse_server_close: {
      signature: '(stream: any) -> bool',
      doc: 'Ends the response after what was sent; false when it had ended.',
      call: (c, _d, stream) => responseOf('sse_server_close', c, stream).finish('closed'),
    },
    sse_server_mock_receive: {
      signature: '(stream: any) -> dict',
      doc: 'The next frame as a client would get it: `event`, `comment`, `timeout` when there is none, `close` at the end.',
      call: (c, _d, stream) => {
        const response = responseOf('sse_server_mock_receive', c, stream);
        const frame = response.takeFrame();
        return frame === undefined ? signalled(response.end === undefined ? 'timeout' : 'close') : frameValue(frame);
      },
    },
    sse_server_mock_disconnect: {
      signature: '(stream: any) -> bool',
      doc: 'Acts as a client that goes away.',
      call: (c, _d, stream) => responseOf('sse_server_mock_disconnect', c, stream).finish('disconnected'),
    },
  },
};
