import { assertNever } from '../../base/assert-never.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { formatInstruction } from '../model-call/structured-output.ts';
import { type Block, isForeignBlock, type Message, messageCalls, messageText } from '../transcript/message.ts';
import { AnswerParts } from './answer-parts.ts';
import { AnswerReader, NO_USAGE, SERVICE_CALL, sumUsage } from './anthropic-answer.ts';
import { type Capabilities, capabilitiesOf } from './capabilities.ts';
import { endpointOf } from './endpoint.ts';
import { bodyKind, readDocument, readEvents } from './event-stream.ts';
import { asNumber, DEFAULT_MAX_TOKENS, type HttpWorld, overrides, pickOptions, send, thinkingWish, wantsStream } from './http-provider.ts';
import { maxOutputTokens } from './model-catalog.ts';
import type { ModelRequest, Provider } from './provider.ts';
import type { ServiceFacts } from './provider-catalog.ts';

/** Anthropic messages (spec/agents.md 1.4): results are blocks of a user message, roles alternate. */
const VERSION = '2023-06-01';

/** How often one answer may pause before what there is of it counts. */
const MOST_PAUSES = 10;

export function createAnthropicProvider(world: HttpWorld, service: ServiceFacts): Provider {
  return {
    async *stream(request, signal) {
      const { baseUrl, key } = endpointOf(world, service, request);
      const call = {
        url: baseUrl.endsWith('/v1') ? `${baseUrl}/messages` : `${baseUrl}/v1/messages`,
        headers: { ...(key === undefined ? {} : { 'x-api-key': key }), 'anthropic-version': VERSION },
        secret: key,
      };
      const parts = new AnswerParts(request);
      const capabilities = capabilitiesOf(request.provider, request.model, world.settings.capabilities);
      let body = requestBody(request, capabilities, wantsStream(world, request));
      let usage = NO_USAGE;
      for (let pauses = 0; ; pauses++) {
        const exchange = await send(world, { ...call, body }, request, signal);
        const answer = new AnswerReader(exchange, parts);
        if (bodyKind(exchange) === 'events') {
          for await (const event of readEvents(exchange, isStop)) yield* answer.take(event);
        } else yield* answer.takeMessage(await readDocument(exchange));
        if (!parts.isFinished) return;
        usage = sumUsage(usage, answer.close());
        if (parts.stopReason !== PAUSED || pauses === MOST_PAUSES) break;
        body = { ...body, messages: continued(body.messages, answer.content) };
        parts.stopReason = undefined;
      }
      yield { type: 'finish', answer: parts.build(usage) };
    },
  };
}

/**
 * The service stopped in the middle of an answer in which it runs tools itself: it goes on once it gets what it has said so
 * far, word for word.
 */
const PAUSED = 'pause_turn';

function continued(messages: Json | undefined, content: readonly Json[]): Json[] {
  const sent = Array.isArray(messages) ? messages : [];
  const last = sent.at(-1);
  if (!isJsonObject(last) || last.role !== 'assistant' || !Array.isArray(last.content)) return [...sent, { role: 'assistant', content }];
  return [...sent.slice(0, -1), { ...last, content: [...last.content, ...content] }];
}

function isStop({ type }: JsonObject): boolean {
  return type === 'message_stop';
}

function requestBody(request: ModelRequest, capabilities: Capabilities, isStream: boolean): JsonObject {
  const { model, tools, toolChoice, options } = request;
  const thinking = wireThinking(options, capabilities);
  const { instructions, messages } = splitInstructions(request.messages);
  const system = [request.system ?? '', ...instructions, formatInstruction(options)].filter((part) => part !== '').join('\n\n');
  const wire = wireMessages(messages, request);
  const cached = options.cache === true ? CACHED : {};
  return {
    model,
    max_tokens: maxTokens(model, options, thinking),
    stream: isStream,
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...cached }] }),
    messages: options.cache === true ? withCacheMark(wire) : wire,
    ...(tools.length === 0
      ? {}
      : {
          tools: wireTools(request),
          tool_choice: wireChoice(toolChoice),
        }),
    ...pickOptions(options, ['temperature', 'top_p', 'top_k']),
    ...(options.stop === undefined || options.stop === null ? {} : { stop_sequences: options.stop }),
    ...(thinking === undefined ? {} : { thinking }),
    ...wireEffort(options, thinking),
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

