import { describe, expect, test } from 'vitest';
import { applyResume } from '../../src/agent/apply-resume.ts';
import { foldJournal } from '../../src/agent/fold-journal.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { plainEvent } from '../../src/agent/transcript/transcript.ts';
import type { LoopState, ResumeFacts } from '../../src/lifecycle/activation.ts';
import { parkedAndBack, runActivation, SESSION_ID, script, sent, throughText, tool, WORKER_ID } from './fake-activation.ts';
import { integrityFaults } from './integrity-faults.ts';

/** A call that asked for a park before it went on, as tools of MCP servers may, and processes that die while it goes on. */
const ASK = { text: '', tool_calls: [{ id: 'c1', name: 'transfer', args: {} }] };
const END = { text: 'end' };
const PARK = { reason: 'Send 7?', initiator: 'self' as const, conditions: undefined };

/** Asks once, and then does what it was told; `log` learns of each. */
function transferTool(log: (string | undefined)[], idempotent = false): Tool {
  return tool('transfer', () => '', {
    idempotent,
    handler: async (_args, { continuation }) => {
      if (continuation === undefined) return { kind: 'park', request: PARK, events: [plainEvent('tool_paused', PARK.reason, {})] };
      log.push(continuation.input);
      return { kind: 'value', value: `sent: ${continuation.input ?? 'nothing'}` };
    },
  });
}

function facts(input: string | undefined, isRecovery = false): ResumeFacts {
  return { input, continueTranscript: true, cause: 'operator', resumedAt: 60_000, suspension: { reason: 'r' }, isRecovery };
}

function resumed(state: LoopState, resume: ResumeFacts): LoopState {
  return throughText(applyResume(state, resume, WORKER_ID, SESSION_ID));
}

async function asked(): Promise<LoopState> {
  return parkedAndBack(await runActivation({ mock: script(ASK), live: { tools: [transferTool([])] } }));
}

describe('a call that goes on after a park', () => {
  const UNKNOWN = 'transfer was interrupted; its outcome is unknown';

  /** Whoever dies after so many records of the activation that goes on: what the next one does, and what its model reads. */
  const ROWS: readonly (readonly [
    what: string,
    kept: number,
    idempotent: boolean,
    runs: readonly (string | undefined)[],
    reads: string,
  ])[] = [
    ['before it began: it goes on with the answer of then', 0, false, ['yes'], 'sent: yes'],
    ['after it began: its outcome is unknown', 1, false, [], UNKNOWN],
    ['after it began, declared idempotent: it goes on again', 1, true, ['yes'], 'sent: yes'],
    ['after it settled: it is never run again', 2, false, [], 'sent: yes'],
  ];
  test.each(ROWS)('4.8: a crash %s', async (_what, kept, idempotent, runs, reads) => {
    const start = resumed(await asked(), facts('yes'));
    const log: (string | undefined)[] = [];
    const tools = [transferTool(log, idempotent)];
    const whole = await runActivation({ mock: script(END), state: start, resume: facts('yes'), live: { tools } });
    expect(whole.records.slice(0, 2).map(({ t }) => t)).toEqual(['in', 'in']);
    expect(log.splice(0)).toEqual(['yes']);

    const recovered = resumed(throughText(foldJournal(start, whole.records.slice(0, kept)).state), facts(undefined, true));
    const mock = script(END);
    await runActivation({ mock, state: recovered, resume: facts(undefined, true), live: { tools } });
    expect(log).toEqual(runs);
    const messages = sent(mock)[0]?.messages ?? [];
    expect(integrityFaults(messages)).toEqual([]);
    const told = messages.filter(({ content }) => String(content).includes('kind="tool_result"'));
    expect(told).toHaveLength(1);
    expect(told[0]?.content).toContain(reads);
  });

  test('that was called off by a resume without input stays called off', async () => {
    const start = resumed(await asked(), facts(undefined));
    const log: (string | undefined)[] = [];
    const state = resumed(throughText(foldJournal(start, []).state), facts(undefined, true));
    await runActivation({ mock: script(END), state, resume: facts(undefined, true), live: { tools: [transferTool(log)] } });
    expect(log).toEqual([undefined]);
  });
});
