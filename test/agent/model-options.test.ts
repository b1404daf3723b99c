import { expect, test } from 'vitest';
import { checkModelOptions } from '../../src/agent/model-call/model-options.ts';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import { SERVICES } from '../../src/agent/providers/provider-catalog.ts';
import { resolveModel } from '../../src/agent/providers/resolve-model.ts';
import type { JsonObject } from '../../src/base/json.ts';

/** Options of 1.2: what cannot be is refused by its name, because it would do nothing, or something else than it says. */
const FIT: readonly JsonObject[] = [
  { output_format: 'json_object' },
  { output_format: { kind: 'json_schema', schema: {} } },
  { schema: { type: 'object' } },
  { schema_retry_nudge: false },
  { schema_retry_nudge: 'again' },
  { thinking: true },
  { thinking: { mode: 'enabled', budget_tokens: 2048 } },
  { thinking: { mode: 'effort', level: 'high' } },
  { thinking: { mode: 'adaptive', budget_tokens: null } },
  { budget: { max_cost_usd: 0.5, max_input_tokens: 1, max_output_tokens: null, total_budget_usd: 0 } },
];
test.each(FIT)('%j is taken', (options) => {
  expect(() => checkModelOptions(options, 'llm_call')).not.toThrow();
});

const UNFIT: readonly JsonObject[] = [
  { output_format: 'yaml' },
  { output_format: { schema: {} } },
  { schema: 'object' },
  { json_schema: true },
  { output_schema: [] },
  { schema_retry_nudge: 4 },
  { thinking: { mode: 'enabled', budget_tokens: 'much' } },
  { thinking: { mode: 'effort', level: 3 } },
  { budget: { max_cost_usd: '1' } },
  { budget: { max_cost: 1 } },
  { budget: { max_input_tokens: -1 } },
];
test.each(UNFIT)('%j is refused by its name', (options) => {
  expect(() => checkModelOptions(options, 'llm_call')).toThrow(`llm_call: option \`${Object.keys(options)[0]}\` must be`);
});

test('a tier that no service has is refused, and one that this service does not tell apart is its default', () => {
  const settings = { ...NO_SETTINGS, services: SERVICES };
  const ask = (provider: string, modelTier: string) => resolveModel({ provider, modelTier }, () => undefined, settings).model;
  expect(ask('openai', 'small')).toBe('gpt-4o-mini');
  expect(ask('deepseek', 'small')).toBe('deepseek-chat');
  expect(() => ask('openai', 'huge')).toThrow('model_tier `huge` is unknown to openai; it knows small, mid, frontier');
});
