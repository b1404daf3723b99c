import { readToolChoice } from '../../agent/loop-request.ts';
import { assertWithinBudget, budgetError, passesTotal, projectCall } from '../../agent/model-call/call-budget.ts';
import { retryFacts } from '../../agent/model-call/call-events.ts';
import { buildLlmResult } from '../../agent/model-call/llm-result.ts';
import { type CallEvent, type CallPolicy, DEFAULT_TIMEOUT_MS } from '../../agent/model-call/model-call.ts';
import { checkModelOptions } from '../../agent/model-call/model-options.ts';
import { assertShape, callShaped, readShapeWish, type ShapedAnswer } from '../../agent/model-call/structured-call.ts';
import { answerMessage } from '../../agent/providers/answer-message.ts';
import type { ModelAnswer, ModelRequest, ToolSpec } from '../../agent/providers/provider.ts';
import { type ModelTarget, resolveModel } from '../../agent/providers/resolve-model.ts';
import { expireReminders, pendingReminders, renderReminders } from '../../agent/reminder.ts';
import { parseTextResponse, renderToolContract } from '../../agent/tools/text-tools.ts';
import { parametersSchema } from '../../agent/tools/tool.ts';
import { decodeToolSearch, nativeSearch } from '../../agent/tools/tool-search.ts';
import { decodeMessages } from '../../agent/transcript/decode-message.ts';
import { type Message, userMessage } from '../../agent/transcript/message.ts';
import { appendMessage, createTranscript, decodeTranscript, type Transcript } from '../../agent/transcript/transcript.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Context } from '../context.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { Value } from '../value.ts';
import { type AgentServices, agentServices } from './agent-services.ts';
import { toolEntries } from './agent-tools.ts';
import { field, optionsJson } from './agent-values.ts';

/** One model call of a script, outside any loop (spec/agents.md chapter 1). */
export interface LlmCall {
  readonly prompt: string | undefined;
  readonly system: string | undefined;
  readonly options: Value;
  /** The text goes on as it arrives and cannot be taken back: no attempt may follow one that delivered some. */
  readonly isLive?: boolean;
  readonly completion?: ModelRequest['completion'];
}

export interface LlmAnswer {
  readonly result: JsonObject;
  readonly shaped: ShapedAnswer;
}

const DEFAULT_SCHEMA_RETRIES = 1;

/** What a call starts from: earlier messages, and where the new ones go. */
interface History {
  readonly transcript: Transcript;
  readonly sessionId: string | undefined;
}

/**
 * Asks once (with the retries of the options), and keeps the new messages in the session when there is one.
 *
 * @throws HarnError `llm` for faults of the model and, with `output_validation: "error"`, of the answer's shape
 */
export async function runLlmCall(context: Context, call: LlmCall, onEvent?: (event: CallEvent) => void): Promise<LlmAnswer> {
  const answer = await askOnce(context, call, onEvent);
  assertShape(answer.shaped, readShapeWish(optionsJson(call.options), DEFAULT_SCHEMA_RETRIES));
  return answer;
}

/** As `runLlmCall`, but a wrong shape comes back in `shaped.faults`. */
export async function askOnce(context: Context, call: LlmCall, onEvent?: (event: CallEvent) => void): Promise<LlmAnswer> {
  const services = agentServices(context.run);
  const options = optionsJson(call.options);
  checkModelOptions(options, 'llm_call');
  const history = openHistory(services, options);
  const before = askedMessages(call, options).reduce((transcript, message) => appendMessage(transcript, message), history.transcript);
  await services.models.prepare?.();
  const request = await buildRequest(services, call, options, before);
  refuseOverBudget(services, request);
  const wish = readShapeWish(options, DEFAULT_SCHEMA_RETRIES);
  const shaped = await callShaped(
    services,
    request,
    policyOf(options, call),
    wish !== undefined && call.isLive === true ? { ...wish, retries: 0 } : wish,
    context.signal,
    (event) => {
      onEvent?.(event);
      if (event.type === 'retry' || event.type === 'schema_retry')
        services.events.emit({ session_id: history.sessionId ?? null, ...retryFacts(event) });
    },
  );
  const answer = withTextCalls(shaped.answer, request);
  const transcript = shaped.faults.length > 0 ? before : appendMessage(before, answerMessage(request, answer, answer.toolCalls));
  storeHistory(services, history, transcript);
  return { result: buildLlmResult(answer, { data: shaped.data, transcript }), shaped };
}

function openHistory(services: AgentServices, options: JsonObject): History {
  const sessionId = typeof options.session_id === 'string' ? options.session_id : undefined;
  if (sessionId !== undefined) {
    services.sessions.open(sessionId);
    return { transcript: services.sessions.required(sessionId, 'llm_call'), sessionId };
  }
  if (options.transcript !== undefined && options.transcript !== null) {
    return { transcript: decodeTranscript(options.transcript, 'llm_call'), sessionId };
  }
  return { transcript: createTranscript(services.random.uuidV7()), sessionId };
}

