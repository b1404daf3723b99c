import type { EventLog, EventRecord, NewEvent } from '../store/event-log.ts';

/** An event log that tells those who wait for a topic when this process appends to it. */
export class ObservedEventLog implements EventLog {
  readonly #inner: EventLog;
  readonly #observers = new Map<string, Set<() => void>>();

  constructor(inner: EventLog) {
    this.#inner = inner;
  }

  append(event: NewEvent): EventRecord {
    const record = this.#inner.append(event);
    for (const observer of [...(this.#observers.get(event.topic) ?? [])]) observer();
    return record;
  }

  latest(topic: string): number | undefined {
    return this.#inner.latest(topic);
  }

  read(topic: string, fromCursor: number, limit?: number): EventRecord[] {
    return this.#inner.read(topic, fromCursor, limit);
  }

  topics(): string[] {
    return this.#inner.topics();
  }

  /** @returns a function that ends the observation */
  observe(topic: string, observer: () => void): () => void {
    const known = this.#observers.get(topic) ?? new Set();
    known.add(observer);
    this.#observers.set(topic, known);
    return () => {
      known.delete(observer);
      if (known.size === 0) this.#observers.delete(topic);
    };
  }
}
