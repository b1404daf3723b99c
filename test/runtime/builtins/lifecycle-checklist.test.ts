import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/** Rows of the checklist (spec/agents.md 14) with the alternatives that only a whole script can show. */
const SETUP = `
let base = {provider: "mock", tool_format: "native"}
fn made(registry, name, handler) { return tool_define(registry, name, "d", {parameters: {}, handler: handler}) }
fn parks(reason) { llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: reason}}]}) }
fn born(conditions = {}) { return spawn_agent({task: "x", options: base + {resume_when: conditions}}) }
fn coded(action) { return try { action(); "allowed" } catch e { e.code } }
fn told(names) { for name in names { register_worker_hook(name, { e -> println("event \${e.event}") }) } }
let life = ["WorkerSpawned", "WorkerSuspended", "WorkerResumed", "WorkerCompleted", "WorkerFailed", "WorkerCancelled"]
`;

const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'R12 a flag raised in a tool: its siblings run, and their results are in the snapshot',
    `let tools = made(made(tool_registry(), "stop", { a -> suspend_agent(list_agents()[0], "now").status }), "after", { a -> println("sibling ran"); return "after all" })
llm_mock({tool_calls: [{name: "stop", args: {}}, {name: "after", args: {}}]})
let s = wait_agent(spawn_agent({task: "x", options: base + {tools: tools}}))
println("\${s.status} \${s.suspension.iterations_completed} \${s.suspension.suspended_at_turn}")
println(json_parse(read_file(s.snapshot_path)).transcript.messages.map({ m -> m.content }))
println(len(llm_mock_calls()))`,
    ['sibling ran', 'suspended 1 0', '[x, , running, after all]', '1'],
  ],
  [
    'R14 a second suspend: the same summary, one event, each hook once',
    `told(["WorkerSuspended"])
for name in ["pre_suspend", "post_suspend"] { register_session_hook(name, { e -> println("hook \${e.event}") }) }
let h = spawn_agent({task: "x", options: base})
let first = suspend_agent(h, "one")
println(suspend_agent(h) == first && suspend_agent(h, "other") == first && suspend_agent(h, "x", {conditions: {bogus: 1}}) == first)`,
    ['hook PreSuspend', 'event WorkerSuspended', 'hook PostSuspend', 'true'],
  ],
  [
    'R17 the loser hears how the winner fares, and may resume what is parked again',
    `let h = born()
parks("again")
let both = [spawn { coded({ _ -> resume_agent(h, "a") }) }, spawn { coded({ _ -> resume_agent(h, "b") }) }]
println(both.map({ t -> await(t) }).sort())
println(wait_agent(h).suspension.reason)
println(len(llm_mock_calls()))
println(wait_agent(resume_agent(h, "c")).history.last())`,
    ['[HARN-SUS-006, allowed]', 'again', '1', 'c'],
  ],
  [
    'R20 a suspend of what has ended: HARN-SUS-001, no event, the file as it was',
    `let done = spawn_agent({task: "x", options: base})
wait_agent(done)
let failed = spawn_agent({task: "x", options: base + {max_iterations: 1, context_callback: { c -> throw "boom" }}})
wait_agent(failed)
let closed = born()
close_agent(closed)
told(life)
for h in [done, failed, closed] {
  let path = list_agents().find({ s -> s.id == h.id }).snapshot_path
  let before = read_file(path)
  println("\${coded({ _ -> suspend_agent(h) })} \${list_agents().find({ s -> s.id == h.id }).status} \${read_file(path) == before}")
}`,
    ['HARN-SUS-001 completed true', 'HARN-SUS-001 failed true', 'HARN-SUS-001 cancelled true'],
  ],
  [
    'R22 a resume of what was closed: HARN-SUS-010, no model call, the file as it was',
    `let h = born()
close_agent(h)
let before = read_file(h.snapshot_path)
for target in [h, h.id, h.snapshot_path] { println(coded({ _ -> resume_agent(target, "go") })) }
println("\${len(llm_mock_calls())} \${read_file(h.snapshot_path) == before}")`,
    ['HARN-SUS-010', 'HARN-SUS-010', 'HARN-SUS-010', '0 true'],
  ],
  [
    'R26 reasons of an operator and of a model come back trimmed, a blank one empty',
    `for reason in [" for lunch ", "  "] { println("[\${suspend_agent(spawn_agent({task: "x", options: base}), reason).result.reason}]") }
parks("  needs a decision ")
println("[\${agent_loop("go", nil, base).reason}]")`,
    ['[for lunch]', '[]', '[needs a decision]'],
  ],
  [
    'R43 positive ints of minutes',
    `for n in [1, 525600, 9007199254740991] { println(parse_resume_conditions({timeout: {duration_minutes: n}}).timeout.duration_minutes) }
for n in [0, -1, 1.5, "5", true, nil] { println(try { parse_resume_conditions({timeout: {duration_minutes: n}}) } catch e { "\${e.code} \${e.field}" }) }`,
    ['1', '525600', '9007199254740991', ...Array.from({ length: 6 }, () => 'HARN-SUS-002 timeout.duration_minutes')],
  ],
  [
    'R52 no reason: HARN-SUS-005, from a script and from a model, whose loop goes on',
    `for reason in ["", "  ", "\\n", nil, 5] { println(try { agent_await_resumption(reason) } catch e { "\${e.code} \${e.detail.reason}" }) }
parks(" ")
llm_mock({text: "done"})
println(agent_loop("go", nil, base).status)
println(llm_mock_calls()[1].messages.last().content.contains("HARN-SUS-005"))`,
    [...Array.from({ length: 5 }, () => 'HARN-SUS-005 blank_reason'), 'done', 'true'],
  ],
  [
    'R75 a blank input: HARN-SUS-009, still parked and armed, the file as it was',
    `let h = born({trigger: {kind: "done", provider: "ci"}, timeout: {duration_minutes: 5}})
let before = read_file(h.snapshot_path)
for input in ["", "   "] { println(coded({ _ -> resume_agent(h, input) })) }
println("\${list_agents()[0].status} \${trigger_list()[0].state} \${read_file(h.snapshot_path) == before}")
println(trigger_fire(trigger_list()[0], {provider: "ci", kind: "done", payload: 1}).result.status)
wait_agent(h)`,
    ['HARN-SUS-009', 'HARN-SUS-009', 'suspended active true', 'resumed'],
  ],
  [
    'R83 a root loop goes the way of a spawned worker: the same events and audits from its park on',
    `told(life)
fn audits() { return lifecycle_audit_log_take().map({ a -> "\${a.kind} \${a.payload.mechanism}" }) }
parks("wait")
let s = agent_loop("go", nil, base)
wait_agent(resume_agent(s))
println(audits())
parks("wait")
let h = spawn_agent({task: "go", options: base})
wait_agent(h)
wait_agent(resume_agent(h))
println(audits())`,
    [
      ...['WorkerSuspended', 'WorkerResumed', 'WorkerCompleted'].map((name) => `event ${name}`),
      '[resume_by_dispatched ResumeBy.parent_llm]',
      ...['WorkerSpawned', 'WorkerSuspended', 'WorkerResumed', 'WorkerCompleted'].map((name) => `event ${name}`),
      '[resume_by_dispatched ResumeBy.parent_llm]',
    ],
  ],
];

