import { describe, expect, test } from 'vitest';
import { createFakePlatform, type FakePlatformOptions } from '../../../src/platform/fake-platform.ts';
import type { HttpRequest } from '../../../src/platform/platform.ts';
import { expressionTable } from '../expression-table.ts';
import { runText } from '../run-text.ts';

/** Runs a script against a scripted network; `asked` is what reached it. */
async function run(text: string, respond?: FakePlatformOptions['respond']): Promise<{ out: string; asked: HttpRequest[] }> {
  const asked: HttpRequest[] = [];
  const platform = createFakePlatform({
    respond: (request) => {
      asked.push(request);
      if (respond === undefined) throw Object.assign(new Error('no network'), { code: 'ECONNREFUSED' });
      return respond(request);
    },
  });
  const { out, outcome } = await runText(`mock_time(0)\n${text}`, platform);
  expect(outcome).toMatchObject({ kind: 'value' });
  return { out, asked };
}

describe('requests', () => {
  test('a status outside 200..299 is an answer, not an error', async () => {
    const { out } = await run('let r = http_get("http://a.test/")\nprint("${r.status} ${r.ok} ${r.body} ${r.headers}")', () => ({
      status: 404,
      headers: { 'x-a': '1' },
      body: 'gone',
    }));
    expect(out).toBe('404 false gone {x-a: 1}');
  });

  test('the way to the server: a proxy with credentials, hosts without it, certificates', async () => {
    const { asked } = await run(
      `let proxy = {url: "http://proxy.test:8080", no_proxy: ".inner.test, other.test"}
http_get("http://a.test/", {proxy: "http://proxy.test", proxy_auth: {user: "u", pass: "p"}})
http_get("http://x.inner.test/", {proxy: proxy})
http_get("http://notinner.test/", {proxy: proxy, tls: {pinned_sha256: ["${'AB:'.repeat(31)}AB"]}})`,
      () => ({}),
    );
    expect(asked.map(({ route }) => route)).toEqual([
      { proxy: { url: 'http://proxy.test', authorization: 'Basic dTpw' } },
      undefined,
      { proxy: { url: 'http://proxy.test:8080' }, tls: { pinnedSha256: ['ab'.repeat(32)] } },
    ]);
  });

  test('the boundary of a multipart body is always the same, unless a part holds it', async () => {
    const { asked } = await run(
      `http_post("http://a.test/", {multipart: [{name: "a", value: "x"}]})
http_post("http://a.test/", {multipart: [{name: "a", value: "harn-boundary"}]})`,
      () => ({}),
    );
    expect(asked[0]?.headers['content-type']).toBe('multipart/form-data; boundary=harn-boundary');
    expect(asked[1]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=harn-(?!boundary$)/);
  });

  test('a dict is sent as JSON, a text as it is, and headers are lower case', async () => {
    const { asked } = await run(
      `http_post("http://a.test/", {b: 1, a: [true]})
http_put("http://a.test/", "raw", {headers: {["X-Y"]: 5}})
http_patch("http://a.test/", bytes_from_string("b"))`,
      () => ({}),
    );
    expect(asked.map(({ method, headers }) => [method, headers['content-type'], headers['x-y']])).toEqual([
      ['POST', 'application/json', undefined],
      ['PUT', undefined, '5'],
      ['PATCH', 'application/octet-stream', undefined],
    ]);
    expect(asked.slice(0, 2).map(({ body }) => body)).toEqual(['{"a":[true],"b":1}', 'raw']);
  });

  test('query and auth become part of the request', async () => {
    const { asked } = await run(
      `http_get("http://a.test/p?x=1", {query: {b: "c d", none: nil}, auth: {bearer: "t"}})
http_get("http://a.test/p", {auth: {basic: {user: "u", password: "p"}}})`,
      () => ({}),
    );
    expect(asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['http://a.test/p?x=1&b=c%20d', 'Bearer t'],
      ['http://a.test/p', `Basic ${Buffer.from('u:p').toString('base64')}`],
    ]);
  });

  test('a failure of the network is a text of the category transient_network', async () => {
    const { out } = await run('try { http_get("http://a.test/") } catch (e) { print("${e} ${error_category(e)}") }');
    expect(out).toBe('HTTP request failed: connection refused (a.test) transient_network');
  });

  test.each([
    ['GET', 'http_get("http://a.test/", {retry: {max: 2, backoff_ms: 5}}).status', 3, '200'],
    ['POST', 'http_post("http://a.test/", "x", {retry: {max: 2, backoff_ms: 5}}).status', 1, '503'],
    ['POST by wish', 'http_post("http://a.test/", "x", {retry: {max: 2, backoff_ms: 5}, retry_methods: ["post"]}).status', 3, '200'],
    ['another status', 'http_get("http://a.test/", {retry: {max: 2, backoff_ms: 5}, retry_on: [418]}).status', 1, '503'],
  ])('%s is tried again only as far as it may be', async (_name, call, attempts, status) => {
    let left = 2;
    const { out, asked } = await run(`print(${call})`, () => ({ status: left-- > 0 ? 503 : 200 }));
    expect([asked.length, out]).toEqual([attempts, status]);
  });

  test('a redirect to another host loses the credentials and turns POST into GET', async () => {
    const { out, asked } = await run('print(http_post("http://a.test/", "x", {auth: {bearer: "t"}}).body)', ({ url }) =>
      url === 'http://a.test/' ? { status: 302, headers: { location: 'http://b.test/next' } } : { body: 'there' },
    );
    expect(out).toBe('there');
    expect(asked.map(({ method, url, headers, body }) => [method, url, headers.authorization, body])).toEqual([
      ['POST', 'http://a.test/', 'Bearer t', 'x'],
      ['GET', 'http://b.test/next', undefined, undefined],
    ]);
  });

  test('a redirect cannot lead past the egress policy', async () => {
    const { out, asked } = await run(
      'egress_policy({allow: ["a.test"], default: "deny"})\ntry { http_get("http://a.test/") } catch (e) { print("${e.type} ${e.host} ${error_category(e)}") }',
      () => ({ status: 302, headers: { location: 'http://b.test/' } }),
    );
    expect([out, asked.length]).toEqual(['EgressBlocked b.test egress_blocked', 1]);
  });

  test('a download writes what arrives', async () => {
    const { out } = await run(
      'let r = http_download("http://a.test/f", "/f.txt")\nprint("${r.bytes_written} ${read_file("/f.txt")}")',
      () => ({
        body: ['ab', 'cde'],
      }),
    );
    expect(out).toBe('5 abcde');
  });

  test('a stream is read in pieces of at most the given size', async () => {
    const { out } = await run(
      'let s = http_stream_open("http://a.test/")\nprint([bytes_to_string(http_stream_read(s, 2)), bytes_to_string(http_stream_read(s)), http_stream_read(s), http_stream_close(s), http_stream_close(s)])',
      () => ({ body: ['abc'] }),
    );
    expect(out).toBe('[ab, c, nil, true, false]');
  });
});

