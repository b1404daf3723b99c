import type { Context } from '../context.ts';

/** What a wait gives when its time is over. */
export const TIMED_OUT: unique symbol = Symbol('timed out');

/** Messages that wait for their reader: the receiving end of a stream or socket of a script. */
export class Inbox<T> {
  readonly #items: T[] = [];
  readonly #readers: ((item: T | undefined) => void)[] = [];
  #isClosed = false;

  get size(): number {
    return this.#items.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Nothing is kept after the close. */
  push(item: T): void {
    if (this.#isClosed) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#items.push(item);
    else reader(item);
  }

  /** What has arrived can still be read. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers.splice(0)) reader(undefined);
  }

  /**
   * The next item; undefined when it is closed and empty.
   * @param timeoutMs undefined waits until something happens or the task is cancelled
   */
  take(context: Context, timeoutMs: number | undefined): Promise<T | undefined | typeof TIMED_OUT> {
    const item = this.#items.shift();
    if (item !== undefined || this.#isClosed) return Promise.resolve(item);
    if (timeoutMs === 0) return Promise.resolve(TIMED_OUT);
    return new Promise((resolve, reject) => {
      const { signal } = context;
      const finish = (): void => {
        cancelTimer?.();
        signal.removeEventListener('abort', abort);
        const index = this.#readers.indexOf(reader);
        if (index >= 0) this.#readers.splice(index, 1);
      };
      const reader = (value: T | undefined): void => {
        finish();
        resolve(value);
      };
      const abort = (): void => {
        finish();
        reject(signal.reason);
      };
      const expire = (): void => {
        finish();
        resolve(TIMED_OUT);
      };
      const cancelTimer = timeoutMs === undefined ? undefined : context.run.platform.clock.timer(timeoutMs, expire);
      signal.addEventListener('abort', abort, { once: true });
      this.#readers.push(reader);
      if (signal.aborted) abort();
    });
  }
}
