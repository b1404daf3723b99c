import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { llmError } from '../providers/llm-errors.ts';
import { costUsd } from '../providers/pricing.ts';
import type { ModelRequest } from '../providers/provider.ts';
import { estimateTokens } from '../transcript/transcript.ts';

/**
 * Ceilings of one call (spec/agents.md 1.2 `budget`), checked before anything is spent. What a call will cost is not
 * known before; it is projected from the length of the prompt and the longest answer.
 */
export interface Projection {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export function projectCall({ model, messages, system, options }: ModelRequest): Projection {
  const inputTokens = estimateTokens(messages) + Math.ceil((system ?? '').length / 4);
  const outputTokens = typeof options.max_tokens === 'number' ? options.max_tokens : 0;
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: 0, cache_write_tokens: 0 };
  return { inputTokens, outputTokens, costUsd: costUsd(model, usage) };
}

/** @throws HarnError `llm` (budget_exceeded); its facts name the limit and the projection */
export function assertWithinBudget(request: ModelRequest): void {
  const passed = passedLimit(request, request.options.budget);
  if (passed !== undefined) throw budgetError(request, passed.name, passed.limit, passed.projected);
}

/** Whether this call would pass the total of `budget` (3.2). @param spentUsd so far */
export function passesTotal(request: ModelRequest, budget: Json | undefined, spentUsd: number): boolean {
  const total = isJsonObject(budget) ? budget.total_budget_usd : undefined;
  return typeof total === 'number' && spentUsd + projectCall(request).costUsd > total;
}

/** Whether there is room for a call that may be left out, such as that of a summary. @param spentUsd so far */
export function fitsBudget(request: ModelRequest, budget: Json | undefined, spentUsd: number): boolean {
  return passedLimit(request, budget) === undefined && !passesTotal(request, budget, spentUsd);
}

interface PassedLimit {
  readonly name: string;
  readonly limit: number;
  readonly projected: number;
}

function passedLimit(request: ModelRequest, budget: Json | undefined): PassedLimit | undefined {
  if (!isJsonObject(budget)) return undefined;
  const { inputTokens, outputTokens, costUsd: cost } = projectCall(request);
  const projections: [name: string, projected: number][] = [
    ['max_cost_usd', cost],
    ['max_input_tokens', inputTokens],
    ['max_output_tokens', outputTokens],
  ];
  for (const [name, projected] of projections) {
    const limit = budget[name];
    if (typeof limit === 'number' && projected > limit) return { name, limit, projected };
  }
  return undefined;
}

export function budgetError(request: ModelRequest, limitName: string, limit: number, projected: number): Error {
  const { inputTokens, outputTokens, costUsd: cost } = projectCall(request);
  const facts: JsonObject = {
    limit: limitName,
    limit_value: limit,
    projected_cost_usd: cost,
    projected_input_tokens: inputTokens,
    projected_output_tokens: outputTokens,
  };
  const { provider, model } = request;
  return llmError({
    category: 'budget_exceeded',
    message: budgetText(limitName, limit, projected),
    provider,
    model,
    facts,
  });
}

function budgetText(limitName: string, limit: number, projected: number): string {
  if (limitName === 'llm_budget') return `llm_budget is ${usd(limit)}, and ${usd(projected)} is spent`;
  if (limitName === 'total_budget_usd') return `total_budget_usd is ${usd(limit)}, and with this call ${usd(projected)} would be spent`;
  const amount = limitName.endsWith('_usd') ? usd : String;
  return `${limitName} is ${amount(limit)}, and this call may need ${amount(projected)}`;
}

/** Calls cost fractions of a cent. */
function usd(amount: number): string {
  return `$${Number(amount.toPrecision(3))}`;
}
