import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';

/** The diagnostics HARN-SUS-001 … 010 with their exact texts and fields (spec/agents.md 5.9). 004 is in store/snapshot-error.ts. */
interface SusFacts {
  readonly operation: string;
  readonly workerId?: string | undefined;
  readonly status?: string | undefined;
  readonly field?: string | undefined;
  readonly path?: string | undefined;
  readonly detail?: JsonObject | undefined;
}

function susError(code: string, text: string, facts: SusFacts, cause?: unknown): HarnError {
  return new HarnError(code, `${code}: ${text}`, {
    data: {
      operation: facts.operation,
      worker_id: facts.workerId ?? null,
      status: facts.status ?? null,
      field: facts.field ?? null,
      path: facts.path ?? null,
      detail: facts.detail ?? null,
    },
    cause,
  });
}

/** 001: suspend of a worker that is not running. */
export function notRunningError(workerId: string, status: string, detail?: JsonObject): HarnError {
  const text = `suspend_agent: worker ${workerId} is not running (status=${status})`;
  return susError('HARN-SUS-001', text, { operation: 'suspend_agent', workerId, status, detail });
}

/** 002: invalid conditions; an empty `field` means the root. */
export function conditionsError(operation: string, field: string, problem: string, detail?: JsonObject): HarnError {
  const where = field === '' ? 'ResumeConditions' : `ResumeConditions.${field}`;
  return susError('HARN-SUS-002', `invalid ${where}: ${problem}`, { operation, field: field === '' ? undefined : field, detail });
}

/** 003: resume of a worker that is not suspended. `handle` is its current summary. */
export function notSuspendedError(workerId: string, status: string, handle: JsonObject): HarnError {
  const text = `resume_agent: worker ${workerId} is not suspended (status=${status})`;
  return susError('HARN-SUS-003', text, { operation: 'resume_agent', workerId, status, detail: { handle } });
}

/** 005, blank reason. */
export function blankReasonError(): HarnError {
  return susError('HARN-SUS-005', 'agent_await_resumption reason is required', {
    operation: 'agent_await_resumption',
    detail: { reason: 'blank_reason' },
  });
}

/** 005, used as the handler of a tool. */
export function notStructuralError(): HarnError {
  return susError('HARN-SUS-005', 'agent_await_resumption is handled structurally by agent_loop and cannot be invoked directly', {
    operation: 'agent_await_resumption',
    detail: { reason: 'not_structural' },
  });
}

/** What the caller asked for, as 006 names it. */
export type RacingOperation = 'resume_agent' | 'suspend_agent' | 'close_agent';

/** 006: the claim was lost, or the request was overtaken. */
export function lostRaceError(operation: RacingOperation, workerId: string, status: string, detail: JsonObject = {}): HarnError {
  const verb = operation.replace('_agent', '');
  const text = `${operation}: worker ${workerId} changed before ${verb} could complete (status=${status})`;
  return susError('HARN-SUS-006', text, { operation, workerId, status, detail: { retryable: true, ...detail } });
}

/** 006: a suspend or resume of a worker from a hook of its own transition. */
export function inTransitionError(operation: RacingOperation, workerId: string, status: string): HarnError {
  return lostRaceError(operation, workerId, status, { reason: 'in_transition' });
}

/** 006: a timeout that came too late. */
export function lostTimeoutError(workerId: string, status: string): HarnError {
  const text = `auto-resume timeout: worker ${workerId} is no longer suspended (status=${status})`;
  return susError('HARN-SUS-006', text, { operation: 'auto_resume', workerId, status, detail: { retryable: false } });
}

/** 006: this owner has been replaced and must stop. */
export function fencedError(workerId: string, own: number, found: number, suspensionId: string | null): HarnError {
  const text = `agent_loop: worker ${workerId} is owned by generation ${found}, this is ${own}`;
  return susError('HARN-SUS-006', text, {
    operation: 'agent_loop',
    workerId,
    status: 'running',
    detail: { retryable: false, generation: found, suspension_id: suspensionId },
  });
}

/** 007: a valid trigger could not be registered. */
export function registrationError(
  workerId: string,
  reason: string,
  detail: JsonObject,
  stage: 'parse' | 'register' | 'resolve' = 'register',
): HarnError {
  const text = {
    parse: `auto_resume: failed to parse conditions.trigger for registration: ${reason}`,
    register: `auto_resume: failed to register trigger: ${reason}`,
    resolve: `auto_resume: failed to resolve registered trigger: ${reason}`,
  }[stage];
  return susError('HARN-SUS-007', text, { operation: 'auto_resume', workerId, field: 'trigger', detail });
}

/** 008: an unknown `on_timeout`, or one that is not a string (`typeName` then says what it is). */
export function timeoutActionError(operation: string, got: { readonly text: string } | { readonly typeName: string }): HarnError {
  const text =
    'text' in got
      ? `auto_resume: unsupported conditions.timeout.on_timeout \`${got.text}\`; expected resume_with_summary, resume_with_input, or fail`
      : `auto_resume: conditions.timeout.on_timeout must be a string; got ${got.typeName}`;
  return susError('HARN-SUS-008', text, {
    operation,
    field: 'timeout.on_timeout',
    detail: { got: 'text' in got ? got.text : got.typeName },
  });
}

/** 009: blank resume input. The input itself is never part of the error. */
export function blankInputError(workerId?: string): HarnError {
  return susError('HARN-SUS-009', 'resume_agent: resume input must be nil or non-empty text', { operation: 'resume_agent', workerId });
}

/** 010: resume after close. */
export function closedError(workerId: string, path?: string): HarnError {
  const text = `resume_agent: worker ${workerId} was closed and cannot be resumed`;
  return susError('HARN-SUS-010', text, { operation: 'resume_agent', workerId, status: 'cancelled', path });
}
