import { llmErrorFacts } from '../../agent/providers/llm-errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { agentServices } from '../agents/agent-services.ts';
import { agentValue, optionalText, withoutHarness } from '../agents/agent-values.ts';
import { askOnce, type LlmAnswer, type LlmCall, runLlmCall } from '../agents/llm-call.ts';
import { runStructured } from '../agents/llm-structured.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { ChannelHandle } from '../concurrency/channel.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { taskTree } from '../task-context.ts';
import { Dict, Float, type Value } from '../value.ts';

/** Model calls and the scripted model (spec/agents.md chapter 1). */

type Args = readonly Value[];

/** A function of the agent half: a leading harness is dropped. */
function asynchronous(signature: string, doc: string, run: (context: Context, args: Args) => Promise<Value>): Builtin {
  return { signature, doc, colour: 'async', call: (context, _depth, ...args) => run(context, withoutHarness(args)) };
}

function immediate(signature: string, doc: string, run: (context: Context, args: Args) => Value): Builtin {
  return { signature, doc, call: (context, _depth, ...args) => run(context, withoutHarness(args)) };
}

function plainCall([prompt, system, options]: Args): LlmCall {
  return { prompt: optionalText(prompt), system: optionalText(system), options };
}

function resultValue({ result }: LlmAnswer): Value {
  return agentValue(result);
}

/** `{category, message, kind, reason}` of a fault; anything that is no model fault is thrown on. */
export function modelFault(error: unknown): JsonObject {
  const facts = llmErrorFacts(error);
  if (facts === undefined) throw error;
  return facts;
}

async function safely(run: () => Promise<LlmAnswer>): Promise<Value> {
  try {
    return dictOf([
      ['ok', true],
      ['response', resultValue(await run())],
      ['error', undefined],
    ]);
  } catch (error) {
    return dictOf([
      ['ok', false],
      ['response', undefined],
      ['error', agentValue(modelFault(error))],
    ]);
  }
}

async function structuredData(context: Context, args: Args): Promise<Value> {
  const outcome = await runStructured(context, args);
  if (!outcome.ok) throw outcome.error;
  return agentValue(outcome.data);
}

async function structuredSafely(context: Context, args: Args): Promise<Value> {
  const outcome = await runStructured(context, args);
  return dictOf([
    ['ok', outcome.ok],
    ['data', outcome.ok ? agentValue(outcome.data) : undefined],
    ['error', outcome.ok ? undefined : agentValue(modelFault(outcome.error))],
  ]);
}

async function structuredEnvelope(context: Context, args: Args): Promise<Value> {
  return agentValue((await runStructured(context, args)).envelope);
}

/** The answer has begun when this returns; a fault at the start is thrown, a later one reaches who reads the channel. */
async function streamText(context: Context, args: Args): Promise<Value> {
  const channel = new ChannelHandle('llm_stream', Number.MAX_SAFE_INTEGER);
  await new Promise<void>((resolve, reject) => {
    const answered = runLlmCall(context, { ...plainCall(args), isLive: true }, (event) => {
      if (event.type === 'retry') return;
      if (event.type === 'text') channel.queue.trySend(event.text); // there is always room
      resolve();
    });
    const settled = answered.then(
      () => {
        channel.queue.close();
        resolve();
      },
      (error: unknown) => {
        channel.fail(error);
        reject(error);
      },
    );
    taskTree(context.run).track(settled);
  });
  return channel;
}

function completion([prefix, suffix, system, options]: Args): LlmCall {
  const after = optionalText(suffix);
  const prompt = after === undefined ? optionalText(prefix) : `${optionalText(prefix) ?? ''}<FILL>${after}`;
  const instruction =
    after === undefined
      ? 'Continue the text. Answer with the continuation alone.'
      : 'Answer with the text that belongs at <FILL>, and nothing else.';
  const completion = { before: optionalText(prefix) ?? '', after };
  return { prompt, system: optionalText(system) ?? instruction, options, completion };
}

function usageTotals(context: Context): Value {
  const { costUsd, inputTokens, outputTokens, calls, durationMs } = agentServices(context.run).spending;
  return dictOf([
    ['total_cost', new Float(costUsd)],
    ['input_tokens', inputTokens],
    ['output_tokens', outputTokens],
    ['call_count', calls],
    ['total_duration_ms', durationMs],
  ]);
}

function setBudget(context: Context, [limit]: Args): Value {
  if (!(typeof limit === 'number' || limit instanceof Float)) throw plainError('llm_budget: expected a number of US dollars');
  agentServices(context.run).spending.budgetUsd = typeof limit === 'number' ? limit : limit.value;
  return undefined;
}

function remainingBudget(context: Context): Value {
  const { budgetUsd, costUsd } = agentServices(context.run).spending;
  return budgetUsd === undefined ? undefined : new Float(Math.max(0, budgetUsd - costUsd));
}

