import { errorText } from '../../base/harn-error.ts';
import { TIMED_OUT } from '../agents/inbox.ts';
import { intArgument, optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context, Run } from '../context.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { durationMs } from '../duration.ts';
import { HarnRaise, thrownText } from '../errors.ts';
import { EgressPolicy } from '../http/egress.ts';
import { mockMessages, TransportMocks } from '../http/transport-mocks.ts';
import { SocketEnd, type SocketLimits, type SocketMessage } from '../http/web-socket.ts';
import { WebSocketServer } from '../http/web-socket-server.ts';
import { Dict, type Value } from '../value.ts';

interface OpenSocket {
  readonly end: SocketEnd;
  readonly url: string;
  readonly mock: { readonly echoes: boolean } | undefined;
}

interface Sockets {
  readonly open: Map<string, OpenSocket>;
  last: number;
}

const SOCKETS = Symbol('web sockets');

function sockets(run: Run): Sockets {
  return run.service(SOCKETS, () => ({ open: new Map(), last: 0 }));
}

function register(context: Context, socket: OpenSocket): string {
  const state = sockets(context.run);
  const id = `websocket_${++state.last}`;
  state.open.set(id, socket);
  return id;
}

/** A socket by its id, or by the dict that accepting it gave. */
function idOf(socket: Value): string {
  return textArgument(socket instanceof Dict ? dictGet(socket, 'id') : socket);
}

function socketOf(name: string, context: Context, socket: Value): OpenSocket {
  const found = sockets(context.run).open.get(idOf(socket));
  if (found === undefined) throw thrownText(`${name}: unknown socket ${idOf(socket)}`);
  return found;
}

function serverOf(name: string, context: Context, server: Value): WebSocketServer {
  const url = textArgument(server instanceof Dict ? dictGet(server, 'url') : server);
  const found = WebSocketServer.registry(context.run).get(url);
  if (found === undefined) throw thrownText(`${name}: unknown server ${url}`);
  return found;
}

function limitsOf(options: Dict): SocketLimits {
  const limit = (name: string): number | undefined => {
    const value = dictGet(options, name);
    return typeof value === 'number' ? value : undefined;
  };
  return { maxMessageBytes: limit('max_message_bytes'), sendBufferMessages: limit('send_buffer_messages') };
}

function bearerOf(options: Dict): string | undefined {
  return textOption(optionsArgument(dictGet(options, 'auth')), 'bearer');
}

/** What is no error of a script becomes a thrown text. */
async function guarded<T>(name: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof HarnRaise || !(error instanceof Error)) throw error;
    throw thrownText(`${name}: ${errorText(error)}`);
  }
}

// ---- connecting ----

function connect(context: Context, given: Value, options: Dict): string {
  const text = textArgument(given);
  if (!URL.canParse(text) || !/^wss?:$/.test(new URL(text).protocol)) throw thrownText(`websocket_connect: invalid url: ${text}`);
  const url = new URL(text);
  EgressPolicy.of(context.run).check(url);
  const mock = TransportMocks.of(context.run).find('websocket', url.href);
  if (mock !== undefined) {
    TransportMocks.of(context.run).record({ kind: 'websocket', action: 'connect', url: url.href });
    const end = new SocketEnd(limitsOf(options));
    for (const message of mock.messages) end.deliver(messageOf(message, new Dict()));
    return register(context, { end, url: url.href, mock });
  }
  const server = WebSocketServer.registry(context.run).get(`${url.protocol}//${url.host}`);
  if (server === undefined) {
    throw thrownText(`websocket_connect: no server or mock for ${url.href}: sockets reach servers and mocks of the same run only`);
  }
  const end = server.connect(url.pathname, upgradeHeaders(context, options), limitsOf(options));
  return register(context, { end, url: url.href, mock: undefined });
}

