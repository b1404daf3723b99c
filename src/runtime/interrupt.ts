import { realClock } from '../platform/controlled-clock.ts';
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
 * - Something has an alarm and nobody else watches the time. At first the code itself looks at the clock, so that a
 *   short body never pays for a thread; then the watchdog thread is started, and the code goes on looking until the
 *   thread is up. From then on the cell holds the limit until the alarm.
 */
export class Interrupts implements CancelObserver {
  readonly limit: Int32Array;
  readonly #clock: Clock;
  readonly #realClock: Clock;
  readonly #watchdog = new Watchdog(DEPTH_LIMIT);
  readonly #alarms = new Set<Alarm>();
  readonly #cancelled = new Set<CancelScope>();
  readonly #runSignal: AbortSignal;
  /** When the first alarm of those in a hurry was set, on the run's clock. */
  #probingSinceMs = 0;
  /** How often code has asked since the first patient one was. */
  #checkCount = 0;

  constructor(run: Run) {
    this.limit = this.#watchdog.cell;
    this.#clock = run.platform.clock;
    this.#realClock = realClock(run.platform.clock);
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

  /**
   * Calls back when `ms` have passed, even while a loop keeps the thread busy. Answers how to call it off.
   *
   * @param time whose milliseconds: those of the script, which it can freeze, or real ones
   */
  alarm(ms: number, callback: () => void, time: 'script' | 'real' = 'script'): () => void {
    const clock = time === 'script' ? this.#clock : this.#realClock;
    return this.#set({ clock, dueMs: clock.monotonicMs() + ms, isPatient: time === 'real', callback });
  }

  /**
   * Calls back when code has kept the thread for about `ms` of real time without a turn of the event loop, and again
   * when the event loop has turned after that. For those who live from the event loop: signals, heartbeats.
   *
   * @returns how to call it off
   */
  watchBusy(ms: number, tell: { readonly onBusy: () => void; readonly onTurn: () => void }): () => void {
    const clock = this.#realClock;
    let stopTimer: () => void = () => undefined;
    let stopAlarm: (() => void) | undefined;
    let alarm: Alarm | undefined;
    const watch = (): void => {
      alarm = {
        clock,
        dueMs: clock.monotonicMs() + ms,
        isPatient: true,
        callback: () => {
          alarm = undefined;
          tell.onBusy();
        },
      };
      stopAlarm = this.#set(alarm);
    };
    // A turn only moves the due time: the thread that set off the cell too early is told so by the next check.
    const turn = (): void => {
      if (alarm !== undefined) alarm.dueMs = clock.monotonicMs() + ms;
      else {
        watch();
        tell.onTurn();
      }
      stopTimer = clock.timer(ms / TURNS_PER_WATCH, turn, 'unref');
    };
    watch();
    stopTimer = clock.timer(ms / TURNS_PER_WATCH, turn, 'unref');
    return () => {
      stopTimer();
      stopAlarm?.();
    };
  }

  /** What code calls while the alarm is on. Throws the reason when the task has to end. */
  check(context: Context): void {
    this.#checkCount += 1;
    for (const alarm of [...this.#alarms]) {
      if (leftMs(alarm) > 0) continue;
      this.#alarms.delete(alarm);
      alarm.callback();
    }
    if (context.signal.aborted) throw context.signal.reason;
    if (this.#alarms.size > 0) this.#handOver();
    else this.#lower();
  }

  /** Ends the watchdog thread; the run is over. */
  close(): void {
    this.#watchdog.stop();
  }

  #set(alarm: Alarm): () => void {
    const isFirst = [...this.#alarms].every(({ isPatient }) => isPatient !== alarm.isPatient);
    if (isFirst && alarm.isPatient) this.#checkCount = 0;
    if (isFirst && !alarm.isPatient) this.#probingSinceMs = this.#clock.monotonicMs();
    this.#alarms.add(alarm);
    this.#raise();
    return () => {
      if (!this.#alarms.delete(alarm)) return;
      if (this.#alarms.size > 0) return;
      this.#watchdog.disarm();
      this.#lower();
    };
  }

  /** Leaves watching to the thread as soon as it can. The limit is put back before the alarm is set, never after. */
  #handOver(): void {
    if (!this.#wantsThread()) return;
    this.#watchdog.start();
    // Somebody in a hurry is served by the code until the thread is up; a cancelled scope, until it has been left.
    if ((this.#hurries && !this.#watchdog.isReady) || this.#isCancelling) return;
    this.limit[0] = DEPTH_LIMIT;
    this.#watchdog.arm(Math.min(...[...this.#alarms].map(leftMs)));
  }

  /** Most deadlines wrap waits or short work, and most scripts with agents wait for them: those never need a thread. */
  #wantsThread(): boolean {
    if (this.#hurries && this.#clock.monotonicMs() - this.#probingSinceMs >= PROBE_MS) return true;
    return this.#checkCount >= PROBE_CHECKS;
  }

  get #hurries(): boolean {
    return [...this.#alarms].some(({ isPatient }) => !isPatient);
  }

  get #isCancelling(): boolean {
    return this.#cancelled.size > 0 || this.#runSignal.aborted;
  }

  #raise(): void {
    this.limit[0] = 0;
  }

  #lower(): void {
    if (this.#alarms.size === 0 && !this.#isCancelling) this.limit[0] = DEPTH_LIMIT;
  }
}

interface Alarm {
  /** Whose time counts. */
  readonly clock: Clock;
  /** On the monotonic scale of that clock. */
  dueMs: number;
  /** Waits for many checks before it asks for a thread, and for the thread to come up. */
  readonly isPatient: boolean;
  readonly callback: () => void;
}

function leftMs(alarm: Alarm): number {
  return alarm.dueMs - alarm.clock.monotonicMs();
}

/** Starting a thread costs about 4 ms of this one. */
const PROBE_MS = 2;
/** About as long as that. */
const PROBE_CHECKS = 20_000;
/** How often the event loop shows that it turns, in the time after which it counts as stuck. */
const TURNS_PER_WATCH = 4;

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
