import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'atomic_set and atomic_add give the previous value',
    'let a = atomic(1); println([atomic_set(a, 5), atomic_add(a, 2), atomic_get(a)]); println(a)',
    ['[1, 5, 7]', '<atomic:7>'],
  ],
  [
    'floats are truncated, bools are 1 and 0',
    'println([atomic(2.9), atomic(true), atomic(false), atomic()])',
    ['[<atomic:2>, <atomic:1>, <atomic:0>, <atomic:0>]'],
  ],
  ['atomic_cas compares', 'let a = atomic(1); println([atomic_cas(a, 1, 2), atomic_cas(a, 1, 3), atomic_get(a)])', ['[true, false, 2]']],
  [
    'an atomic wraps as int does',
    'let a = atomic(9223372036854775807); atomic_add(a, 1); println(atomic_get(a))',
    ['-9223372036854775808'],
  ],
  [
    'a mutex block is exclusive',
    'let log = channel("l"); parallel 3 { i -> mutex { send(log, "in ${i}"); sleep(5); send(log, "out ${i}") } }; close_channel(log); for x in log { println(x) }',
    ['in 0', 'out 0', 'in 1', 'out 1', 'in 2', 'out 2'],
  ],
  [
    'a mutex block is left on error and on return',
    'fn f() { mutex { return 1 } }; f(); try { mutex { throw "x" } } catch (e) { println(e) }; println(sync_mutex_acquire("__default__", 0))',
    ['x', '<sync_permit:mutex:__default__>'],
  ],
  ['a mutex block inside another of the same task does not wait for itself', 'mutex { mutex { println("in") } }', ['in']],
  [
    'release is true the first time',
    'let p = sync_mutex_acquire("k"); println([sync_release(p), sync_release(p), sync_release(5)])',
    ['[true, false, false]'],
  ],
  [
    'acquire gives nil when the time is up',
    'let p = sync_gate_acquire("g", 1); let h = spawn { sleep(100) }; println(sync_gate_acquire("g", 1, 10ms)); println(now_ms() >= 10)',
    ['nil', 'true'],
  ],
  [
    'a semaphore counts permits',
    'let a = sync_semaphore_acquire("s", 3, 2); println(sync_semaphore_acquire("s", 3, 2, 0)); println(type_of(sync_semaphore_acquire("s", 3, 1, 0)))',
    ['nil', 'sync_permit'],
  ],
  [
    'more permits than the capacity are refused',
    'try { sync_semaphore_acquire("s", 2, 3) } catch (e) { println(e) }',
    ["Runtime error: sync_semaphore_acquire: 3 permits exceed the capacity 2 of 's'"],
  ],
  [
    'a waiting writer goes before later readers',
    `let r = sync_rwlock_acquire("d", "read")
let order = channel("o")
let w = spawn { let p = sync_rwlock_acquire("d", "write"); send(order, "writer"); sync_release(p) }
let late = spawn { sleep(1); let p = sync_rwlock_acquire("d", "read"); send(order, "reader"); sync_release(p) }
sleep(5); sync_release(r); await(w); await(late)
println([receive(order), receive(order)])`,
    ['[writer, reader]'],
  ],
  [
    'readers share, a writer does not',
    'let a = sync_rwlock_acquire("d", "read", 0); let b = sync_rwlock_acquire("d", "read", 0); println([b != nil, sync_rwlock_acquire("d", "write", 0)])',
    ['[true, nil]'],
  ],
  [
    'the mode of a rwlock is checked',
    'try { sync_rwlock_acquire("d", "own") } catch (e) { println(e) }',
    ['Type error: sync_rwlock_acquire: mode must be "read" or "write", got own'],
  ],
  [
    'what a task held when it failed is given back',
    'try { await(spawn { sync_mutex_acquire("k"); throw "x" }) } catch (e) { println(e) }; println(sync_mutex_acquire("k", 0) != nil)',
    ['x', 'true'],
  ],
  [
    'what a cancelled task held is given back',
    'let h = spawn { sync_mutex_acquire("k"); receive(channel("x")) }; sleep(1); cancel(h); sleep(1); println(sync_mutex_acquire("k", 0) != nil)',
    ['true'],
  ],
  [
    'what a task that ended well hands over stays held',
    'let p = await(spawn { sync_mutex_acquire("k") }); println(sync_mutex_acquire("k", 0)); println(sync_release(p))',
    ['nil', 'true'],
  ],
  [
    'metrics of one lock are a dict, of several a list',
    `let p = sync_mutex_acquire("k"); sync_mutex_acquire("k", 0); sleep(7); sync_release(p); sync_gate_acquire("g", 1)
println(sync_metrics("mutex", "k")); println(sync_metrics("mutex", "none")); println(len(sync_metrics())); println(sync_metrics("gate")[0].current_held)`,
    [
      '{acquisition_count: 1, cancellation_count: 0, current_held: 0, current_queue_depth: 0, key: k, kind: mutex, max_queue_depth: 0, release_count: 1, timeout_count: 1, total_held_ms: 7, total_wait_ms: 0}',
      'nil',
      '2',
      '1',
    ],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
