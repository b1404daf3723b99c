import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { matchesGlob } from '../glob.ts';
import { codePointLength, firstCodePoints } from '../json-text.ts';
import { openAiTools } from '../tools/tool-search.ts';
import { type Message, messageText, type ToolCall } from '../transcript/message.ts';
import { llmError, refusalReason } from './llm-errors.ts';
import { decodeMockEntry, type MockEntry } from './mock-entry.ts';
import type { ModelAnswer, ModelEvent, ModelRequest, Provider, ToolSpec } from './provider.ts';

/**
 * The scripted model (spec/agents.md 1.8). Besides the provider `mock` it answers for every provider while a
 * script or a replay file is there, so that a program is tested as it is written.
 */
export class MockProvider implements Provider {
  /** Entries of `--llm-mock`; undefined when no file was given. */
  #fileEntries: MockEntry[] | undefined;
  #scope: Scope = emptyScope();
  readonly #outer: Scope[] = [];
  /** Messages never change, and a long loop sends the same ones again and again. */
  readonly #lengths = new WeakMap<Message, number>();

  /** Replays these entries before any others; an unmatched call is then an error. */
  useFile(entries: readonly MockEntry[]): void {
    this.#fileEntries = [...entries];
  }

  /** @throws HarnError `plain` for an entry that cannot be */
  enqueue(value: unknown): void {
    const entry = decodeMockEntry(value);
    if (typeof entry === 'string') throw new HarnError('plain', `llm_mock: ${entry}`);
    this.#scope.queue.push(entry);
  }

  clear(): void {
    this.#scope = emptyScope();
  }

  pushScope(): void {
    this.#outer.push(this.#scope);
    this.#scope = emptyScope();
  }

  /** @throws HarnError `plain` when no scope is open */
  popScope(): void {
    const outer = this.#outer.pop();
    if (outer === undefined) throw new HarnError('plain', 'llm_mock_pop_scope: no scope to pop');
    this.#scope = outer;
  }

  /** `{messages, system, tools, thinking}` of each call, exactly as the model saw them. */
  calls(): readonly JsonObject[] {
    return this.#scope.log;
  }

  /** True when a call to `provider` must come here. */
  answersFor(provider: string): boolean {
    return provider === 'mock' || this.#fileEntries !== undefined || this.#scope.queue.length > 0;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    this.#scope.log.push(logEntry(request));
    const answer = this.#answer(request);
    if (answer.thinking !== undefined) yield { type: 'thought', text: answer.thinking };
    if (answer.text !== '') yield { type: 'text', text: answer.text };
    yield { type: 'finish', answer };
  }

  #answer(request: ModelRequest): ModelAnswer {
    const text = this.#matchText(request.messages);
    const entry = (this.#fileEntries === undefined ? undefined : take(this.#fileEntries, text)) ?? take(this.#scope.queue, text);
    if (entry !== undefined) return this.#scripted(entry, request, text);
    if (this.#fileEntries !== undefined) {
      throw new HarnError('plain', `No --llm-mock fixture matched prompt: "${firstCodePoints(text.whole(), 200)}"`);
    }
    return unscripted(request, text, this.#cacheUsage(request, text));
  }

  #scripted(entry: MockEntry, request: ModelRequest, text: PromptText): ModelAnswer {
    const provider = entry.provider ?? request.provider;
    const model = entry.model ?? request.model;
    if (entry.error !== undefined) {
      const { category, message, retryAfterMs } = entry.error;
      const reason = category === 'generic' ? refusalReason(message ?? '') : undefined;
      throw llmError({ category, message: message ?? `mock ${category} error`, provider, model, retryAfterMs, reason });
    }
    const toolCalls = entry.toolCalls.map(
      (call, index): ToolCall => ({ id: call.id ?? `mock_call_${index + 1}`, name: call.name, arguments: call.arguments }),
    );
    const cache = this.#cacheUsage(request, text);
    return {
      text: entry.text,
      toolCalls,
      thinking: entry.thinking,
      thinkingSummary: entry.thinkingSummary,
      stopReason: entry.stopReason ?? (toolCalls.length > 0 ? 'tool_use' : 'end_turn'),
      provider,
      model,
      usage: {
        input_tokens: entry.inputTokens ?? text.length,
        output_tokens: entry.outputTokens ?? 30,
        cache_read_tokens: entry.cacheReadTokens ?? cache.read,
        cache_write_tokens: entry.cacheWriteTokens ?? cache.write,
      },
      blocks: entry.blocks,
    };
  }

  #matchText(messages: readonly Message[]): PromptText {
    let count = 0;
    let length = 0;
    for (const message of messages) {
      const own = this.#lengthOf(message);
      if (own === 0) continue;
      length += own + (count === 0 ? 0 : 1);
      count += 1;
    }
    return { length, whole: () => messages.flatMap(messageStrings).join('\n') };
  }

  /** Of the strings of a message with a line break between two. */
  #lengthOf(message: Message): number {
    const known = this.#lengths.get(message);
    if (known !== undefined) return known;
    const strings = messageStrings(message);
    let length = Math.max(0, strings.length - 1);
    for (const text of strings) length += codePointLength(text);
    this.#lengths.set(message, length);
    return length;
  }

  /** A prompt cache as services have it: a prefix that was sent before is read, any other is written. */
  #cacheUsage(request: ModelRequest, text: PromptText): CacheUsage {
    if (request.options.cache !== true) return { read: 0, write: 0 };
    const key = JSON.stringify([request.provider, request.model, request.system ?? '', text.whole()]);
    const size = text.length;
    if (this.#scope.cachedPrompts.has(key)) return { read: size, write: 0 };
    this.#scope.cachedPrompts.add(key);
    return { read: 0, write: size };
  }
}

