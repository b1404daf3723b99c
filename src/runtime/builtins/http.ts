import type { HttpResponse } from '../../platform/platform.ts';
import { bytesArgument, intArgument, optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context, Run } from '../context.ts';
import { dictEntries, dictGet, dictHas, dictOf, mergeDicts } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { thrownText, typeError } from '../errors.ts';
import { orThrow } from '../file-errors.ts';
import { EgressPolicy } from '../http/egress.ts';
import { sendRequest } from '../http/http-client.ts';
import { HttpMocks, type MockResponse } from '../http/http-mocks.ts';
import { outgoingRequest } from '../http/http-options.ts';
import { stringify } from '../json.ts';
import { Dict, type Value } from '../value.ts';
import { absolutePath } from './files.ts';

// ---- requests ----

function headersOf(response: HttpResponse): Dict {
  return dictOf(Object.entries(response.headers));
}

function facts(response: HttpResponse): [string, Value][] {
  return [
    ['status', response.status],
    ['headers', headersOf(response)],
    ['ok', response.status >= 200 && response.status < 300],
  ];
}

async function request(context: Context, method: string, url: Value, options: Value, body?: Value): Promise<Dict> {
  const given = optionsArgument(options);
  const session = textOption(given, 'session');
  const merged = session === undefined ? given : withSession(context, session, given);
  const response = await sendRequest(context, outgoingRequest(context, method, url, merged, body));
  return dictOf([...facts(response), ['body', await response.text()]]);
}

/** `http_post(url, {multipart: […]})`: options may stand in the place of the body. */
function requestWithBody(context: Context, method: string, url: Value, body: Value, options: Value): Promise<Dict> {
  const areOptions = options === undefined && body instanceof Dict && dictHas(body, 'multipart');
  return areOptions ? request(context, method, url, body) : request(context, method, url, options, body);
}

async function download(context: Context, url: Value, target: Value, options: Value): Promise<Dict> {
  const response = await sendRequest(context, outgoingRequest(context, 'GET', url, optionsArgument(options)));
  const path = absolutePath(context, target);
  const prefix = `Failed to write file ${textArgument(target)}`;
  const file = orThrow(prefix, () => context.run.platform.files.open(path, 'truncate'));
  let written = 0;
  try {
    for await (const chunk of response.stream()) {
      orThrow(prefix, () => file.write(chunk));
      written += chunk.length;
    }
  } finally {
    file.close();
  }
  return dictOf([['bytes_written', written], ...facts(response)]);
}

// ---- sessions and streams ----

interface OpenStream {
  readonly response: HttpResponse;
  readonly chunks: AsyncIterator<Uint8Array>;
  rest: Uint8Array;
}

interface HttpHandles {
  readonly sessions: Map<string, Dict>;
  readonly streams: Map<string, OpenStream>;
  last: number;
}

const HANDLES = Symbol('http handles');

function handles(run: Run): HttpHandles {
  return run.service(HANDLES, () => ({ sessions: new Map(), streams: new Map(), last: 0 }));
}

/** The options of a session, overridden by those of the call; headers are merged one by one. */
function withSession(context: Context, id: string, options: Dict): Dict {
  const defaults = handles(context.run).sessions.get(id);
  if (defaults === undefined) throw thrownText(`http_session_request: unknown session ${id}`);
  const merged = mergeDicts(defaults, options);
  const [common, own] = [dictGet(defaults, 'headers'), dictGet(options, 'headers')];
  return common instanceof Dict && own instanceof Dict ? mergeDicts(merged, dictOf([['headers', mergeDicts(common, own)]])) : merged;
}

function streamOf(context: Context, name: string, id: Value): OpenStream {
  const stream = handles(context.run).streams.get(textArgument(id));
  if (stream === undefined) throw thrownText(`${name}: unknown stream ${textArgument(id)}`);
  return stream;
}

async function readStream(stream: OpenStream, maxBytes: number): Promise<Value> {
  while (stream.rest.length === 0) {
    const next = await stream.chunks.next();
    if (next.done === true) return undefined;
    stream.rest = next.value;
  }
  const piece = stream.rest.slice(0, maxBytes);
  stream.rest = stream.rest.subarray(piece.length);
  return piece;
}

// ---- mocks ----

