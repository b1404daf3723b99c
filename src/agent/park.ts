import { errorText, hasCode } from '../base/harn-error.ts';
import type { LoopEnd, ParkRequest } from '../lifecycle/activation.ts';
import { suspendedKey } from './apply-resume.ts';
import { daemonFacts } from './daemon/daemon-block.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { feedbackMessage, type LoopProgress } from './loop-record.ts';
import { buildParkedResult } from './loop-result.ts';
import { type LoopCounters, writeLoopState } from './loop-state.ts';
import { injectReminder } from './reminder.ts';
import { noteReminder, reminderDifference } from './reminder-notes.ts';
import { AWAIT_RESUMPTION, parkAudit } from './self-park.ts';
import { appendEvent } from './transcript/transcript.ts';

/** How a loop hands itself over to be parked (spec/agents.md 5.3, 7.2), whoever asked for it. */

/**
 * Steps 8 to 12 of 5.3 through the activation. A park that cannot be written leaves the worker running: whoever
 * asked has heard of it from lifecycle.
 */
export async function park(loop: Loop, request: ParkRequest, daemonState?: 'idle'): Promise<LoopEnd | undefined> {
  try {
    return await commitPark(loop, request, loop.progress, daemonState);
  } catch (error) {
    if (isNotOurs(loop, error)) throw error;
    return undefined;
  }
}

/** A request of the loop itself passes the hooks first; a refusal goes to the model as feedback (7.2, 7.3). */
export async function parkByItself(loop: Loop, request: ParkRequest): Promise<LoopEnd | undefined> {
  const verdict = await loop.activation.approveSelfPark(request);
  if (verdict.decision === 'deny') {
    tellModel(loop, `suspend denied: ${verdict.reason}`);
    return undefined;
  }
  try {
    await loop.activation.prepareConditions(request);
    emitParkAudit(loop, { ...request, reason: verdict.reason }, undefined);
    return await commitPark(loop, { ...request, reason: verdict.reason }, loop.progress);
  } catch (error) {
    if (isNotOurs(loop, error)) throw error;
    tellModel(loop, errorText(error));
    return undefined;
  }
}

/** Errors that end the loop whatever it was doing: closed, or fenced by a newer owner (5.14). */
export function isNotOurs(loop: Loop, error: unknown): boolean {
  return loop.signal.aborted || hasCode(error, 'HARN-SUS-006');
}

export function emitParkAudit(loop: Loop, request: ParkRequest, toolCallId: string | undefined): void {
  emitEvent(loop, {
    type: 'tool_call_audit',
    tool_call_id: toolCallId ?? null,
    tool_name: AWAIT_RESUMPTION,
    audit: parkAudit({
      status: 'suspended',
      reason: request.reason,
      workerId: loop.activation.workerId,
      conditions: request.conditions,
    }),
  });
}

function tellModel(loop: Loop, content: string): void {
  const feedback = { kind: AWAIT_RESUMPTION, content };
  recordStep(loop, { t: 'in', added: [feedbackMessage(feedback)] });
  emitEvent(loop, { type: 'feedback_injected', ...feedback });
}

/** Hands the state over to be saved. The reminder tells whoever looks at the parked transcript why it ends here. */
export async function commitPark(
  loop: Loop,
  request: ParkRequest,
  progress: LoopProgress,
  daemonState: 'idle' | 'running' = 'running',
): Promise<LoopEnd> {
  const { activation, options } = loop;
  const completed = progress.counters.iterations_completed;
  const taped = loop.live.inbox.takeTape().reduce(appendEvent, progress.transcript);
  const marked = options.reminders.enabled
    ? injectReminder(taped, {
        body: `Worker suspended before the next turn: ${request.reason === '' ? 'unspecified' : request.reason}`,
        dedupe_key: suspendedKey(activation.workerId),
        ttl_turns: 1,
        source: 'stdlib_provider',
      }).transcript
    : taped;
  const parts = { transcript: { ...marked, state: 'paused' as const }, counters: withArrived(loop, progress.counters) };
  for (const reminder of reminderDifference(marked, taped)) noteReminder(activation, completed, 'injected', reminder);
  const owned = request.resumeBy === undefined ? { ...request, resumeBy: loop.live.callbacks.resumeBy } : request;
  const suspension = await activation.park(owned, writeLoopState(parts), {
    iterationsCompleted: completed,
    turn: completed === 0 ? undefined : completed - 1,
    ...daemonFacts(loop, parts, daemonState),
  });
  return { kind: 'parked', suspension, result: buildParkedResult(suspension, activation.sessionId) };
}

/** What waits in memory goes with the snapshot: another process may be the one that goes on. */
function withArrived({ live }: Loop, counters: LoopCounters): LoopCounters {
  const feedback = live.inbox.takeFeedback();
  const messages = live.inbox.takeHostMessages();
  const running = live.background?.running() ?? [];
  if (feedback.length + messages.length + running.length + (counters.async_handles ?? []).length === 0) return counters;
  return {
    ...counters,
    pending_feedback: [...counters.pending_feedback, ...feedback],
    deferred_user_messages: [...counters.deferred_user_messages, ...messages],
    async_handles: running,
  };
}
