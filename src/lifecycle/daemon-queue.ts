import { HarnError } from '../base/harn-error.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { type DaemonEvent, decodeDaemonEvents } from '../store/daemon-file.ts';

/**
 * The triggers of a daemon, first in, first out (spec/agents.md 11.3). An event is in flight from the moment it is
 * handed to the loop until the loop rests again with that work behind it; whoever stops or crashes in between finds it
 * at the head of the queue again. Every change is saved before it counts.
 */
export interface QueueState {
  readonly pending: readonly DaemonEvent[];
  readonly inflight: DaemonEvent | undefined;
  readonly nextSeq: number;
}

export const DEFAULT_QUEUE_CAPACITY = 1024;

export class DaemonQueue {
  readonly capacity: number;
  readonly #daemonId: string;
  readonly #save: (state: QueueState) => void;
  #state: QueueState;

  constructor(options: {
    readonly daemonId: string;
    readonly capacity: number;
    readonly state: QueueState;
    /** Makes a state durable; what it throws reaches whoever changed the queue, and nothing has changed then. */
    readonly save: (state: QueueState) => void;
  }) {
    this.#daemonId = options.daemonId;
    this.capacity = options.capacity;
    this.#state = options.state;
    this.#save = options.save;
  }

  get state(): QueueState {
    return this.#state;
  }

  /** Pending and in flight. */
  get size(): number {
    return this.#state.pending.length + (this.#state.inflight === undefined ? 0 : 1);
  }

  /** @throws HarnError `plain` when the queue is full */
  enqueue(payload: Json, enqueuedAt: string): DaemonEvent {
    if (this.size >= this.capacity) {
      throw new HarnError('plain', `Daemon queue full: daemon '${this.#daemonId}' reached its event_queue_capacity of ${this.capacity}`);
    }
    const { pending, nextSeq } = this.#state;
    const event = { seq: nextSeq, enqueued_at: enqueuedAt, payload };
    this.#change({ pending: [...pending, event], nextSeq: nextSeq + 1 });
    return event;
  }

  /** Hands out the head of the queue; it is in flight from then on. */
  take(): DaemonEvent | undefined {
    const [head, ...pending] = this.#state.pending;
    if (head === undefined || this.#state.inflight !== undefined) return undefined;
    this.#change({ pending, inflight: head });
    return head;
  }

  /** The loop has settled the work for every event up to this one. */
  settle(seq: number): void {
    const { inflight, pending } = this.#state;
    const isSettled = (event: DaemonEvent): boolean => event.seq <= seq;
    // One that was put back and had been settled all the same, when a crash came before this was noted.
    const left = pending.filter((event) => !(event.redelivered === true && isSettled(event)));
    const isInflightSettled = inflight !== undefined && isSettled(inflight);
    if (left.length === pending.length && !isInflightSettled) return;
    this.#change({ pending: left, inflight: isInflightSettled ? undefined : inflight });
  }

  /** What was in flight is the head again. */
  putBack(): void {
    const { inflight, pending } = this.#state;
    if (inflight !== undefined) this.#change({ pending: [{ ...inflight, redelivered: true }, ...pending], inflight: undefined });
  }

  /** Takes over a state that is saved already. */
  reload(state: QueueState): void {
    this.#state = state;
  }

  /** Saves the queue as it is. */
  save(): void {
    this.#save(this.#state);
  }

  #change(changes: Partial<QueueState>): void {
    const next = { ...this.#state, ...changes };
    this.#save(next);
    this.#state = next;
  }
}

/** The queue's part of a daemon block (11.4). */
export function queueFacts({ pending, inflight, nextSeq }: QueueState): JsonObject {
  return {
    pending_event_count: pending.length,
    queued_event_count: pending.length + (inflight === undefined ? 0 : 1),
    inflight_event: inflight ?? null,
    next_event_seq: nextSeq,
    pending_events: pending,
  };
}

/** The queue again, from a daemon block or the file of the queue. */
export function queueStateOf(facts: JsonObject): QueueState {
  const pending = decodeDaemonEvents(facts.pending_events);
  const [inflight] = decodeDaemonEvents([facts.inflight_event ?? null]);
  const highest = Math.max(0, ...[...pending, ...(inflight === undefined ? [] : [inflight])].map((event) => event.seq));
  const nextSeq = typeof facts.next_event_seq === 'number' ? facts.next_event_seq : 1;
  return { pending, inflight, nextSeq: Math.max(nextSeq, highest + 1) };
}
