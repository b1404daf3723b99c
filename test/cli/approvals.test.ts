import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';
import { mockFile } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const SCRIPT = `tool deploy() -> string { println("deployed"); return "ok" }
let r = agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: deploy, approval_policy: {require_approval: ["deploy"]}})
println(r.tools.rejected)
`;
const CALLS = [{ tool_calls: [{ name: 'deploy' }] }, { text: 'end' }];

test.each([
  ['what needs approval is refused', [], '[deploy]\n'],
  ['with --yes it is approved', ['--yes'], 'deployed\n[]\n'],
])('%s', (_rule, options, stdout) => {
  world.write('work.harn', SCRIPT);
  expect(world.harn(['run', ...options, 'work.harn', '--llm-mock', mockFile(world, 'a.jsonl', CALLS)])).toMatchObject({ code: 0, stdout });
});

test('--yes also approves for a loop that is resumed, and what a hook asks approval for', () => {
  world.write(
    'work.harn',
    `tool deploy() -> string { println("deployed"); return "ok" }
register_session_hook("pre_suspend", { e -> {decision: "ask"} })
agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: deploy, approval_policy: {require_approval: ["deploy"]}})
`,
  );
  const parks = mockFile(world, 'a.jsonl', [
    { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] },
    { text: 'end' },
  ]);
  expect(world.harn(['run', 'work.harn', '--llm-mock', parks]).stderr).not.toContain('resume with');
  expect(world.harn(['run', '--yes', 'work.harn', '--llm-mock', parks]).stderr).toContain('resume with');
  const [path = ''] = world.snapshots();
  const calls = mockFile(world, 'b.jsonl', CALLS);
  expect(world.harn(['run', '--yes', '--resume', path, '--llm-mock', calls])).toMatchObject({ code: 0, stdout: 'deployed\nend\n' });
});
