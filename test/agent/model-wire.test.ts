import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallEvent } from '../../src/agent/model-call/model-call.ts';
import { answerMessage } from '../../src/agent/providers/answer-message.ts';
import type { ModelRequest, ToolSpec } from '../../src/agent/providers/provider.ts';
import type { Message } from '../../src/agent/transcript/message.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { asker, cutClient, fault, KEY, request } from './ask-model.ts';
import { anthropicText, type ModelServer, openAiText, type Reply, sse, startModelServer } from './model-server.ts';

/** Adapters against servers on the loopback interface that speak the real formats. */
const STREAMS = {
  openai: readFileSync('fixtures/model-wire/openai.sse', 'utf8'),
  anthropic: readFileSync('fixtures/model-wire/anthropic.sse', 'utf8'),
  ollama: readFileSync('fixtures/model-wire/ollama.ndjson', 'utf8'),
};
type Name = keyof typeof STREAMS;
const NAMES = Object.keys(STREAMS) as Name[];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const ask = asker(() => server.url);

const EXPECTED = {
  text: 'Grüß dich 😀',
  toolCalls: [
    { name: 'read', arguments: { path: 'ü' } },
    { name: 'list', arguments: { depth: 2 } },
  ],
  stopReason: 'tool_use',
  usage: { input_tokens: 90, output_tokens: 40 },
};

