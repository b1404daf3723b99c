import type { JsonObject } from '../../base/json.ts';
import type { LoopState } from '../../lifecycle/activation.ts';
import { unknownOutcome } from '../fold-journal.ts';
import { firstCodePoints, wellFormed } from '../json-text.ts';
import { readLoopState, writeLoopState } from '../loop-state.ts';
import { contextTokens } from '../providers/model-catalog.ts';
import { compactionPlan } from './compaction.ts';
import { isForeignBlock, type Message, messageCalls, toolMessage } from './message.ts';
import { sendableMessage } from './message-shape.ts';
import { appendEvent, CHARACTERS_PER_TOKEN, estimateTokens, type Transcript } from './transcript.ts';

/**
 * Makes a restored transcript fit to send (spec/agents.md 5.15). A faulty record must never stop a resume, so each
 * kind of fault has its mildest repair; the file stays as it is. A clean transcript comes back unchanged, the very
 * same objects, so that the request is that of an uninterrupted loop byte for byte.
 *
 * Order matters: messages that cannot be sent go first, then calls and results are paired, then sizes are cut.
 */
export interface Repair {
  readonly repair:
    | 'result_added'
    | 'result_dropped'
    | 'result_moved'
    | 'text_fixed'
    | 'signed_block_dropped'
    | 'message_dropped'
    | 'result_cut'
    | 'compacted';
  /** Index of the message, as it was when this repair was made. */
  readonly index: number;
  readonly toolCallId?: string | undefined;
  readonly bytesBefore?: number | undefined;
  readonly bytesAfter?: number | undefined;
}

export interface ModelIdentity {
  readonly provider: string;
  readonly model: string;
}

const RESULT_LIMIT_BYTES = 1 << 20;
const CUT_MARK = '\n[cut: the result was larger than 1 MiB]';

export function repairState(
  state: LoopState,
  target: ModelIdentity,
): { readonly state: LoopState; readonly repairs: readonly JsonObject[] } {
  if (state.transcript === null) return { state, repairs: [] };
  const parts = readLoopState(state, '');
  const { transcript, repairs } = repairTranscript(parts.transcript, target);
  if (repairs.length === 0) return { state, repairs: [] };
  return { state: writeLoopState({ ...parts, transcript }), repairs: repairs.map(repairJson) };
}

export function repairTranscript(
  transcript: Transcript,
  target: ModelIdentity,
): { readonly transcript: Transcript; readonly repairs: readonly Repair[] } {
  const repairs: Repair[] = [];
  const readable: Message[] = [];
  for (const [index, message] of transcript.messages.entries()) {
    const fixed = fixMessage(message, index, target, repairs);
    if (fixed !== undefined) readable.push(fixed);
  }
  const paired = pairResults(readable, repairs);
  const cut = paired.map((message, index) => cutResult(message, index, repairs));
  if (repairs.length === 0 && estimateTokens(cut) <= contextTokens(target.model)) return { transcript, repairs };
  return fitContext({ ...transcript, messages: cut }, target, repairs);
}

function repairJson({ repair, index, toolCallId, bytesBefore, bytesAfter }: Repair): JsonObject {
  return {
    repair,
    index,
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(bytesBefore === undefined ? {} : { bytes_before: bytesBefore }),
    ...(bytesAfter === undefined ? {} : { bytes_after: bytesAfter }),
  };
}

// Rows 2 to 4: one message at a time.

function fixMessage(message: Message, index: number, target: ModelIdentity, repairs: Repair[]): Message | undefined {
  const sendable = sendableMessage(message);
  if (sendable !== message) repairs.push({ repair: 'message_dropped', index });
  if (sendable === undefined) return undefined;
  const fixed = fixBlocks(fixText(sendable, index, repairs), index, target, repairs);
  if (isEmpty(fixed)) {
    if (sendable === message) repairs.push({ repair: 'message_dropped', index });
    return undefined;
  }
  return fixed;
}

/** A result may be empty, and dropping it would orphan its call. */
function isEmpty(message: Message): boolean {
  return message.role !== 'tool' && message.content.length === 0 && messageCalls(message).length === 0;
}

function fixBlocks(message: Message, index: number, target: ModelIdentity, repairs: Repair[]): Message {
  if (typeof message.content === 'string') return message;
  const content = message.content.filter((block) => {
    if (isForeignBlock(block, target)) {
      repairs.push({ repair: 'signed_block_dropped', index });
      return false;
    }
    return true;
  });
  return content.length === message.content.length ? message : { ...message, content };
}

function fixText(message: Message, index: number, repairs: Repair[]): Message {
  const fixed = wellFormed(message);
  if (fixed !== message) repairs.push({ repair: 'text_fixed', index });
  return fixed;
}

// Row 1: every call has exactly one result, directly after it.

