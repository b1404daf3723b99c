import type { Json, JsonObject } from '../../base/json.ts';
import type { CallUsage } from '../loop-state.ts';
import { llmError } from '../providers/llm-errors.ts';
import { costUsd } from '../providers/pricing.ts';
import type { ModelAnswer, ModelRequest } from '../providers/provider.ts';
import { userMessage } from '../transcript/message.ts';
import { type CallEvent, type CallPolicy, callModel, type ModelWorld, type SchemaRetryEvent } from './model-call.ts';
import { correctionText, readStructured, type StructuredOutcome, wishedFormat } from './structured-output.ts';

/** What the caller wants of the answer's shape (spec/agents.md 1.2, 1.5). */
export interface ShapeWish {
  /** Undefined accepts any JSON. */
  readonly schema: JsonObject | undefined;
  readonly validation: 'off' | 'warn' | 'error';
  readonly retries: number;
  readonly nudge: string | boolean | undefined;
}

export interface ShapedAnswer {
  readonly answer: ModelAnswer;
  /** Parsed JSON; null when none was asked for or found. */
  readonly data: Json;
  /** Over all attempts. */
  readonly usage: CallUsage;
  readonly isExtracted: boolean;
  /** What is wrong with the last answer; empty when it fits, or when nobody asked. */
  readonly faults: readonly string[];
  /** The last answer held no JSON at all. */
  readonly isMissing: boolean;
}

/** Undefined when the options ask for plain text. */
export function readShapeWish(options: JsonObject, defaultRetries: number): ShapeWish | undefined {
  const { schema, isJson } = wishedFormat(options);
  if (!isJson) return undefined;
  const { output_validation: validation, schema_retries: retries, schema_retry_nudge: nudge } = options;
  return {
    schema,
    validation: validation === 'warn' || validation === 'error' ? validation : 'off',
    retries: typeof retries === 'number' ? retries : defaultRetries,
    nudge: typeof nudge === 'string' || typeof nudge === 'boolean' ? nudge : undefined,
  };
}

/**
 * A model call whose answer should have a shape. A retry is a new request with one corrective message; the wrong
 * answer is forgotten. Answers that use tools are not checked: they are not the final word. Whether an answer that
 * still does not fit is an error is for `assertShape`.
 */
export async function callShaped(
  world: ModelWorld,
  request: ModelRequest,
  policy: CallPolicy,
  wish: ShapeWish | undefined,
  signal: AbortSignal,
  onEvent?: (event: CallEvent) => void,
): Promise<ShapedAnswer> {
  let messages = request.messages;
  let usage: CallUsage = { input_tokens: 0, output_tokens: 0, cost_usd: 0, calls: 0 };
  for (let attempt = 0; ; attempt++) {
    const answer = await callModel(world, { ...request, messages }, policy, signal, onEvent);
    usage = addUsage(usage, answer);
    if (wish === undefined || answer.toolCalls.length > 0) return { answer, ...UNSHAPED, usage };
    const outcome = readStructured(answer.text, wish.schema);
    if (outcome.kind === 'valid') return { answer, ...UNSHAPED, data: outcome.data, usage, isExtracted: outcome.isExtracted };
    if (wish.validation !== 'error' || attempt >= wish.retries) return { answer, usage, ...misshapen(outcome) };
    const correction = correctionText(outcome.faults, wish.nudge);
    const retry: SchemaRetryEvent = { type: 'schema_retry', attempt: attempt + 1, faults: outcome.faults, correction };
    onEvent?.(retry);
    world.models.observe?.(retry, request);
    messages = correction === undefined ? request.messages : [...request.messages, userMessage(correction)];
  }
}

const UNSHAPED = { data: null, isExtracted: false, faults: [], isMissing: false } as const;

function misshapen(outcome: Exclude<StructuredOutcome, { kind: 'valid' }>): Omit<ShapedAnswer, 'answer' | 'usage'> {
  if (outcome.kind === 'missing') return { ...UNSHAPED, faults: outcome.faults, isMissing: true };
  return { data: outcome.data, isExtracted: outcome.isExtracted, faults: outcome.faults, isMissing: false };
}

/** @throws HarnError `llm` (schema_validation) when validation is `error` and every attempt failed */
export function assertShape({ faults, answer }: ShapedAnswer, wish: ShapeWish | undefined): void {
  if (wish?.validation !== 'error' || faults.length === 0) return;
  const message = `the answer does not match the schema: ${faults.join('; ')}`;
  throw llmError({ category: 'schema_validation', message, provider: answer.provider, model: answer.model });
}

export function addUsage(usage: CallUsage, answer: ModelAnswer): CallUsage {
  return {
    input_tokens: usage.input_tokens + answer.usage.input_tokens,
    output_tokens: usage.output_tokens + answer.usage.output_tokens,
    cost_usd: usage.cost_usd + costUsd(answer.model, answer.usage),
    calls: usage.calls + 1,
  };
}
