import type { Message } from '../transcript/message.ts';
import { createAnthropicProvider } from './anthropic-provider.ts';
import { capabilitiesOf, isKnownModel } from './capabilities.ts';
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
  return withoutBlindSpots(world, adapter(world, name));
}

/** Images never go to a model that is known not to see (spec/agents.md 1.4). */
function withoutBlindSpots(world: HttpWorld, provider: Provider): Provider {
  return {
    async *stream(request, signal) {
      const { provider: name, model, messages } = request;
      const own = world.settings.capabilities;
      if (messages.some(hasImage) && isKnownModel(name, model, own) && !capabilitiesOf(name, model, own).vision_supported) {
        const message = `${name}/${model} takes no images`;
        throw llmError({ category: 'generic', reason: 'invalid_request', message, provider: name, model });
      }
      yield* provider.stream(request, signal);
    },
  };
}

function hasImage({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((block) => block.type === 'image');
}

function adapter(world: HttpWorld, name: string): Provider {
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
