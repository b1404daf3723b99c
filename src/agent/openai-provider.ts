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
import { type Block, type Message, messageCalls, messageText } from './message.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider } from './provider.ts';

/** OpenAI chat completions and everything that speaks them (spec/agents.md 1.4): OpenRouter, local servers, Gemini. */
export interface OpenAiService {
  readonly defaultBaseUrl: string;
  /** Environment variable of the key; undefined sends none. */
  readonly keyVariable: string | undefined;
  readonly isKeyOptional: boolean;
}

export const OPENAI_SERVICES: Readonly<Record<string, OpenAiService>> = {
  openai: { defaultBaseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY', isKeyOptional: false },
  openrouter: { defaultBaseUrl: 'https://openrouter.ai/api/v1', keyVariable: 'OPENROUTER_API_KEY', isKeyOptional: false },
  gemini: {
    defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    isKeyOptional: false,
  },
  local: { defaultBaseUrl: 'http://localhost:8000', keyVariable: 'LOCAL_LLM_API_KEY', isKeyOptional: true },
};

export function createOpenAiProvider(world: HttpWorld, name: string, service: OpenAiService): Provider {
  return {
    async *stream(request, signal) {
      const call = {
        url: `${serviceUrl(world, name, service)}/chat/completions`,
        headers: keyHeader(world, service, request),
        body: requestBody(request),
      };
      const response = await send(world, call, request, signal);
      const answer = new AnswerBuilder(request);
      for await (const event of readEvents(response, request, signal)) yield* answer.take(event);
      if (answer.isFinished) yield { type: 'finish', answer: answer.build() };
    },
  };
}

/** The local server has a variable of its own, without the `/v1` that its paths have. */
function serviceUrl(world: HttpWorld, name: string, service: OpenAiService): string {
  if (name !== 'local') return baseUrl(world, name, service.defaultBaseUrl);
  return `${(world.env('LOCAL_LLM_BASE_URL') ?? service.defaultBaseUrl).replace(/\/+$/, '')}/v1`;
}

function keyHeader(world: HttpWorld, { keyVariable, isKeyOptional }: OpenAiService, request: ModelRequest): Record<string, string> {
  if (keyVariable === undefined) return {};
  const key = isKeyOptional ? world.env(keyVariable) : requireKey(world, keyVariable, request);
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

const SAME_NAME = ['temperature', 'top_p', 'stop', 'seed', 'frequency_penalty', 'presence_penalty'];

function requestBody(request: ModelRequest): JsonObject {
  const { model, system, messages, tools, toolChoice, options } = request;
  const limit = options.max_tokens ?? DEFAULT_MAX_TOKENS;
  return {
    model,
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(wireMessage)],
    stream: true,
    stream_options: { include_usage: true },
    ...(/^(o\d|gpt-5)/.test(model) ? { max_completion_tokens: limit } : { max_tokens: limit }),
    ...pickOptions(options, SAME_NAME),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', function: tool })), tool_choice: wireChoice(toolChoice) }),
    ...wireFormat(options),
    ...wireThinking(options.thinking),
    ...overrides(request),
  };
}

function wireChoice(choice: ModelRequest['toolChoice']): Json {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

function wireFormat({
  output_format: format,
  response_format: legacy,
  schema,
  json_schema: jsonSchema,
  output_schema: outputSchema,
}: JsonObject): JsonObject {
  const wanted = [schema, jsonSchema, outputSchema, isJsonObject(format) ? format.schema : undefined].find(isJsonObject);
  const strict = isJsonObject(format) && format.strict === true;
  if (wanted !== undefined) return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: wanted, strict } } };
  const kind = isJsonObject(format) ? format.kind : format;
  return kind === 'json_object' || kind === 'json' || legacy === 'json' ? { response_format: { type: 'json_object' } } : {};
}

function wireThinking(thinking: Json | undefined): JsonObject {
  if (!isJsonObject(thinking) || thinking.mode !== 'effort' || typeof thinking.level !== 'string') return {};
  return { reasoning_effort: thinking.level };
}

function wireMessage(message: Message): JsonObject {
  const calls = messageCalls(message);
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.tool_call_id, content: messageText(message) };
  const content = typeof message.content === 'string' ? message.content : wireBlocks(message.content);
  if (calls.length === 0) return { role: message.role, content };
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role: message.role, content: content.length === 0 ? null : content, tool_calls: toolCalls };
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

const STOP_REASONS: Readonly<Record<string, string>> = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' };

/** Puts the deltas of one stream together. */
class AnswerBuilder {
  readonly #request: ModelRequest;
  readonly #calls = new Map<number, { id: string; name: string; text: string }>();
  #text = '';
  #thinking = '';
  #model: string;
  #stop: string | undefined;
  #usage: JsonObject = {};

  constructor(request: ModelRequest) {
    this.#request = request;
    this.#model = request.model;
  }

  /** A stream without a finish reason was cut off: it is no answer. */
  get isFinished(): boolean {
    return this.#stop !== undefined;
  }

  *take(event: JsonObject): Iterable<ModelEvent> {
    if (typeof event.model === 'string') this.#model = event.model;
    if (isJsonObject(event.usage)) this.#usage = event.usage;
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    if (typeof choice.finish_reason === 'string') this.#stop = choice.finish_reason;
    if (isJsonObject(choice.delta)) yield* this.#delta(choice.delta);
  }

  *#delta(delta: JsonObject): Iterable<ModelEvent> {
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === 'string' && thought !== '') {
      this.#thinking += thought;
      yield { type: 'thought', text: thought };
    }
    if (typeof delta.content === 'string' && delta.content !== '') {
      this.#text += delta.content;
      yield { type: 'text', text: delta.content };
    }
    for (const part of Array.isArray(delta.tool_calls) ? delta.tool_calls : []) if (isJsonObject(part)) yield* this.#call(part);
  }

  *#call(part: JsonObject): Iterable<ModelEvent> {
    const index = asNumber(part.index);
    const call = this.#calls.get(index) ?? { id: '', name: '', text: '' };
    const fn = isJsonObject(part.function) ? part.function : {};
    if (typeof part.id === 'string') call.id = part.id;
    if (typeof fn.name === 'string') call.name += fn.name;
    if (typeof fn.arguments === 'string') call.text += fn.arguments;
    this.#calls.set(index, call);
    yield { type: 'tool_arguments', id: call.id, name: call.name, partial: call.text };
  }

  build(): ModelAnswer {
    const details = isJsonObject(this.#usage.prompt_tokens_details) ? this.#usage.prompt_tokens_details : {};
    const calls = [...this.#calls].sort(([left], [right]) => left - right).map(([, call]) => call);
    return {
      text: this.#text,
      toolCalls: calls.map(({ id, name, text }, index) => ({
        id: id === '' ? `call_${index + 1}` : id,
        name,
        arguments: parseArguments(text),
      })),
      thinking: this.#thinking === '' ? undefined : this.#thinking,
      thinkingSummary: undefined,
      stopReason: STOP_REASONS[this.#stop ?? ''] ?? this.#stop,
      provider: this.#request.provider,
      model: this.#model,
      usage: {
        input_tokens: asNumber(this.#usage.prompt_tokens),
        output_tokens: asNumber(this.#usage.completion_tokens),
        cache_read_tokens: asNumber(details.cached_tokens),
        cache_write_tokens: 0,
      },
      blocks: undefined,
    };
  }
}
