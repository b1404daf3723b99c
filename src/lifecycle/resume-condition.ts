import { errorText } from '../base/harn-error.ts';
import { type Instant, LAST_INSTANT } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import type { ParkRequest } from './activation.ts';
import { isSpecObject, Opaque, redactSpec, type SpecObject, type SpecValue, specTypeName } from './spec-value.ts';
import { conditionsError, timeoutActionError } from './sus-errors.ts';
import { parseTriggerSpec, type TriggerSpec } from './trigger-spec.ts';

/** What may end a suspension besides an explicit resume (spec/agents.md chapter 6). */
export type TimeoutAction = 'resume_with_summary' | 'resume_with_input' | 'fail';

export interface ResumeConditions {
  /** Normalised, as written otherwise; closures included. Gives itself when it is parsed again. */
  readonly spec: SpecObject;
  /** What envelopes and summaries show of it. */
  readonly declaration: JsonObject;
  readonly trigger: TriggerSpec | undefined;
  readonly timeout: { readonly durationMinutes: number; readonly action: TimeoutAction } | undefined;
  readonly onEvent: string | undefined;
}

const ROOT_KEYS = ['trigger', 'timeout', 'on_event'];
const TIMEOUT_KEYS = ['duration_minutes', 'on_timeout'];
const ACTIONS: readonly TimeoutAction[] = ['resume_with_summary', 'resume_with_input', 'fail'];
const MS_PER_MINUTE = 60_000;

/**
 * Validates and normalises conditions; pure and idempotent.
 *
 * @param operation the function that was called, for the error
 * @returns undefined for nil. `{}` gives conditions with an empty `spec`, which park open like none
 * @throws HarnError `HARN-SUS-002` with the field path, `HARN-SUS-008` for `on_timeout`
 */
export function parseResumeConditions(value: SpecValue | undefined, operation: string): ResumeConditions | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isSpecObject(value))
    throw conditionsError(operation, '', `expected dict or nil, got ${specTypeName(value)}`, gotDetail('dict', value));
  refuseUnknownKeys(value, ROOT_KEYS, '', 'unknown field; expected trigger, timeout, or on_event', operation);
  const trigger = parseTrigger(value.trigger, operation);
  const timeout = parseTimeout(value.timeout, operation);
  const onEvent = parseOnEvent(value.on_event, operation);
  const spec: SpecObject = {
    ...(trigger === undefined ? {} : { trigger: trigger.spec }),
    ...(timeout === undefined ? {} : { timeout: timeout.spec }),
    ...(onEvent === undefined ? {} : { on_event: onEvent }),
  };
  return { spec, declaration: redactSpec(spec), trigger: trigger?.parsed, timeout: timeout?.parsed, onEvent };
}

/** Whether there is anything to wait for; without, the worker is parked open. */
export function hasConditions(conditions: ResumeConditions | undefined): conditions is ResumeConditions {
  return conditions !== undefined && Object.keys(conditions.spec).length > 0;
}

/** When a timeout is due: an absolute instant, so that it survives restarts. */
export function deadlineOf(suspendedAt: Instant, durationMinutes: number): Instant {
  return Math.min(suspendedAt + durationMinutes * MS_PER_MINUTE, LAST_INSTANT);
}

function parseTrigger(value: SpecValue | undefined, operation: string): { spec: SpecObject; parsed: TriggerSpec } | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isSpecObject(value)) {
    throw conditionsError(operation, 'trigger', `expected dict or nil, got ${specTypeName(value)}`, gotDetail('dict', value));
  }
  try {
    return { spec: value, parsed: parseTriggerSpec(value, 'resume') };
  } catch (error) {
    throw conditionsError(operation, 'trigger', errorText(error));
  }
}

function parseTimeout(
  value: SpecValue | undefined,
  operation: string,
): { spec: SpecObject; parsed: NonNullable<ResumeConditions['timeout']> } | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isSpecObject(value)) {
    throw conditionsError(operation, 'timeout', `expected dict or nil, got ${specTypeName(value)}`, gotDetail('dict', value));
  }
  refuseUnknownKeys(value, TIMEOUT_KEYS, 'timeout.', 'unknown field; expected duration_minutes or on_timeout', operation);
  const durationMinutes = positiveInt(value.duration_minutes);
  if (durationMinutes === undefined) {
    throw conditionsError(operation, 'timeout.duration_minutes', 'must be a positive int', gotDetail('int', value.duration_minutes));
  }
  const action = parseAction(value.on_timeout, operation);
  return { spec: { duration_minutes: value.duration_minutes, on_timeout: action }, parsed: { durationMinutes, action } };
}

/** Integers beyond 2^53 are accepted too: their deadline is the last instant there is. */
function positiveInt(value: SpecValue | undefined): number | undefined {
  const plain = value instanceof Opaque && typeof value.value === 'bigint' ? Number(value.value) : value;
  return typeof plain === 'number' && Number.isInteger(plain) && plain > 0 ? plain : undefined;
}

function parseAction(value: SpecValue | undefined, operation: string): TimeoutAction {
  if (value === undefined || value === null) return 'resume_with_summary';
  if (typeof value !== 'string') throw timeoutActionError(operation, { typeName: specTypeName(value) });
  const action = ACTIONS.find((known) => known === value);
  if (action === undefined) throw timeoutActionError(operation, { text: value });
  return action;
}

function parseOnEvent(value: SpecValue | undefined, operation: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    throw conditionsError(operation, 'on_event', `expected string or nil, got ${specTypeName(value)}`, gotDetail('string', value));
  }
  const topic = value.trim();
  if (topic === '') throw conditionsError(operation, 'on_event', 'must be a non-empty string');
  if (!/^[A-Za-z0-9._-]+$/.test(topic)) throw conditionsError(operation, 'on_event', `topic '${topic}' contains unsupported characters`);
  return topic;
}

function refuseUnknownKeys(value: SpecObject, known: readonly string[], prefix: string, problem: string, operation: string): void {
  const unknown = Object.keys(value)
    .sort()
    .find((key) => !known.includes(key));
  if (unknown !== undefined) throw conditionsError(operation, `${prefix}${unknown}`, problem);
}

function gotDetail(expected: string, value: SpecValue | undefined): JsonObject {
  return { expected, got: specTypeName(value) };
}

/** The conditions of a request, with their closures when there are any. */
export function conditionsOf(request: ParkRequest): ResumeConditions | undefined {
  const conditions = parseResumeConditions((request.liveConditions ?? request.conditions) as SpecValue | undefined, 'suspend_agent');
  return hasConditions(conditions) ? conditions : undefined;
}
