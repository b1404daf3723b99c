/**
 * Types that signatures of builtins name, by their name, in Harn: `data` of an answer has the type of the schema that was asked for.
 * A shape that stands for the options of a builtin lists the names they may have and what they may be; the checker compares a
 * dict that is written at the call with it (language/check-options.ts). `_more` says that there may be names that are not listed.
 */
const MODEL = `provider?: string, model?: string, model_tier?: string, max_tokens?: int, temperature?: float, top_p?: float,
  top_k?: int, seed?: int, stop?: list, frequency_penalty?: float, presence_penalty?: float, messages?: list, transcript?: any,
  session_id?: string, tools?: any, tool_choice?: any, tool_format?: "native" | "text", output_format?: string | dict,
  response_format?: "text" | "json", output_validation?: "off" | "warn" | "error", schema_retries?: int,
  schema_retry_nudge?: string | bool, llm_retries?: int, llm_backoff_ms?: int, timeout?: int, stream?: bool, thinking?: bool | dict,
  interleaved_thinking?: any, anthropic_beta_features?: any, cache?: bool,
  budget?: {max_cost_usd?: float, max_input_tokens?: int, max_output_tokens?: int, total_budget_usd?: float, _more?: any}`;

/** What the body of a request to a service may hold in addition, by its name. */
const SERVICES = `mock?: dict, openai?: dict, anthropic?: dict, ollama?: dict, local?: dict, openrouter?: dict, gemini?: dict,
  azure_openai?: dict, bedrock?: dict, vertex?: dict`;

const LOOP = `${MODEL}, ${SERVICES}, schema?: any, json_schema?: any, output_schema?: any,
  profile?: "tool_using" | "researcher" | "verifier" | "completer", max_iterations?: int, max_nudges?: int, tool_retries?: int,
  tool_backoff_ms?: int, tool_call_timeout?: int, loop_until_done?: bool, persistent?: bool, done_sentinel?: string, nudge?: string,
  native_tool_fallback?: "allow" | "allow_once" | "reject", stop_after_successful_tools?: list, require_successful_tools?: list,
  turn_policy?: {require_action_or_yield?: bool, allow_done_sentinel?: bool, max_prose_chars?: int},
  loop_detect_warn?: int, loop_detect_block?: int, loop_detect_skip?: int, token_budget?: int, stall_diagnostics?: bool,
  autonomy_budget?: {per_hour?: int, per_day?: int, key?: string, reviewer?: string},
  verify_completion?: any, done_judge?: any, loop_control?: closure, post_turn_callback?: closure, context_callback?: closure,
  context_filter?: closure, compact_callback?: closure, llm_caller?: closure, tool_caller?: closure,
  compaction?: any, auto_compact?: bool, compact_threshold?: int, compact_keep_first?: int, compact_keep_last?: int,
  compact_strategy?: "none" | "truncate" | "summarize_middle" | "summarize_all" | "hybrid" | "custom", reminders?: any,
  agent_await_resumption_enabled?: bool, iteration_budget?: {mode?: "fixed" | "adaptive", initial?: int, max?: int, extend_by?: int},
  policy?: {
    tools?: list, capabilities?: dict, workspace_roots?: list, side_effect_level?: string, recursion_limit?: int,
    tool_arg_constraints?: list, tool_annotations?: dict, _more?: any
  },
  permissions?: {allow?: any, deny?: any, _more?: any},
  approval_policy?: {auto_approve?: any, auto_deny?: any, require_approval?: any, write_path_allowlist?: list, _more?: any},
  durability?: "turn" | "park", subagents?: bool, subagent_tools?: bool, resume_by?: any, resume_when?: ResumeConditions,
  skills?: any, skill_match?: any, working_files?: any, mcp_servers?: any, tool_search?: any, daemon?: bool, daemon_id?: any,
  persist_path?: string, resume_path?: string, wake_interval_ms?: int, watch_paths?: string | list, consolidate_on_idle?: bool,
  resume_event_topic?: string, daemon_event_topic?: string, idle_watchdog_attempts?: int, event_queue_capacity?: int,
  name?: string, system?: any`;

