import { describe, expect, test } from 'vitest';
import { matchesGlob } from '../../src/agent/glob.ts';
import { llmErrorFacts } from '../../src/agent/providers/llm-errors.ts';
import { parseMockFile, renderMockLine } from '../../src/agent/providers/mock-entry.ts';
import { MockProvider } from '../../src/agent/providers/mock-provider.ts';
import type { ModelAnswer, ModelRequest } from '../../src/agent/providers/provider.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';

const LOOK_UP = {
  name: 'look_up',
  description: 'Find one thing',
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      count: { type: 'integer' },
      ratio: { type: 'number' },
      deep: { type: 'boolean' },
      list: { type: 'array' },
      extra: { type: 'object' },
      skipped: { type: 'string' },
    },
    required: ['text', 'count', 'ratio', 'deep', 'list', 'extra'],
  },
};
const PARK = { name: 'agent_await_resumption', description: 'Park', parameters: { type: 'object' } };

function request(prompt: string, change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    provider: 'mock',
    model: 'mock',
    system: undefined,
    messages: [{ role: 'user', content: prompt }],
    tools: [],
    toolChoice: 'auto',
    options: {},
    ...change,
  };
}

async function ask(mock: MockProvider, prompt: string, change: Partial<ModelRequest> = {}): Promise<ModelAnswer> {
  for await (const event of mock.stream(request(prompt, change), new AbortController().signal)) {
    if (event.type === 'finish') return event.answer;
  }
  throw new Error('the stream had no end');
}

function scripted(...entries: Json[]): MockProvider {
  const mock = new MockProvider();
  for (const entry of entries) mock.enqueue(entry);
  return mock;
}

describe('matching order (1.8)', () => {
  test('entries without match are consumed in order, before any glob', async () => {
    const mock = scripted({ text: 'glob', match: '*' }, { text: 'one' }, { text: 'two' });
    expect([await ask(mock, 'a'), await ask(mock, 'b'), await ask(mock, 'c'), await ask(mock, 'd')].map((answer) => answer.text)).toEqual([
      'one',
      'two',
      'glob',
      'glob',
    ]);
  });

  test('consume_match uses a matched entry up', async () => {
    const mock = scripted(
      { text: 'first', match: '*step*', consume_match: true },
      { text: 'second', match: '*step*', consume_match: true },
    );
    expect((await ask(mock, 'step 1')).text).toBe('first');
    expect((await ask(mock, 'step 2')).text).toBe('second');
    expect((await ask(mock, 'step 3')).text).toContain('Mock response');
  });

  test('file entries come before queue entries', async () => {
    const mock = scripted({ text: 'queue' });
    mock.useFile(parseMockFile('{"text":"file"}\n', 'f.jsonl'));
    expect((await ask(mock, 'a')).text).toBe('file');
    expect((await ask(mock, 'a')).text).toBe('queue');
  });

  test('an unmatched call under a replay file is an error that quotes 200 characters of the prompt', async () => {
    const mock = new MockProvider();
    mock.useFile([]);
    await expect(ask(mock, 'x'.repeat(300))).rejects.toThrow(`No --llm-mock fixture matched prompt: "${'x'.repeat(200)}"`);
  });

  const GLOBS: [string, string, boolean][] = [
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['*', '', true],
    ['a*', 'abc', true],
    ['*c', 'abc', true],
    ['a*c', 'ac', true],
    ['ab*bc', 'abc', false],
    ['*b*', 'abc', true],
    ['*x*', 'abc', false],
    ['a*b*c', 'a-b-c', true],
    ['a.c', 'abc', false],
  ];
  test.each(GLOBS)('glob %j on %j is %j', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });
});

describe('result building (1.8)', () => {
  test('token defaults are the length of the match text and 30', async () => {
    const answer = await ask(scripted({ text: 'x' }), 'twelve chars');
    expect(answer.usage).toMatchObject({ input_tokens: 12, output_tokens: 30 });
  });

  test('an id that the entry supplies is kept, others count from one', async () => {
    const answer = await ask(scripted({ tool_calls: [{ name: 'a' }, { id: 'mine', name: 'b', args: { x: 1 } }, { name: 'c' }] }), 'go');
    expect(answer.toolCalls).toEqual([
      { id: 'mock_call_1', name: 'a', arguments: {} },
      { id: 'mine', name: 'b', arguments: { x: 1 } },
      { id: 'mock_call_3', name: 'c', arguments: {} },
    ]);
    expect(answer.stopReason).toBe('tool_use');
  });

  test('an error entry raises as the real provider would', async () => {
    const mock = scripted({ error: { category: 'rate_limit', message: '429', retry_after_ms: 5 } });
    const error: unknown = await ask(mock, 'go', { provider: 'openai', model: 'gpt-4o' }).catch((caught: unknown) => caught);
    expect(llmErrorFacts(error)).toEqual({
      category: 'rate_limit',
      kind: 'transient',
      reason: 'rate_limit',
      message: '429',
      provider: 'openai',
      model: 'gpt-4o',
      retry_after_ms: 5,
    });
  });

  test('an unknown category is rejected when the entry is registered', () => {
    expect(() => scripted({ error: { category: 'nope' } })).toThrow('llm_mock: unknown error category `nope`');
  });

  const UNKNOWN: readonly (readonly [entry: JsonObject, message: string])[] = [
    [{ txt: 'a' }, 'llm_mock: unknown field `txt`; did you mean `text`?'],
    [{ text: 'a', answer: 'b' }, 'llm_mock: unknown field `answer`'],
    [{ tool_calls: [{ name: 'a', argument: {} }] }, 'llm_mock: unknown field `argument` in `tool_calls`; did you mean `arguments`?'],
    [{ error: { category: 'timeout', mesage: 'x' } }, 'llm_mock: unknown field `mesage` in `error`; did you mean `message`?'],
  ];
  test.each(UNKNOWN)('%j is rejected by the name of its field', (entry, message) => {
    expect(() => scripted(entry)).toThrow(message);
  });

  test('with cache: true the second identical prompt is read from the cache', async () => {
    const mock = new MockProvider();
    const first = await ask(mock, 'same', { options: { cache: true } });
    const second = await ask(mock, 'same', { options: { cache: true } });
    expect(first.usage).toMatchObject({ cache_read_tokens: 0, cache_write_tokens: 4 });
    expect(second.usage).toMatchObject({ cache_read_tokens: 4, cache_write_tokens: 0 });
  });
});

