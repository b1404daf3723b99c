import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';

/** Why a snapshot cannot be used (spec/agents.md 5.9, row 004). */
export type SnapshotFault = 'missing' | 'malformed' | 'version' | 'integrity' | 'program' | 'tools' | 'closures' | 'stale' | 'size';

export interface SnapshotErrorFacts {
  /** As the caller named it: a path or an id. */
  readonly target: string;
  readonly path?: string | undefined;
  readonly workerId?: string | undefined;
  readonly status?: string | undefined;
  readonly detail?: JsonObject | undefined;
  readonly causedBy?: unknown;
}

/** HARN-SUS-004 of a resume that names nothing. */
export function noTargetError(): HarnError {
  return new HarnError('HARN-SUS-004', 'HARN-SUS-004: resume_agent: missing worker id or snapshot path', {
    data: { operation: 'resume_agent', path: null, worker_id: null, status: null, detail: { reason: 'missing' } },
  });
}

/** HARN-SUS-004: the snapshot is missing, damaged, from the future, stale, or its program does not fit. */
export function snapshotError(reason: SnapshotFault, cause: string, facts: SnapshotErrorFacts): HarnError {
  return new HarnError('HARN-SUS-004', `HARN-SUS-004: resume_agent: failed to load snapshot \`${facts.target}\`: ${cause}`, {
    data: {
      operation: 'resume_agent',
      path: facts.path ?? null,
      worker_id: facts.workerId ?? null,
      status: facts.status ?? null,
      detail: { reason, ...facts.detail },
    },
    cause: facts.causedBy,
  });
}
