import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpListening, ListenAddress } from './platform.ts';

type Answer = (request: Request) => Promise<Response>;

/** Node's own server with the requests and responses of the web. In a file of its own, because few programs listen. */
export async function listenHttp({ host, port }: ListenAddress, answer: Answer): Promise<HttpListening> {
  const server = createServer((incoming, outgoing) => {
    // A connection that is kept for a next request would keep a server that is being closed.
    outgoing.once('close', () => server.listening || server.closeIdleConnections());
    void serve(incoming, outgoing, answer);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: (signal) => close(server, signal) };
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(new Error('the other side has gone')));
  const request = webRequest(incoming, gone.signal);
  const response =
    request === undefined ? new Response(null, { status: 400 }) : await answer(request).catch(() => new Response(null, { status: 500 }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A stream of events may have nothing to say for long, and its reader waits for the headers.
  outgoing.flushHeaders();
  await pipeline(Readable.from(response.body), outgoing).catch(() => undefined); // whoever went away needs no answer
}

/** Undefined for what is no request of the web: a target that is no path, a method like CONNECT. */
function webRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, url = '' } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one])),
      signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
    } as RequestInit);
  } catch {
    return undefined;
  }
}

function close(server: Server, signal: AbortSignal): Promise<void> {
  const cut = (): void => server.closeAllConnections();
  signal.addEventListener('abort', cut, { once: true });
  if (signal.aborted) cut();
  return new Promise((resolve) => {
    server.close(() => {
      signal.removeEventListener('abort', cut);
      resolve();
    });
  });
}
