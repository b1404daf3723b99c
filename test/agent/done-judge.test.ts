import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { type Run, result, runActivation, script, sent } from './fake-activation.ts';

const SAYS = { text: 'All done.', input_tokens: 10, output_tokens: 1 };
const NO = { text: '{"done": false, "feedback": "The tests do not run."}', input_tokens: 100, output_tokens: 10 };
const YES = { text: '{"done": true}', input_tokens: 100, output_tokens: 10 };

async function judged(
  entries: readonly Json[],
  judge: JsonObject,
  options: JsonObject = {},
): Promise<{ run: Run; mock: ReturnType<typeof script> }> {
  const mock = script(...entries);
  const run = await runActivation({ prompt: 'Mend it', mock, options: { done_judge: judge, llm_retries: 0, ...options } });
  return { run, mock };
}

describe('done_judge as a dict (3.2)', () => {
  test('another call decides by the criteria; what is missing comes back as feedback', async () => {
    const { run, mock } = await judged([SAYS, NO, SAYS, YES], { criteria: ['the tests run', 'nothing else changed'] });
    const [, asked, second] = sent(mock);
    expect(asked?.messages[0]?.content).toBe(
      '<task>\nMend it\n</task>\n\n<criteria>\n- the tests run\n- nothing else changed\n</criteria>\n\n<conversation>\nuser: Mend it\n\nassistant: All done.\n</conversation>',
    );
    expect(second?.messages.at(-1)?.content).toBe(
      '<runtime_feedback kind="verify_completion">\nThe tests do not run.\n</runtime_feedback>',
    );
    expect(result(run)).toMatchObject({ status: 'done', llm: { iterations: 2, input_tokens: 220, output_tokens: 22 } });
  });

  test('verify_completion takes the same', async () => {
    const mock = script(SAYS, NO, SAYS, YES);
    await runActivation({ mock, options: { verify_completion: { prompt: 'tests run' } } });
    expect(mock.calls()).toHaveLength(4);
  });

  test.each([
    ['an answer that is no verdict', { text: 'Looks good to me' }],
    ['a failing model', { error: { category: 'server_error', message: 'down' } }],
  ])('%s lets the end pass', async (_what, entry) => {
    const { run } = await judged([SAYS, entry], {});
    expect(result(run)).toMatchObject({ status: 'done', llm: { iterations: 1 } });
  });

  test('objects only so often, so that the loop ends', async () => {
    const { run, mock } = await judged([SAYS, NO, SAYS, NO, SAYS], { max_objections: 2 });
    expect(result(run)).toMatchObject({ status: 'done', llm: { iterations: 3 } });
    expect(mock.calls()).toHaveLength(5);
  });

  test.each([
    ['total_budget_usd', { model: 'gpt-4o', budget: { total_budget_usd: 0.0002 } }],
    ['max_input_tokens', { budget: { max_input_tokens: 50 } }],
  ])('a %s without room for its call lets the end pass', async (_limit, options) => {
    const { run, mock } = await judged([SAYS], {}, options);
    expect(result(run)).toMatchObject({ status: 'done', llm: { iterations: 1 } });
    expect(mock.calls()).toHaveLength(1);
  });

  test('what the turn itself cost is counted before the judge is asked', async () => {
    const options = { model: 'gpt-4o', budget: { total_budget_usd: 0.01 } };
    const { mock } = await judged([{ ...SAYS, input_tokens: 3960 }], {}, options);
    expect(mock.calls()).toHaveLength(1);
  });

  test('its own model is asked', async () => {
    const { mock } = await judged([SAYS, YES], { provider: 'mock', model: 'judge-1', system: 'Be strict.' });
    expect(sent(mock)[1]).toMatchObject({ system: 'Be strict.' });
  });
});
