import type { Json, JsonObject } from '../../base/json.ts';

/** An event of a daemon's queue as its loop gets it (spec/agents.md 11.3). */
export interface QueuedEvent {
  /** Lets a handler see that it had the event before. */
  readonly seq: number;
  readonly enqueued_at: string;
  readonly payload: Json;
  readonly redelivered?: boolean;
}

/** The part of a daemon that outlives its loop: its queue and its file. The runtime adapter supplies it. */
export interface DaemonPort {
  /** Absolute path of the daemon's own snapshot, and as its author wrote it; undefined for a daemon without one. */
  readonly file: { readonly path: string; readonly shown: string } | undefined;
  /**
   * An activation begins. `restored` is the block of the snapshot that the daemon was restored from (11.4), where the
   * worker's own files do not have it; `isRestored` is true when it is to wait again, rather than to be woken.
   */
  begin(): { readonly restored: JsonObject | undefined; readonly isRestored: boolean };
  /** `seq` of the event that the loop is at work on. */
  readonly inflightSeq: number | undefined;
  /** The event that would come next. */
  readonly next: QueuedEvent | undefined;
  /** Takes the next event; durable before it returns. */
  take(): QueuedEvent | undefined;
  /** The work for events up to this one is settled. */
  settle(seq: number): void;
  /** What was in flight comes again. */
  putBack(): void;
  /** The queue's keys of the daemon block. */
  facts(): JsonObject;
}

/** A daemon that nobody has a handle of: no queue, no file. */
export const NO_PORT: DaemonPort = {
  file: undefined,
  begin: () => ({ restored: undefined, isRestored: false }),
  inflightSeq: undefined,
  next: undefined,
  take: () => undefined,
  settle: () => undefined,
  putBack: () => undefined,
  facts: () => ({ pending_event_count: 0, queued_event_count: 0, inflight_event: null, next_event_seq: 1, pending_events: [] }),
};
