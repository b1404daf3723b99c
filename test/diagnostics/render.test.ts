import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { diagnosticToJson, type Palette, renderDiagnostic, renderMessage, renderRuntimeError } from '../../src/diagnostics/render.ts';

const SOURCE = `fn total(xs) {
  return totl + 1
}

pipeline default() {
  total([1])
}
`;

describe('a run-time error', () => {
  it('shows the token, and its callers from inner to outer', () => {
    const at = { path: 'calc.harn', source: SOURCE, line: 2, column: 10, length: 4 };
    expect(
      renderRuntimeError({
        message: 'Runtime error: Undefined variable: totl (line 2)',
        at,
        notes: ['called from pipeline at calc.harn:6'],
      }),
    ).toBe(`error: Runtime error: Undefined variable: totl (line 2)
  --> calc.harn:2:10
   |
 2 |   return totl + 1
   |          ^^^^
  = note: called from pipeline at calc.harn:6
`);
  });

  it('covers the trimmed line when the column is unknown', () => {
    expect(renderRuntimeError({ message: 'Thrown: no', at: { path: 'calc.harn', source: SOURCE, line: 6 } })).toBe(`error: Thrown: no
  --> calc.harn:6
   |
 6 |   total([1])
   |   ^^^^^^^^^^
`);
  });

  it('names the place alone when the text of the file is unknown', () => {
    expect(renderRuntimeError({ message: 'Thrown: no', at: { path: 'gone.harn', line: 12 } })).toBe(`error: Thrown: no
   --> gone.harn:12
`);
  });

  it('is one line when no script was involved', () => {
    expect(renderRuntimeError({ message: 'Runtime error: HARN-SUS-004: resume_agent: failed' })).toBe(
      'error: Runtime error: HARN-SUS-004: resume_agent: failed\n',
    );
  });
});

describe('a diagnostic', () => {
  const unbalanced: Diagnostic = {
    severity: 'error',
    stage: 'parser',
    message: 'Unexpected end of file, expected }',
    path: 'a.harn',
    span: { start: 13, end: 13, line: 2, column: 1 },
    label: 'file ends here',
    help: 'add a closing }',
    notes: ['the block begins in line 1'],
  };

  it('has a label behind its carets, then help and notes', () => {
    expect(renderDiagnostic(unbalanced, 'fn f() { 1   \n')).toBe(`error: Unexpected end of file, expected }
  --> a.harn:2:1
   |
 2 |
   | ^ file ends here
   = help: add a closing }
   = note: the block begins in line 1
`);
  });

  it('prints its code in brackets', () => {
    expect(renderMessage({ severity: 'warning', code: 'HARN-OWN-002', text: 'never reassigned' })).toBe(
      'warning[HARN-OWN-002]: never reassigned\n',
    );
  });

  it('covers no more than the first line of its span', () => {
    const span = { start: 4, end: 20, line: 1, column: 5 };
    expect(
      renderDiagnostic({ severity: 'error', stage: 'checker', message: 'm', path: 'a.harn', span }, 'let xs = [\n  1,\n  2]\n'),
    ).toContain('\n   |     ^^^^^^\n');
  });

  it('has the same facts in JSON', () => {
    expect(diagnosticToJson(unbalanced, 'fn f() { 1   \n')).toEqual({
      severity: 'error',
      stage: 'parser',
      code: null,
      message: 'Unexpected end of file, expected }',
      path: 'a.harn',
      line: 2,
      column: 1,
      end_line: 2,
      end_column: 1,
      help: 'add a closing }',
      notes: ['the block begins in line 1'],
    });
  });
});

const ENDS: readonly (readonly [rule: string, covered: string, end: readonly [line: number, column: number]])[] = [
  ['behind the last character', 'xyz', [3, 8]],
  ['a character beyond 16 bits is one column', '"😀"', [3, 8]],
  ['on a later line', '[\n  1,\n 2]', [5, 4]],
  ['behind a line end', 'x\n', [4, 1]],
];

it.each(ENDS)('the end of a place in JSON: %s', (_rule, covered, [line, column]) => {
  const span = { start: 10, end: 10 + covered.length, line: 3, column: 5 };
  const json = diagnosticToJson(
    { severity: 'error', stage: 'checker', message: 'm', path: 'a', span },
    `${' '.repeat(10)}${covered} rest\n`,
  );
  expect([json.end_line, json.end_column]).toEqual([line, column]);
});

it('has no end in JSON without the text or a place', () => {
  const diagnostic: Diagnostic = { severity: 'error', stage: 'import', message: 'm', path: 'a' };
  expect(diagnosticToJson(diagnostic, 'x')).toMatchObject({ line: null, end_line: null, end_column: null });
  const span = { start: 0, end: 1, line: 1, column: 1 };
  expect(diagnosticToJson({ ...diagnostic, span }, undefined)).toMatchObject({ line: 1, end_line: null, end_column: null });
});

const WIDTHS: readonly (readonly [rule: string, line: string, column: number, length: number, carets: string])[] = [
  ['plain text', 'let x = y', 9, 1, '        ^'],
  ['a tab stays a tab', '\treturn y', 9, 1, '\t       ^'],
  ['wide characters take two columns', 'let 名前 = y', 10, 1, '           ^'],
  ['carets are as wide as what they cover', 'let 名前 = y', 5, 2, '    ^^^^'],
  ['a character beyond 16 bits is one column of source', 'let s = "😀" + y', 14, 1, '              ^'],
  ['a combining mark takes no column', 'let e\u0301 = y', 10, 1, '        ^'],
  ['carets end with the line', 'let x', 5, 40, '    ^'],
  ['a place behind the end of the line', 'let x =', 9, 3, '       ^'],
];

it.each(WIDTHS)('carets: %s', (_rule, line, column, length, carets) => {
  const text = renderMessage({ severity: 'error', text: 'm', excerpt: { path: 'a', source: line, line: 1, column, length } });
  expect(text.split('\n')[4]).toBe(`   | ${carets}`);
});

it('line numbers of several digits widen the gutter', () => {
  const source = `${'\n'.repeat(99)}abc\n`;
  expect(
    renderMessage({ severity: 'error', text: 'm', excerpt: { path: 'a', source, line: 100, column: 1, length: 3 }, help: 'h' }),
  ).toBe(`error: m
    --> a:100:1
     |
 100 | abc
     | ^^^
     = help: h
`);
});

it('paints the severity, the gutter and the carets', () => {
  const palette: Palette = {
    error: (t) => `<e>${t}</e>`,
    warning: (t) => `<w>${t}</w>`,
    gutter: (t) => `<g>${t}</g>`,
    bold: (t) => `<b>${t}</b>`,
  };
  expect(
    renderMessage({ severity: 'error', text: 'm', excerpt: { path: 'a', source: 'x', line: 1, column: 1 } }, palette),
  ).toBe(`<e>error</e>: <b>m</b>
  <g>--></g> a:1:1
   <g>|</g>
<g> 1</g> <g>|</g> x
   <g>|</g> <e>^</e>
`);
});
