import { describe, expect, test } from 'vitest';
import type { MockProvider } from '../../src/agent/providers/mock-provider.ts';
import { findTools } from '../../src/agent/tools/tool-search.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { result, runActivation, script, sent, tool } from './fake-activation.ts';

/** Tools that the model has to look for (spec/agents.md 2.2 `defer_loading`). */
const READ = tool('read', () => 'content');
const DEPLOY = tool('deploy_service', () => 'deployed', { description: 'Ships the service to production', deferLoading: true });
const METRICS = tool('query_metrics', () => '42', { description: 'Asks the monitoring', deferLoading: true });
const TOOLS = [READ, DEPLOY, METRICS];
const NAME = '__harn_tool_search';

function call(name: string, args: JsonObject = {}): JsonObject {
  return { tool_calls: [{ name, args }] };
}

/** Names of the tools that each request showed. */
function shown(mock: MockProvider): string[][] {
  return (sent(mock) as unknown as { tools: { function: { name: string } }[] }[]).map(({ tools }) =>
    tools.map((one) => one.function.name).filter((name) => name !== 'agent_await_resumption'),
  );
}

describe('a loop with tool_search', () => {
  test('shows deferred tools once they were found, and runs them', async () => {
    const mock = script(call(NAME, { query: 'ship to production' }), call('deploy_service'), { text: 'end' });
    const run = await runActivation({ mock, options: { tool_search: true }, live: { tools: TOOLS } });
    expect(shown(mock)).toEqual([
      [NAME, 'read'],
      [NAME, 'read', 'deploy_service'],
      [NAME, 'read', 'deploy_service'],
    ]);
    expect(result(run)).toMatchObject({ tools: { successful: [NAME, 'deploy_service'] } });
    const told = run.events.filter(({ type }) => type === 'tool_search_query' || type === 'tool_search_result');
    expect(told).toMatchObject([
      { type: 'tool_search_query', mode: 'client', strategy: 'bm25', query: { query: 'ship to production' } },
      { type: 'tool_search_result', promoted: ['deploy_service'] },
    ]);
  });

  test('goes on with what it had found after a park', async () => {
    const parked = await runActivation({
      mock: script(call(NAME, { query: 'monitoring' })),
      options: { tool_search: 'bm25' },
      live: { tools: TOOLS },
      worker: { suspendAt: { 1: { initiator: 'self', conditions: undefined, reason: 'wait' } } },
    });
    const mock = script({ text: 'end' });
    const state = parked.parkedState;
    if (state === undefined) throw new Error('not parked');
    await runActivation({ mock, options: { tool_search: 'bm25' }, live: { tools: TOOLS }, state });
    expect(shown(mock)).toEqual([[NAME, 'read', 'query_metrics']]);
  });

  test('with a budget the newest find stays and the oldest goes', async () => {
    const mock = script(call(NAME, { query: 'production' }), call(NAME, { query: 'monitoring' }), { text: 'end' });
    await runActivation({ mock, options: { tool_search: { budget_tokens: 10 } }, live: { tools: TOOLS } });
    expect(shown(mock).at(-1)).toEqual([NAME, 'read', 'query_metrics']);
  });

  test('an expression that is none is an error of the tool', async () => {
    const mock = script(call(NAME, { query: '(' }), { text: 'end' });
    const run = await runActivation({ mock, options: { tool_search: 'regex' }, live: { tools: TOOLS } });
    expect(JSON.stringify(run.events)).toContain('is no regular expression');
    expect(result(run)).toMatchObject({ status: 'done' });
  });

  test('without the option every tool is shown from the start', async () => {
    const mock = script({ text: 'end' });
    await runActivation({ mock, live: { tools: TOOLS } });
    expect(shown(mock)).toEqual([['read', 'deploy_service', 'query_metrics']]);
  });

  test('native search is refused where nothing says that the service has it', async () => {
    const asked = runActivation({ mock: script(), options: { tool_search: { mode: 'native' } }, live: { tools: TOOLS } });
    await expect(asked).rejects.toThrow('tool_search: mock/mock does not expose native tool search; use mode: "client"');
  });
});

describe('searching', () => {
  const tools = [
    { name: 'deployService', description: 'Ships a service' },
    { name: 'list_services', description: 'Lists what is deployed' },
    { name: 'other', description: 'Nothing of the kind' },
  ];
  const ROWS: readonly (readonly [variant: 'bm25' | 'regex', query: string, found: readonly string[]])[] = [
    ['bm25', 'deploy', ['deployService']],
    ['bm25', 'service', ['deployService']],
    ['bm25', 'ships lists', ['deployService', 'list_services']],
    ['bm25', '', []],
    ['regex', 'deploy', ['deployService', 'list_services']],
    ['regex', '^(list|other)', ['list_services', 'other']],
  ];
  test.each(ROWS)('%s %j', (variant, query, found) => {
    expect(new Set(findTools(variant, query, tools).map((one) => one.name))).toEqual(new Set(found));
  });

  test('a match in the name comes before one in the description', () => {
    const both = [
      { name: 'a', description: 'the metrics' },
      { name: 'metrics', description: 'b' },
    ];
    expect(findTools('bm25', 'metrics', both).map((one) => one.name)).toEqual(['metrics', 'a']);
  });
});
