import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { structuralKey } from '../../../src/runtime/equality.ts';
import { parseCsv, writeCsv } from '../../../src/runtime/formats/csv.ts';
import { fromPlainData, toPlainData } from '../../../src/runtime/formats/plain-data.ts';
import { arbitraryJsonValue } from '../arbitrary-value.ts';
import { expressionTable } from '../expression-table.ts';

describe('laws', () => {
  test('CSV that was written reads back as the same rows', () => {
    const field = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', ',', ';', '\n', '\r', 'a') }));
    const rows = fc.array(fc.array(field, { minLength: 1 }));
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t'), (table, delimiter) => {
        expect(parseCsv(writeCsv(table, delimiter), delimiter)).toEqual(table);
      }),
    );
  });

  test('values survive the way through YAML and TOML data', () => {
    fc.assert(fc.property(arbitraryJsonValue, (value) => structuralKey(fromPlainData(toPlainData(value))) === structuralKey(value)));
  });
});

expressionTable('CSV', [
  [String.raw`csv_parse("a,b\n1,2\n")`, '[[a, b], [1, 2]]'],
  [String.raw`csv_parse("a,b\n1,2", {headers: true})`, '[{a: 1, b: 2}]'],
  [String.raw`csv_parse("a,b\n1", {headers: true})`, '[{a: 1, b: nil}]'],
  ['csv_parse("a;b", {delimiter: ";"})', '[[a, b]]'],
  [String.raw`csv_parse("\"x,\"\"y\"\"\n z\",2")[0].count()`, '2'],
  [String.raw`csv_parse("a,\n\n,b")`, '[[a, ], [, b]]'],
  ['csv_parse("")', '[]'],
  [String.raw`csv_parse("a\n\"b")`, 'error: CSV parse error: quote is not closed (line 2)'],
  ['csv_parse("a", {delimiter: ""})', 'error: csv_parse: invalid delimiter'],
  [String.raw`csv_stringify([["a,b", 1, nil, "q\""]])`, '"a,b",1,,"q"""\n'],
  ['csv_stringify([{b: 1, a: 2}, {c: 3}], {headers: true})', 'a,b,c\n2,1,\n,,3\n'],
  ['csv_stringify([{b: 1, a: 2}], {headers: ["b"]})', 'b\n1\n'],
]);

expressionTable('URLs', [
  ['[url_encode("a b&é~"), url_decode("a+b%26%C3%A9")]', '[a%20b%26%C3%A9~, a b&é]'],
  ['url_encode("!\'()*")', '%21%27%28%29%2A'],
  ['url_decode("100%")', '100%'],
  [
    'url_parse("https://u:p%20w@a.test:8080/p/q?x=1#f")',
    '{fragment: f, host: a.test, password: p w, path: /p/q, port: 8080, query: x=1, scheme: https, username: u}',
  ],
  ['url_parse("http://a.test").port', 'nil'],
  ['url_parse("nope")', 'error: url_parse: invalid URL: nope'],
  [
    'url_build({scheme: "https", host: "a.test", port: 81, path: "p", query: {a: 1}.a, fragment: "f", username: "u@"})',
    'https://u%40@a.test:81/p?1#f',
  ],
  ['url_build({path: "/p", query: "?a=1"})', '/p?a=1'],
  ['url_build({scheme: "https", host: "a.test", query: {q: "x y", tag: ["a", "b"]}})', 'https://a.test?q=x+y&tag=a&tag=b'],
  ['url_build({scheme: "http", host: "::1", port: 80})', 'http://[::1]:80'],
  ['url_build(url_parse("http://[::1]:81/p"))', 'http://[::1]:81/p'],
  ['query_stringify({a: [1, 2], b: "é"})', 'a=1&a=2&b=%C3%A9'],
  ['query_stringify([["a", 1]])', 'error: query_stringify: expected dicts of key and value, got list'],
  ['query_parse("?a=1&a=2&b=x+y")', '[{key: a, value: 1}, {key: a, value: 2}, {key: b, value: x y}]'],
  ['[query_stringify([{key: "a", value: "x y"}, {key: "a", value: 2}]), query_stringify({b: 1, a: 2})]', '[a=x+y&a=2, a=2&b=1]'],
]);

