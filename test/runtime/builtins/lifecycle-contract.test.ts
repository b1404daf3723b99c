import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/**
 * Promises of the lifecycle contract as a script sees them, one row each: what the script prints is the proof. The
 * model is the mock; without a scripted answer it says something and the loop ends.
 */
const LOOP = '{provider: "mock", tool_format: "native"}';
const PARKS = 'llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})';
const OWNERS = 'import { ResumeBy, default_resume_by } from "std/agent/resume_by"';

/** Prints each of the four hooks around transitions as it is called. */
const COUNTING = `
for name in ["pre_suspend", "post_suspend", "pre_resume", "post_resume"] {
  register_session_hook(name, { e -> println("hook ${'${e.event}'}") })
}
`;

const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'R15 resume_agent takes a handle, an id or a path, and one, two or three arguments',
    `
fn parked() { return spawn_agent({task: "x", options: {resume_when: {}}}) }
println(wait_agent(resume_agent(parked())).status)
println(wait_agent(resume_agent(parked().id, "go")).history)
println(wait_agent(resume_agent(parked().snapshot_path, "go", false)).transcript.messages[1].content)
println(try { resume_agent(parked(), "go", "yes") } catch e { e })
`,
    ['completed', '[x, go]', 'go', 'resume_agent: continue_transcript must be a bool'],
  ],
  [
    'R18 a natural end emits WorkerCompleted once, after the last turn',
    `
for name in ["WorkerCompleted", "WorkerFailed", "WorkerCancelled"] { register_worker_hook(name, { e -> println("${'${e.event} ${e.status}'}") }) }
llm_mock({tool_calls: [{name: "nothing", args: {}}]})
llm_mock({text: "end"})
let h = spawn_agent({task: "x", options: {provider: "mock", tool_format: "native", post_turn_callback: { t -> println("turn ${'${t.iteration}'}") }}})
println(wait_agent(h).status)
`,
    ['turn 0', 'turn 1', 'WorkerCompleted completed', 'completed'],
  ],
  [
    'R23 the Suspension comes back from the loop and from wait_agent, with the same keys',
    `
${PARKS}
let loop = agent_loop("go", nil, ${LOOP})
let waited = wait_agent(spawn_agent({task: "x", options: {resume_when: {}}})).result
println(keys(waited))
println(keys(loop).filter({ k -> !keys(waited).contains(k) }))
println("${'${loop.status} ${waited.status}'}")
`,
    [
      '[auto_resume_trigger, conditions, handle, initiator, iterations_completed, reason, resume_by_mechanism, snapshot_path, status, suspended_at, suspended_at_turn]',
      '[final_status, session_id, stop_reason, worker]',
      'suspended suspended',
    ],
  ],
  [
    'R27 each initiator is what it says',
    `
${PARKS}
println(agent_loop("go", nil, ${LOOP}).initiator)
println(spawn_agent({task: "x", options: {resume_when: {}}}).result.initiator)
let h = spawn_agent({task: "x"})
println(suspend_agent(h, "r").result.initiator)
let t = spawn_agent({task: "x"})
let binding = trigger_register({kind: "stop", provider: "ops", handler: {InterruptAndSuspend: {target_agents: [t], reason: "halt"}}})
println(trigger_fire(binding, {provider: "ops", kind: "stop"}).result.suspended_count)
println(wait_agent(t).result.initiator)
`,
    ['self', 'parent', 'operator', '1', 'triggered'],
  ],
  [
    'R29 completed turns count on over resumes',
    `
llm_mock({tool_calls: [{name: "nothing", args: {}}]})
${PARKS}
${PARKS}
let one = agent_loop("go", nil, ${LOOP})
println("${'${one.iterations_completed} ${one.suspended_at_turn}'}")
resume_agent(one)
let two = wait_agent(one.handle).result
println("${'${two.iterations_completed} ${two.suspended_at_turn}'}")
let born = spawn_agent({task: "x", options: {resume_when: {}}}).result
println("${'${born.iterations_completed} ${born.suspended_at_turn}'}")
`,
    ['2 1', '3 2', '0 nil'],
  ],
  [
    'R30 suspended_at is RFC 3339 of the clock',
    `
mock_time(1777550400123)
println(spawn_agent({task: "x", options: {resume_when: {}}}).result.suspended_at)
`,
    ['2026-04-30T12:00:00.123Z'],
  ],
  [
    'R33 resume_by_mechanism names the owner, each preset by its own name',
    `
${OWNERS}
for owner in [ResumeBy.parent_llm, ResumeBy.local_runtime, ResumeBy.pipeline_drain, ResumeBy.cloud_harness] {
  println(spawn_agent({task: "x", options: {resume_when: {on_event: "a.b"}, resume_by: owner}}).result.resume_by_mechanism)
}
`,
    ['ResumeBy.parent_llm', 'ResumeBy.local_runtime', 'ResumeBy.pipeline_drain', 'ResumeBy.parent_llm'],
  ],
  [
    'R34 auto_resume_trigger is nil without a trigger',
    `
println(spawn_agent({task: "x", options: {resume_when: {on_event: "a.b"}}}).result.auto_resume_trigger)
`,
    ['nil'],
  ],
  [
    'R35 the handle of a root loop stands for its snapshot',
    `
${PARKS}
let s = agent_loop("go", nil, ${LOOP})
println(s.handle.snapshot_path == s.snapshot_path)
println(to_string(s.handle) == s.snapshot_path)
println(keys(s.handle))
println(list_agents()[0].id == s.handle.id)
println(wait_agent(resume_agent(s.handle)).status)
`,
    ['true', 'true', '[_type, id, lifecycle_state, mode, name, parent_worker_id, snapshot_path, status, suspension]', 'true', 'completed'],
  ],
  [
    'R38 what was said stays in the snapshot',
    `
llm_mock({text: "said canary-text", tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
let s = agent_loop("canary-prompt", nil, ${LOOP})
let saved = read_file(s.snapshot_path)
println("${'${contains(saved, "canary-prompt")} ${contains(saved, "canary-text")} ${contains(json_stringify(s), "canary")}'}")
`,
    ['true true false'],
  ],
  [
    'R39 each condition alone, all together and none are accepted, and none parks open',
    `
let timeout = {duration_minutes: 1}
let trigger = {kind: "done", provider: "ci"}
for conditions in [{}, {timeout: timeout}, {trigger: trigger}, {on_event: "a.b"}, {timeout: timeout, trigger: trigger, on_event: "a.b"}] {
  let s = spawn_agent({task: "x", options: {resume_when: conditions}}).result
  println("${'${if s.conditions == nil { "open" } else { keys(s.conditions) }} ${s.resume_by_mechanism}'}")
}
`,
    [
      'open ResumeBy.parent_llm',
      '[timeout] ResumeBy.local_runtime',
      '[trigger] ResumeBy.local_runtime',
      '[on_event] ResumeBy.local_runtime',
      '[on_event, timeout, trigger] ResumeBy.local_runtime',
    ],
  ],
  [
    'R45 an unknown on_timeout is HARN-SUS-008 from every entry point',
    `
let h = spawn_agent({task: "x"})
for action in ["retry", 7] {
  let bad = {timeout: {duration_minutes: 1, on_timeout: action}}
  println(try { parse_resume_conditions(bad) } catch e { "${'${e.code} ${e.field}'}" })
  println(try { agent_await_resumption("r", bad) } catch e { "${'${e.code} ${e.field}'}" })
  println(try { suspend_agent(h, "r", {conditions: bad}) } catch e { "${'${e.code} ${e.field}'}" })
}
println(wait_agent(h).status)
`,
    [...Array.from({ length: 6 }, () => 'HARN-SUS-008 timeout.on_timeout'), 'completed'],
  ],
  [
    'R50 an open park is woken by its parent, by an operator and by an explicit resume, and by nothing else',
    `
mock_time(0)
fn parked() { return spawn_agent({task: "x", options: {resume_when: {}}}) }
let workers = [parked(), parked(), parked()]
advance_time(10 * 365 * 24 * 3600 * 1000)
event_log.emit("a.b", "k", {})
println(list_agents().map({ a -> a.status }))
resume_agent(workers[0], {initiator: "parent"})
resume_agent(workers[1], {initiator: "operator"})
resume_agent(workers[2])
println(wait_agent(workers).map({ s -> s.status }))
`,
    ['[suspended, suspended, suspended]', '[completed, completed, completed]'],
  ],
  [
    'R55 outside of a loop the lifecycle tool is HARN-SUS-005, whoever calls it',
    `
let entry = tool_find(agent_lifecycle_tools(), "agent_await_resumption")
println(try { entry.handler({reason: "x"}) } catch e { "${'${e.code} ${e.detail.reason}'}" })
let sneaky = tool_define(tool_registry(), "sneaky", "x", {parameters: {reason: {type: "string"}}, handler: agent_await_resumption})
println(try { tool_find(sneaky, "sneaky").handler({reason: "x"}) } catch e { "${'${e.code} ${e.detail.reason}'}" })
llm_mock({tool_calls: [{name: "sneaky", args: {reason: "x"}}]})
llm_mock({text: "end"})
let r = agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: sneaky})
println(r.status)
println(r.transcript.messages[2].content)
`,
    [
      'HARN-SUS-005 not_structural',
      'HARN-SUS-005 not_structural',
      'done',
      'Error: HARN-SUS-005: agent_await_resumption is handled structurally by agent_loop and cannot be invoked directly',
    ],
  ],
  [
    'R57 the owner is called with the harness and the Suspension, and its name is stored',
    `
fn owner(h, s) {
  println("${'${type_of(h)} ${s.status} ${s.reason} ${s.resume_by_mechanism} ${s.auto_resume_trigger} ${file_exists(s.snapshot_path)}'}")
  return {handled: true, mechanism: "pager"}
}
println(spawn_agent({task: "x", options: {resume_when: {on_event: "a.b"}, resume_by: owner}}).result.resume_by_mechanism)
`,
    ['Harness suspended resume_when nil nil true', 'pager'],
  ],
  [
    'R58 ResumeBy.parent_llm always takes it',
    `
${OWNERS}
println(ResumeBy.parent_llm(harness, {handle: "x", conditions: nil, reason: "r"}))
println(ResumeBy.parent_llm(harness, {handle: "x", conditions: {on_event: "a.b"}, reason: "r"}))
`,
    ['{handled: true, mechanism: ResumeBy.parent_llm}', '{handled: true, mechanism: ResumeBy.parent_llm}'],
  ],
  [
    'R61 ResumeBy.cloud_harness declines without a session',
    `
${OWNERS}
println(ResumeBy.cloud_harness(harness, {handle: "x", conditions: {on_event: "a.b"}, reason: "r"}))
println(lifecycle_audit_log_take().map({ a -> "${'${a.kind} ${a.payload}'}" }))
`,
    [
      '{handled: false, mechanism: ResumeBy.cloud_harness, reason: no_cloud_session}',
      '[resume_by_declined {handle: x, mechanism: ResumeBy.cloud_harness, reason: no_cloud_session}]',
    ],
  ],
  [
    'R62 ResumeBy.pipeline_drain always takes it, and the drain has the worker in its list',
    `
${OWNERS}
println(ResumeBy.pipeline_drain(harness, {handle: "x", conditions: nil, reason: "r"}))
let h = spawn_agent({task: "x", options: {resume_when: {}, resume_by: ResumeBy.pipeline_drain}})
let open = harness.unsettled_state().suspended_subagents
println("${'${len(open)} ${open[0].handle == h.id} ${open[0].status}'}")
register_session_hook("on_drain_decision", { e -> {modify: {disposition: "resume", resume_input: "finish"}} })
register_session_hook("post_finish", { e -> println(list_agents().map({ a -> "${'${a.status} ${a.history}'}" })) })
`,
    ['{handled: true, mechanism: ResumeBy.pipeline_drain}', '1 true suspended', '[completed [x, finish]]'],
  ],
  [
    'R64 default_resume_by without conditions is the parent, with them this process',
    `
${OWNERS}
let s = {handle: "x", conditions: nil, reason: "r"}
for conditions in [nil, {}, {on_event: "a.b"}] {
  let owner = default_resume_by({conditions: conditions})
  println(owner(harness, s + {conditions: conditions}).mechanism)
}
println(spawn_agent({task: "x", options: {resume_when: {}}}).result.resume_by_mechanism)
println(invoke_resume_by(nil, harness, s).mechanism)
`,
    ['ResumeBy.parent_llm', 'ResumeBy.parent_llm', 'ResumeBy.local_runtime', 'ResumeBy.parent_llm', 'ResumeBy.parent_llm'],
  ],
  [
    'R65 resume_by_dispatched says who owns which suspension and why it was parked',
    `
let a = spawn_agent({task: "x", options: {resume_when: {on_event: "a.b"}}})
let b = spawn_agent({task: "x"})
suspend_agent(b, "lunch")
for record in lifecycle_audit_log_take().filter({ r -> r.kind == "resume_by_dispatched" }) {
  println("${'${record.seq > 0} ${record.payload.handle == a.id} ${record.payload.handle == b.id} ${record.payload.mechanism} ${record.payload.reason} ${record.payload.conditions}'}")
}
println(harness.emit_audit("mine", {n: 1}).entry.kind)
println(lifecycle_audit_log_take().map({ r -> r.payload }))
`,
    [
      'true true false ResumeBy.local_runtime resume_when {on_event: a.b}',
      'true false true ResumeBy.parent_llm lunch nil',
      'mine',
      '[{n: 1}]',
    ],
  ],
  [
    'R69 one argument means no input and the whole transcript',
    `
mock_time(0)
let one = spawn_agent({task: "x", options: {resume_when: {}}})
wait_agent(resume_agent(one))
let two = spawn_agent({task: "x", options: {resume_when: {}}})
wait_agent(resume_agent(two, nil, true))
let calls = llm_mock_calls()
println("${'${len(calls)} ${calls[0].messages == calls[1].messages} ${len(calls[0].messages)}'}")
println(contains(calls[0].messages[1].content, "No input was provided."))
`,
    ['2 true 2', 'true'],
  ],
  [
    'R73 T44 each resume has one reminder, of its own suspension only, in one model call only',
    `
fn park(reason) { llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: reason}}]}) }
park("first")
llm_mock({tool_calls: [{name: "nothing", args: {}}]})
park("second")
park("third")
llm_mock({text: "end"})
let s = agent_loop("go", nil, ${LOOP})
for round in [1, 2, 3] { wait_agent(resume_agent(s.handle)) }
for call in llm_mock_calls() {
  let reminders = call.messages.filter({ m -> contains(to_string(m.content), "<system-reminder>") })
  println(reminders.map({ m -> ["first", "second", "third"].filter({ r -> contains(m.content, "'" + r + "'") }) }))
}
let done = list_agents()[0]
println("${'${done.status} ${len(transcript_events_by_kind(done.transcript, "system_reminder"))}'}")
`,
    ['[]', '[[first]]', '[]', '[[second]]', '[[third]]', 'completed 0'],
  ],
  [
    'T44 a summary restart has its one reminder with the digest',
    `
${PARKS}
llm_mock({text: "end"})
let s = agent_loop("the old prompt", nil, ${LOOP})
wait_agent(resume_agent(s, nil, false))
let messages = llm_mock_calls()[1].messages
println("${'${len(messages)} ${contains(messages[0].content, "the old prompt")} ${contains(messages[1].content, "Pre-suspend conversation digest")}'}")
`,
    ['2 true true'],
  ],
  [
    'R76 each way to allow parks, with the hook asked once before the flag',
    `
for answer in [nil, true, {decision: "allow"}, "Allow", "ALLOW"] {
  clear_session_hooks()
  register_session_hook("pre_suspend", { e -> answer })
  let h = spawn_agent({task: "x"})
  print("${'${suspend_agent(h, "r").status}'} ")
}
for answer in [false, {block: true}, {decision: "deny", reason: "no"}, "Deny", "DENY", {decision: "ask"}] {
  clear_session_hooks()
  register_session_hook("pre_suspend", { e -> answer })
  let h = spawn_agent({task: "x"})
  let s = suspend_agent(h, "r")
  print("${'${s.status}:${s.pre_suspend_denied}'} ")
  wait_agent(h)
}
println("")
`,
    [
      'suspended suspended suspended suspended suspended running:blocked by hook running:blocked by hook running:no running:blocked by hook running:blocked by hook running:approval required ',
    ],
  ],
  [
    'R96 a suspend and a resume of a script have each hook once',
    `${COUNTING}
let h = spawn_agent({task: "x"})
suspend_agent(h, "r")
wait_agent(resume_agent(h))
`,
    ['hook PreSuspend', 'hook PostSuspend', 'hook PreResume', 'hook PostResume'],
  ],
  [
    'R96 a park of the model and a wake by trigger have each hook once',
    `${COUNTING}
llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait", conditions: {trigger: {kind: "done", provider: "ci"}}}}]})
let s = agent_loop("go", nil, ${LOOP})
println(trigger_fire(s.auto_resume_trigger, {provider: "ci", kind: "done"}).result.status)
wait_agent(s.handle)
`,
    ['hook PreSuspend', 'hook PostSuspend', 'hook PreResume', 'hook PostResume', 'resumed'],
  ],
  [
    'R96 an idle daemon that a timeout wakes has each hook once',
    `${COUNTING}
let s = agent_loop("go", nil, {provider: "mock", tool_format: "native", daemon: true, max_iterations: 1})
println(s.status)
wait_agent(resume_agent(s.suspension, {initiator: "timeout"}))
`,
    ['hook PreSuspend', 'hook PostSuspend', 'idle', 'hook PreResume', 'hook PostResume', 'hook PreSuspend', 'hook PostSuspend'],
  ],
  [
    'R96 a broadcast and a wake by timeout have each hook once',
    `
mock_time(0)
${COUNTING}
let h = spawn_agent({task: "x"})
let stop = trigger_register({kind: "stop", provider: "ops", handler: {InterruptAndSuspend: {target_agents: "all", reason: "halt"}}})
println(trigger_fire(stop, {provider: "ops", kind: "stop"}).result.suspended_count)
wait_agent(resume_agent(h))
let t = spawn_agent({task: "x", options: {resume_when: {timeout: {duration_minutes: 1}}}})
advance_time(60000)
println(wait_agent(t).status)
`,
    [
      'hook PreSuspend',
      'hook PostSuspend',
      '1',
      'hook PreResume',
      'hook PostResume',
      'hook PostSuspend',
      'hook PreResume',
      'hook PostResume',
      'completed',
    ],
  ],
  [
    '4.2 what a worker is to carry, where it works and what its loop gets is checked before it exists',
    `
for bad in [{carry: {transcript_mode: "rest"}}, {carry: {artifact_mode: 1}}, {carry: {retriggerable: "yes"}}, {carry: "all"}, {execution: "here"}, {execution: {cwd: 5}}, {execution: {env: "A=1"}}, {options: "fast"}] {
  println(try { spawn_agent({task: "x"} + bad) } catch e { e })
}
println(try { sub_agent_run("x", "fast") } catch e { e })
println(try { sub_agent_run("x", {carry: {persist_state: 0}}) } catch e { e })
println(len(list_agents()))
`,
    [
      'spawn_agent: carry.transcript_mode must be inherit, fork, reset, compact, got rest',
      'spawn_agent: carry.artifact_mode must be inherit, none, got 1',
      'spawn_agent: carry.retriggerable must be true, false, got yes',
      'spawn_agent: carry must be a dict, got string',
      'spawn_agent: execution must be a dict, got string',
      'spawn_agent: execution.cwd must be a string',
      'spawn_agent: execution.env must be a dict',
      'spawn_agent: options must be a dict, got string',
      'sub_agent_run: options must be a dict, got string',
      'sub_agent_run: carry.persist_state must be true, false, got 0',
      '0',
    ],
  ],
  [
    '4.1 and 5.9: names that lead nowhere',
    `
println(try { close_agent("worker_nobody") } catch e { e })
println(try { suspend_agent("worker_nobody") } catch e { e })
for target in [nil, " "] { println(try { resume_agent(target) } catch e { "\${e} \${e.code} \${e.detail.reason}" }) }
`,
    [
      'unknown worker: worker_nobody',
      'unknown worker: worker_nobody',
      'HARN-SUS-004: resume_agent: missing worker id or snapshot path HARN-SUS-004 missing',
      'HARN-SUS-004: resume_agent: missing worker id or snapshot path HARN-SUS-004 missing',
    ],
  ],
  [
    '4.4 the envelope of a child whose model failed says how',
    `
llm_mock({error: {category: "auth", message: "no key"}})
println(sub_agent_run("x", ${LOOP}).error)
println(sub_agent_run("x", {provider: "mock", max_iterations: "3"}).error)
`,
    ['{category: auth, message: no key}', '{category: generic, message: agent_loop: max_iterations must be a number, got a string}'],
  ],
  [
    '9.4 a target that cannot be asked keeps nobody else from being asked',
    `
register_session_hook("pre_suspend", "odd", { e -> throw "no" })
let odd = spawn_agent({task: "x", name: "odd"})
let even = spawn_agent({task: "x", name: "even"})
let stop = trigger_register({kind: "stop", provider: "ops", handler: {InterruptAndSuspend: {target_agents: "all", reason: "halt"}}})
let {result} = trigger_fire(stop, {provider: "ops", kind: "stop"})
println(result.targets.map({ t -> [t.outcome, t.error] }))
println([result.target_count, result.suspended_count, result.skipped_count])
println(wait_agent(even).status)
`,
    ['[[failed, Thrown: no], [suspended, nil]]', '[2, 1, 1]', 'suspended'],
  ],
  [
    '10.4 a hook sees of a host what it would see of a transition, and changes no more',
    `
register_session_hook("pre_resume", { e -> println(keys(e)); {modify: {continue_transcript: false, resume_input: "in", reason: "other"}} })
register_session_hook("pre_resume", { e -> println([e.has_input, e.continue_transcript, e.resume_input]) })
println(__host_fire_session_hook("PreResume", {handle: "h", reason: "r", has_input: false, continue_transcript: true, input: "secret", conditions: {on_event: "t"}}))
register_session_hook("post_turn", { e -> {modify: {a: 2}} })
println(__host_fire_session_hook("post_turn", {a: 1}))
println(try { register_session_hook("pre_suspend", 5) } catch e { e })
println(try { __host_fire_session_hook("odd") } catch e { e.starts_with("unknown hook event 'odd'; expected one of pre_suspend,") })
`,
    [
      '[continue_transcript, handle, has_input, reason]',
      '[true, false, nil]',
      '{control: modify, modify: {continue_transcript: false, handle: h, has_input: true, reason: r, resume_input: in}}',
      '{control: allow}',
      'register_session_hook: expected a function, got int',
      'true',
    ],
  ],
  [
    'R5 a suspend of a script, a park of the model and an idle daemon leave the same record, the daemon six keys more',
    `
let h = spawn_agent({task: "x"})
suspend_agent(h, "r")
${PARKS}
let loop = agent_loop("go", nil, ${LOOP})
let daemon = agent_loop("go", nil, {provider: "mock", tool_format: "native", daemon: true, max_iterations: 2})
fn recorded(path) { return keys(json_parse(read_file(path)).suspension) }
let script = recorded(h.snapshot_path)
println(script)
println(recorded(loop.snapshot_path) == script)
println(recorded(daemon.suspension.snapshot_path).filter({ k -> !script.contains(k) }))
`,
    [
      '[auto_resume_trigger, conditions, handle, initiator, iterations_completed, links, reason, resume_by_mechanism, snapshot_ref, status, suspended_at, suspended_at_turn, suspension_id]',
      'true',
      '[event_queue_capacity, inflight_event, pending_event_count, queued_event_count, wake_interval_ms, watch_paths]',
    ],
  ],
  [
    'R97 every route gives the same transcript but for the cause in the reminder',
    `
mock_time(0)
fn parked(conditions) { return spawn_agent({task: "watch", options: {provider: "mock", tool_format: "native", resume_when: conditions}}) }
fn by_handle() { let h = parked({})
  return resume_agent(h) }
fn by_id() { return resume_agent(parked({}).id) }
fn by_path() { return resume_agent(parked({}).snapshot_path) }
fn by_suspension() { return resume_agent(parked({}).result) }
fn by_trigger() { let h = parked({trigger: {kind: "done", provider: "ci"}})
  trigger_fire(h.result.auto_resume_trigger, {provider: "ci", kind: "done"})
  return h }
fn by_event() { let h = parked({on_event: "ci.done"})
  event_log.emit("ci.done", "k", {})
  return h }
fn by_timeout() { let h = parked({timeout: {duration_minutes: 1, on_timeout: "resume_with_input"}})
  advance_time(60000)
  return h }
fn by_parent_model() {
  let spawner = tool_define(tool_registry(), "spawn_agent", "Start", {parameters: {}, handler: { a -> parked({}).id }})
  fn then_resume(turn) {
    if turn.iteration == 0 {
      let child = list_agents().filter({ a -> a.status == "suspended" })[0]
      llm_mock({tool_calls: [{name: "subagent_resume", args: {handle: child.id}}]})
      llm_mock({text: "done"})
    }
    return nil
  }
  let before = list_agents().map({ a -> a.id })
  llm_mock({tool_calls: [{name: "spawn_agent", args: {}}]})
  agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: spawner, post_turn_callback: then_resume})
  return list_agents().filter({ a -> !before.contains(a.id) && a.task == "watch" })[0]
}
var causes = []
var transcripts = []
for route in [by_handle, by_id, by_path, by_suspension, by_trigger, by_event, by_timeout, by_parent_model] {
  llm_mock({text: "the end", match: "*You were suspended at turn*"})
  let done = wait_agent(route())
  transcripts = transcripts + [done.transcript.messages.filter({ m -> !contains(to_string(m.content), "auto_resume.timeout") })]
  let reminder = llm_mock_calls().map({ c -> c.messages[len(c.messages) - 1].content }).filter({ m -> contains(to_string(m), "You were suspended") })
  let last = reminder[len(reminder) - 1]
  causes = causes + [regex_captures("(by the operator|by your parent agent|by trigger on_event|by trigger auto_resume|timeout elapsed)", last)[0].groups[0]]
}
println(transcripts.map({ t -> t == transcripts[0] }))
println(transcripts[0].map({ m -> m.content }))
println(causes)
`,
    [
      '[true, true, true, true, true, true, true, true]',
      '[watch, the end]',
      '[by the operator, by the operator, by the operator, by the operator, by trigger auto_resume, by trigger on_event, timeout elapsed, by your parent agent]',
    ],
  ],
  [
    'D10 a diagnostic reads as its text and as a dict',
    `
let h = spawn_agent({task: "x"})
let e = try { resume_agent(h) } catch e { e }
println("${'${e.code} ${type_of(e)} ${e.operation} ${e.status} ${e.category} ${e.worker_id == h.id}'}")
println("${'${e}'}" == e.message)
println("x" + e == "x" + e.message)
println(e.contains("SUS-003"))
println(contains(e, "is not suspended"))
println(e == e.message)
println(e != "something else")
println(to_string(e).starts_with("HARN-SUS-003: resume_agent: worker"))
println(keys(e))
println(json_parse(json_stringify(e)).code)
println(e["code"])
println(error_category(e))
wait_agent(h)
let parked = spawn_agent({task: "x", options: {resume_when: {}}})
resume_agent(parked, " ")
`,
    [
      'HARN-SUS-003 dict resume_agent running generic true',
      ...Array.from({ length: 7 }, () => 'true'),
      '[_type, category, code, detail, field, message, operation, path, status, worker_id]',
      'HARN-SUS-003',
      'HARN-SUS-003',
      'generic',
      'FAILED Runtime error: HARN-SUS-009: resume_agent: resume input must be nil or non-empty text (line 18)',
    ],
  ],
];

