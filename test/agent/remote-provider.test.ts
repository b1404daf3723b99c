import { describe, expect, test } from 'vitest';
import { callModel } from '../../src/agent/model-call/model-call.ts';
import { llmErrorFacts } from '../../src/agent/providers/llm-errors.ts';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import type { ModelAnswer, ModelRequest } from '../../src/agent/providers/provider.ts';
import { createRemoteProvider } from '../../src/agent/providers/remote-provider.ts';
import { retryAfterMs } from '../../src/agent/providers/service-fault.ts';
import type { Message } from '../../src/agent/transcript/message.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { HttpRequest, HttpResponse } from '../../src/platform/platform.ts';
import { fakeWorld, frozenClock, script } from './fake-activation.ts';

const TOOL = { name: 'read', description: 'Read', parameters: { type: 'object', properties: { path: { type: 'string' } } } };
const HISTORY: readonly Message[] = [
  { role: 'user', content: 'go' },
  { role: 'assistant', content: 'Looking', tool_calls: [{ id: 'c1', name: 'read', arguments: { path: 'a' } }] },
  { role: 'tool', tool_call_id: 'c1', name: 'read', content: 'A' },
  { role: 'user', content: '<system-reminder>\nx\n</system-reminder>' },
];

function request(provider: string, change: Partial<ModelRequest> = {}): ModelRequest {
  return { provider, model: 'm', system: 'be brief', messages: HISTORY, tools: [TOOL], toolChoice: 'auto', options: {}, ...change };
}

/** A response whose body arrives in pieces that cut through lines and characters. */
function response(body: string, status = 200, headers: Record<string, string> = {}): HttpResponse {
  const bytes = new TextEncoder().encode(body);
  return {
    status,
    headers,
    text: async () => body,
    bytes: async () => bytes,
    async *stream() {
      for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
    },
  };
}

function events(...items: (JsonObject | string)[]): string {
  return items.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('');
}

interface Asked {
  readonly answer: ModelAnswer;
  readonly sent: readonly HttpRequest[];
  readonly body: JsonObject;
}

/** Asks through the retries of a real call. */
async function ask(modelRequest: ModelRequest, responses: HttpResponse[], retries = 0): Promise<Asked> {
  const sent: HttpRequest[] = [];
  const keys: Record<string, string> = {
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/',
    LOCAL_LLM_BASE_URL: 'http://127.0.0.1:2',
  };
  const http = {
    request: async (one: HttpRequest) => {
      sent.push(one);
      const next = responses.shift();
      if (next === undefined) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      return next;
    },
  };
  const provider = createRemoteProvider(
    { http, env: (name) => keys[name], clock: frozenClock(), settings: NO_SETTINGS },
    modelRequest.provider,
  );
  const world = { ...fakeWorld(script()), models: { provider: () => provider, hasNativeTools: () => true } };
  const answer = await callModel(world, modelRequest, { retries, backoffMs: 10, timeoutMs: 1e9 }, new AbortController().signal);
  return { answer, sent, body: JSON.parse(String(sent.at(-1)?.body)) as JsonObject };
}

const OPENAI_STREAM = events(
  { model: 'm-1', choices: [{ delta: { content: 'Grüß' } }] },
  { choices: [{ delta: { content: ' dich 😀' } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'read', arguments: '{"pa' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: 'th":"b"}' } }] } }] },
  { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } } },
  '[DONE]',
);

const ANTHROPIC_STREAM = events(
  {
    type: 'message_start',
    message: { model: 'm-1', usage: { input_tokens: 4, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 } },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüß dich 😀' } },
  { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'x', name: 'read', input: {} } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"path":"b"}' } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
);

