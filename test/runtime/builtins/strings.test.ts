import { expressionTable } from '../expression-table.ts';

expressionTable('text functions', [
  [String.raw`trim(" \t x \n") + "|"`, 'x|'],
  ['[lowercase("ÄB"), uppercase("äß"), uppercase(5)]', '[äb, ÄSS, 5]'],
  ['split("a b,c")', '[a, b,c]'],
  ['split("a,b", ",")', '[a, b]'],
  ['split("ab", "")', '[, a, b, ]'],
  ['[join([1, nil, "a"], "-"), join(["a", "b"]), join("ab", "-")]', '[1-nil-a, ab, ]'],
  ['replace("a.a", ".", "$&")', 'a$&a'],
  [
    '[contains("abc", "bc"), contains("a1", 1), contains([1.0], 1), contains({a: 1}, "a"), contains(set(1), 1)]',
    '[true, true, true, false, false]',
  ],
  ['[starts_with("abc", "ab"), ends_with("abc", "bc"), starts_with("abc", "bc")]', '[true, true, false]'],
  ['[substring("abcdef", 2, 3), substring("abcdef", 2), substring("abc", -5, 2), substring("a😀b", 1, 1)]', '[cde, cdef, ab, 😀]'],
  ['[str_pad("7", 3) + "|", str_pad("7", 3, "0", "left"), str_pad("7", 4, "-", "both")]', '[7  |, 007, -7--]'],
  ['str_pad("👍🏽", 3, "é!") + "|"', '👍🏽éé|'],
  ['str_pad("a", 3, " ", "middle")', 'error: Runtime error: str_pad: side must be left, right, or both'],
  ['[len(unicode_normalize("é", "nfd")), len(unicode_normalize("é"))]', '[2, 1]'],
  ['unicode_normalize("a", "NFX")', 'error: Runtime error: unicode_normalize: form must be NFC, NFD, NFKC, or NFKD'],
  ['unicode_graphemes("a👍🏽é")', '[a, 👍🏽, é]'],
  ['[bytes_from_string("ä"), bytes_len(bytes_from_string("ä"))]', '[b"c3a4", 2]'],
]);

expressionTable('formatting and case', [
  ['format("{} and {}", 1, "b")', '1 and b'],
  ['format("{}/{}", 1)', '1/{}'],
  ['format("{b}-{a}-{x}", {a: 1, b: 2})', '2-1-{x}'],
  ['format("{}: {k}", {k: 1})', '{k: 1}: 1'],
  ['format("{} {{}}", "a")', 'a {{}}'],
  ['[snake_to_camel("test_file_name"), snake_to_pascal("test_file"), snake_to_kebab("a_b")]', '[testFileName, TestFile, a-b]'],
  [
    '[camel_to_snake("HTTPServer"), camel_to_snake("parseHTTP2Frame"), camel_to_kebab("fooBar")]',
    '[http_server, parse_http2_frame, foo-bar]',
  ],
  [
    '[kebab_to_camel("a-b"), kebab_to_snake("a-b"), pascal_to_snake("FooBar"), pascal_to_camel("FooBar"), camel_to_pascal("fooBar")]',
    '[aB, a_b, foo_bar, fooBar, FooBar]',
  ],
  ['[camel_to_snake("already_snake"), camel_to_snake(""), snake_to_camel("a")]', '[already_snake, , a]'],
  ['[title_case("hello wide world"), uppercase_first("élan"), lowercase_first("ABC")]', '[Hello Wide World, Élan, aBC]'],
]);
