import * as z from 'zod/mini';
import { type DecodeIssue, OWN_TEXTS_ONLY } from '../base/decode-problem.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import { nearestName } from '../base/near-name.ts';
import { LEVELS } from './tools/policy.ts';

/** What each option of `agent_loop` must be (spec/agents.md 3.2) when it is given; nil counts as not given. */
const PROFILE_NAMES = ['tool_using', 'researcher', 'verifier', 'completer'] as const;

const count = lazily(() => z.nullish(z.int().check(z.nonnegative())));
const names = lazily(() => z.nullish(z.array(z.string())));
const dict = lazily(() => z.nullish(z.record(z.string(), z.unknown())));
const STRATEGIES = ['none', 'truncate', 'summarize_middle', 'summarize_all', 'hybrid', 'custom'] as const;
const strategy = lazily(() => z.enum(STRATEGIES));
const optionalStrategy = lazily(() => z.nullish(strategy()));
const flag = lazily(() => z.nullish(z.boolean()));
const optionalText = lazily(() => z.nullish(z.string()));
const topic = lazily(() =>
  z.nullish(z.string().check(z.regex(/^\s*[A-Za-z0-9._-]{1,256}\s*$/, 'must be the name of a topic (letters, digits, `.`, `_` and `-`)'))),
);
const textOrTexts = lazily(() => z.nullish(z.union([z.string(), z.array(z.string())])));

const judgeBlock = lazily(() =>
  z.looseObject({
    criteria: textOrTexts(),
    prompt: optionalText(),
    system: optionalText(),
    provider: optionalText(),
    model: optionalText(),
    max_objections: count(),
  }),
);
export const judgeSchema = lazily(() => z.nullish(judgeBlock()));

/** A limit that cannot be read would be none, and so would a misspelt one. */
const policySchema = lazily(() =>
  z.strictObject({
    tools: names(),
    capabilities: dict(),
    workspace_roots: names(),
    side_effect_level: z.nullish(z.enum(LEVELS)),
    recursion_limit: count(),
    tool_arg_constraints: z.nullish(z.array(z.record(z.string(), z.unknown()))),
    tool_annotations: dict(),
  }),
);

/** Tools by globs, or with patterns of their arguments. */
const entries = lazily(() => z.nullish(z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())])));

const permissionsSchema = lazily(() => z.strictObject({ allow: entries(), deny: entries(), on_escalation: z.optional(z.unknown()) }));

const approvalSchema = lazily(() =>
  z.strictObject({
    auto_approve: entries(),
    auto_deny: entries(),
    require_approval: entries(),
    write_path_allowlist: names(),
  }),
);

const autonomySchema = lazily(() => z.strictObject({ per_hour: count(), per_day: count(), key: optionalText(), reviewer: optionalText() }));

const LIMITS = {
  policy: policySchema,
  permissions: permissionsSchema,
  approval_policy: approvalSchema,
  autonomy_budget: autonomySchema,
};

const turnPolicySchema = lazily(() =>
  z.looseObject({ require_action_or_yield: flag(), allow_done_sentinel: flag(), max_prose_chars: count() }),
);

const iterationSchema = lazily(() =>
  z.looseObject({
    mode: z.nullish(z.enum(['fixed', 'adaptive'])),
    initial: count(),
    max: count(),
    extend_by: count(),
  }),
);

const compactionSchema = lazily(() =>
  z.looseObject({
    strategy: optionalStrategy(),
    keep_first_n: count(),
    keep_last_n: count(),
    threshold: count(),
    hard_limit: count(),
  }),
);

/** Dicts of options in which a name that means nothing is told, as one beside them is. */
const BLOCKS = {
  turn_policy: turnPolicySchema,
  iteration_budget: iterationSchema,
  compaction: compactionSchema,
  verify_completion: judgeBlock,
  done_judge: judgeBlock,
};

