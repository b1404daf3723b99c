import type { Clock } from '../platform/platform.ts';
import { Watchdog } from '../platform/watchdog.ts';
import type { CancelObserver, CancelScope } from '../tasks/cancel-scope.ts';
import type { Context, Run } from './context.ts';
import { bareError } from './errors.ts';
import { DEPTH_LIMIT } from './value.ts';

/**
 * How code that never waits is stopped. One cell of shared memory says how deep calls may nest before the code has to
 * ask. Each round of a loop begins with `if (I[0] === 0) interrupt(c)`, each function that makes calls with
 * `if (d >= I[0]) enter(c, d)`: plain reads, next to free. The cell holds the limit of the language, or 0 (the alarm),
 * which makes everybody ask, in two cases:
 *
 * - A cancelled scope has not been left yet. Waits inside it have been rejected, but a loop that catches the rejection
 *   would go on for ever without this.
 * - A deadline is running and nobody else watches the time. For the first `PROBE_MS` the code itself looks at the
 *   clock, so that a short body never pays for a thread; then the watchdog thread is started, and the code goes on
 *   looking until the thread is up. From then on the cell holds the limit until the alarm.
 */
export class Interrupts implements CancelObserver {
  readonly limit: Int32Array;
  readonly #clock: Clock;
  readonly #watchdog = new Watchdog(DEPTH_LIMIT);
  readonly #alarms = new Set<Alarm>();
  readonly #cancelled = new Set<CancelScope>();
  readonly #runSignal: AbortSignal;
  #probingSinceMs = 0;
  /** What the thread waits for, on the clock's scale; it need not be told twice. */
  #armedForMs: number | undefined;

  constructor(run: Run) {
    this.limit = this.#watchdog.cell;
    this.#clock = run.platform.clock;
    this.#runSignal = run.signal;
    if (run.signal.aborted) this.#raise();
    else run.signal.addEventListener('abort', () => this.#raise(), { once: true });
  }

  cancelled(scope: CancelScope): void {
    this.#cancelled.add(scope);
    this.#raise();
  }

  left(scope: CancelScope): void {
    this.#cancelled.delete(scope);
    this.#lower();
  }

  /** Calls back when `ms` have passed, even while a loop keeps the thread busy. Answers how to call it off. */
  alarm(ms: number, callback: () => void): () => void {
    const alarm: Alarm = { dueMs: this.#clock.monotonicMs() + ms, callback };
    if (this.#alarms.size === 0) this.#probingSinceMs = this.#clock.monotonicMs();
    this.#alarms.add(alarm);
    this.#raise();
    return () => {
      if (!this.#alarms.delete(alarm)) return;
      if (this.#alarms.size > 0) return;
      this.#watchdog.disarm();
      this.#armedForMs = undefined;
      this.#lower();
    };
  }

  /** What code calls while the alarm is on. Throws the reason when the task has to end. */
  check(context: Context): void {
    const nowMs = this.#clock.monotonicMs();
    for (const alarm of [...this.#alarms]) {
      if (alarm.dueMs > nowMs) continue;
      this.#alarms.delete(alarm);
      alarm.callback();
    }
    if (context.signal.aborted) throw context.signal.reason;
    if (this.#alarms.size > 0) this.#handOver(nowMs);
    else this.#lower();
  }

  /** Ends the watchdog thread; the run is over. */
  close(): void {
    this.#watchdog.stop();
  }

  /** Leaves watching to the thread as soon as it can. The limit is put back before the alarm is set, never after. */
  #handOver(nowMs: number): void {
    if (nowMs - this.#probingSinceMs < PROBE_MS) return;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const alarm of this.#alarms) nextMs = Math.min(nextMs, alarm.dueMs);
    const canRest = this.#watchdog.isReady && this.#cancelled.size === 0;
    if (canRest) this.limit[0] = DEPTH_LIMIT;
    // The alarm that came too early, under a frozen clock, is spent: it has to be set again.
    if (!canRest && this.#armedForMs === nextMs) return;
    this.#armedForMs = nextMs;
    this.#watchdog.arm(nextMs - nowMs);
  }

  #raise(): void {
    this.limit[0] = 0;
  }

  #lower(): void {
    if (this.#alarms.size === 0 && this.#cancelled.size === 0 && !this.#runSignal.aborted) this.limit[0] = DEPTH_LIMIT;
  }
}

interface Alarm {
  /** On the monotonic scale of the run's clock. */
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Starting a thread costs about 4 ms of this one; most deadlines wrap waits or short work and never need it. */
const PROBE_MS = 2;

const INTERRUPTS = Symbol('interrupts');

export function interruptsOf(run: Run): Interrupts {
  return run.service(INTERRUPTS, (owner) => new Interrupts(owner));
}

/** The cell that emitted code reads: the depth at which it has to ask. The same array for a whole run. */
export function depthLimit(run: Run): Int32Array {
  return interruptsOf(run).limit;
}

/** Throws when the deadline of this task has passed or the task was cancelled; otherwise lets the loop go on. */
export function interrupt(context: Context): void {
  interruptsOf(context.run).check(context);
}

/** Called by a function whose depth has reached the limit of the moment: it is too deep, or somebody wants it to end. */
export function enter(context: Context, depth: number): void {
  if (depth >= DEPTH_LIMIT) throw bareError('Stack overflow: too many nested calls');
  interrupt(context);
}
