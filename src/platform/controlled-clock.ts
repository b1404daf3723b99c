import type { Instant } from '../base/instant.ts';
import type { Clock } from './platform.ts';

/**
 * A clock that scripts can freeze (`mock_time`, `advance_time`, `unmock_time`; spec/language.md 10.8 and
 * spec/agents.md 9.8). It owns every timer set through it, so that freezing carries pending timers over with the
 * time they had left, and thawing gives them back to the real clock.
 *
 * Frozen time moves only when somebody asks for it, by `advance` or by a `sleep`. Both become entries in one queue
 * ordered by (due, registration), and a single pump fires entry after entry, with one turn of the event loop
 * between two firings so that every task runs to its next wait. That makes concurrent sleeps end in the order of
 * their due times, as they would in real time, and it makes "advance" see all that its own firings set up.
 */
export class ControlledClock implements Clock {
  readonly #inner: Clock;
  readonly #pending = new Set<PendingTimer>();
  #frozen: { wallMs: number; monotonicMs: number } | undefined;
  /** Added to the inner monotonic clock, so that frozen time that passed is never taken back. */
  #monotonicOffsetMs = 0;
  /** Reading of the monotonic clock that scripts see as zero. */
  #scriptOriginMs = 0;
  #sequence = 0;
  #isPumping = false;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  /** The clock of the host, whatever a script has frozen. */
  get real(): Clock {
    return this.#inner;
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  now(): Instant {
    return this.#frozen === undefined ? this.#inner.now() : Math.floor(this.#frozen.wallMs + ROUNDING_MS);
  }

  monotonicMs(): number {
    return this.#frozen === undefined ? this.#inner.monotonicMs() + this.#monotonicOffsetMs : this.#frozen.monotonicMs;
  }

  /** What `monotonic_ms()` shows: it starts again at zero with each `mock`, while `monotonicMs` never goes back. */
  scriptMonotonicMs(): number {
    return this.monotonicMs() - this.#scriptOriginMs;
  }

  /** Freezes the clock with the wall clock at `wallMs`. Pending timers keep the time they have left. */
  mock(wallMs: number): void {
    const monotonicMs = this.monotonicMs();
    for (const timer of this.#pending) timer.disarm?.();
    this.#frozen = { wallMs, monotonicMs };
    this.#scriptOriginMs = monotonicMs;
  }

  /**
   * Moves frozen time forward and fires everything due on the way, in the order of due time and registration.
   * Resolves when the new time is reached and nothing that is due is left. Without effect on a running clock.
   */
  advance(ms: number): Promise<void> {
    if (this.#frozen === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#add(ms, resolve, 'advance');
    });
  }

  /** Gives the clock back to the real time; pending timers keep the time they have left. */
  unmock(): void {
    if (this.#frozen === undefined) return;
    const monotonicMs = this.#frozen.monotonicMs;
    this.#frozen = undefined;
    this.#monotonicOffsetMs = monotonicMs - this.#inner.monotonicMs();
    this.#scriptOriginMs = this.#monotonicOffsetMs;
    for (const timer of [...this.#pending]) {
      if (timer.kind === 'advance') this.#fire(timer);
      else this.#arm(timer);
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const timer = this.#add(
        ms,
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        'sleep',
      );
      const onAbort = (): void => {
        this.#drop(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  timer(ms: number, callback: () => void, hold: 'ref' | 'unref' = 'ref'): () => void {
    const timer = this.#add(ms, callback, 'timer', hold);
    return () => this.#drop(timer);
  }

  #add(ms: number, callback: () => void, kind: PendingTimer['kind'], hold: 'ref' | 'unref' = 'ref'): PendingTimer {
    const dueMs = this.monotonicMs() + Math.max(0, ms);
    const timer: PendingTimer = { kind, dueMs, sequence: this.#sequence++, callback, hold, disarm: undefined };
    this.#pending.add(timer);
    if (this.#frozen === undefined) this.#arm(timer);
    else if (kind !== 'timer') void this.#pump();
    return timer;
  }

  #arm(timer: PendingTimer): void {
    timer.disarm = this.#inner.timer(timer.dueMs - this.monotonicMs(), () => this.#fire(timer), timer.hold);
  }

  #drop(timer: PendingTimer): void {
    if (this.#pending.delete(timer)) timer.disarm?.();
  }

  #fire(timer: PendingTimer): void {
    if (this.#pending.delete(timer)) timer.callback();
  }

  /** Runs while somebody waits for frozen time to pass; a cancelled sleep no longer counts as somebody. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      for (;;) {
        await nextTurn();
        const next = this.#nextInFrozenTime();
        if (next === undefined || this.#frozen === undefined) return;
        const stepMs = Math.max(0, next.dueMs - this.#frozen.monotonicMs);
        this.#frozen.wallMs += stepMs;
        this.#frozen.monotonicMs += stepMs;
        this.#fire(next);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #nextInFrozenTime(): PendingTimer | undefined {
    let next: PendingTimer | undefined;
    let isWanted = false;
    for (const timer of this.#pending) {
      if (timer.kind !== 'timer') isWanted = true;
      if (next === undefined || comesBefore(timer, next)) next = timer;
    }
    return isWanted ? next : undefined;
  }
}

interface PendingTimer {
  /** `timer` waits passively; `sleep` and `advance` make frozen time move. */
  readonly kind: 'timer' | 'sleep' | 'advance';
  /** On the clock's monotonic scale. */
  readonly dueMs: number;
  readonly sequence: number;
  readonly callback: () => void;
  readonly hold: 'ref' | 'unref';
  /** Cancels the timer of the inner clock; undefined while time is frozen. */
  disarm: (() => void) | undefined;
}

/** The clock of the host behind one that a script may have frozen. */
export function realClock(clock: Clock): Clock {
  return clock instanceof ControlledClock ? clock.real : clock;
}

/** The monotonic scale has fractions, and sums of them may fall short of a whole millisecond by a hair. */
const ROUNDING_MS = 1e-3;

/** An advance ends after everything else that is due at the same time, also what was registered later. */
function comesBefore(a: PendingTimer, b: PendingTimer): boolean {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  if ((a.kind === 'advance') !== (b.kind === 'advance')) return b.kind === 'advance';
  return a.sequence < b.sequence;
}

/** One turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
