import type * as z from 'zod/mini';
import { decodeProblem } from '../base/decode-problem.ts';
import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { AutonomyBudget } from './autonomy.ts';
import type { DaemonOptions } from './daemon/daemon.ts';
import type { DoneJudge } from './done-judge.ts';
import { knownOptions, unknownOptions } from './known-options.ts';
import { decodeGiven, type Given, type judgeSchema, misspelt, OPTIONS, unknownInBlocks } from './loop-option-schema.ts';
import { type CallPolicy, DEFAULT_TIMEOUT_MS } from './model-call/model-call.ts';
import { checkModelOptions } from './model-call/model-options.ts';
import { reminderError } from './reminder.ts';
import { REMINDER_PROVIDERS, type ReminderOptions } from './reminder-providers.ts';
import { decodeSkillMatching, decodeSkills, type Skill, type SkillMatching } from './skills.ts';
import type { InheritedLimits } from './tools/permissions.ts';
import { DEFAULT_SENTINEL } from './tools/text-tools.ts';
import { type CompactionPolicy, type CompactionStrategy, DEFAULT_COMPACTION } from './transcript/compaction.ts';

/** Options of `agent_loop` (spec/agents.md 3.2), decoded once per activation from the JSON part of what was given. */
export interface LoopOptions {
  readonly maxIterations: number;
  readonly maxNudges: number;
  readonly llmRetries: number;
  readonly llmBackoffMs: number;
  readonly schemaRetries: number;
  readonly toolRetries: number;
  readonly toolBackoffMs: number;
  readonly toolCallTimeoutMs: number | undefined;
  readonly loopUntilDone: boolean;
  readonly daemon: DaemonOptions | undefined;
  /** What was given; the effective one depends on the tool format (3.5). */
  readonly doneSentinel: string | undefined;
  readonly nudge: string | undefined;
  readonly toolFormat: 'native' | 'text' | undefined;
  readonly nativeToolFallback: 'allow' | 'allow_once' | 'reject';
  readonly stopAfterSuccessfulTools: readonly string[];
  readonly requireSuccessfulTools: readonly string[];
  readonly turnPolicy: TurnPolicy;
  readonly loopDetect: { readonly warn: number; readonly block: number; readonly skip: number };
  readonly tokenBudget: number | undefined;
  readonly totalBudgetUsd: number | undefined;
  /** More on the trace of a loop that ended `stuck`. */
  readonly stallDiagnostics: boolean;
  readonly skills: readonly Skill[];
  readonly skillMatching: SkillMatching;
  readonly autonomyBudget: AutonomyBudget | undefined;
  /** The judge as data; one that is a function is among the callbacks. */
  readonly doneJudge: DoneJudge | undefined;
  readonly compaction: CompactionPolicy;
  readonly reminders: ReminderOptions;
  readonly awaitResumption: boolean;
  readonly iterationBudget: { readonly max: number; readonly extendBy: number } | undefined;
  readonly policy: JsonObject | undefined;
  readonly permissions: JsonObject | undefined;
  readonly approvalPolicy: JsonObject | undefined;
  /** Limits of the loops above this one; its policy has theirs in it already. */
  readonly inherited: readonly InheritedLimits[];
  /** Keys of 1.2 for every model call, as given. */
  readonly model: JsonObject;
  readonly timeoutMs: number | undefined;
  /** Given names that mean nothing. */
  readonly unknown: readonly string[];
}

export interface TurnPolicy {
  readonly requireActionOrYield: boolean;
  readonly allowDoneSentinel: boolean;
  readonly maxProseChars: number | undefined;
}

const PROFILES = {
  tool_using: { max_iterations: 50, max_nudges: 8, tool_retries: 0, llm_retries: 2, schema_retries: 0 },
  researcher: { max_iterations: 30, max_nudges: 4, tool_retries: 0, llm_retries: 2, schema_retries: 0 },
  verifier: { max_iterations: 5, max_nudges: 0, tool_retries: 0, llm_retries: 2, schema_retries: 3 },
  completer: { max_iterations: 1, max_nudges: 0, tool_retries: 0, llm_retries: 2, schema_retries: 0 },
} as const;

