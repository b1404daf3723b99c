import { basename } from 'node:path';
import { errorText, HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { claimOwner } from '../../lifecycle/claim-owner.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import { describeRepairs } from '../../lifecycle/repair-transcript.ts';
import { isTerminal } from '../../lifecycle/transition.ts';
import { readActiveJournal, readWorkerFiles, type WorkerFiles } from '../../lifecycle/worker-files.ts';
import { viewOfFiles, type WorkerView } from '../../lifecycle/worker-view.ts';
import { readArmers } from '../../store/armers.ts';
import { journalPathOf, readJournalOpen } from '../../store/journal-file.ts';
import type { WorkerFileSet } from '../../store/worker-folder.ts';
import type { Run } from '../context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { parkedModel } from './agent-rebind.ts';
import { judgeResume, refusalReason, refusalText } from './resume-verdict.ts';

/** One thing that a look at the files of a worker brought up. */
export interface Finding {
  /** `error`: a resume is refused, or the state cannot be trusted. `warning`: it goes on, changed. `note`: nothing to do. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly check: 'snapshot' | 'journal' | 'claim' | 'state' | 'conditions' | 'transcript' | 'program' | 'wake';
  readonly message: string;
}

export interface Verified {
  /** Undefined when the files do not say. */
  readonly id: string | undefined;
  readonly status: string | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Reads everything that belongs to one worker and checks it: schema and checksum of the snapshot, the journal record by
 * record, the claim, whether its parts say the same, the transcript as the doctor sees it, and whether its script still
 * fits. Changes nothing.
 */
export async function verifyWorker(run: Run, found: WorkerFileSet): Promise<Verified> {
  const lifecycle = lifecycleOf(run);
  const { snapshotPath } = found;
  let files: WorkerFiles;
  try {
    files = readWorkerFiles(lifecycle, snapshotPath, basename(snapshotPath));
  } catch (error) {
    return { id: undefined, status: undefined, findings: [errorFinding('snapshot', error)] };
  }
  const beside = [...nameFindings(files), ...claimFindings(lifecycle, found), ...journalFindings(lifecycle, files, found)];
  const known = { id: files.snapshot.id, status: files.isClosed ? 'cancelled' : files.status };
  if (beside.some(({ severity }) => severity === 'error')) return { ...known, findings: beside };
  const view = viewOfFiles(lifecycle, files, basename(snapshotPath));
  return {
    ...known,
    findings: [
      ...beside,
      ...stateFindings(view),
      ...wakeFindings(lifecycle, view),
      ...(await transcriptFindings(run, lifecycle, view)),
      ...(await resumeFindings(run, view)),
    ],
  };
}

function errorFinding(check: Finding['check'], error: unknown): Finding {
  if (!(error instanceof HarnError)) return { severity: 'error', check, message: `cannot be read: ${errorText(error)}` };
  const reason = refusalReason(error);
  const text = refusalText(error).replace(/^resume_agent: failed to load snapshot `[^`]*`: /, '');
  return { severity: 'error', check, message: `${reason === undefined ? error.code : reason}: ${text}` };
}

/** Allowed, but whoever looks for the worker by its id does not find the file. */
function nameFindings({ snapshot, snapshotPath }: WorkerFiles): Finding[] {
  if (basename(snapshotPath, '.json') === snapshot.id) return [];
  return [{ severity: 'note', check: 'snapshot', message: `the file is named otherwise than its worker ${snapshot.id}` }];
}

function claimFindings(lifecycle: Lifecycle, { hasClaim, snapshotPath }: WorkerFileSet): Finding[] {
  if (!hasClaim) return [];
  const owner = claimOwner(lifecycle.claims, snapshotPath);
  if (owner === undefined)
    return [{ severity: 'warning', check: 'claim', message: 'the claim cannot be read; it lapses a minute after its last change' }];
  const who = `pid ${owner.pid} on ${owner.host}`;
  const message =
    owner.liveness === 'alive' ? `owned by ${who}` : `left by ${who}, which is gone; whoever resumes or closes the worker takes it over`;
  return [{ severity: 'note', check: 'claim', message }];
}

function journalFindings(lifecycle: Lifecycle, files: WorkerFiles, { hasJournal, snapshotPath }: WorkerFileSet): Finding[] {
  if (!hasJournal) return [];
  const path = journalPathOf(snapshotPath);
  if (files.activeOpen === undefined) {
    const isWhole = readJournalOpen(lifecycle.platform.files, path) !== undefined;
    const message = isWhole ? 'a leftover whose records the snapshot holds' : 'it ends inside its first record; nothing of it counts';
    return [{ severity: 'note', check: 'journal', message }];
  }
  try {
    const { records } = readActiveJournal(lifecycle, files, basename(snapshotPath));
    const isTorn = !lifecycle.platform.files.readText(path).endsWith('\n');
    return [
      { severity: 'note', check: 'journal', message: `${records.length} records since the snapshot` },
      ...(isTorn ? [{ severity: 'note' as const, check: 'journal' as const, message: 'the last record is torn and does not count' }] : []),
    ];
  } catch (error) {
    return [errorFinding('journal', error)];
  }
}

/** Parts of the document that a healthy writer never lets contradict each other. */
function stateFindings({ files }: WorkerView): Finding[] {
  const { snapshot, isClosed, activeOpen } = files;
  const finding = (message: string): Finding => ({ severity: 'error', check: 'state', message });
  if (snapshot.status === 'suspended' && !isJsonObject(snapshot.suspension)) return [finding('suspended, but without a suspension')];
  if (isTerminal(snapshot.status) && isJsonObject(snapshot.suspension)) return [finding(`${snapshot.status}, but with a suspension`)];
  if (isClosed && snapshot.status !== 'cancelled') {
    return [{ severity: 'note', check: 'state', message: 'a copy from before the worker was closed; it cannot be resumed' }];
  }
  const { generation, suspension_id } = snapshot.resume;
  const isConsumed = activeOpen === undefined && snapshot.status === 'suspended' && snapshot.suspension?.suspension_id === suspension_id;
  return isConsumed ? [finding(`the suspension was consumed already, at generation ${generation}`)] : [];
}

/** An armed suspension that the index does not know is found again only when the index is rebuilt. */
function wakeFindings(lifecycle: Lifecycle, { status, record }: WorkerView): Finding[] {
  const { armed, suspension } = record;
  if (status !== 'suspended' || armed === null || armed === undefined || suspension === null || suspension === undefined) return [];
  const isArmed = armed.trigger || typeof armed.deadline_at === 'string' || isJsonObject(armed.on_event);
  const isKnown = readArmers(lifecycle.platform.files, lifecycle.locations.waiters).has(suspension.suspension_id);
  return isArmed && !isKnown ? [{ severity: 'note', check: 'wake', message: 'armed, but not in the index of waiters' }] : [];
}

/** What the next resume would have to repair (5.15). */
async function transcriptFindings(run: Run, lifecycle: Lifecycle, { status, record, state }: WorkerView): Promise<Finding[]> {
  if (isTerminal(status)) return [];
  const { spec } = record.config;
  const { repairs } = lifecycle.runner.repair(state, await parkedModel(run, isJsonObject(spec?.options) ? spec.options : {}));
  if (repairs.length === 0) return [];
  return [{ severity: 'warning', check: 'transcript', message: `not fit to be sent; a resume repairs it: ${describeRepairs(repairs)}` }];
}

/** The script, its tools and the stored conditions, for a worker that may still be resumed. */
async function resumeFindings(run: Run, { status, files }: WorkerView): Promise<Finding[]> {
  if (status !== 'suspended' && status !== 'interrupted') return [];
  const { refusal, program } = await judgeResume(run, { kind: 'path', path: files.snapshotPath });
  const changes = (program?.modules ?? []).flatMap(({ path, state }): Finding[] => {
    if (state === 'changed') return [{ severity: 'warning', check: 'program', message: `${path} changed since the park` }];
    return state === 'embedded' ? [{ severity: 'warning', check: 'program', message: `${path} is gone; its text is in the snapshot` }] : [];
  });
  const stubs = (program?.tools ?? []).flatMap(({ name, state }): Finding[] =>
    state === 'stub' ? [{ severity: 'warning', check: 'program', message: `the tool ${name} will answer every call with an error` }] : [],
  );
  if (refusal === undefined || refusal.code !== 'HARN-SUS-004') return [...changes, ...stubs];
  return [...changes, ...stubs, errorFinding(checkOf(refusal), refusal)];
}

function checkOf(refusal: HarnError): Finding['check'] {
  const reason = refusalReason(refusal);
  return reason === 'malformed' ? 'conditions' : reason === 'stale' ? 'state' : 'program';
}

export function findingJson({ severity, check, message }: Finding): JsonObject {
  return { severity, check, message };
}
