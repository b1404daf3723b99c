import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const FOR: readonly ScriptRow[] = [
  [
    'list, set and range',
    'for x in [1, 2] { println(x) }; for x in set("a") { println(x) }; for x in 0 to 2 exclusive { println(x) }',
    ['1', '2', 'a', '0', '1'],
  ],
  ['a dict gives entries sorted by key', 'for e in {b: 2, a: 1} { println(e) }', ['{key: a, value: 1}', '{key: b, value: 2}']],
  ['a dict in an iter gives pairs', 'for (k, v) in iter({b: 2, a: 1}) { println(k + to_string(v)) }', ['a1', 'b2']],
  [
    'a channel until it is closed and drained',
    'let c = channel("c"); send(c, 1); spawn { send(c, 2); close_channel(c) }; for x in c { println(x) }',
    ['1', '2'],
  ],
  [
    'strings, nil and numbers give nothing',
    'for x in "abc" { println(x) }; for x in nil { println(x) }; for x in 5 { println(x) }; println("end")',
    ['end'],
  ],
  [
    'an iter that was left early goes on where it was',
    'let it = iter([1, 2, 3]); for x in it { break }; println(it.to_list())',
    ['[2, 3]'],
  ],
  [
    'a generator that was left early is done',
    'fn g() { yield 1; yield 2 }; let it = g(); for x in it { break }; println(it.next()); println(it)',
    ['{done: true, value: nil}', '<generator (done)>'],
  ],
];

const PRODUCERS: readonly ScriptRow[] = [
  [
    'the body starts at the first pull',
    'fn g() { println("begin"); yield 1 }; let it = g(); println("made"); it.next()',
    ['made', 'begin'],
  ],
  [
    'kinds and display',
    'fn g() { yield 1 }; gen fn s() { emit 1 }; println([type_of(g()), type_of(s())]); println(g()); println(s())',
    ['[generator, stream]', '<generator>', '<stream>'],
  ],
  [
    'next goes on answering done after the end',
    'fn g() { yield 1; return }; let it = g(); println(it.next()); println(it.next()); println(it.next())',
    ['{done: false, value: 1}', '{done: true, value: nil}', '{done: true, value: nil}'],
  ],
  ['yield without a value yields nil', 'fn g() { yield }; println(g().next())', ['{done: false, value: nil}']],
  [
    'an error is raised at the pull that meets it, and then the producer is done',
    'gen fn s() { emit 1; throw "bad" }; let it = s(); println(it.next()); try { it.next() } catch (e) { println(e) }; println(it.next())',
    ['{done: false, value: 1}', 'bad', '{done: true, value: nil}'],
  ],
  [
    'leaving the loop runs the finally and defer blocks before the loop is left',
    `fn g() { defer { println("deferred") }; try { yield 1; yield 2 } finally { println("finally") } }
for x in g() { println(x); break }
println("after")`,
    ['1', 'finally', 'deferred', 'after'],
  ],
  [
    'also when they wait, and when the loop is left by return or throw',
    `gen fn s() { try { emit 1; sleep(1); emit 2 } finally { sleep(1); println("finally") } }
fn first() { for x in s() { return x } }
println(first())
try { for x in s() { throw "out" } } catch (e) { println(e) }`,
    ['finally', '1', 'finally', 'out'],
  ],
  [
    'a producer that never began has nothing to clean up',
    'fn g() { try { yield 1 } finally { println("x") } }; for x in g().iter().take(0) { println(x) }; println("end")',
    ['end'],
  ],
  [
    'two tasks that pull from one stream each get every value once',
    `gen fn s() { for i in 0 to 5 { sleep(1); emit i } }
let it = s()
let lists = parallel 2 { i -> var got = []; for x in it { got = got.push(x) }; got }
println((lists[0] + lists[1]).sort())`,
    ['[0, 1, 2, 3, 4, 5]'],
  ],
  [
    'output of a producer goes where the task that pulls writes',
    'fn g() { println("pulled"); yield 1 }; let it = g(); let h = spawn { it.next() }; sleep(1); println("main"); await(h)',
    ['main', 'pulled'],
  ],
  [
    'a producer that pulls from itself is an error',
    'let cell = shared_cell("g"); fn g() { shared_get(cell).next(); yield 1 }; let it = g(); shared_set(cell, it); try { it.next() } catch (e) { println(e) }',
    ['Runtime error: a generator cannot pull from itself'],
  ],
];

