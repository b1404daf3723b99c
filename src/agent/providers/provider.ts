import type { JsonObject } from '../../base/json.ts';
import type { Message, ToolCall } from '../transcript/message.ts';

/** What a model is asked (spec/agents.md chapter 1), the same for every service. */
export interface ModelRequest {
  readonly provider: string;
  readonly model: string;
  readonly system: string | undefined;
  /** Persisted messages first, byte for byte those of the previous request; what is for this call only comes last (3.10). */
  readonly messages: readonly Message[];
  /** Native tools; empty under the text grammar. */
  readonly tools: readonly ToolSpec[];
  /** The service itself searches among the tools that are deferred. */
  readonly toolSearch?: NativeToolSearch | undefined;
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  /** The text around the place to be filled in, of `llm_completion`. */
  readonly completion?: { readonly before: string; readonly after: string | undefined } | undefined;
  /** Keys of 1.2 as given: temperature, max_tokens, thinking, output_format, … */
  readonly options: JsonObject;
  /** How long the caller waits for the whole answer; the transport bears silence for as long. */
  readonly timeoutMs?: number | undefined;
}

/** How a tool is shown to a model. */
export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type object. */
  readonly parameters: JsonObject;
  readonly annotations?: JsonObject | undefined;
  /** Shown to the model only after a search (tool-search.ts). */
  readonly deferLoading?: boolean | undefined;
  /** Groups deferred tools for services that search. */
  readonly namespace?: string | undefined;
};

export interface NativeToolSearch {
  readonly style: 'openai' | 'anthropic';
  readonly variant: 'bm25' | 'regex';
}

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  /** Arguments of a native call: the piece of text that arrived, and all of it so far. */
  | { readonly type: 'tool_arguments'; readonly id: string; readonly name: string; readonly piece: string; readonly partial: string }
  /** Always the last one: a stream that ends without it is a transport error, not an answer. */
  | { readonly type: 'finish'; readonly answer: ModelAnswer };

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly thinking: string | undefined;
  readonly thinkingSummary: string | undefined;
  /** What the service wants back as it was, in its order, with the text around it; undefined when that is the text alone. */
  readonly carried?: readonly CarriedPart[] | undefined;
  /** `end_turn`, `max_tokens`, `tool_use`, `stop_sequence`. */
  readonly stopReason: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** As the provider gave them; undefined lets llm-result build them. */
  readonly blocks: readonly JsonObject[] | undefined;
}

export type CarriedPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'reasoning';
      readonly text: string;
      readonly signature: string;
      /** What stands for reasoning that the service does not show. */
      readonly redacted?: string | undefined;
    }
  /** A tool that the service ran itself, or what came of it. */
  | { readonly type: 'service'; readonly block: JsonObject };

export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
};

/** An adapter to one model service. It owns neither retries nor history. */
export interface Provider {
  /**
   * @param signal stops the request; iteration then rejects with `signal.reason`
   * @throws HarnError `llm` (see llm-errors.ts) for every fault of the service or the transport
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
