import type { Worker } from 'node:worker_threads';

/**
 * Clears a cell in shared memory after a real time, from a thread of its own, so that code that never waits can
 * still be interrupted. The thread sleeps in `Atomics.wait` between alarms and does not keep the process alive.
 *
 * A thread takes about 40 ms to come up, which is why `isReady` exists: until it is true the caller has to look
 * at the time itself (runtime/interrupt.ts does).
 */
export class Watchdog {
  readonly #cells: Int32Array;
  readonly #due: Float64Array;
  readonly #memory: SharedArrayBuffer;
  #thread: Worker | undefined;

  /** @param quiet what the cell holds while nothing is due; not 0 */
  constructor(quiet: number) {
    this.#memory = new SharedArrayBuffer(24);
    this.#cells = new Int32Array(this.#memory, 0, 3);
    this.#due = new Float64Array(this.#memory, 16, 1);
    this.#due[0] = Number.POSITIVE_INFINITY;
    this.#cells[CELL] = quiet;
  }

  /** One cell: `quiet`, or 0 when an interrupt is due. Read it plainly; the thread stores the 0, its owner puts `quiet` back. */
  get cell(): Int32Array {
    return this.#cells.subarray(CELL, CELL + 1);
  }

  /** True when the thread is up and will keep its alarms. */
  get isReady(): boolean {
    return Atomics.load(this.#cells, READY) === 1;
  }

  /** Starts the thread, unless it has been; it is up when `isReady`. */
  start(): void {
    if (this.#thread !== undefined) return;
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    this.#thread = new Worker(THREAD_SOURCE, { eval: true, workerData: this.#memory });
    this.#thread.unref();
  }

  /** Clears the cell after `ms`; an earlier alarm is replaced. Needs the thread. */
  arm(ms: number): void {
    this.#setDue(sharedNow() + ms);
  }

  disarm(): void {
    if (this.#thread !== undefined) this.#setDue(Number.POSITIVE_INFINITY);
  }

  /** Ends the thread for good. */
  stop(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  #setDue(dueMs: number): void {
    this.#due[0] = dueMs;
    Atomics.add(this.#cells, GENERATION, 1);
    Atomics.notify(this.#cells, GENERATION);
  }
}

const CELL = 0;
const GENERATION = 1;
const READY = 2;

/** Milliseconds on a monotonic scale that is the same in every thread, which `performance.now()` is not. */
function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * The due time is read after the generation: if the other thread changes it in between, the generation differs and
 * the wait returns at once. A spurious alarm would be harmless anyway, its reader checks what is due.
 */
const THREAD_SOURCE = `
const memory = require('node:worker_threads').workerData;
const cells = new Int32Array(memory, 0, 3);
const due = new Float64Array(memory, 16, 1);
Atomics.store(cells, ${READY}, 1);
for (;;) {
  const generation = Atomics.load(cells, ${GENERATION});
  const leftMs = due[0] - Number(process.hrtime.bigint()) / 1e6;
  if (leftMs > 0) Atomics.wait(cells, ${GENERATION}, generation, leftMs);
  else {
    Atomics.store(cells, ${CELL}, 0);
    Atomics.wait(cells, ${GENERATION}, generation);
  }
}
`;
