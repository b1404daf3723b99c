import { describe, expect, it } from 'vitest';
import { linesOf, type ScriptRow } from '../runtime/run-text.ts';
import { sharedDirectory } from '../support/scratch.ts';

const FOLDER = sharedDirectory();

/** Every run is saved. */
const SAVED = `let saved = {persist_path: "${FOLDER}/run.json"}\n`;

const ROWS: readonly ScriptRow[] = [
  [
    'a condition chooses the edges of its branch',
    `let flow = workflow_graph({entry: "gate", nodes: {
  gate: {kind: "condition", metadata: {contains_text: "go"}}, yes: {kind: "fork"}, no: {kind: "fork"}},
  edges: [{from: "gate", to: "yes", branch: "true"}, {from: "gate", to: "no", branch: "false"}]})
for task in ["let us go", "stay"] {
  println(workflow_execute(task, flow, [], saved).run.completed_nodes)
}`,
    ['[gate, yes]', '[gate, no]'],
  ],
  [
    'a join waits for all that leads to it',
    `let flow = workflow_graph({entry: "fan", nodes: {
  fan: {kind: "fork"}, slow: {kind: "reduce"}, both: {kind: "join"}, last: {kind: "fork"}},
  edges: [{from: "fan", to: "both"}, {from: "fan", to: "slow"}, {from: "slow", to: "both"}, {from: "both", to: "last"}]})
println(workflow_execute("x", flow, [], saved).run.stages.map({ stage -> stage.node_id }))`,
    ['[fan, slow, both, last]'],
  ],
  [
    'a join that is content with the first input runs as soon as it is next',
    `let flow = workflow_graph({entry: "fan", nodes: {
  fan: {kind: "fork"}, slow: {kind: "reduce"}, any: {kind: "join", join_policy: {strategy: "first"}}},
  edges: [{from: "fan", to: "any"}, {from: "fan", to: "slow"}]})
println(workflow_execute("x", flow, [], saved).run.stages.map({ stage -> stage.node_id }))`,
    ['[fan, any, slow]'],
  ],
  [
    'skills of the run are those of its agents, and a node may have its own',
    `skill ship { description "Ship a release" prompt "Step by step." }
skill sing { description "Sing a song" prompt "In tune." }
let agent = {kind: "stage", mode: "agent", model_policy: {provider: "mock", tool_format: "native", max_iterations: 1}}
let flow = workflow_graph({entry: "a", nodes: {a: agent, b: agent + {skills: sing}}, edges: [{from: "a", to: "b"}]})
llm_mock({text: "one"})
llm_mock({text: "two"})
workflow_execute("Ship it with a song", flow, [], saved + {skills: ship})
println(llm_mock_calls().map({ call -> regex_match("### [a-z]+", to_string(call.system)) }))`,
    ['[[### ship], [### sing]]'],
  ],
  [
    'a stage that fails takes the edge for failures, and without one the run fails',
    `llm_mock({error: {category: "auth", message: "no key"}})
llm_mock({error: {category: "auth", message: "no key"}})
let act = {kind: "stage", mode: "llm", model_policy: {provider: "mock"}}
let caught = workflow_graph({entry: "act", nodes: {act: act, sorry: {kind: "fork"}}, edges: [{from: "act", to: "sorry", branch: "failed"}]})
let lost = workflow_graph({entry: "act", nodes: {act: act, next: {kind: "fork"}}, edges: [{from: "act", to: "next"}]})
println(workflow_execute("x", caught, [], saved).run.completed_nodes)
let result = workflow_execute("x", lost, [], saved)
println(result.status)
println(result.run.stages[0].error.contains("no key"))`,
    ['[act, sorry]', 'failed', 'true'],
  ],
  [
    'a stage is tried as often as its retry policy says',
    `llm_mock({error: {category: "auth", message: "no"}})
llm_mock({text: "second"})
let flow = workflow_graph({entry: "act", nodes: {
  act: {kind: "stage", mode: "llm", model_policy: {provider: "mock"}, retry_policy: {max_attempts: 2}}}})
let stage = workflow_execute("x", flow, [], saved).run.stages[0]
println(stage.visible_text)
println(stage.attempts.map({ attempt -> attempt.status }))`,
    ['second', '[failed, completed]'],
  ],
  [
    'verify runs a command and branches on what it printed',
    `let check = { text -> workflow_graph({entry: "check", nodes: {
  check: {kind: "verify", verify: {command: "printf ok", assert_text: text}}, good: {kind: "fork"}, bad: {kind: "fork"}},
  edges: [{from: "check", to: "good", branch: "passed"}, {from: "check", to: "bad", branch: "failed"}]}) }
println(workflow_execute("x", check("ok"), [], saved).run.completed_nodes)
println(workflow_execute("x", check("nope"), [], saved).run.completed_nodes)`,
    ['[check, good]', '[check, bad]'],
  ],
  [
    'a map keeps what succeeded and names what failed',
    `llm_mock({text: "one", match: "*alpha*"})
llm_mock({error: {category: "auth", message: "no"}, match: "*beta*"})
let flow = workflow_graph({entry: "map", nodes: {map: {
  kind: "map", mode: "llm", model_policy: {provider: "mock"}, map_policy: {items: ["alpha", "beta"], output_kind: "summary", max_concurrent: 1}}}})
let stage = workflow_execute("x", flow, [], saved).run.stages[0]
println(stage.artifacts.map({ item -> item.text }))
println("\${stage.metadata.completed} of \${stage.metadata.item_count}, errors: \${len(stage.metadata.errors)}")`,
    ['[one]', '1 of 2, errors: 1'],
  ],
  [
    'a run that stops at its limit goes on from its record',
    `let flow = workflow_graph({entry: "a", nodes: {a: {kind: "fork"}, b: {kind: "fork"}}, edges: [{from: "a", to: "b"}]})
let first = workflow_execute("x", flow, [], saved + {max_steps: 1})
println("\${first.status} \${first.run.pending_nodes}")
let second = workflow_execute("x", flow, [], saved + {resume_path: first.path})
println("\${second.status} \${second.run.completed_nodes} \${second.run.id == first.run.id}")`,
    ['paused [b]', 'completed [a, b] true'],
  ],
  [
    'a replay asks no model',
    `llm_mock({text: "asked once"})
let flow = workflow_graph({entry: "act", nodes: {act: {kind: "stage", mode: "llm", model_policy: {provider: "mock"}}}})
let first = workflow_execute("x", flow, [], saved)
let again = workflow_execute("x", flow, [], saved + {replay_run: first.run})
println(again.run.stages[0].visible_text)
println(len(llm_mock_calls()))
println(again.run.metadata.replayed_from == first.run.id)`,
    ['asked once', '1', 'true'],
  ],
  [
    'a stage in agent mode runs a loop with the tools of its node, under its policy',
    `var tools = tool_registry()
tools = tool_define(tools, "look", "Looks", {parameters: {}, handler: { _args -> "seen" }})
tools = tool_define(tools, "break_things", "Breaks", {parameters: {}, handler: { _args -> "broken" }})
llm_mock({tool_calls: [{name: "look", arguments: {}}, {name: "break_things", arguments: {}}]})
llm_mock({text: "done"})
let flow = workflow_graph({entry: "act", nodes: {act: {
  kind: "stage", mode: "agent", tools: tools, model_policy: {provider: "mock", tool_format: "native"}, capability_policy: {tools: ["look"]}}}})
let transcript = workflow_execute("x", flow, [], saved).run.stages[0].transcript
println(transcript_messages(transcript).filter({ m -> m.role == "tool" }).map({ m -> m.content.contains("permission_denied") }))`,
    ['[false, true]'],
  ],
  [
    'the policy of the graph holds whatever a node says',
    `let tools = tool_define(tool_registry(), "break_things", "Breaks", {parameters: {}, handler: { _args -> "broken" }})
llm_mock({tool_calls: [{name: "break_things", arguments: {}}]})
llm_mock({text: "done"})
let flow = workflow_graph({entry: "act", capability_policy: {tool_arg_constraints: [{tool: "*", arg_patterns: ["never"]}]}, nodes: {act: {
  kind: "stage", mode: "agent", tools: tools, model_policy: {provider: "mock", tool_format: "native"}, capability_policy: {tool_arg_constraints: []}}}})
let transcript = workflow_execute("x", flow, [], saved).run.stages[0].transcript
println(transcript_messages(transcript)[2].content.contains("permission_denied"))`,
    ['true'],
  ],
  [
    'an agent that parks suspends the run at its node',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})
