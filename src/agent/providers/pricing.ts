import { modelFacts } from './model-catalog.ts';
import type { Usage } from './provider.ts';

/** Models that are not listed cost nothing that we know of. */

const MILLION = 1_000_000;

/** What a call cost in US dollars. */
export function costUsd(model: string, usage: Usage): number {
  const price = modelFacts(model);
  if (price === undefined) return 0;
  const { cache_read_tokens: read, cache_write_tokens: written } = usage;
  const fresh = Math.max(0, usage.input_tokens - read - written);
  const kept = read * price.cacheRead + written * (price.cacheWrite ?? price.input);
  return (fresh * price.input + kept + usage.output_tokens * price.output) / MILLION;
}

/** What the prompt cache saved in US dollars. */
export function cacheSavingsUsd(model: string, usage: Usage): number {
  const price = modelFacts(model);
  return price === undefined ? 0 : (usage.cache_read_tokens * (price.input - price.cacheRead)) / MILLION;
}
