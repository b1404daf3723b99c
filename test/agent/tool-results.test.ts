import { describe, expect, test } from 'vitest';
import { type Tool, toolFault } from '../../src/agent/tools/tool.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { result, runActivation, script, sent, tool } from './fake-activation.ts';

/** How results of tools read for the model and count for the loop (spec/agents.md 2.3). */
const ROWS: readonly (readonly [what: string, value: Json | Error, text: string, status: 'ok' | 'error' | 'rejected'])[] = [
  ['a string as it is', 'plain', 'plain', 'ok'],
  ['nil', null, '(no output)', 'ok'],
  ['a number', 1.5, '1.5', 'ok'],
  ['a dict as pretty JSON, its keys in order', { b: 1, a: [true] }, '{\n  "a": [\n    true\n  ],\n  "b": 1\n}', 'ok'],
  ['a throw', toolFault('boom'), 'Error: boom', 'error'],
  ['a text that begins with Error:', 'Error: soft', 'Error: soft', 'error'],
  ['a text that begins with ERROR:', 'ERROR: soft', 'ERROR: soft', 'error'],
  ['a text with an Error: inside', 'no Error: here', 'no Error: here', 'ok'],
  [
    'a permission that was denied',
    { error: 'permission_denied', tool: 'give', reason: 'no' },
    '{\n  "error": "permission_denied",\n  "reason": "no",\n  "tool": "give"\n}',
    'rejected',
  ],
];

function giveTool(value: Json | Error): Tool {
  return tool('give', () => {
    if (value instanceof Error) throw value;
    return value;
  });
}

test.each(ROWS)('2.3: %s', async (_what, value, text, status) => {
  const mock = script({ tool_calls: [{ id: 'c', name: 'give' }] }, { text: 'end' });
  const infos: JsonObject[] = [];
  const run = await runActivation({ mock, live: { tools: [giveTool(value)] } });
  for (const event of run.events) if (event.type === 'turn_end') infos.push(event.turn_info as JsonObject);
  expect(sent(mock)[1]?.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c', content: text });
  expect(infos[0]?.tool_results).toEqual([{ tool_name: 'give', status, rejected: status === 'rejected' }]);
});

describe('2.3: arguments', () => {
  const parameters = {
    type: 'object',
    properties: { n: { type: 'integer' }, more: { type: 'integer', default: 4 } },
    required: ['n'],
  };
  const CALLS: readonly (readonly [what: string, args: JsonObject, got: JsonObject | string])[] = [
    ['defaults are filled in', { n: 1 }, { n: 1, more: 4 }],
    ['what is missing', {}, 'Error: invalid arguments: give: missing required field `n`'],
    ['a fraction where an int belongs', { n: 1.5 }, 'Error: invalid arguments: give.n: expected integer, got number'],
  ];
  test.each(CALLS)('%s', async (_what, args, got) => {
    const seen: JsonObject[] = [];
    const mock = script({ tool_calls: [{ name: 'give', args }] }, { text: 'end' });
    const give = tool(
      'give',
      (given) => {
        seen.push(given);
        return 'ok';
      },
      { parameters },
    );
    await runActivation({ mock, live: { tools: [give] } });
    expect(seen).toEqual(typeof got === 'string' ? [] : [got]);
    if (typeof got === 'string') expect(sent(mock)[1]?.messages.at(-1)?.content).toBe(got);
  });
});

describe('2.5: calls that a native model writes as text', () => {
  const text = (n: number): JsonObject => ({ text: `<tool_call>give({ n: ${n} })</tool_call>` });
  const FALLBACKS: readonly (readonly [fallback: string | undefined, runs: number])[] = [
    [undefined, 3],
    ['allow', 3],
    ['allow_once', 1],
    ['reject', 0],
  ];
  test.each(FALLBACKS)('native_tool_fallback %s', async (native_tool_fallback, runs) => {
    let count = 0;
    const give = tool('give', () => ++count);
    const mock = script(text(1), text(2), text(3), { text: 'end' });
    const options = { loop_until_done: true, max_iterations: 4, ...(native_tool_fallback === undefined ? {} : { native_tool_fallback }) };
    const run = await runActivation({ mock, options, live: { tools: [give] } });
    expect(count).toBe(runs);
    expect(result(run)).toMatchObject({ status: 'done' });
  });
});
