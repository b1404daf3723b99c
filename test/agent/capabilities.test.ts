import { describe, expect, test } from 'vitest';
import { type Capabilities, capabilitiesOf } from '../../src/agent/providers/capabilities.ts';
import { decodeCapabilityRules } from '../../src/agent/providers/capability-rules.ts';
import { decodeLlmSettings } from '../../src/agent/providers/llm-manifest.ts';
import { mergeRules, NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import { resolveModel } from '../../src/agent/providers/resolve-model.ts';

const ROWS: readonly (readonly [provider: string, model: string, expected: Partial<Capabilities>])[] = [
  ['anthropic', 'claude-opus-4-7', { tool_search: ['bm25', 'regex'], thinking_modes: ['adaptive'], max_tools: 10_000 }],
  ['anthropic', 'claude-sonnet-4-20250514', { defer_loading: true, thinking_modes: ['enabled'] }],
  ['anthropic', 'claude-haiku-4-4', { defer_loading: false, native_tools: true }],
  ['anthropic', 'claude-haiku-4.5', { defer_loading: true }],
  ['anthropic', 'claude-3-5-haiku-latest', { defer_loading: false, prompt_caching: true, vision_supported: true }],
  ['openai', 'gpt-4o', { native_tools: true, vision_supported: true, requires_completion_tokens: false, json_schema: true }],
  ['openai', 'gpt-5.4-preview', { tool_search: ['hosted', 'client'], requires_completion_tokens: true }],
  ['openai', 'gpt-3.5-turbo', { native_tools: true, vision_supported: false }],
  ['openai', 'o3', { thinking_modes: ['effort'], reasoning_effort_supported: true }],
  ['openai', 'not-out-yet', { native_tools: true }],
  ['openrouter', 'anthropic/claude-sonnet-4', { native_tools: true, tool_search: [] }],
  ['groq', 'llama-3.3-70b-versatile', { native_tools: true, vision_supported: false }],
  ['deepseek', 'deepseek-chat', { native_tools: true, requires_reasoning_content: true }],
  ['deepseek', 'gpt-5.4', { defer_loading: true, requires_reasoning_content: true }],
  ['ollama', 'llava', { native_tools: false, vision_supported: true }],
  ['ollama', 'qwen2.5:14b', { native_tools: true }],
  ['mock', 'claude-opus-4-7', { tool_search: ['bm25', 'regex'] }],
  ['my-proxy', 'anything', { native_tools: false, json_schema: false, max_tools: null }],
];

describe('the table of capabilities', () => {
  test.each(ROWS)('%s/%s', (provider, model, expected) => {
    expect(capabilitiesOf(provider, model, {})).toMatchObject(expected);
  });

  test('rules of the project come before it, those of the script before them', () => {
    const project = decodeCapabilityRules(
      { anthropic: [{ model_match: 'claude-*', native_tools: false, prompt_caching: true }] },
      'harn.toml',
    );
    expect(capabilitiesOf('anthropic', 'claude-opus-4-7', project)).toMatchObject({ native_tools: false, tool_search: [] });
    const script = decodeCapabilityRules({ anthropic: [{ model_match: '*opus*', native_tools: true }] }, 'script');
    const both = mergeRules(script, project);
    expect(capabilitiesOf('anthropic', 'claude-opus-4-7', both)).toMatchObject({ native_tools: true });
    expect(capabilitiesOf('anthropic', 'claude-sonnet-4', both)).toMatchObject({ native_tools: false, prompt_caching: true });
  });

  test('a rule that cannot be names its place', () => {
    expect(() => decodeCapabilityRules({ x: [{ native_tools: true }] }, 'f.toml')).toThrow(/^f\.toml: capability rule x\.0\.model_match: /);
  });
});

describe('what harn.toml says of models', () => {
  const settings = decodeLlmSettings(
    {
      llm: {
        provider: 'mine',
        model: 'large',
        providers: {
          mine: { base_url: 'http://x', auth_env: ['A', 'B'], tiers: { small: 'tiny' } },
          open: { base_url: 'http://y', auth_style: 'none' },
        },
        aliases: { fast: 'openai:gpt-4o-mini', deep: { id: 'o3', provider: 'openai' } },
      },
      unrelated: { anything: 1 },
    },
    'harn.toml',
  );

  test('services', () => {
    expect(settings.services.mine).toMatchObject({ protocol: 'openai', keyVariables: ['A', 'B'], key: 'required' });
    expect(settings.services.open).toMatchObject({ key: 'none', keyVariables: [] });
    expect(settings.services.openai).toBe(NO_SETTINGS.services.openai);
  });

  const CHOICES: readonly (readonly [wish: object, env: Readonly<Record<string, string>>, provider: string, model: string])[] = [
    [{}, {}, 'mine', 'large'],
    [{ modelTier: 'small' }, {}, 'mine', 'tiny'],
    [{ provider: 'openai' }, {}, 'openai', 'gpt-4o'],
    [{ model: 'fast' }, {}, 'openai', 'gpt-4o-mini'],
    [{ model: 'deep', provider: 'mine' }, {}, 'mine', 'o3'],
    [{ model: 'claude-x' }, {}, 'anthropic', 'claude-x'],
    [{ model: 'something' }, {}, 'mine', 'something'],
    [{}, { HARN_DEFAULT_PROVIDER: 'openai' }, 'openai', 'gpt-4o'],
    [{}, { HARN_PROVIDER: 'ollama', HARN_MODEL: 'phi4' }, 'ollama', 'phi4'],
    [{}, { HARN_LLM_PROVIDER: 'auto', HARN_MODEL: 'gpt-x' }, 'openai', 'gpt-x'],
    [{ provider: 'auto', model: 'local:m' }, {}, 'ollama', 'm'],
  ];
  test.each(CHOICES)('%j with %j is %s/%s', (wish, env, provider, model) => {
    expect(resolveModel(wish, (name) => env[name], settings)).toEqual({ provider, model });
  });

  test('a mistake names the key', () => {
    expect(() => decodeLlmSettings({ llm: { providers: { x: { url: 'http://x' } } } }, 'harn.toml')).toThrow(
      /^harn\.toml: llm\.providers\.x/,
    );
  });
});