function mockResponse(value: Value): MockResponse {
  const given = optionsArgument(value);
  const headers = dictGet(given, 'headers');
  const body = dictGet(given, 'body');
  const status = dictGet(given, 'status');
  return {
    status: intArgument(status, 200),
    headers:
      headers instanceof Dict
        ? Object.fromEntries(dictEntries(headers).map(([name, item]) => [name.toLowerCase(), textArgument(item)]))
        : {},
    body: body instanceof Dict || Array.isArray(body) ? new TextEncoder().encode(stringify(body)) : bytesArgument(body),
  };
}

function mockResponses(value: Value): readonly MockResponse[] {
  const several = value instanceof Dict ? dictGet(value, 'responses') : undefined;
  return Array.isArray(several) && several.length > 0 ? several.map(mockResponse) : [mockResponse(value)];
}

function mockCalls(context: Context, options: Value): Value {
  const given = optionsArgument(options);
  const withSecrets = isTruthy(dictGet(given, 'include_sensitive')) || dictGet(given, 'redact_sensitive') === false;
  return HttpMocks.of(context.run)
    .calls(withSecrets)
    .map((call) =>
      dictOf([
        ['method', call.method],
        ['url', call.url],
        ['headers', dictOf(Object.entries(call.headers))],
        ['body', call.body],
      ]),
    );
}

function installPolicy(context: Context, config: Value): Value {
  if (!(config instanceof Dict)) throw typeError('egress_policy: expected a dict');
  const rules = (name: string): string[] => {
    const value = dictGet(config, name);
    return Array.isArray(value) ? value.map((item: Value) => textArgument(item)) : [];
  };
  const byDefault = textOption(config, 'default') ?? 'allow';
  if (byDefault !== 'allow' && byDefault !== 'deny') throw thrownText(`egress_policy: default must be allow or deny, got ${byDefault}`);
  try {
    EgressPolicy.of(context.run).install({ allow: rules('allow'), deny: rules('deny'), byDefault });
  } catch (error) {
    throw thrownText((error as Error).message);
  }
  return config;
}

const REQUEST = 'Gives `{status, headers, body, ok}`; a status outside 200..299 does not throw, a failure of the network does.';

