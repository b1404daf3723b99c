import type { Platform } from '../../platform/platform.ts';
import { type McpOffer, mcpOffer } from '../../runtime/agents/mcp-offer.ts';
import type { Context } from '../../runtime/context.ts';
import { plainError } from '../../runtime/errors.ts';
import { withRunOutput } from '../output.ts';
import { UsageError } from '../parse-options.ts';
import type { RunArguments } from '../run-options.ts';
import { VERSION } from '../version.ts';
import { run } from './run.ts';
import { type HttpWish, httpAddress, serveHttp } from './serve-http.ts';

export interface ServeOptions extends HttpWish {
  /** Over HTTP, not over the streams of the process. */
  readonly http?: boolean;
}

/**
 * `harn serve mcp FILE`: runs the script, and serves over standard input and output, or over HTTP, what it has offered.
 * Whatever the script prints goes to standard error, because standard output belongs to the protocol.
 *
 * @returns the exit code, once the client has gone or a signal has ended a server over HTTP
 */
export function serveCommand(platform: Platform, protocol: string, args: RunArguments, options: ServeOptions): Promise<number> {
  if (protocol !== 'mcp') throw new UsageError(`harn serve knows mcp, not ${protocol}: harn serve mcp FILE`);
  const serve = options.http === true ? overHttp(platform, options) : overStdio(platform, options);
  return withRunOutput(platform, args, (output) => run(platform, args, { ...output, out: (text) => output.err(text) }, serve));
}

type Serve = (context: Context) => Promise<void>;

function overStdio(platform: Platform, { host, port }: ServeOptions): Serve {
  if (host !== undefined || port !== undefined) throw new UsageError(`${host === undefined ? '--port' : '--host'} needs --http`);
  return async (context) => {
    const offer = offerOf(context);
    const { serveMcp } = await import('../../servers/mcp-server.ts');
    await serveMcp(offer, { ...NAME, signal: context.signal, onFault: faultPrinter(platform) });
  };
}

function overHttp(platform: Platform, options: ServeOptions): Serve {
  const address = httpAddress(platform, options);
  return async (context) => {
    const offer = offerOf(context);
    const { answerMcp } = await import('../../servers/mcp-server.ts');
    const newId = (): string => platform.random.uuidV4();
    const answerer = answerMcp(offer, { ...NAME, ...address, newId, onFault: faultPrinter(platform) });
    await serveHttp(platform, address, answerer, context.signal);
  };
}

const NAME = { name: 'harn', version: VERSION };

function faultPrinter({ stdio }: Platform): (message: string) => void {
  return (message) => stdio.err(`harn serve mcp: ${message}\n`);
}

function offerOf(context: Context): McpOffer {
  const offer = mcpOffer(context);
  if (offer !== undefined) return offer;
  throw plainError('the script offers nothing to serve; call mcp_tools, mcp_resource, mcp_resource_template or mcp_prompt in it');
}
