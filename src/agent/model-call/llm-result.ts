import type { Json, JsonObject } from '../../base/json.ts';
import { cacheSavingsUsd } from '../providers/pricing.ts';
import type { ModelAnswer, Usage } from '../providers/provider.ts';
import { visibleText } from '../tools/text-tools.ts';

export interface LlmResultExtras {
  /** Parsed JSON when a JSON format was asked for. */
  readonly data: Json;
  readonly transcript: JsonObject;
}

/** The dict that `llm_call` answers (spec/agents.md 1.3). */
export function buildLlmResult(answer: ModelAnswer, { data, transcript }: LlmResultExtras): JsonObject {
  const visible = visibleText(answer.text);
  const usage = usageFields(answer.model, answer.usage);
  return {
    text: answer.text,
    visible_text: visible,
    prose: visible,
    provider: answer.provider,
    model: answer.model,
    ...usage,
    usage,
    data,
    tool_calls: answer.toolCalls.map((call) => ({ id: call.id, type: 'tool_call', name: call.name, arguments: call.arguments })),
    thinking: answer.thinking ?? null,
    private_reasoning: answer.thinking ?? null,
    thinking_summary: answer.thinkingSummary ?? null,
    blocks: answer.blocks ?? synthesizeBlocks(answer),
    stop_reason: answer.stopReason ?? null,
    transcript,
  };
}

function usageFields(model: string, usage: Usage): JsonObject {
  // Of the whole prompt, as services count it; a scripted answer may say more of its cache than of its prompt.
  const prompt = Math.max(usage.input_tokens, usage.cache_read_tokens + usage.cache_write_tokens);
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    cache_creation_input_tokens: usage.cache_write_tokens,
    cache_hit_ratio: prompt === 0 ? 0 : usage.cache_read_tokens / prompt,
    cache_savings_usd: cacheSavingsUsd(model, usage),
  };
}

function synthesizeBlocks(answer: ModelAnswer): JsonObject[] {
  const blocks: JsonObject[] = [];
  if (answer.thinking !== undefined) blocks.push({ type: 'reasoning', text: answer.thinking, visibility: 'private' });
  if (answer.text !== '') blocks.push({ type: 'output_text', text: answer.text, visibility: 'public' });
  for (const call of answer.toolCalls) {
    blocks.push({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments, visibility: 'internal' });
  }
  return blocks;
}