/** HTTP client, its mocks, and the egress policy (spec/language.md 12.9, 12.15). */
export const HTTP: BuiltinGroup = {
  name: 'http',
  title: 'HTTP client',
  errors: [
    { text: 'HTTP request failed: …', when: 'the network failed; `error_category` says how' },
    { text: 'HTTP request timed out after Nms: METHOD URL', when: '`timeout_ms` is over' },
    {
      text: 'http_request: invalid url: U',
      when: 'also `url is required`, `unsupported scheme: S`, `invalid proxy: U` and `pinned_sha256 must be 64 hex digits, got S`',
    },
    { text: 'NAME: unknown stream ID', when: '`http_stream_…` after its end; `http_session_request: unknown session ID` likewise' },
    {
      text: '{category, host, message, port, reason, type, url}',
      when: '`egress_policy` refuses the host; the category is `egress_blocked`',
    },
  ],
  builtins: {
    http_get: {
      signature: '(url: any, options: HttpOptions | dict | any = nil) -> dict',
      doc: `GET. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, url, options) => request(c, 'GET', url, options),
    },
    http_delete: {
      signature: '(url: any, options: HttpOptions | dict | any = nil) -> dict',
      doc: `DELETE. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, url, options) => request(c, 'DELETE', url, options),
    },
    http_post: {
      signature: '(url: any, body: any = nil, options: HttpOptions | dict | any = nil) -> dict',
      doc: `POST; a dict is sent as JSON. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, url, body, options) => requestWithBody(c, 'POST', url, body, options),
    },
    http_put: {
      signature: '(url: any, body: any = nil, options: HttpOptions | dict | any = nil) -> dict',
      doc: `PUT; a dict is sent as JSON. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, url, body, options) => requestWithBody(c, 'PUT', url, body, options),
    },
    http_patch: {
      signature: '(url: any, body: any = nil, options: HttpOptions | dict | any = nil) -> dict',
      doc: `PATCH; a dict is sent as JSON. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, url, body, options) => requestWithBody(c, 'PATCH', url, body, options),
    },
    http_request: {
      signature: '(method: any, url: any, options: HttpOptions | dict | any = nil) -> dict',
      doc: `Any method; the body is \`options.body\`. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, method, url, options) => request(c, textArgument(method, 'GET'), url, options),
    },
    http_download: {
      signature: '(url: any, path: any, options: HttpOptions | dict | any = nil) -> dict',
      doc: 'Writes a response to a file as it arrives: `{bytes_written, status, headers, ok}`.',
      colour: 'async',
      call: (c, _d, url, path, options) => download(c, url, path, options),
    },
    http_session: {
      signature: '(options: any = nil) -> string',
      doc: 'Keeps options, such as headers, for several requests. Gives the id of the session.',
      call: (c, _d, options) => {
        const state = handles(c.run);
        const id = `http_session_${++state.last}`;
        state.sessions.set(id, optionsArgument(options));
        return id;
      },
    },
    http_session_request: {
      signature: '(session: any, method: any, url: any, options: HttpOptions | dict | any = nil) -> dict',
      doc: `A request with the options of a session. ${REQUEST}`,
      colour: 'async',
      call: (c, _d, session, method, url, options) =>
        request(c, textArgument(method, 'GET'), url, mergeDicts(optionsArgument(options), dictOf([['session', textArgument(session)]]))),
    },
    http_session_close: {
      signature: '(session: any) -> bool',
      doc: 'Forgets a session; false when there was none.',
      call: (c, _d, session) => handles(c.run).sessions.delete(textArgument(session)),
    },
    http_stream_open: {
      signature: '(url: any, options: any = nil) -> string',
      doc: 'Begins to read a response. Gives the id of the stream.',
      colour: 'async',
      call: async (c, _d, url, options) => {
        const given = optionsArgument(options);
        const response = await sendRequest(c, outgoingRequest(c, textOption(given, 'method') ?? 'GET', url, given));
        const state = handles(c.run);
        const id = `http_stream_${++state.last}`;
        state.streams.set(id, { response, chunks: response.stream()[Symbol.asyncIterator](), rest: new Uint8Array() });
        return id;
      },
    },
    http_stream_read: {
      signature: '(stream: any, max_bytes: any = 65536) -> bytes | nil',
      doc: 'The next bytes of a response; nil at its end.',
      colour: 'async',
      call: (c, _d, id, maxBytes) => readStream(streamOf(c, 'http_stream_read', id), Math.max(1, intArgument(maxBytes, 65_536))),
    },
    http_stream_info: {
      signature: '(stream: any) -> dict',
      doc: '`{status, headers, ok}` of an open stream.',
      call: (c, _d, id) => dictOf(facts(streamOf(c, 'http_stream_info', id).response)),
    },
    http_stream_close: {
      signature: '(stream: any) -> bool',
      doc: 'Ends a stream; false when there was none.',
      colour: 'async',
      call: async (c, _d, id) => {
        const { streams } = handles(c.run);
        const stream = streams.get(textArgument(id));
        await stream?.chunks.return?.();
        return streams.delete(textArgument(id));
      },
    },
    http_mock: {
      signature: '(method: any, pattern: any, response: any = nil) -> nil',
      doc: 'Prepares the answer to requests whose URL matches a pattern with `*`. Of several that match, the one with the most text beside its `*` answers.',
      call: (c, _d, method, pattern, response) =>
        HttpMocks.of(c.run).register(textArgument(method, '*'), textArgument(pattern, '*'), mockResponses(response)),
    },
    http_mock_calls: {
      signature: '(options: any = nil) -> list',
      doc: '`{method, url, headers, body}` of the requests that mocks answered, secrets blotted out.',
      call: (c, _d, options) => mockCalls(c, options),
    },
    http_mock_clear: {
      signature: '() -> nil',
      doc: 'Forgets all mocks and calls.',
      call: (c) => HttpMocks.of(c.run).clear(),
    },
    egress_policy: {
      signature: '(config: any) -> dict',
      doc: 'Says which hosts the HTTP, SSE and WebSocket builtins may reach: `{allow, deny, default}`. A refused request is an error of the category `egress_blocked`. Model services and MCP servers are reached as they are configured.',
      call: (c, _d, config) => installPolicy(c, config),
    },
  },
};