/** Later models decide themselves how long they think, and refuse a budget. */
function wireThinking(options: JsonObject, { thinking_modes: modes }: Capabilities): JsonObject | undefined {
  const wish = thinkingWish(options);
  if (wish === undefined || wish.mode === 'disabled') return undefined;
  if (wish.mode === 'adaptive' || (modes.includes('adaptive') && !modes.includes('enabled'))) return { type: 'adaptive' };
  return { type: 'enabled', budget_tokens: wish.budget ?? EFFORT_TOKENS[String(wish.level)] ?? DEFAULT_THINKING_TOKENS };
}

/** What is an effort there, and a budget for the models before. */
function wireEffort(options: JsonObject, thinking: JsonObject | undefined): JsonObject {
  const level = thinkingWish(options)?.level;
  return thinking?.type === 'adaptive' && level !== undefined ? { output_config: { effort: level } } : {};
}

/**
 * This service has no message of the system's own. What a conversation begins with is system text; a later one stays where
 * it is, as text of the user, because moving it would change the beginning of every request.
 */
function splitInstructions(messages: readonly Message[]): {
  readonly instructions: readonly string[];
  readonly messages: readonly Message[];
} {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const count = first < 0 ? messages.length : first;
  return { instructions: messages.slice(0, count).map(messageText), messages: messages.slice(count) };
}

type WireMessage = { readonly role: string; readonly content: readonly Json[] };

/** Neighbours of one role become one message: the API wants them to alternate, and a result may be followed by user text. */
function wireMessages(messages: readonly Message[], request: ModelRequest): WireMessage[] {
  const merged: { role: string; content: Json[] }[] = [];
  const ids = new WireIds();
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = merged.at(-1);
    const content = wireContent(message, request, ids);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) merged.push({ role, content });
  }
  return merged;
}

function wireContent(message: Message, request: ModelRequest, ids: WireIds): Json[] {
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: ids.ofResult(message.tool_call_id ?? ''), content: messageText(message) }];
  const blocks =
    typeof message.content === 'string'
      ? textBlocks(message.content)
      : sendableBlocks(message.content, request).flatMap((block) => wireBlock(block, ids));
  const calls = messageCalls(message).map(
    ({ id, name, arguments: input }): Json => ({ type: 'tool_use', id: ids.ofCall(id), name, input }),
  );
  return [...blocks, ...calls];
}

/**
 * Ids of calls as this service takes them. A conversation may have begun with one that gives other characters, or the same
 * ids in every turn; here no two calls of a request may share one. The same messages always get the same ids.
 */
class WireIds {
  readonly #used = new Set<string>();
  /** By the id in the history, of its latest call. */
  readonly #latest = new Map<string, string>();

  ofCall(id: string): string {
    const clean = cleanId(id);
    let wire = clean;
    for (let count = 2; this.#used.has(wire); count++) wire = `${clean}_${count}`;
    this.#used.add(wire);
    this.#latest.set(id, wire);
    return wire;
  }

  ofResult(id: string): string {
    return this.#latest.get(id) ?? cleanId(id);
  }
}

function cleanId(id: string): string {
  return id === '' ? 'call' : id.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
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

function wireBlock(block: Block, ids: WireIds): Json[] {
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
    case 'tool_use':
      return [{ ...block, id: ids.ofCall(block.id) }];
    case 'tool_result':
      return [{ ...block, tool_use_id: ids.ofResult(block.tool_use_id) }];
    default:
      return assertNever(block);
  }
}
