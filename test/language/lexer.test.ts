import { describe, expect, test } from 'vitest';
import { lex } from '../../src/language/lexer.ts';
import { describeToken, type StringPart } from '../../src/language/token.ts';

function spell(text: string): string {
  const { tokens, error } = lex(text);
  if (error !== undefined) return `! ${error.message}`;
  return tokens
    .slice(0, -1)
    .map((token) => (token.parts === undefined ? describeToken(token) : `[${token.parts.map(spellPart).join('|')}]`))
    .join(' ');
}

function spellPart(part: StringPart): string {
  return typeof part === 'string' ? JSON.stringify(part) : `\${${part.text}}`;
}

describe('source text becomes tokens', () => {
  const rows: readonly (readonly [rule: string, text: string, tokens: string])[] = [
    ['blanks, tabs and carriage returns part tokens', 'a\t b\r c', 'id(a) id(b) id(c)'],
    ['a newline is a token', 'a\n\nb', 'id(a) \\n \\n id(b)'],
    ['a backslash before a newline joins the lines', 'a \\\n b', 'id(a) id(b)'],
    ['a #! line is passed over', '#!/usr/bin/env harn\na', '\\n id(a)'],
    ['so is a byte order mark', '\ufeffa', 'id(a)'],
    ['a line comment goes to the end of the line', 'a // b\nc', 'id(a) \\n id(c)'],
    ['block comments nest', 'a /* b /* c */ d */ e', 'id(a) id(e)'],
    ['doc comments are comments', '/// a\n/** b */ c', '\\n id(c)'],
    ['an empty block comment closes itself', '/**/a', 'id(a)'],
    ['names may hold letters of any script', 'größe _x1 変数', 'id(größe) id(_x1) id(変数)'],
    ['keywords are tokens of their own', 'let lets', 'let id(lets)'],
    [
      'contextual words are names',
      'gen each settle with as stream not timeout default where out',
      'id(gen) id(each) id(settle) id(with) id(as) id(stream) id(not) id(timeout) id(default) id(where) id(out)',
    ],
    [
      'operators are read longest first',
      'a**b*c|>d||e|f?.g??h?i',
      'id(a) ** id(b) * id(c) |> id(d) || id(e) | id(f) ?. id(g) ?? id(h) ? id(i)',
    ],
    ['assignments and arrows', '-> += -= *= /= %= <= >= == != = ! -', '-> += -= *= /= %= <= >= == != = ! -'],
    ['three dots are three tokens', '...a', '. . . id(a)'],
  ];
  test.each(rows)('%s', (_rule, text, tokens) => expect(spell(text)).toBe(tokens));
});

describe('numbers and durations', () => {
  const rows: readonly (readonly [rule: string, text: string, tokens: string])[] = [
    ['an int is digits only', '007', 'int(007)'],
    ['the largest int', '9223372036854775807', 'int(9223372036854775807)'],
    ['a larger one becomes a float', '9223372036854775808', 'float(9223372036854775808)'],
    ['leading zeros do not make it larger', '0000000000000000000001', 'int(0000000000000000000001)'],
    ['a float has digits on both sides of the point', '1.5', 'float(1.5)'],
    ['a point without digits behind it is a member access', '5.name', 'int(5) . id(name)'],
    ['there is no exponent', '1e5', 'int(1) id(e5)'],
    ['there is no separator', '1_000', 'int(1) id(_000)'],
    ['there is no hexadecimal', '0x10', 'int(0) id(x10)'],
    ['every unit of time', '1ms 2s 3m 4h 5d 6w', '1ms 2s 3m 4h 5d 6w'],
    ['a unit with a letter behind it is a name', '5sx 5min', 'int(5) id(sx) int(5) id(min)'],
  ];
  test.each(rows)('%s', (_rule, text, tokens) => expect(spell(text)).toBe(tokens));
});

