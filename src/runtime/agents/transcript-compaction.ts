import { DEFAULT_TIMEOUT_MS } from '../../agent/model-call/model-call.ts';
import { summariseMessages, summaryRequest } from '../../agent/model-call/summary-call.ts';
import { resolveModel } from '../../agent/providers/resolve-model.ts';
import { type CompactionPlan, compactionPlan, removableRange } from '../../agent/transcript/compaction.ts';
import type { Message } from '../../agent/transcript/message.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { isCallable, type Value } from '../value.ts';
import { agentServices } from './agent-services.ts';
import { agentValue, field, optionsJson } from './agent-values.ts';
import { refuseOverBudget } from './llm-call.ts';

/**
 * Compaction that a script asks for, of a transcript or of a session (spec/agents.md 3.9, 3.11). A `summary` of the
 * options is taken as it is; a strategy that summarises, or the name of a model, lets a model write it; a
 * `compact_callback` writes it itself; without any of these an outline stands for the messages, and nobody is asked.
 */
export interface CompactionRequest {
  /** The builtin, for messages of errors. */
  readonly operation: string;
  readonly keepLast: number;
}

const BY_MODEL: ReadonlySet<string> = new Set(['llm', 'hybrid', 'summarize_middle', 'summarize_all']);
const STRATEGIES: readonly string[] = ['truncate', 'custom', 'none', ...BY_MODEL];

/**
 * @returns undefined when nothing may go
 * @throws plain error for a strategy that does not exist; HarnError `llm` when the model fails
 */
export async function planCompaction(
  context: Context,
  messages: readonly Message[],
  options: Value,
  { operation, keepLast: defaultKept }: CompactionRequest,
): Promise<CompactionPlan | undefined> {
  const given = optionsJson(options);
  const strategy = strategyOf(options, given, operation);
  const keepFirst = count(given.keep_first, 0);
  const keepLast = count(given.keep_last, strategy === 'summarize_all' ? 0 : defaultKept);
  const range = removableRange(messages, { keepFirst, keepLast });
  if (strategy === 'none' || range === undefined) return undefined;
  const substitute = await substituteFor(context, messages.slice(range.at, range.at + range.removed), options, { strategy, operation });
  const mode = given.mode === 'automatic' ? 'automatic' : 'manual';
  return compactionPlan(messages, { keepFirst, keepLast, mode, strategy, ...substitute });
}

function strategyOf(options: Value, given: JsonObject, operation: string): string {
  const strategy = given.strategy ?? given.compact_strategy;
  if (strategy === undefined || strategy === null) {
    if (isCallable(field(options, 'compact_callback'))) return 'custom';
    return namesModel(given) ? 'hybrid' : 'truncate';
  }
  if (typeof strategy === 'string' && STRATEGIES.includes(strategy)) return strategy;
  throw plainError(`${operation}: unknown strategy ${JSON.stringify(strategy)}; expected ${STRATEGIES.join(', ')}`);
}

/** Whether the options name who is to be asked. */
export function namesModel({ provider, model, model_tier: tier }: JsonObject): boolean {
  return [provider, model, tier].some((name) => typeof name === 'string');
}

interface Substitute {
  /** Undefined leaves it to an outline. */
  readonly summary: string | undefined;
  readonly engine: 'llm' | 'custom' | 'truncate';
}

async function substituteFor(
  context: Context,
  removed: readonly Message[],
  options: Value,
  { strategy, operation }: { readonly strategy: string; readonly operation: string },
): Promise<Substitute> {
  const given = optionsJson(options);
  if (typeof given.summary === 'string') return { summary: given.summary, engine: 'custom' };
  const write = field(options, 'compact_callback');
  if (strategy === 'custom' && !isCallable(write)) throw plainError(`${operation}: strategy custom needs \`compact_callback\``);
  if (isCallable(write)) return { summary: writtenText(await callValue(context, 0, write, agentValue(removed))), engine: 'custom' };
  if (!BY_MODEL.has(strategy)) return { summary: undefined, engine: 'truncate' };
  const text = await summaryByModel(context, removed, given);
  return text === '' ? { summary: undefined, engine: 'truncate' } : { summary: text, engine: 'llm' };
}

/** A text, or a dict with it. */
function writtenText(answer: Value): string {
  return display(field(answer, 'summary') ?? answer);
}

/** Options of `llm_call` that the summary's call takes over. */
const CALL_OPTIONS = ['max_tokens', 'temperature'] as const;

/** @throws HarnError `llm` when the model fails */
export async function summaryByModel(context: Context, messages: readonly Message[], given: JsonObject): Promise<string> {
  const services = agentServices(context.run);
  await services.models.prepare?.();
  const wish = { provider: text(given.provider), model: text(given.model), modelTier: text(given.model_tier) };
  const target = resolveModel(wish, services.env, services.models.settings);
  const call = Object.fromEntries(CALL_OPTIONS.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
  const policy = {
    retries: count(given.llm_retries, 2),
    backoffMs: count(given.llm_backoff_ms, 2000),
    timeoutMs: typeof given.timeout === 'number' ? given.timeout * 1000 : DEFAULT_TIMEOUT_MS,
  };
  const request = summaryRequest(target, messages, call);
  refuseOverBudget(services, { ...request, options: { ...request.options, budget: given.budget ?? null } });
  return (await summariseMessages(services, request, policy, context.signal)).text;
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function count(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
