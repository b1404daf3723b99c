import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { linesOf, runText, type ScriptRow } from './run-text.ts';

const PARALLEL: readonly ScriptRow[] = [
  ['a count gives the results in index order', 'println(parallel 3 { i -> sleep(10 - i); i * 10 })', ['[0, 10, 20]']],
  ['each gives the results in source order', 'println(parallel each ["a", "b"] { x -> sleep(len(x)); x + x })', ['[aa, bb]']],
  ['the variable may be left out', 'println(parallel 2 { 7 })', ['[7, 7]']],
  ['output comes in source order, whoever finishes first', 'parallel each [30, 5] { ms -> sleep(ms); println(ms) }', ['30', '5']],
  [
    'output of nested groups keeps the order of the source too',
    'parallel each [2, 1] { x -> parallel each [20, 10] { y -> sleep(x * y); println(x * y) } }',
    ['40', '20', '20', '10'],
  ],
  ['a count of 0 or below gives an empty list', 'println(parallel 0 { 1 }); println(parallel -2 { 1 })', ['[]', '[]']],
  ['an operand of the wrong kind gives nil', 'println(parallel "x" { 1 }); println(parallel each 5 { x -> x })', ['nil', 'nil']],
  [
    'each walks over everything that for walks over',
    `let ch = channel("c"); send(ch, 8); close_channel(ch)
println(parallel each (1 to 3) { x -> x })
println(parallel each set(4, 5) { x -> x })
println(parallel each iter([6, 7]) { x -> x })
println(parallel each ch { x -> x })
println(parallel each {a: 1} { e -> e.key })`,
    ['[1, 2, 3]', '[4, 5]', '[6, 7]', '[8]', '[a]'],
  ],
  [
    'all tasks finish before the error of the lowest index is thrown',
    `let done = atomic(0)
try {
  parallel each [3, 2, 1] { n -> sleep(n); if n < 3 { throw "e" + to_string(n) }; sleep(10); atomic_add(done, 1) }
} catch (e) { println(e) }
println(atomic_get(done))`,
    ['e2', '1'],
  ],
  [
    'output of a failed group is shown',
    'try { parallel each [1, 2] { n -> println(n); throw "x" } } catch (e) { println(e) }',
    ['1', '2', 'x'],
  ],
  ['writes to outer variables have no effect outside', 'var n = 0; parallel each [1, 2] { x -> n = n + x }; println(n)', ['0']],
  [
    'settle counts, and its Err holds the display text of the error',
    `let r = parallel settle [1, 2, 3] { x -> sleep(4 - x); if x == 2 { throw "boom" }; x }
println(r.results); println(r.succeeded); println(r.failed)`,
    ['[Result.Ok(1), Result.Err(Thrown: boom), Result.Ok(3)]', '2', '1'],
  ],
  [
    'settle keeps the line of other errors',
    'println((parallel settle [1] { x -> json_parse("null") + x }).results)',
    ['[Result.Err(Type error: Cannot add nil and int (line 2))]'],
  ],
  ['settle of nothing', 'println(parallel settle [] { x -> x })', ['{failed: 0, results: [], succeeded: 0}']],
  [
    'max_concurrent 1 runs strictly in order',
    `let log = channel("log")
parallel each [3, 1, 2] with { max_concurrent: 1 } { n -> sleep(n); send(log, n) }
close_channel(log)
for x in log { println(x) }`,
    ['3', '1', '2'],
  ],
  [
    'never more than max_concurrent tasks run at a time',
    `let running = atomic(0); let most = atomic(0)
parallel 6 with { max_concurrent: 2 } { i ->
  let now = atomic_add(running, 1) + 1
  if now > atomic_get(most) { atomic_set(most, now) }
  sleep(5)
  atomic_add(running, -1)
}
println(atomic_get(most))`,
    ['2'],
  ],
  [
    'nil, 0 and negative limits mean no limit',
    `for limit in [nil, 0, -3] { println(parallel 2 with { max_concurrent: limit } { i -> i }) }`,
    ['[0, 1]', '[0, 1]', '[0, 1]'],
  ],
  [
    'other kinds of limit are refused',
    'try { parallel 2 with { max_concurrent: "x" } { i -> i } } catch (e) { println(e) }',
    ['Runtime error: parallel max_concurrent must be an int; got string'],
  ],
];

