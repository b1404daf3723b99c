import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/base/error-codes.ts';
import type { HarnError } from '../../src/base/harn-error.ts';
import { isJsonObject } from '../../src/base/json.ts';
import {
  blankInputError,
  blankReasonError,
  closedError,
  conditionsError,
  fencedError,
  inTransitionError,
  lostRaceError,
  lostTimeoutError,
  notRunningError,
  notStructuralError,
  notSuspendedError,
  registrationError,
  timeoutActionError,
} from '../../src/lifecycle/sus-errors.ts';
import { snapshotError } from '../../src/store/snapshot-error.ts';

const W = 'worker_1';

/** One row of 5.9 for each way to make an error: the code, the text behind it, and the fields that it must hold. */
const ROWS: readonly (readonly [string, HarnError, string, readonly string[]])[] = [
  ['001', notRunningError(W, 'completed'), 'suspend_agent: worker worker_1 is not running (status=completed)', ['worker_id', 'status']],
  ['001', notRunningError(W, 'running', { owner: 'other-process' }), 'suspend_agent: worker worker_1', ['detail.owner']],
  ['002', conditionsError('parse_resume_conditions', 'timeout', 'expected dict or nil, got int', { expected: 'dict', got: 'int' }), 'invalid ResumeConditions.timeout: expected dict or nil, got int', ['field', 'operation', 'detail.expected', 'detail.got']],
  ['002', conditionsError('spawn_agent', '', 'expected dict or nil, got int'), 'invalid ResumeConditions: expected dict or nil, got int', ['operation']],
  ['003', notSuspendedError(W, 'running', { id: W }), 'resume_agent: worker worker_1 is not suspended (status=running)', ['worker_id', 'status', 'detail.handle']],
  ['004', snapshotError('missing', 'no such file', { target: 'x.json', path: '/x.json', detail: { tried: [] } }), 'resume_agent: failed to load snapshot `x.json`: no such file', ['path', 'detail.reason', 'detail.tried']],
  ['005', blankReasonError(), 'agent_await_resumption reason is required', ['operation', 'detail.reason']],
  ['005', notStructuralError(), 'agent_await_resumption is handled structurally by agent_loop and cannot be invoked directly', ['operation', 'detail.reason']],
  ['006', lostRaceError('resume_agent', W, 'running', { generation: 2, owner_pid: 1 }), 'resume_agent: worker worker_1 changed before resume could complete (status=running)', ['worker_id', 'status', 'detail.retryable', 'detail.generation', 'detail.owner_pid']],
  ['006', inTransitionError('resume_agent', W, 'suspended'), 'resume_agent: worker worker_1 changed before resume could complete (status=suspended)', ['worker_id', 'status', 'detail.retryable']],
  ['006', inTransitionError('suspend_agent', W, 'running'), 'suspend_agent: worker worker_1 changed before suspend could complete (status=running)', ['worker_id', 'status', 'detail.retryable']],
  ['006', lostRaceError('close_agent', W, 'running'), 'close_agent: worker worker_1 changed before close could complete (status=running)', ['worker_id', 'status', 'operation']],
  ['006', lostTimeoutError(W, 'running'), 'auto-resume timeout: worker worker_1 is no longer suspended (status=running)', ['worker_id', 'status', 'detail.retryable']],
  ['006', fencedError(W, 1, 2, 'susp_1'), 'agent_loop: worker worker_1 is owned by generation 2, this is 1', ['worker_id', 'operation', 'detail.retryable', 'detail.generation', 'detail.suspension_id']],
  ['007', registrationError(W, 'no', { provider: 'cron', suspended: true }), 'auto_resume: failed to register trigger: no', ['worker_id', 'field', 'detail.provider', 'detail.suspended']],
  ['008', timeoutActionError('auto_resume', { text: 'retry' }), 'auto_resume: unsupported conditions.timeout.on_timeout `retry`; expected resume_with_summary, resume_with_input, or fail', ['field', 'detail.got']],
  ['008', timeoutActionError('auto_resume', { typeName: 'int' }), 'auto_resume: conditions.timeout.on_timeout must be a string; got int', ['field', 'detail.got']],
  ['009', blankInputError(W), 'resume_agent: resume input must be nil or non-empty text', ['worker_id']],
  ['010', closedError(W, '/x.json'), 'resume_agent: worker worker_1 was closed and cannot be resumed', ['worker_id', 'status', 'path']],
]; // biome-ignore format: a table

describe('the diagnostics of the lifecycle (5.9)', () => {
  it.each(ROWS)('HARN-SUS-%s has its text and its fields: %s', (number, error, text, fields) => {
    expect(error.code).toBe(`HARN-SUS-${number}`);
    expect(error.message).toMatch(new RegExp(`^HARN-SUS-${number}: `));
    expect(error.message).toContain(text);
    for (const field of fields) expect(valueAt(error, field), field).not.toBeNull();
  });

  it('the page of each code names every field that its errors hold', () => {
    for (const [number, , , fields] of ROWS) {
      const page = ERROR_CODES.find(({ code }) => code === `HARN-SUS-${number}`)?.fields?.join('\n') ?? '';
      for (const field of fields) if (field !== 'operation') expect(page, `${number} ${field}`).toContain(field);
    }
  });
});

function valueAt({ data }: HarnError, path: string): unknown {
  const [first = '', second] = path.split('.');
  const value = data[first];
  return second === undefined ? (value ?? null) : isJsonObject(value) ? (value[second] ?? null) : null;
}
