import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseResumeConditions, type ResumeConditions, type TimeoutAction } from './resume-condition.ts';

export interface StoredConditions {
  readonly conditions: ResumeConditions;
  readonly action: TimeoutAction | { readonly unknown: string };
  /** The trigger had a predicate, which only its script can give back. */
  readonly isUnbound: boolean;
}

/**
 * Conditions as a snapshot holds them. An action of the timeout that this version does not know must not hinder
 * anything before that timeout fires (6.2).
 */
export function readStoredConditions(stored: JsonObject | null): StoredConditions | undefined {
  if (stored === null) return undefined;
  const timeout = stored.timeout;
  const written = isJsonObject(timeout) ? timeout.on_timeout : undefined;
  const isKnown =
    written === undefined || written === null || ['resume_with_summary', 'resume_with_input', 'fail'].includes(String(written));
  const readable = isKnown || !isJsonObject(timeout) ? stored : { ...stored, timeout: { ...timeout, on_timeout: null } };
  const conditions = parseResumeConditions(readable, 'resume_agent');
  if (conditions === undefined) return undefined;
  return {
    conditions,
    action: isKnown ? (conditions.timeout?.action ?? 'resume_with_summary') : { unknown: String(written) },
    isUnbound: isJsonObject(stored.trigger) && stored.trigger.when_unbound === true,
  };
}
