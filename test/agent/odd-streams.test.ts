import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallEvent } from '../../src/agent/model-call/model-call.ts';
import { answerMessage } from '../../src/agent/providers/answer-message.ts';
import type { Message } from '../../src/agent/transcript/message.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { asker, cutClient, fault } from './ask-model.ts';
import { anthropicText, type ModelServer, openAiText, type Reply, sse, startModelServer } from './model-server.ts';

/** Answers that services may give and mostly do not, each from a server on the loopback interface. */
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
const ask = asker(() => server.url);

function lastMessages(): JsonObject[] {
  return (server.received.at(-1)?.body.messages ?? []) as JsonObject[];
}

const STOP = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null };

function deltas(...given: readonly JsonObject[]): string {
  return sse(...given.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }], usage: null })), STOP, '[DONE]');
}

function piece(index: number | undefined, id: string | undefined, name: string | undefined, args: string): JsonObject {
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    function: { ...(name === undefined ? {} : { name }), arguments: args },
  };
}

const READ = { name: 'read', arguments: { path: 'a' } };
const LIST = { name: 'list', arguments: { depth: 2 } };

interface OddRow {
  readonly what: string;
  readonly provider?: 'openai' | 'anthropic' | 'ollama';
  readonly reply: Reply;
  readonly expected: JsonObject;
}

const whole = openAiText('hello');
const calls = (...pieces: readonly JsonObject[]): Reply => ({ body: deltas(...pieces.map((one) => ({ tool_calls: [one] }))) });

