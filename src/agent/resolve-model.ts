/** Which service answers for a model, and under which name (spec/agents.md 1.4). Pure; the environment comes in. */

export interface ModelTarget {
  readonly provider: string;
  readonly model: string;
}

export interface ModelWish {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly modelTier?: string | undefined;
}

interface Selector {
  readonly matches: (model: string) => boolean;
  readonly provider: string;
  /** Taken off the front of the name that is sent. */
  readonly strip?: string;
}

const startsWith = (prefix: string) => (model: string) => model.startsWith(prefix);

/** In this order: `local:a/b` is ollama's although it has a slash. */
const SELECTORS: readonly Selector[] = [
  { matches: startsWith('local:'), provider: 'ollama', strip: 'local:' },
  { matches: startsWith('ollama:'), provider: 'ollama', strip: 'ollama:' },
  { matches: (model) => /^[^/\s]+\/[^/\s]+$/.test(model), provider: 'openrouter' },
  { matches: startsWith('claude-'), provider: 'anthropic' },
  { matches: (model) => /^(gpt-|o1|o3|o4)/.test(model), provider: 'openai' },
  { matches: startsWith('gemini-'), provider: 'gemini' },
  { matches: (model) => /^[^:\s]+:[^:\s]+$/.test(model), provider: 'ollama' },
];

const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  mock: 'mock',
  anthropic: 'claude-sonnet-4-20250514',
  openai: 'gpt-4o',
  openrouter: 'anthropic/claude-sonnet-4',
  ollama: 'llama3.2',
  local: 'gpt-4o',
  gemini: 'gemini-2.5-flash',
};

const TIERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anthropic: { small: 'claude-3-5-haiku-latest', mid: 'claude-sonnet-4-20250514', frontier: 'claude-opus-4-20250514' },
  openai: { small: 'gpt-4o-mini', mid: 'gpt-4o', frontier: 'o3' },
  gemini: { small: 'gemini-2.5-flash-lite', mid: 'gemini-2.5-flash', frontier: 'gemini-2.5-pro' },
  ollama: { small: 'llama3.2', mid: 'qwen2.5:14b', frontier: 'llama3.3:70b' },
};

/**
 * Explicit provider, then `HARN_LLM_PROVIDER`, then the model's name, then `HARN_DEFAULT_PROVIDER`, then anthropic.
 *
 * @param env reads one environment variable
 */
export function resolveModel(wish: ModelWish, env: (name: string) => string | undefined): ModelTarget {
  const model = wish.model ?? env('HARN_LLM_MODEL');
  const selector = model === undefined ? undefined : SELECTORS.find((candidate) => candidate.matches(model));
  const provider =
    explicit(wish.provider) ??
    explicit(env('HARN_LLM_PROVIDER')) ??
    selector?.provider ??
    explicit(env('HARN_DEFAULT_PROVIDER')) ??
    'anthropic';
  if (model === undefined) return { provider, model: TIERS[provider]?.[wish.modelTier ?? ''] ?? DEFAULT_MODELS[provider] ?? 'default' };
  const sent = selector?.strip !== undefined && provider === selector.provider ? model.slice(selector.strip.length) : model;
  return { provider, model: sent };
}

function explicit(provider: string | undefined): string | undefined {
  return provider === undefined || provider === '' || provider === 'auto' ? undefined : provider;
}
