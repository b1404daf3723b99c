import { assertNever } from '../base/assert-never.ts';
import { renderElapsed } from '../base/elapsed.ts';
import { type Instant, parseInstant, renderInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { LoopState, ResumeFacts } from '../lifecycle/activation.ts';
import { firstCodePoints } from './json-text.ts';
import { type LoopCounters, type LoopParts, readLoopState, writeLoopState } from './loop-state.ts';
import { clearReminders, injectReminder, type ReminderSpec } from './reminder.ts';
import { transcriptDigest } from './transcript/digest.ts';
import { userMessage } from './transcript/message.ts';
import { appendMessage, plainEvent, type Transcript } from './transcript/transcript.ts';

/** Key and tag of the reminder that tells a model of the gap. */
export const RESUME_CONTINUITY = 'resume_continuity';

const SHOWN_INPUT = 500;

/** Key of the reminder that a park leaves behind; the continuity reminder takes its place. */
export function suspendedKey(workerId: string): string {
  return `suspended:${workerId}`;
}

/**
 * Makes the state of a parked loop the start of its next activation (spec/agents.md 5.4 step 9, 5.6): transcript
 * policy, continuity reminder, input. Pure, and the same for every way to resume.
 */
export function applyResume(state: LoopState, facts: ResumeFacts, workerId: string, sessionId: string): LoopState {
  const parts = readLoopState(state, sessionId);
  const digest = facts.continueTranscript ? undefined : transcriptDigest(parts.transcript, parts.counters.tools_used);
  const start = digest === undefined ? continued(parts) : startedAfresh(parts, digest);
  const { transcript: unmarked } = clearReminders(start.transcript, { dedupeKey: suspendedKey(workerId) });
  const { transcript: reminded } = injectReminder(unmarked, continuityReminder(facts, digest, workerId, sessionId));
  const transcript = facts.input === undefined ? reminded : appendMessage(reminded, userMessage(facts.input));
  return writeLoopState({ transcript: { ...transcript, state: 'active' }, counters: start.counters });
}

function continued({ transcript, counters }: LoopParts): LoopParts {
  return { transcript, counters: newActivation(counters) };
}

/** Limits of turns, nudges and repeats count anew in every activation (13.12); what was spent stays spent. */
function newActivation(counters: LoopCounters): LoopCounters {
  return { ...counters, activations: counters.activations + 1, consecutive_text_only: 0, option_patches: {} };
}

/** The old messages go; the old events stay, under one event that says what became of them. */
function startedAfresh({ transcript, counters }: LoopParts, digest: string): LoopParts {
  const kept = transcript.events.filter(({ reminder }) => reminder?.preserve_on_compact === true);
  const archived = transcript.events.filter((event) => !kept.includes(event));
  const compaction = plainEvent('compaction', digest, {
    strategy: 'resume_summary',
    archived_messages: transcript.messages.length,
    archived_events: archived,
  });
  const last = transcript.events.at(-1);
  const emptied: Transcript = { ...transcript, messages: [], events: kept };
  // The event after an archive goes on counting where the archive ended.
  const numbered = last === undefined ? emptied.events : [...kept, { id: last.id, ...compaction }];
  return {
    transcript: appendMessage({ ...emptied, events: numbered }, userMessage(digest)),
    counters: { ...newActivation(counters), pending_feedback: [], interrupted: undefined },
  };
}

function continuityReminder(facts: ResumeFacts, digest: string | undefined, workerId: string, sessionId: string): ReminderSpec {
  const gapMs = suspensionGapMs(facts.suspension, facts.resumedAt);
  return {
    body: continuityBody(facts, gapMs, digest),
    tags: [RESUME_CONTINUITY],
    dedupe_key: RESUME_CONTINUITY,
    ttl_turns: 1,
    preserve_on_compact: true,
    propagate: 'none',
    role_hint: 'system',
    source: 'stdlib_provider',
    metadata: continuityMetadata(facts, gapMs, workerId, sessionId),
  };
}

function continuityMetadata(facts: ResumeFacts, gapMs: number, workerId: string, sessionId: string): JsonObject {
  const { suspended_at, suspended_at_turn, reason, initiator } = facts.suspension;
  return {
    worker_id: workerId,
    session_id: sessionId,
    suspended_at: suspended_at ?? null,
    suspended_at_turn: suspended_at_turn ?? null,
    reason: reason ?? null,
    initiator: initiator ?? null,
    resumed_at: renderInstant(facts.resumedAt),
    gap_ms: gapMs,
    resume_cause: facts.cause,
    has_input: facts.input !== undefined,
    continue_transcript: facts.continueTranscript,
  };
}

/** One line, whitespace collapsed, parts in this order. */
function continuityBody(facts: ResumeFacts, gapMs: number, digest: string | undefined): string {
  const { suspended_at_turn, iterations_completed, reason } = facts.suspension;
  const turn = asNumber(suspended_at_turn) ?? asNumber(iterations_completed) ?? 0;
  const why = typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : 'unspecified';
  const parts = [
    `You were suspended at turn ${turn} for reason: '${why}'.`,
    `The gap was ${renderElapsed(gapMs)}.`,
    causeSentence(facts),
    facts.input === undefined ? 'No input was provided.' : `The resumer provided input: ${firstCodePoints(facts.input, SHOWN_INPUT)}.`,
    ...(digest === undefined ? [] : [`Pre-suspend conversation digest: ${digest}`]),
  ];
  return parts.join(' ').replace(/\s+/g, ' ').trim();
}

function causeSentence({ cause, triggerId, eventId }: ResumeFacts): string {
  switch (cause) {
    case 'operator':
      return 'You have been resumed by the operator.';
    case 'parent':
      return 'You have been resumed by your parent agent.';
    case 'triggered':
      return `You have been resumed by trigger ${triggerId ?? 'unknown'} matching event ${eventId ?? 'unknown'}.`;
    case 'timeout':
      return 'Your timeout elapsed; resuming with summary.';
    default:
      return assertNever(cause);
  }
}

/** Never negative: machines may disagree about the time (13.35). */
function suspensionGapMs(suspension: JsonObject, resumedAt: Instant): number {
  const suspendedAt = typeof suspension.suspended_at === 'string' ? parseInstant(suspension.suspended_at) : undefined;
  return suspendedAt === undefined ? 0 : Math.max(0, resumedAt - suspendedAt);
}

function asNumber(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