function enqueue(context: Context, [entry]: Args): Value {
  if (!(entry instanceof Dict)) throw plainError('llm_mock: expected a dict');
  agentServices(context.run).mock.enqueue(withoutNil(toJson(entry)));
  return undefined;
}

/** Scripts cannot tell nil from absent (0.2). */
function withoutNil(value: Json): Json {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)) : value;
}

export const LLM: BuiltinGroup = {
  name: 'llm',
  title: 'Model calls',
  errors: [
    {
      text: '{category, kind, message, model, provider, reason, retry_after_ms}',
      when: 'a model call that failed throws this dict; the calls in `…_safe` give it back instead',
    },
    { text: 'llm_mock: expected a dict', when: '`llm_mock`' },
    { text: 'llm_budget: expected a number of US dollars', when: '`llm_budget`' },
  ],
  builtins: {
    llm_call: asynchronous(
      '<T>(prompt: any = nil, system: any = nil, options: LlmOptions<T> | dict | nil = nil) -> LlmResult<T>',
      'Asks a model once. Throws a dict with `category`, `kind` and `reason` when the model fails.',
      async (context, args) => resultValue(await runLlmCall(context, plainCall(args))),
    ),
    llm_call_safe: asynchronous(
      '<T>(prompt: any = nil, system: any = nil, options: LlmOptions<T> | dict | nil = nil) -> {ok: bool, response: LlmResult<T>, error: LlmFault}',
      'As llm_call, but faults of the model come back in `{ok, response, error}`.',
      (context, args) => safely(() => runLlmCall(context, plainCall(args))),
    ),
    llm_call_structured: asynchronous(
      '<T>(prompt: any = nil, schema: Schema<T> = nil, options: StructuredOptions | dict | nil = nil) -> T',
      'Asks for JSON that matches a schema and answers the data; wrong answers are corrected up to `retries` times.',
      structuredData,
    ),
    llm_call_structured_safe: asynchronous(
      '<T>(prompt: any = nil, schema: Schema<T> = nil, options: StructuredOptions | dict | nil = nil) -> {ok: bool, data: T, error: LlmFault}',
      'As llm_call_structured, in `{ok, data, error}`.',
      structuredSafely,
    ),
    llm_call_structured_result: asynchronous(
      '<T>(prompt: any = nil, schema: Schema<T> = nil, options: StructuredOptions | dict | nil = nil) -> {ok: bool, data: T, raw_text: string, error: string, error_category: string | nil, attempts: int, repaired: bool, extracted_json: bool, usage: dict, model: string, provider: string}',
      'As llm_call_structured, with everything that is known of the attempts; never throws for a fault of the model.',
      structuredEnvelope,
    ),
    llm_stream: asynchronous(
      '<T>(prompt: any = nil, system: any = nil, options: LlmOptions<T> | dict | nil = nil) -> channel',
      'A channel of text as it arrives; closed at the end.',
      streamText,
    ),
    llm_completion: asynchronous(
      '<T>(prefix: any = nil, suffix: any = nil, system: any = nil, options: LlmOptions<T> | dict | nil = nil) -> LlmResult<T>',
      'Continues a text, or fills the place between two.',
      async (context, args) => resultValue(await askOnce(context, completion(args))),
    ),
    llm_usage: immediate('() -> dict', 'What the model calls of this run came to: cost, tokens, calls, milliseconds.', usageTotals),
    llm_session_cost: immediate('() -> dict', 'The same as llm_usage.', usageTotals),
    llm_budget: immediate('(max_usd: any = nil) -> nil', 'Refuses further calls once this many US dollars are spent.', setBudget),
    llm_budget_remaining: immediate('() -> any', 'What is left of the budget in US dollars; nil without one.', remainingBudget),
    llm_mock: immediate('(entry: MockEntry | dict | any) -> nil', 'Scripts the next answer of the mock model.', enqueue),
    llm_mock_clear: immediate('() -> nil', 'Forgets scripted answers, the log and the mock prompt cache.', (context) => {
      agentServices(context.run).mock.clear();
      return undefined;
    }),
    llm_mock_calls: immediate('() -> list', 'Each call so far as `{messages, system, tools, thinking}`, exactly as sent.', (context) =>
      agentServices(context.run).mock.calls().map(agentValue),
    ),
    llm_mock_push_scope: immediate('() -> nil', 'Starts with an empty script and log, until llm_mock_pop_scope.', (context) => {
      agentServices(context.run).mock.pushScope();
      return undefined;
    }),
    llm_mock_pop_scope: immediate('() -> nil', 'Goes back to the script and log before llm_mock_push_scope.', (context) => {
      agentServices(context.run).mock.popScope();
      return undefined;
    }),
  },
};
