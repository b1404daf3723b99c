import type { Run } from '../context.ts';
import { type SseFrame, writeSse } from './sse-frame.ts';

export interface SseLimits {
  readonly maxEventBytes: number;
  readonly maxBufferedEvents: number;
}

/** Why a response takes no more events. */
export type SseEnd = 'closed' | 'cancelled' | 'disconnected';

const RESPONSES = Symbol('sse responses');

/** The sending side of an event stream: frames wait here until a host, or a test, takes them. */
export class SseServerResponse {
  readonly #limits: SseLimits;
  readonly #buffer: SseFrame[] = [];
  sentEvents = 0;
  flushedEvents = 0;
  end: SseEnd | undefined;
  cancelReason: string | undefined;

  /** All responses of a run by id. */
  static registry(run: Run): Map<string, SseServerResponse> {
    return run.service(RESPONSES, () => new Map());
  }

  constructor(limits: SseLimits) {
    this.#limits = limits;
  }

  get bufferedEvents(): number {
    return this.#buffer.length;
  }

  /**
   * @returns false when nobody listens any more
   * @throws Error for a frame above the limit, or when the client does not keep up
   */
  send(frame: SseFrame): boolean {
    if (this.end !== undefined) return false;
    const bytes = Buffer.byteLength(writeSse(frame));
    if (bytes > this.#limits.maxEventBytes) throw new Error(`event of ${bytes} bytes exceeds ${this.#limits.maxEventBytes}`);
    if (this.#buffer.length >= this.#limits.maxBufferedEvents)
      throw new Error(`buffer of ${this.#limits.maxBufferedEvents} events is full`);
    this.#buffer.push(frame);
    this.sentEvents++;
    return true;
  }

  flush(): boolean {
    if (this.end !== undefined) return false;
    this.flushedEvents = this.sentEvents;
    return true;
  }

  /** The first reason wins; false when it had ended before. */
  finish(end: SseEnd, reason?: string): boolean {
    if (this.end !== undefined) return false;
    this.end = end;
    this.cancelReason = reason;
    // A client that went away reads nothing more.
    if (end !== 'closed') this.#buffer.length = 0;
    return true;
  }

  takeFrame(): SseFrame | undefined {
    return this.#buffer.shift();
  }
}
