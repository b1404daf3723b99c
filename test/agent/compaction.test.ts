import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compactionPlan } from '../../src/agent/transcript/compaction.ts';
import { assistantMessage, type Message, toolMessage, userMessage } from '../../src/agent/transcript/message.ts';
import { estimateTokens } from '../../src/agent/transcript/transcript.ts';
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

/** Turns with one call and its result each, oldest first. */
function turns(count: number, resultLength: number): Message[] {
  return Array.from({ length: count }, (_, index) => [
    assistantMessage('', [{ id: `call_${index}`, name: 'look', arguments: {} }]),
    toolMessage({ id: `call_${index}`, name: 'look' }, `${index} ${'r'.repeat(resultLength)}`),
  ]).flat();
}

describe('the hard limit', () => {
  const FIT = { keepFirst: 0, keepLast: 10, mode: 'automatic', strategy: 'hybrid', summary: 'So far' } as const;
  const applied = (messages: readonly Message[], limitTokens: number): readonly Message[] => {
    const plan = compactionPlan(messages, { ...FIT, limitTokens });
    return plan === undefined ? messages : messages.toSpliced(plan.at, plan.removed, ...plan.inserted);
  };

  test('fewer of the last messages stay where all of them do not fit', () => {
    const messages = [userMessage('Work'), ...turns(6, 8000)];
    expect(applied(messages, 20_000)).toHaveLength(11);
    expect(applied(messages, 7000)).toEqual([expect.objectContaining({ role: 'user' }), ...messages.slice(-4)]);
  });

  test('the last results stay, and lose their ends when they do not fit, the longest first', () => {
    const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'look', arguments: {} }));
    const lengths = [40_000, 100, 20_000];
    const results = calls.map((call, index) => toolMessage(call, 'r'.repeat(lengths[index] ?? 0)));
    const after = applied([userMessage('Work'), assistantMessage('', calls), ...results], 5000);
    expect(after.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool']);
    expect(after[3]).toEqual(results[1]);
    expect(after[2]?.content).toMatch(/^r+\n\[cut: the result did not fit into the model's context\]$/);
    expect(String(after[2]?.content)).toHaveLength(String(after[4]?.content).length);
    expect(estimateTokens(after)).toBeLessThanOrEqual(5000);
    expect(estimateTokens(after)).toBeGreaterThan(4900);
  });

  test('whatever the sizes are, the outcome fits, keeps the last turn, and never parts a call from its result', () => {
    const length = fc.integer({ min: 0, max: 40_000 });
    fc.assert(
      fc.property(fc.array(length, { minLength: 1, maxLength: 20 }), fc.integer({ min: 2500, max: 30_000 }), (lengths, limit) => {
        const messages = [userMessage('Work'), ...lengths.flatMap((size) => turns(1, size))];
        const after = applied(messages, limit);
        expect(estimateTokens(after)).toBeLessThanOrEqual(limit);
        expect(after.slice(1).map(({ role }) => role)).toEqual(turns((after.length - 1) / 2, 0).map(({ role }) => role));
        expect(after.at(-2)).toEqual(messages.at(-2));
        expect(after.length).toBeGreaterThanOrEqual(3);
      }),
    );
  });

  const read = (part: number): JsonObject => ({ tool_calls: [{ name: 'read', arguments: { part } }] });
  const READS = tool('read', () => 'r'.repeat(12_000));

  test('a loop never sends more, though all of the last messages are to stay', async () => {
    const mock = script(read(1), read(2), read(3), SUMMARY, read(4), read(5), SUMMARY, END);
    const options = { compaction: { hard_limit: 8000 }, reminders: false, agent_await_resumption_enabled: false };
    const run = await runActivation({ mock, options, live: { tools: [READS] } });
    expect(sent(mock).map(({ messages }) => estimateTokens(messages as Message[]) <= 8000)).not.toContain(false);
    expect(result(run)).toMatchObject({ status: 'done' });
    expect(run.events.filter(({ type }) => type === 'transcript_compacted')).toHaveLength(2);
  });

  test('one result that is too long for the model is cut, and nobody is asked for a summary of the few words before it', async () => {
    const mock = script(read(1), END);
    const options = { compaction: { hard_limit: 2500 }, reminders: false };
    const run = await runActivation({ prompt: 'Find the bug', mock, options, live: { tools: [READS] } });
    const { messages = [] } = sent(mock)[1] ?? {};
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect([messages[0]?.content, String(messages[2]?.content).length < 12_000]).toEqual(['Find the bug', true]);
    expect(event(run)).toMatchObject({ archived_messages: 0, cut_results: 1, engine_strategy: 'truncate' });
    expect(result(run)).toMatchObject({ status: 'done', text: 'end' });
  });

  test('a summary that would take the place of very little is not asked for', async () => {
    const mock = script(read(1), read(2), END);
    const options = { compaction: { threshold: 1000, keep_last_n: 10 }, reminders: false };
    const run = await runActivation({ mock, options, live: { tools: [READS] } });
    expect([event(run), mock.calls().length]).toEqual([undefined, 3]);
  });

  const OVERFLOW = { error: { category: 'generic', message: 'prompt is too long: 250000 tokens > 200000 maximum' } };

  test('a model that finds the request too long is asked once more, with less', async () => {
    const mock = script(read(1), read(2), read(3), OVERFLOW, SUMMARY, END);
    const run = await runActivation({ mock, options: { reminders: false }, live: { tools: [READS] } });
    const sizes = sent(mock).map(({ messages }) => estimateTokens(messages as Message[]));
    expect(sizes.at(-1)).toBeLessThan((sizes[3] ?? 0) * 0.7);
    expect(sent(mock).at(-1)?.messages.at(-1)).toEqual(sent(mock)[3]?.messages.at(-1));
    expect(result(run)).toMatchObject({ status: 'done', text: 'end' });
    expect(run.records.filter(({ t }) => t === 'edit')).toHaveLength(1);
  });

  test.each([
    ['still too long', [read(1), OVERFLOW, SUMMARY, OVERFLOW], {}],
    ['nothing may go', [read(1), OVERFLOW], { compaction: 'none' }],
    ['nothing can go', [OVERFLOW], {}],
  ])('when it is %s the loop ends with its error', async (_what, entries, options) => {
    const mock = script(...entries);
    const ended = runActivation({ mock, options: { llm_retries: 0, ...options }, live: { tools: [tool('read', () => 'short')] } });
    await expect(ended).rejects.toMatchObject({ data: { reason: 'context_overflow' } });
    expect(mock.calls()).toHaveLength(entries.length);
  });
});
