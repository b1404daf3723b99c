import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { AnswerParts, type CallPart, parseArguments } from './answer-parts.ts';
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
  streamFault,
  wantsStream,
} from './http-provider.ts';
import { type Block, isForeignBlock, type Message, messageCalls, messageText } from './message.ts';
import { maxOutputTokens } from './model-catalog.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from './provider.ts';
import type { ServiceFacts } from './provider-catalog.ts';
import { formatInstruction } from './structured-output.ts';

/** Anthropic messages (spec/agents.md 1.4): results are blocks of a user message, roles alternate. */
const VERSION = '2023-06-01';

export function createAnthropicProvider(world: HttpWorld, service: ServiceFacts): Provider {
  return {
    async *stream(request, signal) {
      const { baseUrl, key } = endpointOf(world, service, request);
      const call = {
        url: baseUrl.endsWith('/v1') ? `${baseUrl}/messages` : `${baseUrl}/v1/messages`,
        headers: { ...(key === undefined ? {} : { 'x-api-key': key }), 'anthropic-version': VERSION },
        body: requestBody(request, wantsStream(world, request)),
        secret: key,
      };
      const exchange = await send(world, call, request, signal);
      const answer = new AnswerReader(exchange);
      if (bodyKind(exchange) === 'events') {
        for await (const event of readEvents(exchange, isStop)) yield* answer.take(event);
      } else yield* answer.takeMessage(await readDocument(exchange));
      if (answer.isFinished) yield { type: 'finish', answer: answer.build() };
    },
  };
}

function isStop({ type }: JsonObject): boolean {
  return type === 'message_stop';
}

function requestBody(request: ModelRequest, isStream: boolean): JsonObject {
  const { model, tools, toolChoice, options } = request;
  const thinking = wireThinking(options.thinking);
  const system = [request.system ?? '', formatInstruction(options)].filter((part) => part !== '').join('\n\n');
  const cached = options.cache === true ? CACHED : {};
  return {
    model,
    max_tokens: maxTokens(model, options, thinking),
    stream: isStream,
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...cached }] }),
    messages: options.cache === true ? withCacheMark(wireMessages(request)) : wireMessages(request),
    ...(tools.length === 0
      ? {}
      : {
          tools: wireTools(request),
          tool_choice: wireChoice(toolChoice),
        }),
    ...pickOptions(options, ['temperature', 'top_p', 'top_k']),
    ...(options.stop === undefined || options.stop === null ? {} : { stop_sequences: options.stop }),
    ...(thinking === undefined ? {} : { thinking }),
    ...overrides(request),
  };
}

const CACHED: JsonObject = { cache_control: { type: 'ephemeral' } };

/**
 * Marks how far the prompt should be kept: to the end of the last message. The mark is no part of what the service
 * compares, so that it may move on with every turn; the one of the system text covers the tools as well.
 */
function withCacheMark(messages: readonly WireMessage[]): Json[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || !isJsonObject(block)) return [...messages];
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), { ...block, ...CACHED }] }];
}

/** The service refuses a limit beyond the model's; reasoning counts against it. */
function maxTokens(model: string, { max_tokens: wanted }: JsonObject, thinking: JsonObject | undefined): Json {
  if (typeof wanted === 'number') return wanted;
  const limit = Math.min(DEFAULT_MAX_TOKENS, maxOutputTokens(model) ?? DEFAULT_MAX_TOKENS);
  const budget = asNumber(thinking?.budget_tokens);
  return budget >= limit ? budget + limit : limit;
}

function wireTools({ tools, toolSearch }: ModelRequest): Json[] {
  const wire = tools.map(({ name, description, parameters, deferLoading }) => ({
    name,
    description,
    input_schema: parameters,
    ...(toolSearch !== undefined && deferLoading === true ? { defer_loading: true } : {}),
  }));
  if (toolSearch === undefined) return wire;
  return [{ type: `tool_search_tool_${toolSearch.variant}_20251119`, name: `tool_search_tool_${toolSearch.variant}` }, ...wire];
}

function wireChoice(choice: ModelRequest['toolChoice']): Json {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

const DEFAULT_THINKING_TOKENS = 4096;
/** Budgets that stand for the efforts of other services. */
const EFFORT_TOKENS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 4096, high: 12_288 };