let flow = workflow_graph({entry: "act", nodes: {
  act: {kind: "stage", mode: "agent", model_policy: {provider: "mock", tool_format: "native"}}, next: {kind: "fork"}},
  edges: [{from: "act", to: "next"}]})
let result = workflow_execute("x", flow, [], saved)
println("\${result.status} \${result.run.pending_nodes} \${result.run.stages[0].metadata.suspension.reason}")`,
    ['suspended [act] wait'],
  ],
  [
    'a delegated stage is run by a worker that knows its stage',
    `llm_mock({text: "delegated text"})
let flow = workflow_graph({entry: "ask", nodes: {ask: {kind: "subagent", model_policy: {provider: "mock"}, metadata: {worker_name: "helper"}}}})
unmock_time()
let stage = workflow_execute("x", flow, [], saved).run.stages[0]
println("\${stage.visible_text} \${stage.metadata.worker.name} \${stage.metadata.worker.parent_stage_id == stage.id}")
println(stage.artifacts.map({ item -> item.kind }))`,
    ['delegated text helper true', '[artifact, worker_result]'],
  ],
  [
    'a graph that cannot run is refused before anything runs',
    `let broken = {entry: "a", nodes: {a: {kind: "sideways"}}, edges: [{from: "a", to: "z"}]}
