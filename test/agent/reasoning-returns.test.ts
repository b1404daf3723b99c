import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerMessage } from '../../src/agent/providers/answer-message.ts';
import { decodeMessages } from '../../src/agent/transcript/decode-message.ts';
import type { Message } from '../../src/agent/transcript/message.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { asker, KEY } from './ask-model.ts';
import { anthropicText, type ModelServer, openAiText, type Reply, sse, startModelServer } from './model-server.ts';

/** Reasoning goes back to the service that wants it, as it came, and to nobody else; also when the conversation was saved. */
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
const ask = asker(() => server.url);

const env = (): Record<string, string> => ({
  DEEPSEEK_API_KEY: KEY,
  DEEPSEEK_BASE_URL: `${server.url}/v1`,
  OPENROUTER_API_KEY: KEY,
  OPENROUTER_BASE_URL: `${server.url}/v1`,
});

const CALL = { index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } };

function deltas(reason: string, ...given: readonly JsonObject[]): Reply {
  return { body: sse(...given.map((delta) => ({ choices: [{ delta }] })), { choices: [{ delta: {}, finish_reason: reason }] }, '[DONE]') };
}

/** What the service sees of its first answer in the next request, made to `next` after the history went through text. */
async function sentBack(provider: string, first: Reply, next: { readonly provider: string; readonly model: string }): Promise<JsonObject> {
  server.reply(first);
  const answer = await ask({ provider, env: env() });
  const results: Message[] = answer.toolCalls.map((call) => ({ role: 'tool', tool_call_id: call.id, name: call.name, content: 'X' }));
  const messages = [answerMessage({ provider, model: 'm' }, answer, answer.toolCalls), ...results, { role: 'user', content: 'on' }];
  server.reply({ body: next.provider === 'anthropic' ? anthropicText('done') : openAiText('done') });
  const history = decodeMessages(JSON.parse(JSON.stringify(messages)), 'test');
  await ask({ provider: next.provider, env: env(), change: { messages: history, model: next.model } });
  const sent = server.received.at(-1)?.body.messages as JsonObject[];
  return sent.find(({ role }) => role === 'assistant') ?? {};
}

const CALLS = [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } }];

describe('reasoning_content', () => {
  const THOUGHT = [{ reasoning_content: 'I should ' }, { reasoning_content: 'look.' }];

  test('returns to DeepSeek with the calls that it led to', async () => {
    const first = deltas('tool_calls', ...THOUGHT, { tool_calls: [CALL] });
    expect(await sentBack('deepseek', first, { provider: 'deepseek', model: 'm' })).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'I should look.',
      tool_calls: CALLS,
    });
  });

  const ELSEWHERE: readonly (readonly [what: string, provider: string, first: Reply, next: string, model: string])[] = [
    ['with an answer that calls nothing', 'deepseek', deltas('stop', ...THOUGHT, { content: 'hi' }), 'deepseek', 'm'],
    ['to another model', 'deepseek', deltas('tool_calls', ...THOUGHT, { tool_calls: [CALL] }), 'deepseek', 'other'],
    ['to a service that does not ask for it', 'openai', deltas('tool_calls', ...THOUGHT, { tool_calls: [CALL] }), 'openai', 'm'],
  ];
  test.each(ELSEWHERE)('does not return %s', async (_what, provider, first, next, model) => {
    expect(await sentBack(provider, first, { provider: next, model })).not.toHaveProperty('reasoning_content');
  });
});

describe('reasoning_details', () => {
  const detail = (more: JsonObject): JsonObject => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f', ...more }] });
  const SEALED = { type: 'reasoning.encrypted', index: 1, data: 'c2VhbGVk', id: 'r1' };
  const PIECES = [
    detail({ text: 'I should ' }),
    detail({ text: 'look.', signature: null }),
    detail({ text: '', signature: 'sig' }),
    { reasoning_details: [SEALED] },
  ];
  const WHOLE = [{ type: 'reasoning.text', index: 0, format: 'f', text: 'I should look.', signature: 'sig' }, SEALED];

  test('return to OpenRouter as one detail for each that was said', async () => {
    const first = deltas('tool_calls', ...PIECES, { tool_calls: [CALL] });
    expect(await sentBack('openrouter', first, { provider: 'openrouter', model: 'm' })).toEqual({
      role: 'assistant',
      content: null,
      reasoning_details: WHOLE,
      tool_calls: CALLS,
    });
  });

  test('return with an answer that calls nothing', async () => {
    const first = deltas('stop', ...PIECES, { content: 'hi' });
    const back = { role: 'assistant', content: 'hi', reasoning_details: WHOLE };
    expect(await sentBack('openrouter', first, { provider: 'openrouter', model: 'm' })).toEqual(back);
    expect(await sentBack('openrouter', first, { provider: 'deepseek', model: 'm' })).toEqual({ role: 'assistant', content: 'hi' });
  });

  test.each([
    [true, { enabled: true }],
    [{ mode: 'effort', level: 'low' }, { effort: 'low' }],
    [{ mode: 'enabled', budget_tokens: 2000 }, { max_tokens: 2000 }],
    [{ mode: 'disabled' }, { enabled: false }],
  ])('are asked for by thinking %j', async (thinking, reasoning) => {
    server.reply({ body: openAiText('hi') });
    await ask({ provider: 'openrouter', env: env(), change: { options: { thinking } } });
    expect(server.received.at(-1)?.body.reasoning).toEqual(reasoning);
  });

  test('of a whole document return as they are', async () => {
    const message = { role: 'assistant', content: 'hi', reasoning_details: WHOLE };
    const body = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
    const first = { headers: { 'content-type': 'application/json' }, body };
    expect(await sentBack('openrouter', first, { provider: 'openrouter', model: 'm' })).toEqual(message);
  });
});

test('anthropic: thinking between texts stays in its place, with its signature', async () => {
  const thinking = (index: number, text: string): JsonObject[] => [
    { type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: text } },
    { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: `sig-${text}` } },
  ];
  const first = {
    body: sse(
      { type: 'message_start', message: { model: 'm', usage: {} } },
      ...thinking(0, 'one'),
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Let me ' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'look.' } },
      ...thinking(2, 'two'),
      { type: 'content_block_start', index: 3, content_block: { type: 'redacted_thinking', data: 'c2VhbGVk' } },
      { type: 'content_block_start', index: 4, content_block: { type: 'tool_use', id: 'a', name: 'read', input: {} } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  };
  expect((await sentBack('anthropic', first, { provider: 'anthropic', model: 'm' })).content).toEqual([
    { type: 'thinking', thinking: 'one', signature: 'sig-one' },
    { type: 'text', text: 'Let me look.' },
    { type: 'thinking', thinking: 'two', signature: 'sig-two' },
    { type: 'redacted_thinking', data: 'c2VhbGVk' },
    { type: 'tool_use', id: 'a', name: 'read', input: {} },
  ]);
});
