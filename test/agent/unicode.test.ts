import { describe, expect, test } from 'vitest';
import { codePointLength, firstCodePoints, wellFormed } from '../../src/agent/json-text.ts';
import { UNPARSED } from '../../src/agent/providers/answer-parts.ts';
import { snipText, toolFault } from '../../src/agent/tools/tool.ts';
import { repairState } from '../../src/agent/transcript/transcript-doctor.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { runActivation, script, sent, tool } from './fake-activation.ts';

/** Emoji with joiners and skin, line separators, NUL, marks of direction, combining marks, Hangul up to the surrogates. */
const NASTY = '👩🏽‍🚀\u2028\u2029\u0000\u202Eabc\u202C e\u0301\u0323 \uD7A3\uD7FB\uE000\uFFFD\u{10FFFF}𝒳漢字🇩🇪';
const LONE = 'high \uD83D low \uDE00 swapped \uDE00\uD83D end \uD83D';
const LIMIT_BYTES = 1 << 20;

const points = [...NASTY];

describe('T25: Unicode', () => {
  test('a cut at every offset counts code points and splits none', () => {
    for (let limit = 0; limit <= points.length + 1; limit++) {
      const cut = firstCodePoints(NASTY, limit);
      expect([...cut], `${limit}`).toEqual(points.slice(0, limit));
      const snipped = snipText(NASTY, limit);
      expect(snipped.isWellFormed(), `${limit}`).toBe(true);
      expect(snipped).toBe(limit >= points.length ? NASTY : `${cut}\n[${points.length - limit} characters snipped]`);
    }
    expect(codePointLength(NASTY)).toBe(points.length);
  });

  test('a result that is cut to bytes at every offset of its text ends with a whole code point', () => {
    for (let offset = 0; offset <= Buffer.byteLength(NASTY); offset++) {
      const content = 'x'.repeat(LIMIT_BYTES - 200 - offset) + NASTY.repeat(20);
      const messages = [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 't', arguments: {} }] },
        { role: 'tool', content, tool_call_id: 'c1', name: 't' },
      ];
      // Of a context in which a result of that length finds room.
      const model = { provider: 'mock', model: 'gpt-4.1' };
      const { state } = repairState({ transcript: { messages } as unknown as JsonObject, loop: {} }, model);
      const cut = (state.transcript as unknown as { messages: { content: string }[] }).messages[2]?.content ?? '';
      expect(cut.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(LIMIT_BYTES);
      const kept = cut.slice(0, cut.lastIndexOf('\n'));
      expect(content.startsWith(kept), `${offset}`).toBe(true);
      expect(kept.length).toBeGreaterThan(LIMIT_BYTES - 400);
    }
  });

  test('halves of pairs in results, errors, answers, tasks and arguments are stored and sent as the replacement character', async () => {
    const mock = script(
      { text: LONE, tool_calls: [{ name: 'odd', arguments: { [`key ${LONE}`]: LONE } }, { name: 'fails' }] },
      { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: LONE } }] },
    );
    const fails = tool('fails', () => {
      throw toolFault(LONE);
    });
    const run = await runActivation({ mock, prompt: `task ${LONE}`, live: { tools: [tool('odd', () => `${LONE}${NASTY}`), fails] } });
    const requests = sent(mock).map(({ messages }) => messages);
    expect(wellFormed(requests)).toBe(requests);
    const { transcript } = run.parkedState as unknown as { transcript: { messages: JsonObject[]; events: JsonObject[] } };
    expect(wellFormed(transcript.messages)).toBe(transcript.messages);
    expect(JSON.stringify(transcript.messages)).toContain('high \uFFFD low \uFFFD swapped \uFFFD\uFFFD end \uFFFD');
    expect(JSON.stringify(transcript.messages)).toContain(JSON.stringify(NASTY).slice(1, -1));
  });

  test('arguments that are no JSON are quoted up to a whole code point', async () => {
    for (const fill of [0, 1]) {
      const mock = script(
        { tool_calls: [{ name: 'odd', arguments: { [UNPARSED]: `${'x'.repeat(fill)}${'😀'.repeat(300)}` } }] },
        { text: 'end' },
      );
      await runActivation({ mock, live: { tools: [tool('odd', () => 'never')] } });
      const texts = JSON.stringify(sent(mock)[1]?.messages);
      expect(texts).toContain(`are not a JSON object: ${'x'.repeat(fill)}😀`);
      expect(texts).not.toMatch(/\\ud8|\uFFFD/);
    }
  });
});
