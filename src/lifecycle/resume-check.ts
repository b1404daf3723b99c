import { parseInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import type { ResumeRequest } from './resume.ts';
import type { ResumeSubject } from './resume-subject.ts';
import { closedError, lostRaceError, notSuspendedError } from './sus-errors.ts';
import { transition } from './transition.ts';

/**
 * The refusals of 5.14 in their order: closed, overtaken, running or done, stale. A held claim comes last, when it is
 * tried.
 *
 * @returns the summary of a completed worker when only its result was asked for; undefined to go on
 * @throws HarnError `HARN-SUS-010`, `-006`, `-003`, `-004`
 */
export function checkResumable(subject: ResumeSubject, request: ResumeRequest): JsonObject | undefined {
  if (subject.isClosed) throw closedError(subject.id, subject.files?.snapshotPath);
  if (isOvertaken(subject, request)) {
    throw lostRaceError('resume_agent', subject.id, subject.status, {
      generation: subject.generation,
      suspension_id: subject.namedSuspensionId ?? null,
    });
  }
  if (transition(subject.status, 'resume').kind !== 'go') {
    const isReadOfResult =
      subject.status === 'completed' && request.target.kind === 'path' && request.input === undefined && request.mayReadResult;
    if (isReadOfResult) return subject.summary();
    throw notSuspendedError(subject.id, subject.status, subject.summary());
  }
  assertCurrent(subject);
  if (subject.home?.claim !== undefined) {
    throw lostRaceError('resume_agent', subject.id, subject.status, { owner_pid: subject.home.claim.pid, generation: subject.generation });
  }
  return undefined;
}

/**
 * A request that began before the latest resume opened has lost against it, whatever the worker does by now (5.5).
 * Within this process the order of the calls decides; between processes the real clock, where equal means overlap.
 */
function isOvertaken({ worker, files, home }: ResumeSubject, request: ResumeRequest): boolean {
  if (worker !== undefined && worker.openedEntry !== undefined) return request.entry < worker.openedEntry;
  const openedAt = worker === undefined ? (home?.openedAt ?? files?.openedAt) : undefined;
  const instant = openedAt === undefined ? undefined : parseInstant(openedAt);
  return instant !== undefined && request.startedAt <= instant;
}

function assertCurrent({ namedSuspensionId, suspensionId, target, id, snapshotPath, status }: ResumeSubject): void {
  if (namedSuspensionId === undefined || namedSuspensionId === suspensionId) return;
  const current = suspensionId ?? status;
  const cause = `stale suspension ${namedSuspensionId}; the worker is parked again as ${current}`;
  throw snapshotError('stale', cause, {
    target,
    path: snapshotPath,
    workerId: id,
    status,
    detail: { suspension_id: namedSuspensionId, current_suspension_id: suspensionId ?? null },
  });
}