println(try { workflow_execute("x", broken) } catch (e) { e })`,
    [
      'workflow_execute: node a is of unknown kind sideways; expected one of stage, verify, join, condition, fork, map, reduce, subagent, escalation; the edge from a to z names node z, which does not exist',
    ],
  ],
  [
    'a node may not do more than the ceiling of the host',
    `let tools = tool_define(tool_registry(), "run", "Runs", {handler: { _a -> "" }, parameters: {}, policy: {capabilities: {process: ["exec"]}, side_effect_level: "process_exec"}})
let flow = workflow_graph({entry: "act", nodes: {act: {kind: "stage", tools: tools}}})
println(workflow_validate(flow, {capabilities: {process: []}, side_effect_level: "read_only"}).errors)`,
    [
      '[node act: capability process.exec exceeds the host ceiling, node act: side effect level process_exec exceeds the host ceiling (read_only)]',
    ],
  ],
  [
    'editing a graph is audited and leaves the old one as it is',
    `let flow = workflow_graph({entry: "a", nodes: {a: {kind: "fork"}}})
let edited = workflow_commit(workflow_set_model_policy(flow, "a", {model: "m"}), "because")
println(flow.nodes.a.model_policy)
println(edited.audit_log.map({ entry -> entry.op }))
println(workflow_diff(flow, edited).changed_nodes)`,
    ['{}', '[workflow_set_model_policy, commit]', '[a]'],
  ],
];

describe('workflows', () => {
  it.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(SAVED + script)).toEqual(lines);
  });
});

const OTHERS: readonly ScriptRow[] = [
  ['a name of the prelude needs no import', 'println(artifact({text: "x"}).kind)', ['artifact']],
  ['a function of the script hides it', 'fn artifact(x) { return "mine" }\nprintln(artifact(1))', ['mine']],
  ['a variable of the same name does too', 'let handoff = 3\nprintln(handoff + 1)', ['4']],
  [
    'artifacts are selected by kind, priority and size',
    `let all = [artifact({kind: "a", text: "x".repeat(40), relevance: 0.1}), artifact({kind: "b", text: "y".repeat(40)}), artifact({kind: "a", text: "z".repeat(400), priority: 5})]
println(artifact_select(all, {include_kinds: ["a"]}).map({ item -> item.text[0:1] }))
println(artifact_select(all, {max_tokens: 20, reserve_tokens: 5}).map({ item -> item.text[0:1] }))`,
    ['[z, x]', '[x]'],
  ],
  [
    'an eval pack names what its rubrics and baseline found',
    `let folder = "${FOLDER}/"
let good = run_record_save(run_record({id: "good", status: "completed"}), folder + "good.json")
let bad = run_record_save(run_record({id: "bad", status: "failed"}), folder + "bad.json")
let rubrics = [{id: "ok", kind: "deterministic", assertions: [{kind: "run-status", expected: "completed"}]}]
let report = eval_pack_run({base_dir: folder, baseline: "good.json", rubrics: rubrics, cases: [{id: "c", run: "bad.json", rubrics: ["ok"]}]})
println(report.pass)
println(report.cases[0].failures)`,
    ['false', '[the run differs from its baseline good, run-status: expected completed, got failed]'],
  ],
  [
    'a plan that a model emits is an event of the transcript',
    `import { plan_tools } from "std/plan"
