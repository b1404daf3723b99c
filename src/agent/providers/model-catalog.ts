/** Models as far as harn knows them: prices, what fits into a request, how long an answer may be, how much of a model it is. */
export interface ModelFacts {
  /** Beginning of the model's name. */
  readonly prefix: string;
  /** US dollars for a million tokens. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** What writing to the prompt cache costs; the price of input when left out. */
  readonly cacheWrite?: number;
  /** Size of the context in tokens, where it is not {@link USUAL_CONTEXT}. */
  readonly context?: number;
  /** Longest answer in tokens, where it is shorter than what harn asks for. */
  readonly maxOutput?: number;
}

/** The first prefix that fits decides, so longer names stand first. */
export const MODELS: readonly ModelFacts[] = [
  { prefix: 'claude-3-5-haiku', input: 0.8, output: 4, cacheRead: 0.08, cacheWrite: 1, context: 200_000, maxOutput: 8192 },
  { prefix: 'claude-3-5', input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, context: 200_000, maxOutput: 8192 },
  { prefix: 'claude-3-haiku', input: 0.25, output: 1.25, cacheRead: 0.03, cacheWrite: 0.3, context: 200_000, maxOutput: 4096 },
  { prefix: 'claude-3-opus', input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75, context: 200_000, maxOutput: 4096 },
  { prefix: 'claude-haiku', input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, context: 200_000 },
  { prefix: 'claude-opus', input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75, context: 200_000 },
  { prefix: 'claude-', input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, context: 200_000 },
  { prefix: 'gpt-4o-mini', input: 0.15, output: 0.6, cacheRead: 0.075 },
  { prefix: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25 },
  { prefix: 'gpt-4.1-mini', input: 0.4, output: 1.6, cacheRead: 0.1, context: 1_000_000 },
  { prefix: 'gpt-4.1', input: 2, output: 8, cacheRead: 0.5, context: 1_000_000 },
  { prefix: 'gpt-5-mini', input: 0.25, output: 2, cacheRead: 0.025, context: 272_000 },
  { prefix: 'gpt-5', input: 1.25, output: 10, cacheRead: 0.125, context: 272_000 },
  { prefix: 'o3', input: 2, output: 8, cacheRead: 0.5, context: 200_000 },
  { prefix: 'o4-mini', input: 1.1, output: 4.4, cacheRead: 0.275, context: 200_000 },
  { prefix: 'gemini-2.5-pro', input: 1.25, output: 10, cacheRead: 0.31, context: 1_000_000 },
  { prefix: 'gemini-2.5-flash', input: 0.3, output: 2.5, cacheRead: 0.075, context: 1_000_000 },
];

/** Undefined for a model that is not listed; a name may come with the organisation before it. */
export function modelFacts(model: string): ModelFacts | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return MODELS.find((facts) => name.startsWith(facts.prefix));
}

/** What models of today take at the least, unless they are small local ones. */
const USUAL_CONTEXT = 128_000;

/** Size of the model's context in tokens, as far as it is known. */
export function contextTokens(model: string): number {
  return modelFacts(model)?.context ?? USUAL_CONTEXT;
}

/** Longest answer in tokens; undefined where no limit is known that matters. */
export function maxOutputTokens(model: string): number | undefined {
  return modelFacts(model)?.maxOutput;
}

const SMALL = /(^|[-:/ ])([1-9]|1[0-4])(\.\d)?b\b|mini|nano|haiku|lite|tiny|small|phi-|gemma/i;
const FRONTIER = /claude-(opus|sonnet|3)|gpt-(4o|4\.1|5)|^o[13]|gemini-.*pro|405b/i;

/** How much of a model a name promises: `small`, `mid` or `frontier`. */
export function modelTier(model: string): 'small' | 'mid' | 'frontier' {
  if (SMALL.test(model)) return 'small';
  return FRONTIER.test(model) ? 'frontier' : 'mid';
}