const ODD: readonly OddRow[] = [
  {
    what: 'a chunk with the role alone, empty deltas, content and calls that are null',
    reply: {
      body: deltas({ role: 'assistant', content: '' }, {}, { content: null, tool_calls: null, refusal: null }, { content: 'hello' }),
    },
    expected: { text: 'hello', toolCalls: [], stopReason: 'end_turn' },
  },
  {
    what: 'chunks without choices, and with none in the list',
    reply: { body: sse({ id: 'x' }, { choices: [] }) + whole },
    expected: { text: 'hello' },
  },
  {
    what: 'comments between events, to keep the line open',
    reply: { body: `: ping\n\n: ping\n\n${whole.replace('\n\n', '\n\n: ping\n\n')}` },
    expected: { text: 'hello' },
  },
  { what: 'CRLF at the ends of lines', reply: { body: whole.replaceAll('\n', '\r\n') }, expected: { text: 'hello' } },
  { what: 'no space after the colon', reply: { body: whole.replaceAll('data: ', 'data:') }, expected: { text: 'hello' } },
  {
    what: 'no blank line after the last event',
    reply: { body: sse({ choices: [{ delta: { content: 'hello' } }] }) + sse(STOP).trimEnd() },
    expected: { text: 'hello' },
  },
  {
    what: 'a byte order mark, names and ids of events',
    reply: { body: `\uFEFF${whole.replaceAll('data: ', 'event: chunk\nid: 7\nretry: 10\ndata: ')}` },
    expected: { text: 'hello' },
  },
  {
    what: 'content as a list of parts, reasoning among them',
    reply: {
      body: deltas(
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
        {
          content: [
            { type: 'text', text: 'hel' },
            { type: 'reference', reference_ids: [1] },
          ],
        },
        { content: 'lo' },
      ),
    },
    expected: { text: 'hello', thinking: 'hm' },
  },
  {
    what: 'reasoning_content',
    reply: { body: deltas({ reasoning_content: 'hm' }, { content: 'hello' }) },
    expected: { text: 'hello', thinking: 'hm' },
  },
  {
    what: 'reasoning beside a reasoning_content of nothing',
    reply: { body: deltas({ reasoning_content: '', reasoning: 'hm', content: '' }, { content: 'hello' }) },
    expected: { text: 'hello', thinking: 'hm' },
  },
  {
    what: 'calls whose pieces come in turns, each with its id',
    reply: calls(
      piece(0, 'a', 'read', '{"pa'),
      piece(0, 'b', 'list', '{"de'),
      piece(0, 'a', undefined, 'th":"a"}'),
      piece(0, 'b', undefined, 'pth":2}'),
    ),
    expected: {
      toolCalls: [
        { id: 'a', ...READ },
        { id: 'b', ...LIST },
      ],
      stopReason: 'tool_use',
    },
  },
  {
    what: 'calls whose pieces come in turns, by index',
    reply: calls(
      piece(0, 'a', 'read', ''),
      piece(1, 'b', 'list', ''),
      piece(1, undefined, undefined, '{"depth":2}'),
      piece(0, undefined, undefined, '{"path":"a"}'),
    ),
    expected: {
      toolCalls: [
        { id: 'a', ...READ },
        { id: 'b', ...LIST },
      ],
    },
  },
  {
    what: 'calls with neither id nor index',
    reply: calls(
      piece(undefined, undefined, 'read', '{"path":'),
      piece(undefined, undefined, undefined, '"a"}'),
      piece(undefined, undefined, 'list', '{"depth":2}'),
    ),
    expected: {
      toolCalls: [
        { id: 'call_1', ...READ },
        { id: 'call_2', ...LIST },
      ],
    },
  },
  {
    what: 'two calls with one id',
    reply: calls(piece(0, 'a', 'read', '{"path":"a"}'), piece(1, 'a', 'list', '{"depth"'), piece(1, 'a', undefined, ':2}')),
    expected: {
      toolCalls: [
        { id: 'a', ...READ },
        { id: 'a_2', ...LIST },
      ],
    },
  },
  {
    what: 'an id and a name that are null in later pieces',
    reply: calls(piece(0, 'a', 'read', '{"pa'), { index: 0, id: null, function: { name: null, arguments: 'th":"a"}' } }),
    expected: { toolCalls: [{ id: 'a', ...READ }] },
  },
  {
    what: 'a call without arguments',
    reply: { body: sse({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read' } }] } }] }, STOP) },
    expected: { toolCalls: [{ id: 'a', name: 'read', arguments: {} }], stopReason: 'tool_use' },
  },
  {
    what: 'hits of a cache by the name that DeepSeek gives them',
    reply: {
      body: sse({ choices: [{ delta: { content: 'hello' } }] }, { ...STOP, usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 7 } }),
    },
    expected: { usage: { input_tokens: 9, cache_read_tokens: 7 } },
  },
  {
    what: 'pings, blocks of types to come, usage that is null',
    provider: 'anthropic',
    reply: {
      body: sse(
        { type: 'ping' },
        { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, cache_read_input_tokens: null } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'from_the_future', text: 'no' } },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'from_the_future', text: 'no' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'hello' } },
        { type: 'ping' },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2, input_tokens: null } },
        { type: 'message_stop' },
      ),
    },
    expected: { text: 'hello', usage: { input_tokens: 3, output_tokens: 2, cache_read_tokens: 0 }, stopReason: 'end_turn' },
  },
  {
    what: 'calls whose pieces come in turns, one of them empty',
    provider: 'anthropic',
    reply: {
      body: sse(
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'read', input: {} } },
        { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'b', name: 'list', input: {} } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"path"' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':"a"}' } },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
        { type: 'message_stop' },
      ),
    },
    expected: {
      toolCalls: [
        { id: 'a', ...READ },
        { id: 'b', name: 'list', arguments: {} },
      ],
      stopReason: 'tool_use',
    },
  },
  {
    what: 'ids of calls, an error that is null, CRLF',
    provider: 'ollama',
    reply: {
      body: [
        {
          message: { content: '', tool_calls: [{ id: 'call_9', function: { index: 0, name: 'read', arguments: { path: 'a' } } }] },
          error: null,
        },
        { message: { content: '' }, done: true, done_reason: 'stop' },
      ]
        .map((line) => `${JSON.stringify(line)}\r\n`)
        .join(''),
    },
    expected: { toolCalls: [{ id: 'call_9', ...READ }], stopReason: 'tool_use' },
  },
];