function pairResults(messages: readonly Message[], repairs: Repair[]): readonly Message[] {
  if (isPaired(messages)) return messages;
  const strays = strayResults(messages);
  const paired: Message[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (!strays.has(index)) paired.push(message);
      return;
    }
    paired.push(message);
    const calls = messageCalls(message);
    if (calls.length === 0) return;
    const present = adjacentIds(messages, index + 1, strays);
    for (const call of calls) {
      const at = present.indexOf(call.id);
      if (at >= 0) present.splice(at, 1);
      else paired.push(findResult(call, index, strays, repairs));
    }
  });
  for (const [index, message] of strays) repairs.push({ repair: 'result_dropped', index, toolCallId: message.tool_call_id });
  return inCallOrder(paired);
}

/** Whether the results of each message follow it in the order of its calls, as in every transcript of our own: one look instead of three. */
function isPaired(messages: readonly Message[]): boolean {
  for (let index = 0; index < messages.length; ) {
    const message = messages[index++] as Message; // index < length
    if (message.role === 'tool') return false;
    for (const call of messageCalls(message)) {
      const result = messages[index++];
      if (result?.role !== 'tool' || result.tool_call_id !== call.id) return false;
    }
  }
  return true;
}

/** Results that do not stand directly after a call that still needs one. */
function strayResults(messages: readonly Message[]): Map<number, Message> {
  const strays = new Map<number, Message>();
  let open: string[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'tool') {
      open = messageCalls(message).map((call) => call.id);
      return;
    }
    const at = open.indexOf(message.tool_call_id ?? '');
    if (at < 0) strays.set(index, message);
    else open.splice(at, 1);
  });
  return strays;
}

function adjacentIds(messages: readonly Message[], from: number, strays: ReadonlyMap<number, Message>): string[] {
  const ids: string[] = [];
  for (let index = from; messages[index]?.role === 'tool'; index++) {
    if (!strays.has(index)) ids.push(messages[index]?.tool_call_id ?? '');
  }
  return ids;
}

/** A stray result of this id further down belongs here; without one, nobody knows what happened. */
function findResult(call: { id: string; name: string }, callIndex: number, strays: Map<number, Message>, repairs: Repair[]): Message {
  for (const [index, stray] of strays) {
    if (index > callIndex && stray.tool_call_id === call.id) {
      strays.delete(index);
      repairs.push({ repair: 'result_moved', index, toolCallId: call.id });
      return stray;
    }
  }
  repairs.push({ repair: 'result_added', index: callIndex, toolCallId: call.id });
  return toolMessage(call, unknownOutcome(call.name));
}

/** Added results were put before those that stood there already; results follow the order of their calls. */
function inCallOrder(messages: readonly Message[]): Message[] {
  const ordered: Message[] = [];
  for (let index = 0; index < messages.length; ) {
    const message = messages[index] as Message; // index < length
    ordered.push(message);
    index++;
    const results: Message[] = [];
    while (messages[index]?.role === 'tool') results.push(messages[index++] as Message);
    if (results.length === 0) continue;
    const ids = messageCalls(message).map((call) => call.id);
    const isInOrder = results.every((result, position) => result.tool_call_id === ids[position]);
    if (isInOrder) ordered.push(...results);
    else {
      for (const id of ids) {
        const at = results.findIndex((result) => result.tool_call_id === id);
        if (at >= 0) ordered.push(...results.splice(at, 1));
      }
    }
  }
  return ordered;
}

// Row 5: sizes.

function cutResult(message: Message, index: number, repairs: Repair[]): Message {
  if (message.role !== 'tool' || typeof message.content !== 'string') return message;
  // No code unit takes more than three bytes.
  if (message.content.length * 3 <= RESULT_LIMIT_BYTES) return message;
  const bytesBefore = Buffer.byteLength(message.content);
  if (bytesBefore <= RESULT_LIMIT_BYTES) return message;
  const content = cutToBytes(message.content, RESULT_LIMIT_BYTES - CUT_MARK.length) + CUT_MARK;
  repairs.push({ repair: 'result_cut', index, toolCallId: message.tool_call_id, bytesBefore, bytesAfter: Buffer.byteLength(content) });
  return { ...message, content };
}

/** Cuts between code points, never inside one. */
function cutToBytes(text: string, limit: number): string {
  const kept = Buffer.from(text).subarray(0, limit).toString('utf8');
  return kept.endsWith('\uFFFD') ? firstCodePoints(text, Array.from(kept).length - 1) : kept;
}

function fitContext(transcript: Transcript, target: ModelIdentity, repairs: Repair[]) {
  const limit = contextTokens(target.model);
  const before = estimateTokens(transcript.messages);
  if (before <= limit) return { transcript, repairs };
  const range = { keepFirst: 1, keepLast: 10, mode: 'automatic', strategy: 'truncate', limitTokens: limit } as const;
  const plan = compactionPlan(transcript.messages, range);
  if (plan === undefined) return { transcript, repairs };
  const messages = transcript.messages.toSpliced(plan.at, plan.removed, ...plan.inserted);
  repairs.push({
    repair: 'compacted',
    index: plan.at,
    bytesBefore: before * CHARACTERS_PER_TOKEN,
    bytesAfter: estimateTokens(messages) * CHARACTERS_PER_TOKEN,
  });
  return { transcript: appendEvent({ ...transcript, messages }, plan.event), repairs };
}
