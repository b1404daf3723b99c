import type { Clock } from './platform.ts';

/** The longest wait that a Node timer can hold; beyond it fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. Long waits are made of hops. */
export class NodeClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonicMs(): number {
    // Not performance.now(), whose module is loaded at the first use and takes longer than a small script.
    return Number(process.hrtime.bigint()) / 1e6;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = this.timer(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  timer(ms: number, callback: () => void, hold: 'ref' | 'unref' = 'ref'): () => void {
    const dueMs = this.monotonicMs() + ms;
    let timeout: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      timeout = setTimeout(fire, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
      if (hold === 'unref') timeout.unref();
    };
    // Node drops fractions and may be early by a part of a millisecond; a timer that calls back early breaks deadlines.
    const fire = (): void => {
      const leftMs = dueMs - this.monotonicMs();
      if (leftMs > 0) arm(leftMs);
      else callback();
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timeout);
  }
}
