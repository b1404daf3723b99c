import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  ['results are streams', 'println(type_of(stream.map([1], { x -> x })))', ['stream']],
  [
    'map, filter, take_until',
    'println(stream.collect(stream.take_until(stream.filter(stream.map(1 to 9, { x -> x * 2 }), { x -> x > 2 }), { x -> x == 8 })))',
    ['[4, 6]'],
  ],
  [
    'any iterable is a source; a dict gives entries, a string its code points',
    'println(stream.collect({a: 1})); println(stream.collect("ab")); println(stream.collect(set(1, 2)))',
    ['[{key: a, value: 1}]', '[a, b]', '[1, 2]'],
  ],
  [
    'tap sees each element on its way',
    'let n = atomic(0); println(stream.collect(stream.tap([1, 2], { x -> atomic_add(n, x) }))); println(atomic_get(n))',
    ['[1, 2]', '3'],
  ],
  [
    'scan gives running folds, fold the last',
    'println(stream.collect(stream.scan([1, 2, 3], 10, { a, x -> a + x }))); println(stream.fold([1, 2], 10, { a, x -> a + x }))',
    ['[11, 13, 16]', '13'],
  ],
  [
    'collect has a cap',
    'println(stream.collect([1, 2], 2)); try { stream.collect([1, 2, 3], {max: 2}) } catch (e) { println(e) }',
    ['[1, 2]', 'Runtime error: stream.collect: max cap 2 exceeded'],
  ],
  ['first of nothing is nil', 'println(stream.first([])); println(stream.first([7, 8]))', ['nil', '7']],
  ['zip gives pairs and ends with the shorter', 'println(stream.collect(stream.zip([1, 2, 3], "ab")))', ['[(1, a), (2, b)]']],
  [
    'merge goes round robin over what is ready',
    'println(stream.collect(stream.merge([1, 3, 5], [2, 4]))); println(stream.collect(stream.merge([[1], [2]])))',
    ['[1, 2, 3, 4, 5]', '[1, 2]'],
  ],
  [
    'merge does not wait for a slow source while another delivers',
    `gen fn slow() { sleep(10); emit "slow" }
gen fn fast() { for i in 1 to 3 { sleep(2); emit i } }
println(stream.collect(stream.merge(slow(), fast())))`,
    ['[1, 2, 3, slow]'],
  ],
  ['interleave alternates strictly', 'println(stream.collect(stream.interleave(["a", "c", "e"], ["b"])))', ['[a, b, c, e]']],
  [
    'interleave needs two',
    'try { stream.interleave([1]) } catch (e) { println(e) }',
    ['Runtime error: stream.interleave: expected at least two sources'],
  ],
  [
    'race gives all of the source that delivers first',
    'gen fn after(ms, x) { sleep(ms); emit x; emit x }; println(stream.collect(stream.race(after(9, "a"), after(3, "b"), [])))',
    ['[b, b]'],
  ],
  ['race of nothing but empty sources is empty', 'println(stream.collect(stream.race([], [])))', ['[]']],
  [
    'broadcast shows every element to each',
    'let [a, b] = stream.broadcast(iter([1, 2, 3]), 2); println(stream.first(a)); println(stream.collect(b)); println(a.next())',
    ['1', '[1, 2, 3]', '{done: true, value: nil}'],
  ],
  [
    'throttle spaces the elements',
    'let s = stream.throttle([1, 2, 3], 100); for x in s { println([x, now_ms()]) }',
    ['[1, 0]', '[2, 10]', '[3, 20]'],
  ],
  [
    'debounce gives the last of each burst',
    'gen fn bursts() { emit 1; emit 2; sleep(50); emit 3; sleep(2); emit 4 }; println(stream.collect(stream.debounce(bursts(), 10)))',
    ['[2, 4]'],
  ],
  ['callbacks may wait', 'println(stream.collect(stream.map([1, 2], { x -> sleep(1); x + 1 })))', ['[2, 3]']],
  [
    'an error of a callback ends the stream',
    'let s = stream.map([1, 2], { x -> throw "bad" }); try { s.next() } catch (e) { println(e) }; println(s.next())',
    ['bad', '{done: true, value: nil}'],
  ],
  [
    'a consumer that stops early makes the producer at the far end clean up',
    `gen fn source() { try { emit 1; emit 2; emit 3 } finally { println("closed") } }
println(stream.collect(stream.take(stream.map(source(), { x -> x }), 2)))
println(stream.first(source()))
for x in stream.tap(source(), { x -> x }) { break }
println("after")`,
    ['closed', '[1, 2]', 'closed', '1', 'closed', 'after'],
  ],
  [
    'a pull that was withdrawn loses no value',
    `let a = channel("a"); let b = channel("b"); send(b, "b")
println(stream.first(stream.merge(a, b)))
send(a, "kept")
println(try_receive(a))`,
    ['b', 'kept'],
  ],
  ['a function of the namespace is a value', 'let m = stream.first; println(m([4, 5])); println(type_of(m))', ['4', 'builtin']],
  [
    'a source must be iterable',
    'try { stream.map(5, { x -> x }) } catch (e) { println(e) }',
    ['Type error: stream.map: value of type int is not iterable'],
  ],
  ['an unknown function is an error', 'try { stream.nope([1]) } catch (e) { println(e) }', ['Type error: `stream` has no function `nope`']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
