import type { Json, JsonObject } from '../base/json.ts';
import type { LoopRunner, LoopState } from '../lifecycle/activation.ts';
import { applyResume } from './apply-resume.ts';
import { foldJournal } from './fold-journal.ts';
import { runLoop } from './loop.ts';
import type { LoopWorld } from './loop-context.ts';
import { NEW_COUNTERS, writeLoopState } from './loop-state.ts';
import { userMessage } from './message.ts';
import { appendMessage, createTranscript, isTranscript } from './transcript.ts';
import { repairState } from './transcript-doctor.ts';

/** What lifecycle needs to run, restore and repair loops (lifecycle/activation.ts). */
export function createLoopRunner(world: LoopWorld): LoopRunner {
  return {
    run: (activation) => runLoop(activation, world),
    initialState,
    foldJournal,
    applyResume,
    repair: repairState,
  };
}

/**
 * The state of a loop that never ran: the history it starts from, and its prompt. The prompt is in it from the
 * start, so that it comes first also when the worker is parked before its first turn (5.8).
 *
 * @param seed transcript of the session or of `options.transcript`; its events stay, its state is active again
 */
export function initialState(config: JsonObject, seed?: Json): LoopState {
  const sessionId = typeof config.session_id === 'string' ? config.session_id : '';
  const start = isTranscript(seed) ? { ...seed, state: 'active' as const } : createTranscript(sessionId);
  const transcript = typeof config.task === 'string' ? appendMessage(start, userMessage(config.task)) : start;
  return writeLoopState({ transcript, counters: NEW_COUNTERS });
}
