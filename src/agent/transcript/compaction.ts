import type { JsonObject } from '../../base/json.ts';
import { firstCodePoints } from '../json-text.ts';
import { contextTokens } from '../providers/model-catalog.ts';
import { dropUnpreserved } from '../reminder.ts';
import { type Message, messageCalls, messageText, userMessage } from './message.ts';
import { appendEvent, CHARACTERS_PER_TOKEN, estimateTokens, type NewEvent, plainEvent, type Transcript } from './transcript.ts';

/**
 * Compaction (spec/agents.md 3.2 `compaction`): earlier messages give way to one that says what they were about.
 * The decision is pure; a strategy that asks a model for the summary gets it from outside.
 */
export type CompactionStrategy = 'none' | 'truncate' | 'summarize_middle' | 'summarize_all' | 'hybrid' | 'custom';

export interface CompactionPolicy {
  readonly strategy: CompactionStrategy;
  readonly keepFirst: number;
  readonly keepLast: number;
  /** Estimated tokens above which the automatic compaction starts; undefined takes most of the model's context. */
  readonly thresholdTokens: number | undefined;
  /** Estimated tokens that a request may have at most; undefined takes nearly all of the model's context. */
  readonly hardLimitTokens: number | undefined;
}

export interface CompactionRange {
  readonly keepFirst: number;
  readonly keepLast: number;
  readonly mode: 'automatic' | 'manual';
  readonly strategy: string;
  /** What wrote the text in place of the messages: `llm`, `custom`, `truncate` (default). */
  readonly engine?: string | undefined;
  /** Text in place of the removed messages; undefined makes one from their beginnings. */
  readonly summary?: string | undefined;
  /** Estimated tokens that the outcome has to fit into; fewer messages stay then, and long results are cut. */
  readonly limitTokens?: number | undefined;
}

export interface CompactionPlan {
  readonly at: number;
  readonly removed: number;
  readonly inserted: readonly Message[];
  /** Absent when no message went, and results were cut only. */
  readonly summary?: string;
  readonly event: NewEvent;
}

export const DEFAULT_COMPACTION: CompactionPolicy = {
  strategy: 'hybrid',
  keepFirst: 0,
  keepLast: 10,
  thresholdTokens: undefined,
  hardLimitTokens: undefined,
};

/** The share of a model's context that a request is to leave to the answer, and to an estimate that is too low. */
const HEADROOM = 0.1;

/** @returns Infinity for a policy that keeps everything */
export function hardLimit(policy: CompactionPolicy, model: string): number {
  if (policy.strategy === 'none') return Infinity;
  return policy.hardLimitTokens ?? Math.floor(contextTokens(model) * (1 - HEADROOM));
}

/** What goes has to be this share of the whole, or the next turn would only ask again for a summary. */
const WORTHWHILE = 0.05;

/** Whether the messages are too large, and to make them smaller is worth a summary, or cannot wait. */
export function needsCompaction(messages: readonly Message[], policy: CompactionPolicy, model: string): boolean {
  if (policy.strategy === 'none') return false;
  const tokens = estimateTokens(messages);
  if (tokens > hardLimit(policy, model)) return true;
  if (tokens <= (policy.thresholdTokens ?? Math.floor(contextTokens(model) * 0.8))) return false;
  const range = removableRange(messages, { keepFirst: policy.keepFirst, keepLast: policy.keepLast });
  return range !== undefined && estimateTokens(messages.slice(range.at, range.at + range.removed)) >= tokens * WORTHWHILE;
}

/** Room for what stands in for the removed messages. */
const SUMMARY_TOKENS = 2000;

/** The stretch of messages that would be removed; undefined when there is nothing between what must stay. */
export function removableRange(
  messages: readonly Message[],
  { keepFirst, keepLast, limitTokens = Infinity }: Pick<CompactionRange, 'keepFirst' | 'keepLast' | 'limitTokens'>,
): { at: number; removed: number } | undefined {
  const at = afterResults(messages, keepFirst);
  const wished = beforeCalls(messages, Math.max(at, messages.length - keepLast));
  const end = fittingEnd(messages, wished, limitTokens - estimateTokens(messages.slice(0, at)) - SUMMARY_TOKENS);
  return end <= at || isTooLittle(messages, at, end, limitTokens) ? undefined : { at, removed: end - at };
}

/** Where results have to be cut anyway, a summary that makes hardly any room would cost a model call, and the task its words. */
function isTooLittle(messages: readonly Message[], at: number, end: number, limitTokens: number): boolean {
  const tokens = estimateTokens(messages);
  return tokens > limitTokens && estimateTokens(messages.slice(at, end)) < tokens * WORTHWHILE;
}

/** Where to cut so that what follows has the room. The last answer stays, with its results. */
function fittingEnd(messages: readonly Message[], from: number, roomTokens: number): number {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  let end = from;
  for (let at = from; at <= last && estimateTokens(messages.slice(end)) > roomTokens; at++) {
    if (messages[at]?.role !== 'tool') end = at;
  }
  return end;
}

