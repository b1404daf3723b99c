import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/** Faults that users of other systems have met, as scripts: what each prints is what must happen here. */
const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'T02 the loser of a race may ask again: first the winner runs, then it is done',
    `
let gate = channel("gate", 1)
let tools = tool_define(tool_registry(), "wait", "x", {parameters: {}, handler: { a -> receive(gate) }})
llm_mock({tool_calls: [{name: "wait", args: {}}]})
llm_mock({text: "end"})
let h = spawn_agent({task: "x", options: {provider: "mock", tool_format: "native", tools: tools, resume_when: {}}})
let outcomes = parallel each [1, 2] { n -> try { resume_agent(h).status } catch e { e.code } }
println(len(outcomes.filter({ o -> o == "running" })))
println(len(outcomes.filter({ o -> o == "HARN-SUS-006" })))
let again = try { resume_agent(h) } catch e { e }
println("\${again.code} \${again.detail.handle.status}")
send(gate, "go")
println(wait_agent(again.detail.handle).status)
let late = try { resume_agent(h) } catch e { e }
println("\${late.code} \${late.status}")
`,
    ['1', '1', 'HARN-SUS-003 running', 'completed', 'HARN-SUS-003 completed'],
  ],
  [
    'T10 a finished worker refuses another input, whatever names it',
    `
let h = spawn_agent({task: "x"})
wait_agent(h)
for target in [h, h.id, h.snapshot_path] { println(try { resume_agent(target, "approve") } catch e { "\${e.code} \${e.status}" }) }
println(len(llm_mock_calls()))
`,
    ['HARN-SUS-003 completed', 'HARN-SUS-003 completed', 'HARN-SUS-003 completed', '1'],
  ],
  [
    'T12 a park among other calls of its turn runs none of them, each has one result, and none runs after the resume',
    `
var log = shared_cell({scope: "task_group", key: "log", initial: []})
fn note(name) {
  shared_set(log, shared_get(log) + [name])
  return "did " + name
}
var tools = tool_define(tool_registry(), "a", "x", {parameters: {}, handler: { p -> note("a") }})
tools = tool_define(tools, "b", "x", {parameters: {}, handler: { p -> note("b") }})
tools = tool_define(tools, "c", "x", {parameters: {}, handler: { p -> throw "fails" }})
llm_mock({tool_calls: [{id: "1", name: "a"}, {id: "2", name: "agent_await_resumption", args: {reason: "r"}}, {id: "3", name: "b"}, {id: "4", name: "c"}]})
llm_mock({text: "end"})
let s = agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: tools})
println(s.status)
wait_agent(resume_agent(s))
let sent = llm_mock_calls()[1].messages
println(sent.filter({ m -> m.role == "tool" }).map({ m -> m.tool_call_id }))
println(sent.filter({ m -> m.role == "tool" }).map({ m -> split(m.content, ":")[0] }))
println(shared_get(log))
`,
    [
      'suspended',
      '[1, 2, 3, 4]',
      '[a was not dispatched, agent_await_resumption was not dispatched, b was not dispatched, c was not dispatched]',
      '[]',
    ],
  ],
  [
    'T17 a tool that never returns: with a bound the park follows it, without one the request stands and nothing claims a suspension',
    `
let never = channel("never", 1)
let entered = channel("entered", 2)
fn wait_for_ever(a) {
  send(entered, "in")
  return receive(never)
}
let tools = tool_define(tool_registry(), "stuck", "x", {parameters: {}, handler: wait_for_ever})
fn start(more) {
  llm_mock({tool_calls: [{name: "stuck", args: {}}]})
  let h = spawn_agent({task: "x", options: {provider: "mock", tool_format: "native", tools: tools} + more})
  receive(entered)
  return h
}
let bounded = start({tool_call_timeout: 20})
let s = suspend_agent(bounded, "please")
println("\${s.status} \${s.result.reason}")
println(contains(read_file(s.snapshot_path), "Error: tool stuck timed out after 20 ms"))
let endless = start({})
let asked = suspend_agent(endless, "please", {wait_ms: 30})
println("\${asked.status} \${asked.lifecycle_state} \${asked.suspension} \${asked.suspend_requested.reason} \${asked.suspend_requested.initiator} \${asked.suspend_requested.requested_at != nil}")
println(close_agent(endless).status)
`,
    ['suspended please', 'true', 'running running nil please operator true', 'cancelled'],
  ],
  [
    'T22 each action of a timeout does what it says, and a bad one is refused when the park is asked for',
    `
mock_time(0)
fn parked(timeout) { return spawn_agent({task: "x", options: {resume_when: {timeout: timeout}}}) }
let by_default = parked({duration_minutes: 1})
let with_input = parked({duration_minutes: 1, on_timeout: "resume_with_input"})
let failing = parked({duration_minutes: 1, on_timeout: "fail"})
advance_time(59999)
println(list_agents().map({ a -> a.status }))
advance_time(1)
println(wait_agent([by_default, with_input, failing]).map({ s -> s.status }))
println(json_parse(wait_agent(with_input).task).type)
println(wait_agent(failing).error)
for timeout in [{duration_minutes: 1, on_timeout: "retry"}, {duration_minutes: 1.5}, {duration_minutes: 0}, {duration_minutes: -1}, {}] {
  println(try { parked(timeout) } catch e { "\${e.code} \${e.field}" })
}
println(len(list_agents()))
`,
    [
      '[suspended, suspended, suspended]',
      '[completed, completed, failed]',
      'auto_resume.timeout',
      'auto-resume timeout expired',
      'HARN-SUS-008 timeout.on_timeout',
      'HARN-SUS-002 timeout.duration_minutes',
      'HARN-SUS-002 timeout.duration_minutes',
      'HARN-SUS-002 timeout.duration_minutes',
      'HARN-SUS-002 timeout.duration_minutes',
      '3',
    ],
  ],
  [
    'T07 an event before the park is not consumed; one after it wakes',
    `
event_log.emit("ci.done", "k", {n: 0})
let h = spawn_agent({task: "x", options: {resume_when: {on_event: "ci.done"}}})
println(list_agents()[0].status)
event_log.emit("ci.done", "k", {n: 1})
println(wait_agent(h).history)
`,
    ['suspended', '[x, {"n":1}]'],
  ],
  [
    'T11 asked three times before the boundary and twice after it parks once, for the first reason',
    `
register_worker_hook("WorkerSuspended", { e -> println(e.event) })
let h = spawn_agent({task: "x"})
let asked = parallel each ["one", "two", "three"] { reason -> suspend_agent(h, reason) }
println(asked.map({ s -> s == asked[0] }))
println([suspend_agent(h, "four"), suspend_agent(h, "five", {conditions: {nonsense: 1}})].map({ s -> s == asked[0] }))
println(asked[0].result.reason)
`,
    ['WorkerSuspended', '[true, true, true]', '[true, true]', 'one'],
  ],
  [
    'T18 a hook cannot start another transition of its worker, and says so without a deadlock',
    `
let h = spawn_agent({task: "x", options: {resume_when: {}}})
register_session_hook("pre_resume", { e ->
  println(try { resume_agent(h) } catch x { "\${x.code} \${x.detail.reason}" })
  println(try { suspend_agent(h, "r") } catch x { "\${x.code} \${x.detail.reason}" })
  return nil
})
println(wait_agent(resume_agent(h)).status)
`,
    ['HARN-SUS-006 in_transition', 'HARN-SUS-006 in_transition', 'completed'],
  ],
];

describe('scenarios from the field', () => {
  for (const [rule, script, expected] of rows) {
    it(rule, async () => {
      expect(await linesOf(script)).toEqual(expected);
    });
  }
});
