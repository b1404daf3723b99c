import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { type AnswerParts, type CallPart, parseArguments } from './answer-parts.ts';
import { notAnAnswer } from './event-stream.ts';
import { asNumber, type Exchange } from './http-provider.ts';
import type { ModelEvent, Usage } from './provider.ts';
import { refusal, streamFault } from './service-fault.ts';

/** What the service runs itself; its result is a block of a type of its own, `…_tool_result`. */
export const SERVICE_CALL = 'server_tool_use';

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

/** Of an answer that came in several parts, each of which is paid for. */
export function sumUsage(left: Usage, right: Usage): Usage {
  return {
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cache_read_tokens: left.cache_read_tokens + right.cache_read_tokens,
    cache_write_tokens: left.cache_write_tokens + right.cache_write_tokens,
  };
}

/** A block while it arrives: as the service writes it, and its input as text until it is complete. */
interface OpenBlock {
  readonly block: { [key: string]: Json };
  readonly call: CallPart | undefined;
  input: string;
}

/** Reads the events of a stream, or one whole message, into the parts of an answer. */
export class AnswerReader {
  readonly #exchange: Exchange;
  readonly #parts: AnswerParts;
  readonly #blocks = new Map<number, OpenBlock>();
  #usage: JsonObject = {};

  constructor(exchange: Exchange, parts: AnswerParts) {
    this.#exchange = exchange;
    this.#parts = parts;
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
    if (!Array.isArray(message.content)) throw notAnAnswer(this.#exchange);
    this.#start(message);
    for (const [index, block] of (Array.isArray(message.content) ? message.content : []).entries()) {
      if (isJsonObject(block)) yield* this.#open(index, block);
    }
    this.#end(message, isJsonObject(message.usage) ? message.usage : {});
  }

  #start({ model, usage }: JsonObject): void {
    if (typeof model === 'string') this.#parts.model = model;
    if (isJsonObject(usage)) this.#usage = usage;
  }

  /** In a stream a block opens empty and its deltas fill it; in a message it is complete. */
  *#open(index: number, given: JsonObject): Iterable<ModelEvent> {
    const { type, id, name, text, thinking, signature, input, data } = given;
    const block = { ...given } as OpenBlock['block']; // from JSON: nothing in it is undefined
    const call = type === 'tool_use' ? this.#parts.openCall(String(id ?? ''), String(name ?? '')) : undefined;
    this.#blocks.set(index, { block, call, input: '' });
    if (type === 'text') yield* this.#parts.text(text);
    if (type === 'thinking') {
      this.#parts.openReasoning();
      yield* this.#parts.signedThought(thinking);
      this.#parts.sign(signature);
    }
    if (type === 'redacted_thinking' && typeof data === 'string') this.#parts.openReasoning(data);
    if (isServiceBlock(given)) this.#parts.service(block);
    if (call !== undefined && isJsonObject(input) && Object.keys(input).length > 0) {
      yield* this.#parts.callArguments(call, JSON.stringify(input));
    }
  }

  *#delta(index: number, { type, text, thinking, signature, partial_json: partial, citation }: JsonObject): Iterable<ModelEvent> {
    const open = this.#blocks.get(index);
    switch (type) {
      case 'text_delta':
        extend(open, 'text', text);
        return yield* this.#parts.text(text);
      case 'citations_delta':
        if (open !== undefined)
          open.block.citations = [...(Array.isArray(open.block.citations) ? open.block.citations : []), citation ?? null];
        return;
      case 'thinking_delta':
        extend(open, 'thinking', thinking);
        return yield* this.#parts.signedThought(thinking);
      case 'signature_delta':
        extend(open, 'signature', signature);
        return this.#parts.sign(signature);
      case 'input_json_delta':
        if (open === undefined || typeof partial !== 'string') return;
        open.input += partial;
        if (open.call !== undefined) yield* this.#parts.callArguments(open.call, partial);
        return;
      default:
        return;
    }
  }

  #end({ stop_reason: stop }: JsonObject, usage: JsonObject): void {
    // The last figures hold; what the last event leaves out was said in the first.
    const said = Object.entries(usage).filter(([, figure]) => figure !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(said) };
    if (stop === 'refusal') throw refusal(this.#exchange, 'the model refused to answer');
    if (stop === 'model_context_window_exceeded') this.#parts.stopReason = 'max_tokens';
    else if (typeof stop === 'string') this.#parts.stopReason = stop;
  }

  /** Ends the reading. @returns what the service counted */
  close(): Usage {
    for (const { block, input } of this.#blocks.values()) if (input !== '') block.input = parseArguments(input);
    const { input_tokens: input, output_tokens: output } = this.#usage;
    const read = asNumber(this.#usage.cache_read_input_tokens);
    const written = asNumber(this.#usage.cache_creation_input_tokens);
    return {
      input_tokens: asNumber(input) + read + written,
      output_tokens: asNumber(output),
      cache_read_tokens: read,
      cache_write_tokens: written,
    };
  }

  /** What the service said, in its own words; a text of nothing, which it does not take back, is left out. */
  get content(): readonly Json[] {
    return [...this.#blocks.values()].flatMap(({ block }) => (block.type === 'text' && block.text === '' ? [] : [block]));
  }
}

function extend(open: OpenBlock | undefined, key: 'text' | 'thinking' | 'signature', piece: Json | undefined): void {
  if (open !== undefined && typeof piece === 'string') open.block[key] = `${String(open.block[key] ?? '')}${piece}`;
}

function isServiceBlock({ type }: JsonObject): boolean {
  return type === SERVICE_CALL || (typeof type === 'string' && type.endsWith('_tool_result'));
}
