import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import type { ParkRequest } from '../lifecycle/activation.ts';
import { type AwaitResumptionRequest, parseAwaitResumption } from '../lifecycle/await-resumption.ts';
import { hasConditions } from '../lifecycle/resume-condition.ts';
import { redactSpec, storableSpec } from '../lifecycle/spec-value.ts';
import type { CallResult } from './loop-state.ts';
import type { ToolSpec } from './providers/provider.ts';
import type { ToolCall } from './transcript/message.ts';

/**
 * The lifecycle tool with which a model parks its own loop (spec/agents.md 7.3, 7.4). It is never dispatched: the
 * loop intercepts the call, because parking is a change of the worker and not an effect on the outside.
 */
export const AWAIT_RESUMPTION = 'agent_await_resumption';

export const AWAIT_RESUMPTION_SPEC: ToolSpec = {
  name: AWAIT_RESUMPTION,
  description:
    'Park this agent until somebody or something resumes it. Use it only when you cannot go on without an answer, a decision or an event from outside.',
  parameters: {
    type: 'object',
    properties: {
      reason: { type: 'string', description: 'Why you wait, and for what; shown to whoever may resume you.' },
      conditions: {
        type: 'object',
        description:
          'What may wake you: {trigger: {kind, provider}}, {timeout: {duration_minutes, on_timeout}} or {on_event: topic}. Leave it out to wait for an explicit resume.',
      },
    },
    required: ['reason'],
  },
  annotations: { agent_lifecycle: true, structural: true, initiator: 'self' },
};

export type AwaitArguments =
  | { readonly kind: 'valid'; readonly request: ParkRequest }
  | { readonly kind: 'invalid'; readonly error: HarnError };

/** Checks what the model wrote; a fault is the model's and goes back to it (7.4). */
export function readAwaitArguments(args: JsonObject): AwaitArguments {
  try {
    const request = parseAwaitResumption(args.reason, args.conditions);
    return { kind: 'valid', request: { reason: request.reason, initiator: 'self', ...requestConditions(request) } };
  } catch (error) {
    if (error instanceof HarnError && error.code.startsWith('HARN-SUS-')) return { kind: 'invalid', error };
    throw error;
  }
}

/** Conditions as a park request has them: `conditions` for the files, `liveConditions` with the closures of a script. */
export function requestConditions({ conditions }: AwaitResumptionRequest): Pick<ParkRequest, 'conditions' | 'liveConditions'> {
  if (!hasConditions(conditions)) return { conditions: undefined };
  return { conditions: storableSpec(conditions.spec), liveConditions: conditions.spec };
}

/** The result of a call that parks the loop; it stays in history after a resume. */
export function placeholderText(reason: string): string {
  return `${AWAIT_RESUMPTION} was not dispatched: awaiting_resumption — agent suspended awaiting resumption: ${reason}`;
}

/** Results of a turn that parks: nothing of it ran. */
export function parkedResults(calls: readonly ToolCall[], awaiting: number, reason: string): CallResult[] {
  return calls.map(({ id, name }, pos) =>
    pos === awaiting
      ? { pos, id, name, status: 'awaiting_resumption', text: placeholderText(reason) }
      : {
          pos,
          id,
          name,
          status: 'skipped',
          text: `${name} was not dispatched: skipped — the agent suspended (${AWAIT_RESUMPTION}) before this call ran`,
        },
  );
}

/** Results of a turn whose park was refused or cannot be: nothing of it ran either. */
export function refusedResults(calls: readonly ToolCall[], awaiting: number, text: string): CallResult[] {
  return calls.map(({ id, name }, pos) =>
    pos === awaiting
      ? { pos, id, name, status: 'error', text: `Error: ${text}` }
      : { pos, id, name, status: 'skipped', text: `${name} was not dispatched: the ${AWAIT_RESUMPTION} call in this turn was invalid` },
  );
}

/** What the model is told about its invalid call; the code and the dotted path are in it. */
export function invalidAwaitFeedback(error: HarnError): string {
  const field = typeof error.data.field === 'string' ? ` (conditions.${error.data.field})` : '';
  return (
    `Invalid ${AWAIT_RESUMPTION} call: ${error.message}${field}. ` +
    'This tool does nothing but park you. `reason` must be a non-empty text. `conditions.trigger` must be an object with `kind` and `provider`; ' +
    'for a plain topic use `conditions.on_event`. Leave `conditions` out to wait for your parent or an operator.'
  );
}

/** `audit` of the event `tool_call_audit` for a park (7.3 step 5, 11.2 step 4). */
export function parkAudit(facts: {
  readonly status: 'suspended' | 'daemon_idle';
  readonly reason: string;
  readonly workerId: string;
  readonly conditions: JsonObject | undefined;
}): JsonObject {
  const { status, reason, workerId, conditions } = facts;
  return {
    layer: 'agent_lifecycle',
    status,
    initiator: 'self',
    reason,
    worker_id: workerId,
    has_conditions: conditions !== undefined && Object.keys(conditions).length > 0,
    conditions: conditions === undefined ? null : redactSpec(conditions),
  };
}
