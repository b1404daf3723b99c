import { describe, expect, it } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { runText, type ScriptRow } from './run-text.ts';

/** Each script has its own state; a frozen clock would hold back workers that run beside it. */
async function lines(script: string): Promise<string[]> {
  const state = scratchDirectory();
  const node = createNodePlatform();
  const env = { get: (name: string) => (name === 'HARN_STATE_DIR' ? state : node.env.get(name)), entries: () => node.env.entries() };
  const { out, outcome } = await runText(script, { ...node, env });
  const printed = out.split('\n').slice(0, -1);
  return outcome.kind === 'failed' ? [...printed, `FAILED ${outcome.failure.message}`] : printed;
}

const TOOLS = `fn tools_of(names) {
  return names.reduce(tool_registry(), { reg, name -> tool_define(reg, name, name, {parameters: {}, handler: { _args -> "ran " + name }}) })
}
fn call(name) { return {tool_calls: [{name: name, arguments: {}}]} }
let base = {provider: "mock", tool_format: "native"}
fn refused(result) { return transcript_messages(result.transcript).filter({ m -> m.role == "tool" }).map({ m -> m.content.contains("permission_denied") }) }
`;

const SUB_AGENTS: readonly ScriptRow[] = [
  [
    'a tool that is not among the allowed ones is denied, and the envelope names it',
    `llm_mock(call("write"))
let child = sub_agent_run("go", base + {tools: tools_of(["read", "write"]), allowed_tools: ["read"], max_iterations: 1})
println("\${child.ok} \${child.error.category} \${child.error.tool}")`,
    ['false permission_denied write'],
  ],
  [
    'data that does not fit the schema is an error of the child',
    `llm_mock({text: "{\\"n\\": \\"x\\"}"})
let child = sub_agent_run("go", base + {returns: {schema: {type: "object", properties: {n: {type: "integer"}}}}})
println("\${child.ok} \${child.error.category} \${child.data}")`,
    ['false schema_validation {n: x}'],
  ],
  [
    'in the background the result is the same envelope',
    `llm_mock({text: "{\\"n\\": 3}"})
let handle = sub_agent_run("go", base + {background: true, returns: {schema: {type: "object", properties: {n: {type: "integer"}}}}})
let done = wait_agent(handle)
println("\${handle.mode} \${done.status} \${done.result.ok} \${done.result.data} \${done.result.session_id.starts_with("sub_agent_session_")}")`,
    ['sub_agent completed true {n: 3} true'],
  ],
  [
    'a child whose model fails gives an envelope that says so',
    `llm_mock({error: {category: "auth", message: "no key"}})
let child = sub_agent_run("go", base)
println("\${child.ok} \${child.status} \${child.error.message.contains("no key")}")`,
    ['false failed true'],
  ],
  [
    'a child that parks is handed over with its suspension',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})
llm_mock({text: "done"})
let child = sub_agent_run("go", base)
println("\${child.ok} \${child.status} \${child.error} \${child.suspension.reason}")
resume_agent(child.suspension)
println(wait_agent(child.suspension.handle).result.summary)`,
    ['false suspended nil wait', 'done'],
  ],
  [
    'a request is a value that starts nothing until it is run',
    `llm_mock({text: "one"})
llm_mock({text: "two"})
let request = sub_agent_request("go", base)
println(len(list_agents()))
println(sub_agent_run(request).summary)
println(wait_agent(spawn_agent(request)).result.summary)
println(try { sub_agent_request("  ") } catch (e) { e })`,
    ['0', 'one', 'two', 'sub_agent_request: task is required'],
  ],
  [
    'what a worker is asked for beside its task stays on its summary',
    `llm_mock({text: "ok"})
let done = wait_agent(sub_agent_run("go", base + {background: true, request: {topic: "t"}, workflow_stages: ["a"], system: "s"}))
println(worker_request(done).filter({ v -> v != nil && v != [] }))`,
    ['{payload: {topic: t}, system: s, task: go, workflow_stages: [a]}'],
  ],
];

const NARROWING: readonly ScriptRow[] = [
  [
    'a child may not use what the policy of its parent keeps away',
    `var seen = atomic(0)
