import { HarnError } from '../../base/harn-error.ts';
import { type LlmSettings, type ModelAlias, NO_SETTINGS } from './llm-settings.ts';
import { TIER_NAMES } from './provider-catalog.ts';

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

/** Names that stand for a model whatever the provider; `harn.toml` adds others. */
export const BUILT_IN_ALIASES: Readonly<Record<string, ModelAlias>> = {
  small: { id: 'claude-3-5-haiku-latest', provider: 'anthropic' },
  mid: { id: 'gpt-4o-mini', provider: 'openai' },
  frontier: { id: 'claude-opus-4-20250514', provider: 'anthropic' },
};

/** An alias of the project, or one of harn's own. */
export function aliasOf(name: string, settings: LlmSettings): ModelAlias | undefined {
  if (Object.hasOwn(settings.aliases, name)) return settings.aliases[name];
  return Object.hasOwn(BUILT_IN_ALIASES, name) ? BUILT_IN_ALIASES[name] : undefined;
}

/** The provider that a model's name gives away; undefined for other names. */
export function inferProvider(model: string): string | undefined {
  return SELECTORS.find((candidate) => candidate.matches(model))?.provider;
}

/**
 * Explicit provider, then `HARN_LLM_PROVIDER` (or `HARN_PROVIDER`), then the model's name, then `HARN_DEFAULT_PROVIDER`,
 * then the project's choice, then anthropic. The project's model goes with the project's provider alone.
 *
 * @param env reads one environment variable
 */
export function resolveModel(wish: ModelWish, env: (name: string) => string | undefined, settings: LlmSettings = NO_SETTINGS): ModelTarget {
  const named = explicit(wish.provider) ?? explicit(env('HARN_LLM_PROVIDER')) ?? explicit(env('HARN_PROVIDER'));
  const given = nonEmpty(wish.model) ?? nonEmpty(env('HARN_LLM_MODEL')) ?? nonEmpty(env('HARN_MODEL'));
  const fallback = explicit(env('HARN_DEFAULT_PROVIDER')) ?? explicit(settings.provider);
  const isProjects = wish.modelTier === undefined && (named ?? fallback) === explicit(settings.provider);
  const asked = given ?? (isProjects ? settings.model : undefined);
  const alias = asked === undefined ? undefined : aliasOf(asked, settings);
  const model = alias?.id ?? asked;
  const selector = model === undefined ? undefined : SELECTORS.find((candidate) => candidate.matches(model));
  const provider =
    named ?? nonEmpty(alias?.provider) ?? (given === undefined ? fallback : undefined) ?? selector?.provider ?? fallback ?? 'anthropic';
  if (model === undefined) return { provider, model: defaultModel(provider, wish.modelTier, settings) };
  const sent = selector?.strip !== undefined && provider === selector.provider ? model.slice(selector.strip.length) : model;
  return { provider, model: sent };
}

function defaultModel(provider: string, tier: string | undefined, { services }: LlmSettings): string {
  const service = Object.hasOwn(services, provider) ? services[provider] : undefined;
  const known = [...new Set([...TIER_NAMES, ...Object.keys(service?.tiers ?? {})])];
  if (tier !== undefined && !known.includes(tier))
    throw new HarnError('plain', `model_tier \`${tier}\` is unknown to ${provider}; it knows ${known.join(', ')}`);
  return service?.tiers?.[tier ?? ''] ?? service?.defaultModel ?? 'default';
}

function explicit(provider: string | undefined): string | undefined {
  return provider === 'auto' ? undefined : nonEmpty(provider);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