describe('odd answers', () => {
  test.each(ODD)('$provider $what', async ({ provider = 'openai', reply, expected }) => {
    server.reply({ ...reply, pieceBytes: 3 });
    expect(await ask({ provider })).toMatchObject(expected);
  });

  test.each(ODD)('$provider $what, wherever the stream is cut in two', async ({ provider = 'openai', reply, expected }) => {
    const body = reply.body ?? '';
    const size = new TextEncoder().encode(body).length;
    for (let at = 1; at < size; at++)
      expect(await ask({ provider, http: cutClient(body, at) }), `cut at byte ${at}`).toMatchObject(expected);
  });

  test('gzip', async () => {
    server.reply({ headers: { 'content-encoding': 'gzip' }, bytes: gzipSync(whole), pieceBytes: 5 });
    expect(await ask({})).toMatchObject({ text: 'hello' });
  });

  test('an error in the words of vLLM, in the middle of a stream', async () => {
    server.reply({ body: sse({ choices: [{ delta: { content: 'half' } }] }, { object: 'error', message: 'out of memory', code: 500 }) });
    expect(await fault(ask({}))).toMatchObject({ category: 'server_error', message: 'openai: out of memory' });
  });

  test('a refusal as a part of the content', async () => {
    server.reply({ body: deltas({ content: [{ type: 'refusal', refusal: 'I cannot.' }] }) });
    expect(await fault(ask({}))).toMatchObject({ reason: 'content_policy', message: 'the model refused: I cannot.' });
  });

  test('an end that gives no reason is no answer', async () => {
    server.reply({ body: sse({ choices: [{ delta: { content: 'half' }, finish_reason: null }] }, '[DONE]') });
    expect(await fault(ask({}))).toMatchObject({
      category: 'transient_network',
      message: 'openai ended the stream before its answer was complete',
    });
  });

  test('arguments of a megabyte, in small pieces', async () => {
    const path = 'ä"\\'.repeat(60_000);
    const text = JSON.stringify({ path });
    const parts = text.match(/.{1,400}/gs) ?? [];
    server.reply(calls(piece(0, 'a', 'write', ''), ...parts.map((part) => piece(0, undefined, undefined, part))));
    const events: CallEvent[] = [];
    const answer = await ask({ onEvent: (event) => events.push(event) });
    expect(answer.toolCalls).toEqual([{ id: 'a', name: 'write', arguments: { path } }]);
    expect(events.at(-2)).toMatchObject({ type: 'tool_arguments', partial: text });
  });
});

describe('what goes back', () => {
  test('what Gemini adds to a call returns with it, and only to the same model', async () => {
    const extra = { google: { thought_signature: 'c2ln' } };
    server.reply(calls({ ...piece(0, 'a', 'read', '{"path":"a"}'), extra_content: extra }), { body: whole }, { body: whole });
    const target = { provider: 'openai', model: 'm' };
    const answer = await ask({});
    const messages: Message[] = [
      { role: 'user', content: 'go' },
      answerMessage(target, answer, answer.toolCalls),
      { role: 'tool', tool_call_id: 'a', name: 'read', content: 'A' },
    ];
    const sent = async (model: string): Promise<unknown> => {
      await ask({ change: { messages, model } });
      return lastMessages()[2];
    };
    const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } };
    expect(await sent('m')).toEqual({ role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: extra }] });
    expect(await sent('other')).toEqual({ role: 'assistant', content: null, tool_calls: [call] });
  });

  test('text of an assistant is a string, whatever came with it', async () => {
    server.reply({ body: whole });
    const block = { type: 'reasoning', text: 'hm', signature: 's', provider: 'anthropic', model: 'x' } as const;
    await ask({ change: { messages: [{ role: 'assistant', content: [block, { type: 'text', text: 'yes' }] }] } });
    expect(server.received.at(-1)?.body.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'assistant', content: 'yes' },
    ]);
  });

  test('anthropic: what a conversation begins with is system text, later instructions stay in their place', async () => {
    server.reply({ body: anthropicText('a') });
    const messages: Message[] = [
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'go' },
      { role: 'developer', content: 'quickly' },
    ];
    await ask({ provider: 'anthropic', change: { messages } });
    const text = (one: string): JsonObject => ({ type: 'text', text: one });
    expect(server.received.at(-1)?.body).toMatchObject({
      system: [text('be brief\n\nrules')],
      messages: [{ role: 'user', content: [text('go'), text('quickly')] }],
    });
  });

  test('anthropic: ids that are the same in every turn are told apart, and a longer history keeps those it had', async () => {
    const turn = (result: string): Message[] => [
      { role: 'assistant', content: '', tool_calls: [{ id: 'tc_0', name: 'read', arguments: {} }] },
      { role: 'tool', tool_call_id: 'tc_0', name: 'read', content: result },
    ];
    server.reply({ body: anthropicText('a') }, { body: anthropicText('b') });
    const first: Message[] = [{ role: 'user', content: 'go' }, ...turn('1')];
    await ask({ provider: 'anthropic', change: { messages: first } });
    const short = lastMessages();
    await ask({ provider: 'anthropic', change: { messages: [...first, ...turn('2')] } });
    const long = lastMessages();
    expect(long.slice(0, 3)).toEqual(short);
    expect(long.slice(3)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'tc_0_2', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tc_0_2', content: '2' }] },
    ]);
  });
});

