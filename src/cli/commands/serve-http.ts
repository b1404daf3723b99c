import { isIP } from 'node:net';
import type { HttpListening, Platform, StopSignal } from '../../platform/platform.ts';
import { plainError } from '../../runtime/errors.ts';
import type { HttpAnswerer } from '../../servers/mcp-http.ts';
import { exitCodeOfSignal } from '../exit-codes.ts';
import { UsageError } from '../parse-options.ts';
import { graceMs } from '../signals.ts';

export interface HttpWish {
  readonly host?: string;
  readonly port?: string;
}

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
  /** Nobody but this machine can reach it. */
  readonly isLocal: boolean;
  readonly token: string | undefined;
}

const DEFAULT_PORT = 8765;

/** @throws UsageError for what is no port, and for an address that others can reach without a token to keep them out */
export function httpAddress({ env }: Platform, { host = '127.0.0.1', port }: HttpWish): HttpAddress {
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (!/^\d*$/.test(port ?? '') || number > 65_535) throw new UsageError(`--port must be a number from 0 to 65535, got ${port}`);
  const isLocal = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  const token = env.get('HARN_MCP_TOKEN')?.trim() || undefined;
  if (!isLocal && token === undefined)
    throw new UsageError(`others can reach ${host}: set HARN_MCP_TOKEN, which every request must then bear, or leave --host out`);
  return { host, port: number, isLocal, token };
}

/**
 * Serves until a signal comes; then what is under way gets the grace time of a signal. A second signal ends the process at once.
 *
 * @param signal of the run; when it fires, the serving ends as by a signal
 */
export async function serveHttp(platform: Platform, address: HttpAddress, answerer: HttpAnswerer, signal: AbortSignal): Promise<void> {
  const { host } = address;
  const listening = await listen(platform, address, answerer);
  const shown = host.includes(':') ? `[${host}]` : host;
  platform.stdio.err(`harn serve mcp: http://${shown}:${listening.port}/mcp (Ctrl-C ends it)\n`);
  const stopListening = await untilStopped(platform, signal);
  const late = new AbortController();
  const cancel = platform.clock.timer(graceMs(platform), () => late.abort());
  try {
    answerer.endWaits();
    await listening.close(late.signal);
    await answerer.close();
  } finally {
    cancel();
    stopListening();
  }
}

async function listen({ listener }: Platform, { host, port }: HttpAddress, answerer: HttpAnswerer): Promise<HttpListening> {
  if (listener === undefined) throw plainError('nothing may listen here');
  try {
    return await listener.listen({ host, port }, (request) => answerer.answer(request));
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === 'EADDRINUSE' ? 'something else listens there; --port 0 takes a free one' : String(code ?? error);
    throw plainError(`harn serve cannot listen at ${host} port ${port}: ${why}`);
  }
}

/** Resolves with what stops the listening for signals. */
function untilStopped({ processes }: Platform, run: AbortSignal): Promise<() => void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (): void => {
      isStopping = true;
      resolve(stopListening);
    };
    const stopListening = processes.onSignal((signal: StopSignal) => {
      if (isStopping) processes.exit(exitCodeOfSignal(signal));
      else stop();
    });
    run.addEventListener('abort', stop, { once: true });
  });
}
