import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { resumeIn, runIn } from './park-project.ts';

const REVIEW = resolve('fixtures/review');

let directory: string;
let platform: Platform;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'harn-park-'));
  const node = createNodePlatform();
  const extra: Record<string, string> = { REVIEW_OUTBOX: join(directory, 'outbox') };
  platform = { ...node, env: { get: (name) => extra[name] ?? node.env.get(name), entries: () => ({ ...node.env.entries(), ...extra }) } };
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
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
    ['gone', DECLARED.replaceAll('add', 'plus'), 'the tool add is gone'],
    ['of another shape', DECLARED.replace('n: int', 'n: int, m: int'), 'takes other parameters'],
    ['in a script that no longer compiles', `${DECLARED}\nfn (`, 'no longer compiles'],
  ])('T31: a declared tool that is %s stops the resume with SUS-004', async (_what, changed, message) => {
    const { snapshot, script } = await park(DECLARED);
    writeFileSync(script, changed);
    await expect(resume(snapshot)).rejects.toThrow(message);
    await expect(resume(snapshot)).rejects.toMatchObject({ code: 'HARN-SUS-004', data: { detail: { reason: 'program' } } });
  });
});
