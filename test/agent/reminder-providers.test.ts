import { describe, expect, test } from 'vitest';
import { snipText, type ToolHandler } from '../../src/agent/tools/tool.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { frozenClock, type Run, runActivation, type Setup, script, sent, tool } from './fake-activation.ts';

const call = (name: string): JsonObject => ({ tool_calls: [{ name, arguments: {} }] });

/** The reminders of each model request, without their tags. */
function shown(mock: ReturnType<typeof script>): string[][] {
  return sent(mock).map(({ messages }) =>
    messages.flatMap(({ content }) => {
      const body = typeof content === 'string' ? /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/.exec(content)?.[1] : undefined;
      return body === undefined ? [] : [body];
    }),
  );
}

async function reminders(entries: readonly JsonObject[], options: JsonObject, setup: Setup = {}): Promise<{ seen: string[][]; run: Run }> {
  const mock = script(...entries);
  const run = await runActivation({ mock, options, ...setup });
  return { seen: shown(mock), run };
}

const END = { text: 'end' };

describe('the standard reminder providers (3.10)', () => {
  test('token_pressure tells of a full context, in its own last message', async () => {
    const prompt = 'x'.repeat(4 * 170_000);
    const { seen } = await reminders([END], { model: 'claude-x', compaction: 'none' }, { prompt });
    expect(seen[0]).toEqual([
      "The conversation takes about 85 % of the model's context (170000 of 200000 tokens). Keep answers and tool calls small.",
    ]);
  });

  test('token_pressure tells of a full context again when it is fuller by a percent', async () => {
    const prompt = 'x'.repeat(4 * 170_000);
    const read = (part: number): JsonObject => ({ tool_calls: [{ name: 'read', arguments: { part } }] });
    const tools = [tool('read', ({ part }) => 'r'.repeat(part === 2 ? 8000 : 10))];
    const { seen } = await reminders(
      [read(1), read(2), read(3), END],
      { model: 'claude-x', compaction: 'none' },
      { prompt, live: { tools } },
    );
    expect(seen.map((told) => told.map((text) => /\d+ %/.exec(text)?.[0]))).toEqual([['85 %'], [], ['86 %'], []]);
  });

  test('token_pressure tells of a budget, from the share that its config names', async () => {
    const tools = [tool('look', () => 'seen')];
    const entry = { ...call('look'), input_tokens: 50, output_tokens: 10 };
    const options = { token_budget: 100, reminders: { config: { token_pressure: { threshold: 0.5 } } } };
    const { seen } = await reminders([entry, END], options, { live: { tools } });
    expect(seen).toEqual([[], ['60 % of the token budget are used (60 of 100). Come to a result.']]);
  });

  test('idle_nudge tells of a minute between turns, not of slow tools', async () => {
    const clock = frozenClock();
    const handler: ToolHandler = async () => {
      await clock.advance(120_000);
      return { kind: 'value', value: null };
    };
    const tools = [tool('slow', () => null, { handler })];
    const options = { daemon: true, wake_interval_ms: 61_000, max_iterations: 3 };
    const { seen } = await reminders([call('slow'), END, END], options, { clock, live: { tools } });
    expect(seen).toEqual([
      [],
      [],
      ['Nothing happened for 61 seconds. What you know of the outside may have changed; check before you rely on it.'],
    ]);
  });

  test('tool_output_truncated tells of a cut result, for one turn', async () => {
    const tools = [tool('long', () => snipText('x'.repeat(100), 10))];
    const { seen } = await reminders([call('long'), END], {}, { live: { tools } });
    expect(seen[1]).toEqual(['A tool result of the last turn was cut. What is missing may matter: ask for a smaller part of it.']);
  });

  test('post_compact_recap names the task again', async () => {
    const tools = [tool('look', () => 'seen')];
    const options = { compaction: { strategy: 'truncate', keep_last_n: 1 }, compact_threshold: 1 };
    const { seen } = await reminders([call('look'), END], options, { prompt: 'Find the bug', live: { tools } });
    expect(seen[1]).toEqual(['Earlier messages were replaced by a summary. The task was: Find the bug\nTools used so far: look.']);
  });

  test.each([
    ['off', false, []],
    ['disabled', { enabled: false }, []],
    ['left out', { providers: ['-tool_output_truncated'] }, []],
    ['not chosen', { providers: ['idle_nudge'] }, []],
    ['chosen', { providers: ['tool_output_truncated'] }, [expect.stringContaining('was cut')]],
  ])('a provider that is %s', async (_what, option, expected) => {
    const tools = [tool('long', () => snipText('x'.repeat(100), 10))];
    const { seen } = await reminders([call('long'), END], { reminders: option as JsonObject }, { live: { tools } });
    expect(seen[1]).toEqual(expected);
  });

  test('unknown keys and names are refused', async () => {
    await expect(reminders([END], { reminders: { enable: false } })).rejects.toMatchObject({ code: 'HARN-RMD-001' });
    await expect(reminders([END], { reminders: { providers: ['-mood'] } })).rejects.toThrow('unknown reminder provider `mood`');
  });
});

describe('transcript.reminder.lifecycle', () => {
  test('notes what becomes of a reminder, and never what it says', async () => {
    const tools = [tool('long', () => snipText('x'.repeat(100), 10))];
    const { run } = await reminders([call('long'), END], {}, { live: { tools } });
    const topic = 'transcript.reminder.lifecycle';
    expect(run.logged.map(({ kind }) => String(kind).slice('transcript.reminder.'.length))).toEqual([
      'injected',
      'provider_evaluated',
      'fired',
      'expired',
    ]);
    expect(run.logged[0]).toEqual({
      topic,
      kind: 'transcript.reminder.injected',
      reminder_id: expect.stringMatching(/^reminder_/),
      dedupe_key: 'tool_output_truncated',
      tags: ['tool_output_truncated'],
      source: 'stdlib_provider',
      session_id: expect.any(String),
      turn: 1,
      body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      body_len: 97,
    });
    expect(JSON.stringify(run.logged)).not.toContain('smaller part');
  });

  test.each([
    ['is replaced by one of its key', 'none', 'deduped k'],
    ['is taken by a compaction', { strategy: 'truncate', keep_last_n: 1 }, 'dropped k'],
  ])('notes that a reminder %s', async (_what, compaction, moment) => {
    let turn = 0;
    const hook = async (event: string) => ({
      reminders: event === 'pre_agent_turn' && turn++ < 2 ? [{ body: `r${turn}`, dedupe_key: 'k' }] : [],
    });
    const tools = [tool('look', () => 'seen')];
    const options = { compaction, compact_threshold: 30 };
    const entry = { text: 'y'.repeat(200), ...call('look') };
    const { run } = await reminders([entry, entry, END], options, { live: { tools, callbacks: { hook } } });
    const moments = run.logged.map(({ kind, dedupe_key: key }) => `${String(kind).slice('transcript.reminder.'.length)} ${String(key)}`);
    expect(moments).toContain(moment);
  });
});
