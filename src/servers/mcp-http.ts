import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isSameInConstantTime } from '../base/constant-time.ts';
import type { ServerName } from './mcp-protocol.ts';

/**
 * Streamable HTTP. Clients of 2026 send everything with each request; those of 2025 open a session, which is kept here until
 * they end it. A page of a browser must not reach a server that listens for its own machine: it is told by the names in
 * `Host` and `Origin`.
 */
export interface HttpServing extends ServerName {
  /** A name or address of this machine alone, or another one that is listened on. */
  readonly host: string;
  readonly isLocal: boolean;
  /** Every request must bear it when it is given. */
  readonly token: string | undefined;
  /** A new id of a session, which nobody can guess. */
  readonly newId: () => string;
  onFault(message: string): void;
}

export interface HttpAnswerer {
  answer(request: Request): Promise<Response>;
  /** Ends the streams on which clients only wait; requests under way go on. */
  endWaits(): void;
  /** Ends whatever is left. */
  close(): Promise<void>;
}

/** The one path that is served. */
export const MCP_PATH = '/mcp';

/** Clients that never end their sessions must not fill the memory; who finds its session gone opens another one. */
const MOST_SESSIONS = 1000;

export function createHttpAnswerer(createServer: () => McpServer, serving: HttpServing): HttpAnswerer {
  const onerror = (error: Error): void => serving.onFault(error.message);
  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror });
  const sessions = new Sessions(createServer, serving.newId, onerror);
  return {
    answer: async (request) =>
      refusal(request, serving) ?? ((await isLegacyRequest(request)) ? sessions.answer(request) : modern.fetch(request)),
    endWaits: () => sessions.endWaits(),
    close: async () => {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

function refusal(request: Request, { host, isLocal, token }: HttpServing): Response | undefined {
  if (new URL(request.url).pathname !== MCP_PATH) return new Response(null, { status: 404 });
  if (token !== undefined && !isSameInConstantTime(request.headers.get('authorization') ?? '', `Bearer ${token}`)) {
    return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  }
  if (!isLocal) return originValidationResponse(request, [host, ...localhostAllowedOrigins()]);
  return hostHeaderValidationResponse(request, localhostAllowedHostnames()) ?? originValidationResponse(request, localhostAllowedOrigins());
}

const SESSION_HEADER = 'mcp-session-id';

/** Sessions of clients of 2025, the one that was used longest ago first. */
class Sessions {
  readonly #open = new Map<string, WebStandardStreamableHTTPServerTransport>();
  readonly #createServer: () => McpServer;
  readonly #newId: () => string;
  readonly #onerror: (error: Error) => void;

  constructor(createServer: () => McpServer, newId: () => string, onerror: (error: Error) => void) {
    this.#createServer = createServer;
    this.#newId = newId;
    this.#onerror = onerror;
  }

  async answer(request: Request): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    const transport = id === null ? await this.#begin() : this.#use(id);
    if (transport === undefined) return new Response(null, { status: 404 });
    const response = await transport.handleRequest(request);
    // What did not open a session has got its answer, which says why.
    if (id === null && transport.sessionId === undefined) await transport.close();
    return response;
  }

  endWaits(): void {
    for (const transport of this.#open.values()) transport.closeStandaloneSSEStream();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  async #begin(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: this.#newId,
      onsessioninitialized: (id) => this.#keep(id, transport),
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
    };
    transport.onerror = this.#onerror;
    await this.#createServer().connect(transport);
    return transport;
  }

  #use(id: string): WebStandardStreamableHTTPServerTransport | undefined {
    const transport = this.#open.get(id);
    if (transport === undefined) return undefined;
    this.#open.delete(id);
    this.#open.set(id, transport);
    return transport;
  }

  #keep(id: string, transport: WebStandardStreamableHTTPServerTransport): void {
    this.#open.set(id, transport);
    const [oldest] = this.#open.values();
    if (this.#open.size > MOST_SESSIONS) void oldest?.close();
  }
}
