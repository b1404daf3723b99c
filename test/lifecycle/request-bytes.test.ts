import { describe, expect, test } from 'vitest';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import type { Provider } from '../../src/agent/providers/provider.ts';
import { createRemoteProvider } from '../../src/agent/providers/remote-provider.ts';
import type { Message, ToolCall } from '../../src/agent/transcript/message.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import type { HttpRequest, HttpResponse, Processes } from '../../src/platform/platform.ts';
import { frozenClock } from '../agent/fake-activation.ts';
import { callsOf, createLoopWorld, type Plan, workerIdIn } from './loop-world.ts';
import { resume, workerOf } from './world.ts';

/**
 * What a model is sent after a park has at its head, byte for byte, what it was sent before: prompt caches stay warm,
 * and nobody's words change. The bytes are those of the request's body, for every format that goes over a wire.
 */
const PLAN: Plan = [['a', 'b'], ['c'], { park: 'one' }, ['d'], { park: 'two' }, ['e'], []];
const DIRECTORY = '/project';
const PROCESSES = { pid: 1, bootId: () => 'boot', isAlive: () => false } as unknown as Processes;

interface Format {
  readonly name: string;
  /** The streamed answer of the service. */
  answer(text: string, calls: readonly ToolCall[]): string;
}

const events = (items: readonly unknown[]): string => items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');

const FORMATS: readonly Format[] = [
  {
    name: 'openai',
    answer: (text, calls) =>
      events([
        { model: 'm', choices: [{ delta: { content: text } }] },
        ...calls.map((call, index) => ({
          choices: [
            { delta: { tool_calls: [{ index, id: call.id, function: { name: call.name, arguments: JSON.stringify(call.arguments) } }] } },
          ],
        })),
        { choices: [{ delta: {}, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }] },
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
      ]),
  },
  {
    name: 'anthropic',
    answer: (text, calls) =>
      events([
        { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1 } } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
        ...calls.flatMap((call, index) => [
          { type: 'content_block_start', index: index + 1, content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} } },
          {
            type: 'content_block_delta',
            index: index + 1,
            delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) },
          },
        ]),
        { type: 'message_delta', delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ]),
  },
  {
    name: 'ollama',
    answer: (text, calls) =>
      [
        {
          model: 'm',
          message: { content: text, tool_calls: calls.map((call) => ({ function: { name: call.name, arguments: call.arguments } })) },
        },
        { done: true, done_reason: 'stop', prompt_eval_count: 1, eval_count: 1 },
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
  },
];

/** A service that answers by the plan and keeps the bodies that it was sent. */
function service({ name, answer }: Format, bodies: string[]): Provider {
  const request = async ({ body }: HttpRequest): Promise<HttpResponse> => {
    bodies.push(String(body));
    const { messages } = JSON.parse(String(body)) as { messages: Message[] };
    const turn = messages.filter((message) => message.role === 'assistant').length;
    const bytes = new TextEncoder().encode(answer(`turn ${turn} 😀`, callsOf(PLAN[turn])));
    return {
      status: 200,
      headers: {},
      text: async () => new TextDecoder().decode(bytes),
      bytes: async () => bytes,
      async *stream() {
        yield bytes;
      },
    };
  };
  const env = (key: string): string | undefined => (key.endsWith('_API_KEY') ? 'k' : undefined);
  return createRemoteProvider({ http: { request }, env, clock: frozenClock(), settings: NO_SETTINGS }, name);
}

/** Runs the plan, each activation in a process of its own; the second is given an input, the third is not. */
async function runInThreeProcesses(model: { readonly name: string; readonly provider: Provider } | undefined): Promise<string[][]> {
  const files = new FakeFiles({ now: () => Date.now() });
  const parts = { files, processes: PROCESSES, model };
  const first = createLoopWorld(DIRECTORY, PLAN, parts);
  await first.runRoot();
  const id = workerIdIn(files, DIRECTORY) ?? '';
  const requests = [...first.requests];
  for (const input of ['go on', undefined]) {
    const next = createLoopWorld(DIRECTORY, PLAN, parts);
    await resume(next, id, { input, startedAt: Date.now() + 1 });
    await workerOf(next, id).settled();
    requests.push(...next.requests);
  }
  return requests;
}

/** The text of the list of messages, up to what is for this call only, without the brackets that close it. */
function persistedText(body: string): string {
  const text = messagesText(body);
  const reminder = /,?\{[^{}]*"<system-reminder>/.exec(text);
  return reminder === null ? text.replace(/\]$/, '') : text.slice(0, reminder.index).replace(/,?\{"role":"user","content":\[$/, '');
}

function messagesText(body: string): string {
  const start = body.indexOf('"messages":') + '"messages":'.length;
  for (let depth = 0, at = start, isInText = false; at < body.length; at++) {
    if (isInText) {
      if (body[at] === '\\') at++;
      else if (body[at] === '"') isInText = false;
    } else if (body[at] === '"') isInText = true;
    else if (body[at] === '[' || body[at] === '{') depth++;
    else if ((body[at] === ']' || body[at] === '}') && --depth === 0) return body.slice(start, at + 1);
  }
  throw new Error('the list of messages has no end');
}

function withoutMessages(body: string): JsonObject {
  const value: unknown = JSON.parse(body);
  if (!isJsonObject(value)) throw new Error('not an object');
  const { messages: _, ...rest } = value;
  return rest;
}

describe('R70: requests over a park and a resume', () => {
  test.each(FORMATS)('$name: each begins with the bytes of the one before', async (format) => {
    const bodies: string[] = [];
    await runInThreeProcesses({ name: format.name, provider: service(format, bodies) });
    expect(bodies).toHaveLength(PLAN.length);
    expect(bodies.filter((body) => body.includes('<system-reminder>'))).toHaveLength(2);
    for (const [index, body] of bodies.slice(1).entries()) {
      const before = persistedText(bodies[index] ?? '');
      expect(messagesText(body).slice(0, before.length)).toBe(before);
      expect(JSON.stringify(withoutMessages(body))).toBe(JSON.stringify(withoutMessages(bodies[0] ?? '')));
    }
    expect(bodies.at(-1)).toContain('go on');
  });

  test('mock: each begins with the messages of the one before', async () => {
    const requests = await runInThreeProcesses(undefined);
    expect(requests).toHaveLength(PLAN.length);
    for (const [index, request] of requests.slice(1).entries()) {
      const before = (requests[index] ?? []).filter((message) => !message.includes('<system-reminder>'));
      expect(request.slice(0, before.length)).toEqual(before);
    }
  });
});
