import type { JsonObject } from '../base/json.ts';
import { camelEventName, type SessionEvent } from './hooks.ts';
import type { Worker } from './worker.ts';

const COMMON = [
  'event',
  'handle',
  'worker',
  'reason',
  'initiator',
  'has_conditions',
  'has_trigger',
  'has_timeout',
  'has_on_event',
  'iterations_completed',
  'session_id',
];
const PRE_RESUME = ['snapshot_path', 'suspended_at', 'resume_cause', 'has_input', 'continue_transcript', 'gap_ms'];

/** The fields of 10.4 beside the common ones. */
const FIELDS: Partial<Record<SessionEvent, readonly string[]>> = {
  pre_suspend: ['requested_at'],
  post_suspend: ['snapshot_path', 'suspended_at', 'suspended_at_turn', 'resume_by_mechanism', 'auto_resume_trigger'],
  pre_resume: PRE_RESUME,
  post_resume: [...PRE_RESUME, 'resumed_at'],
};

/** Of what a host says about a transition hooks get the fields that a transition of the runtime would give them. */
export function hostPayload(event: SessionEvent, payload: JsonObject): JsonObject {
  const fields = FIELDS[event];
  if (fields === undefined) return payload;
  const known = new Set([...COMMON, ...fields]);
  return Object.fromEntries(Object.entries(payload).filter(([name]) => known.has(name)));
}

/** What the four lifecycle hooks are told (spec/agents.md 10.4): who, why, and which conditions exist, never their content. */
export interface HookFacts {
  readonly reason: string;
  readonly initiator: string;
  readonly conditions: JsonObject | undefined;
}

export function suspendPayload(event: SessionEvent, worker: Worker, facts: HookFacts): JsonObject {
  const conditions = facts.conditions ?? {};
  const has = (key: string): boolean => conditions[key] !== undefined && conditions[key] !== null;
  return {
    event: camelEventName(event),
    handle: worker.id,
    worker: { id: worker.id, name: worker.record.name, mode: worker.record.mode },
    reason: facts.reason,
    initiator: facts.initiator,
    has_conditions: has('trigger') || has('timeout') || has('on_event'),
    has_trigger: has('trigger'),
    has_timeout: has('timeout'),
    has_on_event: has('on_event'),
    iterations_completed: worker.iterationsCompleted,
    session_id: worker.sessionId,
  };
}
