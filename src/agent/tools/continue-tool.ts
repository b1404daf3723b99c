import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ParkRequest, ResumeFacts } from '../../lifecycle/activation.ts';
import { unknownOutcome } from '../fold-journal.ts';
import { emitEvent, type Loop, recordStep } from '../loop-context.ts';
import { feedbackMessage } from '../loop-record.ts';
import { TOOL_PAUSED } from '../mcp/mcp-question.ts';
import type { ToolCall } from '../transcript/message.ts';
import { plainEvent, type Transcript } from '../transcript/transcript.ts';
import { runTool, type Settled, transcriptEvents } from './tool-dispatch.ts';

/** A call that asked for the park, with what its tool kept for going on. */
interface PausedCall {
  readonly call: ToolCall;
  readonly state: JsonObject;
  /** What the tool wants to know. */
  readonly reason: string;
  /** It was given its answer and a crash came before its end: whether it took effect, nobody knows. */
  readonly hasBegun: boolean;
}

/** Events: a paused call gets its answer, and comes to its end. */
const TOOL_CONTINUING = 'tool_continuing';
const TOOL_CONTINUED = 'tool_continued';

/**
 * Goes on with the call that a tool had paused, before the model is asked again. The call's own result stays the
 * placeholder (7.3); the model hears what came of it as feedback, after the input of the resume. As with any call (4.8), the
 * journal knows that it begins before its handler does, so that a crash makes nothing happen twice.
 *
 * @returns set when a tool asks once more, or another one of the turn still waits for its answer: the loop parks again, and
 *          the model is not asked in between
 */
export async function continuePausedTool(loop: Loop): Promise<ParkRequest | undefined> {
  const { resume } = loop.activation;
  const [paused, next] = resume === undefined ? [] : pausedCalls(loop.progress.transcript);
  if (resume === undefined || paused === undefined) return undefined;
  const { call } = paused;
  const settled = await goOn(loop, paused, resume);
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

async function goOn(loop: Loop, { call, state, hasBegun }: PausedCall, resume: ResumeFacts): Promise<Settled> {
  const tool = loop.dispatcher.tools.get(call.name);
  if (tool === undefined) return { status: 'error', text: `Error: unknown tool ${call.name}`, category: 'tool_error' };
  if (hasBegun && !tool.idempotent) return { status: 'error', text: unknownOutcome(call.name), category: 'tool_error' };
  const input = resume.isRecovery ? lastAnswer(loop.progress.transcript) : resume.input;
  recordStep(loop, { t: 'in', events: [plainEvent(TOOL_CONTINUING, call.name, { call_id: call.id })] });
  return runTool(loop.dispatcher, tool, call, { state, input });
}

/** Calls that wait for an answer, in the order in which they asked; none once the model has answered since. */
function pausedCalls(transcript: Transcript): PausedCall[] {
  const waiting = new Map<string, PausedCall>();
  for (const { kind, metadata, text } of sinceLastAssistant(transcript)) {
    if (kind === TOOL_CONTINUED) waiting.delete(String(metadata?.call_id));
    if (kind === TOOL_CONTINUING) {
      const begun = waiting.get(String(metadata?.call_id));
      if (begun !== undefined) waiting.set(begun.call.id, { ...begun, hasBegun: true });
    }
    if (kind !== TOOL_PAUSED || metadata === undefined || !isJsonObject(metadata.call)) continue;
    const { id, name, arguments: args } = metadata.call;
    const call = { id: String(id), name: String(name), arguments: isJsonObject(args) ? args : {} };
    waiting.set(call.id, { call, state: metadata, reason: text, hasBegun: false });
  }
  return [...waiting.values()];
}

function sinceLastAssistant({ events }: Transcript): Transcript['events'] {
  return events.slice(events.findLastIndex((event) => event.role === 'assistant') + 1);
}

/** What the resume that a crash cut off had brought, or the one after it: the last thing that was said since the question. */
function lastAnswer(transcript: Transcript): string | undefined {
  const events = sinceLastAssistant(transcript);
  const asked = events.findLastIndex(({ kind }) => kind === TOOL_PAUSED || kind === TOOL_CONTINUED);
  return events.slice(asked + 1).findLast(({ kind, role }) => kind === 'message' && role === 'user')?.text;
}