function upgradeHeaders(context: Context, options: Dict): Record<string, string> {
  const bearer = bearerOf(options);
  const headers: Record<string, string> = {
    'sec-websocket-key': Buffer.from(context.run.platform.random.bytes(16)).toString('base64'),
    'sec-websocket-version': '13',
    upgrade: 'websocket',
    connection: 'Upgrade',
  };
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`;
  for (const [name, value] of dictEntries(optionsArgument(dictGet(options, 'headers')))) headers[name.toLowerCase()] = textArgument(value);
  return headers;
}

// ---- messages ----

/** A text, bytes, or a dict `{type, data}` of a mock. */
function messageOf(value: Value, options: Dict): SocketMessage {
  const content = value instanceof Dict ? dictGet(value, 'data') : value;
  const fields = value instanceof Dict ? value : options;
  const type = textOption(fields, 'type') ?? (content instanceof Uint8Array ? 'binary' : 'text');
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(textArgument(content));
  switch (type) {
    case 'text':
      return { type, text: content instanceof Uint8Array ? new TextDecoder().decode(content) : textArgument(content) };
    case 'binary':
    case 'ping':
    case 'pong':
      return { type, bytes };
    case 'close':
      return { type, code: intArgument(dictGet(fields, 'code'), 1000), reason: textOption(fields, 'reason') };
    default:
      throw thrownText(`websocket_send: unknown message type ${type}`);
  }
}

function messageValue(message: SocketMessage): Dict {
  switch (message.type) {
    case 'text':
      return dictOf([
        ['type', 'text'],
        ['data', message.text],
      ]);
    case 'close':
      return dictOf([
        ['type', 'close'],
        ['code', message.code],
        ['reason', message.reason],
      ]);
    default:
      return dictOf([
        ['type', message.type],
        ['data_base64', Buffer.from(message.bytes).toString('base64')],
      ]);
  }
}

function send(context: Context, socket: Value, content: Value, options: Dict): boolean {
  const { end, url, mock } = socketOf('websocket_send', context, socket);
  const message = messageOf(content, options);
  if (mock === undefined) return end.send(message);
  TransportMocks.of(context.run).record({ kind: 'websocket', action: 'send', url, message: content });
  if (mock.echoes) end.deliver(message);
  return true;
}

async function receive(context: Context, socket: Value, timeout: Value): Promise<Value> {
  const { end, mock } = socketOf('websocket_receive', context, socket);
  // Nothing more can come from a mock than what is there.
  const message = await end.receive(context, mock === undefined ? durationMs(timeout) : 0);
  if (message === TIMED_OUT) return dictOf([['type', 'timeout']]);
  return message === undefined ? undefined : messageValue(message);
}

function close(context: Context, socket: Value): boolean {
  const { open } = sockets(context.run);
  const found = open.get(idOf(socket));
  if (found === undefined) return false;
  if (found.mock !== undefined) TransportMocks.of(context.run).record({ kind: 'websocket', action: 'close', url: found.url });
  found.end.close();
  return open.delete(idOf(socket));
}

// ---- servers ----

/** Where servers that name no port begin to count. */
const FIRST_PORT = 49_152;

function openServer(context: Context, bind: Value): Dict {
  const registry = WebSocketServer.registry(context.run);
  const [host = '127.0.0.1', port = '0'] = textArgument(bind, '127.0.0.1:0').split(/:(?=\d+$)/);
  const address = `${host}:${port === '0' ? FIRST_PORT + registry.size : port}`;
  const url = `ws://${address}`;
  if (registry.get(url)?.pending.isClosed === false) throw thrownText(`websocket_server: address ${address} is in use`);
  registry.set(url, new WebSocketServer());
  return dictOf([
    ['id', `websocket_server_${address}`],
    ['addr', address],
    ['url', url],
  ]);
}

async function accept(context: Context, server: Value, timeout: Value): Promise<Value> {
  const accepted = await serverOf('websocket_accept', context, server).pending.take(context, durationMs(timeout));
  if (accepted === TIMED_OUT) return dictOf([['type', 'timeout']]);
  if (accepted === undefined) return undefined;
  const id = register(context, { end: accepted.end, url: accepted.path, mock: undefined });
  return dictOf([
    ['id', id],
    ['type', 'socket'],
    ['path', accepted.path],
    ['headers', dictOf(Object.entries(accepted.headers))],
    ['peer', 'in-process'],
  ]);
}