function wireThinking(thinking: Json | undefined): JsonObject | undefined {
  const mode = thinking === true ? 'enabled' : isJsonObject(thinking) ? thinking.mode : undefined;
  if (mode === 'adaptive') return { type: 'adaptive' };
  if (mode !== 'enabled' && mode !== 'effort') return undefined;
  const { budget_tokens: budget, level } = isJsonObject(thinking) ? thinking : {};
  return { type: 'enabled', budget_tokens: budget ?? EFFORT_TOKENS[String(level)] ?? DEFAULT_THINKING_TOKENS };
}

type WireMessage = { readonly role: string; readonly content: readonly Json[] };

/** Neighbours of one role become one message: the API wants them to alternate, and a result may be followed by user text. */
function wireMessages(request: ModelRequest): WireMessage[] {
  const merged: { role: string; content: Json[] }[] = [];
  for (const message of request.messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = merged.at(-1);
    const content = wireContent(message, request);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) merged.push({ role, content });
  }
  return merged;
}

function wireContent(message: Message, request: ModelRequest): Json[] {
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: wireId(message.tool_call_id ?? ''), content: messageText(message) }];
  const blocks =
    typeof message.content === 'string' ? textBlocks(message.content) : sendableBlocks(message.content, request).flatMap(wireBlock);
  const calls = messageCalls(message).map(({ id, name, arguments: input }): Json => ({ type: 'tool_use', id: wireId(id), name, input }));
  return [...blocks, ...calls];
}

/** Other services give ids that this one refuses; a conversation may have begun there. */
function wireId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
}

/** A text block of nothing, or of white space alone, is refused. */
function textBlocks(text: string): Json[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/**
 * What the service did itself goes back with its result or not at all, and a search only while the request knows the tools
 * that it found: the service refuses whatever else.
 */
function sendableBlocks(blocks: readonly Block[], request: ModelRequest): readonly Block[] {
  const own = blocks.filter((block) => !isForeignBlock(block, request));
  const service = own.flatMap((block) => (block.type === 'service' ? [block.block] : []));
  const begun = new Set(service.flatMap(({ type, id }) => (type === SERVICE_CALL ? [id] : [])));
  const isComplete = (block: JsonObject): boolean => begun.has(block.tool_use_id) && isStillKnown(block, request);
  const complete = new Set(service.flatMap((block) => (isComplete(block) ? [block.tool_use_id] : [])));
  return own.filter((block) => block.type !== 'service' || complete.has(block.block.tool_use_id ?? block.block.id));
}

function isStillKnown({ type, content }: JsonObject, { tools, toolSearch }: ModelRequest): boolean {
  if (type !== 'tool_search_tool_result') return true;
  if (toolSearch === undefined) return false;
  const references = isJsonObject(content) && Array.isArray(content.tool_references) ? content.tool_references : [];
  return references.every((one) => isJsonObject(one) && tools.some(({ name }) => name === one.tool_name));
}

const SERVICE_CALL = 'server_tool_use';

function isServiceBlock({ type }: JsonObject): boolean {
  return type === SERVICE_CALL || (typeof type === 'string' && type.endsWith('_tool_result'));
}

function wireBlock(block: Block): Json[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text);
    case 'reasoning':
      return [
        block.redacted === undefined
          ? { type: 'thinking', thinking: block.text, signature: block.signature }
          : { type: 'redacted_thinking', data: block.redacted },
      ];
    case 'service':
      return [block.block];
    case 'image':
      return [
        {
          type: 'image',
          source:
            block.url === undefined
              ? { type: 'base64', media_type: block.media_type, data: block.base64 }
              : { type: 'url', url: block.url },
        },
      ];
    default:
      return [block];
  }
}

