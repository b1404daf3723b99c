import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type ModelServer, type Reply, sse, startModelServer } from '../agent/model-server.ts';
import { CliWorld, type Ended } from './harn.ts';

let world: CliWorld;
let server: ModelServer;
beforeEach(async () => {
  world = new CliWorld();
  server = await startModelServer();
});
afterEach(async () => {
  await server.close();
  world.remove();
});

function doctor(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const none = { HARN_PROVIDER: '', ANTHROPIC_API_KEY: '' };
  return world.start(['doctor', ...args], { ...none, MINE_BASE_URL: `${server.url}/v1`, MINE_API_KEY: 'sk-doctor-canary', ...env }).ended;
}

/** What was seen, by name. */
function findings({ stdout }: Ended): Record<string, boolean> {
  const { data } = JSON.parse(stdout) as { data: { probe: { findings: { what: string; seen: boolean }[] } } };
  return Object.fromEntries(data.probe.findings.map(({ what, seen }) => [what, seen]));
}

const json = { 'content-type': 'application/json' };
const MODELS: Reply = { headers: json, body: JSON.stringify({ data: [{ id: 'm' }] }) };

function text(...pieces: string[]): Reply {
  const deltas = pieces.map((content): JsonObject => ({ choices: [{ delta: { content } }] }));
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  return { body: sse(...deltas, { choices: [{ delta: {}, finish_reason: 'stop' }] }, { choices: [], usage }, '[DONE]') };
}

function calls(...cities: string[]): Reply {
  const parts = cities.map((city, index) => ({
    index,
    id: `c${index}`,
    function: { name: 'weather', arguments: JSON.stringify({ city }) },
  }));
  return {
    body: sse({ choices: [{ delta: { tool_calls: parts } }] }, { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }, '[DONE]'),
  };
}

describe('a service is asked what it really does', () => {
  test('one that does everything', async () => {
    server.reply(MODELS, text('one ', 'two'), calls('Rome', 'Oslo'), text('21'), text('{"sum":7}'));
    const ended = await doctor(['mine', '--model', 'm', '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(findings(ended)).toEqual({
      answers: true,
      streams: true,
      'counts usage': true,
      'calls tools': true,
      'calls several tools at once': true,
      'reads results of tools': true,
      'keeps to a JSON Schema': true,
    });
    expect(server.received.map(({ path }) => path)).toEqual(['/v1/models', ...Array<string>(4).fill('/v1/chat/completions')]);
    expect(ended.stdout).not.toContain('canary');
  });

  test('one that neither streams nor counts, and knows no tools and no schema', async () => {
    const whole = { headers: json, body: JSON.stringify({ choices: [{ message: { content: 'one two' }, finish_reason: 'stop' }] }) };
    const refused = { status: 400, headers: json, body: JSON.stringify({ error: { message: 'tools is not supported' } }) };
    server.reply({ status: 404 }, whole, refused, refused, whole);
    const ended = await doctor(['mine', '--model', 'm', '--json']);
    expect(ended.code).toBe(0);
    expect(findings(ended)).toEqual({
      answers: true,
      streams: false,
      'counts usage': false,
      'calls tools': false,
      'calls several tools at once': false,
      'reads results of tools': false,
      'keeps to a JSON Schema': false,
    });
    expect(ended.stdout).toContain('tools is not supported');
  });

  test('one that refuses the key is not asked further', async () => {
    server.reply({ status: 401 });
    const ended = await doctor(['mine']);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('FAIL mine: refuses the key (status 401)');
    expect(server.received).toHaveLength(1);
  });
});

describe('without a provider nothing is asked', () => {
  test('a fresh machine is well', async () => {
    const ended = await doctor([]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^ok {3}Node: .*\nok {3}state folder: .*\nok {3}harn\.toml: none\nok {3}model: none is set up /);
    expect(server.received).toEqual([]);
  });

  test('the state folder is where runs have it, also from a relative name', async () => {
    const ended = await doctor([], { HARN_STATE_DIR: 'state' });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain(`state folder: ${world.folder}/state\n`);
  });

  test('a chosen provider without its key is not', async () => {
    const ended = await doctor([], { HARN_PROVIDER: 'openai', OPENAI_API_KEY: '' });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('FAIL model: openai needs an API key in OPENAI_API_KEY');
  });

  test('a project file that cannot be read is told', async () => {
    world.write('harn.toml', '[llm]\nprovider = 1\n');
    const ended = await doctor([]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('llm.provider');
  });
});
