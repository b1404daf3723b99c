import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { type Run, result, runActivation, type Setup, script, sent, tool } from './fake-activation.ts';

const LOOK = { tool_calls: [{ name: 'look', arguments: {} }], input_tokens: 10, output_tokens: 5 };
const SUMMARY = { text: 'The user wants the bug found; look said seen.', input_tokens: 100, output_tokens: 20 };
const END = { text: 'end', input_tokens: 10, output_tokens: 5 };

/** A loop of two turns whose transcript is too large before the second. */
async function compacted(
  strategy: string,
  entries: readonly Json[],
  setup: Setup = {},
): Promise<{ run: Run; mock: ReturnType<typeof script> }> {
  const mock = script(...entries);
  const options = { compaction: { strategy, keep_last_n: 2, threshold: 8 }, llm_retries: 0, ...setup.options };
  const live = { tools: [tool('look', () => 'seen')], ...setup.live };
  const run = await runActivation({ prompt: 'Find the bug, please, wherever it is', mock, ...setup, options, live });
  return { run, mock };
}

const event = (run: Run): JsonObject | undefined => run.events.find(({ type }) => type === 'transcript_compacted');

describe('compaction of a loop (3.5 step 3)', () => {
  test.each(['hybrid', 'summarize_middle'])('%s lets the model write what earlier messages were about', async (strategy) => {
    const { run, mock } = await compacted(strategy, [LOOK, SUMMARY, END]);
    const [, asked, after] = sent(mock);
    expect(asked?.messages).toEqual([{ role: 'user', content: 'user:\nFind the bug, please, wherever it is' }]);
    expect(after?.messages[0]).toEqual({ role: 'user', content: `[Earlier conversation, auto-compacted]\n${SUMMARY.text}` });
    expect(after?.messages.slice(1, 3).map(({ role }) => role)).toEqual(['assistant', 'tool']);
    expect(event(run)).toMatchObject({ mode: 'automatic', strategy, engine_strategy: 'llm', archived_messages: 1 });
    expect(result(run)).toMatchObject({ transcript: { summary: SUMMARY.text } });
  });

  test('summarize_all leaves nothing but the summary', async () => {
    const { mock } = await compacted('summarize_all', [LOOK, SUMMARY, END]);
    expect(sent(mock)[1]?.messages[0]?.content).toContain('[calls look {}]');
    expect(sent(mock)[2]?.messages.filter(({ content }) => !String(content).startsWith('<system-reminder>'))).toHaveLength(1);
  });

  test('its call counts, in the journal too', async () => {
    const { run } = await compacted('hybrid', [LOOK, SUMMARY, END]);
    expect(result(run)).toMatchObject({ llm: { iterations: 2, input_tokens: 120, output_tokens: 30 }, trace: { llm_calls: 3 } });
    expect(run.records.find(({ t }) => t === 'edit')).toMatchObject({ usage: { input_tokens: 100, output_tokens: 20, calls: 1 } });
  });

  test.each([
    ['a model that fails', { error: { category: 'server_error', message: 'down' } }],
    ['a model that says nothing', { text: ' ' }],
  ])('%s leaves an outline, and the loop goes on', async (_what, entry) => {
    const { run, mock } = await compacted('hybrid', [LOOK, entry, END]);
    expect(event(run)).toMatchObject({ strategy: 'hybrid', engine_strategy: 'truncate' });
    expect(sent(mock).at(-1)?.messages[0]?.content).toContain('- user: Find the bug');
    expect(result(run)).toMatchObject({ status: 'done' });
  });

  test.each([
    ['total_budget_usd', { model: 'gpt-4o', budget: { total_budget_usd: 0.0003 } }],
    ['max_input_tokens', { budget: { max_input_tokens: 90 } }],
  ])('a %s without room for its call leaves an outline, and the loop goes on', async (_limit, options) => {
    const { run, mock } = await compacted('hybrid', [LOOK, END], { options: { ...options, reminders: false } });
    expect(event(run)).toMatchObject({ strategy: 'hybrid', engine_strategy: 'truncate' });
    expect(mock.calls()).toHaveLength(2);
    expect(result(run)).toMatchObject({ status: 'done' });
  });

  test('truncate asks nobody', async () => {
    const { run, mock } = await compacted('truncate', [LOOK, END]);
    expect(mock.calls()).toHaveLength(2);
    expect(event(run)).toMatchObject({ engine_strategy: 'truncate' });
  });

  test('a callback comes before the model', async () => {
    const { run, mock } = await compacted('custom', [LOOK, END], {
      live: { callbacks: { compact: async (messages) => `${messages.length} gone` } },
    });
    expect(sent(mock)[1]?.messages[0]?.content).toContain('1 gone');
    expect(event(run)).toMatchObject({ strategy: 'custom', engine_strategy: 'custom' });
  });

  test('none keeps everything', async () => {
    const { run, mock } = await compacted('none', [LOOK, END]);
    expect(event(run)).toBeUndefined();
    expect(sent(mock)[1]?.messages).toHaveLength(3);
  });
});
