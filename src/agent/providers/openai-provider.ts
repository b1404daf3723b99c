import type { Json, JsonObject } from '../../base/json.ts';
import { formatInstruction, standardFormat } from '../model-call/structured-output.ts';
import { openAiTools } from '../tools/tool-search.ts';
import { type Block, isForeignBlock, type Message, messageCalls, messageText } from '../transcript/message.ts';
import { type Capabilities, capabilitiesOf } from './capabilities.ts';
import { endpointOf } from './endpoint.ts';
import { bodyKind, notAnAnswer, readDocument, readEvents } from './event-stream.ts';
import { DEFAULT_MAX_TOKENS, type HttpWorld, overrides, pickOptions, send, thinkingWish, wantsStream } from './http-provider.ts';
import { AnswerReader, EXTRA_CONTENT, REASONING_CONTENT, REASONING_DETAILS } from './openai-answer.ts';
import type { ModelRequest, Provider } from './provider.ts';
import type { ServiceFacts } from './provider-catalog.ts';

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
      const answer = new AnswerReader(exchange, capabilities);
      if (bodyKind(exchange) === 'events') {
        for await (const event of readEvents(exchange)) yield* answer.take(event);
      } else {
        const document = await readDocument(exchange);
        yield* answer.take(document);
        if (!Array.isArray(document.choices)) throw notAnAnswer(exchange);
      }
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
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.flatMap((message) => wireMessage(message, request)),
    ],
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
function wireThinking({ provider, options }: ModelRequest, capabilities: Capabilities): JsonObject {
  const wish = thinkingWish(options);
  if (wish === undefined) return {};
  const { mode, level, budget } = wish;
  if (provider === 'openrouter') {
    if (mode === 'disabled') return { reasoning: { enabled: false } };
    return { reasoning: level !== undefined ? { effort: level } : budget !== undefined ? { max_tokens: budget } : { enabled: true } };
  }
  if (mode === 'disabled') return {};
  if (level !== undefined) return { reasoning_effort: level };
  return capabilities.reasoning_effort_supported ? { reasoning_effort: 'medium' } : {};
}

function wireMessage(message: Message, request: ModelRequest): JsonObject[] {
  const calls = messageCalls(message);
  if (message.role === 'tool') return [{ role: 'tool', tool_call_id: message.tool_call_id, content: messageText(message) }];
  const content = typeof message.content === 'string' ? message.content : wireBlocks(message.role, message.content);
  const results = typeof message.content === 'string' ? [] : message.content.flatMap(wireResult);
  const service = serviceBlocks(message, request);
  if (calls.length === 0) return content.length === 0 ? results : [...results, { role: message.role, content, ...reasoning(service) }];
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
    ...extraContent(service, id),
  }));
  return [{ role: message.role, content: content.length === 0 ? null : content, ...reasoning(service), tool_calls: toolCalls }];
}

/** What this service, and this model of it, gave to be sent back. */
function serviceBlocks({ content }: Message, request: ModelRequest): readonly JsonObject[] {
  const blocks = typeof content === 'string' ? [] : content.filter((block) => !isForeignBlock(block, request));
  return blocks.flatMap((block) => (block.type === 'service' ? [block.block] : []));
}

function extraContent(service: readonly JsonObject[], id: string): JsonObject {
  const given = service.findLast((block) => block.type === EXTRA_CONTENT && block.tool_call_id === id);
  return given === undefined ? {} : { extra_content: given.extra_content };
}

/** Under the names under which it came. */
function reasoning(service: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(
    service.flatMap(({ type, ...given }) => (type === REASONING_DETAILS || type === REASONING_CONTENT ? Object.entries(given) : [])),
  );
}

/** Reasoning of other services means nothing here. Text alone is a string, because some servers take no list from an assistant. */
function wireBlocks(role: Message['role'], blocks: readonly Block[]): string | Json[] {
  const wire = blocks.flatMap((block): JsonObject[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'image') return [];
    const url = block.url ?? `data:${block.media_type};base64,${block.base64 ?? ''}`;
    return [{ type: 'image_url', image_url: { url, ...(block.detail === undefined ? {} : { detail: block.detail }) } }];
  });
  return role === 'assistant' && wire.every(({ type }) => type === 'text') ? wire.map(({ text }) => text).join('\n') : wire;
}

/** A result that a script wrote as a block is a message of its own here. */
function wireResult(block: Block): JsonObject[] {
  if (block.type !== 'tool_result') return [];
  const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
  return [{ role: 'tool', tool_call_id: block.tool_use_id, content }];
}
