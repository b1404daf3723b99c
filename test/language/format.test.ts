import { describe, expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';

function format(text: string): string {
  const result = formatSource(text);
  if (result.kind === 'rejected') throw new Error(result.diagnostics[0]?.message);
  return result.text;
}

const LONG = 'a_rather_long_name_that_fills_the_line';

/** Lines without their common indent, so that what is expected can be read in place. */
function lines(strings: TemplateStringsArray): string {
  const text = strings.raw[0] ?? '';
  const indent = /^\n( *)/.exec(text)?.[1] ?? '';
  return text.replaceAll(`\n${indent}`, '\n').replace(/^\n/, '').trimEnd().concat('\n');
}

describe('one way to write it', () => {
  const rows: readonly (readonly [rule: string, source: string, formatted: string])[] = [
    ['operators have blanks around them', 'a=1+2*  -3', 'a = 1 + 2 * -3\n'],
    ['a statement takes a line', 'a(); b()', 'a()\nb()\n'],
    ['at most one blank line stays', 'a\n\n\n\nb\n\n', 'a\n\nb\n'],
    ['parentheses stay', '(a && b) || (c)', '(a && b) || (c)\n'],
    [
      'literals stay as they are written',
      String.raw`f( r"\d" , "${'${'} 1+1 }" , 1.50 , 090s )`,
      String.raw`f(r"\d", "${'${'} 1+1 }", 1.50, 090s)${'\n'}`,
    ],
    ['lists and dicts have commas', '[1 2,]; {a: 1 b: 2}', '[1, 2]\n{a: 1, b: 2}\n'],
    ['a block on one line stays there', 'if a {b()} else {c()}', 'if a { b() } else { c() }\n'],
    ['so do several statements of it', 'retry 3 {n+=1;throw n}', 'retry 3 { n += 1; throw n }\n'],
    ['one block on lines puts all of them on lines', 'if a {\nb() } else { c() }', 'if a {\n  b()\n} else {\n  c()\n}\n'],
    ['an empty block', 'fn f ( ) { \n }', 'fn f() {}\n'],
    ['else and catch follow the brace', 'try { a }\ncatch e { b }\nfinally { c }', 'try { a } catch (e) { b } finally { c }\n'],
    ['closures', 'xs.map({x->x+1})', 'xs.map({ x -> x + 1 })\n'],
    ['closures without parameters', 'spawn_it({->1})', 'spawn_it({ -> 1 })\n'],
    ['placeholders', 'v|>f(_,1)', 'v |> f(_, 1)\n'],
    ['types', 'type A={a:int,b?:[string],c:int?}|fn(A)->B|C<D>', 'type A = {a: int, b?: [string], c: int?} | fn(A) -> B | C<D>\n'],
    [
      'structs and enums on one line have commas',
      'struct P{x:int y?:int}; enum E{A B(x)}',
      'struct P { x: int, y?: int }\nenum E { A, B(x) }\n',
    ],
    ['on several lines they have none', 'struct P {x: int,\n y: int}', 'struct P {\n  x: int\n  y: int\n}\n'],
    ['imports', 'import {a,b} from "m"; import a :: b::{x,y}', 'import { a, b } from "m"\nimport a::b::{x, y}\n'],
    ['attributes take a line', '@test @retry(3) fn f() {}', '@test\n@retry(3)\nfn f() {}\n'],
    ['a list broken behind its bracket stays broken', '[\n1, 2]', '[\n  1,\n  2,\n]\n'],
    ['one broken elsewhere is joined', '[1,\n 2]', '[1, 2]\n'],
    ['an operation spread over lines breaks behind its operators', 'a\n+ b \\\n - c', 'a +\n  b -\n  c\n'],
    ['the #! line stays', '#!/usr/bin/env harn\nf()', '#!/usr/bin/env harn\nf()\n'],
    ['line ends become newlines', 'a()\r\nb() // c\r\n', 'a()\nb() // c\n'],
    ['nothing stays nothing', '\n\n', ''],
  ];
  test.each(rows)('%s', (_rule, source, formatted) => expect(format(source)).toBe(formatted));
});

describe('lines of more than 100 characters are broken', () => {
  test.each([
    [
      'the closure at the end of a call first',
      `xs.each({ item -> ${LONG}(item); ${LONG}(item); done(item, 1, 2) })`,
      `xs.each({ item ->\n  ${LONG}(item)\n  ${LONG}(item)\n  done(item, 1, 2)\n})\n`,
    ],
    [
      'or its dict',
      `call(1, {first: "${LONG}", second: "${LONG}", third: 3})`,
      `call(1, {\n  first: "${LONG}",\n  second: "${LONG}",\n  third: 3,\n})\n`,
    ],
    [
      'behind a comparison that decides, not within it',
      `let x = ${LONG}.kind == "b" ? first : choose(${LONG}, 1, 2)`,
      `let x = ${LONG}.kind == "b" ? first : choose(\n  ${LONG},\n  1,\n  2,\n)\n`,
    ],
    ['else every argument', `call(${LONG}, ${LONG}, ${LONG})`, `call(\n  ${LONG},\n  ${LONG},\n  ${LONG},\n)\n`],
    [
      'a chain of calls at its dots',
      `${LONG}.filter({ x -> x > 1 }).map({ x -> x + ${LONG} }).join(", ")`,
      `${LONG}\n  .filter({ x -> x > 1 })\n  .map({ x -> x + ${LONG} })\n  .join(", ")\n`,
    ],
    ['a pipe at its steps', `${LONG} |> ${LONG} |> ${LONG}`, `${LONG}\n  |> ${LONG}\n  |> ${LONG}\n`],
    ['an operation behind its operators', `return ${LONG} || ${LONG} || ${LONG}`, `return ${LONG} ||\n  ${LONG} ||\n  ${LONG}\n`],
    ['with a line of its own first', `let the_value = ${LONG} + ${LONG} + short_one`, `let the_value =\n  ${LONG} + ${LONG} + short_one\n`],
    [
      'parameters one a line',
      `fn f(${LONG}: int, ${LONG}2: int, c: int) { c }`,
      `fn f(\n  ${LONG}: int,\n  ${LONG}2: int,\n  c: int,\n) {\n  c\n}\n`,
    ],
    ['the message of a require', `require ${LONG} == ${LONG}, "must be the same"`, `require ${LONG} == ${LONG},\n  "must be the same"\n`],
    ['never a string', `log("${LONG} ${LONG} ${LONG}")`, `log(\n  "${LONG} ${LONG} ${LONG}",\n)\n`],
  ])('%s', (_rule, source, formatted) => expect(format(source)).toBe(formatted));
});

describe('comments stay where they belong', () => {
  test('above, behind and below', () => {
    const source = lines`
      // about the file

      /* about f */
      fn f() { // opens
          // first
        a()   // behind a

        // before b
        b()
        // last
      }
      // the end
    `;
    expect(format(source)).toBe(lines`
      // about the file

      /* about f */
      fn f() { // opens
        // first
        a() // behind a

        // before b
        b()
        // last
      }
      // the end
    `);
  });

  test('in lists, dicts, matches, types and declarations', () => {
    const source = lines`
      let d = { // settings
        // why a
        a: 1, // one
        b: 2
        // no more
      }
      match x {
        // the first
        1 -> { a() } // one
        _ -> {}
      }
      struct P {
        // across
        x: int
      }
      type T = {
        // a note
        a: int,
      }
      f(
        a, // one
        // two
        b,
      )
    `;
    expect(format(source)).toBe(source.replace('b: 2', 'b: 2,'));
  });

  test('a comment on the line takes no room', () => {
    const source = `let x = f(a, b) // ${LONG} ${LONG} ${LONG}\n`;
    expect(format(source)).toBe(source);
  });

  test('a statement with a comment in the middle of an expression stays as it is', () => {
    const source = 'let   x = 1\nlet   y = a + // why\n      b\nlet   z = 1';
    expect(format(source)).toBe('let x = 1\nlet   y = a + // why\n      b\nlet z = 1\n');
  });

  test('what surrounds such a statement is formatted', () => {
    expect(format('fn f( ) {\n g( )\n let   y = a /* why */ + b\n}')).toBe('fn f() {\n  g()\n  let   y = a /* why */ + b\n}\n');
  });
});

test('a block string keeps its text', () => {
  const source = 'fn f() {\n      let t = """\n    a\n      b\n    """\n}\n';
  expect(format(source)).toBe('fn f() {\n  let t = """\n    a\n      b\n    """\n}\n');
});

test('a condition keeps the parentheses that part it from its block', () => {
  const source = 'if (a == Ready) {}\n';
  expect(format(source)).toBe(source);
});

test('what does not read is refused with its mistakes', () => {
  expect(formatSource('let = 1', { path: 'a.harn' })).toMatchObject({
    kind: 'rejected',
    diagnostics: [{ path: 'a.harn', span: { line: 1 } }],
  });
});