/** Each is made when an option of its name is given: a loop gives few, and to make them all takes longer than to resume it. */
export const OPTIONS = {
  profile: () => z.nullish(z.enum(PROFILE_NAMES, `must be one of ${PROFILE_NAMES.join(', ')}`)),
  max_iterations: count,
  max_nudges: count,
  llm_retries: count,
  llm_backoff_ms: count,
  schema_retries: count,
  tool_retries: count,
  tool_backoff_ms: count,
  tool_call_timeout: count,
  loop_until_done: flag,
  persistent: flag,
  daemon: flag,
  wake_interval_ms: count,
  watch_paths: textOrTexts,
  consolidate_on_idle: flag,
  resume_event_topic: topic,
  daemon_event_topic: topic,
  idle_watchdog_attempts: count,
  event_queue_capacity: count,
  done_sentinel: optionalText,
  nudge: optionalText,
  tool_format: () => z.nullish(z.enum(['native', 'text'])),
  native_tool_fallback: () => z.nullish(z.enum(['allow', 'allow_once', 'reject'])),
  stop_after_successful_tools: names,
  require_successful_tools: names,
  turn_policy: () => z.nullish(turnPolicySchema()),
  loop_detect_warn: count,
  loop_detect_block: count,
  loop_detect_skip: count,
  token_budget: count,
  stall_diagnostics: flag,
  /** Its other limits are of single calls (model-call/model-options.ts). */
  budget: () => z.nullish(z.looseObject({ total_budget_usd: z.nullish(z.number()) })),
  autonomy_budget: () => z.nullish(autonomySchema()),
  verify_completion: judgeSchema,
  done_judge: judgeSchema,
  compaction: () => z.nullish(z.union([z.literal(false), strategy(), compactionSchema()])),
  auto_compact: flag,
  compact_threshold: count,
  compact_keep_first: count,
  compact_keep_last: count,
  compact_strategy: optionalStrategy,
  reminders: () => z.nullish(z.union([z.boolean(), z.looseObject({ enabled: flag(), providers: names(), config: dict() })])),
  agent_await_resumption_enabled: flag,
  iteration_budget: () => z.nullish(iterationSchema()),
  policy: () => z.nullish(policySchema()),
  permissions: () => z.nullish(permissionsSchema()),
  approval_policy: () => z.nullish(approvalSchema()),
  durability: () => z.nullish(z.enum(['turn', 'park'])),
  subagents: () => z.nullish(z.boolean()),
  subagent_tools: () => z.nullish(z.boolean()),
  inherited_limits: () => z.nullish(z.array(z.unknown())),
  timeout: () => z.nullish(z.number()),
};

type Schemas = { readonly [K in keyof typeof OPTIONS]: ReturnType<(typeof OPTIONS)[K]> };

export type Given = { readonly [K in keyof Schemas]?: z.infer<Schemas[K]> };

/** What of `given` are options. Their order is that of the table, also of the first problem. */
export function decodeGiven(given: JsonObject) {
  const named = Object.entries(OPTIONS).filter(([name]) => given[name] !== undefined);
  const decoded = z.looseObject(Object.fromEntries(named.map(([name, schema]) => [name, schema()]))).safeParse(given, OWN_TEXTS_ONLY);
  // The table says what each key that was looked at is.
  return decoded.success ? { success: true as const, data: decoded.data as Given } : decoded;
}

/** A limit with a key that there is not. @returns undefined for other faults */
export function misspelt(issue: DecodeIssue | undefined): string | undefined {
  const [key] = issue?.keys ?? [];
  const limit = Object.entries(LIMITS).find(([name]) => name === String(issue?.path[0]))?.[1];
  if (key === undefined || limit === undefined) return undefined;
  const meant = nearestName(key, Object.keys(limit().shape));
  return `has no key \`${key}\`${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`;
}

/** Names in the blocks of options that mean nothing, with the block in front. */
export function unknownInBlocks(given: JsonObject): string[] {
  return Object.entries(BLOCKS).flatMap(([name, schema]) => {
    const block = given[name];
    const keys = isJsonObject(block) ? Object.keys(block) : [];
    return keys.filter((key) => !Object.hasOwn(schema().shape, key)).map((key) => `${name}.${key}`);
  });
}