/** What is asked now: `messages` in the place of the prompt (1.2). */
function askedMessages({ prompt, options: given }: LlmCall, { messages }: JsonObject): readonly Message[] {
  if (messages !== undefined && messages !== null) return decodeMessages(toJson(field(given, 'messages')), 'llm_call');
  return prompt === undefined ? [] : [userMessage(prompt)];
}

async function buildRequest(services: AgentServices, call: LlmCall, options: JsonObject, transcript: Transcript): Promise<ModelRequest> {
  const text = (key: string): string | undefined => (typeof options[key] === 'string' ? options[key] : undefined);
  const target = resolveModel(
    { provider: text('provider'), model: text('model'), modelTier: text('model_tier') },
    services.env,
    services.models.settings,
  );
  if (options.vision === true) await requireVision(services, target);
  const tools = toolSpecs(field(call.options, 'tools'));
  const search = decodeToolSearch(options.tool_search);
  const toolSearch = search === undefined ? undefined : await nativeSearch(services.models, target, search, options);
  const format =
    toolSearch !== undefined
      ? 'native'
      : (text('tool_format') ?? ((await services.models.hasNativeTools(target.provider, target.model)) ? 'native' : 'text'));
  const isNative = format === 'native';
  const reminders = renderReminders(pendingReminders(transcript));
  const system = call.system ?? text('system');
  return {
    ...target,
    system:
      isNative || tools.length === 0
        ? system
        : [...(system === undefined ? [] : [system]), renderToolContract(tools, undefined)].join('\n\n'),
    messages: [...transcript.messages, ...reminders],
    tools: isNative ? tools : [],
    ...(toolSearch === undefined ? {} : { toolSearch }),
    ...(call.completion === undefined ? {} : { completion: call.completion }),
    toolChoice: readToolChoice(options.tool_choice),
    options,
  };
}

/** @throws plain error where nothing says that the model sees */
async function requireVision({ models }: AgentServices, { provider, model }: ModelTarget): Promise<void> {
  const { capabilitiesOf } = await import('../../agent/providers/capabilities.ts');
  if (capabilitiesOf(provider, model, models.settings?.capabilities ?? {}).vision_supported) return;
  throw plainError(`llm_call: option \`vision\` is not supported by ${provider}/${model}`);
}

function toolSpecs(tools: Value): ToolSpec[] {
  return toolEntries(tools).map((entry) => {
    const facts = optionsJson(entry);
    return {
      name: String(facts.name ?? ''),
      description: typeof facts.description === 'string' ? facts.description : '',
      parameters: parametersSchema(isJsonObject(facts.parameters) ? facts.parameters : undefined),
      ...(facts.defer_loading === true ? { deferLoading: true } : {}),
      ...(typeof facts.namespace === 'string' ? { namespace: facts.namespace } : {}),
    };
  });
}

function policyOf(options: JsonObject, { isLive }: LlmCall): CallPolicy {
  const count = (key: string, fallback: number): number => (typeof options[key] === 'number' ? options[key] : fallback);
  return {
    retries: count('llm_retries', 0),
    backoffMs: count('llm_backoff_ms', 250),
    timeoutMs: typeof options.timeout === 'number' ? options.timeout * 1000 : DEFAULT_TIMEOUT_MS,
    afterText: isLive === true ? 'fail' : 'retry',
  };
}

/** The ceiling of the run, then those of the call's own options. @throws HarnError `llm` (budget_exceeded) */
export function refuseOverBudget({ spending }: AgentServices, request: ModelRequest): void {
  const { budgetUsd, costUsd } = spending;
  if (budgetUsd !== undefined && costUsd >= budgetUsd) throw budgetError(request, 'llm_budget', budgetUsd, costUsd);
  assertWithinBudget(request);
  const { budget } = request.options;
  if (isJsonObject(budget) && typeof budget.total_budget_usd === 'number' && passesTotal(request, budget, costUsd))
    throw budgetError(request, 'total_budget_usd', budget.total_budget_usd, costUsd + projectCall(request).costUsd);
}

/** Under the text grammar the calls are in the text. */
function withTextCalls(answer: ModelAnswer, request: ModelRequest): ModelAnswer {
  if (answer.toolCalls.length > 0 || request.tools.length > 0) return answer;
  const names = toolNamesIn(request.options);
  if (names.size === 0) return answer;
  return { ...answer, toolCalls: parseTextResponse(answer.text, names).calls };
}

function toolNamesIn({ tools }: JsonObject): ReadonlySet<string> {
  const entries = isJsonObject(tools) && Array.isArray(tools.tools) ? tools.tools : Array.isArray(tools) ? tools : [];
  return new Set(entries.flatMap((entry) => (isJsonObject(entry) && typeof entry.name === 'string' ? [entry.name] : [])));
}

/** Reminders that this call rendered have one turn less to live. */
function storeHistory(services: AgentServices, { sessionId, transcript: before }: History, transcript: Transcript): void {
  if (sessionId === undefined) return;
  services.sessions.save(
    sessionId,
    expireReminders(
      transcript,
      pendingReminders(before).map((reminder) => reminder.id),
    ),
  );
}
