import { Channel, CLOSED, pollChannels, type Selected, selectChannel } from '../../tasks/channel.ts';
import type { Context } from '../context.ts';
import { durationMs } from '../duration.ts';
import { typeError } from '../errors.ts';
import { andThen } from '../maybe-async.ts';
import { END, Handle, type Pulled, type Source, typeOf, type Value } from '../value.ts';

/** `channel(...)` (spec/language.md 10.3). Also what `for` and `iter` pull from: until closed and drained. */
export class ChannelHandle extends Handle implements Source {
  readonly typeName = 'channel';
  readonly name: string;
  readonly queue: Channel<Value>;
  #failure: { readonly error: unknown } | undefined;

  constructor(name: string, capacity: number) {
    super();
    this.name = name;
    this.queue = new Channel(capacity);
  }

  display(): string {
    return `<channel:${this.name}>`;
  }

  /** Ends the channel because its source failed: who has taken everything that is in it gets the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.queue.close();
  }

  pull(context: Context): Pulled | Promise<Pulled> {
    return andThen(this.queue.receive(context.signal), (value) => (value === CLOSED ? this.#end() : value));
  }

  #end(): typeof END {
    if (this.#failure !== undefined) throw this.#failure.error;
    return END;
  }
}

/**
 * What a `select` statement waits for: the first channel, in source order, that has a value.
 *
 * @param timeout value of the `timeout` clause; undefined when there is none
 * @returns `index` of the chosen case with its value; `index` -1 when the time is up, when nothing is ready and there is a
 *   `default`, or when all channels are closed
 */
export function selectCases(
  context: Context,
  channels: readonly Value[],
  timeout: Value,
  hasDefault: boolean,
): Selected<Value> | Promise<Selected<Value>> {
  const queues = channels.map((channel) => queueOf('select', channel));
  const selected = hasDefault ? pollChannels(queues) : waitForChannel(context, queues, timeout);
  return andThen(selected, (found) => found ?? NOTHING_SELECTED);
}

const NOTHING_SELECTED: Selected<Value> = { index: -1, value: undefined };

/** The first of the channels that has a value; undefined when the time is up or all are closed. */
export function waitForChannel(
  context: Context,
  queues: readonly Channel<Value>[],
  timeout: Value,
): Selected<Value> | undefined | Promise<Selected<Value> | undefined> {
  if (timeout === undefined) return selectChannel(queues, context.signal);
  const timeoutMs = durationMs(timeout) ?? 0;
  if (timeoutMs === 0) return pollChannels(queues);
  return selectChannel(queues, context.signal, (callback) => context.run.platform.clock.timer(timeoutMs, callback));
}

/** @throws type error `NAME: expected a channel, got T` */
export function queueOf(caller: string, value: Value): Channel<Value> {
  if (value instanceof ChannelHandle) return value.queue;
  throw typeError(`${caller}: expected a channel, got ${typeOf(value)}`);
}
