import type { Clock } from '../platform/platform.ts';
import type { EventLog, EventRecord, NewEvent } from '../store/event-log.ts';

/** How often the files of observed topics are looked at for what other processes appended. */
const TAIL_INTERVAL_MS = 250;

/**
 * An event log that tells those who wait for a topic when a record comes to it (spec/agents.md 9.6): at once when this
 * process appends it, and by looking at the file when another one did. Waiting does not keep the process alive.
 */
export class ObservedEventLog implements EventLog {
  readonly #inner: EventLog;
  readonly #clock: Clock;
  readonly #observers = new Map<string, ObservedTopic>();
  #cancelTail: (() => void) | undefined;

  /** @param clock the clock of the host, also while a script has frozen its own */
  constructor(inner: EventLog, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  append(event: NewEvent): EventRecord {
    const record = this.#inner.append(event);
    const observed = this.#observers.get(event.topic);
    if (observed !== undefined) tell(observed, record.id);
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
    const known = this.#observers.get(topic) ?? { seen: this.#inner.latest(topic) ?? 0, observers: new Set() };
    known.observers.add(observer);
    this.#observers.set(topic, known);
    this.#tail();
    return () => {
      known.observers.delete(observer);
      if (known.observers.size === 0) this.#observers.delete(topic);
      if (this.#observers.size === 0) this.#cancelTail?.();
      if (this.#observers.size === 0) this.#cancelTail = undefined;
    };
  }

  #tail(): void {
    if (this.#inner.isShared !== true || this.#cancelTail !== undefined) return;
    this.#cancelTail = this.#clock.timer(
      TAIL_INTERVAL_MS,
      () => {
        this.#cancelTail = undefined;
        for (const [topic, observed] of [...this.#observers]) tell(observed, this.#inner.latest(topic) ?? 0);
        if (this.#observers.size > 0) this.#tail();
      },
      'unref',
    );
  }
}

interface ObservedTopic {
  /** The newest record that the observers were told of. */
  seen: number;
  readonly observers: Set<() => void>;
}

function tell(observed: ObservedTopic, latest: number): void {
  if (latest <= observed.seen) return;
  observed.seen = latest;
  for (const observer of [...observed.observers]) observer();
}
