import type { JsonObject } from '../base/json.ts';
import { emitEvent, type Loop } from './loop-context.ts';
import { callPolicy } from './loop-options.ts';
import { buildRequest, contextView, rewrittenMessages } from './loop-request.ts';
import type { CallUsage } from './loop-state.ts';
import { assertWithinBudget, passesTotal } from './model-call/call-budget.ts';
import { sessionEvent } from './model-call/call-events.ts';
import type { CallEvent } from './model-call/model-call.ts';
import { addUsage, assertShape, callShaped, readShapeWish } from './model-call/structured-call.ts';
import { answerMessage } from './providers/answer-message.ts';
import { isContextOverflow } from './providers/llm-errors.ts';
import type { ModelAnswer, ModelRequest } from './providers/provider.ts';
import type { Reminder } from './reminder.ts';
import { parseTextResponse } from './tools/text-tools.ts';
import { nativeSearchEvents } from './tools/tool-search.ts';
import type { Message, ToolCall } from './transcript/message.ts';
import { plainEvent } from './transcript/transcript.ts';
import { compactAfterOverflow } from './turn-compaction.ts';

/* Steps 8 and 9 of a turn (spec/agents.md 3.5): the model is asked, and its answer read. */

/** What the model answered, read. */
export interface ReadAnswer {
  readonly message: Message;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Calls were parsed out of the text, and their results go back as text. */
  readonly isTextGrammar: boolean;
  readonly done: string | undefined;
  readonly errors: readonly string[];
  readonly violations: readonly string[];
  /** A native model wrote calls as text: whether they were run. */
  readonly fallback?: 'accepted' | 'rejected' | undefined;
}

type Asked = { readonly answer: ModelAnswer; readonly usage: CallUsage } | { readonly fault: JsonObject } | 'over_budget';

/**
 * One model call with retries and corrections of shape, by the service or by the `llm_caller` of the loop.
 *
 * @returns the answer; a fault that `llm_caller` gave; or that the call would pass the total budget of the loop
 * @throws HarnError of category budget, and whatever the service refused for good (spec/agents.md 1.7)
 */
export async function askModel(loop: Loop, reminders: readonly Reminder[]): Promise<Asked> {
  const { world, options, live } = loop;
  const request = await turnRequest(loop, reminders);
  // A total for the loop ends it before the call that would pass it (1.2, 3.2).
  if (passesTotal(request, options.model.budget, loop.progress.counters.cost_usd)) return 'over_budget';
  assertWithinBudget(request);
  const policy = callPolicy(options);
  const wish = readShapeWish(options.model, options.schemaRetries);
  const ask = (asked: ModelRequest) => callShaped(world, asked, policy, wish, loop.signal, (event) => emitCallEvent(loop, event));
  const shaped = async () => {
    const answered = await ask(request).catch(async (error: unknown) => {
      if (!isContextOverflow(error) || !(await compactAfterOverflow(loop))) throw error;
      return ask(await turnRequest(loop, reminders));
    });
    assertShape(answered, wish);
    return answered;
  };
  const { llmCaller } = live.callbacks;
  if (llmCaller === undefined) {
    const { answer, data, usage } = await shaped();
    loop.data = data;
    tellSearches(loop, answer);
    return { answer, usage };
  }
  const answer = await llmCaller(request, async () => (await shaped()).answer);
  if ('providerError' in answer) return { fault: answer.providerError };
  return { answer, usage: addUsage({ input_tokens: 0, output_tokens: 0, cost_usd: 0, calls: 0 }, answer) };
}

/** A service that searches among deferred tools has done so within its answer; it is told like a search of the loop. */
function tellSearches(loop: Loop, answer: ModelAnswer): void {
  for (const event of nativeSearchEvents(answer)) {
    loop.callEvents.push(event);
    emitEvent(loop, { type: event.kind, ...event.metadata });
  }
}

/** A callback may show the model other messages, under another system prompt, for this one call; what is persisted stays. */
async function turnRequest(loop: Loop, reminders: readonly Reminder[]): Promise<ModelRequest> {
  const { transcript, counters } = loop.progress;
  const { context } = loop.live.callbacks;
  const request = buildRequest(loop.turnFrame(transcript), transcript.messages, reminders, loop.options.model);
  if (context === undefined) return request;
  const answer = await context(contextView(request, transcript.messages, counters.iterations_completed));
  return {
    ...request,
    ...(answer.messages === undefined ? {} : { messages: rewrittenMessages(answer.messages) }),
    ...('system' in answer ? { system: answer.system } : {}),
  };
}

function emitCallEvent(loop: Loop, event: CallEvent): void {
  const told = sessionEvent(event);
  if (told === undefined) return;
  emitEvent(loop, told);
  if (event.type !== 'retry' && event.type !== 'schema_retry') return;
  const { type, ...facts } = told;
  loop.callEvents.push(plainEvent(String(type), String(facts.message ?? 'the answer had the wrong shape'), facts));
}

/** Calls come structured or, under the text grammar, in the text; a native model that writes text is a matter of options. */
export function readAnswer(loop: Loop, answer: ModelAnswer): ReadAnswer {
  const { text, toolCalls } = answer;
  const plain = { text, done: undefined, errors: [], violations: [] };
  if (toolCalls.length > 0)
    return { ...plain, message: answerMessage(loop.frame.target, answer, toolCalls), calls: toolCalls, isTextGrammar: false };
  const isText = loop.frame.format === 'text';
  const fallback = isText ? undefined : textFallback(loop, text);
  if (!isText && fallback !== 'accepted')
    return { ...plain, message: answerMessage(loop.frame.target, answer, []), calls: [], isTextGrammar: false, fallback };
  const { calls, errors, violations, done } = parseTextResponse(text, loop.frame.toolNames);
  // Without tools of its own a loop was taught no grammar, so plain prose breaks none.
  const broken = loop.live.tools.length === 0 ? [] : violations;
  if (isText)
    return { text, message: answerMessage(loop.frame.target, answer, []), calls, isTextGrammar: true, done, errors, violations: broken };
  loop.fallbackTurns++;
  return { ...plain, message: answerMessage(loop.frame.target, answer, calls), calls, isTextGrammar: false, errors, fallback };
}

function textFallback({ options, fallbackTurns }: Loop, text: string): 'accepted' | 'rejected' | undefined {
  const { nativeToolFallback } = options;
  if (!text.includes('<tool_call>')) return undefined;
  if (nativeToolFallback === 'reject') return 'rejected';
  return nativeToolFallback === 'allow' || fallbackTurns === 0 ? 'accepted' : 'rejected';
}
