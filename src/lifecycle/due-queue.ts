import type { Instant } from '../base/instant.ts';
import type { Clock } from '../platform/platform.ts';

/**
 * Due instants in a heap behind one timer, so that a hundred thousand of them cost a hundred thousand small objects
 * and not as many timers. Due times are wall time: the timer is only a hint, and each firing looks at the clock
 * again. A second look every few seconds of real time catches a wall clock that was set forward, and a machine that
 * slept. Entries fire in the order of (due, registration); nothing here keeps the process alive.
 */
export interface Due {
  readonly at: Instant;
  cancel(): void;
}

class Entry implements Due {
  readonly at: Instant;
  readonly sequence: number;
  fire: (() => void) | undefined;
  readonly #queue: { cancel(entry: Entry): void };

  constructor(at: Instant, sequence: number, fire: () => void, queue: { cancel(entry: Entry): void }) {
    this.at = at;
    this.sequence = sequence;
    this.fire = fire;
    this.#queue = queue;
  }

  cancel(): void {
    this.#queue.cancel(this);
  }
}

export const RECHECK_MS = 30_000;

export class DueQueue {
  readonly #clock: Clock;
  readonly #realClock: Clock;
  readonly #heap: Entry[] = [];
  readonly #forEntries = { cancel: (entry: Entry) => this.#cancel(entry) };
  #sequence = 0;
  #stopTimer: (() => void) | undefined;
  #stopRecheck: (() => void) | undefined;

  constructor(clock: Clock, realClock: Clock) {
    this.#clock = clock;
    this.#realClock = realClock;
  }

  /** Calls back at an instant of the wall clock, or at once when it has passed; never before. */
  add(at: Instant, fire: () => void): Due {
    const entry = new Entry(at, this.#sequence++, fire, this.#forEntries);
    this.#push(entry);
    // Only a new earliest entry changes what the timer waits for.
    if (this.#heap[0] === entry) this.#arm();
    return entry;
  }

  /** Fires everything that is due now. */
  check(): void {
    for (;;) {
      this.#dropCancelled();
      const [next] = this.#heap;
      if (next === undefined || next.at > this.#clock.now()) break;
      this.#pop();
      const { fire } = next;
      next.fire = undefined;
      fire?.();
    }
    this.#arm();
  }

  #cancel(entry: Entry): void {
    entry.fire = undefined;
    if (this.#heap[0] !== entry) return;
    this.#dropCancelled();
    this.#arm();
  }

  #arm(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const [next] = this.#heap;
    if (next === undefined) {
      this.#stopRecheck?.();
      this.#stopRecheck = undefined;
      return;
    }
    this.#stopTimer = this.#clock.timer(Math.max(0, next.at - this.#clock.now()), () => this.check(), 'unref');
    this.#stopRecheck ??= this.#realClock.timer(RECHECK_MS, () => this.#recheck(), 'unref');
  }

  #recheck(): void {
    this.#stopRecheck = undefined;
    this.check();
  }

  /** Cancelled entries below the top stay until they come up; that keeps a cancel cheap. */
  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].fire === undefined) this.#pop();
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(entry, heap[parent] as Entry)) break; // parent < index
      heap[index] = heap[parent] as Entry;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at === b.at ? a.sequence < b.sequence : a.at < b.at;
}
