import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextTokens } from '../../src/agent/providers/model-catalog.ts';
import type { Message } from '../../src/agent/transcript/message.ts';
import { estimateTokens, type Transcript, transcriptFromMessages } from '../../src/agent/transcript/transcript.ts';
import { type Repair, repairState, repairTranscript } from '../../src/agent/transcript/transcript-doctor.ts';
import { integrityFaults } from './integrity-faults.ts';

const TARGET = { provider: 'anthropic', model: 'claude-x' };
const USER: Message = { role: 'user', content: 'go' };

function calls(...ids: string[]): Message {
  return { role: 'assistant', content: '', tool_calls: ids.map((id) => ({ id, name: `tool_${id}`, arguments: {} })) };
}

function answer(id: string, content = `result ${id}`): Message {
  return { role: 'tool', tool_call_id: id, name: `tool_${id}`, content };
}

function unknown(id: string): Message {
  return answer(id, `Error: tool_${id} was interrupted; its outcome is unknown. It may or may not have taken effect.`);
}

function reasoning(provider: string): Message {
  return {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', signature: 's', provider, model: 'claude-x' },
      { type: 'text', text: 'so' },
    ],
  };
}

interface Row {
  readonly rule: string;
  readonly messages: readonly Message[];
  readonly repaired: readonly Message[];
  readonly repairs: readonly Repair['repair'][];
}

const BIG = '😀'.repeat(300_000);

const ROWS: Row[] = [
  {
    rule: 'row 1: a missing result is added, outcome unknown',
    messages: [USER, calls('a')],
    repaired: [USER, calls('a'), unknown('a')],
    repairs: ['result_added'],
  },
  {
    rule: 'row 1: a missing one among several is put at its place',
    messages: [USER, calls('a', 'b'), answer('b'), USER],
    repaired: [USER, calls('a', 'b'), unknown('a'), answer('b'), USER],
    repairs: ['result_added'],
  },
  { rule: 'row 1: a result without a call is dropped', messages: [USER, answer('a')], repaired: [USER], repairs: ['result_dropped'] },
  {
    rule: 'row 1: a second result is dropped',
    messages: [USER, calls('a'), answer('a'), answer('a', 'again')],
    repaired: [USER, calls('a'), answer('a')],
    repairs: ['result_dropped'],
  },
  {
    rule: 'row 1: a result in the wrong place is moved',
    messages: [USER, calls('a'), USER, answer('a')],
    repaired: [USER, calls('a'), answer('a'), USER],
    repairs: ['result_moved'],
  },
  {
    rule: 'row 1: ids used again in the next turn stay with their turn',
    messages: [USER, calls('a'), answer('a', '1'), calls('a'), answer('a', '2')],
    repaired: [USER, calls('a'), answer('a', '1'), calls('a'), answer('a', '2')],
    repairs: [],
  },
  {
    rule: 'row 1: a result before its call belongs to another one',
    messages: [USER, answer('a', 'early'), calls('a'), USER],
    repaired: [USER, calls('a'), unknown('a'), USER],
    repairs: ['result_added', 'result_dropped'],
  },
  {
    rule: 'row 2: lone surrogates become the replacement character',
    messages: [{ role: 'user', content: 'a\uD800b\uDC00' }],
    repaired: [{ role: 'user', content: 'a\uFFFDb\uFFFD' }],
    repairs: ['text_fixed'],
  },
  {
    rule: 'row 3: reasoning of another provider is dropped',
    messages: [USER, reasoning('other')],
    repaired: [USER, { role: 'assistant', content: [{ type: 'text', text: 'so' }] }],
    repairs: ['signed_block_dropped'],
  },
  {
    rule: 'row 3: reasoning of the same provider stays',
    messages: [USER, reasoning('anthropic')],
    repaired: [USER, reasoning('anthropic')],
    repairs: [],
  },
  {
    rule: 'row 4: an empty message is dropped',
    messages: [USER, { role: 'assistant', content: '' }],
    repaired: [USER],
    repairs: ['message_dropped'],
  },
  {
    rule: 'row 4: an unknown role is dropped',
    messages: [USER, { role: 'alien' as 'user', content: 'x' }],
    repaired: [USER],
    repairs: ['message_dropped'],
  },
  {
    rule: 'row 4: an empty result stays',
    messages: [USER, calls('a'), answer('a', '')],
    repaired: [USER, calls('a'), answer('a', '')],
    repairs: [],
  },
  {
    rule: 'row 5: a result over 1 MiB is cut between code points, with a mark',
    messages: [USER, calls('a'), answer('a', BIG)],
    repaired: [USER, calls('a'), answer('a', expect.stringMatching(/^(😀)+\n\[cut: /) as unknown as string)],
    repairs: ['result_cut'],
  },
];

function transcript(messages: readonly Message[]): Transcript {
  return { ...transcriptFromMessages('t', []), messages };
}

describe('D7: the transcript doctor (5.15)', () => {
  test.each(ROWS)('$rule', ({ messages, repaired, repairs }) => {
    const before = transcript(messages);
    const outcome = repairTranscript(before, TARGET);
    expect(outcome.repairs.map(({ repair }) => repair)).toEqual(repairs);
    expect(outcome.transcript.messages).toEqual(repaired);
    if (repairs.length === 0) expect(outcome.transcript).toBe(before);
  });

  test('row 5: what is larger than the context is compacted', () => {
    const long = Array.from({ length: 400 }, (_, index): Message => ({ role: 'user', content: `${index} ${'x'.repeat(4000)}` }));
    const { transcript: repaired, repairs } = repairTranscript(transcript(long), TARGET);
    expect(repairs.map(({ repair }) => repair)).toEqual(['compacted']);
    expect(repaired.messages.length).toBeLessThan(20);
    expect(repaired.messages.at(-1)).toEqual(long.at(-1));
  });

  test('row 5: results of the last turns that are larger than the context are cut', () => {
    const long = ['a', 'b', 'c'].flatMap((id) => [calls(id), answer(id, 'r'.repeat(900_000))]);
    const { transcript: repaired, repairs } = repairTranscript(transcript([USER, ...long]), TARGET);
    expect(repairs.map(({ repair }) => repair)).toEqual(['compacted']);
    expect(estimateTokens(repaired.messages)).toBeLessThanOrEqual(contextTokens(TARGET.model));
    expect(repaired.messages.at(-2)).toEqual(calls('c'));
  });

  test('events name the repair, the place and the call, and never text', () => {
    const state = { transcript: transcript([USER, calls('a'), answer('a', 'secret'), answer('a', 'secret')]), loop: {} };
    const { repairs } = repairState(state, TARGET);
    expect(repairs).toEqual([{ repair: 'result_dropped', index: 3, tool_call_id: 'a' }]);
    expect(JSON.stringify(repairs)).not.toContain('secret');
  });

  test('a clean state comes back as the same object', () => {
    const state = { transcript: transcript([USER, calls('a'), answer('a')]), loop: {} };
    expect(repairState(state, TARGET).state).toBe(state);
  });

  test('whatever the messages are, the repaired ones hold the invariant and a second repair finds nothing', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const message = fc.oneof(
      fc.constant(USER),
      fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
      id.map((one) => answer(one)),
      fc.constant<Message>({ role: 'assistant', content: '' }),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 14 }), (messages) => {
        const once = repairTranscript(transcript(messages), TARGET).transcript;
        expect(integrityFaults(once.messages)).toEqual([]);
        expect(repairTranscript(once, TARGET).repairs).toEqual([]);
      }),
    );
  });
});