/** Every option that a script may give to `agent_loop`. */
export const loopOptionNames = lazily(() => knownOptions(OPTIONS));

/** @throws HarnError `plain`: the option and what is wrong with it */
export function decodeLoopOptions(given: JsonObject): LoopOptions {
  checkModelOptions(given, 'agent_loop');
  const decoded = decodeGiven(given);
  if (!decoded.success) {
    const issue = decoded.error.issues[0];
    throw new HarnError('plain', `agent_loop: ${issue?.path.join('.') ?? 'options'} ${misspelt(issue) ?? decodeProblem(issue, given)}`);
  }
  const options = decoded.data;
  const profile = PROFILES[options.profile ?? 'tool_using'];
  const budget = options.iteration_budget ?? undefined;
  return {
    maxIterations: options.max_iterations ?? budget?.initial ?? profile.max_iterations,
    maxNudges: options.max_nudges ?? profile.max_nudges,
    llmRetries: options.llm_retries ?? profile.llm_retries,
    llmBackoffMs: options.llm_backoff_ms ?? 2000,
    schemaRetries: options.schema_retries ?? profile.schema_retries,
    toolRetries: options.tool_retries ?? profile.tool_retries,
    toolBackoffMs: options.tool_backoff_ms ?? 1000,
    toolCallTimeoutMs: options.tool_call_timeout ?? undefined,
    loopUntilDone: options.loop_until_done ?? options.persistent ?? false,
    daemon: options.daemon === true ? daemonOptions(options) : undefined,
    doneSentinel: options.done_sentinel ?? undefined,
    nudge: options.nudge ?? undefined,
    toolFormat: options.tool_format ?? undefined,
    nativeToolFallback: options.native_tool_fallback ?? 'allow',
    stopAfterSuccessfulTools: options.stop_after_successful_tools ?? [],
    requireSuccessfulTools: options.require_successful_tools ?? [],
    turnPolicy: {
      requireActionOrYield: options.turn_policy?.require_action_or_yield ?? false,
      allowDoneSentinel: options.turn_policy?.allow_done_sentinel ?? true,
      maxProseChars: options.turn_policy?.max_prose_chars ?? undefined,
    },
    loopDetect: { warn: options.loop_detect_warn ?? 2, block: options.loop_detect_block ?? 3, skip: options.loop_detect_skip ?? 4 },
    tokenBudget: options.token_budget ?? undefined,
    totalBudgetUsd: options.budget?.total_budget_usd ?? undefined,
    stallDiagnostics: options.stall_diagnostics ?? false,
    skills: decodeSkills(given.skills),
    skillMatching: decodeSkillMatching(given.skill_match, given.working_files),
    autonomyBudget: autonomyBudget(options),
    doneJudge: doneJudge(options.verify_completion ?? options.done_judge),
    compaction: compactionPolicy(options),
    reminders: reminderOptions(options),
    awaitResumption: options.agent_await_resumption_enabled ?? true,
    iterationBudget:
      budget?.mode === 'adaptive' ? { max: budget.max ?? profile.max_iterations, extendBy: budget.extend_by ?? 5 } : undefined,
    policy: objectOption(given.policy),
    permissions: objectOption(given.permissions),
    approvalPolicy: objectOption(given.approval_policy),
    inherited: inheritedLimits(given[INHERITED_LIMITS]),
    model: given,
    unknown: [...unknownOptions(given, OPTIONS), ...unknownInBlocks(given)],
    timeoutMs: options.timeout === undefined || options.timeout === null ? undefined : options.timeout * 1000,
  };
}

function daemonOptions(options: Given): DaemonOptions {
  return {
    wakeIntervalMs: options.wake_interval_ms ?? undefined,
    watchPaths: typeof options.watch_paths === 'string' ? [options.watch_paths] : (options.watch_paths ?? []),
    eventTopic: options.resume_event_topic ?? options.daemon_event_topic ?? undefined,
    watchdogAttempts: options.idle_watchdog_attempts ?? undefined,
    queueCapacity: options.event_queue_capacity ?? 1024,
    consolidates: options.consolidate_on_idle ?? false,
  };
}

