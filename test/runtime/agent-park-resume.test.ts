import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { resumeIn, runIn } from './park-project.ts';

const REVIEW = resolve('fixtures/review');

let directory: string;
let platform: Platform;

beforeEach(() => {
  directory = scratchDirectory();
  const node = createNodePlatform();
  const extra: Record<string, string> = { REVIEW_OUTBOX: join(directory, 'outbox') };
  platform = { ...node, env: { get: (name) => extra[name] ?? node.env.get(name), entries: () => ({ ...node.env.entries(), ...extra }) } };
});

function stateRoot(): string {
  return join(directory, '.harn');
}

const run = (path: string, mockFile?: string) => runIn({ platform, stateRoot: stateRoot() }, path, mockFile);
const resume = (path: string, input?: string, mockFile?: string) => resumeIn({ platform, stateRoot: stateRoot() }, path, input, mockFile);

function snapshots(): string[] {
  return readdirSync(join(stateRoot(), 'workers')).filter((name) => name.endsWith('.json'));
}

describe('the review example', () => {
  const script = join(REVIEW, 'review.harn');
  const mockFile = join(REVIEW, 'review.llm-mock.jsonl');

  test('parks with files read and a program run, and leaves one snapshot and no journal', async () => {
    const { value, printed } = await run(script, mockFile);
    expect(value).toMatchObject({
      status: 'suspended',
      initiator: 'self',
      reason: 'A maintainer has to decide whether totals may differ by a cent',
    });
    expect(printed).toContain('status: suspended');
    expect(readdirSync(join(stateRoot(), 'workers'))).toEqual(snapshots());
    const saved = readFileSync(String(value.snapshot_path), 'utf8');
    for (const seen of ['Math.round(applyDiscount', 'src/cart.js: no syntax errors', 'src/discount.js:2:']) expect(saved).toContain(seen);
  });

  test('R36: resumes in a fresh process without a script of answers; the tool runs and the summary quotes the input', async () => {
    const { value } = await run(script, mockFile);
    const { summary, messages, warnings } = await resume(String(value.snapshot_path), 'approved, keep the rounding');
    expect(summary).toMatchObject({
      status: 'completed',
      tools: { successful: ['read_change', 'search_sources', 'check_syntax', 'post_review'] },
    });
    expect(summary.summary).toContain('approved, keep the rounding');
    expect(messages).toContainEqual({ role: 'user', content: 'approved, keep the rounding' });
    expect(readFileSync(join(directory, 'outbox/review.md'), 'utf8')).toContain('Decision: approved, keep the rounding');
    expect(warnings).toBe('');
  });

  test('the same file of answers serves the resumed run as well', async () => {
    const { value } = await run(script, mockFile);
    const { summary } = await resume(String(value.snapshot_path), 'approved', mockFile);
    expect(summary).toMatchObject({ status: 'completed', summary: "The review is posted with the maintainer's decision." });
  });

  test('D6: the snapshot alone is enough, its script gone and its folder another', async () => {
    const copy = join(directory, 'project');
    cpSync(REVIEW, copy, { recursive: true });
    const { value } = await run(join(copy, 'review.harn'), mockFile);
    rmSync(copy, { recursive: true });
    const elsewhere = join(directory, 'moved.json');
    cpSync(String(value.snapshot_path), elsewhere);
    rmSync(stateRoot(), { recursive: true });
    const { summary } = await resume(elsewhere, 'yes');
    expect(summary.status).toBe('completed');
  });
});