const decisions: [rule: string, script: string, expected: string[]][] = [
  [
    '13.60 an owner that answers neither yes nor no has declined, and the parent is asked once',
    `for answer in [nil, 5, {handled: true}, {handled: true, mechanism: ""}, {handled: false}, {handled: false, reason: "busy", mechanism: "mine"}] {
  let h = spawn_agent({task: "x", options: base + {resume_when: {}, resume_by: { harness, s -> answer }}})
  println("\${h.suspension.resume_by_mechanism} \${lifecycle_audit_log_take().map({ a -> "\${a.kind} \${a.payload.mechanism} \${a.payload.reason}" })}")
}`,
    [
      'callback invalid_result',
      'callback invalid_result',
      'callback invalid_result',
      'callback invalid_result',
      'callback declined',
      'mine busy',
    ].map(
      (declined) =>
        `ResumeBy.parent_llm [resume_by_declined ${declined}, resume_by_fallback ResumeBy.parent_llm resume_when, resume_by_dispatched ResumeBy.parent_llm resume_when]`,
    ),
  ],
  [
    '13.42 five lists of what is unsettled, and their counts under both names',
    `born()
println(keys(harness.unsettled_state()))
println(harness.counts() == harness.unsettled_counts() && harness.counts().suspended == 1)`,
    ['[in_flight_llm_calls, partial_handoffs, pool_pending_tasks, queued_triggers, suspended_subagents]', 'true'],
  ],
  [
    '13.64 a worker whose loop ran out of turns is completed; the loop has its own word',
    `let s = wait_agent(spawn_agent({task: "x", options: base + {max_iterations: 0}}))
println("\${s.status} \${s.result.status}")`,
    ['completed budget_exhausted'],
  ],
  [
    '13.67 a worker hook with one parameter and one with two',
    `register_worker_hook("WorkerSpawned", { harness, e -> println("\${type_of(harness)} \${e.event}") })
register_worker_hook("WorkerSpawned", { e -> println(e.event) })
born()`,
    ['Harness WorkerSpawned', 'WorkerSpawned'],
  ],
  [
    '13.62 13.8 modes of workers, and a completion that beats the request to suspend',
    `let h = spawn_agent({task: "x", options: base + {post_turn_callback: { i -> suspend_agent(list_agents()[0], "late"); nil }}})
println(h.mode)
println("\${wait_agent(h).status} \${wait_agent(h).suspension}")`,
    ['stage', 'completed nil'],
  ],
  [
    '13.12 turns are counted for each activation, tokens for the whole life',
    `let ok = made(tool_registry(), "ok", { a -> "fine" })
for n in 1 to 2 { llm_mock({tool_calls: [{name: "ok", args: {n: n}}], input_tokens: 50, output_tokens: 0}); llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "again"}}], input_tokens: 50, output_tokens: 0}) }
llm_mock({tool_calls: [{name: "ok", args: {n: 3}}], input_tokens: 50, output_tokens: 0})
let s = agent_loop("go", nil, base + {tools: ok, max_iterations: 2, token_budget: 230, compaction: "none"})
let again = wait_agent(resume_agent(s))
println(again.status)
let last = wait_agent(resume_agent(again)).result
println("\${last.status} \${last.stop_reason} \${last.llm.iterations}")`,
    ['suspended', 'budget_exhausted token_budget 5'],
  ],
  ['13.34 whoever waits for an open park gets it at once', 'println(wait_agent(born()).status)', ['suspended']],
];

describe('decisions (13)', () => {
  it.each(decisions)('%s', async (_rule, script, expected) => {
    expect(await linesOf(`${SETUP}\n${script}\n`)).toEqual(expected);
  });
});

describe('the checklist, row by row (14)', () => {
  it.each(rows)('%s', async (_rule, script, expected) => {
    expect(await linesOf(`${SETUP}\n${script}\n`)).toEqual(expected);
  });

  it.each([
    'import { ResumeBy, first_handled } from "std/agent/resume_by"\nimport { first_available } from "std/lifecycle/combinators"',
    'import std::agent::resume_by::{ResumeBy, first_handled}\nimport std::lifecycle::combinators::{first_available}',
  ])('R63 the two names of one combinator, imported as %j', async (imports) => {
    const script = `${imports}
let s = {handle: "x", conditions: nil, reason: "r"}
for combine in [first_handled, first_available] {
  for list in [[ResumeBy.local_runtime, ResumeBy.parent_llm], [ResumeBy.local_runtime, ResumeBy.local_runtime], []] {
    let owner = combine(list)
    println(owner(nil, s)?.handled)
  }
}`;
    expect(await linesOf(script)).toEqual(['true', 'false', 'nil', 'true', 'false', 'nil']);
  });
});