let inner = tools_of(["read", "write"])
let outer = tool_define(tool_registry(), "delegate", "d", {parameters: {}, handler: { _args ->
  let child = sub_agent_run("go", base + {tools: inner, policy: {tools: ["read", "write"]}})
  println(refused(child))
  "ok"
}})
llm_mock(call("delegate"))
llm_mock({tool_calls: [{name: "read", arguments: {}}, {name: "write", arguments: {}}]})
llm_mock({text: "child done"})
llm_mock({text: "done"})
agent_loop("go", nil, base + {tools: outer, policy: {tools: ["delegate", "read"]}})`,
    ['[false, true]'],
  ],
  [
    'a nested loop is held by the permissions of the outer one, and its own grants do not help',
    `let outer = tool_define(tool_registry(), "delegate", "d", {parameters: {}, handler: { _args ->
  println(refused(agent_loop("go", nil, base + {tools: tools_of(["write"]), permissions: {allow: ["*"], on_escalation: { _r -> true }}})))
  "ok"
}})
llm_mock(call("delegate"))
llm_mock(call("write"))
llm_mock({text: "inner done"})
llm_mock({text: "done"})
agent_loop("go", nil, base + {tools: outer, permissions: {deny: ["write"]}})`,
    ['[true]'],
  ],
  [
    'the recursion limit counts the levels of agents below',
    `fn delegate(depth) {
  return tool_define(tool_registry(), "delegate", "d", {parameters: {}, handler: { _args ->
    println(depth)
    sub_agent_run("go", base + {max_iterations: 1, tools: delegate(depth + 1)})
    "ok"
  }})
}
for _i in 1 to 4 { llm_mock(call("delegate")) }
let result = agent_loop("go", nil, base + {max_iterations: 1, tools: delegate(0), policy: {recursion_limit: 2}})
println(len(list_agents()))`,
    ['0', '1', '2', '2'],
  ],
  [
    'the ceiling is in the snapshot',
    `let handle = spawn_agent({task: "go", policy: {tools: ["a"]}, carry: {policy: {tools: ["a", "b"]}}, options: base + {resume_when: {}}})
println(json_parse(read_file(handle.snapshot_path)).carry_policy.policy.tools)`,
    ['[a]'],
  ],
];

const CARRIED: readonly ScriptRow[] = [
  ...['inherit', 'fork', 'reset'].map(
    (mode): ScriptRow => [
      `carry.transcript_mode ${mode}`,
      `llm_mock({text: "one"})
llm_mock({text: "two"})
let first = wait_agent(spawn_agent({task: "first", options: base, carry: {transcript_mode: "${mode}"}}))
let second = wait_agent(send_input(first, "second"))
println(transcript_messages(second.transcript).map({ m -> m.content }))
println(second.transcript.metadata.parent_transcript_id == first.transcript.id)`,
      mode === 'reset' ? ['[second, two]', 'false'] : ['[first, one, second, two]', String(mode === 'fork')],
    ],
  ),
  [
    'carry.transcript_mode compact keeps a summary and the end',
    `llm_mock({text: "answer"})
