import type { Platform } from '../../platform/platform.ts';
import { mcpOffer } from '../../runtime/agents/mcp-offer.ts';
import type { Context } from '../../runtime/context.ts';
import { plainError } from '../../runtime/errors.ts';
import { withRunOutput } from '../output.ts';
import { UsageError } from '../parse-options.ts';
import type { RunArguments } from '../run-options.ts';
import { VERSION } from '../version.ts';
import { run } from './run.ts';

/**
 * `harn serve mcp FILE`: runs the script, and serves over standard input and output what it has offered. Whatever the script
 * prints goes to standard error, because standard output belongs to the protocol.
 *
 * @returns the exit code, once the client has gone
 */
export function serveCommand(platform: Platform, protocol: string, args: RunArguments): Promise<number> {
  if (protocol !== 'mcp') throw new UsageError(`harn serve knows mcp, not ${protocol}: harn serve mcp FILE`);
  return withRunOutput(platform, args, (output) => run(platform, args, { ...output, out: (text) => output.err(text) }, serve(platform)));
}

function serve(platform: Platform): (context: Context) => Promise<void> {
  return async (context) => {
    const offer = mcpOffer(context);
    if (offer === undefined) {
      throw plainError('the script offers nothing to serve; call mcp_tools, mcp_resource, mcp_resource_template or mcp_prompt in it');
    }
    const { serveMcp } = await import('../../servers/mcp-server.ts');
    await serveMcp(offer, {
      name: 'harn',
      version: VERSION,
      signal: context.signal,
      onFault: (message) => platform.stdio.err(`harn serve mcp: ${message}\n`),
    });
  };
}
