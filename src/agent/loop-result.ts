import type { Json, JsonObject } from '../base/json.ts';
import type { AutonomyStop } from './autonomy.ts';
import type { LoopCounters, RecordedEnd } from './loop-state.ts';
import { visibleText } from './tools/text-tools.ts';
import { messageText } from './transcript/message.ts';
import { eventsByKind, lastOfRole, type Transcript } from './transcript/transcript.ts';

export interface EndFacts extends RecordedEnd {
  readonly error?: JsonObject | undefined;
  readonly autonomy?: AutonomyStop | undefined;
}

export interface ResultFacts {
  readonly format: 'native' | 'text';
  /** Undefined when no word ends the loop; nothing is then taken out of the text. */
  readonly sentinel: string | undefined;
  readonly data: Json;
  readonly daemonState?: string | undefined;
  readonly daemonSnapshotPath?: string | undefined;
  readonly suspension?: JsonObject | undefined;
  /** What went wrong, where the end itself does not say. */
  readonly error?: JsonObject | undefined;
  /** How a loop got stuck. */
  readonly stall?: JsonObject | undefined;
  /** What the author of the loop should know. */
  readonly warnings?: readonly string[] | undefined;
}

/** What `agent_loop` answers when it ended by itself (spec/agents.md 3.8). */
export function buildLoopResult(end: EndFacts, transcript: Transcript, counters: LoopCounters, facts: ResultFacts): JsonObject {
  const last = lastOfRole(transcript.messages, 'assistant');
  const text = last === undefined ? '' : messageText(last);
  return {
    status: end.status,
    text,
    visible_text: visibleText(text, facts.sentinel ?? ''),
    llm: {
      iterations: counters.iterations_completed,
      duration_ms: counters.duration_ms,
      input_tokens: counters.input_tokens,
      output_tokens: counters.output_tokens,
    },
    tools: { calls: counters.tools_used, successful: counters.successful_tools, rejected: counters.rejected_tools, mode: facts.format },
    transcript,
    deferred_user_messages: counters.deferred_user_messages,
    daemon_state: facts.daemonState ?? null,
    daemon_snapshot_path: facts.daemonSnapshotPath ?? null,
    task_ledger: {},
    trace: {
      ...trace(transcript, counters),
      warnings: facts.warnings ?? [],
      ...(facts.stall === undefined ? {} : { stall: facts.stall }),
      ...(end.autonomy === undefined ? {} : { autonomy: end.autonomy }),
    },
    error: end.error ?? facts.error ?? null,
    stop_reason: end.stop_reason,
    data: facts.data,
    ...(facts.suspension === undefined ? {} : { suspension: facts.suspension }),
  };
}

/** Figures for whoever looks into a run; the events have the details. */
function trace(transcript: Transcript, counters: LoopCounters): JsonObject {
  const retries = eventsByKind(transcript, 'llm_retry');
  const fallbacks = eventsByKind(transcript, 'native_tool_fallback');
  return {
    llm_calls: counters.llm_calls,
    cost_usd: counters.cost_usd,
    llm_retries: retries.length,
    empty_completion_retries: retries.filter(({ text }) => /delivered no content/.test(text)).length,
    compactions: eventsByKind(transcript, 'compaction').length,
    native_text_tool_fallbacks: fallbacks.length,
    native_text_tool_fallback_rejections: fallbacks.filter(({ metadata }) => metadata?.accepted === false).length,
  };
}

/** What the caller of `agent_loop` gets when the loop parked: the Suspension and the extra keys of 3.8, no transcript text. */
export function buildParkedResult(suspension: JsonObject, sessionId: string): JsonObject {
  return {
    ...suspension,
    final_status: 'suspended',
    stop_reason: 'suspended',
    worker: suspension.handle ?? null,
    session_id: sessionId,
  };
}
