import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/** `agent_await_resumption` and the tools of parents (spec/agents.md 7) as a script sees them. */
const SETUP = `
let base = {provider: "mock", tool_format: "native"}
fn made(registry, name, handler) { return tool_define(registry, name, "d", {parameters: {}, handler: handler}) }
fn refused(action) { return try { action(nil); "allowed" } catch e { e } }
fn contents(index) { return llm_mock_calls()[index].messages.map({ m -> m.content }) }
fn names(registry) { return registry.tools.map({ t -> t.name }) }
`;

const rows: [rule: string, script: string, expected: (string | RegExp)[]][] = [
  [
    '7.1 three keys, with one, two and three arguments; the callable comes back as it is',
    `fn owner(harness, suspension) { return {handled: true, mechanism: "mine"} }
println(agent_await_resumption("  x "))
println(agent_await_resumption("x", {timeout: {duration_minutes: 5}}).conditions)
println(agent_await_resumption("x", {}).conditions)
let request = agent_await_resumption("x", nil, owner)
println(request.resume_by(nil, nil).mechanism)`,
    ['{conditions: nil, reason: x, resume_by: nil}', '{timeout: {duration_minutes: 5, on_timeout: resume_with_summary}}', '{}', 'mine'],
  ],
  [
    '7.1 refuses the reason first, then the conditions, then the owner',
    `println(refused({ _ -> agent_await_resumption("", {bogus: 1}, 5) }))
println(refused({ _ -> agent_await_resumption("x", {bogus: 1}, 5) }))
println(refused({ _ -> agent_await_resumption("x", nil, 5) }))`,
    [
      'HARN-SUS-005: agent_await_resumption reason is required',
      'HARN-SUS-002: invalid ResumeConditions.bogus: unknown field; expected trigger, timeout, or on_event',
      'agent_await_resumption: resume_by must be a function or nil, got int',
    ],
  ],
  [
    '7.2 a handler that answers a request parks at the end of its turn; what only looks like one does not',
    `let tools = made(made(tool_registry(), "ask", { a -> agent_await_resumption("from a tool", {on_event: "t"}) }), "other", { a -> "ran" })
llm_mock({tool_calls: [{name: "ask", args: {}}, {name: "other", args: {}}]})
let s = agent_loop("go", nil, base + {tools: tools})
println("\${s.status} \${s.reason} \${s.initiator} \${s.conditions} \${s.iterations_completed}")
llm_mock({text: "end"})
println(wait_agent(resume_agent(s)).transcript.messages.filter({ m -> m.role == "tool" }).map({ m -> m.content }))
llm_mock({tool_calls: [{name: "ask", args: {}}]})
llm_mock({text: "end"})
println(agent_loop("go", nil, base + {tools: made(tool_registry(), "ask", { a -> {reason: "x", conditions: nil, resume_by: nil} })}).status)`,
    [
      'suspended from a tool self {on_event: t} 1',
      '[agent_await_resumption was not dispatched: awaiting_resumption — agent suspended awaiting resumption: from a tool, ran]',
      'done',
    ],
  ],
  [
    '7.2 so does post_turn_callback, unless the loop has ended with that turn',
    `let park = {post_turn_callback: { i -> if i.iteration == 0 { agent_await_resumption("from a callback") } else { nil } }}
llm_mock({tool_calls: [{name: "other", args: {}}]})
println(agent_loop("go", nil, base + park + {tools: made(tool_registry(), "other", { a -> "ran" })}).reason)
llm_mock({text: "end"})
println(agent_loop("go", nil, base + park).status)`,
    ['from a callback', 'done'],
  ],
  [
    '7.3 of two calls in a turn the first one counts',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "first"}}, {name: "agent_await_resumption", args: {reason: "second"}}]})
let s = agent_loop("go", nil, base)
println(s.reason)
println(wait_agent(resume_agent(s)).transcript.messages.filter({ m -> m.role == "tool" }).map({ m -> m.content }).last())`,
    ['first', 'agent_await_resumption was not dispatched: skipped — the agent suspended (agent_await_resumption) before this call ran'],
  ],
  [
    '7.3 the text grammar parks as well, and nothing does when the tool is taken away',
    `let call = {text: "<tool_call>agent_await_resumption({reason: \\"wait\\"})</tool_call>"}
