import { expect, test } from 'vitest';
import { linesOf, runText, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  ['has the value of its block', 'println(deadline 5s { sleep(1); 42 })', ['42']],
  [
    'ends a sleep with a plain string',
    'try { deadline 20ms { sleep(5s) } } catch (e) { println([type_of(e), e]) }',
    ['[string, Deadline exceeded]'],
  ],
  ['takes int milliseconds', 'try { deadline 20 { sleep(21) } } catch (e) { println(e) }', ['Deadline exceeded']],
  ['means 30 seconds for other kinds', 'println(deadline "x" { sleep(29s); "in time" })', ['in time']],
  [
    'ends a receive, a select and a wait for a lock',
    `let held = sync_mutex_acquire("k")
let waits = [{ -> receive(channel("x")) }, { -> select(channel("y")) }, { -> sync_mutex_acquire("k") }, { -> await(spawn { receive(channel("z")) }) }]
for wait in waits {
  let clockwork = spawn { sleep(10) }
  try { deadline 5ms { wait() } } catch (e) { println(e) }
}`,
    ['Deadline exceeded', 'Deadline exceeded', 'Deadline exceeded', 'Deadline exceeded'],
  ],
  [
    'of the outer block ends an inner one that is longer',
    'try { deadline 20ms { deadline 5s { sleep(10s) } } } catch (e) { println("${e} at ${now_ms()}") }',
    ['Deadline exceeded at 20'],
  ],
  [
    'of the inner block leaves the outer one time',
    'println(deadline 5s { try { deadline 20ms { sleep(1s) } } catch (e) { println(e) }; sleep(1s); "outer done" })',
    ['Deadline exceeded', 'outer done'],
  ],
  [
    'cannot be caught for good inside',
    'try { deadline 20ms { while true { try { sleep(1s) } catch (e) { } } } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'lets finally and defer blocks finish',
    `fn work() { defer { sleep(5); println("deferred") }; try { sleep(1s) } finally { for x in [1, 2] { sleep(1) }; println("finally") } }
try { deadline 20ms { work() } } catch (e) { println(e) }`,
    ['finally', 'deferred', 'Deadline exceeded'],
  ],
  [
    'cancels tasks that were started inside',
    `let ended = atomic(0)
try { deadline 20ms { spawn { try { sleep(1s); atomic_set(ended, 1) } catch (e) { atomic_set(ended, 2) } }; sleep(1s) } } catch (e) { println(e) }
sleep(5s)
println(atomic_get(ended))`,
    ['Deadline exceeded', '2'],
  ],
  [
    'ends the tasks of a parallel inside',
    'try { deadline 20ms { parallel settle [1, 2] { x -> sleep(1s) } } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'leaves tasks alone that outlive a block which ended in time',
    'let h = deadline 1s { spawn { sleep(5s); "done" } }; println(await(h))',
    ['done'],
  ],
  [
    'return, break and continue leave the block',
    'fn f() { deadline 1s { return 1 } }; println(f()); while true { deadline 1s { break } }; println("out")',
    ['1', 'out'],
  ],
  [
    'counts in a generator for the task that pulls',
    `fn slow() { yield 1; sleep(1s); yield 2 }
let g = slow()
println(g.next())
try { deadline 20ms { g.next() } } catch (e) { println(e) }
println(g.next())`,
    ['{done: false, value: 1}', 'Deadline exceeded', '{done: true, value: nil}'],
  ],
];

test.each(ROWS)('a deadline %s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});

/** These run on the real clock: a frozen one never passes a deadline while a loop keeps the thread. */
const BUSY: readonly ScriptRow[] = [
  ['ends a loop that never waits', 'try { deadline 20ms { while true { } } } catch (e) { println(e) }', ['Deadline exceeded']],
  [
    'ends one loop after another',
    'for x in [1, 2, 3] { try { deadline 5ms { while true { } } } catch (e) { println(e) } }',
    ['Deadline exceeded', 'Deadline exceeded', 'Deadline exceeded'],
  ],
  ['of 0 ends at the first check', 'try { deadline 0ms { while true { } } } catch (e) { println(e) }', ['Deadline exceeded']],
  [
    'ends a loop in a function without a wait',
    'fn spin() { var n = 0; while true { n = n + 1 } }; try { deadline 20ms { spin() } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'ends functions that call each other in tail position for ever',
    'fn a(n) { return b(n + 1) }; fn b(n) { return a(n + 1) }; try { deadline 20ms { a(0) } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'ends a recursion without a loop',
    'fn walk(n) { return n == 0 ? 1 : walk(n - 1) + walk(n - 1) }; try { deadline 20ms { walk(500) } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'ends a recursion through closures, methods and callbacks',
    `struct N { v: int }
impl N { fn go(self, n) { return n == 0 ? 1 : self.go(n - 1) + self.go(n - 1) } }
let own = { f, n -> n == 0 ? 1 : f(f, n - 1) + f(f, n - 1) }
fn each(n) { return [1, 2].map({ x -> n == 0 ? 1 : each(n - 1) }) }
try { deadline 20ms { N({v: 1}).go(300) } } catch (e) { println(e) }
try { deadline 20ms { own(own, 300) } } catch (e) { println(e) }
try { deadline 20ms { each(150) } } catch (e) { println(e) }`,
    ['Deadline exceeded', 'Deadline exceeded', 'Deadline exceeded'],
  ],
  [
    'leaves a recursion its depth',
    `fn down(n) { return n == 0 ? 0 : 1 + down(n - 1) }
deadline 5s { println(down(500)) }
try { deadline 5s { down(600) } } catch (e) { println(e) }
try { deadline 20ms { try { while true { } } finally { println(down(100)) } } } catch (e) { println(e) }
println(down(500))`,
    ['500', 'Stack overflow: too many nested calls', '100', 'Deadline exceeded', '500'],
  ],
  [
    'ends a loop that catches everything',
    'try { deadline 20ms { while true { try { while true { } } catch (e) { } } } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'ends a generator that never yields',
    'fn spin() { while true { }; yield 1 }; try { deadline 20ms { spin().next() } } catch (e) { println(e) }',
    ['Deadline exceeded'],
  ],
  [
    'that was longer than the loop leaves later loops alone',
    'deadline 5s { for i in 0 to 10 { } }; for i in 0 to 1000 { }; println("free")',
    ['free'],
  ],
];

test.each(BUSY)('a real deadline %s', async (_rule, script, lines) => {
  const { out, outcome } = await runText(script);
  expect(outcome.kind).toBe('value');
  expect(out.trimEnd().split('\n')).toEqual(lines);
});
