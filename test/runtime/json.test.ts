import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dictOf } from '../../src/runtime/dict.ts';
import { display } from '../../src/runtime/display.ts';
import { structuralKey } from '../../src/runtime/equality.ts';
import { fromJson, parseJson, parseJsonAt, stringify, stringifyPretty, toJson } from '../../src/runtime/json.ts';
import { Float, typeOf } from '../../src/runtime/value.ts';
import { arbitraryJsonValue, arbitraryValue } from './arbitrary-value.ts';
import { expressionTable } from './expression-table.ts';

describe('JSON', () => {
  test('what was written reads back as the same value', () => {
    fc.assert(fc.property(arbitraryJsonValue, (value) => structuralKey(parseJson(stringify(value))) === structuralKey(value)));
  });

  test('what was written reads back through the indented form too', () => {
    fc.assert(fc.property(arbitraryJsonValue, (value) => structuralKey(parseJson(stringifyPretty(value))) === structuralKey(value)));
  });

  test('the indented form is that of JSON.stringify', () => {
    // Without numbers: floats are written without exponents here.
    const value = arbitraryJsonValue.filter((candidate) => !/\d/.test(stringify(candidate)));
    fc.assert(fc.property(value, (candidate) => stringifyPretty(candidate) === JSON.stringify(JSON.parse(stringify(candidate)), null, 2)));
  });

  test('every value has a JSON text', () => {
    fc.assert(fc.property(arbitraryValue, (value) => JSON.parse(stringify(value)) !== undefined));
  });

  test('both parsers read the same', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        expect(structuralKey(parseJson(text))).toBe(structuralKey(parseJsonAt(text, 0)?.value));
      }),
    );
  });

  test('any text parses or is refused with a place', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '1', '-', '.', 'e', '\\', 'u', 't') })),
        (text) => {
          try {
            parseJson(text);
          } catch (error) {
            expect((error as { caught?: unknown }).caught).toMatch(/^JSON parse error: .* at line \d+ column \d+$/);
          }
        },
      ),
    );
  });

  test('plain JSON survives the way to values and back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(toJson(fromJson(json as never))).toEqual(JSON.parse(JSON.stringify(json)));
      }),
    );
  });

  test.each([
    ['100,000 nested lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 nested dicts', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['100,000 open brackets', '['.repeat(100_000)],
  ])('%s are refused, not a crash', (_name, text) => {
    expect(() => parseJson(text)).toThrow('JSON parse error');
  });

  test('a number of a million digits is read at once', () => {
    expect(parseJson('1'.repeat(1_000_000))).toEqual(new Float(Number.POSITIVE_INFINITY));
  });

  test.each([
    ['1', 'int', '1'],
    ['-0', 'int', '0'],
    ['1.0', 'float', '1.0'],
    ['1e2', 'float', '100.0'],
    ['9223372036854775807', 'int', '9223372036854775807'],
    ['-9223372036854775808', 'int', '-9223372036854775808'],
    ['9223372036854775808', 'float', '9223372036854776000'],
    ['9007199254740993', 'int', '9007199254740993'],
  ])('the number %s is the %s %s', (text, kind, shown) => {
    const value = parseJson(`[${text}]`);
    const [number] = value as [never];
    expect([typeOf(number), display(number)]).toEqual([kind, shown]);
  });

  test('half a character becomes U+FFFD, so that every text can be written as UTF-8', () => {
    expect(parseJson(String.raw`"\ud800x"`)).toBe('\ufffdx');
  });

  test('a later key wins', () => {
    expect(structuralKey(parseJson('{"a": 1, "a": 2}'))).toBe(structuralKey(dictOf([['a', 2]])));
  });
});

expressionTable('JSON of kinds', [
  ['json_stringify({b: 1, a: [true, nil]})', '{"a":[true,null],"b":1}'],
  ['json_stringify([5.0, 2.5, 0.1 + 0.2])', '[5,2.5,0.30000000000000004]'],
  ['json_stringify({b: 5s, a: set(1, 2), c: Ok(1)})', '{"a":[1,2],"b":null,"c":null}'],
  ['json_stringify(1 to 3)', '"1 to 3"'],
  ['json_stringify(bytes_from_string("hi"))', '{"$bytes_b64":"aGk="}'],
  ['json_stringify([pair(1, 2), { x -> x }, len, iter([1])])', '[null,null,null,null]'],
  [String.raw`json_stringify("\"\\\n\tä😀")`, String.raw`"\"\\\n\tä😀"`],
  ['json_stringify(9223372036854775807)', '9223372036854775807'],
  [String.raw`json_stringify(json_parse("\"\\b\\f\\u0001\""))`, String.raw`"\u0008\u000c\u0001"`],
  ['json_parse("[1, 2.0, null]")', '[1, 2.0, nil]'],
  ['json_parse("{")', 'error: JSON parse error: EOF while parsing an object at line 1 column 2'],
  ['json_parse("")', 'error: JSON parse error: EOF while parsing a value at line 1 column 1'],
  ['json_parse("1 2")', 'error: JSON parse error: trailing characters at line 1 column 3'],
  ['json_parse("[01]")', 'error: JSON parse error: expected `,` or `]` at line 1 column 3'],
]);
