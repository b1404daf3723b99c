import { HarnError } from '../base/harn-error.ts';
import { parseInstant, renderInstant } from '../base/instant.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { removeDurably } from '../store/atomic-file.ts';
import { type Journal, type JournalOpen, journalPathOf } from '../store/journal-file.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import type { SuspensionRecord, WorkerSnapshot } from '../store/snapshot-schema.ts';
import type { LoopState, ResumeCause, ResumeFacts } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { writeRecord } from './persist.ts';
import { splitSnapshot, type Worker, type WorkerRecord } from './worker.ts';
import { readActiveJournal, type WorkerFiles } from './worker-files.ts';

/**
 * Crash recovery (spec/agents.md 5.7): what a worker was when its process died. The snapshot, the resume that its
 * journal opened with, and the records after it give the state of the last settled step; the turn in flight is
 * closed by the loop's own rules (4.9).
 */
export interface Recovered {
  readonly record: WorkerRecord;
  readonly state: LoopState;
  /** Writes the recovered state as a snapshot and drops the old journal, so that the next journal has a base. */
  save(worker: Worker): void;
}

/** @throws HarnError `HARN-SUS-004` for a journal that is damaged or builds on another snapshot */
export function recoverInterrupted(lifecycle: Lifecycle, files: WorkerFiles, target: string): Recovered {
  const { record, state } = splitSnapshot(files.snapshot);
  const journal = files.activeOpen === undefined ? undefined : readActiveJournal(lifecycle, files, target);
  const recoveredState = journal === undefined ? state : readState(lifecycle, files, target, state, journal);
  const recoveredRecord = recordAfter(lifecycle, files, record, recoveredState, journal);
  return {
    record: recoveredRecord,
    state: recoveredState,
    save: (worker) => {
      writeRecord(lifecycle, worker, {}, worker.state);
      removeDurably(lifecycle.platform.files, journalPathOf(files.snapshotPath));
      lifecycle.audit.emit('worker_interrupted_recovered', { handle: worker.id, generation: worker.generation });
    },
  };
}

/** A line that is JSON but nothing that a loop wrote is as bad as one that is none (4.9). */
function readState(
  lifecycle: Lifecycle,
  { snapshot, snapshotPath }: WorkerFiles,
  target: string,
  state: LoopState,
  journal: Journal,
): LoopState {
  try {
    return stateAfter(lifecycle, snapshot, state, journal);
  } catch (error) {
    if (!(error instanceof HarnError) || typeof error.data.index !== 'number') throw error;
    const line = error.data.index + FIRST_RECORD_LINE;
    const facts = { target, path: journalPathOf(snapshotPath), workerId: snapshot.id, detail: { line } };
    throw snapshotError('malformed', `line ${line} of the journal: ${error.message}`, facts);
  }
}

/** `open` is the first line. */
const FIRST_RECORD_LINE = 2;

function stateAfter(lifecycle: Lifecycle, snapshot: WorkerSnapshot, state: LoopState, { open, records }: Journal): LoopState {
  const facts = resumeFactsOf(open);
  const spec = snapshot.config.spec ?? {};
  const sessionId = typeof spec.session_id === 'string' ? spec.session_id : '';
  const started = facts === undefined ? state : lifecycle.runner.applyResume(state, facts, snapshot.id, sessionId);
  return lifecycle.runner.foldJournal(started, records).state;
}

/** The resume that the journal opened with, to be applied once more. */
function resumeFactsOf(open: JournalOpen): ResumeFacts | undefined {
  const { resume } = open;
  if (resume === undefined) return undefined;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    input: text(resume.input),
    continueTranscript: resume.continue_transcript !== false,
    cause: (text(resume.cause) ?? 'operator') as ResumeCause, // written by createJournal in resume.ts
    triggerId: text(resume.trigger_id),
    eventId: text(resume.event_id),
    resumedAt: parseInstant(text(resume.resumed_at) ?? open.at) ?? 0,
    suspension: isJsonObject(resume.suspension) ? resume.suspension : {},
    isRecovery: false,
  };
}

function recordAfter(
  lifecycle: Lifecycle,
  files: WorkerFiles,
  record: WorkerRecord,
  state: LoopState,
  journal: Journal | undefined,
): WorkerRecord {
  const open = journal?.open;
  const input = open?.resume?.input;
  const hasInput = typeof input === 'string';
  return {
    ...record,
    status: 'interrupted',
    lifecycle_state: 'suspended',
    finished_at: null,
    ...(hasInput ? { task: input, history: [...record.history, input] } : {}),
    suspension: interruption(lifecycle, files, record, state, journal),
    last_suspension: record.suspension ?? record.last_suspension,
    armed: null,
    journal: { folded_records: journal?.records.length ?? 0 },
    resume: {
      ...record.resume,
      generation: files.generation,
      suspension_id: open?.suspension_id ?? record.resume.suspension_id,
      opened_at: files.openedAt ?? null,
      claim: null,
    },
  };
}

/** A suspension that nobody asked for: the reason is the interruption, or the signal that caused it. */
function interruption(
  lifecycle: Lifecycle,
  files: WorkerFiles,
  record: WorkerRecord,
  state: LoopState,
  journal: Journal | undefined,
): SuspensionRecord {
  const { platform } = lifecycle;
  const signal = journal?.records.findLast((entry) => entry.t === 'signal');
  const completed = typeof state.loop.iterations_completed === 'number' ? state.loop.iterations_completed : 0;
  return {
    suspension_id: platform.random.id('susp'),
    status: 'suspended',
    handle: record.id,
    reason: typeof signal?.reason === 'string' ? signal.reason : 'interrupted',
    initiator: 'operator',
    conditions: null,
    iterations_completed: completed,
    suspended_at: interruptedAt(lifecycle, files, signal),
    suspended_at_turn: completed === 0 ? null : completed - 1,
    resume_by_mechanism: null,
    auto_resume_trigger: null,
    links: [],
  };
}

/** The last sign of life: the signal, or the last write to the journal. */
function interruptedAt(lifecycle: Lifecycle, files: WorkerFiles, signal: JsonObject | undefined): string {
  if (typeof signal?.at === 'string') return signal.at;
  const { platform } = lifecycle;
  const stat = platform.files.stat(journalPathOf(files.snapshotPath)) ?? platform.files.stat(files.snapshotPath);
  return renderInstant(Math.min(stat?.modifiedAt ?? platform.clock.now(), platform.clock.now()));
}
