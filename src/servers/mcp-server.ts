import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpOffer } from '../runtime/agents/mcp-offer.ts';
import { createHttpAnswerer, type HttpAnswerer, type HttpServing } from './mcp-http.ts';
import { createServer, type ServerName } from './mcp-protocol.ts';

/** The server side of the Model Context Protocol, with its SDK; it is loaded by `harn serve mcp` alone. */
export interface McpServing extends ServerName {
  /** Ends the serving. */
  readonly signal: AbortSignal;
  onFault(message: string): void;
}

/** Serves over the streams of the process until the client closes its end. Clients of both eras of the protocol are welcome. */
export async function serveMcp(offer: McpOffer, serving: McpServing): Promise<void> {
  const transport = new EndingTransport();
  const handle = serveStdio(() => createServer(offer, serving), { transport, onerror: (error) => serving.onFault(error.message) });
  const stop = (): void => void handle.close();
  serving.signal.addEventListener('abort', stop, { once: true });
  await transport.ended;
  serving.signal.removeEventListener('abort', stop);
}

/** What answers the requests of a server over HTTP; who listens is the caller's. */
export function answerMcp(offer: McpOffer, serving: HttpServing): HttpAnswerer {
  return createHttpAnswerer(() => createServer(offer, serving), serving);
}

/** Says when it is closed, whoever does that. */
class EndingTransport extends StdioServerTransport {
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;

  constructor() {
    super();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  override async close(): Promise<void> {
    await super.close();
    this.#end();
  }
}
