import { createHash, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NodeHttpClient } from '../../src/platform/node-http.ts';
import type { HttpRoute } from '../../src/platform/platform.ts';
import { makeSelfSigned, type SelfSigned } from '../../src/runtime/http/self-signed.ts';

const open: { close: () => unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function get(url: string, route?: HttpRoute): Promise<string> {
  const response = await new NodeHttpClient().request({ method: 'GET', url, headers: { connection: 'close' }, route });
  return response.text();
}

/** A proxy that answers plain requests itself and opens tunnels, and what it was asked. */
async function startProxy(): Promise<{ url: string; asked: (readonly [string | undefined, string | undefined, unknown])[] }> {
  const asked: (readonly [string | undefined, string | undefined, unknown])[] = [];
  const note = (request: IncomingMessage): void => void asked.push([request.method, request.url, request.headers['proxy-authorization']]);
  const proxy = createServer((request, response) => {
    note(request);
    response.end('by proxy');
  });
  proxy.on('connect', (request, socket) => {
    note(request);
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(proxy)}`, asked };
}

let certificate: SelfSigned;
let pin: string;

beforeAll(() => {
  certificate = makeSelfSigned(['127.0.0.1', 'localhost'], Date.now(), new Uint8Array([1, 2, 3]));
  pin = createHash('sha256').update(new X509Certificate(certificate.certificatePem).raw).digest('hex');
});

/** Says hello over TLS with the self-signed certificate. */
async function startSecure(): Promise<string> {
  const server = createSecureServer({ cert: certificate.certificatePem, key: certificate.privateKeyPem }, (_request, response) =>
    response.end('secure'),
  );
  return `https://localhost:${await listen(server as unknown as Server)}/`;
}

describe('routes of requests', () => {
  test('a plain request is handed to the proxy as it is', async () => {
    const proxy = await startProxy();
    expect(await get('http://example.invalid/a?b=1', { proxy: { url: proxy.url, authorization: 'Basic eDp5' } })).toBe('by proxy');
    expect(proxy.asked).toEqual([['GET', 'http://example.invalid/a?b=1', 'Basic eDp5']]);
  });

  test('a secure request goes through a tunnel', async () => {
    const [proxy, url] = [await startProxy(), await startSecure()];
    expect(await get(url, { proxy: { url: proxy.url }, tls: { ca: certificate.certificatePem } })).toBe('secure');
    expect(proxy.asked).toEqual([['CONNECT', new URL(url).host, undefined]]);
  });

  test('a certificate is trusted by its authority only', async () => {
    const url = await startSecure();
    await expect(get(url)).rejects.toThrow();
    await expect(get(url, { tls: {} })).rejects.toThrow();
    expect(await get(url, { tls: { ca: certificate.certificatePem } })).toBe('secure');
  });

  test('a server with another certificate than the pinned one is refused', async () => {
    const url = await startSecure();
    expect(await get(url, { tls: { ca: certificate.certificatePem, pinnedSha256: ['00'.repeat(32), pin] } })).toBe('secure');
    await expect(get(url, { tls: { ca: certificate.certificatePem, pinnedSha256: ['00'.repeat(32)] } })).rejects.toMatchObject({
      cause: { message: `the certificate of localhost is not a pinned one: ${pin}` },
    });
  });
});
