import type { JsonObject } from '../base/json.ts';
import { camelEventName, type SessionEvent } from './hooks.ts';
import type { Worker } from './worker.ts';

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
