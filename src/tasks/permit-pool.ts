import type { Clock } from '../platform/platform.ts';
import { waitFor } from './wait.ts';

/** Counters of one pool (spec/language.md 10.4, `sync_metrics`). */
export interface PermitMetrics {
  readonly acquisitionCount: number;
  readonly timeoutCount: number;
  readonly cancellationCount: number;
  readonly releaseCount: number;
  readonly currentHeld: number;
  readonly currentQueueDepth: number;
  readonly maxQueueDepth: number;
  readonly totalWaitMs: number;
  readonly totalHeldMs: number;
}

/**
 * A number of units that tasks take and give back, strictly first come, first served: a request that does not fit yet
 * holds up all later ones, also smaller ones. A mutex is a pool of one unit, and a readers-writer lock a pool where a
 * writer takes every unit, which makes a waiting writer hold up later readers.
 */
export class PermitPool {
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #queue: Waiting[] = [];
  readonly #counts = { acquired: 0, timedOut: 0, cancelled: 0, released: 0, maxDepth: 0, waitMs: 0, heldMs: 0 };
  #heldUnits = 0;
  #heldPermits = 0;

  constructor(capacity: number, clock: Clock) {
    this.capacity = capacity;
    this.#clock = clock;
  }

  /**
   * Takes `units`, which is at most the capacity.
   *
   * @param timeoutMs how long to wait in the queue; 0 does not wait, undefined waits for ever
   * @returns undefined when the time is up first
   */
  acquire(units: number, signal: AbortSignal, timeoutMs: number | undefined): Permit | undefined | Promise<Permit | undefined> {
    if (this.#queue.length === 0 && this.#fits(units)) return this.#grant(units, this.#clock.monotonicMs());
    if (timeoutMs !== undefined && timeoutMs <= 0) {
      this.#counts.timedOut++;
      return undefined;
    }
    const wait = waitFor<Permit | undefined>(signal, (wake) => this.#enqueue(units, timeoutMs, wake));
    return wait.catch((reason: unknown) => {
      this.#counts.cancelled++;
      throw reason;
    });
  }

  metrics(): PermitMetrics {
    const counts = this.#counts;
    return {
      acquisitionCount: counts.acquired,
      timeoutCount: counts.timedOut,
      cancellationCount: counts.cancelled,
      releaseCount: counts.released,
      currentHeld: this.#heldPermits,
      currentQueueDepth: this.#queue.length,
      maxQueueDepth: counts.maxDepth,
      totalWaitMs: Math.round(counts.waitMs),
      totalHeldMs: Math.round(counts.heldMs),
    };
  }

  #enqueue(units: number, timeoutMs: number | undefined, wake: (permit: Permit | undefined) => void): () => void {
    const sinceMs = this.#clock.monotonicMs();
    const stopTimer =
      timeoutMs === undefined
        ? () => {}
        : this.#clock.timer(timeoutMs, () => {
            this.#counts.timedOut++;
            wake(undefined);
            leave();
          });
    const waiting: Waiting = {
      units,
      grant: () => {
        stopTimer();
        wake(this.#grant(units, sinceMs));
      },
    };
    const leave = (): void => {
      stopTimer();
      const position = this.#queue.indexOf(waiting);
      if (position >= 0) this.#queue.splice(position, 1);
      this.#serve();
    };
    this.#queue.push(waiting);
    this.#counts.maxDepth = Math.max(this.#counts.maxDepth, this.#queue.length);
    return leave;
  }

  #fits(units: number): boolean {
    return this.#heldUnits + units <= this.capacity;
  }

  #grant(units: number, sinceMs: number): Permit {
    const nowMs = this.#clock.monotonicMs();
    this.#heldUnits += units;
    this.#heldPermits++;
    this.#counts.acquired++;
    this.#counts.waitMs += nowMs - sinceMs;
    return new Permit(() => {
      this.#heldUnits -= units;
      this.#heldPermits--;
      this.#counts.released++;
      this.#counts.heldMs += this.#clock.monotonicMs() - nowMs;
      this.#serve();
    });
  }

  #serve(): void {
    for (let first = this.#queue[0]; first !== undefined && this.#fits(first.units); first = this.#queue[0]) {
      this.#queue.shift();
      first.grant();
    }
  }
}

interface Waiting {
  readonly units: number;
  readonly grant: () => void;
}

/** Units held by somebody. */
export class Permit {
  #giveBack: (() => void) | undefined;

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  /** Gives the units back; true the first time, false afterwards. */
  release(): boolean {
    const giveBack = this.#giveBack;
    this.#giveBack = undefined;
    giveBack?.();
    return giveBack !== undefined;
  }
}
