import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AnswerParts, type CallPart, parseArguments, UNPARSED } from './answer-parts.ts';
import type { Capabilities } from './capabilities.ts';
import { asNumber, type Exchange } from './http-provider.ts';
import type { ModelAnswer, ModelEvent } from './provider.ts';
import { refusal, serviceError, streamFault } from './service-fault.ts';

/** What Gemini adds to a call, the signature of the thought that led to it, and refuses to go on without. */
export const EXTRA_CONTENT = 'extra_content';

/** What OpenRouter and others give besides the text of reasoning (signatures, sealed parts), to be sent back unchanged. */
export const REASONING_DETAILS = 'reasoning_details';

/** Reasoning as DeepSeek and Moonshot want it back with the calls that it led to (`requires_reasoning_content`). */
export const REASONING_CONTENT = 'reasoning_content';

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};

/** Whether arguments are complete, so that what follows with a name of its own is another call. */
function isWhole(text: string): boolean {
  return text !== '' && !(UNPARSED in parseArguments(text));
}

/** Reads the deltas of a stream, or one whole message of the same shape. */
export class AnswerReader {
  readonly #exchange: Exchange;
  readonly #parts: AnswerParts;
  /** Calls by what the service tells them apart with, see `#find`. */
  readonly #calls = new Map<string, CallPart>();
  readonly #wantsReasoning: boolean;
  readonly #details: JsonObject[] = [];
  #reasoning = '';
  #refusal = '';
  #usage: JsonObject = {};

  constructor(exchange: Exchange, { requires_reasoning_content: wantsReasoning }: Pick<Capabilities, 'requires_reasoning_content'>) {
    this.#exchange = exchange;
    this.#wantsReasoning = wantsReasoning;
    this.#parts = new AnswerParts(exchange.request);
  }

  /** A stream without a finish reason was cut off: it is no answer. */
  get isFinished(): boolean {
    return this.#parts.isFinished;
  }

  *take(event: JsonObject): Iterable<ModelEvent> {
    if (event.error !== undefined && event.error !== null) throw streamFault(this.#exchange, event.error);
    if (event.object === 'error') throw streamFault(this.#exchange, event);
    if (typeof event.model === 'string' && event.model !== '') this.#parts.model = event.model;
    if (isJsonObject(event.usage)) this.#usage = event.usage;
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    const delta = choice.delta ?? choice.message;
    if (isJsonObject(delta)) yield* this.#delta(delta);
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#finish(choice.finish_reason);
  }

  *#delta(delta: JsonObject): Iterable<ModelEvent> {
    // One name each, with some servers; both with others, one of them empty.
    yield* this.#parts.thought(delta.reasoning_content || delta.reasoning);
    if (typeof delta.reasoning_content === 'string') this.#reasoning += delta.reasoning_content;
    for (const detail of Array.isArray(delta.reasoning_details) ? delta.reasoning_details : []) this.#detail(detail);
    for (const part of Array.isArray(delta.content) ? delta.content : [{ type: 'text', text: delta.content ?? null }])
      yield* this.#part(part);
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    for (const [position, part] of calls.entries()) if (isJsonObject(part)) yield* this.#call(part, position);
  }

  /** A piece goes on with the detail before it when both are texts of one kind and place; a signature comes with the last one. */
  #detail(piece: Json): void {
    if (!isJsonObject(piece)) return;
    const last = this.#details.at(-1);
    const key = piece.type === 'reasoning.text' ? 'text' : piece.type === 'reasoning.summary' ? 'summary' : undefined;
    if (key === undefined || last === undefined || last.type !== piece.type || last.index !== piece.index) {
      this.#details.push(piece);
      return;
    }
    const said = Object.entries(piece).filter(([, value]) => value !== null);
    this.#details[this.#details.length - 1] = { ...last, ...Object.fromEntries(said), [key]: `${asText(last[key])}${asText(piece[key])}` };
  }

  /** Content comes in parts from some services; reasoning is among them with Mistral's. */
  *#part(part: Json): Iterable<ModelEvent> {
    if (!isJsonObject(part)) return;
    if (part.type === 'text') yield* this.#parts.text(part.text);
    if (part.type === 'refusal' && typeof part.refusal === 'string') this.#refusal += part.refusal;
    if (part.type !== 'thinking') return;
    for (const piece of Array.isArray(part.thinking) ? part.thinking : []) {
      if (isJsonObject(piece)) yield* this.#parts.thought(piece.text);
    }
  }

  *#call(part: JsonObject, position: number): Iterable<ModelEvent> {
    const fn = isJsonObject(part.function) ? part.function : {};
    const name = typeof fn.name === 'string' ? fn.name : '';
    const call = this.#find(part, position, name);
    if (call.name === '') call.name = name;
    if (isJsonObject(part.extra_content)) {
      this.#parts.service({ type: EXTRA_CONTENT, tool_call_id: call.id, extra_content: part.extra_content });
    }
    const piece = isJsonObject(fn.arguments) ? JSON.stringify(fn.arguments) : fn.arguments;
    yield* this.#parts.callArguments(call, typeof piece === 'string' ? piece : '');
  }

  /**
   * The call that a piece belongs to. OpenAI gives every piece the index of its call and the first one an id. Servers exist
   * that repeat the id, count every call as 0, leave out the index, or both.
   */
  #find({ id, index }: JsonObject, position: number, name: string): CallPart {
    const place = String(typeof index === 'number' ? index : position);
    const given = typeof id === 'string' ? id : '';
    const key = `${place} ${given}`;
    const known = given === '' ? this.#calls.get(place) : this.#calls.get(key);
    const isNew = known === undefined || (given === '' && typeof index !== 'number' && name !== '' && isWhole(known.text));
    const call = isNew ? this.#parts.openCall(given, '') : known;
    this.#calls.set(key, call);
    // What comes without an id goes on with the latest call of its place.
    this.#calls.set(place, call);
    return call;
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
    if (this.#details.length > 0) this.#parts.service({ type: REASONING_DETAILS, reasoning_details: this.#details });
    if (this.#wantsReasoning && this.#parts.hasCalls && this.#reasoning !== '')
      this.#parts.service({ type: REASONING_CONTENT, reasoning_content: this.#reasoning });
    return this.#parts.build({
      input_tokens: asNumber(this.#usage.prompt_tokens),
      output_tokens: outputTokens,
      // DeepSeek has a name of its own for it.
      cache_read_tokens: asNumber(details.cached_tokens ?? this.#usage.prompt_cache_hit_tokens),
      cache_write_tokens: asNumber(details.cache_write_tokens),
    });
  }

  /** Seen of servers whose parser lost the answer: another try often helps. */
  #nothingDelivered(outputTokens: number): Error {
    const { provider } = this.#exchange.request;
    const message = `${provider} counted ${outputTokens} output tokens but delivered no content, reasoning, or tool calls`;
    return serviceError(this.#exchange, { category: 'server_error', message });
  }
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
