import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import { Agent, type Dispatcher, fetch, ProxyAgent, type RequestInit as UndiciInit } from 'undici';
import type { HttpRoute, HttpTls } from './platform.ts';

export type RoutedFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A fetch that takes this route. In a file of its own, because few programs need undici itself.
 *
 * @param isPatient the caller bounds the wait itself; silence alone is no reason to give up
 */
export function routedFetch(route: HttpRoute, isPatient: boolean): RoutedFetch {
  const dispatcher = createDispatcher(route, isPatient ? { headersTimeout: 0, bodyTimeout: 0 } : {});
  // The same classes under two names: undici's own, and those of the copy within Node.
  return async (url, init) => (await fetch(url, { ...(init as unknown as UndiciInit), dispatcher })) as unknown as Response;
}

function createDispatcher({ proxy, tls }: HttpRoute, limits: Pick<Agent.Options, 'headersTimeout' | 'bodyTimeout'>): Dispatcher {
  const secure = tls === undefined ? undefined : tlsOptions(tls);
  if (proxy === undefined) return new Agent({ ...limits, ...(secure === undefined ? {} : { connect: secure }) });
  return new ProxyAgent({
    ...limits,
    uri: proxy.url,
    // Plain requests are handed to the proxy as they are; others go through a tunnel anyway.
    proxyTunnel: false,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
    ...(secure === undefined ? {} : { requestTls: secure }),
  });
}

type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'checkServerIdentity'>;

function tlsOptions({ ca, cert, key, pinnedSha256 }: HttpTls): TlsOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(pinnedSha256 === undefined ? {} : { checkServerIdentity: (host, shown) => checkPinned(host, shown, pinnedSha256) }),
  };
}

function checkPinned(host: string, shown: PeerCertificate, pinned: readonly string[]): Error | undefined {
  const found = shown.fingerprint256.replaceAll(':', '').toLowerCase();
  if (!pinned.includes(found)) return new Error(`the certificate of ${host} is not a pinned one: ${found}`);
  return checkServerIdentity(host, shown);
}
