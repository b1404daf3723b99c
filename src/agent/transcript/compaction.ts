import type { JsonObject } from '../../base/json.ts';
import { firstCodePoints } from '../json-text.ts';
import { dropUnpreserved } from '../reminder.ts';
import { type Message, messageCalls, messageText, userMessage } from './message.ts';
import { appendEvent, estimateTokens, type NewEvent, plainEvent, type Transcript } from './transcript.ts';

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
}

export interface CompactionPlan {
  readonly at: number;
  readonly removed: number;
  readonly inserted: readonly Message[];
  readonly summary: string;
  readonly event: NewEvent;
}

export const DEFAULT_COMPACTION: CompactionPolicy = { strategy: 'hybrid', keepFirst: 0, keepLast: 10, thresholdTokens: undefined };

const CONTEXTS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['gemini-', 1_000_000],
  ['gpt-4.1', 1_000_000],
  ['gpt-4o', 128_000],
  ['llama', 128_000],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4', 200_000],
];

/** Size of the model's context in tokens. */
export function contextTokens(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return CONTEXTS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 200_000;
}

export function needsCompaction(messages: readonly Message[], policy: CompactionPolicy, model: string): boolean {
  if (policy.strategy === 'none') return false;
  const threshold = policy.thresholdTokens ?? Math.floor(contextTokens(model) * 0.8);
  return estimateTokens(messages) > threshold;
}

/** The stretch of messages that would be removed; undefined when there is nothing between what must stay. */
export function removableRange(
  messages: readonly Message[],
  keepFirst: number,
  keepLast: number,
): { at: number; removed: number } | undefined {
  const at = afterResults(messages, keepFirst);
  const end = beforeCalls(messages, Math.max(at, messages.length - keepLast));
  return end <= at ? undefined : { at, removed: end - at };
}

export function compactionPlan(messages: readonly Message[], range: CompactionRange): CompactionPlan | undefined {
  const found = removableRange(messages, range.keepFirst, range.keepLast);
  if (found === undefined) return undefined;
  const removed = messages.slice(found.at, found.at + found.removed);
  const summary = range.summary ?? outline(removed);
  const word = range.mode === 'automatic' ? 'auto-compacted' : 'compacted';
  const inserted = [userMessage(`[Earlier conversation, ${word}]\n${summary}`)];
  const after = [...messages.slice(0, found.at), ...inserted, ...messages.slice(found.at + found.removed)];
  const facts: JsonObject = {
    mode: range.mode,
    strategy: range.strategy,
    engine_strategy: range.engine ?? (range.summary === undefined ? 'truncate' : 'custom'),
    archived_messages: found.removed,
    estimated_tokens_before: estimateTokens(messages),
    estimated_tokens_after: estimateTokens(after),
  };
  return { ...found, inserted, summary, event: plainEvent('compaction', summary, facts) };
}

/** The transcript as a plan leaves it; reminders that do not say otherwise go with the messages. */
export function applyCompaction(transcript: Transcript, plan: CompactionPlan): Transcript {
  const messages = [...transcript.messages];
  messages.splice(plan.at, plan.removed, ...plan.inserted);
  return appendEvent({ ...dropUnpreserved(transcript), messages, summary: plan.summary }, plan.event);
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