llm_mock({text: "two"})
let long = transcript_from_messages([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map({ n -> {role: "user", content: "message \${n}"} }))
let first = wait_agent(spawn_agent({task: "first", transcript: long, options: base, carry: {transcript_mode: "compact"}}))
let second = wait_agent(send_input(first, "second"))
println(transcript_messages(second.transcript)[0].content.contains("Earlier conversation"))
println(len(transcript_messages(second.transcript)))`,
    ['true', '13'],
  ],
  [
    'a stage leaves an artifact of the kind that its node promises; artifact_mode none starts without',
    `llm_mock({text: "one"})
llm_mock({text: "two"})
let config = {task: "first", options: base, node: {output_contract: {output_kinds: ["summary"]}}, carry: {artifact_mode: "none"}}
let first = wait_agent(spawn_agent(config))
let saved = json_parse(read_file(first.snapshot_path)).artifacts
println("\${first.artifact_count} \${saved[0].kind} \${saved[0].text}")
println(wait_agent(send_input(first, "second")).artifact_count)`,
    ['1 summary one', '1'],
  ],
  ...['true', 'false'].map(
    (wanted): ScriptRow => [
      `a graph that stopped early goes on with the next task: resume_workflow ${wanted}`,
      `let flow = workflow_graph({entry: "a", nodes: {a: {kind: "fork"}, b: {kind: "fork"}}, edges: [{from: "a", to: "b"}]})
let config = {task: "x", graph: flow, carry: {resume_workflow: ${wanted}}, options: {max_steps: 1, persist_path: path_join(env("HARN_STATE_DIR"), "workers-run.json")}}
let first = wait_agent(spawn_agent(config))
println("\${first.mode} \${first.status} \${first.result.status} \${first.child_run_path != nil}")
let second = wait_agent(send_input(first, "more"))
println("\${second.result.status} \${second.result.run.completed_nodes} \${second.child_run_id == first.child_run_id}")`,
      ['workflow completed paused true', wanted === 'true' ? 'completed [a, b] true' : 'paused [a] false'],
    ],
  ),
  [
    'a retriggerable worker waits between its cycles and can be neither suspended nor resumed',
    `llm_mock({text: "one"})
llm_mock({text: "two"})
let handle = spawn_agent({task: "first", options: base, wait: true, carry: {retriggerable: true}})
println("\${list_agents()[0].lifecycle_state} \${worker_result(handle).summary}")
println(try { suspend_agent(handle) } catch (e) { e.code })
println(try { resume_agent(handle) } catch (e) { e.code })
println(worker_trigger(handle, {more: 1}).task)
harness.wait_for_any_settlement(60000)
println(worker_result(handle).summary)
println(close_agent(handle).status)
println(try { worker_trigger(handle, {}) } catch (e) { e.contains("cannot take a new task") })`,
    ['running one', 'HARN-SUS-001', 'HARN-SUS-003', '{"more":1}', 'two', 'cancelled', 'true'],
  ],
  [
    'wait_agent keeps the order of its list, and refuses who it does not know',
    `llm_mock({text: "x"})
llm_mock({text: "y"})
let a = spawn_agent({task: "a", name: "a", options: base})
let b = spawn_agent({task: "b", name: "b", options: base})
println(wait_agent([b, a]).map({ s -> s.name }))
println(list_agents().map({ s -> s.name }))
println(try { wait_agent("worker_x") } catch (e) { e })
println(try { wait_agent({name: "x"}) } catch (e) { e })`,
    ['[b, a]', '[a, b]', 'unknown worker: worker_x', 'agent handle dict is missing an id field'],
  ],
  [
    'send_input refuses a running worker and a blank task',
    `llm_mock({text: "x"})
let a = spawn_agent({task: "a", options: base})
println(try { send_input(a, "more") } catch (e) { e.contains("status=running") })
wait_agent(a)
println(try { send_input(a, "  ") } catch (e) { e })`,
    ['true', 'send_input: task must be a non-empty string'],
  ],
];

const PLACES: readonly ScriptRow[] = [
  [
    'execution.cwd and env hold for the tools of a worker and for what they start, and for nothing else',
    `let place = path_join(env("HARN_STATE_DIR"), "place")
mkdir(place)
let where = tool_define(tool_registry(), "where", "w", {parameters: {}, handler: { _args ->
  write_file("here.txt", "x")
  [cwd() == place, shell("pwd").stdout.trim() == place, env("HARN_PLACE"), shell("printf %s $HARN_PLACE").stdout]
}})
llm_mock(call("where"))
llm_mock({text: "done"})
let done = spawn_agent({task: "go", options: base, tools: where, wait: true, execution: {cwd: place, env: {HARN_PLACE: "inner"}}})
println(transcript_messages(done.transcript)[2].content.replace("\\n", "").replace(" ", ""))
println("\${file_exists(path_join(place, "here.txt"))} \${cwd() == place} \${env("HARN_PLACE")}")
println(done.execution.env)`,
    ['[true,true,"inner","inner"]', 'true false nil', '[HARN_PLACE]'],
  ],
  [
    'a directory that is not there, or an unknown key, is refused before anything starts',
    `println(try { spawn_agent({task: "go", execution: {cwd: "/nowhere/at/all"}}) } catch (e) { e })
println(try { spawn_agent({task: "go", execution: {cdw: "/"}}) } catch (e) { e })
println(len(list_agents()))`,
    ['spawn_agent: execution.cwd /nowhere/at/all is not a directory', 'spawn_agent: unknown execution key `cdw`', '0'],
  ],
  [
    'a work tree of its own is made for a worker and goes with it',
    `let repo = path_join(env("HARN_STATE_DIR"), "repo")
mkdir(repo)
shell_at(repo, "git init -q && git -c user.name=h -c user.email=h@example.com commit -q --allow-empty -m init")
let where = tool_define(tool_registry(), "where", "w", {parameters: {}, handler: { _args -> shell("git branch --show-current").stdout.trim() }})
llm_mock(call("where"))
llm_mock({text: "done"})
let tree = repo + "-tree"
let done = spawn_agent({task: "go", options: base, tools: where, wait: true, execution: {worktree: {repo: repo, path: tree, branch: "feature", cleanup: "remove"}}})
println(transcript_messages(done.transcript)[2].content)
println(file_exists(tree))`,
    ['feature', 'false'],
  ],
];

const SESSIONS: readonly ScriptRow[] = [
  [
    'a loop that is resumed in the background stores its session like one in the foreground',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})
llm_mock({text: "done"})
let parked = agent_loop("go", nil, base + {session_id: "chat"})
wait_agent(resume_agent(parked.handle, "answer"))
println(agent_session_messages("chat").filter({ m -> m.role != "tool" }).map({ m -> m.content }))`,
    ['[go, , answer, done]'],
  ],
  [
    'a spawned loop stores it too, and a session that only a sub-agent uses is not kept',
    `llm_mock({text: "one"})
llm_mock({text: "two"})
wait_agent(spawn_agent({task: "go", options: base + {session_id: "named"}}))
let child = sub_agent_run("go", base)
println("\${agent_session_length("named")} \${agent_session_exists(child.session_id)}")`,
    ['2 false'],
  ],
  [
    'a snapshot of a session shows its place among the forks',
    `let root = agent_session_open("root")
agent_session_inject(root, {role: "user", content: "a"})
agent_session_inject(root, {role: "user", content: "b"})
agent_session_fork_at(root, 1, "early")
let early = agent_session_snapshot("early")
println("\${early.parent_id} \${early.branched_at_event_index} \${agent_session_snapshot(root).child_ids}")`,
    ['root 1 [early]'],
  ],
  [
    'what post_turn_callback says at a stop is in the transcript for whoever goes on with it',
    `llm_mock({text: "working"})
let result = agent_loop("go", nil, base + {loop_until_done: true, tools: tools_of(["a"]), post_turn_callback: { _info -> {message: "hand over", stop: true} }})
println("\${result.status} \${transcript_messages(result.transcript).last().content.contains("hand over")}")`,
    ['done true'],
  ],
  [
    'a session whose worker is parked is not evicted',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})
agent_session_open("kept")
agent_loop("go", nil, base + {session_id: "kept"})
for n in 1 to 200 { agent_session_open("other \${n}") }
println("\${agent_session_exists("kept")} \${agent_session_exists("other 1")}")`,
    ['true false'],
  ],
];

describe('sub-agents (4.4)', () => {
  it.each(SUB_AGENTS)('%s', async (_rule, script, expected) => expect(await lines(TOOLS + script)).toEqual(expected));
});

describe('policies only narrow (2.4)', () => {
  it.each(NARROWING)('%s', async (_rule, script, expected) => expect(await lines(TOOLS + script)).toEqual(expected));
});

describe('workers that go on (4.1 to 4.3)', () => {
  it.each(CARRIED)('%s', async (_rule, script, expected) => expect(await lines(TOOLS + script)).toEqual(expected));
});

describe('places of workers (4.2)', () => {
  it.each(PLACES)('%s', async (_rule, script, expected) => expect(await lines(TOOLS + script)).toEqual(expected));
});

describe('sessions of workers (3.11)', () => {
  it.each(SESSIONS)('%s', async (_rule, script, expected) => expect(await lines(TOOLS + script)).toEqual(expected));
});
