import type { Json, JsonObject } from '../base/json.ts';
import type { Activation } from '../lifecycle/activation.ts';
import type { Files, FileWatcher } from '../platform/platform.ts';
import type { AutonomyMeter } from './autonomy.ts';
import type { WakeSources } from './daemon/daemon-sources.ts';
import type { LoopLive } from './loop-live.ts';
import type { LoopOptions } from './loop-options.ts';
import { applyRecord, editTranscript, type LoopProgress, type LoopRecord } from './loop-record.ts';
import type { RequestFrame } from './loop-request.ts';
import type { ModelWorld } from './model-call/model-call.ts';
import { noteReminderChanges } from './reminder-notes.ts';
import type { Dispatcher } from './tools/tool-dispatch.ts';
import type { SessionEdit } from './transcript/session-edit.ts';
import type { NewEvent, Transcript } from './transcript/transcript.ts';

export interface LoopWorld extends ModelWorld {
  readonly env: (name: string) => string | undefined;
  /** For the paths that a daemon watches. */
  readonly files: Pick<Files, 'stat' | 'list'>;
  /** Tells of changes at once; without it a daemon only looks from time to time. */
  readonly watcher?: FileWatcher | undefined;
}

/** One activation while it runs. */
export interface Loop {
  readonly activation: Activation;
  readonly world: LoopWorld;
  /** With the patches of this activation; what was given stands in the worker's config. */
  options: LoopOptions;
  readonly live: LoopLive;
  /** With all tools; what a turn shows of them is in `turnFrame`. */
  frame: RequestFrame;
  turnFrame: (transcript: Transcript) => RequestFrame;
  readonly dispatcher: Dispatcher;
  /** Counts what the loop does on its own; undefined without such a budget. */
  readonly autonomy: AutonomyMeter | undefined;
  /** What wakes a daemon; undefined for other loops. */
  readonly sources: WakeSources | undefined;
  /** Closed by close_agent, or gone with the task that called the loop. */
  readonly signal: AbortSignal;
  progress: LoopProgress;
  /** Turns of this activation, and how many it may take. */
  turnsTaken: number;
  turnLimit: number;
  /** Parsed answer of the last turn, when JSON was asked for. */
  data: Json;
  /** When the last turn of this activation ended, on the monotonic clock. */
  turnEndedMs: number | undefined;
  /** Objections of the judge in this activation. */
  objections: number;
  /** Messages were compacted since the last model call. */
  hasCompacted: boolean;
  /** Turns in which a native loop ran calls written as text (2.5). */
  fallbackTurns: number;
  /** What happened around this turn's model call, until the turn is written down. */
  readonly callEvents: NewEvent[];
  /** What scripts want changed in the history, until the next boundary. */
  readonly edits: SessionEdit[];
}

/** The history as it will be at the next boundary. */
export function editedTranscript({ edits, progress }: Loop): Transcript {
  return edits.reduce((transcript, edit) => {
    const record = edit(transcript);
    return record === undefined ? transcript : editTranscript(transcript, record);
  }, progress.transcript);
}

/** Between two turns, where no call waits for its result. */
export function recordEdits(loop: Loop): void {
  for (const edit of loop.edits.splice(0)) {
    const record = edit(loop.progress.transcript);
    if (record !== undefined) recordStep(loop, record);
  }
}

/** The one way to change the state: the journal has the step before anything builds on it. */
export function recordStep(loop: Loop, record: LoopRecord): void {
  const { activation, progress } = loop;
  activation.record(record);
  loop.progress = applyRecord(progress, record);
  noteReminderChanges(activation, progress.counters.iterations_completed, record, progress.transcript, loop.progress.transcript);
}

export function emitEvent(loop: Loop, event: JsonObject): void {
  loop.activation.emit({ session_id: loop.activation.sessionId, ...event });
}
