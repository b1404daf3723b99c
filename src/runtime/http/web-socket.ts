import { Inbox, TIMED_OUT } from '../agents/inbox.ts';
import type { Context } from '../context.ts';

/** A message of a socket. */
export type SocketMessage =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'binary' | 'ping' | 'pong'; readonly bytes: Uint8Array }
  | { readonly type: 'close'; readonly code: number | undefined; readonly reason: string | undefined };

export interface SocketLimits {
  /** Of a message that arrives; undefined accepts any size. */
  readonly maxMessageBytes: number | undefined;
  /** Messages that may wait for the other side; undefined lets any number wait. */
  readonly sendBufferMessages: number | undefined;
}

/**
 * One end of a connection between two parts of the same run: what one end sends waits in the inbox of the other. A mock
 * is an end whose other side is a list of messages.
 */
export class SocketEnd {
  readonly limits: SocketLimits;
  readonly #inbox = new Inbox<SocketMessage>();
  #peer: SocketEnd | undefined;

  constructor(limits: SocketLimits) {
    this.limits = limits;
  }

  /** Both ends of a new connection. */
  static pair(client: SocketLimits, server: SocketLimits): readonly [client: SocketEnd, server: SocketEnd] {
    const ends = [new SocketEnd(client), new SocketEnd(server)] as const;
    ends[0].#peer = ends[1];
    ends[1].#peer = ends[0];
    return ends;
  }

  /** Puts a message into this end's own inbox, as if the other side had sent it. */
  deliver(message: SocketMessage): void {
    this.#inbox.push(message);
  }

  /**
   * @returns false when the connection is over
   * @throws Error when the other side does not keep up
   */
  send(message: SocketMessage): boolean {
    const peer = this.#peer;
    if (peer === undefined || peer.#inbox.isClosed) return false;
    const limit = this.limits.sendBufferMessages;
    if (message.type !== 'close' && limit !== undefined && peer.#inbox.size >= limit)
      throw new Error(`send buffer of ${limit} messages is full`);
    peer.deliver(message);
    if (message.type === 'ping') this.deliver({ type: 'pong', bytes: message.bytes });
    if (message.type === 'close') this.#end();
    return true;
  }

  /**
   * The next message; undefined when the connection is over.
   * @throws Error for a message above the limit, which also ends the connection
   */
  async receive(context: Context, timeoutMs: number | undefined): Promise<SocketMessage | undefined | typeof TIMED_OUT> {
    const message = await this.#inbox.take(context, timeoutMs);
    if (message === undefined || message === TIMED_OUT) return message;
    const { maxMessageBytes } = this.limits;
    const size = sizeOf(message);
    if (maxMessageBytes === undefined || size <= maxMessageBytes) return message;
    this.#end();
    throw new Error(`message of ${size} bytes exceeds ${maxMessageBytes}`);
  }

  /** The other side learns of it by a close message. */
  close(): void {
    this.#peer?.deliver({ type: 'close', code: 1000, reason: undefined });
    this.#end();
  }

  #end(): void {
    this.#inbox.close();
    if (this.#peer !== undefined) this.#peer.#inbox.close();
  }
}

function sizeOf(message: SocketMessage): number {
  switch (message.type) {
    case 'text':
      return Buffer.byteLength(message.text);
    case 'close':
      return 0;
    default:
      return message.bytes.length;
  }
}
