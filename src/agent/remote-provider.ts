import { createAnthropicProvider } from './anthropic-provider.ts';
import type { HttpWorld } from './http-provider.ts';
import { llmError } from './llm-errors.ts';
import { createOllamaProvider } from './ollama-provider.ts';
import { createOpenAiProvider, OPENAI_SERVICES } from './openai-provider.ts';
import type { Provider } from './provider.ts';

/**
 * The adapter for a provider's name. A name of which only `<NAME>_BASE_URL` is known is a server that speaks OpenAI's
 * protocol; its key, if it wants one, is in `<NAME>_API_KEY`.
 *
 * @throws HarnError `llm`: not_found for a name of nothing, generic where HARN_LLM_CALLS_DISABLED forbids models
 */
export function createRemoteProvider(world: HttpWorld, name: string): Provider {
  if (forbidsCalls(world)) {
    throw llmError({
      category: 'generic',
      message: `HARN_LLM_CALLS_DISABLED is set: ${name} is not called; script the answers with llm_mock or --llm-mock`,
      provider: name,
      model: '',
    });
  }
  if (name === 'anthropic') return createAnthropicProvider(world);
  if (name === 'ollama') return createOllamaProvider(world);
  const known = OPENAI_SERVICES[name];
  if (known !== undefined) return createOpenAiProvider(world, name, known);
  const variable = `${name.toUpperCase()}_BASE_URL`;
  const url = world.env(variable);
  if (url === undefined)
    throw llmError({
      category: 'not_found',
      message: `unknown provider: ${name}; set ${variable} for a server of your own`,
      provider: name,
      model: '',
    });
  return createOpenAiProvider(world, name, { defaultBaseUrl: url, keyVariable: `${name.toUpperCase()}_API_KEY`, isKeyOptional: true });
}

function forbidsCalls(world: HttpWorld): boolean {
  return !['', '0', 'false'].includes(world.env('HARN_LLM_CALLS_DISABLED') ?? '');
}
