import { isJsonObject, type JsonObject } from '../base/json.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { feedbackMessage } from './loop-record.ts';
import { TOOL_PAUSED } from './mcp-question.ts';
import type { ToolCall } from './message.ts';
import { runTool } from './tool-dispatch.ts';
import { eventsByKind, type Transcript } from './transcript.ts';

/** A call that asked for the park, with what its tool kept for going on. */
interface PausedCall {
  readonly call: ToolCall;
  readonly state: JsonObject;
}

/**
 * Goes on with the call that a tool had paused, before the model is asked again. The call's own result stays the
 * placeholder (7.3); the model hears what came of it as feedback, after the input of the resume.
 */
export async function continuePausedTool(loop: Loop): Promise<void> {
  const { resume } = loop.activation;
  const paused = resume === undefined || resume.isRecovery ? undefined : pausedCall(loop.progress.transcript);
  if (resume === undefined || paused === undefined) return;
  const { call, state } = paused;
  const tool = loop.dispatcher.tools.get(call.name);
  const settled =
    tool === undefined
      ? { status: 'error', text: `Error: unknown tool ${call.name}` }
      : await runTool(loop.dispatcher, tool, call, { state, input: resume.input });
  const isAsking = settled.status === 'awaiting_resumption';
  const status = isAsking ? 'error' : settled.status;
  const text = isAsking ? `Error: the tool asks once more; call ${call.name} again to go on` : settled.text;
  const content = JSON.stringify({ tool: call.name, tool_call_id: call.id, status, result: text });
  recordStep(loop, { t: 'in', added: [feedbackMessage({ kind: 'tool_result', content })] });
  emitEvent(loop, {
    type: 'tool_call_update',
    tool_call_id: call.id,
    tool_name: call.name,
    status: status === 'ok' ? 'completed' : 'failed',
    ...(status === 'ok' ? { raw_output: text } : { error: text, error_category: 'tool_error' }),
  });
}

/** The last paused call, unless the model has answered since. */
function pausedCall(transcript: Transcript): PausedCall | undefined {
  const paused = eventsByKind(transcript, TOOL_PAUSED).at(-1);
  if (paused === undefined || !isJsonObject(paused.metadata) || !isJsonObject(paused.metadata.call)) return undefined;
  const since = transcript.events.slice(transcript.events.indexOf(paused));
  if (since.some((event) => event.role === 'assistant')) return undefined;
  const { id, name, arguments: args } = paused.metadata.call;
  return { call: { id: String(id), name: String(name), arguments: isJsonObject(args) ? args : {} }, state: paused.metadata };
}
