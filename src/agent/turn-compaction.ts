import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import type { LoopCallbacks } from './loop-live.ts';
import { callPolicy } from './loop-options.ts';
import type { CallUsage } from './loop-state.ts';
import { fitsBudget } from './model-call/call-budget.ts';
import { summariseMessages, summaryRequest } from './model-call/summary-call.ts';
import { isNotOurs } from './park.ts';
import { dropUnpreserved, pendingReminders } from './reminder.ts';
import { compactionPlan, needsCompaction, removableRange } from './transcript/compaction.ts';
import type { Message } from './transcript/message.ts';
import { runHook } from './turn-hooks.ts';

/** Compaction inside a loop (spec/agents.md 3.5 step 3): when the transcript grew too large, and before a daemon idles. */
export async function compactWhenLarge(loop: Loop): Promise<void> {
  if (needsCompaction(loop.progress.transcript.messages, loop.options.compaction, loop.frame.target.model)) await compact(loop);
}

/** `consolidate_on_idle` (11.1): whatever may go goes, however little it is. */
export async function consolidate(loop: Loop): Promise<void> {
  const { compaction } = loop.options;
  if (compaction.strategy !== 'none') await compact(loop, loop.live.callbacks.consolidate);
}

/** What stands in for the removed messages, and where it came from. */
interface Substitute {
  /** Undefined leaves it to an outline. */
  readonly summary: string | undefined;
  /** `llm`, `custom` or `truncate`. */
  readonly engine: string;
  readonly usage?: CallUsage | undefined;
}

async function compact(loop: Loop, write: LoopCallbacks['compact'] = loop.live.callbacks.compact): Promise<void> {
  const { compaction } = loop.options;
  const { messages } = loop.progress.transcript;
  // What nobody has answered yet is never part of all.
  const unanswered = messages.at(-1)?.role === 'user' ? 1 : 0;
  const keepLast = compaction.strategy === 'summarize_all' ? unanswered : compaction.keepLast;
  const range = removableRange(messages, compaction.keepFirst, keepLast);
  if (range === undefined) return;
  const facts = { strategy: compaction.strategy, messages: messages.length, archived_messages: range.removed };
  // Who wants to keep everything may say so, and answers for what the model does with it.
  if ((await runHook(loop, 'pre_compact', facts)) !== undefined) return;
  const { summary, engine, usage } = await substituteFor(loop, write, messages.slice(range.at, range.at + range.removed));
  const plan = compactionPlan(messages, {
    keepFirst: compaction.keepFirst,
    keepLast,
    mode: 'automatic',
    strategy: compaction.strategy,
    engine,
    summary,
  });
  if (plan === undefined) return;
  const kept = pendingReminders(dropUnpreserved(loop.progress.transcript)).map((reminder) => reminder.id);
  const dropped = pendingReminders(loop.progress.transcript).map((reminder) => reminder.id);
  recordStep(loop, {
    t: 'edit',
    at: plan.at,
    removed: plan.removed,
    inserted: plan.inserted,
    summary: plan.summary,
    event: plan.event,
    dropped_reminders: dropped.filter((id) => !kept.includes(id)),
    ...(usage === undefined ? {} : { usage }),
  });
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