describe('anthropic: an answer that pauses', () => {
  const SEARCH = { type: 'server_tool_use', id: 's1', name: 'web_search' };
  const RESULT = { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', url: 'https://e.test' }] };
  const paused = (text: string): Reply => ({
    body: sse(
      { type: 'message_start', message: { model: 'm-1', usage: { input_tokens: 10, cache_read_input_tokens: 4 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } },
      { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: { url: 'https://e.test' } } },
      { type: 'content_block_start', index: 2, content_block: { ...SEARCH, input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"query":' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"x"}' } },
      { type: 'content_block_start', index: 3, content_block: RESULT },
      { type: 'content_block_start', index: 4, content_block: { type: 'text', text: '' } },
      { type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ),
  });

  test('goes on with what it has said, and is one answer', async () => {
    server.reply(paused('Looking. '), { body: anthropicText('Found it.') });
    const from = server.received.length;
    const events: CallEvent[] = [];
    const answer = await ask({ provider: 'anthropic', onEvent: (event) => events.push(event) });
    const [first, second] = server.received.slice(from).map(({ body }) => body);
    expect(second).toEqual({
      ...first,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sig' },
            { type: 'text', text: 'Looking. ', citations: [{ url: 'https://e.test' }] },
            { ...SEARCH, input: { query: 'x' } },
            RESULT,
          ],
        },
      ],
    });
    expect(answer).toMatchObject({
      text: 'Looking. Found it.',
      stopReason: 'end_turn',
      usage: { input_tokens: 15, output_tokens: 6, cache_read_tokens: 4 },
      carried: [
        { type: 'reasoning', signature: 'sig' },
        { type: 'text', text: 'Looking. ' },
        { type: 'service', block: { ...SEARCH, input: { query: 'x' } } },
        { type: 'service', block: RESULT },
        { type: 'text', text: 'Found it.' },
      ],
    });
    expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(['Looking. ', 'Found it.']);
  });

  test('may pause again; all of it goes back as one message', async () => {
    server.reply(paused('1 '), paused('2 '), { body: anthropicText('3') });
    const answer = await ask({ provider: 'anthropic' });
    expect(answer.text).toBe('1 2 3');
    expect(lastMessages().map(({ role, content }) => [role, (content as unknown[]).length])).toEqual([
      ['user', 1],
      ['assistant', 8],
    ]);
  });

  test('does not pause for ever', async () => {
    const from = server.received.length;
    server.reply(...Array.from({ length: 11 }, () => paused('.')));
    expect(await ask({ provider: 'anthropic' })).toMatchObject({ text: '...........', stopReason: 'pause_turn' });
    expect(server.received.length - from).toBe(11);
  });

  test('is no answer when it breaks off after a pause', async () => {
    server.reply(paused('1 '), { body: sse({ type: 'message_start', message: {} }) });
    expect(await fault(ask({ provider: 'anthropic' }))).toMatchObject({ category: 'transient_network' });
  });
});
