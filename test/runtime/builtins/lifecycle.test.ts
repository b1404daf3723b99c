import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'R7 a spawned worker is running',
    'let h = spawn_agent({task: "x"})\nprintln("${h.status} ${h.lifecycle_state}")\nprintln(wait_agent(h).status)',
    ['running running', 'completed'],
  ],
  [
    '4.2 an unknown key is named',
    'println(try { spawn_agent({task: "x", tsak: 1}) } catch e { e })',
    ['spawn_agent: unknown config key `tsak`'],
  ],
  [
    'R8 R25 a script suspends and resumes a worker by its Suspension',
    'let h = spawn_agent({task: "x"})\nlet s = suspend_agent(h, " pause ")\nprintln("${s.status} ${s.result.reason}")\nprintln(wait_agent(resume_agent(s.result, "go")).status)',
    ['suspended pause', 'completed'],
  ],
  [
    'a settlement agent is told what is open, unless its config says something else',
    'harness.handoff_to("other", {x: 1})\nlet h = harness.spawn_settlement_agent()\nwait_agent(h)\nprintln(h.name)\nprintln(worker_request(h).task)\nlet other = harness.spawn_settlement_agent({name: "mine", task: "y"})\nwait_agent(other)\nprintln("${other.name} ${worker_request(other).task}")',
    [
      'settlement',
      'Settle what is left open at the end of the pipeline: unsettled work: 0 suspended subagents, 0 queued triggers, 1 partial handoffs, 0 in-flight llm calls',
      'mine y',
    ],
  ],
  ['R48 nil conditions are nil', 'println(parse_resume_conditions(nil))', ['nil']],
  [
    'R44 defaults are filled in',
    'println(parse_resume_conditions({timeout: {duration_minutes: 5}}))',
    ['{timeout: {duration_minutes: 5, on_timeout: resume_with_summary}}'],
  ],
  [
    'R49 a float is no int',
    'println(try { parse_resume_conditions({timeout: {duration_minutes: 5.0}}) } catch e { e.field })',
    ['timeout.duration_minutes'],
  ],
  [
    'D10 a diagnostic is a text and a dict',
    'let h = spawn_agent({task: "x"})\nlet e = try { resume_agent(h) } catch e { e }\nprintln(e.code)\nprintln(e.contains("is not suspended"))\nprintln(e == e.message)\nwait_agent(h)',
    ['HARN-SUS-003', 'true', 'true'],
  ],
  [
    'R51 R53 agent_await_resumption checks and has no effect',
    'let r = agent_await_resumption("  x ", {on_event: " a.b "}, { h, s -> nil })\nprintln(keys(r))\nprintln("${r.reason} ${r.conditions} ${type_of(r.resume_by)}")\nprintln(list_agents())',
    ['[conditions, reason, resume_by]', 'x {on_event: a.b} closure', '[]'],
  ],
  [
    'R52 a blank reason',
    'println(try { agent_await_resumption(" ") } catch e { "${e.code} ${e.detail.reason}" })',
    ['HARN-SUS-005 blank_reason'],
  ],
  [
    'R55 the function as a handler',
    'println(try { agent_await_resumption({reason: "x"}) } catch e { "${e.code} ${e.detail.reason}" })',
    ['HARN-SUS-005 not_structural'],
  ],
  [
    'R63 owners compose in both spellings',
    'import { ResumeBy, first_handled } from "std/agent/resume_by"\nimport std::lifecycle::combinators::{first_available}\nlet s = {handle: "x", conditions: nil, reason: "r"}\nfor combine in [first_handled, first_available] {\n  let one = combine([ResumeBy.local_runtime, { h, v -> nil }, ResumeBy.pipeline_drain])\n  println(one(nil, s))\n  let none = combine([ResumeBy.local_runtime])\n  println(none(nil, s))\n  let empty = combine([])\n  println(empty(nil, s))\n}',
    Array.from({ length: 2 }, () => [
      '{handled: true, mechanism: ResumeBy.pipeline_drain}',
      '{handled: false, mechanism: ResumeBy.local_runtime, reason: no_conditions}',
      'nil',
    ]).flat(),
  ],
  [
    'R65 R68 audits are taken once',
    'spawn_agent({task: "x", options: {resume_when: {}}})\nlet a = lifecycle_audit_log_take()\nprintln("${len(a)} ${a[0].kind} ${a[0].payload.mechanism}")\nprintln(len(lifecycle_audit_log_take()))',
    ['1 resume_by_dispatched ResumeBy.parent_llm', '0'],
  ],
  [
    'R76 R77 a hook with one or two parameters may refuse',
    'register_session_hook("PreSuspend", { harness, event -> {decision: "deny", reason: event.reason} })\nlet h = spawn_agent({task: "x"})\nlet s = suspend_agent(h, "busy")\nprintln("${s.status} ${s.pre_suspend_denied}")\nwait_agent(h)',
    ['running busy'],
  ],
  [
    'R34 R60 a trigger wakes what it was armed for',
    'let h = spawn_agent({task: "x", options: {resume_when: {trigger: {kind: "done", provider: "ci"}}}})\nlet id = h.result.auto_resume_trigger\nlet t = trigger_list()\nprintln("${t[0].id == id} ${t[0].kind} ${t[0].state}")\nprintln(trigger_fire(id, {provider: "ci", kind: "done", payload: {n: 1}}).result.status)\nprintln(wait_agent(h).task)',
    ['true auto_resume active', 'resumed', '{"n":1}'],
  ],
  [
    'R46 a timeout under a frozen clock',
    'mock_time(0)\nlet h = spawn_agent({task: "x", options: {resume_when: {timeout: {duration_minutes: 5, on_timeout: "fail"}}}})\nadvance_time(299999)\nlet a = list_agents()\nprintln(a[0].status)\nadvance_time(1)\nlet b = list_agents()\nprintln("${b[0].status} ${b[0].error}")',
    ['suspended', 'failed auto-resume timeout expired'],
  ],
  [
    'R47 the event log counts from one',
    'println(event_log.emit("a.b", "k", {x: 1}))\nprintln(event_log.latest("a.b"))\nprintln(event_log.latest("c"))',
    ['1', '1', 'nil'],
  ],
  [
    '9.3 a handler sees the event',
    'let t = trigger_register({kind: "tick", provider: "webhook", handler: { e -> e.provider_payload.raw.n }})\nprintln(trigger_fire(t, {provider: "webhook", kind: "tick", payload: {n: 7}}).result)',
    ['7'],
  ],
  [
    '9.2 a bad spec has the prefix of the function',
    'println(try { trigger_register({kind: "x", provider: "y"}) } catch e { e })',
    ['trigger_register: missing `handler`'],
  ],
  ['CHN-002 a reserved scope', 'println(try { emit_channel("org:x", 1) } catch e { e.code })', ['HARN-CHN-002']],
  [
    '4.3 a retriggerable worker takes cycle after cycle',
    'let h = spawn_agent({task: "one", wait: true, carry: {retriggerable: true}})\nprintln(worker_trigger(h, "two").status)\nprintln(try { resume_agent(h) } catch e { e.code })\nclose_agent(h)',
    ['running', 'HARN-SUS-003'],
  ],
  [
    'send_input goes on with a finished worker',
    'let h = spawn_agent({task: "one"})\nwait_agent(h)\nsend_input(h, "two")\nlet s = wait_agent(h)\nprintln("${s.status} ${s.history}")',
    ['completed [one, two]'],
  ],
  [
    '4.4 a foreground child gives its envelope',
    'let r = sub_agent_run("hello")\nprintln("${r.ok} ${r.status} ${r.suspension}")',
    ['true done nil'],
  ],
  [
    'R19 R22 a closed worker stays closed',
    'let h = spawn_agent({task: "x", options: {resume_when: {}}})\nprintln(close_agent(h).lifecycle_state)\nprintln(try { resume_agent(h) } catch e { e.code })\nprintln(try { suspend_agent(h) } catch e { e.code })',
    ['closed', 'HARN-SUS-010', 'HARN-SUS-001'],
  ],
  [
    'R62 8.6 the end of the pipeline closes what was left to it, in order',
    'register_session_hook("pre_finish", { e -> println(e.event) })\nregister_session_hook("post_finish", { e -> println(e.event) })\nregister_session_hook("on_unsettled_detected", { e -> println("${e.event} ${len(e.suspended_subagents)}") })\nregister_session_hook("on_drain_decision", { e -> println(e.disposition) })\npipeline_on_finish({ h, v -> println("finish ${harness.counts().suspended}") })\nspawn_agent({task: "x", options: {resume_when: {}, resume_by: ResumeBy.pipeline_drain}})\nspawn_agent({task: "y", options: {resume_when: {}}})',
    ['PreFinish', 'finish 2', 'OnUnsettledDetected 2', 'cancel', 'leave', 'PostFinish'],
  ],
  ['4.1 an unknown worker', 'println(try { wait_agent("worker_x") } catch e { e })', ['unknown worker: worker_x']],
];

describe('lifecycle functions of scripts', () => {
  for (const [rule, script, expected] of rows) {
    it(rule, async () => {
      expect(await linesOf(script)).toEqual(expected);
    });
  }
});
