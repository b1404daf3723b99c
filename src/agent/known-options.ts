import type { JsonObject } from '../base/json.ts';

/**
 * Names of options of `agent_loop` (spec/agents.md 1.2, 3.2 and 4.4) beside those that are decoded by loop-options.ts.
 * A name that is none of them does nothing, which whoever misspelt one should hear.
 */
const MODEL_OPTIONS = [
  'provider', 'model', 'model_tier', 'max_tokens', 'temperature', 'top_p', 'top_k', 'seed', 'stop', 'frequency_penalty',
  'presence_penalty', 'messages', 'transcript', 'session_id', 'tools', 'tool_choice', 'output_format', 'response_format', 'schema',
  'json_schema', 'output_schema', 'output_validation', 'schema_retry_nudge', 'stream', 'thinking', 'interleaved_thinking',
  'anthropic_beta_features', 'cache',
] as const; // biome-ignore format: a list to be scanned

const LOOP_OPTIONS = [
  'post_turn_callback', 'loop_control', 'verify_completion', 'done_judge', 'context_callback', 'context_filter', 'compact_callback',
  'llm_caller', 'tool_caller', 'resume_by', 'resume_when', 'skills', 'skill_match', 'working_files', 'mcp_servers', 'tool_search',
  'subagents', 'subagent_tools', 'persist_path', 'resume_path', 'daemon_id', 'durability', 'name', 'system',
] as const; // biome-ignore format: a list to be scanned

/** Services whose name may stand for overrides of the request's body. */
const SERVICES = ['mock', 'openai', 'anthropic', 'ollama', 'local', 'openrouter', 'gemini', 'azure_openai', 'bedrock', 'vertex'] as const;

const KNOWN_FOR_CALLS: ReadonlySet<string> = new Set<string>([...MODEL_OPTIONS, ...SERVICES]);
const KNOWN: ReadonlySet<string> = new Set<string>([...KNOWN_FOR_CALLS, ...LOOP_OPTIONS]);

/** What says which conversation a loop has; the others say how the model is asked. */
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'transcript', 'session_id', 'tools']);

/** Options of single model calls, which may be others in every turn. */
export function isCallOption(name: string): boolean {
  return KNOWN_FOR_CALLS.has(name) && !CONVERSATION.has(name);
}

/** @param decoded names that the loop reads itself */
export function knownOptions(decoded: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set([...KNOWN, ...Object.keys(decoded).filter((key) => key !== 'inherited_limits')]);
}

/** @param decoded names that the loop reads itself */
export function unknownOptions(given: JsonObject, decoded: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(given).filter((key) => !KNOWN.has(key) && !Object.hasOwn(decoded, key) && key !== given.provider);
}
