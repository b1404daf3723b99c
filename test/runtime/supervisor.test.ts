import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'a failed child is restarted, the others are left alone',
    `let starts = atomic(0); let others = atomic(0)
let sup = supervisor_start({name: "s", strategy: "one_for_one", children: [
  {name: "flaky", restart: {mode: "on_failure", max_restarts: 2, backoff_ms: 5}, task: { ctx -> if atomic_add(starts, 1) == 0 { throw "down" }; "up" }},
  {name: "steady", task: { ctx -> atomic_add(others, 1) }}
]})
sleep(50)
let state = supervisor_state(sup)
println([atomic_get(starts), atomic_get(others), state.status])
println(state.metrics)
println([state.children[0].status, state.children[0].restart_count, state.children[0].last_error, state.children[1].status])`,
    [
      '[2, 1, completed]',
      '{escalated: 0, failed: 1, restarted: 1, started: 3, stopped: 2, suppressed: 0}',
      '[stopped, 1, Thrown: down, stopped]',
    ],
  ],
  [
    'restarts wait for a backoff that grows, on the frozen clock',
    `let sup = supervisor_start({name: "s", children: [{name: "c", restart: {mode: "on_failure", max_restarts: 2, backoff_ms: 10, window_ms: 1000}, task: { ctx -> println(now_ms()); throw "x" }}]})
sleep(100)
println(supervisor_state(sup).children[0].current_wait_reason)`,
    ['0', '10', '30', 'restart_cap_exceeded'],
  ],
  [
    'mode always restarts after a good end, mode never does not restart after a failure',
    `let sup = supervisor_start({children: [
  {name: "a", restart: {mode: "always", max_restarts: 2, backoff_ms: 1}, task: { ctx -> ctx.attempt }},
  {name: "n", restart: "never", task: { ctx -> throw "x" }}
]})
sleep(50)
let s = supervisor_state(sup)
println([s.children[0].restart_count, s.children[0].status, s.children[1].restart_count, s.children[1].status])`,
    ['[2, suppressed, 0, failed]'],
  ],
  [
    'what a child is told',
    `let sup = supervisor_start({name: "s", children: [{name: "c", kind: "actor", restart: {mode: "on_failure", backoff_ms: 1}, task: { ctx -> println(ctx); if ctx.attempt == 1 { throw "x" } }}]})
sleep(10)`,
    [
      '{attempt: 1, child_kind: actor, child_name: c, restart_count: 0, supervisor_id: supervisor_1}',
      '{attempt: 2, child_kind: actor, child_name: c, restart_count: 1, supervisor_id: supervisor_1}',
    ],
  ],
  [
    'one_for_all restarts the running siblings too',
    `let starts = atomic(0); let fails = atomic(0)
let sup = supervisor_start({strategy: "one_for_all", children: [
  {name: "worker", restart: {mode: "on_failure", backoff_ms: 1}, task: { ctx -> atomic_add(starts, 1); receive(channel("x")) }},
  {name: "flaky", restart: {mode: "on_failure", backoff_ms: 1}, task: { ctx -> sleep(5); if atomic_add(fails, 1) == 0 { throw "x" } }}
]})
sleep(50)
println([atomic_get(starts), supervisor_state(sup).children[0].status, supervisor_state(sup).metrics.failed])`,
    ['[2, running, 1]'],
  ],
  [
    'rest_for_one restarts the running siblings after the failed one',
    `let before = atomic(0); let after = atomic(0); let fails = atomic(0)
let policy = {mode: "on_failure", backoff_ms: 1}
let sup = supervisor_start({strategy: "rest_for_one", children: [
  {name: "before", restart: policy, task: { ctx -> atomic_add(before, 1); receive(channel("x")) }},
  {name: "flaky", restart: policy, task: { ctx -> sleep(5); if atomic_add(fails, 1) == 0 { throw "x" } }},
  {name: "after", restart: policy, task: { ctx -> atomic_add(after, 1); receive(channel("y")) }}
]})
sleep(50)
println([atomic_get(before), atomic_get(after)])`,
    ['[1, 2]'],
  ],
  [
    'escalate_to_parent ends the whole supervisor when a child is given up',
    `let sup = supervisor_start({strategy: "escalate_to_parent", children: [
  {name: "bad", task: { ctx -> sleep(1); throw "x" }},
  {name: "other", task: { ctx -> receive(channel("x")) }}
]})
sleep(20)
let s = supervisor_state(sup)
println([s.status, s.children[0].status, s.children[1].status, s.metrics.escalated])`,
    ['[escalated, failed, stopped, 1]'],
  ],
  [
    'an escalation inside a supervised child is the failure of that child',
    `let outer = supervisor_start({name: "outer", children: [{name: "c", restart: "never", task: { ctx ->
  supervisor_start({name: "inner", strategy: "escalate_to_parent", children: [{name: "bad", task: { c -> throw "deep" }}]})
  receive(channel("x"))
}}]})
sleep(20)
println([supervisor_state(outer).children[0].status, supervisor_state(outer).children[0].last_error])`,
    ['[failed, Thrown: deep]'],
  ],
  [
    'past the cap a circuit opens, and one attempt is made after its time',
    `let sup = supervisor_start({children: [{name: "p", restart: {mode: "on_failure", max_restarts: 0, circuit_open_ms: 20}, task: { ctx -> println(now_ms()); if ctx.attempt == 1 { throw "x" } }}]})
sleep(10)
let open = supervisor_state(sup).children[0]
println([open.status, open.current_wait_reason, open.next_restart_time])
sleep(30)
println(supervisor_state(sup).children[0].status)`,
    ['0', '[circuit_open, circuit_open, 20]', '20', 'stopped'],
  ],
  [
    'stop asks first',
    `let sup = supervisor_start({children: [{name: "c", task: { ctx -> while !is_cancelled() { sleep(1) }; println("drained") }}]})
sleep(3)
let s = supervisor_stop(sup, 50ms)
println([s.status, s.children[0].status])`,
    ['drained', '[stopped, stopped]'],
  ],
  [
    'stop aborts what does not end in time, and ends waits for a restart at once',
    `let sup = supervisor_start({children: [
  {name: "deaf", task: { ctx -> try { receive(channel("x")) } finally { println(["aborted", now_ms()]) } }},
  {name: "waiting", restart: {mode: "on_failure", backoff_ms: 60000}, task: { ctx -> throw "x" }}
]})
sleep(1)
let s = supervisor_stop(sup, 9ms)
println([s.status, s.children[0].status, s.children[1].status, now_ms()])`,
    ['[aborted, 10]', '[stopped, stopped, stopped, 10]'],
  ],
  [
    'events tell the story, with the output of children',
    `let sup = supervisor_start({name: "s", children: [{name: "c", restart: {mode: "on_failure", backoff_ms: 1}, task: { ctx -> if ctx.attempt == 1 { println("hello"); throw "x" } }}]})
sleep(10)
println(supervisor_events(sup).map({ e -> e.kind }))
println(supervisor_events(sup)[2])`,
    [
      'hello',
      '[supervisor_started, child_started, child_output, child_failed, child_restarted, child_restart_started, child_stopped]',
      '{at_ms: 0, child: c, kind: child_output, message: hello, seq: 3, supervisor_id: supervisor_1}',
    ],
  ],
  [
    'a supervisor is found by handle, id and name',
    'let sup = supervisor_start({name: "s"}); println([supervisor_state(sup).id, supervisor_state("supervisor_1").name, supervisor_state("s").status]); println(runtime_context().debug.supervisors[0].name)',
    ['[supervisor_1, s, running]', 's'],
  ],
  [
    'an unknown supervisor is an error',
    'try { supervisor_state("x") } catch (e) { println(e) }',
    ["Runtime error: supervisor_state: unknown supervisor 'x'"],
  ],
  [
    'a bad spec is refused',
    'for spec in [{strategy: "x"}, {children: [{name: "a"}]}, {children: [{name: "a", task: { c -> 1 }, restart: "often"}]}] { try { supervisor_start(spec) } catch (e) { println(e) } }',
    [
      "Runtime error: supervisor_start: unknown strategy 'x', expected one of one_for_one, one_for_all, rest_for_one, escalate_to_parent",
      "Runtime error: supervisor_start: child 'a' needs a task closure",
      "Runtime error: supervisor_start: child 'a' has the unknown restart mode 'often', expected one of never, on_failure, always",
    ],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
