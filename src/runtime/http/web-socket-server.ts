import { Inbox } from '../agents/inbox.ts';
import type { Run } from '../context.ts';
import { SocketEnd, type SocketLimits } from './web-socket.ts';

export interface SocketRoute {
  readonly limits: SocketLimits;
  /** What the client has to show; undefined lets everybody in. */
  readonly bearer: string | undefined;
}

/** A connection that waits to be accepted. */
export interface AcceptedSocket {
  readonly end: SocketEnd;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SERVERS = Symbol('web socket servers');

/** A server for clients of the same run (spec/language.md 12.15). It binds no port: its address only names it. */
export class WebSocketServer {
  readonly #routes = new Map<string, SocketRoute>();
  readonly pending = new Inbox<AcceptedSocket>();

  /** Servers of a run by URL. */
  static registry(run: Run): Map<string, WebSocketServer> {
    return run.service(SERVERS, () => new Map());
  }

  addRoute(path: string, route: SocketRoute): void {
    this.#routes.set(path, route);
  }

  /**
   * The client's end of a new connection.
   * @throws Error that says why the upgrade was refused
   */
  connect(path: string, headers: Readonly<Record<string, string>>, limits: SocketLimits): SocketEnd {
    const route = this.#routes.get(path);
    if (this.pending.isClosed) throw new Error('server is closed');
    if (route === undefined) throw new Error('upgrade refused: 404 no such route');
    if (route.bearer !== undefined && headers.authorization !== `Bearer ${route.bearer}`)
      throw new Error('upgrade refused: 401 unauthorized');
    const [client, server] = SocketEnd.pair(limits, route.limits);
    this.pending.push({ end: server, path, headers });
    return client;
  }
}
