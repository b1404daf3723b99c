import { isJsonObject, type JsonObject } from '../base/json.ts';
import { asNumber, type HttpWorld, overrides, pickOptions, readLines, send } from './http-provider.ts';
import { type Message, messageCalls, messageText, type ToolCall } from './message.ts';
import type { ModelAnswer, ModelRequest, Provider } from './provider.ts';

/** Ollama's chat (spec/agents.md 1.4): one JSON document a line, arguments as objects, results by tool name. */
export function createOllamaProvider(world: HttpWorld): Provider {
  return {
    async *stream(request, signal) {
      const host = (world.env('OLLAMA_BASE_URL') ?? world.env('OLLAMA_HOST') ?? 'http://localhost:11434').replace(/\/+$/, '');
      const url = `${host.includes('://') ? host : `http://${host}`}/api/chat`;
      const response = await send(world, { url, headers: {}, body: requestBody(request) }, request, signal);
      let text = '';
      let thinking = '';
      const calls: ToolCall[] = [];
      for await (const event of readLines(response, request, signal)) {
        const message = isJsonObject(event.message) ? event.message : {};
        if (typeof message.thinking === 'string' && message.thinking !== '') {
          thinking += message.thinking;
          yield { type: 'thought', text: message.thinking };
        }
        if (typeof message.content === 'string' && message.content !== '') {
          text += message.content;
          yield { type: 'text', text: message.content };
        }
        calls.push(...readCalls(message, calls.length));
        if (event.done === true) yield { type: 'finish', answer: answer(request, event, text, thinking, calls) };
      }
    },
  };
}

function requestBody(request: ModelRequest): JsonObject {
  const { model, system, messages, tools, options } = request;
  const settings = { ...pickOptions(options, ['temperature', 'top_p', 'top_k', 'seed', 'stop']), ...limit(options) };
  return {
    model,
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(wireMessage)],
    stream: true,
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
    ...overrides(request),
  };
}

function limit({ max_tokens: maxTokens }: JsonObject): JsonObject {
  return typeof maxTokens === 'number' ? { num_predict: maxTokens } : {};
}

function wireMessage(message: Message): JsonObject {
  const content = messageText(message);
  if (message.role === 'tool') return { role: 'tool', tool_name: message.name ?? '', content };
  const calls = messageCalls(message);
  const role = message.role === 'developer' ? 'system' : message.role;
  if (calls.length === 0) return { role, content };
  return { role, content, tool_calls: calls.map(({ name, arguments: args }) => ({ function: { name, arguments: args } })) };
}

/** Ollama gives no ids; they count over the answer. */
function readCalls({ tool_calls: calls }: JsonObject, before: number): ToolCall[] {
  return (Array.isArray(calls) ? calls : []).flatMap((call, index): ToolCall[] => {
    const fn = isJsonObject(call) && isJsonObject(call.function) ? call.function : undefined;
    if (fn === undefined) return [];
    return [{ id: `call_${before + index + 1}`, name: String(fn.name ?? ''), arguments: isJsonObject(fn.arguments) ? fn.arguments : {} }];
  });
}

function answer(request: ModelRequest, last: JsonObject, text: string, thinking: string, toolCalls: readonly ToolCall[]): ModelAnswer {
  const stop = toolCalls.length > 0 ? 'tool_use' : last.done_reason === 'length' ? 'max_tokens' : 'end_turn';
  return {
    text,
    toolCalls,
    thinking: thinking === '' ? undefined : thinking,
    thinkingSummary: undefined,
    stopReason: stop,
    provider: request.provider,
    model: typeof last.model === 'string' ? last.model : request.model,
    usage: {
      input_tokens: asNumber(last.prompt_eval_count),
      output_tokens: asNumber(last.eval_count),
      cache_read_tokens: 0,
      cache_write_tokens: 0,
    },
    blocks: undefined,
  };
}