describe('answers', () => {
  test.each(NAMES)('%s: the same answer wherever the stream is cut in two', async (provider) => {
    const size = new TextEncoder().encode(STREAMS[provider]).length;
    for (let at = 1; at < size; at++) {
      const answer = await ask({ provider, http: cutClient(STREAMS[provider], at) });
      expect(answer, `cut at byte ${at}`).toMatchObject(EXPECTED);
    }
  });

  test.each(NAMES)('%s: byte by byte from a server, deltas in order', async (provider) => {
    server.reply({ body: STREAMS[provider], pieceBytes: 1 });
    const events: CallEvent[] = [];
    const answer = await ask({ provider, onEvent: (event) => events.push(event) });
    expect(answer).toMatchObject(EXPECTED);
    const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(texts).toEqual(['Grüß', ' dich 😀']);
    const last = events.findLast((event) => event.type === 'tool_arguments');
    expect(last).toMatchObject({ name: 'list', partial: expect.stringMatching(/^\{"depth":\s*2\}$/) });
  });

  test('ids of the service are kept, thinking comes with its signature, caches are counted', async () => {
    server.reply({ body: STREAMS.anthropic });
    const answer = await ask({ provider: 'anthropic' });
    expect(answer.toolCalls.map((call) => call.id)).toEqual(['call_a', 'call_b']);
    expect(answer).toMatchObject({
      thinking: 'Hm, höflich.',
      carried: [
        { type: 'reasoning', text: 'Hm, höflich.', signature: 'EqQB' },
        { type: 'text', text: 'Grüß dich 😀' },
      ],
      model: 'claude-sonnet-4-20250514',
    });
    expect(answer.usage).toMatchObject({ cache_read_tokens: 50, cache_write_tokens: 10 });
  });

  const WHOLE: readonly (readonly [provider: Name, body: JsonObject])[] = [
    [
      'openai',
      {
        model: 'gpt-4o',
        choices: [
          {
            message: {
              role: 'assistant',
              content: 'Grüß dich 😀',
              tool_calls: [
                { id: 'call_a', type: 'function', function: { name: 'read', arguments: '{"path":"ü"}' } },
                { id: 'call_b', type: 'function', function: { name: 'list', arguments: '{"depth":2}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 90, completion_tokens: 40 },
      },
    ],
    [
      'anthropic',
      {
        type: 'message',
        model: 'claude-sonnet-4',
        content: [
          { type: 'text', text: 'Grüß dich 😀' },
          { type: 'tool_use', id: 'call_a', name: 'read', input: { path: 'ü' } },
          { type: 'tool_use', id: 'call_b', name: 'list', input: { depth: 2 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 90, output_tokens: 40 },
      },
    ],
    [
      'ollama',
      {
        message: {
          content: 'Grüß dich 😀',
          tool_calls: [{ function: { name: 'read', arguments: { path: 'ü' } } }, { function: { name: 'list', arguments: { depth: 2 } } }],
        },
        done: true,
        prompt_eval_count: 90,
        eval_count: 40,
      },
    ],
  ];
  test.each(WHOLE)('%s: stream: false gives the same answer in one document', async (provider, body) => {
    server.reply({ headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) });
    const answer = await ask({ provider, change: { options: { stream: false } } });
    expect(answer).toMatchObject(EXPECTED);
    expect(server.received.at(-1)?.body.stream).toBe(false);
  });

  test('HARN_LLM_STREAM turns streaming off', async () => {
    server.reply({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(WHOLE[0]?.[1]) });
    await ask({ env: { HARN_LLM_STREAM: '0' } });
    expect(server.received.at(-1)?.body.stream).toBe(false);
  });

  const PECULIAR: readonly (readonly [what: string, deltas: readonly JsonObject[]])[] = [
    [
      'calls without an index',
      [
        { tool_calls: [{ id: 'a', function: { name: 'read', arguments: '{"path":"ü"}' } }] },
        { tool_calls: [{ id: 'b', function: { name: 'list', arguments: '{"depth":2}' } }] },
      ],
    ],
    [
      'every call with index 0',
      [
        { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{"path":"ü"}' } }] },
        { tool_calls: [{ index: 0, id: 'b', function: { name: 'list', arguments: '{"depth":2}' } }] },
      ],
    ],
    [
      'the name again in every piece, and the same id',
      [
        { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{"pa' } }] },
        { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: 'th":"ü"}' } }] },
        { tool_calls: [{ index: 1, id: 'b', function: { name: 'list', arguments: '{"depth":2}' } }] },
      ],
    ],
    [
      'arguments as an object, no ids',
      [
        {
          tool_calls: [{ function: { name: 'read', arguments: { path: 'ü' } } }, { function: { name: 'list', arguments: { depth: 2 } } }],
        },
      ],
    ],
  ];
  test.each(PECULIAR)('compatible servers: %s, no usage, `stop` after calls', async (_what, deltas) => {
    server.reply({
      body: sse(...deltas.map((delta) => ({ choices: [{ delta }] })), { choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]'),
    });
    const answer = await ask({});
    expect(answer).toMatchObject({ toolCalls: EXPECTED.toolCalls, stopReason: 'tool_use', usage: { input_tokens: 0 } });
    expect(new Set(answer.toolCalls.map((call) => call.id)).size).toBe(2);
  });

  test('arguments that are no JSON come back as they were, for the tool to refuse', async () => {
    const call = { index: 0, id: 'a', function: { name: 'read', arguments: '{"path": ' } };
    server.reply({ body: sse({ choices: [{ delta: { tool_calls: [call] } }] }, { choices: [{ delta: {}, finish_reason: 'length' }] }) });
    const answer = await ask({});
    expect(answer).toMatchObject({ toolCalls: [{ arguments: { _unparsed: '{"path": ' } }], stopReason: 'max_tokens' });
  });

  test.each(NAMES)('%s: a connection is used again for the next turn', async (provider) => {
    const before = server.connections();
    for (let turn = 0; turn < 6; turn++) {
      server.reply({ body: STREAMS[provider] });
      await ask({ provider });
    }
    // On a machine with far more work than cores the end of a body may come too late now and then.
    expect(server.connections() - before).toBeLessThan(4);
  });

  test('a server that leaves the connection open after the answer holds nobody up', async () => {
    server.reply({ body: STREAMS.openai, end: 'silence' });
    await expect(ask({})).resolves.toMatchObject(EXPECTED);
    await server.received.at(-1)?.disconnected;
  });
});

interface FaultRow {
  readonly what: string;
  readonly reply: Reply;
  readonly provider?: Name;
  readonly expected: JsonObject;
}

const refusal = (message: string, more: JsonObject = {}): string => JSON.stringify({ error: { message, ...more } });
const json = { 'content-type': 'application/json' };
const inTenSeconds = (): string => new Date(Math.ceil(Date.now() / 1000) * 1000 + 10_000).toUTCString();

const FAULTS: readonly FaultRow[] = [
  {
    what: '401 that repeats the key',
    reply: { status: 401, headers: json, body: refusal(`Incorrect API key provided: ${KEY}`) },
    expected: { category: 'auth', kind: 'terminal', message: 'openai answered 401: Incorrect API key provided: [key]' },
  },
  {
    what: '429 with Retry-After in seconds',
    reply: { status: 429, headers: { 'retry-after': '7' }, body: refusal('slow down') },
    expected: { category: 'rate_limit', kind: 'transient', retry_after_ms: 7000 },
  },
  {
    what: '429 with retry-after-ms',
    reply: { status: 429, headers: { 'retry-after': '7', 'retry-after-ms': '250' }, body: '' },
    expected: { category: 'rate_limit', retry_after_ms: 250 },
  },
  {
    what: '500 with a page',
    reply: { status: 500, body: '<html>' },
    expected: { category: 'server_error', message: 'openai answered 500: it does not say why' },
  },
  {
    what: '529',
    provider: 'anthropic',
    reply: {
      status: 529,
      headers: json,
      body: JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    },
    expected: { category: 'overloaded', kind: 'transient', message: 'anthropic answered 529: Overloaded' },
  },
  {
    what: 'a redirect',
    reply: { status: 307, headers: { location: 'http://127.0.0.1:1/' } },
    expected: { category: 'generic', kind: 'terminal', message: expect.stringContaining('check the base URL') as unknown as string },
  },
  {
    what: 'a context that is too long, by code',
    reply: { status: 400, headers: json, body: refusal('too much', { code: 'context_length_exceeded' }) },
    expected: { category: 'generic', reason: 'context_overflow', kind: 'terminal' },
  },
  {
    what: 'a context that is too long, in words',
    provider: 'anthropic',
    reply: { status: 400, headers: json, body: refusal('prompt is too long: 250000 tokens > 200000 maximum') },
    expected: { category: 'generic', reason: 'context_overflow' },
  },
  {
    what: 'a model that is not there',
    provider: 'ollama',
    reply: { status: 404, headers: json, body: JSON.stringify({ error: "model 'm' not found" }) },
    expected: { category: 'not_found', message: "ollama answered 404: model 'm' not found" },
  },
  {
    what: 'a page instead of an answer',
    reply: { headers: { 'content-type': 'text/html' }, body: '<html>' },
    expected: { category: 'generic', kind: 'terminal', message: expect.stringContaining('check the base URL') as unknown as string },
  },
  {
    what: 'a reset in mid-stream',
    reply: { body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'reset' },
    expected: { category: 'transient_network', kind: 'transient', message: expect.stringContaining('broke off') as unknown as string },
  },
  {
    what: 'a clean end without a finish reason',
    reply: { body: sse({ choices: [{ delta: { content: 'half' } }] }) },
    expected: { category: 'transient_network', message: 'openai ended the stream before its answer was complete' },
  },
  {
    what: 'a clean end without a stop reason',
    provider: 'anthropic',
    reply: { body: STREAMS.anthropic.slice(0, STREAMS.anthropic.indexOf('event: message_delta')) },
    expected: { category: 'transient_network', message: 'anthropic ended the stream before its answer was complete' },
  },
  {
    what: 'an event that is no JSON',
    reply: { body: 'data: oops\n\n' },
    expected: { category: 'transient_network', message: 'openai sent a piece of its answer that is no JSON object' },
  },
  {
    what: 'an error event in the stream',
    reply: { body: sse({ choices: [{ delta: { content: 'half' } }] }, { error: { message: 'upstream is gone', code: 502 } }) },
    expected: { category: 'server_error', message: 'openai: upstream is gone' },
  },
  {
    what: 'an overload in the stream',
    provider: 'anthropic',
    reply: { body: sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }) },
    expected: { category: 'overloaded', message: 'anthropic: Overloaded' },
  },
  {
    what: 'an error line in the stream',
    provider: 'ollama',
    reply: { body: `${JSON.stringify({ error: 'out of memory' })}\n` },
    expected: { category: 'server_error', message: 'ollama: out of memory' },
  },
  {
    what: 'a refusal in words',
    reply: { body: sse({ choices: [{ delta: { refusal: 'I cannot.' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }) },
    expected: { category: 'generic', reason: 'content_policy', message: 'the model refused: I cannot.' },
  },
  {
    what: 'a content filter',
    reply: { body: sse({ choices: [{ delta: {}, finish_reason: 'content_filter' }] }) },
    expected: { category: 'generic', reason: 'content_policy', kind: 'terminal' },
  },
  {
    what: 'a refusal as stop reason',
    provider: 'anthropic',
    reply: { body: sse({ type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: {} }) },
    expected: { category: 'generic', reason: 'content_policy' },
  },
  {
    what: 'tokens that were counted and never delivered',
    reply: { body: sse({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: { completion_tokens: 12 } }) },
    expected: { category: 'server_error', kind: 'transient' },
  },
];

describe('faults (1.7)', () => {
  test.each(FAULTS)('$what', async ({ reply, provider = 'openai', expected }) => {
    server.reply(reply);
    expect(await fault(ask({ provider }))).toMatchObject(expected);
  });

  test('429 with Retry-After as a date', async () => {
    server.reply({ status: 429, headers: { 'retry-after': inTenSeconds() } });
    const { retry_after_ms: wait } = await fault(ask({}));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(11_000);
  });

  test('nobody listens', async () => {
    const gone = await startModelServer();
    await gone.close();
    const facts = await fault(ask({ env: { OPENAI_BASE_URL: `${gone.url}/v1` } }));
    expect(facts).toMatchObject({ category: 'transient_network', network_code: 'ECONNREFUSED' });
    expect(facts.message).toBe(`openai cannot be reached at ${gone.url}: the connection was refused (ECONNREFUSED)`);
  });

  test('an idle stream is given up, and the server sees the connection close', async () => {
    server.reply({ body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'silence' });
    const facts = await fault(ask({ change: { options: { idle_timeout: 0.05 } } }));
    expect(facts).toMatchObject({ category: 'timeout', message: 'openai sent nothing for 50 ms in the middle of its answer' });
    await server.received.at(-1)?.disconnected;
  });
});

describe('aborting (1.7)', () => {
  const half = sse({ choices: [{ delta: { content: 'half' } }] });
  const POINTS: readonly (readonly [point: string, reply: Reply])[] = [
    ['before the headers', { start: 'silence' }],
    ['before the first event', { body: ': hi\n\n', end: 'silence' }],
    ['in the middle of an event', { body: half.slice(0, 20), end: 'silence' }],
    ['between events', { body: half, end: 'silence' }],
    ['in an error body', { status: 500, body: '{"error":', end: 'silence' }],
  ];
  test.each(POINTS)('%s: the call rejects with the reason and the server sees the disconnect', async (_point, reply) => {
    server.reply(reply);
    const controller = new AbortController();
    const index = server.received.length;
    const asked = fault(ask({ signal: controller.signal, policy: { retries: 3 } }));
    const received = await server.arrived(index);
    controller.abort(new Error('enough'));
    expect(await asked).toEqual({ thrown: 'Error: enough' });
    await received.disconnected;
    expect(server.received.length).toBe(index + 1);
  });

  test('before the request: nothing is sent', async () => {
    const before = server.received.length;
    expect(await fault(ask({ signal: AbortSignal.abort(new Error('enough')) }))).toEqual({ thrown: 'Error: enough' });
    expect(server.received.length).toBe(before);
  });

  test('in the wait before a retry: no second request', async () => {
    server.reply({ status: 500 });
    const before = server.received.length;
    const controller = new AbortController();
    const onEvent = (event: CallEvent): void => {
      if (event.type === 'retry') controller.abort(new Error('enough'));
    };
    await fault(ask({ signal: controller.signal, policy: { retries: 3 }, onEvent }));
    expect(server.received.length).toBe(before + 1);
  });
});

describe('what is asked', () => {
  const image = (source: JsonObject) => [
    { role: 'user' as const, content: [{ type: 'image' as const, media_type: 'image/png', ...source }] },
  ];
  const PIXEL = { base64: 'iVBORw0KGgo=' };

  async function body(provider: Name, change: Partial<ModelRequest>): Promise<JsonObject> {
    server.reply({ body: STREAMS[provider] });
    await ask({ provider, change });
    return server.received.at(-1)?.body ?? {};
  }

  const IMAGES: readonly (readonly [provider: Name, model: string, expected: JsonObject])[] = [
    ['openai', 'gpt-4o', { content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }],
    ['anthropic', 'claude-x', { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL.base64 } }] }],
    ['ollama', 'llava', { images: [PIXEL.base64] }],
  ];
  test.each(IMAGES)('%s: an image', async (provider, model, expected) => {
    const { messages } = await body(provider, { model, system: undefined, messages: image(PIXEL) });
    expect((messages as JsonObject[])[0]).toMatchObject(expected);
  });

  test.each([
    ['openai', 'gpt-3.5-turbo', PIXEL, 'openai/gpt-3.5-turbo takes no images'],
    ['ollama', 'llava', { url: 'https://example.com/a.png' }, 'ollama takes images as base64 only, not by url'],
  ])('%s/%s: an image that cannot be seen is refused before any request', async (provider, model, source, message) => {
    const http = { request: () => Promise.reject(new Error('sent')) };
    expect(await fault(ask({ provider, http, change: { model, messages: image(source) } }))).toMatchObject({ kind: 'terminal', message });
  });

  test('settings of Ollama come together from the options of the call and from its own', async () => {
    const options = { temperature: 0.5, top_k: 3, ollama: { options: { num_ctx: 32_768, top_k: 5 }, keep_alive: '10m' } };
    expect(await body('ollama', { options })).toMatchObject({
      options: { temperature: 0.5, top_k: 5, num_ctx: 32_768 },
      keep_alive: '10m',
    });
  });

  const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } } };
  test('a schema goes into the request where the service takes one, else into the instructions', async () => {
    const options = { schema: SCHEMA };
    expect(await body('openai', { options })).toMatchObject({ response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } });
    expect(await body('ollama', { options })).toMatchObject({ format: SCHEMA });
    expect(JSON.stringify((await body('anthropic', { options })).system)).toContain('matches this JSON Schema');
    const unknown = { provider: 'my-proxy', env: { MY_PROXY_BASE_URL: `${server.url}/v1` }, change: { options } };
    server.reply({ body: STREAMS.openai });
    await ask(unknown);
    expect(server.received.at(-1)?.body).toMatchObject({ response_format: { type: 'json_object' } });
    expect(server.received.at(-1)?.text).toContain('matches this JSON Schema');
  });

  test('plain JSON is asked for in words as well, or OpenAI refuses', async () => {
    const { messages, response_format: format } = await body('openai', { options: { response_format: 'json' } });
    expect(format).toEqual({ type: 'json_object' });
    expect((messages as JsonObject[])[0]).toEqual({ role: 'system', content: 'be brief\n\nAnswer with one JSON value, and nothing else.' });
  });

  const THINKING: readonly (readonly [provider: Name, model: string, thinking: JsonObject | boolean, expected: JsonObject])[] = [
    ['anthropic', 'claude-opus-4-7', true, { thinking: { type: 'adaptive' } }],
    [
      'anthropic',
      'claude-opus-4-7',
      { mode: 'effort', level: 'low' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ],
    ['ollama', 'qwen3', { mode: 'disabled' }, { think: false }],
    ['ollama', 'qwen3', false, { think: false }],
    ['ollama', 'gpt-oss', { mode: 'effort', level: 'low' }, { think: 'low' }],
    ['anthropic', 'claude-x', true, { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    ['anthropic', 'claude-x', { mode: 'enabled', budget_tokens: 20_000 }, { thinking: { budget_tokens: 20_000 }, max_tokens: 36_384 }],
    ['anthropic', 'claude-x', { mode: 'adaptive' }, { thinking: { type: 'adaptive' } }],
    ['openai', 'o3', { mode: 'effort', level: 'high' }, { reasoning_effort: 'high', max_completion_tokens: 16_384 }],
    ['openai', 'o3', true, { reasoning_effort: 'medium' }],
    ['ollama', 'qwen3', true, { think: true }],
  ];
  test.each(THINKING)('%s/%s: thinking %j', async (provider, model, thinking, expected) => {
    expect(await body(provider, { model, options: { thinking } })).toMatchObject(expected);
  });

  test.each([
    ['openai', 'o3', { mode: 'disabled' }],
    ['openai', 'o3', false],
    ['openai', 'o3', undefined],
    ['anthropic', 'claude-x', { mode: 'disabled' }],
    ['anthropic', 'claude-opus-4-7', undefined],
    ['ollama', 'qwen3', undefined],
  ] as const)('%s/%s: thinking %j asks for none', async (provider, model, thinking) => {
    const sent = await body(provider, { model, options: thinking === undefined ? {} : { thinking } });
    for (const name of ['thinking', 'reasoning_effort', 'think', 'output_config']) expect(sent).not.toHaveProperty(name);
  });

  test('ollama: tools that may not be called are not shown', async () => {
    const tools = [{ name: 'read', description: 'Read', parameters: { type: 'object', properties: {} } }];
    expect(await body('ollama', { tools, toolChoice: 'none' })).not.toHaveProperty('tools');
    expect(await body('ollama', { tools })).toHaveProperty('tools');
  });

  test('a model with shorter answers is not asked for longer ones', async () => {
    expect(await body('anthropic', { model: 'claude-3-5-haiku-latest' })).toMatchObject({ max_tokens: 8192 });
  });

  test('deferred tools, where the service searches itself', async () => {
    const tools = [{ name: 'deploy', description: 'd', parameters: {}, deferLoading: true, namespace: 'ops' }];
    const native = await body('anthropic', { tools, toolSearch: { style: 'anthropic', variant: 'regex' } });
    expect(native.tools).toEqual([
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { name: 'deploy', description: 'd', input_schema: {}, defer_loading: true },
    ]);
    expect((await body('openai', { tools })).tools).toEqual([
      { type: 'function', function: { name: 'deploy', description: 'd', parameters: {} } },
    ]);
  });

  test('a schema has the type names of JSON Schema at every depth, whoever wrote it', async () => {
    const options = {
      schema: {
        type: 'dict',
        properties: { n: { type: 'int' }, l: { type: 'list', items: { anyOf: [{ type: 'nil' }, { type: 'any' }] } } },
      },
    };
    const standard = {
      type: 'object',
      properties: { n: { type: 'integer' }, l: { type: 'array', items: { anyOf: [{ type: 'null' }, {}] } } },
    };
    expect((await body('openai', { options })).response_format).toMatchObject({ json_schema: { schema: standard } });
    expect((await body('ollama', { options })).format).toEqual(standard);
    expect(JSON.stringify((await body('anthropic', { options })).system)).toContain(JSON.stringify(JSON.stringify(standard)).slice(1, -1));
  });

  describe('anthropic: a search that the service made itself', () => {
    const FOUND = { type: 'tool_search_tool_search_result', tool_references: [{ type: 'tool_reference', tool_name: 'deploy' }] };
    const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_bm25', input: { query: 'ship' } };
    const RESULT = { type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1', content: FOUND };
    const CALL = { type: 'tool_use', id: 'toolu_1', name: 'deploy', input: {} };
    const deploy: ToolSpec = { name: 'deploy', description: 'd', parameters: {}, deferLoading: true };
    const searching = { tools: [deploy], toolSearch: { style: 'anthropic', variant: 'bm25' } } as const;
    const usage = { input_tokens: 9, output_tokens: 4 };
    const STREAM = sse(
      { type: 'message_start', message: { model: 'm', usage } },
      { type: 'content_block_start', index: 0, content_block: { ...SEARCH, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"ship"}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: RESULT },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: CALL },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
      { type: 'message_stop' },
    );
    const MESSAGE = JSON.stringify({ type: 'message', model: 'm', content: [SEARCH, RESULT, CALL], stop_reason: 'tool_use', usage });
    const json = { 'content-type': 'application/json' };

    test.each([
      ['in a stream', { body: STREAM }],
      ['in one message', { headers: json, body: MESSAGE }],
    ] as const)('%s: it goes back as it came, before the call', async (_how, reply) => {
      server.reply(reply);
      const answer = await ask({ provider: 'anthropic', change: searching });
      expect(answer.toolCalls).toEqual([{ id: 'toolu_1', name: 'deploy', arguments: {} }]);
      const { provider, model } = request('anthropic');
      const messages: Message[] = [
        { role: 'user', content: 'go' },
        answerMessage({ provider, model }, answer, answer.toolCalls),
        { role: 'tool', tool_call_id: 'toolu_1', name: 'deploy', content: 'done' },
      ];
      expect((await body('anthropic', { ...searching, messages })).messages).toMatchObject([{}, { content: [SEARCH, RESULT, CALL] }, {}]);
      // The service refuses a reference to a tool that it is not told of, and a search nobody may make.
      for (const change of [{ ...searching, tools: [{ ...deploy, name: 'other' }] }, { tools: [deploy] }]) {
        expect((await body('anthropic', { ...change, messages })).messages).toMatchObject([{}, { content: [CALL] }, {}]);
      }
      expect((await body('anthropic', { ...searching, messages, model: 'another' })).messages).toMatchObject([{}, { content: [CALL] }, {}]);
    });

    test('without its result it does not go back', async () => {
      const service = { type: 'service', block: SEARCH, provider: 'anthropic', model: request('anthropic').model } as const;
      const messages: Message[] = [{ role: 'assistant', content: [service, { type: 'text', text: 'cut' }] }];
      expect((await body('anthropic', { ...searching, messages })).messages).toEqual([
        { role: 'assistant', content: [{ type: 'text', text: 'cut' }] },
      ]);
    });
  });

  test('anthropic: ids of another service are written so that they are taken, on both sides', async () => {
    const { messages } = await body('anthropic', {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: ' ', tool_calls: [{ id: 'call.1:a', name: 'read', arguments: {} }] },
        { role: 'tool', tool_call_id: 'call.1:a', name: 'read', content: 'A' },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1_a', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1_a', content: 'A' }] },
    ]);
  });
});

describe('retries', () => {
  const half: Reply = { body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'reset' };

  test('are told, with what of the text is void, and nothing of it is kept', async () => {
    server.reply({ status: 429, headers: { 'retry-after': '2' }, body: refusal('slow down') }, half, { body: openAiText('whole') });
    const events: CallEvent[] = [];
    const answer = await ask({ policy: { retries: 2 }, onEvent: (event) => events.push(event) });
    expect(answer.text).toBe('whole');
    expect(events.filter((event) => event.type === 'retry')).toMatchObject([
      { attempt: 1, delayMs: 2000, discardedChars: 0, error: { category: 'rate_limit' } },
      { attempt: 2, discardedChars: 4, error: { category: 'transient_network' } },
    ]);
  });

  test('do not follow text that was handed on for good', async () => {
    server.reply(half);
    const before = server.received.length;
    expect(await fault(ask({ policy: { retries: 2, afterText: 'fail' } }))).toMatchObject({ category: 'transient_network' });
    expect(server.received.length).toBe(before + 1);
  });

  test('are not spent on what stays as it is', async () => {
    server.reply({ status: 401, body: refusal('no') });
    const before = server.received.length;
    expect(await fault(ask({ policy: { retries: 5 } }))).toMatchObject({ category: 'auth' });
    expect(server.received.length).toBe(before + 1);
  });
});

describe('configuration', () => {
  const WRONG: readonly (readonly [what: string, provider: string, env: Readonly<Record<string, string>>, message: string])[] = [
    ['no key for OpenAI', 'openai', { OPENAI_API_KEY: '' }, 'openai needs an API key in OPENAI_API_KEY'],
    ['no key for Anthropic', 'anthropic', { ANTHROPIC_API_KEY: ' ' }, 'anthropic needs an API key in ANTHROPIC_API_KEY'],
    ['no key for OpenRouter', 'openrouter', {}, 'openrouter needs an API key in OPENROUTER_API_KEY'],
    ['no key for Gemini', 'gemini', {}, 'gemini needs an API key in GEMINI_API_KEY (or GOOGLE_API_KEY)'],
    ['an unknown name', 'my-proxy', {}, 'unknown provider: my-proxy; set MY_PROXY_BASE_URL for a server of your own'],
    ['an address that is none', 'openai', { OPENAI_BASE_URL: 'localhost:80' }, 'openai: OPENAI_BASE_URL is no http or https address'],
  ];
  test.each(WRONG)('%s: told before any request', async (_what, provider, env, message) => {
    const http = { request: () => Promise.reject(new Error('sent')) };
    expect(await fault(ask({ provider, env, http }))).toMatchObject({ kind: 'terminal', message });
  });

  test.each([
    ['a line break inside', `${KEY}\n${KEY}`],
    ['a letter outside ASCII', `${KEY}ä`],
  ])('a key with %s is refused without showing it', async (_what, key) => {
    const facts = await fault(ask({ env: { OPENAI_API_KEY: key } }));
    expect(facts).toMatchObject({ category: 'auth' });
    expect(JSON.stringify(facts)).not.toContain('canary');
  });

  test('an address with a password is refused without showing it', async () => {
    const facts = await fault(ask({ env: { OPENAI_BASE_URL: `http://me:${KEY}@127.0.0.1:1/v1` } }));
    expect(facts.message).toContain('OPENAI_BASE_URL holds a user name or password');
    expect(JSON.stringify(facts)).not.toContain('canary');
  });

  test('a key is sent without the line end it was pasted with', async () => {
    server.reply({ body: STREAMS.openai });
    await ask({ env: { OPENAI_API_KEY: `${KEY}\n` } });
    expect(server.received.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each(['', '/v1', '/v1/'])('anthropic: the base URL may end in %j', async (end) => {
    server.reply({ body: anthropicText('hi') });
    await ask({ provider: 'anthropic', env: { ANTHROPIC_BASE_URL: `${server.url}${end}` } });
    expect(server.received.at(-1)?.path).toBe('/v1/messages');
    expect(server.received.at(-1)?.headers['x-api-key']).toBe(KEY);
  });

  test('a server of your own needs an address alone', async () => {
    server.reply({ body: openAiText('hi') });
    await ask({ provider: 'my-proxy', env: { MY_PROXY_BASE_URL: `${server.url}/api` } });
    expect(server.received.at(-1)).toMatchObject({ path: '/api/chat/completions' });
    expect(server.received.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test.each(['127.0.0.1:PORT', 'http://127.0.0.1:PORT', '0.0.0.0:PORT', ':PORT'])('ollama: OLLAMA_HOST %s', async (host) => {
    server.reply({ body: STREAMS.ollama });
    const env = { OLLAMA_HOST: host.replace('PORT', new URL(server.url).port) };
    await expect(ask({ provider: 'ollama', env })).resolves.toMatchObject(EXPECTED);
    expect(server.received.at(-1)?.path).toBe('/api/chat');
  });
});
