import type { JsonObject } from '../../base/json.ts';
import { firstCodePoints } from '../json-text.ts';
import { readStructured } from '../model-call/structured-output.ts';
import { type Message, toolMessage } from '../transcript/message.ts';
import { checkHealth, type Health } from './healthcheck.ts';
import type { HttpWorld } from './http-provider.ts';
import { llmErrorFacts } from './llm-errors.ts';
import type { ModelAnswer, ModelRequest, ToolSpec } from './provider.ts';
import { createRemoteProvider } from './remote-provider.ts';

/**
 * What a service really does of all that compatible servers may leave out (docs/providers.md): four short requests whose
 * answers tell. A model may also answer badly, so `no` means that it was not seen, not that it is impossible.
 */
export interface ProbeFinding {
  readonly what:
    | 'answers'
    | 'streams'
    | 'counts usage'
    | 'calls tools'
    | 'calls several tools at once'
    | 'reads results of tools'
    | 'keeps to a JSON Schema';
  readonly seen: boolean;
  /** What was seen instead, or what the service said. */
  readonly detail: string;
}

export interface ProbeReport {
  readonly provider: string;
  readonly model: string;
  readonly health: Health;
  /** Empty when the service cannot be asked at all. */
  readonly findings: readonly ProbeFinding[];
}

const MAX_TOKENS = 512;
const TIMEOUT_MS = 60_000;

const CITY: ToolSpec = {
  name: 'weather',
  description: 'The weather in one city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const SCHEMA: JsonObject = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };

/** Asks the service four times at most, with answers of at most 512 tokens. */
export async function probeEndpoint(
  world: HttpWorld,
  { provider, model }: { readonly provider: string; readonly model: string },
  signal: AbortSignal,
): Promise<ProbeReport> {
  const health = await checkHealth(world, { provider }, signal);
  const mayAsk = health.valid || health.status === 'bad_status';
  return { provider, model, health, findings: mayAsk ? await findings(new Probe(world, provider, model, signal)) : [] };
}

async function findings(probe: Probe): Promise<ProbeFinding[]> {
  const text = await probe.ask({ messages: [user('Write the numbers from one to twenty as words.')] });
  const answers: ProbeFinding = { what: 'answers', seen: text.answer !== undefined && text.answer.text !== '', detail: text.fault };
  if (text.answer === undefined) return [answers];
  const calls = await probe.ask({
    messages: [user('What is the weather in Rome and in Oslo? Call the tool for both cities at once.')],
    tools: [CITY],
  });
  const count = calls.answer?.toolCalls.length ?? 0;
  const round = await probe.ask({ messages: answeredCall(), tools: [CITY] });
  const shaped = await probe.ask({ messages: [user('What is 3 + 4?')], options: { schema: SCHEMA } });
  const isShaped = shaped.answer !== undefined && readStructured(shaped.answer.text, SCHEMA).kind === 'valid';
  const { output_tokens: outputTokens } = text.answer.usage;
  return [
    answers,
    { what: 'streams', seen: text.pieces > 1, detail: `${text.pieces} piece${text.pieces === 1 ? '' : 's'}` },
    { what: 'counts usage', seen: outputTokens > 0, detail: `${outputTokens} output tokens` },
    { what: 'calls tools', seen: count > 0, detail: calls.fault || `${count} call${count === 1 ? '' : 's'}` },
    { what: 'calls several tools at once', seen: count > 1, detail: `${count} call${count === 1 ? '' : 's'} in one answer` },
    { what: 'reads results of tools', seen: /21/.test(round.answer?.text ?? ''), detail: round.fault || cut(round.answer?.text ?? '') },
    { what: 'keeps to a JSON Schema', seen: isShaped, detail: shaped.fault || cut(shaped.answer?.text ?? '') },
  ];
}

function user(content: string): Message {
  return { role: 'user', content };
}

/** A call that was answered before: will the model use what stands there? */
function answeredCall(): Message[] {
  const call = { id: 'call_1', name: CITY.name, arguments: { city: 'Rome' } };
  return [
    user('How warm is it in Rome? Answer with the number.'),
    { role: 'assistant', content: '', tool_calls: [call] },
    toolMessage(call, '21 degrees'),
  ];
}

function cut(text: string): string {
  return text.length > 60 ? `${firstCodePoints(text, 60)}…` : text;
}

interface Asked {
  readonly answer: ModelAnswer | undefined;
  readonly pieces: number;
  readonly fault: string;
}

class Probe {
  readonly #world: HttpWorld;
  readonly #provider: string;
  readonly #model: string;
  readonly #signal: AbortSignal;

  constructor(world: HttpWorld, provider: string, model: string, signal: AbortSignal) {
    this.#world = world;
    this.#provider = provider;
    this.#model = model;
    this.#signal = signal;
  }

  async ask(change: Pick<ModelRequest, 'messages'> & Partial<ModelRequest>): Promise<Asked> {
    const bound = new AbortController();
    const cancel = this.#world.clock.timer(TIMEOUT_MS, () => bound.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)), 'unref');
    let pieces = 0;
    try {
      const request: ModelRequest = {
        provider: this.#provider,
        model: this.#model,
        system: undefined,
        tools: [],
        toolChoice: 'auto',
        ...change,
        options: { ...change.options, max_tokens: MAX_TOKENS },
      };
      const signal = AbortSignal.any([this.#signal, bound.signal]);
      for await (const event of createRemoteProvider(this.#world, this.#provider).stream(request, signal)) {
        if (event.type === 'text') pieces++;
        if (event.type === 'finish') return { answer: event.answer, pieces, fault: '' };
      }
      return { answer: undefined, pieces, fault: 'the stream ended before the answer did' };
    } catch (error) {
      this.#signal.throwIfAborted();
      const facts = llmErrorFacts(error);
      return { answer: undefined, pieces, fault: facts?.message ?? (error instanceof Error ? error.message : String(error)) };
    } finally {
      cancel();
      bound.abort(new Error('the probe is over'));
    }
  }
}
