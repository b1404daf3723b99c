import { expressionTable } from '../expression-table.ts';

const EVEN = '{ x -> x % 2 == 0 }';

expressionTable(
  'collections',
  [
    ['[keys({b: 1, a: 2}), values({b: 1, a: 2}), entries({a: 1})]', '[[a, b], [2, 1], [{key: a, value: 1}]]'],
    ['[keys(u(5)), values(u(nil)), entries(u([1]))]', '[[], [], []]'],
    ['[range(3), range(2, 5)]', '[0 to 3 exclusive, 2 to 5 exclusive]'],
    ['range(u("3"))', 'error: Type error: range(n): expected integer argument'],
    ['range(u(1), u(2.0))', 'error: Type error: range(a, b): expected integer arguments'],
    ['range(...[])', 'error: Type error: range expects 1 or 2 integer arguments, got 0'],
    ['[chunk([1, 2, 3], 2), chunk([1, 2])]', '[[[1, 2], [3]], [[1], [2]]]'],
    ['chunk(u("ab"), 1)', 'error: Runtime error: chunk: first argument must be a list, got string'],
    ['[window([1, 2, 3]), window([1, 2, 3, 4], 2, 2)]', '[[[1, 2], [2, 3]], [[1, 2], [3, 4]]]'],
    [`group_by([1, 2, 3], ${EVEN})`, '{false: [1, 3], true: [2]}'],
    ['group_by([1])', 'error: Runtime error: group_by: callback is required'],
    ['group_by([1], u(5))', 'error: Runtime error: group_by: callback must be callable, got int'],
    [`partition([1, 2, 3], ${EVEN})`, '{match: [2], no_match: [1, 3]}'],
    ['dedup_by(["a", "bb", "c"], { s -> len(s) })', '[a, bb]'],
    ['dedup_by([1, 1.0], { x -> x })', '[1, 1.0]'],
    ['flat_map([1, 2], { x -> [x, x] })', '[1, 1, 2, 2]'],
    ['flat_map(u(nil), { x -> x })', 'error: Runtime error: flat_map: first argument must be a list, got nil'],
    ['set(1, [2, 3], set(4), "a", [2])', 'set(1, 2, 3, 4, a)'],
    ['[set_add(set(1), 2), set_remove(set(1, 2), 1), set_contains(set(1), 1.0)]', '[set(1, 2), set(2), false]'],
    ['set_add(u([1]), 2)', 'error: set_add: first argument must be a set'],
    ['[set_union(set(1), set(2)), set_intersect(set(1, 2), set(2)), set_difference(set(1, 2), set(2))]', '[set(1, 2), set(2), set(1)]'],
    ['set_symmetric_difference(set(1, 2), set(2, 3))', 'set(1, 3)'],
    ['[set_is_subset(set(1), set(1, 2)), set_is_superset(set(1), set(1, 2)), set_is_disjoint(set(1), set(2))]', '[true, false, true]'],
    ['iter(u(5))', 'error: Type error: iter: value of type int is not iterable'],
    ['pair(1, 2).second', '2'],
    ['[sqrt(9), sqrt(2.25), sqrt(u("4"))]', '[3.0, 1.5, nil]'],
  ],
  { setup: 'fn u(x) { return x }' },
);

expressionTable(
  'numbers',
  [
    ['[abs(-5), abs(-1.5), abs(u("x"))]', '[5, 1.5, nil]'],
    ['abs(-9223372036854775807 - 1)', '9223372036854776000'],
    ['[min(1, 2), max(1, 2.5), min(1, 2.0), min(u("a"), 1)]', '[1, 2.5, 1.0, nil]'],
    ['[floor(1.7), ceil(1.2), round(2.5), round(-2.5), round(7), floor(u("x"))]', '[1, 2, 3, -3, 7, nil]'],
    ['floor(1.0 / 0)', 'error: Runtime error: cannot convert non-finite float to int'],
    ['round(100000000000000000000.0)', 'error: Runtime error: float is outside the representable int range'],
    ['[pow(2, 10), pow(2, -1), pow(2, 0.5) > 1.4]', '[1024, 0.5, true]'],
    ['pow(2, 64)', '18446744073709552000'],
    ['[sign(-3), sign(2.5), sign(0), sign(0.0 / 0)]', '[-1, 1, 0, NaN]'],
    ['[is_nan(0.0 / 0), is_nan(1), is_infinite(1.0 / 0), is_infinite(u("inf"))]', '[true, false, true, false]'],
    ['[sin(0), cos(0), atan2(0, 1), log2(8), log10(100), ln(1), exp(0)]', '[0.0, 1.0, 0.0, 3.0, 2.0, 0.0, 1.0]'],
    ['[pi > 3.14, e < 2.72]', '[true, true]'],
    ['rng_seed(u("x"))', 'error: Type error: rng_seed(seed): seed must be an integer'],
    ['draws(7) == draws(7)', 'true'],
    ['draws(7) == draws(8)', 'false'],
    ['random_int(5, 5)', '5'],
    ['[random_int(3, 1), random_choice([]), random_shuffle([])]', '[nil, nil, []]'],
    ['random_shuffle([3, 1, 2]).sort()', '[1, 2, 3]'],
    ['[mean([1, 2, 3]), mean([]), median([3, 1, 2]), median([1, 2])]', '[2.0, 0.0, 2.0, 1.5]'],
    ['[variance([1, 2, 3, 4]), variance([1, 2, 3], true), stddev([2, 4])]', '[1.25, 1.0, 1.0]'],
    ['[percentile([1, 2, 3, 4, 5], 50), percentile([1, 2], 25)]', '[3.0, 1.25]'],
  ],
  {
    setup:
      'fn u(x) { return x }\nfn draws(seed) {\n let rng = rng_seed(seed)\n return [random(rng), random_int(rng, 1, 1000000), random_shuffle(rng, [1, 2, 3, 4, 5, 6])]\n}',
  },
);