/** WebSockets between parts of one run, and their mocks (spec/language.md 12.15). */
export const WEBSOCKET: BuiltinGroup = {
  name: 'websocket',
  title: 'WebSockets',
  errors: [
    { text: 'websocket_connect: invalid url: U', when: '`websocket_connect`' },
    { text: 'websocket_connect: no server or mock for U: …', when: 'sockets reach servers and mocks of the same run only' },
    { text: 'NAME: unknown socket ID', when: 'a socket that was closed' },
    { text: 'NAME: unknown server S', when: '`websocket_route`, `websocket_accept`' },
    { text: 'websocket_send: unknown message type T', when: '`websocket_send`' },
    { text: 'websocket_server: address A is in use', when: '`websocket_server`' },
  ],
  builtins: {
    websocket_connect: {
      signature: '(url: any, options: any = nil) -> string',
      doc: 'Connects to a server or a mock of this run; throws when the upgrade is refused. Gives the id of the socket.',
      colour: 'async',
      call: (c, _d, url, options) => guarded('websocket_connect', () => connect(c, url, optionsArgument(options))),
    },
    websocket_send: {
      signature: '(socket: any, message: any, options: any = nil) -> bool',
      doc: 'Sends a text or bytes; `options.type` may be `ping`, `pong` or `close`. False when the connection is over.',
      colour: 'async',
      call: (c, _d, socket, message, options) => guarded('websocket_send', () => send(c, socket, message, optionsArgument(options))),
    },
    websocket_receive: {
      signature: '(socket: any, timeout_ms: any = nil) -> any',
      doc: 'The next message: `{type: "text", data}`, `{type: "binary", data_base64}`, `ping`, `pong`, `close` or `timeout`; nil when the connection is over.',
      colour: 'async',
      call: (c, _d, socket, timeout) => guarded('websocket_receive', () => receive(c, socket, timeout)),
    },
    websocket_close: {
      signature: '(socket: any) -> bool',
      doc: 'Ends a connection; false when there was none.',
      call: (c, _d, socket) => close(c, socket),
    },
    websocket_server: {
      signature: '(bind: any = "127.0.0.1:0", options: any = nil) -> dict',
      doc: 'A server for clients of this run: `{id, addr, url}`. It binds no port.',
      call: (c, _d, bind) => openServer(c, bind),
    },
    websocket_route: {
      signature: '(server: any, path: any, options: any = nil) -> bool',
      doc: 'Lets clients connect to a path. Options: `auth`, `max_message_bytes`, `send_buffer_messages`.',
      call: (c, _d, server, path, options) => {
        const given = optionsArgument(options);
        serverOf('websocket_route', c, server).addRoute(textArgument(path), { limits: limitsOf(given), bearer: bearerOf(given) });
        return true;
      },
    },
    websocket_accept: {
      signature: '(server: any, timeout_ms: any = nil) -> any',
      doc: 'The next connection: `{id, path, headers}`; `{type: "timeout"}` when none came, nil when the server is closed.',
      colour: 'async',
      call: (c, _d, server, timeout) => accept(c, server, timeout),
    },
    websocket_server_close: {
      signature: '(server: any) -> bool',
      doc: 'Takes no more connections; false when it did not before.',
      call: (c, _d, server) => {
        const { pending } = serverOf('websocket_server_close', c, server);
        const wasOpen = !pending.isClosed;
        pending.close();
        return wasOpen;
      },
    },
    websocket_mock: {
      signature: '(pattern: any, messages: any) -> nil',
      doc: 'Prepares the messages of sockets whose URL matches a pattern with `*`; `{messages, echo: true}` sends back what is sent.',
      call: (c, _d, pattern, messages) => {
        const echoes = messages instanceof Dict && dictGet(messages, 'echo') === true;
        TransportMocks.of(c.run).register('websocket', textArgument(pattern, '*'), mockMessages(messages, 'messages'), echoes);
      },
    },
    transport_mock_calls: {
      signature: '() -> list',
      doc: '`{kind, action, url, message}` of each use of a mocked stream or socket.',
      call: (c) =>
        TransportMocks.of(c.run)
          .calls()
          .map((call) => dictOf(Object.entries(call))),
    },
    transport_mock_clear: {
      signature: '() -> nil',
      doc: 'Forgets mocked streams and sockets and their calls.',
      call: (c) => TransportMocks.of(c.run).clear(),
    },
  },
};
