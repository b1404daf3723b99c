import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import type { LoopCallbacks } from './loop-live.ts';
import { callPolicy } from './loop-options.ts';
import type { CallUsage } from './loop-state.ts';
import { fitsBudget } from './model-call/call-budget.ts';
import { summariseMessages, summaryRequest } from './model-call/summary-call.ts';
import { isNotOurs } from './park.ts';
import { compactionPlan, hardLimit, needsCompaction, removableRange } from './transcript/compaction.ts';
import type { Message } from './transcript/message.ts';
import { compactionRecord } from './transcript/session-edit.ts';
import { estimateTokens } from './transcript/transcript.ts';
import { runHook } from './turn-hooks.ts';

/** Compaction inside a loop (spec/agents.md 3.5 step 3): when the transcript grew too large, and before a daemon idles. */
export async function compactWhenLarge(loop: Loop): Promise<void> {
  if (needsCompaction(loop.progress.transcript.messages, loop.options.compaction, loop.frame.target.model)) await compact(loop);
}

/** How much smaller a transcript has to become when the model did not take it: what a token is was misjudged. */
const SHRINK = 0.6;

/**
 * For a model that found the request too long: the estimate, or what harn knows of the model, was wrong.
 * @returns false when nothing can go
 */
export async function compactAfterOverflow(loop: Loop): Promise<boolean> {
  const { messages } = loop.progress.transcript;
  if (loop.options.compaction.strategy === 'none') return false;
  await compact(loop, { limitTokens: Math.floor(estimateTokens(messages) * SHRINK) });
  return loop.progress.transcript.messages !== messages;
}

/** `consolidate_on_idle` (11.1): whatever may go goes, however little it is. */
export async function consolidate(loop: Loop): Promise<void> {
  const { compaction } = loop.options;
  if (compaction.strategy !== 'none') await compact(loop, { write: loop.live.callbacks.consolidate });
}

/** What stands in for the removed messages, and where it came from. */
interface Substitute {
  /** Undefined leaves it to an outline. */
  readonly summary: string | undefined;
  /** `llm`, `custom` or `truncate`. */
  readonly engine: string;
  readonly usage?: CallUsage | undefined;
}

interface Compaction {
  /** Estimated tokens that have to be enough afterwards. */
  readonly limitTokens?: number;
  readonly write?: LoopCallbacks['compact'] | undefined;
}

async function compact(
  loop: Loop,
  { limitTokens = hardLimit(loop.options.compaction, loop.frame.target.model), write = loop.live.callbacks.compact }: Compaction = {},
): Promise<void> {
  const { compaction } = loop.options;
  const { messages } = loop.progress.transcript;
  // What nobody has answered yet is never part of all.
  const unanswered = messages.at(-1)?.role === 'user' ? 1 : 0;
  const keepLast = compaction.strategy === 'summarize_all' ? unanswered : compaction.keepLast;
  const room = { keepFirst: compaction.keepFirst, keepLast, limitTokens };
  const range = removableRange(messages, room);
  if (range === undefined && estimateTokens(messages) <= limitTokens) return;
  const facts = { strategy: compaction.strategy, messages: messages.length, archived_messages: range?.removed ?? 0 };
  // Who wants to keep everything may say so, and answers for what the model does with it.
  if ((await runHook(loop, 'pre_compact', facts)) !== undefined) return;
  const removed = range === undefined ? [] : messages.slice(range.at, range.at + range.removed);
  const { summary, engine, usage } = removed.length === 0 ? TRUNCATED : await substituteFor(loop, write, removed);
  const plan = compactionPlan(messages, { ...room, mode: 'automatic', strategy: compaction.strategy, engine, summary });
  if (plan === undefined) return;
  recordStep(loop, { ...compactionRecord(loop.progress.transcript, plan), ...(usage === undefined ? {} : { usage }) });
  loop.hasCompacted = true;
  emitEvent(loop, { type: 'transcript_compacted', ...plan.event.metadata });
  await runHook(loop, 'post_compact', plan.event.metadata);
}

/** The author's callback comes first, then the model; `truncate`, a model that fails, and a budget without room for it leave an outline. */
async function substituteFor(loop: Loop, write: LoopCallbacks['compact'], removed: readonly Message[]): Promise<Substitute> {
  const { strategy } = loop.options.compaction;
  const written = await write?.(removed);
  if (written !== undefined) return { summary: written, engine: 'custom' };
  if (strategy !== 'hybrid' && strategy !== 'summarize_middle' && strategy !== 'summarize_all') return TRUNCATED;
  const { world, frame, options, progress, signal } = loop;
  const request = summaryRequest(frame.target, removed);
  if (!fitsBudget(request, options.model.budget, progress.counters.cost_usd)) return TRUNCATED;
  try {
    const { text, usage } = await summariseMessages(world, request, callPolicy(options), signal);
    return text === '' ? { ...TRUNCATED, usage } : { summary: text, engine: 'llm', usage };
  } catch (error) {
    // A summary is a help: without one the loop goes on as well as it can.
    if (isNotOurs(loop, error)) throw error;
    return TRUNCATED;
  }
}

const TRUNCATED: Substitute = { summary: undefined, engine: 'truncate' };
