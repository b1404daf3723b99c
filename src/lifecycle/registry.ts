import { isTerminal } from './transition.ts';
import type { Worker } from './worker.ts';

/** The workers of this process, and the order in which requests came. */
export class WorkerRegistry {
  readonly #workers = new Map<string, Worker>();
  #entries = 0;

  get(id: string): Worker | undefined {
    return this.#workers.get(id);
  }

  add(worker: Worker): void {
    this.#workers.set(worker.id, worker);
  }

  /** Forgets a worker that another process has taken over. */
  remove(worker: Worker): void {
    if (this.#workers.get(worker.id) === worker) this.#workers.delete(worker.id);
  }

  /** Whether a worker that has not ended belongs to a session. */
  usesSession(id: string): boolean {
    for (const worker of this.#workers.values()) if (worker.sessionId === id && !isTerminal(worker.status)) return true;
    return false;
  }

  /** The worker of this session that is parked. */
  parkedIn(sessionId: string): Worker | undefined {
    for (const worker of this.#workers.values()) if (worker.sessionId === sessionId && worker.status === 'suspended') return worker;
    return undefined;
  }

  /** In the order of their ids, which is the order of their creation. */
  list(): Worker[] {
    return [...this.#workers.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  }

  /** The place of a request among all of this process; a counter, since clocks are too coarse for it. */
  nextEntry(): number {
    return ++this.#entries;
  }
}