/** Text of all messages and its length in code points; put together only when something looks at it. */
interface PromptText {
  readonly length: number;
  whole(): string;
}

interface Scope {
  readonly queue: MockEntry[];
  readonly log: JsonObject[];
  readonly cachedPrompts: Set<string>;
}

interface CacheUsage {
  readonly read: number;
  readonly write: number;
}

function emptyScope(): Scope {
  return { queue: [], log: [], cachedPrompts: new Set() };
}

/** Ordered entries come first, whatever stands before them; only when none is left do the globs decide (1.8). */
function take(entries: MockEntry[], text: PromptText): MockEntry | undefined {
  const ordered = entries.findIndex((entry) => entry.match === undefined);
  if (ordered >= 0) return entries.splice(ordered, 1)[0];
  const matching = entries.findIndex((entry) => entry.match !== undefined && matchesGlob(entry.match, text.whole()));
  if (matching < 0) return undefined;
  const entry = entries[matching];
  if (entry?.consumeMatch === true) entries.splice(matching, 1);
  return entry;
}

/** Every string inside a message; the words that only give structure (`role`, `type`) are no text. */
function messageStrings(message: Message): string[] {
  const strings: string[] = [];
  const members = message as JsonObject; // a message is JSON
  for (const key in members) if (key !== 'role' && key !== 'type') collectStrings(members[key], strings);
  return strings;
}

function collectStrings(value: Json | undefined, into: string[]): void {
  if (typeof value === 'string') {
    if (value !== '') into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectStrings(item, into);
  } else if (isJsonObject(value)) {
    for (const key in value) if (key !== 'type') collectStrings(value[key], into);
  }
}

function logEntry(request: ModelRequest): JsonObject {
  const { thinking } = request.options;
  return {
    messages: request.messages,
    system: request.system ?? null,
    tools: request.tools.length === 0 ? null : openAiTools(request),
    thinking: thinking ?? null,
  };
}

/** Tools that the runtime adds itself. An unscripted loop would park itself if the first of them counted (13.6). */
const LIFECYCLE_TOOLS: ReadonlySet<string> = new Set(['agent_await_resumption', 'subagent_pause', 'subagent_resume']);

function unscripted(request: ModelRequest, text: PromptText, cache: CacheUsage): ModelAnswer {
  const tool = request.toolChoice === 'none' ? undefined : request.tools.find((candidate) => !LIFECYCLE_TOOLS.has(candidate.name));
  const answer = {
    thinking: undefined,
    thinkingSummary: undefined,
    provider: request.provider,
    model: request.model,
    blocks: undefined,
  };
  const usage = { input_tokens: text.length, cache_read_tokens: cache.read, cache_write_tokens: cache.write };
  if (tool !== undefined) {
    const call: ToolCall = { id: 'mock_call_1', name: tool.name, arguments: placeholderArguments(tool) };
    return { ...answer, text: '', toolCalls: [call], stopReason: 'tool_use', usage: { ...usage, output_tokens: 20 } };
  }
  const prose = request.completion === undefined ? unscriptedProse(request.messages) : unscriptedCompletion(request.completion);
  const isTextGrammar = request.system?.includes('<done>') === true;
  return {
    ...answer,
    text: isTextGrammar ? `<assistant_prose>${prose}</assistant_prose>\n<done>##DONE##</done>` : prose,
    toolCalls: [],
    stopReason: 'end_turn',
    usage: { ...usage, output_tokens: 30 },
  };
}

function unscriptedCompletion({ before, after }: NonNullable<ModelRequest['completion']>): string {
  const place = after === undefined ? '' : ` before ${codePointLength(after)} chars`;
  return `Mock completion after ${codePointLength(before)} chars${place}`;
}

function unscriptedProse(messages: readonly Message[]): string {
  const prompt = messages.map(messageText).findLast((text) => text !== '');
  if (prompt === undefined) return 'Mock LLM response';
  const words = prompt.split(/\s+/).filter((word) => word !== '').length;
  return `Mock response to ${words}-word prompt: ${firstCodePoints(prompt, 100)}`;
}

function placeholderArguments(tool: ToolSpec): JsonObject {
  const { properties, required } = tool.parameters;
  if (!Array.isArray(required) || !isJsonObject(properties)) return {};
  return Object.fromEntries(required.filter((name) => typeof name === 'string').map((name) => [name, placeholder(properties[name])]));
}

function placeholder(schema: Json | undefined): Json {
  switch (isJsonObject(schema) ? schema.type : undefined) {
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '';
  }
}
