import { Fifo } from './fifo.ts';
import { waitFor } from './wait.ts';

/** What a receive answers when the channel is closed and nothing is left in it. */
export const CLOSED: unique symbol = Symbol('closed');

export interface Selected<T> {
  /** Position of the channel in the list that was asked. */
  readonly index: number;
  readonly value: T;
}

/**
 * A bounded queue between tasks. Values keep the order in which `send` was called, also while senders wait for room;
 * receivers are served in the order in which they began to wait. A value is handed to a waiting receiver directly, so
 * that nobody who comes later can take it in between, and a receiver that gave up is never handed one.
 */
export class Channel<T> {
  readonly capacity: number;
  readonly #values = new Fifo<T>();
  readonly #senders = new Set<{ readonly value: T; readonly answer: (sent: boolean) => void }>();
  readonly #receivers = new Set<(value: T | typeof CLOSED) => void>();
  #isClosed = false;

  constructor(capacity: number) {
    this.capacity = Math.max(1, capacity);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Number of values that wait to be received, without those of senders that wait for room. */
  get size(): number {
    return this.#values.size;
  }

  /** Resolves with true when the value is in the channel; with false when the channel is, or gets, closed. */
  send(value: T, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#isClosed) return false;
    if (this.trySend(value)) return true;
    return waitFor(signal, (answer) => {
      const sender = { value, answer };
      this.#senders.add(sender);
      return () => this.#senders.delete(sender);
    });
  }

  /** Sends only when nobody has to wait for it. */
  trySend(value: T): boolean {
    if (this.#isClosed) return false;
    for (const receiver of this.#receivers) {
      this.#receivers.delete(receiver);
      receiver(value);
      return true;
    }
    if (this.#values.size >= this.capacity) return false;
    this.#values.push(value);
    return true;
  }

  receive(signal: AbortSignal): T | typeof CLOSED | Promise<T | typeof CLOSED> {
    const ready = this.tryReceive();
    if (ready !== undefined) return ready.value;
    if (this.#isClosed) return CLOSED;
    return waitFor(signal, (wake) => this.onValue(wake));
  }

  /** The next value, wrapped because it may be undefined itself; undefined when there is none now. */
  tryReceive(): { readonly value: T } | undefined {
    if (this.#values.size === 0) return undefined;
    const value = this.#values.shift() as T;
    for (const sender of this.#senders) {
      this.#senders.delete(sender);
      this.#values.push(sender.value);
      sender.answer(true);
      break;
    }
    return { value };
  }

  /** Hands the next value, or the end, to `receiver` once. Answers how to withdraw; only for an empty open channel. */
  onValue(receiver: (value: T | typeof CLOSED) => void): () => void {
    this.#receivers.add(receiver);
    return () => this.#receivers.delete(receiver);
  }

  /** Ends the channel: what is in it can still be received, what waits to get in is refused. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const senders = [...this.#senders];
    const receivers = [...this.#receivers];
    this.#senders.clear();
    this.#receivers.clear();
    for (const sender of senders) sender.answer(false);
    for (const receiver of receivers) receiver(CLOSED);
  }
}

/** The first channel in the order of the list that has a value now. */
export function pollChannels<T>(channels: readonly Channel<T>[]): Selected<T> | undefined {
  for (const [index, channel] of channels.entries()) {
    const ready = channel.tryReceive();
    if (ready !== undefined) return { index, value: ready.value };
  }
  return undefined;
}

/**
 * Waits until one of the channels has a value and takes it from that one alone.
 *
 * @param startTimer calls back when the wait has taken too long, and answers how to stop it; left out: no limit
 * @returns undefined when the time is up or every channel is closed
 */
export function selectChannel<T>(
  channels: readonly Channel<T>[],
  signal: AbortSignal,
  startTimer?: (callback: () => void) => () => void,
): Promise<Selected<T> | undefined> | Selected<T> | undefined {
  const ready = pollChannels(channels);
  if (ready !== undefined) return ready;
  const open = channels.filter((channel) => !channel.isClosed);
  if (open.length === 0 && (channels.length > 0 || startTimer === undefined)) return undefined;
  return waitFor<Selected<T> | undefined>(signal, (wake) => {
    let openCount = open.length;
    const withdrawals: (() => void)[] = [];
    const withdraw = (): void => {
      for (const undo of withdrawals) undo();
    };
    const answer = (selected: Selected<T> | undefined): void => {
      withdraw();
      wake(selected);
    };
    for (const [index, channel] of channels.entries()) {
      if (channel.isClosed) continue;
      withdrawals.push(
        channel.onValue((value) => {
          if (value !== CLOSED) answer({ index, value });
          else if (--openCount === 0) answer(undefined);
        }),
      );
    }
    if (startTimer !== undefined) withdrawals.push(startTimer(() => answer(undefined)));
    return withdraw;
  });
}