describe('the lifecycle contract in scripts', () => {
  for (const [rule, script, expected] of rows) {
    it(rule, async () => {
      expect(await linesOf(script)).toEqual(expected);
    });
  }
});

describe('a receiver outside', () => {
  it('R61 R64 is told of the suspension, and is its owner when it answers', async () => {
    const heard: { readonly body: Record<string, unknown> }[] = [];
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (data: Buffer) => {
        text += data.toString();
      });
      request.on('end', () => {
        heard.push({ body: JSON.parse(text) as Record<string, unknown> });
        response.writeHead(heard.length === 1 ? 202 : 503).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const env = {
      HARN_CLOUD_SESSION_ID: 'cloud-1',
      HARN_CLOUD_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/waits`,
    };
    try {
      const script = `
println(harness.cloud_session_id())
for n in [1, 2] {
  let s = spawn_agent({task: "canary-prompt", options: {resume_when: {on_event: "a.b"}}}).result
  println(s.resume_by_mechanism)
}
println(lifecycle_audit_log_take().filter({ a -> a.kind.starts_with("resume_by") }).map({ a -> "${'${a.kind} ${a.payload.mechanism} ${a.payload.cloud_session} ${a.payload.reason}'}" }))
`;
      expect(await linesOf(script, env)).toEqual([
        'cloud-1',
        'ResumeBy.cloud_harness',
        'ResumeBy.local_runtime',
        '[resume_by_dispatched ResumeBy.cloud_harness cloud-1 resume_when, resume_by_declined ResumeBy.cloud_harness nil cloud_register_failed, resume_by_dispatched ResumeBy.local_runtime nil resume_when]',
      ]);
      expect(heard[0]?.body).toMatchObject({
        session_id: 'cloud-1',
        handle: expect.stringMatching(/^worker_/),
        snapshot_ref: expect.stringMatching(/worker_.*\.json$/),
        reason: 'resume_when',
        conditions: { on_event: 'a.b' },
      });
      expect(JSON.stringify(heard)).not.toContain('canary');
    } finally {
      await new Promise((resolve) => receiver.close(resolve));
    }
  });
});
