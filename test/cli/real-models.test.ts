import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { type ModelServer, openAiText, type Received, type Reply, sse, startModelServer } from '../agent/model-server.ts';
import { CliWorld, type Ended, events } from './harn.ts';

/** The built program against a model service on the loopback interface. */
const KEY = 'sk-canary-5f2e9b81c3';

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

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const addresses = { OPENAI_BASE_URL: `${server.url}/v1`, ANTHROPIC_BASE_URL: server.url };
  return world.start(['run', ...args], { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, ...addresses, ...env }).ended;
}

function openAiCall(id: string, name: string, args: JsonObject): Reply {
  const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return {
    body: sse({ choices: [{ delta: { tool_calls: [call] } }] }, { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }, '[DONE]'),
  };
}

function anthropicCall(id: string, name: string, args: JsonObject): Reply {
  return {
    body: sse(
      { type: 'message_start', message: { model: 'claude-test', usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id, name, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  };
}

function anthropicEnd(text: string): Reply {
  return {
    body: sse(
      { type: 'message_start', message: { model: 'claude-test', usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  };
}

/** All text below a folder, with the names of the files. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => `${path}\n${readFileSync(path, 'utf8')}`)
    .join('\n');
}

const LOOP = (provider: string): string => `
tool note(text: string) -> string {
  description "Writes a line down."
  return "noted \${text}"
}

pipeline default() {
  let result = agent_loop("work", "You are careful.", {provider: "${provider}", model: "m-1", tool_format: "native", tools: note, max_iterations: 40, llm_backoff_ms: 1, reminders: true})
  println("status: \${result.status}")
  return result
}
`;

describe('secrets', () => {
  test('1.9: a key appears in no snapshot, journal, recording, event, error or output', async () => {
    world.write('work.harn', LOOP('openai'));
    server.reply(
      { status: 500, body: JSON.stringify({ error: { message: `bad ${KEY}` } }) },
      openAiCall('a', 'note', { text: 'one' }),
      openAiCall('b', 'agent_await_resumption', { reason: 'a decision' }),
    );
    const parked = await run(['--trace', '--json', '--llm-mock-record', 'recorded.jsonl', 'work.harn']);
    expect(parked).toMatchObject({ code: 0 });
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    const [snapshot = ''] = world.snapshots();
    server.reply({ status: 401, body: JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } }) });
    const resumed = await run(['--resume', snapshot, '--', 'go on']);
    expect(resumed.code).not.toBe(0);
    expect(`${resumed.stdout}${resumed.stderr}`).toContain('Incorrect API key provided: [key]');
    for (const text of [parked.stdout, parked.stderr, resumed.stdout, resumed.stderr, everything(world.folder)]) {
      expect(text).not.toContain('canary');
    }
  });

  test('1.9: what a script catches shows no key', async () => {
    world.write('ask.harn', 'let answer = llm_call_safe("hi", nil, {provider: "openai", model: "m"})\nprintln(json_stringify(answer))\n');
    server.reply({ status: 403, body: JSON.stringify({ error: { message: `${KEY} may not do this`, type: KEY } }) });
    const { stdout } = await run(['ask.harn']);
    expect(stdout).toContain('[key] may not do this');
    expect(stdout).not.toContain('canary');
  });
});

describe('a fault that ends a run', () => {
  const ASK = 'let a = 1\nprintln(llm_call("hi", nil, {provider: "openai", model: "m", timeout: TIMEOUT}).text)\n';

  test.each([
    ['a connection that breaks', '60', { body: 'data: {"choices":[]}\n\n', end: 'reset' } satisfies Reply],
    ['silence', '0.3', { start: 'silence' } satisfies Reply],
  ])('%s: names the line of the script, and what to do', async (_what, timeout, reply) => {
    world.write('ask.harn', ASK.replace('TIMEOUT', timeout));
    server.reply(reply);
    const { code, stdout, stderr } = await run(['--json', 'ask.harn']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const { error } = events(stdout).at(-1) as unknown as { error: { details: JsonObject } };
    expect(error.details).toMatchObject({
      at: { path: 'ask.harn', line: 2 },
      help: expect.stringContaining('llm_retries') as unknown as string,
    });
  });
});

describe('configuration', () => {
  test('a missing key is named before any request', async () => {
    world.write('ask.harn', 'llm_call("hi", nil, {provider: "openai"})\n');
    const { code, stderr } = await run(['ask.harn'], { OPENAI_API_KEY: '' });
    expect(code).not.toBe(0);
    expect(stderr).toContain('openai needs an API key in OPENAI_API_KEY');
    expect(server.received).toEqual([]);
  });

  const ASK = 'println(llm_call("hi").text)\n';
  const CHOICES: readonly (readonly [what: string, env: NodeJS.ProcessEnv, toml: string, path: string, model: string])[] = [
    ['HARN_PROVIDER and HARN_MODEL', { HARN_PROVIDER: 'openai', HARN_MODEL: 'gpt-x' }, '', '/v1/chat/completions', 'gpt-x'],
    [
      'HARN_LLM_PROVIDER before HARN_PROVIDER',
      { HARN_LLM_PROVIDER: 'openai', HARN_PROVIDER: 'ollama' },
      '',
      '/v1/chat/completions',
      'gpt-4o',
    ],
    ['[llm] of harn.toml', {}, '[llm]\nprovider = "openai"\nmodel = "gpt-y"\n', '/v1/chat/completions', 'gpt-y'],
    [
      'the environment before harn.toml',
      { HARN_MODEL: 'gpt-x' },
      '[llm]\nprovider = "openai"\nmodel = "gpt-y"\n',
      '/v1/chat/completions',
      'gpt-x',
    ],
    [
      'a provider of harn.toml',
      {},
      '[llm]\nprovider = "mine"\n[llm.providers.mine]\nbase_url = "URL/deep"\nauth_env = "MINE"\nmodel = "z"\n',
      '/deep/chat/completions',
      'z',
    ],
    ['an alias of harn.toml', { HARN_MODEL: 'fast' }, '[llm.aliases]\nfast = "openai:gpt-z"\n', '/v1/chat/completions', 'gpt-z'],
  ];
  test.each(CHOICES)('%s', async (_what, env, toml, path, model) => {
    world.write('harn.toml', toml.replace('URL', server.url));
    world.write('ask.harn', ASK);
    server.reply({ body: openAiText('hello') });
    expect(await run(['ask.harn'], { MINE: KEY, ...env })).toMatchObject({ stdout: 'hello\n', code: 0 });
    expect(server.received[0]).toMatchObject({ path, body: { model } });
  });

  test('a mistake in [llm] names file and key', async () => {
    world.write('harn.toml', '[llm]\nprovider = 3\n');
    world.write('ask.harn', ASK);
    const { code, stderr } = await run(['ask.harn']);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/harn\.toml: llm\.provider: /);
  });
});

describe('loops with real services', () => {
  test('a model of a server that nothing is known of gets the text grammar, and answers in it', async () => {
    world.write('work.harn', LOOP('mine').replace('tool_format: "native", ', ''));
    server.reply({ body: openAiText('<tool_call>note({text: "one"})</tool_call>') }, { body: openAiText('<done>##DONE##</done>') });
    expect(await run(['work.harn'], { MINE_BASE_URL: `${server.url}/v1` })).toMatchObject({ code: 0, stdout: 'status: done\n' });
    const [first, second] = server.received;
    expect(first?.body).not.toHaveProperty('tools');
    expect(first?.text).toContain('<tool_call>');
    expect(second?.text).toContain('[result of note]\\nnoted one');
  });

  test('arguments that are no JSON are an error of the tool, and the tool does not run', async () => {
    world.write('work.harn', LOOP('openai'));
    const call = { index: 0, id: 'a', function: { name: 'note', arguments: '{"text": ' } };
    const broken = sse({ choices: [{ delta: { tool_calls: [call] } }] }, { choices: [{ delta: {}, finish_reason: 'length' }] }, '[DONE]');
    server.reply({ body: broken }, { body: openAiText('end') });
    expect(await run(['work.harn'])).toMatchObject({ code: 0 });
    expect(server.received[1]?.text).toContain('Error: the arguments of note are not a JSON object: {\\"text\\": ');
    expect(server.received[1]?.text).not.toContain('noted');
  });

  test('a fault that no retry helps ends the loop, and the error has its category', async () => {
    world.write(
      'work.harn',
      LOOP('anthropic')
        .replace('let result =', 'let result = try { ')
        .replace('reminders: true})', 'reminders: true}) } catch (e) { {status: e.category} }'),
    );
    server.reply({ status: 400, body: JSON.stringify({ error: { message: 'prompt is too long: 9 > 8' } }) });
    expect(await run(['work.harn'])).toMatchObject({ stdout: 'status: generic\n' });
    expect(server.received).toHaveLength(1);
  });

  test('--llm-mock-record: what a service answered is answered again without it', async () => {
    world.write('work.harn', LOOP('openai'));
    server.reply(openAiCall('a', 'note', { text: 'ü' }), { body: openAiText('all done') });
    const recorded = await run(['--llm-mock-record', 'recorded.jsonl', 'work.harn']);
    expect(recorded).toMatchObject({ code: 0, stdout: 'status: done\n' });
    const lines = world.read('recorded.jsonl').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { tool_calls: [{ id: 'a', name: 'note', args: { text: 'ü' } }], stop_reason: 'tool_use', provider: 'openai' },
      { text: 'all done' },
    ]);
    expect(await run(['--llm-mock', 'recorded.jsonl', 'work.harn'], { OPENAI_API_KEY: '' })).toEqual(recorded);
    expect(server.received).toHaveLength(2);
  });

  test('a deadline ends a call in mid-answer, and the service sees the connection close', async () => {
    world.write(
      'late.harn',
      `mock_time(0)
let outcome = try {
  deadline 5s {
    let chunks = llm_stream("hi", nil, {provider: "openai", model: "m", llm_retries: 3})
    println(receive(chunks))
    advance_time(6000)
    receive(chunks)
  }
} catch (e) {
  error_category(e)
}
println(outcome)
`,
    );
    server.reply({ body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'silence' });
    expect((await run(['late.harn'])).stdout).toBe('half\ntimeout\n');
    await server.received[0]?.disconnected;
    expect(server.received).toHaveLength(1);
  });

  test('llm_rate_limit: a call waits for its minute', async () => {
    world.write(
      'limited.harn',
      `mock_time(0)
llm_rate_limit("openai", 1)
let ask = { _ -> llm_call("hi", nil, {provider: "openai", model: "m"}).text }
println(ask(1))
let second = spawn { ask(2) }
yield_now()
println(llm_usage().call_count)
advance_time(60000)
println(await(second))
`,
    );
    server.reply({ body: openAiText('one') }, { body: openAiText('two') });
    expect((await run(['limited.harn'])).stdout).toBe('one\n1\ntwo\n');
  });

  test('schema retries ask again with one correction, and the wrong answer is forgotten', async () => {
    world.write(
      'shaped.harn',
      `let data = llm_call_structured("n?", {type: "object", properties: {n: {type: "integer"}}, required: ["n"]}, {provider: "openai", model: "m"})
println(data.n)
println(agent_trace().map({ event -> event.type }))
`,
    );
    server.reply({ body: openAiText('about seven') }, { body: openAiText('```json\n{"n": 7}\n```') });
    const { stdout, stderr } = await run(['--trace', 'shaped.harn']);
    expect(stdout).toBe('7\n[llm_call, schema_retry, llm_call]\n');
    expect(stderr).toContain('harn: asking again (1): the answer contains no parseable JSON value');
    const [first, second] = server.received.map(({ body }) => body.messages as JsonObject[]);
    expect(second?.slice(0, -1)).toEqual(first);
    expect(JSON.stringify(second)).not.toContain('about seven');
  });
});

describe('a service that searches among deferred tools itself', () => {
  test('is told of like a search of the loop, on the trace and in the transcript', async () => {
    world.write(
      'work.harn',
      `pipeline default() {
  let tools = tool_define(tool_registry(), "deploy", "Ships it", {defer_loading: true, handler: { args -> "shipped" }})
  let shown = tool_define(tools, "look", "Looks", {handler: { args -> "seen" }})
  let result = agent_loop("work", nil, {provider: "anthropic", model: "claude-sonnet-4-20250514", tools: shown, tool_search: {mode: "native"}})
  for event in result.transcript.events {
    if event.kind.starts_with("tool_search") { println("\${event.kind} \${event.text} \${event.metadata.mode} \${event.metadata.strategy}") }
  }
}
`,
    );
    const search = { type: 'server_tool_use', id: 's1', name: 'tool_search_tool_bm25', input: { query: 'ship' } };
    const found = {
      type: 'tool_search_tool_result',
      tool_use_id: 's1',
      content: { type: 'tool_search_tool_search_result', tool_references: [{ type: 'tool_reference', tool_name: 'deploy' }] },
    };
    server.reply(
      {
        body: sse(
          { type: 'content_block_start', index: 0, content_block: search },
          { type: 'content_block_start', index: 1, content_block: found },
          { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c1', name: 'deploy', input: {} } },
          { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
          { type: 'message_stop' },
        ),
      },
      anthropicEnd('done'),
    );
    const { code, stdout } = await run(['--json', 'work.harn']);
    expect(code).toBe(0);
    const told = events(stdout).flatMap(({ data }) => {
      const event = data as { kind?: string };
      return event.kind?.startsWith('tool_search_') === true ? [event] : [];
    });
    const facts = { mode: 'native', strategy: 'bm25', tool: 'tool_search_tool_bm25' };
    expect(told).toMatchObject([
      { kind: 'tool_search_query', payload: { ...facts, query: { query: 'ship' } } },
      { kind: 'tool_search_result', payload: { ...facts, promoted: ['deploy'] } },
    ]);
    expect(stdout).toContain('tool_search_query ship native bm25');
    expect(stdout).toContain('tool_search_result deploy native bm25');
  });
});

describe('retries', () => {
  test('are lines of --trace and events of --json, and text that came before counts no more', async () => {
    world.write('work.harn', LOOP('openai'));
    const broken: Reply = { body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'reset' };
    server.reply(broken, { body: openAiText('whole') });
    const { stdout } = await run(['--trace', '--json', 'work.harn']);
    expect(stdout).toMatch(/harn: retry 1 of openai\/m-1 in \d+ ms: openai broke off .*, 4 characters of the answer are void/);
    const told = events(stdout).filter(({ data }) => data.kind === 'llm_retry');
    expect(told).toMatchObject([{ data: { payload: { attempt: 1, category: 'transient_network', discarded_chars: 4 } } }]);
    expect(stdout).not.toContain('halfwhole');
  });

  test('llm_stream: text that was read is not sent twice; the reader hears of the break', async () => {
    const script = `
let chunks = llm_stream("hi", nil, {provider: "openai", model: "m", llm_retries: 3, llm_backoff_ms: 1})
var text = ""
let outcome = try {
  for chunk in chunks { text = text + chunk }
  "complete"
} catch (e) {
  e.category
}
println("\${text} \${outcome}")
`;
    world.write('stream.harn', script);
    server.reply({ body: sse({ choices: [{ delta: { content: 'half' } }] }), end: 'reset' });
    expect((await run(['stream.harn'])).stdout).toBe('half transient_network\n');
    expect(server.received).toHaveLength(1);
  });
});

/** What a request sends of the conversation, one string for each piece that a prompt cache compares; moving marks left out. */
function pieces({ body }: Received): string[] {
  const messages = (Array.isArray(body.messages) ? body.messages : []) as JsonObject[];
  return messages.flatMap((message) =>
    Array.isArray(message.content) && message.role !== 'system'
      ? message.content.map((block) => JSON.stringify({ role: message.role, block: unmarked(block) }))
      : [JSON.stringify(message)],
  );
}

function unmarked(block: Json): Json {
  if (!isJsonObject(block)) return block;
  const { cache_control: _mark, ...rest } = block;
  return rest;
}

function isReminder(piece: string): boolean {
  return piece.includes('<system-reminder>');
}

describe('the prompt prefix', () => {
  const FORMATS = [
    ['openai', openAiCall, { body: openAiText('all done') }],
    ['anthropic', anthropicCall, anthropicEnd('all done')],
  ] as const;
  test.each(FORMATS)('%s: over 20 turns with a park each request begins with the bytes of the one before', async (provider, call, end) => {
    world.write('work.harn', LOOP(provider));
    const turn = (index: number): Reply => call(`call_${index}`, 'note', { text: `turn ${index}`, more: 'ü' });
    server.reply(
      ...Array.from({ length: 10 }, (_, index) => turn(index)),
      call('park', 'agent_await_resumption', { reason: 'a decision' }),
    );
    expect(await run(['work.harn'])).toMatchObject({ code: 0, stdout: 'status: suspended\n' });
    server.reply(...Array.from({ length: 9 }, (_, index) => turn(index + 10)), end);
    const [snapshot = ''] = world.snapshots();
    expect(await run(['--resume', snapshot, '--', 'go on'])).toMatchObject({ code: 0, stdout: 'all done\n' });

    const requests = server.received;
    expect(requests).toHaveLength(21);
    for (const [index, request] of requests.entries()) {
      const { messages: _messages, ...frame } = request.body;
      const { messages: _first, ...firstFrame } = (requests[0] as Received).body;
      expect(JSON.stringify(frame), `everything but the messages of request ${index}`).toBe(JSON.stringify(firstFrame));
      const next = requests[index + 1];
      if (next === undefined) continue;
      const kept = pieces(request).filter((piece) => !isReminder(piece));
      expect(pieces(next).slice(0, kept.length), `request ${index + 1}`).toEqual(kept);
      // What moves comes last.
      const firstReminder = pieces(request).findIndex(isReminder);
      if (firstReminder >= 0) expect(pieces(request).slice(firstReminder).every(isReminder)).toBe(true);
    }
    expect(pieces(requests.at(-1) as Received).length).toBeGreaterThan(40);
  });

  /** What a model thinks before it calls a tool, as each service gives it and wants it back. */
  const THOUGHTS = [
    [
      'anthropic',
      (index: number, name: string, args: JsonObject): Reply => ({
        body: sse(
          { type: 'message_start', message: { model: 'm-1', usage: {} } },
          { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: `t${index}`, signature: `s${index}` } },
          { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: `c${index}`, name, input: args } },
          { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
          { type: 'message_stop' },
        ),
      }),
      anthropicEnd('all done'),
      (index: number) => ({ type: 'thinking', thinking: `t${index}`, signature: `s${index}` }),
    ],
    [
      'deepseek',
      (index: number, name: string, args: JsonObject): Reply => {
        const call = { index: 0, id: `c${index}`, function: { name, arguments: JSON.stringify(args) } };
        const end = { choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] };
        return { body: sse({ choices: [{ delta: { reasoning_content: `t${index}` } }] }, end, '[DONE]') };
      },
      { body: openAiText('all done') },
      (index: number) => `t${index}`,
    ],
  ] as const;
  test.each(THOUGHTS)('%s: thoughts go back over tool turns, a park and a resume', async (provider, call, end, thought) => {
    const env = { DEEPSEEK_API_KEY: KEY, DEEPSEEK_BASE_URL: `${server.url}/v1` };
    world.write('work.harn', LOOP(provider));
    server.reply(call(0, 'note', { text: 'a' }), call(1, 'agent_await_resumption', { reason: 'a decision' }));
    expect(await run(['work.harn'], env)).toMatchObject({ code: 0, stdout: 'status: suspended\n' });
    server.reply(call(2, 'note', { text: 'b' }), end);
    expect(await run(['--resume', world.snapshots()[0] ?? '', '--', 'go on'], env)).toMatchObject({ code: 0, stdout: 'all done\n' });

    const messages = server.received.at(-1)?.body.messages as { role: string; content: Json; reasoning_content?: string }[];
    const said = messages.filter(({ role }) => role === 'assistant');
    expect(said.map(({ content, reasoning_content: text }) => text ?? (content as Json[])[0])).toEqual([
      thought(0),
      thought(1),
      thought(2),
    ]);
  });

  test('anthropic, cache: true: marks stand at the end of the system text and of the last message', async () => {
    world.write('ask.harn', 'println(llm_call("hi", "be brief", {provider: "anthropic", model: "claude-x", cache: true}).text)\n');
    server.reply(anthropicEnd('hello'));
    await run(['ask.harn']);
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(server.received[0]?.body).toMatchObject({
      system: [{ text: 'be brief', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }],
    });
  });
});
