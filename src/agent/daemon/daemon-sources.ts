import { type Instant, parseInstant, renderInstant } from '../../base/instant.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Activation, TopicView } from '../../lifecycle/activation.ts';
import type { Clock } from '../../platform/platform.ts';
import type { LoopWorld } from '../loop-context.ts';
import type { LoopInbox } from '../loop-live.ts';
import { decodeWatchState, WatchedPaths } from '../tools/watched-paths.ts';
import type { DaemonOptions } from './daemon.ts';
import { type DaemonPort, NO_PORT } from './daemon-port.ts';

/**
 * All that wakes a daemon (spec/agents.md 11.1), asked in one place: messages, queued events, changed paths, records of
 * a topic, the timer. Each keeps what it saw over the turns between two idles, so that nothing is missed while the
 * model works; with one of them waiting no park happens.
 */
export type Wake =
  /** Messages and feedback wait in the inbox; the next turn takes them. */
  | { readonly kind: 'inbox' }
  | { readonly kind: 'event'; readonly content: string; readonly marker: string }
  | { readonly kind: 'notice'; readonly content: string };

export class WakeSources {
  readonly watched: WatchedPaths;
  readonly port: DaemonPort;
  /** Restored to wait again, rather than woken. */
  readonly isRestored: boolean;
  /** Milliseconds between the last two looks. */
  backoffMs = 0;
  readonly #options: DaemonOptions;
  readonly #clock: Clock;
  readonly #inbox: LoopInbox;
  readonly #topic: TopicView | undefined;
  #cursor: number;
  /** On the monotonic clock; undefined while the daemon works, and without a timer. */
  #timerDueMs: number | undefined;
  /** When the timer that an earlier process started is due. */
  #restoredDueAt: Instant | undefined;

  constructor(options: DaemonOptions, world: LoopWorld, inbox: LoopInbox, port: DaemonPort | undefined, activation: Activation) {
    this.#options = options;
    this.#clock = world.clock;
    this.#inbox = inbox;
    this.port = port ?? NO_PORT;
    const begun = this.port.begin();
    this.isRestored = begun.isRestored;
    const restored = begun.restored ?? activation.daemon;
    this.watched = new WatchedPaths(world, options.watchPaths, decodeWatchState(restored?.watch_state));
    this.#topic = options.eventTopic === undefined ? undefined : activation.topic(options.eventTopic);
    this.#cursor = typeof restored?.topic_cursor === 'number' ? restored.topic_cursor : (this.#topic?.latest() ?? 0);
    this.#restoredDueAt = this.isRestored ? restoredDueAt(options, restored) : undefined;
  }

  /** Whether the daemon may wait in this process: something is configured that can wake it. */
  get canWake(): boolean {
    const { wakeIntervalMs, watchPaths, eventTopic } = this.#options;
    return wakeIntervalMs !== undefined || watchPaths.length > 0 || eventTopic !== undefined;
  }

  /** The keys of the daemon block that are the sources' own (11.4). */
  facts(): JsonObject {
    const { wakeIntervalMs, watchPaths, eventTopic, queueCapacity } = this.#options;
    return {
      ...this.port.facts(),
      wake_interval_ms: wakeIntervalMs ?? null,
      watch_paths: watchPaths,
      event_queue_capacity: queueCapacity,
      idle_backoff_ms: this.backoffMs,
      watch_state: this.watched.state,
      resume_event_topic: eventTopic ?? null,
      ...(this.#topic === undefined ? {} : { topic_cursor: this.#cursor }),
    };
  }

  /** The idle begins: the timer runs from here, or from where an earlier process started it. */
  startTimer(): void {
    const { wakeIntervalMs } = this.#options;
    if (wakeIntervalMs === undefined) return;
    const restored = this.#restoredDueAt;
    const leftMs = restored === undefined ? wakeIntervalMs : Math.max(0, restored - this.#clock.now());
    this.#restoredDueAt = undefined;
    this.#timerDueMs = this.#clock.monotonicMs() + leftMs;
  }

  /** Milliseconds until the timer is due; undefined without one. */
  get timerLeftMs(): number | undefined {
    return this.#timerDueMs === undefined ? undefined : Math.max(0, this.#timerDueMs - this.#clock.monotonicMs());
  }

  /** The first source that has something, which is taken from it. */
  take(): Wake | undefined {
    const wake = this.#takeFirst();
    if (wake !== undefined) this.#timerDueMs = undefined;
    return wake;
  }

  #takeFirst(): Wake | undefined {
    if (this.#inbox.hasWaiting()) return { kind: 'inbox' };
    const event = this.port.take();
    if (event !== undefined) {
      return { kind: 'event', content: `Daemon event: ${JSON.stringify(event)}`, marker: `Daemon event: {"seq":${event.seq},` };
    }
    const changed = this.watched.takeChanged();
    if (changed.length > 0) return { kind: 'notice', content: `Daemon wake: watched paths changed: ${changed.join(', ')}.` };
    const record = this.#topic?.next(this.#cursor);
    if (record !== undefined) {
      this.#cursor = record.cursor;
      const { eventTopic } = this.#options;
      return { kind: 'notice', content: `Daemon wake: record ${record.cursor} on topic ${eventTopic}: ${JSON.stringify(record.payload)}` };
    }
    if (this.timerLeftMs !== 0) return undefined;
    return { kind: 'notice', content: `Daemon timer wake fired at ${renderInstant(this.#clock.now())}.` };
  }

  close(): void {
    this.#topic?.close();
  }
}

/** An interval that went by while nobody ran the daemon is over once, however often it would have been (11.4). */
function restoredDueAt({ wakeIntervalMs }: DaemonOptions, restored: JsonObject | undefined): Instant | undefined {
  const savedAt = typeof restored?.saved_at === 'string' ? parseInstant(restored.saved_at) : undefined;
  return wakeIntervalMs === undefined || savedAt === undefined ? undefined : savedAt + wakeIntervalMs;
}
