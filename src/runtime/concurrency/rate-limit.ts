import type { Instant } from '../../base/instant.ts';
import type { Clock } from '../../platform/platform.ts';
import { Fifo } from '../../tasks/fifo.ts';
import type { Run } from '../context.ts';

const WINDOW_MS = 60_000;

interface Limit {
  readonly perMinute: number;
  /** Monotonic times of the requests within the window, oldest first, those still waiting for their time included. */
  readonly admitted: Fifo<Instant>;
}

/**
 * Requests per minute by provider: a sliding window. Each request is told when its time comes, in the order of asking, so
 * that those who wait cannot overtake one another.
 */
export class RateLimits {
  readonly #clock: Clock;
  readonly #limits = new Map<string, Limit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests per minute; undefined without a limit. */
  get(provider: string): number | undefined {
    return this.#limits.get(provider)?.perMinute;
  }

  /** Sets the limit; 0 or less removes it. */
  set(provider: string, perMinute: number): void {
    if (perMinute <= 0) this.#limits.delete(provider);
    else this.#limits.set(provider, { perMinute, admitted: new Fifo() });
  }

  /** Waits until the provider may be asked once more. */
  async admit(provider: string, signal: AbortSignal): Promise<void> {
    const limit = this.#limits.get(provider);
    if (limit === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    // With a full window the request comes after the oldest of it has left.
    const leavesAtMs = limit.admitted.size >= limit.perMinute ? (limit.admitted.shift() ?? nowMs) + WINDOW_MS : nowMs;
    const dueMs = Math.max(nowMs, leavesAtMs);
    limit.admitted.push(dueMs);
    if (dueMs > nowMs) await this.#clock.sleep(dueMs - nowMs, signal);
  }
}

const RATE_LIMITS = Symbol('rate limits');

export function rateLimits(run: Run): RateLimits {
  return run.service(RATE_LIMITS, (owner) => new RateLimits(owner.platform.clock));
}
