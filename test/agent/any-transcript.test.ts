import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyResume } from '../../src/agent/apply-resume.ts';
import { wellFormed } from '../../src/agent/json-text.ts';
import { NEW_COUNTERS, readLoopState } from '../../src/agent/loop-state.ts';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import type { ModelRequest } from '../../src/agent/providers/provider.ts';
import { createRemoteProvider } from '../../src/agent/providers/remote-provider.ts';
import { repairState } from '../../src/agent/transcript/transcript-doctor.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type { ResumeFacts } from '../../src/lifecycle/activation.ts';
import { frozenClock, runActivation, SESSION_ID, script, WORKER_ID } from './fake-activation.ts';
import { integrityFaults } from './integrity-faults.ts';

/**
 * A restore never bricks: whatever JSON stands where a transcript should be, the loop gets one that each service can
 * be sent, and what was readable of the old one is in it.
 */
const FACTS: ResumeFacts = {
  input: 'go on',
  continueTranscript: true,
  cause: 'operator',
  resumedAt: 1000,
  suspension: {
    reason: 'r',
    initiator: 'operator',
    suspended_at: '1970-01-01T00:00:00.000Z',
    suspended_at_turn: 0,
    iterations_completed: 1,
  },
  isRecovery: false,
};

const json = fc.jsonValue({ maxDepth: 2, noUnicodeString: false }) as fc.Arbitrary<Json>;
const or = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<T | Json> => fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: json });
/** Code units at random: most are no text at all. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
const id = fc.constantFrom('a', 'b');
const call = or(fc.record({ id: or(id), name: or(fc.constant('read')), arguments: or(fc.constant({ path: 'x' })) }, { requiredKeys: [] }));
const block = or(
  fc.oneof(
    fc.record({ type: fc.constant('text'), text: or(anyText) }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constantFrom('tool_use', 'tool_result', 'image', 'reasoning', 'video'), id: or(id), content: json, url: json }),
  ),
);
const message = or(
  fc.record(
    {
      role: or(fc.constantFrom('user', 'assistant', 'tool', 'system', 'developer')),
      content: or(fc.oneof(anyText, fc.array(block, { maxLength: 3 }))),
      tool_calls: or(fc.array(call, { maxLength: 3 })),
      tool_call_id: or(id),
      name: or(fc.constant('read')),
    },
    { requiredKeys: [] },
  ),
);
const reminder = or(
  fc.record(
    { id: or(fc.constant('r')), body: or(fc.constant('remember')), tags: json, dedupe_key: json, ttl_turns: json, role_hint: json },
    { requiredKeys: [] },
  ),
);
const event = fc.record(
  {
    id: or(fc.constant('evt_1')),
    kind: fc.constantFrom('message', 'system_reminder', 'compaction'),
    text: json,
    blocks: json,
    metadata: json,
    reminder,
  },
  { requiredKeys: ['kind'] },
);
const counters = fc.dictionary(fc.constantFrom(...Object.keys(NEW_COUNTERS), 'interrupted', 'ended'), json, { maxKeys: 4 });
const transcript = or(
  fc.record(
    {
      _type: or(fc.constant('transcript')),
      id: or(fc.constant('t')),
      messages: or(fc.array(message, { maxLength: 8 })),
      events: or(fc.array(event, { maxLength: 4 })),
    },
    { requiredKeys: [] },
  ),
);

const SERVICES = ['openai', 'anthropic', 'ollama'];

/** The body that a service is sent; the transport then ends the call. */
async function bodyOf(service: string, messages: ModelRequest['messages']): Promise<JsonObject> {
  let body = '';
  const http = {
    request: async (request: { readonly body?: unknown }) => {
      body = String(request.body);
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    },
  };
  const provider = createRemoteProvider(
    {
      http: http as never,
      env: (name) => (name === 'HARN_LLM_CALLS_DISABLED' ? undefined : 'http://127.0.0.1:1'),
      clock: frozenClock(),
      settings: NO_SETTINGS,
    },
    service,
  );
  const request: ModelRequest = { provider: service, model: 'm', system: undefined, messages, tools: [], toolChoice: 'auto', options: {} };
  const asked = provider.stream(request, new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(asked).rejects.toMatchObject({ code: 'llm' });
  return JSON.parse(body) as JsonObject;
}

describe('D7 T24 T25: any JSON in place of a transcript', () => {
  test('becomes one that keeps the invariant and that every service can be sent', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, counters, async (stored, loop) => {
        const state = { transcript: stored as JsonObject, loop };
        const { state: repaired } = repairState(state, { provider: 'openai', model: 'm' });
        const resumed = readLoopState(applyResume(repaired, FACTS, WORKER_ID, SESSION_ID), SESSION_ID);
        expect(integrityFaults(resumed.transcript.messages)).toEqual([]);
        expect(resumed.transcript.messages.at(-1)).toEqual({ role: 'user', content: 'go on' });
        const run = await runActivation({ state: repaired, resume: FACTS, mock: script({ text: 'end' }) });
        expect(run.end.kind).toBe('ended');
        for (const service of SERVICES) {
          const body = await bodyOf(service, resumed.transcript.messages);
          expect(JSON.stringify(body)).toContain('go on');
          expect(wellFormed(body)).toBe(body);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('without events, id or type, every message is still there', () => {
    const messages = [
      { role: 'user', content: 'watch' },
      { role: 'assistant', content: 'I do' },
    ];
    const { transcript: whole } = readLoopState({ transcript: { messages } as JsonObject, loop: {} }, SESSION_ID);
    expect(whole).toMatchObject({ _type: 'transcript', version: 2, id: SESSION_ID, messages });
    expect(whole.events.map(({ text }) => text)).toEqual(['watch', 'I do']);
  });
});
