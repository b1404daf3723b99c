import { type Json, type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { CarriedPart, ModelAnswer, ModelEvent, ModelRequest, Usage } from './provider.ts';

interface ReasoningPart {
  readonly type: 'reasoning';
  text: string;
  signature: string;
  readonly redacted?: string;
}

interface TextPart {
  readonly type: 'text';
  text: string;
}

interface CallPart {
  id: string;
  name: string;
  /** Arguments as they arrived. */
  text: string;
}

/** Puts an answer together from the pieces of a stream, whichever protocol they came by. */
export class AnswerParts {
  readonly #request: ModelRequest;
  readonly #calls: CallPart[] = [];
  #text = '';
  #thinking = '';
  readonly #carried: (ReasoningPart | TextPart | Extract<CarriedPart, { type: 'service' }>)[] = [];
  model: string;
  /** In the words of 1.3; undefined while the service has not said why it stopped: the stream is not at its end. */
  stopReason: string | undefined;

  constructor(request: ModelRequest) {
    this.#request = request;
    this.model = request.model;
  }

  get isFinished(): boolean {
    return this.stopReason !== undefined;
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** True when nothing was delivered at all. */
  get isEmpty(): boolean {
    return this.#text === '' && this.#thinking === '' && this.#calls.length === 0;
  }

  *text(text: Json | undefined): Iterable<ModelEvent> {
    if (typeof text !== 'string' || text === '') return;
    this.#text += text;
    const last = this.#carried.at(-1);
    if (last?.type === 'text') last.text += text;
    else this.#carried.push({ type: 'text', text });
    yield { type: 'text', text };
  }

  *thought(text: Json | undefined): Iterable<ModelEvent> {
    if (typeof text !== 'string' || text === '') return;
    this.#thinking += text;
    yield { type: 'thought', text };
  }

  /** Begins a piece of reasoning that will be signed. @param redacted what stands for one that is not shown */
  openReasoning(redacted?: string): ReasoningPart {
    const opened: ReasoningPart = { type: 'reasoning', text: '', signature: '', ...(redacted === undefined ? {} : { redacted }) };
    this.#carried.push(opened);
    return opened;
  }

  get #reasoning(): ReasoningPart {
    const last = this.#carried.at(-1);
    return last?.type === 'reasoning' ? last : this.openReasoning();
  }

  *signedThought(text: Json | undefined): Iterable<ModelEvent> {
    if (typeof text === 'string') this.#reasoning.text += text;
    yield* this.thought(text);
  }

  sign(signature: Json | undefined): void {
    if (typeof signature === 'string') this.#reasoning.signature += signature;
  }

  /** A tool that the service ran itself, or its result. */
  service(block: JsonObject): void {
    this.#carried.push({ type: 'service', block });
  }

  /** Begins a call. No two calls of an answer have one id: each result has to find its own (3.9). */
  openCall(id: string, name: string): CallPart {
    const call = { id: this.#freeId(id === '' ? `call_${this.#calls.length + 1}` : id), name, text: '' };
    this.#calls.push(call);
    return call;
  }

  #freeId(wanted: string): string {
    const isTaken = (id: string): boolean => this.#calls.some((call) => call.id === id);
    let id = wanted;
    for (let count = 2; isTaken(id); count++) id = `${wanted}_${count}`;
    return id;
  }

  *callArguments(call: CallPart, piece: string): Iterable<ModelEvent> {
    call.text += piece;
    yield { type: 'tool_arguments', id: call.id, name: call.name, piece, partial: call.text };
  }

  /** Text stands among it in its place: a service compares what it gets back with what it said, in its order. */
  #wantedBack(): ModelAnswer['carried'] {
    const wanted = this.#carried.filter((part) => part.type !== 'reasoning' || part.signature !== '' || part.redacted !== undefined);
    return wanted.every(({ type }) => type === 'text') ? undefined : wanted;
  }

  build(usage: Usage): ModelAnswer {
    return {
      text: this.#text,
      toolCalls: this.#calls.map(({ id, name, text }) => ({ id, name, arguments: parseArguments(text) })),
      thinking: this.#thinking === '' ? undefined : this.#thinking,
      thinkingSummary: undefined,
      carried: this.#wantedBack(),
      // Servers exist that say `stop` after a call.
      stopReason: this.stopReason === 'end_turn' && this.#calls.length > 0 ? 'tool_use' : this.stopReason,
      provider: this.#request.provider,
      model: this.model,
      usage,
      blocks: undefined,
    };
  }
}

export type { CallPart };

/** Key under which arguments travel that could not be read; the dispatcher answers such a call with an error. */
export const UNPARSED = '_unparsed';

/** Arguments of a call as they arrived; a model that wrote broken JSON gets its call back as an error of the tool. */
export function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {};
  return parseJsonObject(text) ?? { [UNPARSED]: text };
}