expressionTable(
  'YAML and TOML',
  [
    [String.raw`yaml_parse("a: 1\nb: [1.0, true, null, x]")`, '{a: 1, b: [1.0, true, nil, x]}'],
    ['yaml_parse("n: 9223372036854775807")', '{n: 9223372036854775807}'],
    [String.raw`yaml_parse("a: &x {k: 1}\nb:\n  <<: *x")`, '{a: {k: 1}, b: {k: 1}}'],
    ['starts_with(caught({ -> yaml_parse("a: [") }), "YAML parse error: ")', 'true'],
    ['yaml_stringify({b: [1, nil], a: "x"})', 'a: x\nb:\n  - 1\n  - null\n'],
    ['yaml_stringify({d: 90s, o: Ok(1), r: 1 to 2})', 'd: 90s\no: Result.Ok(1)\nr: 1 to 2\n'],
    [String.raw`toml_parse("a = 1\nf = 1.0\n[t]\nd = 2026-01-02\nx = [1, 2]")`, '{a: 1, f: 1.0, t: {d: 2026-01-02, x: [1, 2]}}'],
    ['toml_parse("n = 9223372036854775807").n', '9223372036854775807'],
    ['starts_with(caught({ -> toml_parse("a =") }), "TOML parse error: ")', 'true'],
    ['toml_parse(toml_stringify({a: 1, n: nil, t: {x: [1, "b"]}}))', '{a: 1, t: {x: [1, b]}}'],
    ['toml_stringify([1])', 'error: TOML stringify error: the top level must be a dict'],
    ['toml_stringify({a: [nil]})', 'error: TOML stringify error: a list with nil has no TOML form'],
  ],
  { setup: 'fn caught(f) { try { f() } catch (e) { return e } }' },
);

expressionTable(
  'questions to JSON',
  [
    [String.raw`json_extract("text {\"a\": {\"b\": 1}} more {\"c\": 2}")`, '{a: {b: 1}}'],
    ['json_extract("x\\n```json\\n[1, 2]\\n```\\ny")', '[1, 2]'],
    ['json_extract(" 5 ")', '5'],
    [String.raw`json_extract("see [note] {\"a\": \"}\"}", "a")`, '}'],
    ['json_extract("nothing")', 'error: json_extract: failed to parse JSON: no JSON value in `nothing`'],
    ['json_extract("[1]", "a")', 'error: json_extract: expected an object, got list'],
    [
      '[json_pointer(d, ""), json_pointer(d, "/xs/1/n"), json_pointer(d, "/a~1b/~0k"), json_pointer(d, "/xs/9"), json_pointer(d, "/xs/01")] == [d, 2, 7, nil, nil]',
      'true',
    ],
    ['json_pointer(d, "xs")', 'error: json_pointer: a pointer is empty or begins with `/`: xs'],
    ['json_pointer_set({a: [1]}, "/a/-", 2)', '{a: [1, 2]}'],
    ['json_pointer_set({a: [1]}, "/a/0", 2)', '{a: [2]}'],
    ['json_pointer_set({}, "/a/b", 2)', 'error: json_pointer_set: nothing at /a'],
    ['json_pointer_set([1], "/5", 2)', 'error: json_pointer_set: no position /5 in a list of 1'],
    [
      '[json_pointer_delete({a: [1, 2]}, "/a/0"), json_pointer_delete({a: 1}, "/b"), json_pointer_delete([1], "/0")]',
      '[{a: [2]}, {a: 1}, []]',
    ],
    ['jq(d, ".xs[].n")', '[1, 2]'],
    ['jq(d, ".xs | length, map(.n * 10)")', '[2, [10, 20]]'],
    ['jq(d, ".xs[-1].n, .xs[1:][0].n")', '[2, 2]'],
    [String.raw`jq(d, ".[\"a/b\"] | keys")`, '[[~k]]'],
    ['jq(d, ".xs[] | select(.n > 1 and .ok) | {n, twice: (.n + .n)}")', '[{n: 2, twice: 4}]'],
    ['jq(d, ".. | numbers?")', '[]'],
    ['jq(d, "[.xs[] | .n] | add, any(. > 1), all(. > 1), max, (sort_by(-.) | first)")', '[3, true, false, 2, 2]'],
    [String.raw`jq(d, ".none // \"d\", (.xs | type), (not .none), (.none | not)")`, '[d, array, true, true]'],
    ['jq({a: 1}, "to_entries, with_entries(.value + 1 | {key: \\"k\\", value: .})").count()', '2'],
    ['jq({a: 1}, "to_entries | from_entries")', '[{a: 1}]'],
    ['jq({a: 1}, ".a.b?")', '[]'],
    ['jq({a: 1}, ".a.b")', 'error: jq: cannot index number with "b"'],
    ['jq(1, ".[")', 'error: jq: unexpected end in `.[`'],
    ['jq(1, "nope")', 'error: jq: unknown function `nope`'],
    ['[jq_first([], ".[]"), jq_first([5, 6], ".[]")]', '[nil, 5]'],
  ],
  { setup: 'let d = {xs: [{n: 1, ok: false}, {n: 2, ok: true}], ["a/b"]: {["~k"]: 7}}' },
);