export const BUILTIN_TYPES: Readonly<Record<string, string>> = {
  LlmResult: `type LlmResult<T> = {
  text: string, visible_text: string, provider: string, model: string, input_tokens: int, output_tokens: int,
  cache_read_tokens: int, cache_write_tokens: int, cache_creation_input_tokens: int, cache_hit_ratio: float, cache_savings_usd: float,
  usage: dict, data: T, tool_calls: list, thinking: string | nil, private_reasoning: string | nil, blocks: list,
  stop_reason: string | nil, transcript: dict
}`,
  LlmFault: 'type LlmFault = {category: string, message: string, kind: string, reason: string}',
  LlmOptions: `type LlmOptions<T> = {${MODEL}, ${SERVICES}, schema?: Schema<T>, json_schema?: Schema<T>, output_schema?: Schema<T>, _more?: any}`,
  StructuredOptions: `type StructuredOptions = {${MODEL}, ${SERVICES}, system?: any, retries?: int, _more?: any}`,
  LoopOptions: `type LoopOptions = {${LOOP}}`,
  DaemonConfig: `type DaemonConfig = {${LOOP}, task?: any, prompt?: any, state_dir?: any}`,
  SubAgentOptions: `type SubAgentOptions = {${LOOP}, background?: bool, carry?: CarryPolicy, returns?: {schema?: any}, allowed_tools?: any,
  execution?: ExecutionPlace, reminder_propagation?: any, request?: any, research_questions?: list, action_items?: list,
  workflow_stages?: list, verification_steps?: list}`,
  SpawnConfig: `type SpawnConfig = {task?: any, name?: string, node?: dict, graph?: any, artifacts?: list, transcript?: any, wait?: bool,
  system?: any, options?: SubAgentOptions, tools?: any, policy?: dict, permissions?: dict, execution?: ExecutionPlace, audit?: any,
  carry?: CarryPolicy}`,
  CarryPolicy: `type CarryPolicy = {artifact_mode?: "inherit" | "none", transcript_mode?: "inherit" | "fork" | "reset" | "compact",
  context_policy?: any, resume_workflow?: bool, persist_state?: bool, retriggerable?: bool, policy?: dict}`,
  ExecutionPlace: `type ExecutionPlace = {cwd?: string, env?: dict,
  worktree?: {repo?: any, path?: any, branch?: any, base_ref?: any, cleanup?: any}}`,
  SuspendOptions: `type SuspendOptions = {initiator?: "self" | "parent" | "operator" | "triggered", conditions?: ResumeConditions, resume_by?: closure, wait_ms?: int}`,
  ResumeOptions: `type ResumeOptions = {input?: any, resume_input?: any, continue_transcript?: bool, initiator?: any,
  resume_initiator?: any, trigger_event?: any, suspension_id?: any, _more?: any}`,
  ToolConfig: `type ToolConfig = {parameters?: dict, returns?: any, handler?: closure, executor?: any, annotations?: dict, idempotent?: bool,
  defer_loading?: bool, namespace?: string, timeout_ms?: int, host_capability?: string, mcp_server?: string, params?: any, _more?: any}`,
  ToolHook: `type ToolHook = {pattern?: string, deny?: string | bool, max_output?: int, pre?: closure, post?: closure}`,
  MockEntry: `type MockEntry = {text?: string, tool_calls?: list, match?: string, consume_match?: bool, input_tokens?: int,
  output_tokens?: int, cache_read_tokens?: int, cache_write_tokens?: int, cache_creation_input_tokens?: int, thinking?: string,
  thinking_summary?: string, stop_reason?: string, model?: string, provider?: string, blocks?: list,
  error?: {category?: string, message?: string, retry_after_ms?: int}}`,
  TriggerSpec: `type TriggerSpec = {kind?: any, provider?: any, handler?: any, id?: string, match?: any, events?: any, when?: any,
  when_budget?: {max_cost_usd?: any, tokens_max?: any, timeout?: any}, filter?: string, dedupe_key?: string,
  retry?: {max?: any, backoff?: any}, autonomy_tier?: any, tier?: any, budget?: any, batch?: any, allow_cleartext?: any,
  manifest_path?: any, package_name?: any, schedule?: any, timezone?: any, _more?: any}`,
  ResumeConditions: `type ResumeConditions = {trigger?: TriggerSpec,
  timeout?: {duration_minutes?: int, on_timeout?: "resume_with_summary" | "fail" | "resume_with_input"}, on_event?: string}`,
  HttpOptions: `type HttpOptions = {headers?: dict, query?: dict, auth?: string | dict, body?: any, multipart?: list, timeout_ms?: int,
  timeout?: int, retry?: {max?: int, backoff_ms?: int}, retries?: int, backoff?: int, retry_on?: list, retry_methods?: list,
  follow_redirects?: bool, max_redirects?: int, proxy?: any, proxy_auth?: any, tls?: any}`,
};
