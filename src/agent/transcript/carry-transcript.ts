import type { Json, JsonObject } from '../../base/json.ts';
import { compactionPlan, DEFAULT_COMPACTION } from './compaction.ts';
import { appendEvent, isTranscript } from './transcript.ts';

/** What the next cycle of a finished worker knows of the last one (spec/agents.md 4.2 `carry.transcript_mode`). */
export function carryTranscript(transcript: JsonObject | null, mode: Json | undefined, newId: string, sessionId: string): Json | undefined {
  if (!isTranscript(transcript) || mode === 'reset') return undefined;
  if (mode === 'fork') {
    const metadata = { ...transcript.metadata, parent_transcript_id: transcript.id === '' ? sessionId : transcript.id };
    return { ...transcript, id: newId, metadata };
  }
  if (mode !== 'compact') return transcript;
  const { keepFirst, keepLast } = DEFAULT_COMPACTION;
  const plan = compactionPlan(transcript.messages, { keepFirst, keepLast, mode: 'automatic', strategy: 'truncate' });
  if (plan === undefined) return transcript;
  const messages = transcript.messages.toSpliced(plan.at, plan.removed, ...plan.inserted);
  return appendEvent({ ...transcript, messages, summary: plan.summary ?? transcript.summary }, plan.event);
}