llm_mock({tool_calls: [{name: "emit_plan", arguments: {summary: "do it", steps: [{content: "first"}]}}]})
llm_mock({text: "planned"})
let result = agent_loop("plan", nil, {provider: "mock", tool_format: "native", tools: plan_tools()})
let [event] = transcript_events_by_kind(result.transcript, "plan")
println("\${event.text}: \${event.metadata.plan.steps[0].status}")`,
    ['do it: pending'],
  ],
  [
    'actions wait for the phase before theirs, unless they name what they wait for',
    `import { action_graph } from "std/action_graph"
let graph = action_graph({steps: [{kind: "research", title: "a"}, {title: "b", tools: ["edit"]}, {id: "c", kind: "verify", title: "c"}, {title: "d", tools: ["edit"], after: ["c"]}]})
println(graph.actions.map({ action -> action.depends_on }))`,
    ['[[], [action-1], [action-2], [action-3]]'],
  ],
  [
    'dependencies that go in a circle are refused',
    `import { action_graph_batches } from "std/action_graph"
println(try { action_graph_batches({steps: [{id: "a", title: "a", after: ["b"]}, {id: "b", title: "b", after: ["a"]}]}) } catch (e) { e })`,
    ['action_graph_batches: dependencies go in a circle: [action-1, action-2]'],
  ],
  [
    'an action graph runs as one stage for each batch',
    `import { action_graph_run } from "std/action_graph"
for text in ["looked", "changed both"] { llm_mock({text: text}) }
let node = {mode: "llm", model_policy: {provider: "mock"}}
let plan = {steps: [{kind: "research", title: "look"}, {title: "one", tools: ["edit"]}, {title: "two", tools: ["edit"]}]}
let result = action_graph_run("Task", plan, {research: node, execute: node, verify: {command: "printf fine", assert_text: "fine"}}, {persist_path: "${FOLDER}/actions.json"})
println("\${result.status} \${result.run.stages.map({ stage -> stage.node_id })} \${result.batches[1].count}")`,
    ['completed [batch-1, batch-2, verify] 2'],
  ],
  [
    'a step of unknown status is refused',
    'import { plan_from } from "std/plan"\nprintln(try { plan_from({steps: [{content: "x", status: "odd"}]}) } catch (e) { e.contains("cannot be odd") })',
    ['true'],
  ],
  [
    'a compaction that has nothing to do leaves the messages as they are; an unknown strategy is refused',
    `println(transcript_auto_compact([{role: "user", content: "x"}]))
println(try { transcript_auto_compact([{role: "user", content: "x"}], {compact_strategy: "odd", keep_last: 0}) } catch (e) { e })`,
    [
      '[{content: x, role: user}]',
      'transcript_compact: unknown strategy "odd"; expected truncate, custom, none, llm, hybrid, summarize_middle, summarize_all',
    ],
  ],
  [
    'a model may write the summary',
    `llm_mock({text: "they talked"})
println(transcript_auto_compact([{role: "user", content: "a"}, {role: "user", content: "b"}], {keep_last: 1, provider: "mock"})[0].content)`,
    ['[Earlier conversation, auto-compacted]', 'they talked'],
  ],
  [
    'task_run repairs once, and says when the verification still fails',
    `import { task_run, workflow } from "std/agents"
for text in ["good", "bad", "worse", "worst"] { llm_mock({text: text}) }
let flow = workflow({name: "demo", persist_path: "${FOLDER}/task.json", act: {mode: "llm"}, verify: {mode: "llm", assert_text: "good"}, repair: {mode: "llm"}})
let result = task_run("Write", flow, {provider: "mock"})
println("\${result.status} \${result.run.stages.map({ stage -> stage.node_id })} \${result.repair.visible_text}")`,
    ['needs_attention [act, verify, repair, verify] worse'],
  ],
  [
    'a handoff without a task is refused',
    'println(try { handoff({source_persona: "a", target_persona_or_human: "b"}) } catch (e) { e })',
    ['handoff: `task` is missing'],
  ],
  [
    'continue_as_new of std/agents moves the workflow to its next generation',
    `import { continue_as_new } from "std/agents"
let before = workflow.status("w").generation
println(continue_as_new({_type: "workflow_session", workflow_id: "w"})._type)
println(workflow.status("w").generation - before)`,
    ['workflow_session', '1'],
  ],
  [
    'an update that nobody answers ends with its time',
    'println(try { workflow.update("w", "x", nil, {timeout_ms: 5}) } catch (e) { e })',
    ['workflow.update: no answer to x within 5 ms'],
  ],
];

describe('builtins written in Harn', () => {
  it.each(OTHERS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(script)).toEqual(lines);
  });
});
