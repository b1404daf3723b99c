import type { JsonObject } from '../base/json.ts';
import { isJsonObject } from '../base/json.ts';
import { firstCodePoints } from './json-text.ts';
import { contextTokens } from './providers/model-catalog.ts';
import type { ReminderSpec } from './reminder.ts';
import { isSnipped } from './tools/tool.ts';
import { type Message, messageText } from './transcript/message.ts';
import { estimateTokens } from './transcript/transcript.ts';

/**
 * The standard reminder providers of a loop (spec/agents.md 3.10), asked before each model call. Each looks at facts
 * and says at most one thing, for one turn; `resume_continuity` is put in by the resume itself (apply-resume.ts).
 */
export interface TurnView {
  readonly messages: readonly Message[];
  readonly model: string;
  /** The task as it was given. */
  readonly task: string;
  readonly toolsUsed: readonly string[];
  /** Tokens that the loop has used, and may use; undefined without a limit. */
  readonly tokensUsed: number;
  readonly tokenBudget: number | undefined;
  /** Since the last turn of this activation ended; undefined before the first. */
  readonly idleMs: number | undefined;
  /** Messages were replaced by a summary since the last model call. */
  readonly hasCompacted: boolean;
}

type Provider = (view: TurnView, config: JsonObject) => string | undefined;

const PROVIDERS: Readonly<Record<string, Provider>> = {
  token_pressure: tokenPressure,
  idle_nudge: idleNudge,
  tool_output_truncated: toolOutputTruncated,
  post_compact_recap: postCompactRecap,
};

/** Names that `reminders.providers` may hold, with `-` before them to leave one out. */
export const REMINDER_PROVIDERS: readonly string[] = [...Object.keys(PROVIDERS), 'resume_continuity'];

export interface ReminderOptions {
  readonly enabled: boolean;
  /** Undefined: all of them. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly excluded: ReadonlySet<string>;
  /** Settings by provider. */
  readonly config: JsonObject;
}

export function isProviderOn({ enabled, chosen, excluded }: ReminderOptions, id: string): boolean {
  return enabled && (chosen === undefined || chosen.has(id)) && !excluded.has(id);
}

/** What the providers have to say of a turn, in the order of their names above. */
export function evaluateProviders(view: TurnView, options: ReminderOptions): ReminderSpec[] {
  return Object.entries(PROVIDERS).flatMap(([id, provider]): ReminderSpec[] => {
    if (!isProviderOn(options, id)) return [];
    const given = options.config[id];
    const body = provider(view, isJsonObject(given) ? given : {});
    return body === undefined ? [] : [{ body, tags: [id], dedupe_key: id, ttl_turns: 1, propagate: 'none', source: 'stdlib_provider' }];
  });
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

/**
 * `threshold`: share of the context or of the budget, 0 to 1; default 0.75. A full context is told again with each further
 * percent, not with each turn: every reminder is a line of the journal, and words in the request.
 */
function tokenPressure({ messages, model, tokensUsed, tokenBudget }: TurnView, { threshold }: JsonObject): string | undefined {
  const limit = number(threshold, 0.75);
  const size = estimateTokens(messages);
  const room = contextTokens(model);
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const sizeBefore = estimateTokens(messages.slice(0, Math.max(0, last)));
  const isNews = sizeBefore < limit * room || percent(sizeBefore, room) !== percent(size, room);
  if (size >= limit * room && isNews) {
    return `The conversation takes about ${percent(size, room)} of the model's context (${size} of ${room} tokens). Keep answers and tool calls small.`;
  }
  if (tokenBudget === undefined || tokenBudget === 0 || tokensUsed < limit * tokenBudget) return undefined;
  return `${percent(tokensUsed, tokenBudget)} of the token budget are used (${tokensUsed} of ${tokenBudget}). Come to a result.`;
}

function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`;
}

/** `after_ms`: default a minute. */
function idleNudge({ idleMs }: TurnView, { after_ms: after }: JsonObject): string | undefined {
  if (idleMs === undefined || idleMs < number(after, 60_000)) return undefined;
  return `Nothing happened for ${Math.round(idleMs / 1000)} seconds. What you know of the outside may have changed; check before you rely on it.`;
}

function toolOutputTruncated({ messages }: TurnView): string | undefined {
  const answer = messages.findLastIndex((message) => message.role === 'assistant');
  const isCut = messages.slice(answer + 1).some((message) => isSnipped(messageText(message)));
  if (answer < 0 || !isCut) return undefined;
  return 'A tool result of the last turn was cut. What is missing may matter: ask for a smaller part of it.';
}

const SHOWN_TASK = 500;

function postCompactRecap({ hasCompacted, task, toolsUsed }: TurnView): string | undefined {
  if (!hasCompacted) return undefined;
  const used = toolsUsed.length === 0 ? '' : `\nTools used so far: ${toolsUsed.join(', ')}.`;
  return `Earlier messages were replaced by a summary. The task was: ${firstCodePoints(task, SHOWN_TASK)}${used}`;
}