const ITER: readonly ScriptRow[] = [
  [
    'map, filter, take, skip',
    'println(iter([1, 2, 3, 4]).map({ x -> x * 10 }).filter({ x -> x > 10 }).skip(1).take(1).to_list())',
    ['[30]'],
  ],
  [
    'take_while and skip_while',
    'println(iter([1, 2, 9, 1]).take_while({ x -> x < 5 }).to_list()); println(iter([1, 2, 9, 1]).skip_while({ x -> x < 5 }).to_list())',
    ['[1, 2]', '[9, 1]'],
  ],
  [
    'flat_map expands what is iterable',
    'println(iter([1, 2]).flat_map({ x -> [x, x] }).to_list()); println(iter([1]).flat_map({ x -> "ab" }).to_list()); println(iter([1]).flat_map({ x -> {k: x} }).to_list())',
    ['[1, 1, 2, 2]', '[a, b]', '[(k, 1)]'],
  ],
  [
    'zip, enumerate and chain',
    'println(iter([1, 2, 3]).zip("ab").to_list()); println(iter("xy").enumerate().to_list()); println(iter([1]).chain(2 to 3).to_list())',
    ['[(1, a), (2, b)]', '[(0, x), (1, y)]', '[1, 2, 3]'],
  ],
  [
    'chunks and windows',
    'println(iter(1 to 5).chunks(2).to_list()); println(iter(1 to 4).windows(3).to_list()); println(iter([1]).windows(2).to_list())',
    ['[[1, 2], [3, 4], [5]]', '[[1, 2, 3], [2, 3, 4]]', '[]'],
  ],
  [
    'count, sum, min, max, first, last',
    'println([iter(1 to 4).count(), iter(1 to 4).sum(), iter([3, 1]).min(), iter([3, 1]).max(), iter("ab").first(), iter("ab").last()])',
    ['[4, 10, 1, 3, a, b]'],
  ],
  [
    'of nothing',
    'println([iter([]).sum(), iter([]).min(), iter([]).first(), iter([]).last(), iter([]).count()])',
    ['[0, nil, nil, nil, 0]'],
  ],
  ['a float makes the sum a float', 'println(iter([1, 2.5]).sum())', ['3.5']],
  [
    'any, all, find, reduce, for_each',
    'println([iter([1, 2]).any({ x -> x == 2 }), iter([1, 2]).all({ x -> x < 2 }), iter([1, 2]).find({ x -> x > 1 }), iter([1, 2]).reduce(10, { a, x -> a + x }), iter([1]).for_each({ x -> x })])',
    ['[true, false, 2, 13, nil]'],
  ],
  [
    'to_set and to_dict',
    'println(iter([1, 1, 2]).to_set()); println(iter([pair("a", 1), pair("a", 2)]).to_dict())',
    ['set(1, 2)', '{a: 2}'],
  ],
  [
    'display turns to exhausted when a pull meets the end',
    'let it = iter([1]); it.first(); println(it); it.first(); println(it)',
    ['<iter>', '<iter (exhausted)>'],
  ],
  [
    'take is exhausted with its last element',
    'let it = iter([1, 2, 3]).take(1); println(it); it.first(); println(it); println(iter([1]).take(0))',
    ['<iter>', '<iter (exhausted)>', '<iter (exhausted)>'],
  ],
  [
    'adapters over one iter take elements from one another',
    'let it = iter([1, 2, 3, 4]); let a = it.map({ x -> x }); println(a.first()); println(it.take(2).to_list()); println(a.to_list())',
    ['1', '[2, 3]', '[4]'],
  ],
  ['callbacks may wait', 'println(iter([1, 2, 3]).map({ x -> sleep(1); x * 2 }).filter({ x -> sleep(1); x > 2 }).to_list())', ['[4, 6]']],
  ['a list of many elements needs no stack', 'println(iter(0 to 200000 exclusive).filter({ x -> x == 199999 }).to_list())', ['[199999]']],
  ['there is no next', 'println(iter([1]).next())', ['nil']],
  ['iter gives an iter back', 'let it = iter([1]); println(iter(it) == it); println(it.iter().to_list())', ['true', '[1]']],
  ['methods of a range work lazily', 'println(type_of((1 to 3).map({ x -> x }))); println((1 to 3).to_list())', ['iter', '[1, 2, 3]']],
];

const ERRORS: readonly (readonly [expression: string, text: string])[] = [
  ['iter([1]).map(5)', 'iter.map: expected callable'],
  ['iter([1]).filter()', 'iter.filter: expected callable'],
  ['iter([1]).flat_map(nil)', 'iter.flat_map: expected callable'],
  ['iter([1]).take_while(1)', 'iter.take_while: expected callable'],
  ['iter([1]).skip_while(1)', 'iter.skip_while: expected callable'],
  ['iter([1]).any()', 'iter.any: expected callable'],
  ['iter([1]).all()', 'iter.all: expected callable'],
  ['iter([1]).find()', 'iter.find: expected callable'],
  ['iter([1]).for_each()', 'iter.for_each: expected callable'],
  ['iter([1]).take(-1)', 'iter.take: expected non-negative int'],
  ['iter([1]).skip("x")', 'iter.skip: expected non-negative int'],
  ['iter([1]).chunks(0)', 'iter.chunks: chunk size must be positive'],
  ['iter([1]).windows(0)', 'iter.windows: window size must be positive'],
  ['iter(["x"]).sum()', 'iter.sum: expected number, got string'],
  ['iter([1]).to_dict()', 'iter.to_dict: expected pair, got int'],
  ['iter([pair(1, 2)]).to_dict()', 'iter.to_dict: expected string key, got int'],
  ['iter([1]).reduce({ a, b -> a })', 'iter.reduce: expected (init, fn)'],
  ['iter(5)', 'iter: value of type int is not iterable'],
  ['iter([1]).zip(nil)', 'iter: value of type nil is not iterable'],
  ['iter([1]).flat_map({ x -> 5 }).to_list()', 'iter: value of type int is not iterable'],
];

describe.each([
  ['for', FOR],
  ['producers', PRODUCERS],
  ['iter', ITER],
])('%s', (_name, rows) => {
  test.each(rows)('%s', async (_rule, script, lines) => {
    expect(await linesOf(script)).toEqual(lines);
  });
});

test.each(ERRORS)('%s is a type error', async (expression, text) => {
  expect(await linesOf(`try { ${expression} } catch (e) { println(e) }`)).toEqual([`Type error: ${text}`]);
});
