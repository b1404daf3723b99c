import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectMcp, type McpConnection } from '../../src/agent/mcp/mcp-client.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { HttpRequest } from '../../src/platform/platform.ts';

/** MCP servers over HTTP are reached as models are: through the proxy of the environment, with the patience of the caller. */
const platform = createNodePlatform();
const CANARY = 'mcp-canary-91';
let proxy: Server;
let asked: (string | undefined)[];
let requests: HttpRequest[];

const RESULTS: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'wiki', version: '1' } },
  'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
};

/** Whatever address is asked for, this server answers, as a proxy does. */
beforeEach(async () => {
  asked = [];
  requests = [];
  proxy = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push(request.url);
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (request.url?.endsWith('/moved') === true) return response.writeHead(308, { location: '/mcp' }).end();
    if (request.url?.endsWith('/elsewhere') === true) return response.writeHead(308, { location: 'http://evil.example.invalid/mcp' }).end();
    if (request.url?.endsWith('/refused') === true) return response.writeHead(403).end(`no entry for ${request.headers.authorization}`);
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/call') {
      const { name } = (JSON.parse(body) as { params: { name: string } }).params;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write(': on it\n\n', () => (name === 'cut' ? response.socket?.resetAndDestroy() : response.end()));
    }
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} });
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${reply}\r\n\r\n`);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterEach(
  () =>
    new Promise<void>((resolve) => {
      proxy.close(() => resolve());
      proxy.closeAllConnections();
    }),
);

function connect(path: string, timeoutMs = 60_000): Promise<McpConnection> {
  const variables: Readonly<Record<string, string>> = {
    HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    WIKI_AUTH: `Bearer ${CANARY}`,
  };
  const http = {
    request: (request: HttpRequest) => {
      requests.push(request);
      return platform.http.request(request);
    },
  };
  const spec = {
    name: 'wiki',
    transport: 'http' as const,
    url: `http://wiki.example.invalid${path}`,
    headers_env: { Authorization: 'WIKI_AUTH' },
  };
  const world = { http, env: (name: string) => variables[name], version: '0' };
  return connectMcp(world, spec, { signal: new AbortController().signal, timeoutMs });
}

const CALL = { signal: new AbortController().signal, timeoutMs: 60_000 };

describe('an MCP server over HTTP', () => {
  test('is reached through the proxy of the environment', async () => {
    const connection = await connect('/mcp');
    expect(await connection.tools(CALL)).toMatchObject([{ name: 'look' }]);
    expect(new Set(asked)).toEqual(new Set(['http://wiki.example.invalid/mcp']));
    expect(requests.every(({ headers }) => headers.authorization === `Bearer ${CANARY}`)).toBe(true);
    await connection.close();
  });

  test('may be silent for as long as its calls may take', async () => {
    const connection = await connect('/mcp', 900_000);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual(requests.map(() => 900_000));
    await connection.close();
  });

  test.each(['cut', 'end'])('may break off an answer (%s): the call ends then, and the next one is heard', async (name) => {
    const connection = await connect('/mcp');
    await expect(connection.callTool(name, {}, CALL)).rejects.toThrow('the connection broke off before the answer came');
    expect(await connection.tools(CALL)).toMatchObject([{ name: 'look' }]);
    await connection.close();
  });

  test('may redirect to itself', async () => {
    const connection = await connect('/moved');
    expect(await connection.tools(CALL)).toMatchObject([{ name: 'look' }]);
    await connection.close();
  });

  test('may repeat in a fault what it was sent, and nobody sees it', async () => {
    const fault = await connect('/refused').then(
      () => 'connected',
      (error: unknown) => String(error),
    );
    expect(fault).toContain('no entry for [secret]');
    expect(fault).not.toContain(CANARY);
  });

  test('may not redirect to another host, which would get its headers', async () => {
    const fault = await connect('/elsewhere').then(
      () => 'connected',
      (error: unknown) => String(error),
    );
    expect(fault).toMatch(/redirect/i);
    expect(fault).not.toContain(CANARY);
    expect(asked.filter((url) => url?.includes('evil'))).toEqual([]);
  });
});
