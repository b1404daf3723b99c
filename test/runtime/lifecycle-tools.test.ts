import { beforeAll, describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { sharedDirectory } from '../support/scratch.ts';
import { runText } from './run-text.ts';

let directory: string;

beforeAll(() => {
  directory = sharedDirectory();
});

function platform(): Platform {
  const node = createNodePlatform();
  return {
    ...node,
    env: { get: (name) => (name === 'HARN_STATE_DIR' ? directory : node.env.get(name)), entries: () => node.env.entries() },
  };
}

async function lines(script: string): Promise<string[]> {
  return (await runText(script, platform())).out.trimEnd().split('\n');
}

describe('lifecycle tools (7.5)', () => {
  test('calling it twice adds nothing, and the own tool cannot be called directly (R55)', async () => {
    expect(
      await lines(`let r = agent_lifecycle_tools(agent_lifecycle_tools(nil, {subagents: true}), {subagents: true})
println(tool_list(r).map({ t -> t.name }))
println(tool_count(agent_lifecycle_tools(nil, {agent_await_resumption_enabled: false})))
println(unwrap_err(try { tool_find(r, "agent_await_resumption").handler({reason: "x"}) }).detail.reason)`),
    ).toEqual(['[subagent_pause, subagent_resume, agent_await_resumption]', '0', 'not_structural']);
  });

  test('R59: the model of the parent resumes a child that it started parked; the tool is offered because it can spawn', async () => {
    const script = `
let spawner = tool_define(tool_registry(), "spawn_agent", "Start", {parameters: {}, handler: { a ->
  spawn_agent({task: "child", options: {provider: "mock", tool_format: "native", resume_when: {}}}).id
}})
fn after_spawn(turn) {
  if turn.iteration == 0 {
    llm_mock({tool_calls: [{name: "subagent_resume", args: {handle: list_agents()[0].id, input: "yes"}}]})
    llm_mock({text: "end", match: "*"})
  }
  return nil
}
llm_mock({tool_calls: [{name: "spawn_agent", args: {}}]})
let p = agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: spawner, post_turn_callback: after_spawn})
println(p.tools.successful)
println(wait_agent(list_agents()[0]).status)`;
    expect(await lines(script)).toEqual(['[spawn_agent, subagent_resume]', 'completed']);
  });

  test('a worker that is not its own is unknown to it', async () => {
    const script = `
let other = spawn_agent({task: "other", options: {provider: "mock", tool_format: "native", resume_when: {}}})
llm_mock({tool_calls: [{name: "subagent_pause", args: {handle: other.id, reason: "x"}}, {name: "subagent_resume", args: {}}]})
llm_mock({text: "end"})
let p = agent_loop("go", nil, {provider: "mock", tool_format: "native", subagents: true})
println(p.transcript.messages[2].content == "Error: unknown worker: " + other.id)
println(p.transcript.messages[3].content)`;
    expect(await lines(script)).toEqual(['true', 'Error: subagent_resume: handle is required']);
  });
});