describe('default behaviour (1.8)', () => {
  test('native tools: one call to the first tool that is no lifecycle tool, required arguments filled', async () => {
    const answer = await ask(new MockProvider(), 'go', { tools: [PARK, LOOK_UP] });
    expect(answer.text).toBe('');
    expect(answer.usage.output_tokens).toBe(20);
    expect(answer.toolCalls).toEqual([
      { id: 'mock_call_1', name: 'look_up', arguments: { text: '', count: 0, ratio: 0, deep: false, list: [], extra: {} } },
    ]);
  });

  const TEXTS: [what: string, prompt: string, change: Partial<ModelRequest>, text: string][] = [
    ['a prompt', 'hello big world', {}, 'Mock response to 3-word prompt: hello big world'],
    ['a long prompt', 'y'.repeat(150), {}, `Mock response to 1-word prompt: ${'y'.repeat(100)}`],
    ['no text', '', {}, 'Mock LLM response'],
    ['lifecycle tools only', 'hi', { tools: [PARK] }, 'Mock response to 1-word prompt: hi'],
    [
      'the text contract',
      'hi',
      { system: 'end with <done>' },
      '<assistant_prose>Mock response to 1-word prompt: hi</assistant_prose>\n<done>##DONE##</done>',
    ],
  ];
  test.each(TEXTS)('%s', async (_what, prompt, change, text) => {
    expect((await ask(new MockProvider(), prompt, change)).text).toBe(text);
  });
});

describe('scopes and log (1.8)', () => {
  test('a scope has its own queue and log, and popping restores the old ones', async () => {
    const mock = scripted({ text: 'outer' });
    mock.pushScope();
    mock.enqueue({ text: 'inner' });
    expect((await ask(mock, 'a')).text).toBe('inner');
    expect(mock.calls()).toHaveLength(1);
    mock.popScope();
    expect(mock.calls()).toHaveLength(0);
    expect((await ask(mock, 'b')).text).toBe('outer');
  });

  test('popping nothing throws', () => {
    expect(() => new MockProvider().popScope()).toThrow('llm_mock_pop_scope');
  });

  test('the log holds what the model saw', async () => {
    const mock = scripted({ text: 'x' });
    await ask(mock, 'hello', { system: 'be brief', options: { thinking: { mode: 'enabled' } }, tools: [PARK] });
    expect(mock.calls()).toEqual([
      {
        messages: [{ role: 'user', content: 'hello' }],
        system: 'be brief',
        tools: [{ type: 'function', function: PARK }],
        thinking: { mode: 'enabled' },
      },
    ]);
  });
});

describe('files (1.8)', () => {
  const BAD: [string, string][] = [
    ['{"text":"a"}\n\n{oops', 'invalid JSON in f.jsonl line 3: '],
    ['{"text":"a"}\n{"text":5}', 'invalid --llm-mock fixture in f.jsonl line 2: '],
    ['{"txt":"a"}', 'invalid --llm-mock fixture in f.jsonl line 1: unknown field `txt`; did you mean `text`?'],
    ['{"error":{"category":"odd"}}', 'invalid --llm-mock fixture in f.jsonl line 1: unknown error category `odd`'],
  ];
  test.each(BAD)('%j', (text, message) => {
    expect(() => parseMockFile(text, 'f.jsonl')).toThrow(message);
  });

  test('a recording replays to the same answer and has no match', async () => {
    const entry = {
      text: 'hi',
      tool_calls: [{ id: 'c1', name: 'a', args: { x: [1] } }],
      thinking: 'hm',
      input_tokens: 7,
      output_tokens: 8,
    };
    const answer = await ask(scripted(entry), 'go');
    const line = renderMockLine(answer);
    const replay = new MockProvider();
    replay.useFile(parseMockFile(line, 'f'));
    expect(await ask(replay, 'anything')).toEqual(answer);
    expect(Object.keys(JSON.parse(line) as JsonObject)).not.toContain('match');
  });
});
