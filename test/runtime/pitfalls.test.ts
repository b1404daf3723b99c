import { expressionTable } from './expression-table.ts';

/** Where implementations go wrong (spec/language.md 14.1 to 14.4): what values and operators do, row by row. */
expressionTable(
  'pitfalls of numbers and operators',
  [
    ['-2 ** 2', '4'],
    ['[7 / -2, -7 % 3]', '[-3, -1]'],
    ['[2 ** -1, 2 ** 64, pow(2, 64)]', '[0.5, 0, 18446744073709552000]'],
    ['[9223372036854775807 + 1, 9223372036854775808]', '[-9223372036854775808, 9223372036854776000]'],
    ['1 / 0', 'error: Division by zero'],
    ['1.0 / 0', 'inf'],
    ['1.0 % 0', 'error: Division by zero'],
    ['[5.0, json_stringify([5.0, 2.5]), 0.1 + 0.2]', '[5.0, [5,2.5], 0.30000000000000004]'],
    ['[to_int(true), to_int(" 5"), to_int("-5"), to_int(-2.9)]', '[nil, nil, -5, -2]'],
    ['[u(1) < u("a"), u(1) >= u("a")]', '[false, true]'],
    ['[u(1) || 2, u("") && "x"]', '[true, false]'],
    ['[u(false) ?? 1, 1 + nil ?? 2]', '[false, 3]'],
    ['[u("1") == u(1), 1 == 1.0, len(set(1, 1.0))]', '[false, true, 2]'],
    ['[[1] in [[1]], "k" in {k: nil}, 2 in "a2"]', '[true, true, true]'],
    ['["ab" * 0 + ".", 3 * "ab"]', '[., ababab]'],
    ['[[3, 1] |> len, "a,b" |> split(_, ","), 5 |> _ - 2]', '[2, [a, b], 3]'],
    ['[u(nil)?.x, u(nil)?.go(1), nil ?? 0 ?? 1]', '[nil, nil, 0]'],
    ['[...u(5)]', 'error: Type error: cannot destructure int with [...] pattern — expected list'],
    ['u(nil) + u(1)', 'error: Type error: Cannot add nil and int'],
    ['u(1) - u("a")', 'error: Type error: Cannot subtract string from int'],
    ['u([1]) * u(2)', 'error: Type error: Cannot multiply list and int'],
    ['u(1) ** u("a")', 'error: Type error: Cannot exponentiate int by string'],
    ['u("a") / u(2)', 'error: Runtime error: Cannot divide string by int'],
    ['u("a") % u(2)', 'error: Runtime error: Cannot modulo string by int'],
    ['-u("a")', 'error: Runtime error: Cannot negate value of type string'],
  ],
  { setup: 'fn u(x) { return x }' },
);

expressionTable(
  'pitfalls of text and containers',
  [
    [String.raw`["\d" == r"\d", "a\tb".len()]`, '[true, 3]'],
    ['"${1 + 1}${"a"}-${[1, "b"]}"', '2a-[1, b]'],
    ['["abcdef".substring(2, 4), substring("abcdef", 2, 4)]', '[cd, cdef]'],
    ['["a b,c".split(), split("a b,c")]', '[[a b, c], [a, b,c]]'],
    ['["ab".split(""), "a-b".replace("-")]', '[[, a, b, ], nil]'],
    ['[len("👍🏽"), len(unicode_graphemes("👍🏽")), "ab"[-1], "ab".char_at(-1)]', '[2, 1, b, nil]'],
    ['[{b: 1, a: "x"}, {}, set()]', '[{a: x, b: 1}, {}, set()]'],
    ['[{count: 9}.count, {count: 9}.count(), [1].len()]', '[9, 1, nil]'],
    ['[[1, 2][5], [1, 2, 3][1:99], "abc"[-2:]]', '[nil, [2, 3], bc]'],
    ['writes()', '[0, 9]'],
    ['outside()', 'error: Runtime error: Index 1 out of bounds for list of length 1'],
    ['[1 to 3, 0 to 3 exclusive]', '[1 to 3, 0 to 3 exclusive]'],
    ['(1 to 3)[9]', 'error: Runtime error: range index out of range: index 9 for range of length 3'],
    ['[[1, 2, 3].partition({ x -> x > 1 }), partition([1, 2, 3], { x -> x > 1 })]', '[[[2, 3], [1]], {match: [2, 3], no_match: [1]}]'],
    ['[["a"].enumerate(), iter(["a"]).enumerate().to_list()]', '[[{index: 0, value: a}], [(0, a)]]'],
    ['shared()', '[[1, 2], [3], <iter (exhausted)>]'],
    ['[[[1, [2]], 3].flatten(), [1, "1", 1.0, 1].unique(), [false, 0, nil, ""].compact()]', '[[1, [2], 3], [1, 1, 1.0], [false, 0, ]]'],
    ['[[1, 2, 3].group_by({ x -> x > 1 }), {a: 1, b: 2}.rekey({ k -> "z" })]', '[{false: [1], true: [2, 3]}, {z: 2}]'],
    ['json_stringify({b: 5s, a: set(1, 2), c: Ok(1)})', '{"a":[1,2],"b":null,"c":null}'],
    ['[{ a, b -> a }, type_of(len), len]', '[<fn(a, b)>, builtin, <builtin len>]'],
  ],
  {
    setup: `fn writes() { var ys = [1, 2]
  ys[-1] = 9
  ys[-9] = 0
  return ys }
fn outside() { var zs = [1]
  zs[1] = 2
  return zs }
fn shared() { let it = iter([1, 2, 3])
  let a = it.take(2).to_list()
  let b = it.take(9).to_list()
  return [a, b, it] }`,
  },
);