const STREAMS: readonly ScriptRow[] = [
  [
    'values come in the order in which they get ready',
    `let s = parallel each [30, 5, 10] with { max_concurrent: 2 } { n -> sleep(n); n } as stream
println(type_of(s))
for x in s { println(x) }
println(s)`,
    ['stream', '5', '10', '30', '<stream (done)>'],
  ],
  [
    'an error surfaces at the pull that meets it and cancels the rest',
    `let finished = atomic(0)
let s = parallel each [20, 5, 10] { n -> sleep(n); if n == 10 { throw "bad" }; atomic_add(finished, 1); n } as stream
println(s.next())
try { s.next() } catch (e) { println(e) }
println(s.next())
sleep(100)
println(atomic_get(finished))`,
    ['{done: false, value: 5}', 'bad', '{done: true, value: nil}', '1'],
  ],
  [
    'leaving the loop cancels the tasks',
    `let finished = atomic(0)
for x in parallel each [5, 50] { n -> sleep(n); atomic_add(finished, 1); n } as stream { println(x); break }
sleep(100)
println(atomic_get(finished))`,
    ['5', '1'],
  ],
  [
    'the output of a task comes with its value',
    'for x in parallel each [9, 3] { n -> println("in " + to_string(n)); sleep(n); n } as stream { println(x) }',
    ['in 3', '3', 'in 9', '9'],
  ],
];

const SPAWN: readonly ScriptRow[] = [
  ['a second await gives nil', 'let h = spawn { 5 }; println(await(h)); println(await(h))', ['5', 'nil']],
  ['handles are numbered', 'println(spawn { 1 }); println(spawn { 2 })', ['<task:vm_task_1>', '<task:vm_task_2>']],
  ['await of another value gives that value', 'println(await([1]))', ['[1]']],
  ['await throws the error of the task', 'try { await(spawn { throw "no" }) } catch (e) { println(e) }', ['no']],
  ['output appears when the task is awaited', 'let h = spawn { println("task") }; sleep(5); println("main"); await(h)', ['main', 'task']],
  [
    'a task begins when the current one waits for the first time',
    'let seen = atomic(0); let h = spawn { atomic_set(seen, 1) }; println(atomic_get(seen)); sleep(1); println(atomic_get(seen))',
    ['0', '1'],
  ],
  [
    'a cancelled task is dropped without output, and await gives nil',
    'let h = spawn { println("never") }; cancel(h); println(await(h)); println(cancel(5))',
    ['nil', 'nil'],
  ],
  [
    'cancellation has its text inside the task',
    `let why = shared_cell({key: "why", scope: "process"})
let h = spawn { try { sleep(1h) } catch (e) { shared_set(why, e) } finally { sleep(1) } }
receive_nothing()
cancel(h)
receive_nothing()
println(shared_get(why))
fn receive_nothing() { channel_select([channel("x")], 0); await(spawn { 1 }) }`,
    ['kind:cancelled:VM cancelled by host'],
  ],
  [
    'a cancelled task wakes from every wait',
    `let waits = [
  { -> receive(channel("empty")) },
  { -> sync_mutex_acquire("held") },
  { -> mailbox_receive(mailbox_open("inbox")) },
  { -> await(spawn { receive(channel("deep")) }) },
  { -> channel_select([channel("a"), channel("b")]) }
]
let held = sync_mutex_acquire("held")
let ended = atomic(0)
for wait in waits {
  let h = spawn { try { wait() } finally { atomic_add(ended, 1) } }
  await(spawn { 1 })
  cancel(h)
}
await(spawn { 1 }); await(spawn { 1 })
println(atomic_get(ended))`,
    ['5'],
  ],
  [
    'cancel_graceful gives Ok when the task ends in time',
    'let h = spawn { while !is_cancelled() { sleep(1) }; "bye" }; sleep(3); println(cancel_graceful(h, 1s))',
    ['Result.Ok(bye)'],
  ],
  [
    'cancel_graceful aborts a task that does not end in time',
    'let h = spawn { receive(channel("x")) }; println(cancel_graceful(h, 5ms))',
    ['Result.Err(cancel_graceful: timeout, task forcefully aborted)'],
  ],
];

const RACE: readonly ScriptRow[] = [
  ['the first plain value wins', 'println(parallel_race([50, 5], { n -> sleep(n); n }))', ['5']],
  [
    'an Ok wins with its payload, and an Err loses',
    'println(parallel_race([1, 9], { n -> sleep(n); if n == 1 { Err(n) } else { Ok("nine") } }))',
    ['nine'],
  ],
  [
    'the others are cancelled',
    'let n = atomic(0); parallel_race([1, 50], { ms -> sleep(ms); atomic_add(n, 1); ms }); sleep(100); println(atomic_get(n))',
    ['1'],
  ],
  [
    'all lost',
    'try { parallel_race([1, 2], { n -> if n == 1 { throw "x" }; Err(n) }) } catch (e) { println(e) }',
    ['Runtime error: parallel_race: all 2 task(s) failed: x; 2'],
  ],
  [
    'no items',
    'try { parallel_race([], { n -> n }) } catch (e) { println(e) }',
    ['Runtime error: parallel_race: expected at least one item'],
  ],
  [
    'the options limit how many run',
    'let order = channel("o"); parallel_race([1, 2], { n -> send(order, n); Err(n) }, {max_concurrent: 1}) ?? 0',
    ['FAILED Runtime error: parallel_race: all 2 task(s) failed: 1; 2 (line 2)'],
  ],
];

