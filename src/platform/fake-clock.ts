import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Instant } from '../base/instant.ts';
import type { Clock } from './platform.ts';

/** A clock that stands still until a test moves it. Timers fire in the order of due time, then of registration. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #startMs: number;
  #sequence = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly sequence: number; readonly callback: () => void }>();

  constructor(startMs: Instant = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  now(): Instant {
    return Math.floor(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs;
  }

  /** Timers that were set and have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.timer(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  timer(ms: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, ms), sequence: this.#sequence++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /**
   * Moves time forward, firing what falls due on the way; also what the fired callbacks set up. Everybody gets a turn of
   * the event loop before the first firing and after each, so that what was awaited has run when this resolves.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await nextTurn();
    for (let next = this.#nextDue(endMs); next !== undefined; next = this.#nextDue(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
      await nextTurn();
    }
    this.#nowMs = endMs;
    await nextTurn();
  }

  #nextDue(untilMs: number) {
    const due = [...this.#timers].filter((timer) => timer.dueMs <= untilMs);
    return due.sort((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence)[0];
  }
}