const OLLAMA_STREAM = [
  { model: 'm-1', message: { content: 'Grüß dich 😀' } },
  { message: { content: '', tool_calls: [{ function: { name: 'read', arguments: { path: 'b' } } }] } },
  { done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 4 },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

const STREAMS: [provider: string, body: string, callId: string][] = [
  ['openai', OPENAI_STREAM, 'x'],
  ['anthropic', ANTHROPIC_STREAM, 'x'],
  ['ollama', OLLAMA_STREAM, 'call_1'],
];

test('no model is called where HARN_LLM_CALLS_DISABLED is set', () => {
  const http = { request: () => Promise.reject(new Error('sent')) };
  const world = { http, clock: frozenClock(), settings: NO_SETTINGS };
  const providerWith = (value: string) =>
    createRemoteProvider({ ...world, env: (name) => (name === 'HARN_LLM_CALLS_DISABLED' ? value : undefined) }, 'openai');
  expect(() => providerWith('1')).toThrow('HARN_LLM_CALLS_DISABLED');
  expect(() => providerWith('0')).not.toThrow();
});

describe('adapters (1.4)', () => {
  test.each(STREAMS)('%s: text, calls, stop reason and usage', async (provider, body, id) => {
    const { answer } = await ask(request(provider), [response(body)]);
    expect(answer).toMatchObject({
      text: 'Grüß dich 😀',
      toolCalls: [{ id, name: 'read', arguments: { path: 'b' } }],
      stopReason: 'tool_use',
      provider,
    });
    expect(answer.usage.output_tokens).toBe(4);
  });

  test('openai: history with string arguments, results by call id, key and base URL from the environment', async () => {
    const { body, sent } = await ask(request('openai'), [response(OPENAI_STREAM)]);
    expect(sent[0]?.url).toBe('http://127.0.0.1:1/v1/chat/completions');
    expect(sent[0]?.headers.authorization).toBe('Bearer k');
    expect(body.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Looking',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'A' },
      { role: 'user', content: '<system-reminder>\nx\n</system-reminder>' },
    ]);
    expect(body).toMatchObject({ tools: [{ type: 'function', function: TOOL }], tool_choice: 'auto', max_tokens: 16384 });
  });

  test('anthropic: results are blocks of a user message, the reminder follows in the same message', async () => {
    const { body, answer } = await ask(request('anthropic'), [response(ANTHROPIC_STREAM)]);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking' },
          { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'A' },
          { type: 'text', text: '<system-reminder>\nx\n</system-reminder>' },
        ],
      },
    ]);
    expect(body).toMatchObject({ system: [{ type: 'text', text: 'be brief' }], tools: [{ name: 'read', input_schema: TOOL.parameters }] });
    expect(answer).toMatchObject({
      thinking: 'hm',
      carried: [
        { type: 'reasoning', text: 'hm', signature: 'sig' },
        { type: 'text', text: 'Grüß dich 😀' },
      ],
      usage: { input_tokens: 10, cache_read_tokens: 5, cache_write_tokens: 1 },
    });
  });

  test('ollama: object arguments, results by tool name', async () => {
    const { body, sent } = await ask(request('ollama'), [response(OLLAMA_STREAM)]);
    expect(sent[0]?.url).toBe('http://localhost:11434/api/chat');
    expect((body.messages as JsonObject[]).slice(2, 4)).toEqual([
      { role: 'assistant', content: 'Looking', tool_calls: [{ function: { name: 'read', arguments: { path: 'a' } } }] },
      { role: 'tool', tool_name: 'read', content: 'A' },
    ]);
  });

  test('local: its own variable, no key needed', async () => {
    const { sent } = await ask(request('local'), [response(OPENAI_STREAM)]);
    expect(sent[0]?.url).toBe('http://127.0.0.1:2/v1/chat/completions');
    expect(sent[0]?.headers).not.toHaveProperty('authorization');
  });

  test('overrides of the provider go into the body as they are (1.2)', async () => {
    const { body } = await ask(request('openai', { options: { openai: { service_tier: 'flex' }, temperature: 0.5 } }), [
      response(OPENAI_STREAM),
    ]);
    expect(body).toMatchObject({ service_tier: 'flex', temperature: 0.5 });
  });
});

interface FaultRow {
  readonly what: string;
  readonly responses: readonly HttpResponse[];
  readonly provider?: string;
  readonly expected: JsonObject;
}

const refusal = (message: string): string => JSON.stringify({ error: { message } });

const FAULTS: FaultRow[] = [
  {
    what: '401',
    responses: [response(refusal('bad key'), 401)],
    expected: { category: 'auth', kind: 'terminal', message: 'openai answered 401: bad key' },
  },
  { what: '404', responses: [response('', 404)], expected: { category: 'not_found', reason: 'model_unavailable' } },
  {
    what: '429 with Retry-After',
    responses: [response('', 429, { 'retry-after': '7' })],
    expected: { category: 'rate_limit', retry_after_ms: 7000 },
  },
  {
    what: '500',
    responses: [response('<html>', 500)],
    expected: { category: 'server_error', message: 'openai answered 500: it does not say why' },
  },
  { what: '529', responses: [response('', 529)], expected: { category: 'overloaded', kind: 'transient' } },
  { what: '400', responses: [response(refusal('no such field'), 400)], expected: { category: 'generic', reason: 'invalid_request' } },
  {
    what: 'a prompt that is too long',
    responses: [response(refusal('context length exceeded'), 400)],
    expected: { category: 'generic', reason: 'context_overflow' },
  },
  { what: 'no connection', responses: [], expected: { category: 'transient_network', kind: 'transient' } },
  {
    what: 'a stream that ends without a finish reason',
    responses: [response(events({ choices: [{ delta: { content: 'half' } }] }))],
    expected: { category: 'transient_network' },
  },
  { what: 'an event that is no JSON', responses: [response('data: oops\n\n')], expected: { category: 'transient_network' } },
  { what: 'an unknown provider', responses: [], provider: 'nowhere', expected: { category: 'not_found', provider: 'nowhere' } },
  {
    what: 'a missing key',
    responses: [],
    provider: 'openrouter',
    expected: { category: 'auth', message: 'openrouter needs an API key in OPENROUTER_API_KEY' },
  },
];

describe('faults (1.7)', () => {
  test.each(FAULTS)('$what', async ({ responses, provider = 'openai', expected }) => {
    const error: unknown = await ask(request(provider), [...responses]).catch((caught: unknown) => caught);
    expect(llmErrorFacts(error)).toMatchObject(expected);
  });

  test('a broken stream is tried again from the start, with nothing of it kept', async () => {
    const { answer } = await ask(
      request('openai'),
      [response(events({ choices: [{ delta: { content: 'half' } }] })), response(OPENAI_STREAM)],
      1,
    );
    expect(answer.text).toBe('Grüß dich 😀');
  });

  const DATES: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['3', 3000],
    ['Thu, 01 Jan 1970 00:00:05 GMT', 4000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
  ];
  test.each(DATES)('Retry-After %j is %j ms', (header, ms) => {
    expect(retryAfterMs(header, 1000)).toBe(ms);
  });
});
