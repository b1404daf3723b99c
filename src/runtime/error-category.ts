import { dictGet } from './dict.ts';
import { Dict, type Value } from './value.ts';

/** Categories of errors (spec/language.md 11.7). */
export const ERROR_CATEGORIES: ReadonlySet<string> = new Set([
  'timeout',
  'auth',
  'rate_limit',
  'overloaded',
  'server_error',
  'transient_network',
  'schema_validation',
  'tool_error',
  'tool_rejected',
  'egress_blocked',
  'cancelled',
  'not_found',
  'circuit_open',
  'budget_exceeded',
  'generic',
]);

/** First rule that fits wins: an HTTP status in the text, timeouts, words of providers, broken connections. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b40[13]\b/, 'auth'],
  [/\b(?:404|410)\b/, 'not_found'],
  [/\b(?:408|504|522|524)\b/, 'timeout'],
  [/\b429\b/, 'rate_limit'],
  [/\b(?:503|529)\b/, 'overloaded'],
  [/\b50[02]\b/, 'server_error'],
  [/Deadline exceeded|timed? ?out/i, 'timeout'],
  [/overloaded_error/, 'overloaded'],
  [/api_error/, 'server_error'],
  [/insufficient_quota|rate_limit/, 'rate_limit'],
  [/invalid_api_key/, 'auth'],
  [/model_not_found/, 'not_found'],
  [/circuit_open/, 'circuit_open'],
  [/connection (?:reset|refused|closed)|broken pipe|dns error|stream error|unexpected eof/i, 'transient_network'],
];

/** The category of an error text. */
function classifyError(text: string): string {
  return RULES.find(([pattern]) => pattern.test(text))?.[1] ?? 'generic';
}

/** The category of a caught error: what a dict says, what a text looks like. */
export function errorCategory(error: Value): string {
  if (error instanceof Dict) {
    const category = dictGet(error, 'category');
    return typeof category === 'string' ? category : 'generic';
  }
  return typeof error === 'string' ? classifyError(error) : 'generic';
}
