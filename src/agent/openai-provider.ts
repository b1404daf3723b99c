import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { AnswerParts, type CallPart } from './answer-parts.ts';
import { type Capabilities, capabilitiesOf } from './capabilities.ts';
import { endpointOf } from './endpoint.ts';
import { bodyKind, readDocument, readEvents } from './event-stream.ts';
import {
  asNumber,
  DEFAULT_MAX_TOKENS,
  type Exchange,
  type HttpWorld,
  overrides,
  pickOptions,
  refusal,
  send,
  serviceError,
  streamFault,
  wantsStream,
} from './http-provider.ts';
import { type Block, type Message, messageCalls, messageText } from './message.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from './provider.ts';
import type { ServiceFacts } from './provider-catalog.ts';
import { formatInstruction, standardFormat } from './structured-output.ts';
import { openAiTools } from './tool-search.ts';

/** OpenAI chat completions and everything that speaks them (spec/agents.md 1.4): OpenRouter, local servers, Gemini. */
export function createOpenAiProvider(world: HttpWorld, service: ServiceFacts): Provider {
  return {
    async *stream(request, signal) {
      const { baseUrl, key } = endpointOf(world, service, request);
      const capabilities = capabilitiesOf(request.provider, request.model, world.settings.capabilities);
      const call = {
        url: `${baseUrl}/chat/completions`,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: requestBody(request, capabilities, wantsStream(world, request)),
        secret: key,
      };
      const exchange = await send(world, call, request, signal);
      const answer = new AnswerReader(exchange);
      if (bodyKind(exchange) === 'events') {
        for await (const event of readEvents(exchange)) yield* answer.take(event);
      } else yield* answer.take(await readDocument(exchange));
      if (answer.isFinished) yield { type: 'finish', answer: answer.build() };
    },
  };
}

const SAME_NAME = ['temperature', 'top_p', 'stop', 'seed', 'frequency_penalty', 'presence_penalty'];

function requestBody(request: ModelRequest, capabilities: Capabilities, isStream: boolean): JsonObject {
  const { model, messages, tools, toolChoice, options } = request;
  const system = [request.system ?? '', spokenFormat(options, capabilities)].filter((part) => part !== '').join('\n\n');
  const limit = options.max_tokens ?? DEFAULT_MAX_TOKENS;
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap((message) => wireMessage(message))],
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
    ...(capabilities.requires_completion_tokens ? { max_completion_tokens: limit } : { max_tokens: limit }),
    ...pickOptions(options, SAME_NAME),
    ...(tools.length === 0 ? {} : { tools: openAiTools(request), tool_choice: wireChoice(toolChoice) }),
    ...wireFormat(options, capabilities),
    ...wireThinking(request, capabilities),
    ...overrides(request),
  };
}

function wireChoice(choice: ModelRequest['toolChoice']): Json {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

/** In words where the service takes no schema; plain JSON always, because OpenAI refuses to be asked for it without the word. */
function spokenFormat(options: JsonObject, { json_schema: takesSchema }: Capabilities): string {
  return takesSchema && standardFormat(options).schema !== undefined ? '' : formatInstruction(options);
}

function wireFormat(options: JsonObject, { json_schema: takesSchema }: Capabilities): JsonObject {
  const { schema, isJson, strict } = standardFormat(options);
  if (schema !== undefined && takesSchema)
    return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict } } };
  return isJson ? { response_format: { type: 'json_object' } } : {};
}

/** Effort is what these services speak of; a plain wish to think is a medium one where the model takes any. */
function wireThinking({ provider, options: { thinking } }: ModelRequest, capabilities: Capabilities): JsonObject {
  const mode = thinking === true ? 'enabled' : isJsonObject(thinking) ? thinking.mode : undefined;
  const level = isJsonObject(thinking) && typeof thinking.level === 'string' ? thinking.level : undefined;
  if (provider === 'openrouter' && mode !== undefined) {
    const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined;
    return { reasoning: level !== undefined ? { effort: level } : budget !== undefined ? { max_tokens: budget } : { enabled: true } };
  }
  if (level !== undefined) return { reasoning_effort: level };
  return mode !== undefined && capabilities.reasoning_effort_supported ? { reasoning_effort: 'medium' } : {};
}

