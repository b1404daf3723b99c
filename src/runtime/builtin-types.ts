/**
 * Types that signatures of builtins name, by their name, in Harn: `data` of an answer has the type of the schema that was asked for.
 * None names another.
 */
export const BUILTIN_TYPES: Readonly<Record<string, string>> = {
  LlmResult: `type LlmResult<T> = {
  text: string, visible_text: string, provider: string, model: string, input_tokens: int, output_tokens: int,
  cache_read_tokens: int, cache_write_tokens: int, cache_creation_input_tokens: int, cache_hit_ratio: float, cache_savings_usd: float,
  usage: dict, data: T, tool_calls: list, thinking: string | nil, private_reasoning: string | nil, blocks: list,
  stop_reason: string | nil, transcript: dict
}`,
  LlmOptions: 'type LlmOptions<T> = {schema?: Schema<T>, json_schema?: Schema<T>, output_schema?: Schema<T>}',
  LlmFault: 'type LlmFault = {category: string, message: string, kind: string, reason: string}',
};
