import type { HttpRoute } from '../../platform/platform.ts';

/**
 * The proxy of the environment for one address: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in small letters as well. This
 * machine itself is never asked through a proxy, because that is where local models are.
 *
 * @returns undefined for a direct connection
 */
export function proxyRoute(env: (name: string) => string | undefined, target: URL): HttpRoute | undefined {
  const read = (name: string): string => env(name.toLowerCase()) ?? env(name) ?? '';
  const given = read(target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (given === '' || isLoopback(target.hostname) || isExcluded(target, read('NO_PROXY'))) return undefined;
  const text = given.includes('://') ? given : `http://${given}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    proxy: {
      url: url.href,
      ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);
}

/** `*`, or hosts with everything below them, each perhaps with a port. */
function isExcluded({ hostname, port, protocol }: URL, list: string): boolean {
  const actualPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, host = '', wanted] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (host === '' || (wanted !== undefined && wanted !== actualPort)) return false;
    return hostname === host || hostname.endsWith(`.${host}`);
  });
}