describe('strings', () => {
  const rows: readonly (readonly [rule: string, text: string, tokens: string])[] = [
    ['the five escapes', String.raw`"a\n\t\\\"\$b"`, 'str(a\n\t\\"$b)'],
    ['other pairs stay as they are', String.raw`"\d\r\u0041"`, String.raw`str(\d\r\u0041)`],
    ['a raw string has no escapes', String.raw`r"\d${'${'}x}"`, String.raw`str(\d${'${'}x})`],
    ['r before a blank is a name', 'r "a"', 'id(r) str(a)'],
    ['an interpolation is a part', '"a${b}c"', '["a"|${b}|"c"]'],
    ['braces and quotes inside count', '"${f({k: "x"})}"', '[${f({k: "x"})}]'],
    ['an escaped dollar does not open one', String.raw`"\${b}"`, 'str(${b})'],
    ['a dollar alone is text', '"$b $"', 'str($b $)'],
    ['a block string loses its indent and one newline', '"""\n    a\n      b\n\n    c\n    """', 'str(a\n  b\n\nc)'],
    ['it has no escapes', '"""a\\n"b"""', 'str(a\\n"b)'],
    ['only lines with text of their own count for the indent', '"""\n  ${a}\n    b\n  """', '[${a}|"\\nb"]'],
    ['line breaks beside an interpolation stay', '"""\n  a\n  ${b}\n  c\n"""', '["a\\n"|${b}|"\\nc"]'],
    ['an interpolation may span lines', '"""${f(\n1)}"""', '[${f(\n1)}]'],
    ['line endings of two characters count as one', '"""\r\n  a\r\n  b\r\n  """', 'str(a\nb)'],
  ];
  test.each(rows)('%s', (_rule, text, tokens) => expect(spell(text)).toBe(tokens));
});

describe('the first mistake of a file is reported with its place', () => {
  const rows: readonly (readonly [text: string, message: string])[] = [
    ['a\n  `', "! Unexpected character '`' at 2:3"],
    ['a # b', "! Unexpected character '#' at 1:3"],
    ['"ä" ^', "! Unexpected character '^' at 1:5"],
    ['"😀" ~ ~', "! Unexpected character '~' at 1:5"],
    ['a \\ b', "! Unexpected character '\\' at 1:3"],
    ['a \\\r\nb', "! Unexpected character '\\' at 1:3"],
    ["'a'", "! Unexpected character ''' at 1:1"],
    ['😀', "! Unexpected character '😀' at 1:1"],
    ['x "abc', '! Unterminated string at 1:3'],
    ['"abc\n"', '! Unterminated string at 1:1'],
    ['"a\\\n"', '! Unterminated string at 1:1'],
    ['r"abc\n"', '! Unterminated string at 1:1'],
    ['\n"""abc', '! Unterminated string at 2:1'],
    ['"${a', '! Unterminated string at 1:1'],
    ['"${ }"', "! Unexpected character '}' at 1:5"],
    ['a /* b /* c */', '! Unterminated block comment at 1:3'],
  ];
  test.each(rows)('%j', (text, message) => expect(spell(text)).toBe(message));
});

test('columns count code points, offsets count UTF-16 units', () => {
  const { tokens } = lex('"😀" x\n𝒳 y');
  expect(tokens.map(({ start, line, column }) => [start, line, column])).toEqual([
    [0, 1, 1],
    [5, 1, 5],
    [6, 1, 6],
    [7, 2, 1],
    [10, 2, 3],
    [11, 2, 4],
  ]);
});

test('an interpolation knows its own place', () => {
  const { tokens } = lex('\n  "😀${ab}"');
  expect(tokens[1]?.parts?.[1]).toEqual({ text: 'ab', start: 8, line: 2, column: 7 });
});

test('comments are kept with their places', () => {
  expect(lex('a // b\n/* c */ d').comments).toEqual([
    { kind: 'line', start: 2, end: 6, line: 1, column: 3 },
    { kind: 'block', start: 7, end: 14, line: 2, column: 1 },
  ]);
});