/** Reads the events of a stream, or one whole message. */
class AnswerReader {
  readonly #exchange: Exchange;
  readonly #parts: AnswerParts;
  readonly #calls = new Map<number, CallPart>();
  /** What the service does itself; its input arrives as that of a call does. */
  readonly #service = new Map<number, { readonly block: { input?: Json }; text: string }>();
  #input: JsonObject = {};
  #outputTokens = 0;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#parts = new AnswerParts(exchange.request);
  }

  get isFinished(): boolean {
    return this.#parts.isFinished;
  }

  *take(event: JsonObject): Iterable<ModelEvent> {
    switch (event.type) {
      case 'message_start':
        return this.#start(isJsonObject(event.message) ? event.message : {});
      case 'content_block_start':
        return yield* this.#open(asNumber(event.index), isJsonObject(event.content_block) ? event.content_block : {});
      case 'content_block_delta':
        return yield* this.#delta(asNumber(event.index), isJsonObject(event.delta) ? event.delta : {});
      case 'message_delta':
        return this.#end(isJsonObject(event.delta) ? event.delta : {}, isJsonObject(event.usage) ? event.usage : {});
      case 'error':
        throw streamFault(this.#exchange, event.error);
      default:
        return;
    }
  }

  *takeMessage(message: JsonObject): Iterable<ModelEvent> {
    if (message.type === 'error') throw streamFault(this.#exchange, message.error);
    this.#start(message);
    for (const [index, block] of (Array.isArray(message.content) ? message.content : []).entries()) {
      if (isJsonObject(block)) yield* this.#open(index, block);
    }
    this.#end(message, isJsonObject(message.usage) ? message.usage : {});
  }

  #start({ model, usage }: JsonObject): void {
    if (typeof model === 'string') this.#parts.model = model;
    if (isJsonObject(usage)) this.#input = usage;
  }

  /** In a stream a block opens empty and its deltas fill it; in a message it is complete. */
  *#open(index: number, block: JsonObject): Iterable<ModelEvent> {
    const { type, id, name, text, thinking, signature, input, data } = block;
    if (type === 'text') yield* this.#parts.text(text);
    if (type === 'thinking') {
      this.#parts.openReasoning();
      yield* this.#parts.signedThought(thinking);
      this.#parts.sign(signature);
    }
    if (type === 'redacted_thinking' && typeof data === 'string') this.#parts.openReasoning(data);
    if (isServiceBlock(block)) this.#openService(index, block);
    if (type !== 'tool_use') return;
    const call = this.#parts.openCall(String(id ?? ''), String(name ?? ''));
    this.#calls.set(index, call);
    if (isJsonObject(input) && Object.keys(input).length > 0) yield* this.#parts.callArguments(call, JSON.stringify(input));
  }

  #openService(index: number, given: JsonObject): void {
    const block: JsonObject & { input?: Json } = { ...given };
    this.#service.set(index, { block, text: '' });
    this.#parts.service(block);
  }

  *#delta(index: number, { type, text, thinking, signature, partial_json: partial }: JsonObject): Iterable<ModelEvent> {
    if (type === 'text_delta') yield* this.#parts.text(text);
    else if (type === 'thinking_delta') yield* this.#parts.signedThought(thinking);
    else if (type === 'signature_delta') this.#parts.sign(signature);
    else if (type === 'input_json_delta' && typeof partial === 'string') {
      const service = this.#service.get(index);
      if (service !== undefined) service.text += partial;
      const call = this.#calls.get(index);
      if (call !== undefined) yield* this.#parts.callArguments(call, partial);
    }
  }

  #end({ stop_reason: stop }: JsonObject, usage: JsonObject): void {
    // The last figures hold; what the last event leaves out was said in the first.
    this.#input = { ...this.#input, ...usage };
    this.#outputTokens = asNumber(this.#input.output_tokens);
    if (stop === 'refusal') throw refusal(this.#exchange, 'the model refused to answer');
    if (stop === 'model_context_window_exceeded') this.#parts.stopReason = 'max_tokens';
    else if (typeof stop === 'string') this.#parts.stopReason = stop;
  }

  build(): ModelAnswer {
    for (const { block, text } of this.#service.values()) if (text !== '') block.input = parseArguments(text);
    const read = asNumber(this.#input.cache_read_input_tokens);
    const written = asNumber(this.#input.cache_creation_input_tokens);
    return this.#parts.build({
      input_tokens: asNumber(this.#input.input_tokens) + read + written,
      output_tokens: this.#outputTokens,
      cache_read_tokens: read,
      cache_write_tokens: written,
    });
  }
}
