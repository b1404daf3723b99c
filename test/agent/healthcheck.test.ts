import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkHealth, type Health, type HealthWish } from '../../src/agent/providers/healthcheck.ts';
import { NO_SETTINGS } from '../../src/agent/providers/llm-settings.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { type ModelServer, type Reply, startModelServer } from './model-server.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const json = { 'content-type': 'application/json' };
const MODELS: Reply = { headers: json, body: JSON.stringify({ data: [{ id: 'a' }, { id: 'b' }] }) };
const TAGS: Reply = { headers: json, body: JSON.stringify({ models: [{ name: 'llama3.2:latest' }] }) };

function check(wish: HealthWish, env: Readonly<Record<string, string>> = {}): Promise<Health> {
  const variables: Readonly<Record<string, string>> = {
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_BASE_URL: server.url,
    OLLAMA_HOST: server.url,
    ...env,
  };
  const { http, clock } = createNodePlatform();
  const world = { http, clock, env: (name: string) => variables[name], settings: NO_SETTINGS };
  return checkHealth(world, wish, new AbortController().signal);
}

interface Row {
  readonly what: string;
  readonly wish: HealthWish;
  readonly replies?: readonly Reply[];
  readonly env?: Readonly<Record<string, string>>;
  readonly expected: Partial<Health>;
  readonly paths?: readonly string[];
}

const ROWS: readonly Row[] = [
  { what: 'ready', wish: { provider: 'openai' }, replies: [MODELS], expected: { valid: true, status: 'ok' }, paths: ['/v1/models'] },
  { what: 'serves the model', wish: { provider: 'openai', model: 'b' }, replies: [MODELS], expected: { status: 'ok' } },
  {
    what: 'does not serve it',
    wish: { provider: 'openai', model: 'c' },
    replies: [MODELS],
    expected: { valid: false, status: 'model_missing', message: 'openai does not serve c' },
  },
  { what: 'refuses the key', wish: { provider: 'openai' }, replies: [{ status: 401 }], expected: { status: 'auth' } },
  { what: 'is broken', wish: { provider: 'openai' }, replies: [{ status: 500 }], expected: { status: 'bad_status' } },
  {
    what: 'has no key',
    wish: { provider: 'anthropic' },
    expected: { status: 'auth', message: 'anthropic needs an API key in ANTHROPIC_API_KEY' },
  },
  { what: 'has no address', wish: { provider: 'openai' }, env: { OPENAI_BASE_URL: 'nowhere' }, expected: { status: 'invalid_url' } },
  { what: 'is not known', wish: { provider: 'who' }, expected: { status: 'unknown_provider', message: 'Unknown provider: who' } },
  { what: 'is the scripted model', wish: { provider: 'mock' }, expected: { status: 'ok' } },
  {
    what: 'a tag stands for the latest',
    wish: { provider: 'ollama', model: 'llama3.2' },
    replies: [TAGS],
    expected: { status: 'ok' },
    paths: ['/api/tags'],
  },
  {
    what: 'is warmed up',
    wish: { provider: 'ollama', model: 'llama3.2', warm: true },
    replies: [TAGS, { headers: json, body: '{}' }],
    expected: { status: 'ok' },
    paths: ['/api/tags', '/api/generate'],
  },
  {
    what: 'does not load the model',
    wish: { provider: 'ollama', model: 'llama3.2', warm: true },
    replies: [TAGS, { status: 500, headers: json, body: '{"error":"out of memory"}' }],
    expected: { valid: false, status: 'bad_status', message: 'ollama answered 500 when it was to load llama3.2' },
  },
  {
    what: 'is gone while it loads the model',
    wish: { provider: 'ollama', model: 'llama3.2', warm: true },
    replies: [TAGS, { end: 'reset', body: '{' }],
    expected: { valid: false, status: 'unreachable' },
  },
  { what: 'cannot be warmed up without a model', wish: { provider: 'ollama', warm: true }, expected: { status: 'invalid_request' } },
];

describe('a service', () => {
  test.each(ROWS)('$what', async ({ wish, replies = [], env, expected, paths }) => {
    const before = server.received.length;
    server.reply(...replies);
    expect(await check(wish, env)).toMatchObject(expected);
    if (paths !== undefined) expect(server.received.slice(before).map(({ path }) => path)).toEqual(paths);
    else expect(server.received.length).toBe(before + replies.length);
  });

  test('a candidate key is tried instead of the configured one', async () => {
    server.reply(MODELS);
    expect(await check({ provider: 'anthropic', apiKey: 'candidate' })).toMatchObject({ valid: true });
    expect(server.received.at(-1)?.headers['x-api-key']).toBe('candidate');
    expect(server.received.at(-1)?.path).toBe('/v1/models');
  });

  test('nobody listens', async () => {
    const gone = await startModelServer();
    await gone.close();
    expect(await check({ provider: 'openai' }, { OPENAI_BASE_URL: `${gone.url}/v1` })).toMatchObject({
      status: 'unreachable',
      message: `openai cannot be reached at ${gone.url}: the connection was refused (ECONNREFUSED)`,
    });
  });

  test('a defect of ours is no dead server', async () => {
    const { clock } = createNodePlatform();
    const http = { request: () => Promise.reject(new TypeError('cannot read properties of undefined')) };
    const env = (name: string) => (name === 'OPENAI_API_KEY' ? 'k' : undefined);
    const asked = checkHealth({ http, clock, env, settings: NO_SETTINGS }, { provider: 'openai' }, new AbortController().signal);
    await expect(asked).rejects.toThrow('cannot read properties of undefined');
  });
});