const CONTEXT: readonly ScriptRow[] = [
  [
    'tasks are named after where they begin',
    `println(runtime_context().task_id)
println(await(spawn { task_current().task_id }))
println(await(spawn { spawn_inside() }))
println(parallel 2 { i -> runtime_context().task_id })
println(parallel each [1] { x -> runtime_context().task_name })
println((parallel settle [1] { x -> runtime_context().task_group_id }).results)
fn spawn_inside() { return await(spawn { runtime_context().parent_task_id }) }`,
    [
      'task_root',
      'task_root:spawn:1',
      'task_root:spawn:2',
      '[task_root:parallel:1:0, task_root:parallel:1:1]',
      '[parallel each]',
      '[Result.Ok(task_root:parallel:3)]',
    ],
  ],
  [
    'a task starts with a copy of the values of its parent, and changes do not flow back',
    `println(runtime_context_set("k", 1))
println(await(spawn { let seen = runtime_context_get("k"); runtime_context_set("k", 2); [seen, runtime_context_get("k")] }))
println(runtime_context_get("k")); println(runtime_context_values())
println(runtime_context_clear("k")); println(runtime_context_get("k", "none"))`,
    ['nil', '[1, 2]', '1', '{k: 1}', '1', 'none'],
  ],
  [
    'what the parent changes after the spawn is not seen by the task',
    'runtime_context_set("k", 1); let h = spawn { runtime_context_get("k") }; runtime_context_set("k", 2); println(await(h))',
    ['1'],
  ],
  [
    'fields that nothing is known of are nil',
    'let c = runtime_context(); println([c.parent_task_id, c.agent_session_id, c.trace_id, c.cancelled, c.task_name])',
    ['[nil, nil, nil, false, root]'],
  ],
];

describe.each([
  ['parallel', PARALLEL],
  ['parallel as stream', STREAMS],
  ['spawn', SPAWN],
  ['parallel_race', RACE],
  ['runtime_context', CONTEXT],
])('%s', (_name, rows) => {
  test.each(rows)('%s', async (_rule, script, lines) => {
    expect(await linesOf(script)).toEqual(lines);
  });
});

test('tasks that nobody awaited are cancelled when the program ends', async () => {
  const { out } = await runText('spawn { try { sleep(1h) } finally { println("x") } }; sleep(1); println("end")');
  expect(out).toBe('end\n');
});

test.each([
  ['a spawned task', 'spawn { exit(3) }; sleep(1h); println("never")'],
  ['a parallel task', 'parallel each [1, 2] { x -> if x == 1 { exit(3) }; sleep(1h) }; println("never")'],
  ['a task while the entry is busy', 'spawn { sleep(1); exit(3) }; while true { try { sleep(1) } catch (e) { } }'],
])('exit in %s ends the run at once', async (_where, script) => {
  const { out, outcome } = await runText(script);
  expect([out, outcome]).toEqual(['', { kind: 'exit', exitCode: 3 }]);
});

test('a program in which every task waits for another ends with an error', async () => {
  const platform = createNodePlatform();
  const processes = Object.assign(Object.create(platform.processes), {
    onIdle(callback: () => void) {
      setImmediate(callback);
      return () => {};
    },
  });
  const { out, err, outcome } = await runText('let c = channel("c"); spawn { receive(c) }; println("begin"); receive(c)', {
    ...platform,
    processes,
  });
  expect([out, err]).toEqual(['begin\n', '']);
  expect(outcome).toMatchObject({
    kind: 'failed',
    failure: { message: 'Runtime error: deadlock: every task waits, and nothing is left that could wake one' },
  });
});

test('a task that hangs in its clean-up does not keep the run from ending', async () => {
  const { out, outcome } = await runText(
    'mock_time(0); spawn { try { sleep(1h) } finally { receive(channel("x")) } }; await(spawn { 1 }); println("end")',
  );
  expect([out, outcome.kind]).toEqual(['end\n', 'value']);
});

test('a task that failed unheard is told of on stderr', async () => {
  const { err } = await runText('spawn { throw "lost" }; sleep(1)');
  expect(err).toBe('warning: vm_task_1 failed and was never awaited: Thrown: lost\n');
});
