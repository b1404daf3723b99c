import type { JsonObject } from '../base/json.ts';
import type { Platform, StopSignal } from '../platform/platform.ts';
import type { Run } from '../runtime/context.ts';
import { interruptsOf } from '../runtime/interrupt.ts';
import { type StopHandler, type StoppedLoops, stopSignals } from '../runtime/stop-signals.ts';
import { exitCodeOfLostOutput, exitCodeOfSignal } from './exit-codes.ts';
import type { RunOutput } from './output.ts';
import { interruptedHint } from './park-hint.ts';

const DEFAULT_GRACE_MS = 10_000;

/** How long code may keep the thread before signals are left to the system: before the first one, and after it. */
const BUSY_MS = 1000;
const BUSY_WHILE_STOPPING_MS = 100;

/**
 * SIGINT and SIGTERM during a run (spec/agents.md 12.7): the first asks running loops to park within the grace time, a
 * second ends the process at once. Listens only while loops exist, or when the JSON stream needs its last line.
 *
 * Node tells of a signal from the event loop, which code that never waits keeps from turning. Such code is found out
 * by the checks of its loops and calls; nobody listens then, so that the system ends the process at the next signal.
 * The end of the grace time is found in the same way (docs/decisions/015).
 */
export class SignalWatch {
  /** Resolves with the exit code once a signal has ended the run; never otherwise. */
  readonly ended: Promise<number>;
  readonly #platform: Platform;
  readonly #run: Run;
  readonly #output: RunOutput;
  #end: (code: number) => void = () => undefined;
  #stopListening: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  readonly #isQuiet: boolean;
  #isStopping = false;

  constructor(platform: Platform, run: Run, output: RunOutput, mode: { readonly quiet: boolean }) {
    this.#platform = platform;
    this.#run = run;
    this.#output = output;
    this.#isQuiet = mode.quiet;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    stopSignals(run).onHandler = () => this.#listen();
    if (output.json !== undefined) this.#listen();
    platform.stdio.onOutputLost((code) => this.#endUnlessLoops(code));
  }

  close(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#deafen();
  }

  #listen(): void {
    this.#hear();
    this.#stopWatching ??= this.#watchBusy(BUSY_MS);
  }

  #hear(): void {
    this.#stopListening ??= this.#platform.processes.onSignal((signal) => void this.#receive(signal));
  }

  #deafen(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #watchBusy(ms: number): () => void {
    return interruptsOf(this.#run).watchBusy(ms, { onBusy: () => this.#deafen(), onTurn: () => this.#hear() });
  }

  async #receive(signal: StopSignal): Promise<void> {
    if (this.#isStopping) return this.#end(exitCodeOfSignal(signal));
    this.#isStopping = true;
    const { handler } = stopSignals(this.#run);
    if (handler === undefined) return this.#finish(signal, { suspensions: [], interrupted: [] });
    this.#hint(`harn: ${signal} received, parking at the next turn boundary (again to stop at once)\n`);
    this.#stopWatching?.();
    this.#stopWatching = this.#watchBusy(BUSY_WHILE_STOPPING_MS);
    const grace = graceMs(this.#platform);
    const cut = (): void => {
      this.#settle(signal, handler);
      this.#platform.processes.exit(exitCodeOfSignal(signal));
    };
    // Later than the timers, which end the grace time unless the thread is busy.
    const stopAlarm = interruptsOf(this.#run).alarm(grace + BUSY_WHILE_STOPPING_MS, cut, 'real');
    await handler.park(signal, grace);
    stopAlarm();
    this.#settle(signal, handler);
  }

  #settle(signal: StopSignal, handler: StopHandler): void {
    const stopped = handler.settle(signal);
    for (const loop of stopped.interrupted) this.#hint(interruptedHint(loop, `signal ${signal}`));
    this.#finish(signal, stopped);
  }

  /**
   * Nobody reads what a script prints any more. Without loops it has nothing else to do; with them it goes on, since
   * what they do is in their files.
   */
  #endUnlessLoops(code: string): void {
    if (stopSignals(this.#run).handler === undefined) this.#platform.processes.exit(exitCodeOfLostOutput(code));
  }

  #hint(text: string): void {
    if (!this.#isQuiet) this.#output.err(text);
  }

  /** The terminal event of the JSON stream, and the exit code. */
  #finish(signal: StopSignal, { suspensions, interrupted }: StoppedLoops): void {
    const code = exitCodeOfSignal(signal);
    const first: JsonObject | undefined = suspensions[0];
    const details = { signal, worker_ids: interrupted.map(({ workerId }) => workerId) };
    if (first !== undefined) this.#output.json?.result(first, code);
    else this.#output.json?.failure({ code: 'signal', message: `stopped by ${signal}`, details }, code);
    this.#end(code);
  }
}

/** How long a signal waits for what is under way, in milliseconds. */
export function graceMs(platform: Platform): number {
  const text = platform.env.get('HARN_SIGNAL_GRACE_MS');
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : DEFAULT_GRACE_MS;
}
