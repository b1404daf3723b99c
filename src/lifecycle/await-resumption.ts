import { HarnError } from '../base/harn-error.ts';
import { parseResumeConditions, type ResumeConditions } from './resume-condition.ts';
import { isCallableSpec, type Opaque, type SpecValue, specTypeName } from './spec-value.ts';
import { blankReasonError } from './sus-errors.ts';

/** The request of `agent_await_resumption` (spec/agents.md 7.1): what an agent waits for, checked and normalised. */
export interface AwaitResumptionRequest {
  /** Trimmed, never empty. */
  readonly reason: string;
  readonly conditions: ResumeConditions | undefined;
  readonly resumeBy: Opaque | undefined;
}

const OPERATION = 'agent_await_resumption';

/**
 * Checks a request without any effect, wherever it comes from: a script, or the arguments a model wrote.
 *
 * @throws HarnError `HARN-SUS-005` for a blank reason, `HARN-SUS-002` and `HARN-SUS-008` for conditions, plain for
 *         `resumeBy`
 */
export function parseAwaitResumption(
  reason: SpecValue | undefined,
  conditions: SpecValue | undefined,
  resumeBy?: SpecValue | undefined,
): AwaitResumptionRequest {
  if (typeof reason !== 'string' || reason.trim() === '') throw blankReasonError();
  const parsed = parseResumeConditions(conditions, OPERATION);
  if (resumeBy !== undefined && resumeBy !== null && !isCallableSpec(resumeBy)) {
    throw new HarnError('plain', `agent_await_resumption: resume_by must be a function or nil, got ${specTypeName(resumeBy)}`);
  }
  return { reason: reason.trim(), conditions: parsed, resumeBy: resumeBy ?? undefined };
}

const BRAND = Symbol('await resumption request');

/**
 * Marks a value that stands for a request, so that a tool handler or a callback can hand it to the loop (7.2).
 * A look-alike that a script wrote by hand is an ordinary dict.
 */
export function brandRequest<T extends object>(value: T, request: AwaitResumptionRequest): T {
  Object.defineProperty(value, BRAND, { value: request, enumerable: false });
  return value;
}

/** The request behind a marked value; undefined for anything else. */
export function brandedRequest(value: unknown): AwaitResumptionRequest | undefined {
  if (typeof value !== 'object' || value === null || !(BRAND in value)) return undefined;
  return value[BRAND] as AwaitResumptionRequest;
}
