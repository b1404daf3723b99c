import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import {
  asNumber,
  baseUrl,
  DEFAULT_MAX_TOKENS,
  type HttpWorld,
  overrides,
  parseArguments,
  pickOptions,
  readEvents,
  requireKey,
  send,
} from './http-provider.ts';
import { llmError } from './llm-errors.ts';
import { type Block, type Message, messageCalls, messageText } from './message.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from './provider.ts';

/** Anthropic messages (spec/agents.md 1.4): results are blocks of a user message, roles alternate. */
const VERSION = '2023-06-01';

export function createAnthropicProvider(world: HttpWorld): Provider {
  return {
    async *stream(request, signal) {
      const url = `${baseUrl(world, 'anthropic', 'https://api.anthropic.com')}/v1/messages`;
      const headers = { 'x-api-key': requireKey(world, 'ANTHROPIC_API_KEY', request), 'anthropic-version': VERSION };
      const response = await send(world, { url, headers, body: requestBody(request) }, request, signal);
      const answer = new AnswerBuilder(request);
      for await (const event of readEvents(response, request, signal)) yield* answer.take(event);
      if (answer.isFinished) yield { type: 'finish', answer: answer.build() };
    },
  };
}

function requestBody(request: ModelRequest): JsonObject {
  const { model, system, messages, tools, toolChoice, options } = request;
  const cached = options.cache === true ? { cache_control: { type: 'ephemeral' } } : {};
  return {
    model,
    max_tokens: options.max_tokens ?? DEFAULT_MAX_TOKENS,
    stream: true,
    ...(system === undefined || system === '' ? {} : { system: [{ type: 'text', text: system, ...cached }] }),
    messages: wireMessages(messages),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
          tool_choice: wireChoice(toolChoice),
        }),
    ...pickOptions(options, ['temperature', 'top_p', 'top_k']),
    ...(options.stop === undefined || options.stop === null ? {} : { stop_sequences: options.stop }),
    ...wireThinking(options.thinking),
    ...overrides(request),
  };
}

function wireChoice(choice: ModelRequest['toolChoice']): Json {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

const DEFAULT_THINKING_TOKENS = 4096;

function wireThinking(thinking: Json | undefined): JsonObject {
  const mode = thinking === true ? 'enabled' : isJsonObject(thinking) ? thinking.mode : undefined;
  if (mode === 'adaptive') return { thinking: { type: 'adaptive' } };
  if (mode !== 'enabled') return {};
  const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined;
  return { thinking: { type: 'enabled', budget_tokens: budget ?? DEFAULT_THINKING_TOKENS } };
}

/** Neighbours of one role become one message: the API wants them to alternate, and a result may be followed by user text. */
function wireMessages(messages: readonly Message[]): Json[] {
  const merged: { role: string; content: Json[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = merged.at(-1);
    const content = wireContent(message);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  return merged;
}

function wireContent(message: Message): Json[] {
  if (message.role === 'tool') return [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: messageText(message) }];
  const blocks = typeof message.content === 'string' ? textBlocks(message.content) : message.content.flatMap(wireBlock);
  return [...blocks, ...messageCalls(message).map(({ id, name, arguments: input }): Json => ({ type: 'tool_use', id, name, input }))];
}

/** An empty text block is refused. */
function textBlocks(text: string): Json[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function wireBlock(block: Block): Json[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text);
    case 'reasoning':
      return [{ type: 'thinking', thinking: block.text, signature: block.signature }];
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

class AnswerBuilder {
  readonly #request: ModelRequest;
  readonly #calls = new Map<number, { id: string; name: string; text: string }>();
  #text = '';
  #thinking = '';
  #signature = '';
  #model: string;
  #stop: string | undefined;
  #input: JsonObject = {};
  #outputTokens = 0;

  constructor(request: ModelRequest) {
    this.#request = request;
    this.#model = request.model;
  }

  get isFinished(): boolean {
    return this.#stop !== undefined;
  }

  *take(event: JsonObject): Iterable<ModelEvent> {
    switch (event.type) {
      case 'message_start':
        return this.#start(isJsonObject(event.message) ? event.message : {});
      case 'content_block_start':
        return this.#open(asNumber(event.index), isJsonObject(event.content_block) ? event.content_block : {});
      case 'content_block_delta':
        return yield* this.#delta(asNumber(event.index), isJsonObject(event.delta) ? event.delta : {});
      case 'message_delta':
        return this.#end(isJsonObject(event.delta) ? event.delta : {}, isJsonObject(event.usage) ? event.usage : {});
      case 'error':
        throw this.#fault(isJsonObject(event.error) ? event.error : {});
      default:
        return;
    }
  }

  #start({ model, usage }: JsonObject): void {
    if (typeof model === 'string') this.#model = model;
    if (isJsonObject(usage)) this.#input = usage;
  }

  #open(index: number, { type, id, name }: JsonObject): void {
    if (type === 'tool_use') this.#calls.set(index, { id: String(id), name: String(name), text: '' });
  }

  *#delta(index: number, { type, text, thinking, signature, partial_json: partial }: JsonObject): Iterable<ModelEvent> {
    if (type === 'text_delta' && typeof text === 'string') {
      this.#text += text;
      yield { type: 'text', text };
    } else if (type === 'thinking_delta' && typeof thinking === 'string') {
      this.#thinking += thinking;
      yield { type: 'thought', text: thinking };
    } else if (type === 'signature_delta' && typeof signature === 'string') {
      this.#signature += signature;
    } else if (type === 'input_json_delta' && typeof partial === 'string') {
      const call = this.#calls.get(index);
      if (call === undefined) return;
      call.text += partial;
      yield { type: 'tool_arguments', id: call.id, name: call.name, partial: call.text };
    }
  }

  #end({ stop_reason: stop }: JsonObject, { output_tokens: output }: JsonObject): void {
    if (typeof stop === 'string') this.#stop = stop;
    this.#outputTokens = asNumber(output);
  }

  #fault({ type, message }: JsonObject): Error {
    const { provider, model } = this.#request;
    const category = type === 'overloaded_error' ? 'overloaded' : type === 'rate_limit_error' ? 'rate_limit' : 'server_error';
    return llmError({ category, message: String(message ?? 'the stream ended with an error'), provider, model });
  }

  build(): ModelAnswer {
    const calls = [...this.#calls].sort(([left], [right]) => left - right).map(([, call]) => call);
    const read = asNumber(this.#input.cache_read_input_tokens);
    const written = asNumber(this.#input.cache_creation_input_tokens);
    return {
      text: this.#text,
      toolCalls: calls.map(({ id, name, text }) => ({ id, name, arguments: parseArguments(text) })),
      thinking: this.#thinking === '' ? undefined : this.#thinking,
      thinkingSummary: undefined,
      thinkingSignature: this.#signature === '' ? undefined : this.#signature,
      stopReason: this.#stop,
      provider: this.#request.provider,
      model: this.#model,
      usage: {
        input_tokens: asNumber(this.#input.input_tokens) + read + written,
        output_tokens: this.#outputTokens,
        cache_read_tokens: read,
        cache_write_tokens: written,
      },
      blocks: undefined,
    };
  }
}