function wireMessage(message: Message): JsonObject[] {
  const calls = messageCalls(message);
  if (message.role === 'tool') return [{ role: 'tool', tool_call_id: message.tool_call_id, content: messageText(message) }];
  const content = typeof message.content === 'string' ? message.content : wireBlocks(message.content);
  const results = typeof message.content === 'string' ? [] : message.content.flatMap(wireResult);
  if (calls.length === 0) return content.length === 0 ? results : [...results, { role: message.role, content }];
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [{ role: message.role, content: content.length === 0 ? null : content, tool_calls: toolCalls }];
}

/** Reasoning of other services means nothing here. */
function wireBlocks(blocks: readonly Block[]): Json[] {
  return blocks.flatMap((block): Json[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'image') return [];
    const url = block.url ?? `data:${block.media_type};base64,${block.base64 ?? ''}`;
    return [{ type: 'image_url', image_url: { url, ...(block.detail === undefined ? {} : { detail: block.detail }) } }];
  });
}

/** A result that a script wrote as a block is a message of its own here. */
function wireResult(block: Block): JsonObject[] {
  if (block.type !== 'tool_result') return [];
  const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
  return [{ role: 'tool', tool_call_id: block.tool_use_id, content }];
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};

/** Reads the deltas of a stream, or one whole message of the same shape. */
class AnswerReader {
  readonly #exchange: Exchange;
  readonly #parts: AnswerParts;
  readonly #calls = new Map<number, CallPart>();
  #refusal = '';
  #usage: JsonObject = {};

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#parts = new AnswerParts(exchange.request);
  }

  /** A stream without a finish reason was cut off: it is no answer. */
  get isFinished(): boolean {
    return this.#parts.isFinished;
  }

  *take(event: JsonObject): Iterable<ModelEvent> {
    if (event.error !== undefined && event.error !== null) throw streamFault(this.#exchange, event.error);
    if (typeof event.model === 'string' && event.model !== '') this.#parts.model = event.model;
    if (isJsonObject(event.usage)) this.#usage = event.usage;
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    const delta = choice.delta ?? choice.message;
    if (isJsonObject(delta)) yield* this.#delta(delta);
    if (typeof choice.finish_reason === 'string') this.#finish(choice.finish_reason);
  }

  *#delta(delta: JsonObject): Iterable<ModelEvent> {
    yield* this.#parts.thought(delta.reasoning_content ?? delta.reasoning);
    yield* this.#parts.text(delta.content);
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    for (const [position, part] of calls.entries()) if (isJsonObject(part)) yield* this.#call(part, position);
  }

  /** Some servers leave `index` out, or count every call as 0: another id then begins another call. */
  *#call(part: JsonObject, position: number): Iterable<ModelEvent> {
    const fn = isJsonObject(part.function) ? part.function : {};
    const id = typeof part.id === 'string' ? part.id : '';
    const index = typeof part.index === 'number' ? part.index : position;
    const open = this.#calls.get(index);
    const isNew = open === undefined || (id !== '' && id !== open.id);
    const call = isNew ? this.#parts.openCall(id, '') : open;
    if (isNew) this.#calls.set(index, call);
    if (call.name === '' && typeof fn.name === 'string') call.name = fn.name;
    const piece = isJsonObject(fn.arguments) ? JSON.stringify(fn.arguments) : fn.arguments;
    yield* this.#parts.callArguments(call, typeof piece === 'string' ? piece : '');
  }

  #finish(reason: string): void {
    if (this.#refusal !== '') throw refusal(this.#exchange, `the model refused: ${this.#refusal}`);
    if (reason === 'content_filter') throw refusal(this.#exchange, 'the answer was withheld by a content filter');
    this.#parts.stopReason = STOP_REASONS[reason] ?? reason;
  }

  build(): ModelAnswer {
    const details = isJsonObject(this.#usage.prompt_tokens_details) ? this.#usage.prompt_tokens_details : {};
    const outputTokens = asNumber(this.#usage.completion_tokens);
    if (this.#parts.isEmpty && outputTokens > 0) throw this.#nothingDelivered(outputTokens);
    return this.#parts.build({
      input_tokens: asNumber(this.#usage.prompt_tokens),
      output_tokens: outputTokens,
      cache_read_tokens: asNumber(details.cached_tokens),
      cache_write_tokens: asNumber(details.cache_write_tokens),
    });
  }

  /** Seen of servers whose parser lost the answer: another try often helps. */
  #nothingDelivered(outputTokens: number): Error {
    const { request, call } = this.#exchange;
    const message = `${request.provider} counted ${outputTokens} output tokens but delivered no content, reasoning, or tool calls`;
    return serviceError(request, call, { category: 'server_error', message });
  }
}
