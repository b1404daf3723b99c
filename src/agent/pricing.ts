import type { Usage } from './provider.ts';

/** Dollars for a million tokens. Models that are not listed cost nothing that we know of. */
interface Price {
  readonly prefix: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

/** The first prefix that fits decides, so longer names stand first. */
const PRICES: readonly Price[] = [
  { prefix: 'claude-3-5-haiku', input: 0.8, output: 4, cacheRead: 0.08 },
  { prefix: 'claude-haiku', input: 1, output: 5, cacheRead: 0.1 },
  { prefix: 'claude-opus', input: 15, output: 75, cacheRead: 1.5 },
  { prefix: 'claude-', input: 3, output: 15, cacheRead: 0.3 },
  { prefix: 'gpt-4o-mini', input: 0.15, output: 0.6, cacheRead: 0.075 },
  { prefix: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25 },
  { prefix: 'o3', input: 2, output: 8, cacheRead: 0.5 },
  { prefix: 'gemini-2.5-pro', input: 1.25, output: 10, cacheRead: 0.31 },
  { prefix: 'gemini-2.5-flash', input: 0.3, output: 2.5, cacheRead: 0.075 },
];

const MILLION = 1_000_000;

/** What a call cost in US dollars. */
export function costUsd(model: string, usage: Usage): number {
  const price = priceOf(model);
  if (price === undefined) return 0;
  const fresh = Math.max(0, usage.input_tokens - usage.cache_read_tokens);
  return (fresh * price.input + usage.cache_read_tokens * price.cacheRead + usage.output_tokens * price.output) / MILLION;
}

/** What the prompt cache saved in US dollars. */
export function cacheSavingsUsd(model: string, usage: Usage): number {
  const price = priceOf(model);
  return price === undefined ? 0 : (usage.cache_read_tokens * (price.input - price.cacheRead)) / MILLION;
}

function priceOf(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return PRICES.find((price) => name.startsWith(price.prefix));
}
