import { HarnError } from '../base/harn-error.ts';
import type { Json } from '../base/json.ts';
import { HarnRaise } from './errors.ts';
import { fromJson } from './json.ts';
import { Dict, type Value, withText } from './value.ts';

/** Ends the run at once with this code: `exit(n)`. No catch, finally or defer of the script sees it. */
export class ExitRequest extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super(`exit(${exitCode})`);
    this.exitCode = exitCode;
  }
}

/**
 * The value that `catch` binds (spec/language.md 6.6, spec/agents.md 0.4). Requests to end the run and defects of
 * harn itself are nobody's business but the top level's: they are thrown on.
 */
export function caughtValue(error: unknown): Value {
  if (error instanceof HarnRaise) return error.caught;
  if (error instanceof HarnError) return error.code === 'plain' ? error.message : diagnosticValue(error);
  if (isStackOverflow(error)) return 'Stack overflow: too many nested calls';
  throw error;
}

export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

const FIELDS = ['operation', 'worker_id', 'status', 'field', 'path', 'detail'] as const;

/** A diagnostic as scripts see it: a dict that stands in for its message wherever text is wanted. */
export function diagnosticValue(error: HarnError): Dict {
  if (isModelError(error)) return fromJson(error.data as Json) as Dict;
  const value = new Dict();
  value._type = 'diagnostic';
  value.code = error.code;
  value.message = error.message;
  value.category = 'generic';
  for (const field of FIELDS) {
    const fact = error.data[field];
    value[field] = fact === undefined || fact === null ? undefined : fromJson(fact);
  }
  return withText(value, error.message);
}

/** A failed model call is a plain dict with category, kind and reason (spec/agents.md 1.7). */
export function isModelError(error: HarnError): boolean {
  return typeof error.data.category === 'string' && typeof error.data.reason === 'string';
}
