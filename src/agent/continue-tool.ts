import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { ParkRequest } from '../lifecycle/activation.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { feedbackMessage } from './loop-record.ts';
import { TOOL_PAUSED } from './mcp-question.ts';
import type { ToolCall } from './message.ts';
import { runTool, type Settled, transcriptEvents } from './tool-dispatch.ts';
import { plainEvent, type Transcript } from './transcript.ts';

/** A call that asked for the park, with what its tool kept for going on. */
interface PausedCall {
  readonly call: ToolCall;
  readonly state: JsonObject;
  /** What the tool wants to know. */
  readonly reason: string;
}

/** Event: a paused call came to its end. */
const TOOL_CONTINUED = 'tool_continued';

/**
 * Goes on with the call that a tool had paused, before the model is asked again. The call's own result stays the
 * placeholder (7.3); the model hears what came of it as feedback, after the input of the resume.
 *
 * @returns set when a tool asks once more, or another one of the turn still waits for its answer: the loop parks again, and
 *          the model is not asked in between
 */
export async function continuePausedTool(loop: Loop): Promise<ParkRequest | undefined> {
  const { resume } = loop.activation;
  const [paused, next] = resume === undefined || resume.isRecovery ? [] : pausedCalls(loop.progress.transcript);
  if (resume === undefined || paused === undefined) return undefined;
  const { call, state } = paused;
  const tool = loop.dispatcher.tools.get(call.name);
  const settled: Settled =
    tool === undefined
      ? { status: 'error', text: `Error: unknown tool ${call.name}`, category: 'tool_error' }
      : await runTool(loop.dispatcher, tool, call, { state, input: resume.input });
  const { status, text, park } = settled;
  if (park !== undefined) {
    recordStep(loop, { t: 'in', events: transcriptEvents(call, settled) });
    return park;
  }
  const events = [...transcriptEvents(call, settled), plainEvent(TOOL_CONTINUED, call.name, { call_id: call.id, status })];
  const content = JSON.stringify({ tool: call.name, tool_call_id: call.id, status, result: text });
  recordStep(loop, { t: 'in', added: [feedbackMessage({ kind: 'tool_result', content })], events });
  emitEvent(loop, {
    type: 'tool_call_update',
    tool_call_id: call.id,
    tool_name: call.name,
    status: status === 'ok' ? 'completed' : 'failed',
    ...(status === 'ok' ? { raw_output: text } : { error: text, error_category: settled.category ?? 'tool_error' }),
  });
  return next === undefined ? undefined : { reason: next.reason, initiator: 'self', conditions: undefined };
}

/** Calls that wait for an answer, in the order in which they asked; none once the model has answered since. */
function pausedCalls(transcript: Transcript): PausedCall[] {
  const lastAnswer = transcript.events.findLastIndex((event) => event.role === 'assistant');
  const waiting = new Map<string, PausedCall>();
  for (const { kind, metadata, text } of transcript.events.slice(lastAnswer + 1)) {
    if (kind === TOOL_CONTINUED) waiting.delete(String(metadata?.call_id));
    if (kind !== TOOL_PAUSED || metadata === undefined || !isJsonObject(metadata.call)) continue;
    const { id, name, arguments: args } = metadata.call;
    const call = { id: String(id), name: String(name), arguments: isJsonObject(args) ? args : {} };
    waiting.set(call.id, { call, state: metadata, reason: text });
  }
  return [...waiting.values()];
}
