import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/base/json.ts';

/** How one request is answered. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In the place of `body`. */
  readonly bytes?: Uint8Array;
  /** Size of the pieces in which the body is written; whole when left out. */
  readonly pieceBytes?: number;
  /** What happens after the body: a clean end (default), a reset of the connection, or nothing at all. */
  readonly end?: 'clean' | 'reset' | 'silence';
  /** `silence` before the headers: the request is taken and never answered. */
  readonly start?: 'silence';
}

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: JsonObject;
  /** Resolves when the client has let go of a connection that was not answered to its end. */
  readonly disconnected: Promise<void>;
}

/** A model service on the loopback interface that answers from a list and remembers what it was asked. */
export interface ModelServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Connections that were opened so far. */
  readonly connections: () => number;
  /** Resolves when the request of this index has arrived. */
  arrived(index: number): Promise<Received>;
  reply(...replies: readonly Reply[]): void;
  close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const received: Received[] = [];
  const queue: Reply[] = [];
  const waiting = new Map<number, (received: Received) => void>();
  let connections = 0;
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  // A test that computes for long must not find that its connection was closed in the meantime.
  server.keepAliveTimeout = 600_000;
  server.on('connection', () => {
    connections++;
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const disconnected = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const one = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text === '' ? '{}' : text), disconnected };
    received.push(one);
    waiting.get(received.length - 1)?.(one);
    await answer(response, queue.shift() ?? { status: 500, body: '{"error":{"message":"nothing scripted"}}' });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    connections: () => connections,
    arrived: (index) => {
      const there = received[index];
      return there !== undefined ? Promise.resolve(there) : new Promise((resolve) => waiting.set(index, resolve));
    },
    reply: (...replies) => queue.push(...replies),
    close: () => closeServer(server),
  };
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.start === 'silence') return;
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers });
  response.flushHeaders();
  const bytes = reply.bytes ?? Buffer.from(reply.body ?? '');
  const size = reply.pieceBytes ?? Math.max(1, bytes.length);
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise<void>((resolve) => response.write(bytes.subarray(at, at + size), () => resolve()));
  }
  if (reply.end === 'silence') return;
  if (reply.end === 'reset') response.socket?.resetAndDestroy();
  else response.end();
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Server-sent events, one for each item. */
export function sse(...items: readonly (JsonObject | string)[]): string {
  return items.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('');
}

/** A short answer of plain text, as OpenAI streams it. */
export function openAiText(text: string): string {
  return sse({ choices: [{ delta: { content: text } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]');
}

/** A short answer of plain text, as Anthropic streams it. */
export function anthropicText(text: string): string {
  return sse(
    { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  );
}