expressionTable(
  'mocks and the egress policy',
  [
    ['http_get("http://m.test/once").body', '1'],
    ['http_get("http://m.test/once").body', '2'],
    ['http_get("http://m.test/once").body', '2'],
    ['http_get("http://m.test/wild/x/y").status', '201'],
    ['http_delete("http://m.test/any").body', '{"a":1}'],
    ['[http_get("http://m.test/wild/exact").body, http_get("http://m.test/wild/other").status]', '[exact, 201]'],
    ['http_mock_calls()[0]', '{body: nil, headers: {}, method: GET, url: http://m.test/once}'],
    ['secret().url', 'http://m.test/any?token=%5Bredacted%5D&page=2'],
    ['secret().headers', '{authorization: [redacted], x: 1}'],
    ['http_mock_calls({include_sensitive: true})[-1].headers.authorization', 'Bearer s'],
    ['http_get("")', 'error: http_request: url is required'],
    ['http_get("nonsense")', 'error: http_request: invalid url: nonsense'],
    ['http_get("ftp://a.test/")', 'error: http_request: unsupported scheme: ftp'],
    ['http_get("http://m.test/any", {proxy: "ftp://p"})', 'error: http_request: invalid proxy: ftp://p'],
    ['http_get("http://m.test/any", {tls: {pinned_sha256: "xyz"}})', 'error: http_request: pinned_sha256 must be 64 hex digits, got xyz'],
    [
      'http_get("http://m.test/any", {tls: {ca_bundle_path: "/nowhere/at/all"}})',
      'error: Failed to read file /nowhere/at/all: No such file or directory (os error 2)',
    ],
    ['http_session_request(http_session({headers: {a: "1"}}), "GET", "http://m.test/any", {headers: {b: "2"}}).status', '200'],
    ['http_mock_calls()[-1].headers', '{a: 1, b: 2}'],
    ['http_session_close("none")', 'false'],
    ['egress_policy({default: "maybe"})', 'error: egress_policy: default must be allow or deny, got maybe'],
    ['reach(["m.test"], [], "http://m.test/any")', 'ok'],
    ['reach(["*.m.test"], [], "http://m.test/any")', 'EgressBlocked'],
    ['reach(["*.test"], [], "http://m.test/any")', 'ok'],
    ['reach(["m.test:443"], [], "http://m.test/any")', 'EgressBlocked'],
    ['reach(["127.0.0.0/8"], [], "http://127.3.4.5/any")', 'ok'],
    ['reach(["127.0.0.0/8"], ["127.3.4.5"], "http://127.3.4.5/any")', 'EgressBlocked'],
    ['reach(["[::1]:80"], [], "http://[::1]/any")', 'ok'],
  ],
  {
    platform: createFakePlatform(),
    setup: `http_mock("*", "*/any*", {body: {a: 1}})
http_mock("GET", "http://m.test/once", {responses: [{body: "1"}, {body: "2"}]})
http_mock("get", "http://m.test/wild/*", {status: 500})
http_mock("GET", "http://m.test/wild/*", {status: 201})
http_mock("GET", "http://m.test/wild/exact", {body: "exact"})
fn secret() {
  http_get("http://m.test/any?token=s&page=2", {headers: {Authorization: "Bearer s", x: 1}})
  return http_mock_calls()[-1]
}
fn reach(allow, deny, url) {
  egress_policy({allow: allow, deny: deny, default: "deny"})
  try { http_get(url) } catch (e) { return e.type }
  return "ok"
}`,
  },
);