describe('closures (5.12)', () => {
  const PARKS = `
pipeline default() {
  let base = 41
  let lock = channel("c", 1)
  var tools = tool_registry()
  tools = tool_define(tools, "add", "Add", {parameters: {n: {type: "int"}}, handler: { args -> args.n + base }})
  tools = tool_define(tools, "send", "Send", {parameters: {}, handler: { args -> send(lock, 1) }})
  llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
  println("the body runs")
  return agent_loop("Go", nil, {provider: "mock", tool_format: "native", max_iterations: 3, tools: tools})
}`;

  async function park(source = PARKS): Promise<{ snapshot: string; script: string }> {
    const script = join(directory, 'parks.harn');
    writeFileSync(script, source);
    const { value } = await run(script);
    return { snapshot: String(value.snapshot_path), script };
  }

  function answers(...entries: JsonObject[]): string {
    const path = join(directory, 'answers.jsonl');
    writeFileSync(path, entries.map((entry) => JSON.stringify(entry)).join('\n'));
    return path;
  }

  test('D11: captured values are right, nothing of the body runs, what could not be saved says so', async () => {
    const { snapshot } = await park();
    const mock = answers({ tool_calls: [{ name: 'add', args: { n: 1 } }, { name: 'send' }] }, { text: 'end' });
    const { messages, summary, warnings } = await resume(snapshot, undefined, mock);
    const results = messages.filter((message) => message.role === 'tool').map((message) => message.content);
    expect(results.slice(1)).toEqual(['42', 'Error: tool send cannot run after a cold restore: capture lock was not serialisable']);
    expect(summary.status).toBe('completed');
    expect(warnings).not.toContain('the body runs');
  });

  test('a changed script goes on with a warning; closures keep the code they had', async () => {
    const { snapshot, script } = await park();
    writeFileSync(script, `// a new first line moves every offset\n${PARKS.replace('args.n + base', 'args.n * base')}`);
    const { messages, warnings } = await resume(
      snapshot,
      undefined,
      answers({ tool_calls: [{ name: 'add', args: { n: 1 } }] }, { text: 'end' }),
    );
    expect(messages.filter((message) => message.role === 'tool').at(-1)?.content).toBe('42');
    expect(warnings).toContain('changed since the loop was parked');
  });

  const DECLARED = `
tool add(n: int) -> int {
  return n + 1
}
pipeline default() {
  llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
  return agent_loop("Go", nil, {provider: "mock", tool_format: "native", tools: add})
}`;

  test.each([
    ['renamed', DECLARED.replaceAll('add', 'plus'), 'the script changed and the tool add is gone'],
    ['gone', DECLARED.replace(/tool add[^}]*}/, '').replace(', tools: add', ''), 'the tool add is gone'],
    ['a function now', DECLARED.replace('tool add', 'fn add').replace('tools: add', 'tools: []'), 'the tool add is gone'],
    ['given one parameter more', DECLARED.replace('n: int', 'n: int, m: int'), 'the tool add takes other parameters'],
    ['given one that may be left out', DECLARED.replace('n: int', 'n: int, m: int = 1'), 'takes other parameters'],
    ['given a parameter of another name', DECLARED.replace('n: int', 'k: int').replace('n + 1', 'k + 1'), 'takes other parameters'],
    ['given a parameter of another type', DECLARED.replace('n: int', 'n: string').replace('return n + 1', 'return 1'), 'other parameters'],
    ['in a script that no longer compiles', `${DECLARED}\nfn (`, 'no longer compiles'],
  ])('T31: a declared tool that is %s stops the resume with SUS-004', async (_what, changed, message) => {
    const { snapshot, script } = await park(DECLARED);
    writeFileSync(script, changed);
    await expect(resume(snapshot)).rejects.toThrow(message);
    const bytes = readFileSync(snapshot, 'utf8');
    await expect(resume(snapshot)).rejects.toMatchObject({ code: 'HARN-SUS-004', data: { detail: { reason: 'program' } } });
    expect(readFileSync(snapshot, 'utf8')).toBe(bytes);
    // Nothing was consumed: with the script as it was, the worker goes on.
    writeFileSync(script, DECLARED);
    expect((await resume(snapshot, undefined, answers({ text: 'end' }))).summary.status).toBe('completed');
  });

  test.each([
    ['its code', DECLARED.replace('n + 1', 'n + 100'), '101'],
    ['its description', DECLARED.replace('return', 'description "Adds"\n  return'), '2'],
    ['a tool more', `${DECLARED.replace('tools: add', 'tools: [add, more]')}\ntool more() -> int { return 1 }`, '2'],
    ['the system prompt', DECLARED.replace('"Go", nil', '"Go", "Be somebody else"'), '2'],
    [
      'the task and the options',
      DECLARED.replace('"Go"', '"Stay"').replace('provider: "mock"', 'provider: "mock", max_iterations: 1'),
      '2',
    ],
  ])(
    'T31: a script that changed in %s goes on with a warning; prompt, tools and options are those of the park',
    async (_what, changed, result) => {
      const { snapshot, script } = await park(DECLARED);
      const before = JSON.parse(readFileSync(snapshot, 'utf8'));
      writeFileSync(script, changed);
      const { messages, warnings, summary } = await resume(
        snapshot,
        undefined,
        answers({ tool_calls: [{ name: 'add', args: { n: 1 } }] }, { tool_calls: [{ name: 'more', args: {} }] }, { text: 'end' }),
      );
      expect(summary.status).toBe('completed');
      expect(warnings).toContain('parks.harn changed since the loop was parked; its tools still fit');
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
      expect(results[1]).toBe(result);
      expect(results[2]).toMatch(/more/);
      expect(results[2]).not.toBe('1');
      expect(messages[0]).toMatchObject({ role: 'user', content: 'Go' });
      expect(JSON.parse(readFileSync(snapshot, 'utf8')).config).toEqual(before.config);
    },
  );

  test('T31: HARN_RESUME_STRICT=1 refuses every change of the script', async () => {
    const { snapshot, script } = await park(DECLARED);
    writeFileSync(script, `${DECLARED}\n// a comment\n`);
    const { env } = platform;
    platform = { ...platform, env: { ...env, get: (name) => (name === 'HARN_RESUME_STRICT' ? '1' : env.get(name)) } };
    await expect(resume(snapshot)).rejects.toMatchObject({
      code: 'HARN-SUS-004',
      message: expect.stringContaining('parks.harn changed since the loop was parked'),
    });
  });

  test('T31: a tool of an imported module is looked at where it is declared', async () => {
    const library = join(directory, 'lib.harn');
    const tool = 'pub tool add(n: int) -> int { return n + 1 }\n';
    writeFileSync(library, tool);
    const { snapshot } = await park(`import { add } from "./lib"\n${DECLARED.replace(/tool add[^}]*}/, '')}`);
    writeFileSync(library, tool.replace('n: int', 'n: int, m: int'));
    await expect(resume(snapshot)).rejects.toThrow('the script changed and the tool add takes other parameters');
    writeFileSync(library, tool.replace('n + 1', 'n + 5'));
    const mock = answers({ tool_calls: [{ name: 'add', args: { n: 1 } }] }, { text: 'end' });
    const { messages, warnings } = await resume(snapshot, undefined, mock);
    expect(messages.filter(({ role }) => role === 'tool').at(-1)?.content).toBe('6');
    expect(warnings).toContain('lib.harn changed since the loop was parked');
  });
});
