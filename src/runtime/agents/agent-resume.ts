import type { Instant } from '../../base/instant.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { shownPathOf } from '../../lifecycle/persist.ts';
import { resumeWorker } from '../../lifecycle/resume.ts';
import type { ResumeTarget } from '../../lifecycle/resume-subject.ts';
import { summaryOf } from '../../lifecycle/summary.ts';
import { isSnapshotPath } from '../../store/state-root.ts';
import type { Run } from '../context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';

export interface OperatorResume {
  /** A path, an id, or the beginning of one. */
  readonly target: string;
  readonly input: string | undefined;
  readonly continueTranscript: boolean;
  readonly suspensionId: string | undefined;
  /** Start of the process. */
  readonly startedAt: Instant;
}

/**
 * What `harn run --resume` does (spec/agents.md 12.2): resume as the operator and wait until the loop ends or parks.
 * A retriggerable worker has done what was asked of it with the end of its cycle.
 *
 * @returns the summary of the worker; with `pre_resume_denied` when a hook refused
 * @throws HarnError `HARN-SUS-…`
 */
export async function resumeAsOperator(run: Run, request: OperatorResume): Promise<JsonObject> {
  const lifecycle = lifecycleOf(run);
  const started = await resumeWorker(lifecycle, {
    target: operatorTarget(run, request.target, request.suspensionId),
    input: request.input,
    continueTranscript: request.continueTranscript,
    cause: 'operator',
    startedAt: request.startedAt,
    entry: lifecycle.registry.nextEntry(),
    mayReadResult: false,
  });
  const worker = typeof started.id === 'string' ? lifecycle.registry.get(started.id) : undefined;
  if (worker === undefined || started.pre_resume_denied !== undefined) return started;
  await worker.atRest(run.signal);
  return summaryOf(worker, shownPathOf(lifecycle, worker));
}

/** The worker that somebody names on the command line (12.3): by a path, an id, or the beginning of one. */
export function operatorTarget(run: Run, target: string, suspensionId?: string): ResumeTarget {
  return isSnapshotPath(target) || looksLikeFile(run, target)
    ? { kind: 'path', path: target, suspensionId }
    : { kind: 'worker', id: target, suspensionId };
}

/** A name without a slash may still be a file in the current directory, or a prefix of an id that only a path search knows. */
function looksLikeFile(run: Run, target: string): boolean {
  return run.platform.files.exists(target) || !target.startsWith('worker_');
}

/** The text that a person wants to see of a finished loop. */
export function finalText(summary: JsonObject): string | undefined {
  const { result } = summary;
  return isJsonObject(result) && typeof result.summary === 'string' ? result.summary : undefined;
}
