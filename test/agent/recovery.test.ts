import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyResume } from '../../src/agent/apply-resume.ts';
import { foldJournal } from '../../src/agent/fold-journal.ts';
import { initialState } from '../../src/agent/runner.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { LoopState, ResumeFacts } from '../../src/lifecycle/activation.ts';
import { result, runActivation, SESSION_ID, script, sent, throughText, tool, WORKER_ID } from './fake-activation.ts';
import { integrityFaults } from './integrity-faults.ts';

const CONFIG = { task: 'Do it', session_id: SESSION_ID };

/** Three effects in one turn, twice, with call ids that the provider uses again in every turn. */
const TURNS = [1, 2].map((turn) => ({
  text: `turn ${turn}`,
  tool_calls: [0, 1, 2].map((pos) => ({ id: `call-${pos}`, name: 'effect', args: { turn, pos } })),
}));
const END = { text: 'end' };

function effectTool(log: string[], idempotent = false) {
  return tool(
    'effect',
    ({ turn, pos }) => {
      log.push(`${turn}.${pos}`);
      return `did ${turn}.${pos}`;
    },
    { idempotent },
  );
}

/** Recovery, as lifecycle does it: fold, then no policy but the reminder of 5.6. */
function recovered(records: readonly JsonObject[]): LoopState {
  return throughText(foldJournal(throughText(initialState(CONFIG)), records).state);
}

describe('journal (4.9)', () => {
  test.each(['native', 'text'])('reading all records gives the state that the loop had (%s)', async (tool_format) => {
    const entries =
      tool_format === 'native'
        ? [...TURNS, END]
        : [...TURNS.map((_, index) => ({ text: `<tool_call>effect({ turn: ${index}, pos: 0 })</tool_call>` })), END];
    const run = await runActivation({ mock: script(...entries), options: { tool_format }, live: { tools: [effectTool([])] } });
    if (run.end.kind !== 'ended') throw new Error('expected an end');
    const folded = recovered(run.records);
    const { ended: _, ...loop } = folded.loop;
    expect({ ...folded.transcript, state: 'done' }).toEqual(throughText(run.end.state.transcript));
    expect(loop).toEqual(throughText(run.end.state.loop));
  });

  test('D5: a kill after any record repeats no settled call, and later requests are as if nothing had happened', async () => {
    const whole = await runActivation({ mock: script(...TURNS, END), live: { tools: [effectTool([])] } });
    for (let kept = 0; kept <= whole.records.length; kept++) {
      const log: string[] = [];
      const state = recovered(whole.records.slice(0, kept));
      const loop = state.loop as { iterations_completed: number; ended?: unknown };
      const settledTurns = loop.iterations_completed;
      const mock = script(...TURNS.slice(settledTurns), END);
      const run = await runActivation({ mock, state, live: { tools: [effectTool(log)] } });
      expect(result(run)).toMatchObject({ status: 'done', text: 'end' });
      const settledBefore = whole.records.slice(0, kept).filter((record) => record.t === 'result').length;
      const all = ['1.0', '1.1', '1.2', '2.0', '2.1', '2.2'];
      expect(log.every((line) => all.indexOf(line) >= settledBefore)).toBe(true);
      expect(new Set(log).size).toBe(log.length);
      const last = (run.end.kind === 'ended' ? run.end.state.transcript : null) as { messages: never[] } | null;
      expect(integrityFaults(last?.messages ?? [])).toEqual([]);
    }
  });

  interface RecoveryRow {
    readonly rule: string;
    readonly until: number;
    readonly idempotent?: boolean;
    readonly texts: readonly string[];
    readonly log: readonly string[];
  }
  const UNKNOWN = 'Error: effect was interrupted; its outcome is unknown. It may or may not have taken effect.';
  const NOT_RUN = 'effect was not started before the interruption; it did not run.';
  const ROWS: RecoveryRow[] = [
    { rule: 'settled, settled, begun', until: 6, texts: ['did 1.0', 'did 1.1', UNKNOWN], log: [] },
    { rule: 'settled, begun, not started', until: 4, texts: ['did 1.0', UNKNOWN, NOT_RUN], log: [] },
    { rule: 'nothing started', until: 1, texts: [NOT_RUN, NOT_RUN, NOT_RUN], log: [] },
    { rule: 'begun, declared idempotent: runs again', until: 4, idempotent: true, texts: ['did 1.0', 'did 1.1', NOT_RUN], log: ['1.1'] },
    { rule: 'all settled, turn not closed', until: 7, texts: ['did 1.0', 'did 1.1', 'did 1.2'], log: [] },
  ];
  test.each(ROWS)('T16: recovery of a turn in flight: $rule', async ({ until, idempotent, texts, log: expected }) => {
    const whole = await runActivation({ mock: script(...TURNS, END), live: { tools: [effectTool([])] } });
    expect(whole.records.slice(0, 7).map((record) => record.t)).toEqual([
      'answer',
      'begin',
      'result',
      'begin',
      'result',
      'begin',
      'result',
    ]);
    const log: string[] = [];
    const mock = script(END);
    await runActivation({ mock, state: recovered(whole.records.slice(0, until)), live: { tools: [effectTool(log, idempotent)] } });
    expect(
      sent(mock)[0]
        ?.messages.slice(-3)
        .map((message) => message.content),
    ).toEqual(texts);
    expect(log).toEqual(expected);
  });

  test('an idempotent call under the text grammar gets its new result in the shared message', async () => {
    const text = [0, 1].map((pos) => `<tool_call>effect({ turn: 1, pos: ${pos} })</tool_call>`).join('\n');
    const options = { tool_format: 'text' };
    const whole = await runActivation({ mock: script({ text }, END), options, live: { tools: [effectTool([])] } });
    const mock = script(END);
    await runActivation({ mock, options, state: recovered(whole.records.slice(0, 4)), live: { tools: [effectTool([], true)] } });
    expect(sent(mock)[0]?.messages.at(-1)?.content).toContain('did 1.0\n[end of effect result]\n[result of effect]\ndid 1.1');
  });

  test('an end that was recorded is met again without a model call (5.7)', async () => {
    const whole = await runActivation({ mock: script(...TURNS, END), live: { tools: [effectTool([])] } });
    const mock = script();
    const run = await runActivation({ mock, state: recovered(whole.records) });
    expect(result(run)).toMatchObject({ status: 'done', text: 'end', stop_reason: 'natural' });
    expect(sent(mock)).toHaveLength(0);
  });

  test('D4: appends stay within 1.5 times the transcript, for 100 and 1000 turns', async () => {
    for (const turns of [100, 1000]) {
      const entries = Array.from({ length: turns }, (_, turn) => ({
        text: 'x'.repeat(1024),
        tool_calls: [{ name: 'effect', args: { turn, pos: 0, pad: 'y'.repeat(300) } }],
      }));
      const padded = tool('effect', ({ turn }) => `${turn}${'z'.repeat(700)}`);
      const run = await runActivation({
        mock: script(...entries, END),
        options: { max_iterations: turns + 1, compaction: 'none' },
        live: { tools: [padded] },
      });
      if (run.end.kind !== 'ended') throw new Error('expected an end');
      const written = run.records.reduce((sum, record) => sum + JSON.stringify(record).length + 1, 0);
      const { messages } = run.end.state.transcript as { messages: readonly JsonObject[] };
      expect(written / JSON.stringify(messages).length).toBeLessThan(1.5);
    }
  });

  test('no text of a message stands in two records', async () => {
    const run = await runActivation({ mock: script(...TURNS, END), live: { tools: [effectTool([])] } });
    const journal = run.records.map((record) => JSON.stringify(record)).join('\n');
    for (const text of ['turn 1', 'did 1.0', 'did 2.2', '"content":"end"']) expect(journal.split(text).length - 1).toBe(1);
  });
});

