import type { JsonObject } from '../base/json.ts';

export type EventListener = (event: JsonObject) => void;

/** Who listens to the events of which session (spec/agents.md 3.12). */
export class EventHub {
  readonly #listeners = new Map<string, Set<EventListener>>();
  readonly #everywhere = new Set<EventListener>();

  /** @returns a function that ends the subscription */
  subscribe(sessionId: string, listener: EventListener): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Hears the events of all sessions: the JSON stream of the command line. */
  subscribeAll(listener: EventListener): () => void {
    this.#everywhere.add(listener);
    return () => this.#everywhere.delete(listener);
  }

  emit(event: JsonObject): void {
    const own = typeof event.session_id === 'string' ? this.#listeners.get(event.session_id) : undefined;
    for (const listener of [...this.#everywhere, ...(own ?? [])]) listener(event);
  }
}
