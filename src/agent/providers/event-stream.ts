import { createParser } from 'eventsource-parser';
import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import { type Exchange, networkError } from './http-provider.ts';
import { llmError } from './llm-errors.ts';

/**
 * Reading answers as they arrive: server-sent events and lines of JSON. A stream that falls silent is given up after
 * `idle_timeout` seconds; the wait for its first byte belongs to the timeout of the whole request, because a model may
 * think for as long as that allows.
 */
const DEFAULT_IDLE_MS = 60_000;

/** How long the end of a body is awaited once the answer is complete: a connection that ended can be used again. */
const END_GRACE_MS = 100;

/** The `data` of each server-sent event, as JSON; `[DONE]`, or whatever `isLast` says, ends the stream. */
export async function* readEvents(exchange: Exchange, isLast: (event: JsonObject) => boolean = () => false): AsyncIterable<JsonObject> {
  const ready: string[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event.data) });
  const decoder = new TextDecoder();
  const chunks = readChunks(exchange);
  for await (const chunk of chunks.untilIdle()) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const data of ready.splice(0)) {
      if (data === '[DONE]') return await chunks.finish();
      const event = parseEvent(data, exchange);
      yield event;
      if (isLast(event)) return await chunks.finish();
    }
  }
  // The blank line after the last event is left out by some servers.
  parser.feed('\n\n');
  for (const data of ready.splice(0)) if (data !== '[DONE]') yield parseEvent(data, exchange);
}

/** One JSON document a line, until one `isLast`. */
export async function* readLines(exchange: Exchange, isLast: (event: JsonObject) => boolean): AsyncIterable<JsonObject> {
  const decoder = new TextDecoder();
  let rest = '';
  const chunks = readChunks(exchange);
  for await (const chunk of chunks.untilIdle()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const event = parseEvent(line, exchange);
      yield event;
      if (isLast(event)) return await chunks.finish();
    }
  }
  if (rest.trim() !== '') yield parseEvent(rest, exchange);
}

/** The whole body as one JSON document. */
export async function readDocument(exchange: Exchange): Promise<JsonObject> {
  const { response, request, signal } = exchange;
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw networkError(error, 'broke off its answer', request, signal);
  }
  const json = parseJsonObject(text);
  if (json !== undefined) return json;
  const { provider, model } = request;
  const message = `${provider} answered ${response.status} with ${text.trim() === '' ? 'nothing' : 'what is no JSON object'}`;
  throw llmError({ category: 'transient_network', message, provider, model });
}

/** A document of something else than a model: most likely the address is wrong. */
export function notAnAnswer({ request: { provider, model }, call }: Exchange): Error {
  const message = `${provider} answered with JSON that is no model's answer: check the base URL (${new URL(call.url).origin})`;
  return llmError({ category: 'generic', reason: 'invalid_request', message, provider, model });
}

/** What the body is, by its content type: servers exist that ignore `stream`. */
export function bodyKind({ response, request, call }: Exchange): 'events' | 'document' {
  const type = response.headers['content-type'] ?? '';
  if (/^text\/event-stream/i.test(type) || type === '') return 'events';
  if (/json/i.test(type)) return 'document';
  const { provider, model } = request;
  throw llmError({
    category: 'generic',
    reason: 'invalid_request',
    message: `${provider} answered with ${type}, not with a model's answer: check the base URL (${new URL(call.url).origin})`,
    provider,
    model,
  });
}

interface Chunks {
  untilIdle(): AsyncIterable<Uint8Array>;
  /** Reads on to the end of the body, but not for long. */
  finish(): Promise<void>;
}

function readChunks({ response, request, world, signal }: Exchange): Chunks {
  const body = response.stream()[Symbol.asyncIterator]();
  const { idle_timeout: seconds } = request.options;
  const idleMs = typeof seconds === 'number' ? seconds * 1000 : DEFAULT_IDLE_MS;
  const nextWithin = (limitMs: number, onLate: () => unknown): Promise<IteratorResult<Uint8Array>> =>
    new Promise((resolve, reject) => {
      const cancel = world.clock.timer(limitMs, () => reject(onLate()), 'unref');
      body
        .next()
        .then(resolve, (error) => reject(networkError(error, 'broke off its answer', request, signal)))
        .finally(cancel);
    });
  const idle = (): Error =>
    llmError({
      category: 'timeout',
      message: `${request.provider} sent nothing for ${idleMs} ms in the middle of its answer`,
      provider: request.provider,
      model: request.model,
    });
  const cancelBody = (): void => {
    // An iterator that waits for its next piece cannot return before it; the abort of the attempt frees it.
    body.return?.()?.then(undefined, () => undefined);
  };
  return {
    async *untilIdle() {
      let isComplete = false;
      try {
        for (let count = 0; ; count++) {
          const { done, value } = await (count === 0
            ? body.next().catch((error: unknown) => Promise.reject(networkError(error, 'broke off its answer', request, signal)))
            : nextWithin(idleMs, idle));
          isComplete = done === true;
          if (done === true) return;
          yield value;
        }
      } finally {
        if (!isComplete) cancelBody();
      }
    },
    async finish() {
      try {
        while ((await nextWithin(END_GRACE_MS, () => undefined)).done !== true);
      } catch {
        // The answer is there; how the connection ends is of no interest.
      }
    },
  };
}

function parseEvent(data: string, { request: { provider, model } }: Exchange): JsonObject {
  const json = parseJsonObject(data);
  if (json !== undefined) return json;
  throw llmError({
    category: 'transient_network',
    message: `${provider} sent a piece of its answer that is no JSON object`,
    provider,
    model,
  });
}
