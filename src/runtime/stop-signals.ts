import type { JsonObject } from '../base/json.ts';
import type { StopSignal } from '../platform/platform.ts';
import type { Run } from './context.ts';

/** What a run left behind when a signal stopped it. */
export interface StoppedLoops {
  /** Suspensions of the loops that parked, root loops first. */
  readonly suspensions: readonly JsonObject[];
  /** Loops that were stopped inside a turn, with where their snapshot is or would be. */
  readonly interrupted: readonly { readonly workerId: string; readonly snapshotPath: string }[];
}

export interface StopHandler {
  /** Asks the running loops to park. Resolves when all have, or when the grace time is over. */
  park(signal: StopSignal, graceMs: number): Promise<void>;
  /** Takes stock of them at once: whatever has not parked by now stays as its journal has it. */
  settle(signal: StopSignal): StoppedLoops;
  /** Loops that still run; the end of the process cuts them off. */
  running(): StoppedLoops['interrupted'];
}

/**
 * Who wants to hear of SIGINT and SIGTERM. While nobody does, signals keep their ordinary effect: a script without
 * loops, even one that never waits, ends at once.
 */
export interface StopSignals {
  handler: StopHandler | undefined;
  onHandler: (() => void) | undefined;
}

const SIGNALS = Symbol('stop signals');

export function stopSignals(run: Run): StopSignals {
  return run.service(SIGNALS, (): StopSignals => ({ handler: undefined, onHandler: undefined }));
}

export function handleStop(run: Run, handler: StopHandler): void {
  const signals = stopSignals(run);
  signals.handler = handler;
  signals.onHandler?.();
}
