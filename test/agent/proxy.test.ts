import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import { proxyRoute } from '../../src/agent/providers/proxy.ts';
import { createRemoteProvider } from '../../src/agent/providers/remote-provider.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { openAiText } from './model-server.ts';

const P = 'http://proxy:3128';
const ROWS: readonly (readonly [url: string, env: Readonly<Record<string, string>>, proxy: string | undefined])[] = [
  ['https://api.openai.com/v1', {}, undefined],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P }, 'http://proxy:3128/'],
  ['https://api.openai.com/v1', { https_proxy: 'proxy:3128' }, 'http://proxy:3128/'],
  ['https://api.openai.com/v1', { HTTP_PROXY: P }, undefined],
  ['http://models.lan/v1', { HTTP_PROXY: P }, 'http://proxy:3128/'],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P, NO_PROXY: 'x, openai.com' }, undefined],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P, NO_PROXY: '.openai.com' }, undefined],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P, NO_PROXY: '*' }, undefined],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P, NO_PROXY: 'openai.com:8443' }, 'http://proxy:3128/'],
  ['https://api.openai.com/v1', { HTTPS_PROXY: P, NO_PROXY: 'ai.com' }, 'http://proxy:3128/'],
  ['http://localhost:11434', { HTTP_PROXY: P }, undefined],
  ['http://127.0.0.1:11434', { HTTP_PROXY: P }, undefined],
  ['http://[::1]:11434', { HTTP_PROXY: P }, undefined],
];

describe('the proxy of the environment', () => {
  test.each(ROWS)('%s with %j', (url, env, expected) => {
    expect(proxyRoute((name) => env[name], new URL(url))?.proxy?.url).toBe(expected);
  });

  test('its user and password become a header, and leave the address', () => {
    const route = proxyRoute((name) => (name === 'HTTPS_PROXY' ? 'http://me:p%40ss@proxy:1' : undefined), new URL('https://x.example'));
    expect(route).toEqual({ proxy: { url: 'http://proxy:1/', authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` } });
  });

  test('a model is asked through it', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url);
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(openAiText('through'));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { http, clock } = createNodePlatform();
    const env: Readonly<Record<string, string>> = {
      MINE_BASE_URL: 'http://models.example.invalid/v1',
      HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    };
    const provider = createRemoteProvider({ http, clock, env: (name) => env[name], settings: NO_SETTINGS }, 'mine');
    const request = { provider: 'mine', model: 'm', system: undefined, messages: [], tools: [], toolChoice: 'auto' as const, options: {} };
    const events = [];
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'finish', answer: { text: 'through' } });
    expect(asked).toEqual(['http://models.example.invalid/v1/chat/completions']);
    await new Promise<void>((resolve) => {
      proxy.close(() => resolve());
      proxy.closeAllConnections();
    });
  });
});
