import { type JsonObject, parseJson } from '../../base/json.ts';
import type { CallEvent } from './model-call.ts';

/** How an event of a model call reads in the stream of a session (spec/agents.md 1.6, 3.12); undefined for what is not told. */
export function sessionEvent(event: CallEvent): JsonObject | undefined {
  switch (event.type) {
    case 'text':
      return { type: 'agent_message_chunk', content: event.text };
    case 'thought':
      return { type: 'agent_thought_chunk', content: event.text };
    case 'tool_arguments':
      return {
        type: 'tool_call_update',
        tool_call_id: event.id,
        tool_name: event.name,
        status: 'pending',
        ...rawInput(event.piece, event.partial),
      };
    case 'retry':
    case 'schema_retry':
      return retryFacts(event);
    case 'finish':
      return undefined;
  }
}

/** Arguments once they parse, their text until then. */
function rawInput(piece: string, partial: string): JsonObject {
  // Most pieces do not end an object. To parse, or only to look at, all there is with each of them would take the square of the length.
  const input = piece.trimEnd().endsWith('}') ? parseJson(partial) : undefined;
  return input === undefined ? { raw_input_partial: partial } : { raw_input: input };
}

/** A retry of either kind, as events and traces tell it. */
export function retryFacts(event: Extract<CallEvent, { type: 'retry' | 'schema_retry' }>): JsonObject {
  if (event.type === 'retry') {
    const { category, reason, message, provider, model } = event.error;
    return {
      type: 'llm_retry',
      attempt: event.attempt,
      delay_ms: event.delayMs,
      category,
      reason,
      message,
      provider,
      model,
      discarded_chars: event.discardedChars,
    };
  }
  return {
    type: 'schema_retry',
    attempt: event.attempt,
    errors: event.faults,
    correction_prompt: event.correction ?? null,
    nudge_used: event.correction !== undefined,
  };
}
