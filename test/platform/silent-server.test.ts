import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { NodeHttpClient } from '../../src/platform/node-http.ts';

// In a file of its own: the HTTP client goes on with the first timer that it ever made, so that must be one of the fake clock.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterAll(() => {
  vi.useRealTimers();
});

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** Takes a request and answers when it is told to. */
async function startSlow(): Promise<{ url: string; arrived: Promise<void>; begin: () => void; end: () => void }> {
  let held: ServerResponse | undefined;
  const server = createServer();
  open.push(server);
  const arrived = new Promise<void>((resolve) => {
    server.on('request', (_request, response) => {
      held = response;
      resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, arrived, begin: () => held?.write('late'), end: () => held?.end() };
}

const headers = { connection: 'close' };
const FOUR_HUNDRED_SECONDS = 400_000;

test('a silent server is given up after five minutes when nobody says how long', async () => {
  const server = await startSlow();
  const asked = new NodeHttpClient().request({ method: 'GET', url: server.url, headers, route: {} });
  const refused = expect(asked).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  await server.arrived;
  await vi.advanceTimersByTimeAsync(FOUR_HUNDRED_SECONDS);
  await refused;
});

test('a silent server is waited for as long as the caller says, before its headers and within its body', async () => {
  const server = await startSlow();
  const asked = new NodeHttpClient().request({ method: 'GET', url: server.url, headers, timeoutMs: 900_000 });
  await server.arrived;
  await vi.advanceTimersByTimeAsync(FOUR_HUNDRED_SECONDS);
  server.begin();
  const body = (await asked).stream()[Symbol.asyncIterator]();
  expect(Buffer.from((await body.next()).value ?? []).toString()).toBe('late');
  const rest = body.next();
  await vi.advanceTimersByTimeAsync(FOUR_HUNDRED_SECONDS);
  server.end();
  expect((await rest).done).toBe(true);
});