describe('park and resume equals never having stopped', () => {
  const facts: ResumeFacts = {
    input: undefined,
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

  test('at any boundary: the same requests but for the reminder, the same effects', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.nat({ max: 6 }), async (turns, at) => {
        const entries = Array.from({ length: turns }, (_, turn) => ({
          text: `t${turn}`,
          tool_calls: [{ id: 'same', name: 'effect', args: { turn, pos: 0 } }],
        }));
        const straight: string[] = [];
        const plain = script(...entries, END);
        await runActivation({ mock: plain, live: { tools: [effectTool(straight)] } });

        const log: string[] = [];
        const mock = script(...entries, END);
        const first = await runActivation({
          mock,
          live: { tools: [effectTool(log)] },
          worker: { suspendAt: { [Math.min(at, turns)]: { reason: 'r', initiator: 'operator', conditions: undefined } } },
        });
        if (first.parkedState === undefined) throw new Error('expected a park');
        const state = applyResume(first.parkedState, facts, WORKER_ID, SESSION_ID);
        await runActivation({ mock, state, resume: facts, live: { tools: [effectTool(log)] } });

        expect(log).toEqual(straight);
        const isReminder = (message: { content: unknown }): boolean => String(message.content).startsWith('<system-reminder>');
        const without = sent(mock).map((request) => request.messages.filter((message) => !isReminder(message)));
        expect(without).toEqual(sent(plain).map((request) => request.messages));
        const reminders = sent(mock).flatMap((request) => request.messages.filter(isReminder));
        expect(reminders).toHaveLength(1);
      }),
      { numRuns: 40 },
    );
  });
});
