import type { CallUsage } from '../../agent/loop-state.ts';
import type { ShapedAnswer } from '../../agent/model-call/structured-call.ts';
import { readStructured } from '../../agent/model-call/structured-output.ts';
import { llmError, llmErrorFacts } from '../../agent/providers/llm-errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { fromJson, toJson } from '../json.ts';
import type { Dict, Value } from '../value.ts';
import { asDict, optionalText, optionsJson } from './agent-values.ts';
import { askOnce, type LlmCall } from './llm-call.ts';

/** How a structured call came out (spec/agents.md 1.5): data or the error that `llm_call_structured` throws, and the envelope. */
export type StructuredResult =
  | { readonly ok: true; readonly data: Json; readonly envelope: JsonObject }
  | { readonly ok: false; readonly error: unknown; readonly envelope: JsonObject };

const DEFAULT_RETRIES = 3;

/** Never throws for faults of the model or of the answer. */
export async function runStructured(context: Context, [prompt, schema, given]: readonly Value[]): Promise<StructuredResult> {
  const options = structuredOptions(schema, asDict(given));
  const call: LlmCall = { prompt: optionalText(prompt), system: undefined, options };
  let shaped: ShapedAnswer;
  try {
    ({ shaped } = await askOnce(context, call));
  } catch (error) {
    return transportFailure(error);
  }
  if (shaped.faults.length === 0) return success(shaped.data, shaped, false);
  return (await repaired(context, schema, options, shaped)) ?? misfit(shaped, undefined);
}

/** Defaults of the family; `retries` is the short name of `schema_retries`. */
function structuredOptions(schema: Value, given: Dict | undefined): Dict {
  const own = given === undefined ? [] : dictEntries(given);
  const retries = given === undefined ? undefined : (dictGet(given, 'retries') ?? dictGet(given, 'schema_retries'));
  return dictOf([
    ['response_format', 'json'],
    ['output_validation', 'error'],
    ...own,
    ['schema', schema],
    ['schema_retries', retries ?? DEFAULT_RETRIES],
  ]);
}

function transportFailure(error: unknown): StructuredResult {
  const facts = llmErrorFacts(error);
  if (facts === undefined) throw error;
  return {
    ok: false,
    error,
    envelope: {
      ok: false,
      data: null,
      raw_text: '',
      error: facts.message,
      error_category: facts.category,
      attempts: 0,
      repaired: false,
      extracted_json: false,
      usage: {},
      model: facts.model,
      provider: facts.provider,
    },
  };
}

function success(data: Json, shaped: ShapedAnswer, isRepaired: boolean): StructuredResult {
  return {
    ok: true,
    data,
    envelope: { ...facts(shaped), ok: true, data, error: '', error_category: null, repaired: isRepaired },
  };
}

function misfit(shaped: ShapedAnswer, category: string | undefined): StructuredResult {
  const { faults, isMissing, answer } = shaped;
  const message = faults.join('; ');
  return {
    ok: false,
    error: llmError({
      category: 'schema_validation',
      message: `the answer does not match the schema: ${message}`,
      provider: answer.provider,
      model: answer.model,
    }),
    envelope: {
      ...facts(shaped),
      ok: false,
      data: null,
      error: message,
      error_category: category ?? (isMissing ? 'missing_json' : 'schema_validation'),
      repaired: false,
    },
  };
}

function facts({ answer, usage, isExtracted }: ShapedAnswer): JsonObject {
  return {
    raw_text: answer.text,
    attempts: usage.calls,
    extracted_json: isExtracted,
    usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, cost_usd: usage.cost_usd },
    model: answer.model,
    provider: answer.provider,
  };
}

/** One extra pass over an answer that does not fit, by the same or another model; undefined when nobody asked for it. */
async function repaired(context: Context, schema: Value, options: Dict, shaped: ShapedAnswer): Promise<StructuredResult | undefined> {
  const { repair } = optionsJson(options);
  if (!isJsonObject(repair) || repair.enabled !== true) return undefined;
  const change: JsonObject = {
    ...(repair.model === undefined ? {} : { model: repair.model }),
    ...(repair.provider === undefined ? {} : { provider: repair.provider }),
    ...(repair.max_tokens === undefined ? {} : { max_tokens: repair.max_tokens }),
    schema_retries: 0,
    session_id: null,
  };
  const prompt = `Rewrite this answer as JSON that matches the schema.\nSchema: ${JSON.stringify(toJson(schema))}\nFaults: ${shaped.faults.join('; ')}\nAnswer:\n${shaped.answer.text}`;
  const system = typeof repair.system === 'string' ? repair.system : 'You repair JSON. Answer with the JSON alone.';
  try {
    const again = await askOnce(context, {
      prompt,
      system,
      options: dictOf([...dictEntries(options), ...dictEntries(fromJson(change) as Dict)]),
    });
    const outcome = readStructured(again.shaped.answer.text, schemaJson(schema));
    const paid = { ...shaped, usage: sumUsage(shaped.usage, again.shaped.usage) };
    return outcome.kind === 'valid' ? success(outcome.data, paid, true) : misfit(paid, 'repair_failed');
  } catch (error) {
    if (llmErrorFacts(error) === undefined) throw error;
    return misfit(shaped, 'repair_failed');
  }
}

/** The repair is paid for as well; `attempts` are those at the question itself. */
function sumUsage(asked: CallUsage, repair: CallUsage): CallUsage {
  return {
    input_tokens: asked.input_tokens + repair.input_tokens,
    output_tokens: asked.output_tokens + repair.output_tokens,
    cost_usd: asked.cost_usd + repair.cost_usd,
    calls: asked.calls,
  };
}

function schemaJson(schema: Value): JsonObject | undefined {
  const json = toJson(schema);
  return isJsonObject(json) ? json : undefined;
}
