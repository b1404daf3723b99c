import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { standardFormat } from '../model-call/structured-output.ts';
import { type Message, messageCalls, messageText } from '../transcript/message.ts';
import { AnswerParts } from './answer-parts.ts';
import { endpointOf } from './endpoint.ts';
import { readLines } from './event-stream.ts';
import { asNumber, type HttpWorld, overrides, pickOptions, send, thinkingWish, wantsStream } from './http-provider.ts';
import { llmError } from './llm-errors.ts';
import type { ModelEvent, ModelRequest, Provider, Usage } from './provider.ts';
import type { ServiceFacts } from './provider-catalog.ts';
import { streamFault } from './service-fault.ts';

/** Ollama's chat (spec/agents.md 1.4): one JSON document a line, arguments as objects, results by tool name. */
export function createOllamaProvider(world: HttpWorld, service: ServiceFacts): Provider {
  return {
    async *stream(request, signal) {
      const { baseUrl, key } = endpointOf(world, service, request);
      const call = {
        url: `${baseUrl}/api/chat`,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: requestBody(request, wantsStream(world, request)),
        secret: key,
      };
      const exchange = await send(world, call, request, signal);
      const parts = new AnswerParts(request);
      let usage: Usage = usageOf({});
      for await (const event of readLines(exchange, ({ done }) => done === true)) {
        if (event.error !== undefined && event.error !== null) throw streamFault(exchange, event.error);
        if (typeof event.model === 'string') parts.model = event.model;
        if (isJsonObject(event.message)) yield* takeMessage(parts, event.message);
        if (event.done !== true) continue;
        parts.stopReason = event.done_reason === 'length' ? 'max_tokens' : 'end_turn';
        usage = usageOf(event);
      }
      if (parts.isFinished) yield { type: 'finish', answer: parts.build(usage) };
    },
  };
}

function requestBody(request: ModelRequest, isStream: boolean): JsonObject {
  const { model, system, tools, toolChoice, options } = request;
  const settings = {
    ...pickOptions(options, ['temperature', 'top_p', 'top_k', 'seed', 'stop', 'frequency_penalty', 'presence_penalty']),
    ...limit(options),
  };
  const { options: rawSettings, ...raw } = overrides(request);
  const allSettings = isJsonObject(rawSettings) ? { ...settings, ...rawSettings } : settings;
  const { schema, isJson } = standardFormat(options);
  return {
    model,
    messages: [
      ...(system === undefined || system === '' ? [] : [{ role: 'system', content: system }]),
      ...request.messages.map((message) => wireMessage(message, request)),
    ],
    stream: isStream,
    // It knows no choice; without tools none can be called.
    ...(tools.length === 0 || toolChoice === 'none'
      ? {}
      : { tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })) }),
    ...(schema !== undefined ? { format: schema } : isJson ? { format: 'json' } : {}),
    ...wireThinking(options),
    ...(Object.keys(allSettings).length === 0 ? {} : { options: allSettings }),
    ...raw,
  };
}

function limit({ max_tokens: maxTokens }: JsonObject): JsonObject {
  return typeof maxTokens === 'number' ? { num_predict: maxTokens } : {};
}

function wireThinking(options: JsonObject): JsonObject {
  const wish = thinkingWish(options);
  return wish === undefined ? {} : { think: wish.mode === 'disabled' ? false : (wish.level ?? true) };
}

function wireMessage(message: Message, request: ModelRequest): JsonObject {
  const content = messageText(message);
  if (message.role === 'tool') return { role: 'tool', tool_name: message.name ?? '', content };
  const calls = messageCalls(message);
  const images = typeof message.content === 'string' ? [] : message.content.flatMap((block) => (block.type === 'image' ? [block] : []));
  return {
    role: message.role === 'developer' ? 'system' : message.role,
    content,
    ...(images.length === 0 ? {} : { images: images.map((image) => imageData(image.base64, request)) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ name, arguments: args }) => ({ function: { name, arguments: args } })) }),
  };
}

function imageData(base64: string | undefined, { provider, model }: ModelRequest): string {
  if (base64 !== undefined) return base64;
  const message = `${provider} takes images as base64 only, not by url`;
  throw llmError({ category: 'generic', reason: 'invalid_request', message, provider, model });
}

/** Calls come whole, from older versions without ids. */
function* takeMessage(parts: AnswerParts, { thinking, content, tool_calls: calls }: JsonObject): Iterable<ModelEvent> {
  yield* parts.thought(thinking);
  yield* parts.text(content);
  for (const call of Array.isArray(calls) ? calls : []) {
    if (!isJsonObject(call) || !isJsonObject(call.function)) continue;
    const { name, arguments: args } = call.function;
    const opened = parts.openCall(typeof call.id === 'string' ? call.id : '', String(name ?? ''));
    yield* parts.callArguments(opened, typeof args === 'string' ? args : JSON.stringify(args ?? {}));
  }
}

function usageOf({ prompt_eval_count: input, eval_count: output }: JsonObject): Usage {
  return { input_tokens: asNumber(input), output_tokens: asNumber(output), cache_read_tokens: 0, cache_write_tokens: 0 };
}
