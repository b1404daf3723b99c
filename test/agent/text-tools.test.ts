import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTextResponse, renderFeedback, renderTextResult, type TextResponse, visibleText } from '../../src/agent/tools/text-tools.ts';

const NAMES = new Set(['read', 'write']);

interface Row {
  readonly rule: string;
  readonly text: string;
  readonly expected: Partial<Omit<TextResponse, 'errors' | 'violations'>> & { readonly errors?: number; readonly violations?: number };
}

const ROWS: Row[] = [
  {
    rule: 'a tagged call',
    text: '<tool_call>read({ path: "a.txt", deep: true, n: -1.5e2, none: null })</tool_call>',
    expected: { calls: [{ id: 'tc_0', name: 'read', arguments: { path: 'a.txt', deep: true, n: -150, none: null } }] },
  },
  {
    rule: 'ids count from zero within the response',
    text: '<tool_call>read({})</tool_call>\n<tool_call>write({ "quoted-key": [1, 2,], })</tool_call>',
    expected: {
      calls: [
        { id: 'tc_0', name: 'read', arguments: {} },
        { id: 'tc_1', name: 'write', arguments: { 'quoted-key': [1, 2] } },
      ],
    },
  },
  {
    rule: 'strings have escapes, templates are raw',
    text: "<tool_call>write({ a: 'it\\'s\\n\\u{1F600}\\x41', b: `raw ${x}\\n` })</tool_call>",
    expected: { calls: [{ id: 'tc_0', name: 'write', arguments: { a: "it's\n😀A", b: 'raw ${x}\\n' } }] },
  },
  {
    rule: 'a heredoc may hold what looks like the end of the call',
    text: '<tool_call>write({ text: <<END\nline })</tool_call>\nEND of it\nEND, x: 1 })</tool_call>',
    expected: { calls: [{ id: 'tc_0', name: 'write', arguments: { text: 'line })</tool_call>\nEND of it', x: 1 } }] },
  },
  {
    rule: 'a heredoc ends at its tag at line start',
    text: '<tool_call>write({ text: <<END\none\n\ntwo\nEND })</tool_call>',
    expected: { calls: [{ id: 'tc_0', name: 'write', arguments: { text: 'one\n\ntwo' } }] },
  },
  {
    rule: 'prose and answers',
    text: '<assistant_prose>a</assistant_prose>\n<user_response>b</user_response>',
    expected: { prose: ['a', 'b'] },
  },
  { rule: 'done', text: '<done>##DONE##</done>', expected: { done: '##DONE##' } },
  {
    rule: 'a bare call at the start of a line runs, with a violation',
    text: 'Let me look.\nread({ path: "x" })',
    expected: { calls: [{ id: 'tc_0', name: 'read', arguments: { path: 'x' } }], prose: ['Let me look.'], violations: 2 },
  },
  {
    rule: 'a call inside a sentence is text',
    text: 'I would call read({ path: "x" }) now',
    expected: { calls: [], violations: 1 },
  },
  {
    rule: 'a wrapped call runs, with a violation',
    text: '<read({ path: "x" })>',
    expected: { calls: [{ id: 'tc_0', name: 'read', arguments: { path: 'x' } }], violations: 1 },
  },
  { rule: 'an unknown name is an error', text: '<tool_call>fly({})</tool_call>', expected: { calls: [], errors: 1 } },
  { rule: 'a call without an object is an error', text: '<tool_call>read("x")</tool_call>', expected: { calls: [], errors: 1 } },
  { rule: 'a bare call without an object is an error', text: 'read("x")', expected: { calls: [], errors: 1, violations: 1 } },
  { rule: 'a language label is an error and nothing runs', text: 'python: read({ path: "x" })', expected: { calls: [], errors: 1 } },
  { rule: 'a label inside the tag as well', text: '<tool_call>python: read({})</tool_call>', expected: { calls: [], errors: 1 } },
  { rule: 'an unclosed tag is a violation', text: '<assistant_prose>abc', expected: { prose: ['abc'], violations: 1 } },
  {
    rule: 'an unclosed call runs, with a violation',
    text: '<tool_call>read({})',
    expected: { calls: [{ id: 'tc_0', name: 'read', arguments: {} }], violations: 1 },
  },
  { rule: 'an unknown tag is a violation', text: '<plan>x</plan>', expected: { violations: 3 } },
  { rule: 'an empty done is a violation', text: '<done> </done>', expected: { done: undefined, violations: 1 } },
  { rule: 'stray text is a violation', text: 'hello there', expected: { prose: ['hello there'], violations: 1 } },
  {
    rule: 'arguments that cannot be read are an error',
    text: '<tool_call>read({ path: oops })</tool_call>',
    expected: { calls: [], errors: 1 },
  },
];

describe('text grammar (2.5)', () => {
  test.each(ROWS)('$rule', ({ text, expected: { errors = 0, violations = 0, ...rest } }) => {
    const response = parseTextResponse(text, NAMES);
    expect(response).toMatchObject(rest);
    expect([response.errors.length, response.violations.length]).toEqual([errors, violations]);
  });

  test('an unknown name lists at most twenty known ones', () => {
    const names = new Set(Array.from({ length: 30 }, (_, index) => `tool_${String(index).padStart(2, '0')}`));
    const [error] = parseTextResponse('<tool_call>fly({})</tool_call>', names).errors;
    expect(error).toContain('tool_00');
    expect(error).toContain('tool_19');
    expect(error).not.toContain('tool_20');
  });

  test('never throws and never loops', () => {
    const token = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<done>',
      'read(',
      '{',
      '}',
      ')',
      '"',
      '`',
      '<<E\n',
      'E',
      '\n',
      ' ',
      ':',
      ',',
      'x',
      '\\',
      '<',
      '>',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
        const response = parseTextResponse(tokens.join(''), NAMES);
        expect(response.calls.every((call) => NAMES.has(call.name))).toBe(true);
      }),
    );
  });
});

test('feedback wrapper (2.5)', () => {
  expect(renderFeedback('tool_results', renderTextResult('read', 'abc'))).toBe(
    '<runtime_feedback kind="tool_results">\n[result of read]\nabc\n[end of read result]\n</runtime_feedback>',
  );
});

const VISIBLE: [string, string][] = [
  ['plain  text ', 'plain  text '],
  ['<assistant_prose>Hello</assistant_prose>\n<done>##DONE##</done>', 'Hello'],
  ['<tool_call>read({})</tool_call>', ''],
  ['<thinking>secret</thinking>Answer', 'Answer'],
  ['All good ##DONE##', 'All good'],
];
test.each(VISIBLE)('visible text of %j is %j (1.3)', (text, visible) => {
  expect(visibleText(text)).toBe(visible);
});
