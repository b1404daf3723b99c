/** Model services that harn knows by name, as data (spec/agents.md 1.4). `harn.toml` adds others, see llm-settings.ts. */
export type Protocol = 'openai' | 'anthropic' | 'ollama' | 'mock';

export interface ServiceFacts {
  readonly protocol: Protocol;
  /** With everything that comes before the protocol's own path. */
  readonly baseUrl: string;
  /** Environment variables that override the address, first wins; `<NAME>_BASE_URL` when left out. */
  readonly urlVariables?: readonly string[];
  /** Environment variables that may hold the key, first wins; messages name the first. */
  readonly keyVariables: readonly string[];
  readonly key: 'required' | 'optional' | 'none';
  readonly defaultModel?: string | undefined;
  readonly tiers?: Readonly<Record<string, string>> | undefined;
}

/** Names of how much model a task needs (1.2 `model_tier`). */
export const TIER_NAMES = ['small', 'mid', 'frontier'] as const;

function compatible(baseUrl: string, keyVariables: readonly string[], defaultModel?: string): ServiceFacts {
  return { protocol: 'openai', baseUrl, keyVariables, key: 'required', defaultModel };
}

export const SERVICES: Readonly<Record<string, ServiceFacts>> = {
  anthropic: {
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY'],
    key: 'required',
    defaultModel: 'claude-sonnet-4-20250514',
    tiers: { small: 'claude-3-5-haiku-latest', mid: 'claude-sonnet-4-20250514', frontier: 'claude-opus-4-20250514' },
  },
  openai: {
    ...compatible('https://api.openai.com/v1', ['OPENAI_API_KEY'], 'gpt-4o'),
    tiers: { small: 'gpt-4o-mini', mid: 'gpt-4o', frontier: 'o3' },
  },
  openrouter: compatible('https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], 'anthropic/claude-sonnet-4'),
  gemini: {
    ...compatible('https://generativelanguage.googleapis.com/v1beta/openai', ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], 'gemini-2.5-flash'),
    tiers: { small: 'gemini-2.5-flash-lite', mid: 'gemini-2.5-flash', frontier: 'gemini-2.5-pro' },
  },
  ollama: {
    protocol: 'ollama',
    baseUrl: 'http://localhost:11434',
    urlVariables: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'],
    keyVariables: ['OLLAMA_API_KEY'],
    key: 'optional',
    defaultModel: 'llama3.2',
    tiers: { small: 'llama3.2', mid: 'qwen2.5:14b', frontier: 'llama3.3:70b' },
  },
  /** Its variable has no `/v1`, though its paths do. */
  local: {
    protocol: 'openai',
    baseUrl: 'http://localhost:8000/v1',
    urlVariables: ['LOCAL_LLM_BASE_URL', 'LOCAL_BASE_URL'],
    keyVariables: ['LOCAL_LLM_API_KEY'],
    key: 'optional',
    defaultModel: 'gpt-4o',
  },
  groq: compatible('https://api.groq.com/openai/v1', ['GROQ_API_KEY'], 'llama-3.3-70b-versatile'),
  together: compatible('https://api.together.xyz/v1', ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY']),
  deepseek: compatible('https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], 'deepseek-chat'),
  mistral: compatible('https://api.mistral.ai/v1', ['MISTRAL_API_KEY'], 'mistral-large-latest'),
  fireworks: compatible('https://api.fireworks.ai/inference/v1', ['FIREWORKS_API_KEY']),
  huggingface: compatible('https://router.huggingface.co/v1', ['HF_TOKEN', 'HUGGINGFACE_API_KEY']),
  mock: { protocol: 'mock', baseUrl: '', keyVariables: [], key: 'none', defaultModel: 'mock' },
};
