import { expressionTable } from '../expression-table.ts';

expressionTable(
  'sockets of one run',
  [
    ['talk()', '[{data: hi, type: text}, {data_base64: Ymlu, type: binary}]'],
    ['pinged()', '[{data_base64: cA==, type: ping}, {data_base64: cA==, type: pong}]'],
    ['hung_up()', '[{code: 1001, reason: done, type: close}, nil, false]'],
    ['quiet()', '{type: timeout}'],
    ['websocket_connect(server.url + "/none", {})', 'error: websocket_connect: upgrade refused: 404 no such route'],
    ['websocket_connect(server.url + "/secure", {})', 'error: websocket_connect: upgrade refused: 401 unauthorized'],
    ['websocket_connect(server.url + "/secure", {auth: {bearer: "wrong"}})', 'error: websocket_connect: upgrade refused: 401 unauthorized'],
    ['type_of(websocket_connect(server.url + "/secure", {auth: {bearer: "t"}}))', 'string'],
    ['websocket_accept(server, 10).headers.authorization', 'Bearer t'],
    ['websocket_accept(server, 0)', '{type: timeout}'],
    ['too_long()', 'error: websocket_receive: message of 4 bytes exceeds 3'],
    ['saturated()', 'error: websocket_send: send buffer of 0 messages is full'],
    ['websocket_connect("http://a.test", {})', 'error: websocket_connect: invalid url: http://a.test'],
    ['websocket_send("none", "x")', 'error: websocket_send: unknown socket none'],
    ['websocket_server(server.addr)', 'error: websocket_server: address 127.0.0.1:49152 is in use'],
    ['closed()', '[true, false, nil, refused]'],
  ],
  {
    setup: `mock_time(0)
let server = websocket_server("127.0.0.1:0", {})
websocket_route(server, "/a")
websocket_route(server, "/secure", {auth: {bearer: "t"}})
websocket_route(server, "/short", {max_message_bytes: 3})
websocket_route(server, "/full", {send_buffer_messages: 0})
fn open(path) {
  let client = websocket_connect(server.url + path, {})
  return [client, websocket_accept(server, 10)]
}
fn talk() {
  let [client, peer] = open("/a")
  websocket_send(client, "hi")
  websocket_send(peer, bytes_from_string("bin"))
  return [websocket_receive(peer, 10), websocket_receive(client, 10)]
}
fn pinged() {
  let [client, peer] = open("/a")
  websocket_send(client, "p", {type: "ping"})
  return [websocket_receive(peer, 10), websocket_receive(client, 10)]
}
fn hung_up() {
  let [client, peer] = open("/a")
  websocket_send(peer, "", {type: "close", code: 1001, reason: "done"})
  return [websocket_receive(client, 10), websocket_receive(client, 10), websocket_send(client, "late")]
}
fn quiet() {
  let [client, peer] = open("/a")
  return websocket_receive(client, 0)
}
fn too_long() {
  let [client, peer] = open("/short")
  websocket_send(client, "long")
  return websocket_receive(peer, 10)
}
fn saturated() {
  let [client, peer] = open("/full")
  return websocket_send(peer, "x")
}
fn closed() {
  let other = websocket_server()
  websocket_route(other, "/")
  let first = websocket_server_close(other)
  let refused = try { websocket_connect(other.url + "/", {}) } catch (e) { "refused" }
  return [first, websocket_server_close(other), websocket_accept(other, 10), refused]
}`,
  },
);

expressionTable(
  'mocked streams and sockets',
  [
    ['echo()', '[{data: hello, type: text}, {type: timeout}, {data: ack, type: text}, true, false]'],
    ['events()', '[open, {data: one, event: e, id: nil, retry_ms: nil, type: event}, nil]'],
    [
      'transport_mock_calls().map({ call -> "${call.kind} ${call.action}" })',
      '[websocket connect, websocket send, websocket close, sse connect]',
    ],
    ['[transport_mock_clear(), transport_mock_calls()]', '[nil, []]'],
  ],
  {
    setup: `websocket_mock("wss://m.test/*", {messages: ["hello"], echo: true})
sse_mock("https://m.test/*", [{event: "e", data: "one"}])
fn echo() {
  let socket = websocket_connect("wss://m.test/a", {})
  let first = websocket_receive(socket)
  let none = websocket_receive(socket)
  websocket_send(socket, "ack")
  return [first, none, websocket_receive(socket), websocket_close(socket), websocket_close(socket)]
}
fn events() {
  let stream = sse_connect("GET", "https://m.test/s", {})
  return [sse_receive(stream).type, sse_receive(stream), sse_receive(stream)]
}`,
  },
);