/** Where the saved options of a loop keep the limits of those above it; no script writes it. */
export const INHERITED_LIMITS = 'inherited_limits';

function inheritedLimits(value: Json | undefined): InheritedLimits[] {
  const limits = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return limits.map((entry) => ({ permissions: objectOption(entry.permissions), approvalPolicy: objectOption(entry.approval_policy) }));
}

function autonomyBudget({ autonomy_budget: given }: Given): AutonomyBudget | undefined {
  if (given === undefined || given === null) return undefined;
  return {
    perHour: given.per_hour ?? undefined,
    perDay: given.per_day ?? undefined,
    key: given.key ?? undefined,
    reviewer: given.reviewer ?? undefined,
  };
}

function doneJudge(given: z.infer<ReturnType<typeof judgeSchema>>): DoneJudge | undefined {
  if (given === undefined || given === null) return undefined;
  const criteria = given.criteria ?? given.prompt ?? undefined;
  return {
    criteria: Array.isArray(criteria) ? criteria.map((one) => `- ${one}`).join('\n') : criteria,
    system: given.system ?? undefined,
    provider: given.provider ?? undefined,
    model: given.model ?? undefined,
    maxObjections: given.max_objections ?? 3,
  };
}

function objectOption(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function compactionPolicy(options: Given): CompactionPolicy {
  const { compaction } = options;
  if (compaction === false || options.auto_compact === false) return { ...DEFAULT_COMPACTION, strategy: 'none' };
  const block = typeof compaction === 'object' && compaction !== null ? compaction : {};
  const named: CompactionStrategy | undefined = typeof compaction === 'string' ? compaction : undefined;
  return {
    strategy: named ?? block.strategy ?? options.compact_strategy ?? DEFAULT_COMPACTION.strategy,
    keepFirst: block.keep_first_n ?? options.compact_keep_first ?? DEFAULT_COMPACTION.keepFirst,
    keepLast: block.keep_last_n ?? options.compact_keep_last ?? DEFAULT_COMPACTION.keepLast,
    thresholdTokens: block.threshold ?? options.compact_threshold ?? undefined,
    hardLimitTokens: block.hard_limit ?? undefined,
  };
}

const REMINDER_KEYS = ['enabled', 'providers', 'config'];

/** @throws HarnError `HARN-RMD-001` for a key that reminders do not have; `plain` for an unknown provider */
function reminderOptions({ reminders }: Given): ReminderOptions {
  if (typeof reminders === 'boolean') return { enabled: reminders, chosen: undefined, excluded: new Set(), config: {} };
  const unknownKey = Object.keys(reminders ?? {}).find((key) => !REMINDER_KEYS.includes(key));
  if (unknownKey !== undefined) throw reminderError('001', `unrecognised option \`${unknownKey}\``);
  const given = reminders?.providers ?? [];
  const chosen = given.filter((name) => !name.startsWith('-'));
  const excluded = given.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
  const unknownName = [...chosen, ...excluded].find((name) => !REMINDER_PROVIDERS.includes(name));
  if (unknownName !== undefined) {
    throw new HarnError('plain', `agent_loop: unknown reminder provider \`${unknownName}\`; there are ${REMINDER_PROVIDERS.join(', ')}`);
  }
  return {
    enabled: reminders?.enabled ?? true,
    chosen: chosen.length === 0 ? undefined : new Set(chosen),
    excluded: new Set(excluded),
    config: (reminders?.config ?? {}) as JsonObject, // JSON, as all options that are data
  };
}

/** The word that ends the loop (3.5): with native tools and `loop_until_done` a text-only answer does. */
export function effectiveSentinel(options: LoopOptions, format: 'native' | 'text'): string | undefined {
  if (options.doneSentinel !== undefined) return options.doneSentinel === '' ? undefined : options.doneSentinel;
  return format === 'native' && options.loopUntilDone ? undefined : DEFAULT_SENTINEL;
}

/** How the model calls of a loop are made. */
export function callPolicy({ llmRetries, llmBackoffMs, timeoutMs = DEFAULT_TIMEOUT_MS }: LoopOptions): CallPolicy {
  return { retries: llmRetries, backoffMs: llmBackoffMs, timeoutMs };
}
