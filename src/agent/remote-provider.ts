import { createAnthropicProvider } from './anthropic-provider.ts';
import { serviceOf, unknownProvider } from './endpoint.ts';
import type { HttpWorld } from './http-provider.ts';
import { llmError } from './llm-errors.ts';
import { createOllamaProvider } from './ollama-provider.ts';
import { createOpenAiProvider } from './openai-provider.ts';
import type { Provider } from './provider.ts';

/**
 * The adapter for a provider's name; see `serviceOf` for how names are found.
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
  const service = serviceOf(world, name);
  switch (service?.protocol) {
    case 'openai':
      return createOpenAiProvider(world, service);
    case 'anthropic':
      return createAnthropicProvider(world, service);
    case 'ollama':
      return createOllamaProvider(world, service);
    default:
      throw unknownProvider({ provider: name, model: '' });
  }
}

function forbidsCalls(world: HttpWorld): boolean {
  return !['', '0', 'false'].includes(world.env('HARN_LLM_CALLS_DISABLED') ?? '');
}