llm_mock(call)
println(agent_loop("go", nil, {provider: "mock"}).reason)
llm_mock(call)
llm_mock({text: "end"})
println(agent_loop("go", nil, {provider: "mock", agent_await_resumption_enabled: false}).status)`,
    ['wait', 'done'],
  ],
  [
    '7.4 an invalid call: every call of the turn has its result, and the feedback names code and field',
    `llm_mock({tool_calls: [{name: "other", args: {}}, {name: "agent_await_resumption", args: {reason: "x", conditions: {trigger: "pr"}}}]})
llm_mock({text: "end"})
println(agent_loop("go", nil, base).status)
for text in contents(1).slice(2) { println(text.split("\\n").filter({ line -> line.contains("agent_await_resumption") }).last()) }`,
    [
      'done',
      'other was not dispatched: the agent_await_resumption call in this turn was invalid',
      'nil',
      /^Invalid agent_await_resumption call: HARN-SUS-002: .* \(conditions\.trigger\)\. /,
    ],
  ],
  [
    '7.5 tools of parents: when they are asked for, or the registry can start workers',
    `println(names(agent_lifecycle_tools()))
println(names(agent_lifecycle_tools(nil, {subagents: true})))
println(names(agent_lifecycle_tools(made(tool_registry(), "spawn_agent", { a -> 1 }))))
println(names(agent_lifecycle_tools(made(tool_registry(), "sub_agent_run", { a -> 1 }), {subagents: false})))
println(names(agent_lifecycle_tools(nil, {agent_await_resumption_enabled: false})))
println(names(agent_lifecycle_tools(agent_lifecycle_tools(nil, {subagents: true}))))`,
    [
      '[agent_await_resumption]',
      '[subagent_pause, subagent_resume, agent_await_resumption]',
      '[spawn_agent, subagent_pause, subagent_resume, agent_await_resumption]',
      '[sub_agent_run, agent_await_resumption]',
      '[]',
      '[subagent_pause, subagent_resume, agent_await_resumption]',
    ],
  ],
  [
    '7.5 takes the options of a loop as they are, and refuses what is none',
    `println(names(agent_lifecycle_tools(nil, {model: "m", subagents: true})).first())
println(refused({ _ -> agent_lifecycle_tools(5) }))
println(refused({ _ -> agent_lifecycle_tools(nil, 5) }))
println(refused({ _ -> agent_lifecycle_tools(nil, {subagents: "yes"}) }))`,
    [
      'subagent_pause',
      'agent_lifecycle_tools: first argument must be a tool registry',
      'agent_lifecycle_tools: options must be a dict, got int',
      'agent_lifecycle_tools: option `subagents` must be a bool, got string',
    ],
  ],
  [
    '7.5 what a model hears of the parent tools, with and without their arguments',
    `let child = spawn_agent({task: "x", options: base + {resume_when: {}}})
llm_mock({tool_calls: [{name: "subagent_pause", args: {}}, {name: "subagent_pause", args: {handle: child.id}}, {name: "subagent_resume", args: {}}, {name: "subagent_resume", args: {handle: child.id, continue_transcript: "no"}}, {name: "subagent_resume", args: {handle: child.id}}]})
llm_mock({text: "end"})
let _ = agent_loop("go", nil, base + {subagents: true})
for text in contents(1).slice(2) { println(text) }`,
    [
      'Error: subagent_pause: handle is required',
      /^Error: (subagent_pause: reason is required|unknown worker: worker_)/,
      'Error: subagent_resume: handle is required',
      /^Error: (subagent_resume: continue_transcript must be a bool|unknown worker: worker_)/,
      /^Error: unknown worker: worker_/,
    ],
  ],
];

describe('agent_await_resumption (7)', () => {
  it.each(rows)('%s', async (_rule, script, expected) => {
    const lines = await linesOf(`${SETUP}\n${script}\n`);
    expect(lines).toEqual(expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
  });
});