expressionTable(
  'the in-process server',
  [
    ['ask("GET", "/a/1%202?q=x").body', 'GET /a/1%202 1 2 x before'],
    ['ask("GET", "/a/1").headers', '{content-type: text/plain; charset=utf-8, x-after: yes}'],
    ['ask("POST", "/a/1").status', '405'],
    ['ask("POST", "/a/1").headers.allow', 'GET'],
    ['ask("GET", "/none").status', '404'],
    ['ask("GET", "/stop").status', '403'],
    ['ask("GET", "/nothing").status', '204'],
    ['ask("GET", "/json").body', '[1,{"a":2}]'],
    ['http_server_test(server, {method: "POST", path: "/small", body: "12345"}).status', '413'],
    ['http_server_test(server, {method: "POST", path: "/small", body: "1234"}).body', '4 nil'],
    ['[http_header({["X-Y"]: "1"}, "x-y"), http_header({headers: {a: "2"}}, "A"), http_header({}, "a")]', '[1, 2, nil]'],
    ['http_response_json({a: 1}, {status: 202})', '{body: {"a":1}, headers: {content-type: application/json}, status: 202}'],
    ['http_server_ready(server)', 'true'],
    ['[http_server_set_ready(server, false), ask("GET", "/json").status, http_server_set_ready(server, true)]', '[false, 503, true]'],
    ['[http_server_shutdown(server), http_server_shutdown(server), ask("GET", "/json").status]', '[true, false, 503]'],
    ['http_server_route("nope", "GET", "/", { r -> 1 })', 'error: http_server_route: unknown server nope'],
    [
      'http_server_security_headers(http_server_tls_edge({hsts_max_age_seconds: 5, hsts_preload: true}))',
      '{strict-transport-security: max-age=5; preload}',
    ],
    ['[http_server_security_headers(http_server_tls_plain()), http_server_tls_plain().scheme]', '[{}, http]'],
  ],
  {
    setup: `let server = http_server({max_body_bytes: 100})
http_server_before(server, { req -> if req.path == "/stop" { http_response(403) } else { req + {mark: "before"} } })
http_server_after(server, { response, req -> response + {headers: response.headers + {["x-after"]: "yes"}} })
http_server_route(server, "get", "/a/{id}", { req -> "\${req.method} \${req.path} \${req.params.id} \${req.query.q} \${req.mark}" })
http_server_route(server, "GET", "/stop", { req -> "never" })
http_server_route(server, "GET", "/nothing", { req -> nil })
http_server_route(server, "GET", "/json", { req -> [1, {a: 2}] })
http_server_route(server, "POST", "/small", { req -> "\${req.body_bytes} \${req.raw_body}" }, {max_body_bytes: 4, retain_raw_body: false})
fn ask(method, path) { return http_server_test(server, {method: method, path: path}) }`,
  },
);