/** @returns undefined when there is nothing that could go or be cut */
export function compactionPlan(messages: readonly Message[], range: CompactionRange): CompactionPlan | undefined {
  const { limitTokens = Infinity } = range;
  const found = removableRange(messages, range);
  const at = found?.at ?? afterResults(messages, range.keepFirst);
  const gone = found?.removed ?? 0;
  const summary = found === undefined ? undefined : (range.summary ?? outline(messages.slice(at, at + gone)));
  const word = range.mode === 'automatic' ? 'auto-compacted' : 'compacted';
  const substitute = summary === undefined ? [] : [userMessage(`[Earlier conversation, ${word}]\n${summary}`)];
  const before = messages.slice(0, at);
  const kept = messages.slice(at + gone);
  const fitted = cutResults(kept, limitTokens - estimateTokens([...before, ...substitute]));
  const cuts = fitted.filter((message, index) => message !== kept[index]).length;
  if (gone + cuts === 0) return undefined;
  const facts: JsonObject = {
    mode: range.mode,
    strategy: range.strategy,
    engine_strategy: range.engine ?? (range.summary === undefined ? 'truncate' : 'custom'),
    archived_messages: gone,
    ...(cuts === 0 ? {} : { cut_results: cuts }),
    estimated_tokens_before: estimateTokens(messages),
    estimated_tokens_after: estimateTokens([...before, ...substitute, ...fitted]),
  };
  return {
    at,
    removed: gone + (cuts === 0 ? 0 : kept.length),
    inserted: cuts === 0 ? substitute : [...substitute, ...fitted],
    ...(summary === undefined ? {} : { summary }),
    event: plainEvent('compaction', summary ?? `${cuts} long results cut`, facts),
  };
}

const CUT_MARK = "\n[cut: the result did not fit into the model's context]";

/** A beginning shorter than this says nothing. */
const LEAST_RESULT = 200;

/** The same messages where they fit; otherwise the longest results lose their ends, all to one length. */
function cutResults(messages: readonly Message[], roomTokens: number): readonly Message[] {
  const excess = (estimateTokens(messages) - roomTokens) * CHARACTERS_PER_TOKEN;
  if (excess <= 0) return messages;
  const limit = Math.max(LEAST_RESULT, evenLimit(messages.flatMap(resultLength), excess));
  return messages.map((message) => (resultLength(message).some((length) => length > limit) ? cutResult(message, limit) : message));
}

function resultLength({ role, content }: Message): number[] {
  return role === 'tool' && typeof content === 'string' ? [content.length] : [];
}

function cutResult(message: Message, limit: number): Message {
  return { ...message, content: firstCodePoints(messageText(message), limit - CUT_MARK.length) + CUT_MARK };
}

/** The length to which all texts have to be cut to lose `excess` characters together; 0 when they have not got that many. */
function evenLimit(lengths: readonly number[], excess: number): number {
  const longestFirst = lengths.toSorted((left, right) => right - left);
  let sum = 0;
  for (const [index, length] of longestFirst.entries()) {
    sum += length;
    const limit = Math.floor((sum - excess) / (index + 1));
    if (limit >= (longestFirst[index + 1] ?? 0)) return Math.max(0, limit);
  }
  return 0;
}

/** The transcript as a plan leaves it; reminders that do not say otherwise go with the messages. */
export function applyCompaction(transcript: Transcript, plan: CompactionPlan): Transcript {
  const messages = transcript.messages.toSpliced(plan.at, plan.removed, ...plan.inserted);
  return appendEvent({ ...dropUnpreserved(transcript), messages, summary: plan.summary ?? transcript.summary }, plan.event);
}

/** A cut must not part a call from its results: it moves behind them. */
function afterResults(messages: readonly Message[], from: number): number {
  let at = Math.min(from, messages.length);
  while (at > 0 && messages[at]?.role === 'tool') at++;
  return at;
}

/** A cut must not begin with results whose call is gone: it moves before the call. */
function beforeCalls(messages: readonly Message[], from: number): number {
  let at = from;
  while (at > 0 && messages[at]?.role === 'tool') at--;
  return at;
}

const LINE_LIMIT = 160;
const OUTLINE_LIMIT = 4000;

/** One line a message: enough to know what was talked about, without a model call. */
function outline(messages: readonly Message[]): string {
  const lines = messages.map((message) => {
    const names = messageCalls(message).map((call) => call.name);
    const text = firstCodePoints(messageText(message).replace(/\s+/g, ' ').trim(), LINE_LIMIT);
    return `- ${message.role}: ${text}${names.length === 0 ? '' : ` (called ${names.join(', ')})`}`;
  });
  return firstCodePoints(lines.join('\n'), OUTLINE_LIMIT);
}
