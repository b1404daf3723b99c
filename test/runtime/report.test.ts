import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderRuntimeError } from '../../src/diagnostics/render.ts';
import { describeFailure } from '../../src/runtime/report.ts';
import { runText } from './run-text.ts';

const HELPERS = `struct Cart { items: list }
impl Cart {
  fn total(self) {
    return self.items.map({ item ->
      price(item)
    })
  }
}
fn price(item) {
  return item.cost * 2 + extra
}
fn read(x) {
  return x.y
}
fn slow(x) {
  sleep(1)
  return read(x)
}
`;

/** Where an error is shown and what the notes say, inner to outer. Lines count from the statement behind the helpers. */
const ROWS: readonly (readonly [rule: string, statement: string, first: string, at: string, notes: readonly string[]])[] = [
  ['the entry alone', 'println(nope)', 'Runtime error: Undefined variable: nope (line 20)', '20:9', []],
  ['a function', 'read(1)', 'Type error: cannot access property `y` on int (line 13)', '13:12', ['pipeline at 20']],
  [
    'a method, a closure and a builtin that calls back',
    'Cart({items: [{cost: 1}]}).total()',
    'Runtime error: Undefined variable: extra (line 10)',
    '10:26',
    ['pipeline at 5', 'total at 4', 'pipeline at 20'],
  ],
  [
    'a callback on the line of its caller',
    'fn all() { return [1].map({ x -> read(x) }) }\nall()',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['all at 20', 'pipeline at 21'],
  ],
  [
    'a function that waits',
    'slow(1)',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['slow at 17', 'pipeline at 20'],
  ],
  [
    'a task of a parallel',
    'fn both() {\n  return parallel each [1, 2] { x ->\n    slow(x)\n  }\n}\nboth()',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['slow at 17', 'pipeline at 22', 'both at 21', 'pipeline at 25'],
  ],
  [
    'a generator and its consumer',
    'fn made() {\n  yield read(1)\n}\nfor x in made() { println(x) }',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['pipeline at 21', 'pipeline at 23'],
  ],
  [
    'a comparison of a sort',
    'fn sorted() {\n  return [2, 1].sort_by({ x -> read(x) })\n}\nsorted()',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['sorted at 21', 'pipeline at 23'],
  ],
  [
    'a tail call, whose caller has gone',
    'fn last(x) { return read(x) }\nlast(1)',
    'Type error: cannot access property `y` on int (line 13)',
    '13:12',
    ['last at 20', 'pipeline at 21'],
  ],
  ['a thrown value', 'fn fail() {\n  throw {code: 7}\n}\nfail()', 'Thrown: {code: 7}', '21', ['pipeline at 23']],
  ['a builtin that throws', 'json_parse("{")', 'Thrown: JSON parse error: EOF while parsing an object at line 1 column 2', '20:1', []],
  [
    'a recursion without end',
    'fn down(n) {\n  return 1 + down(n + 1)\n}\ndown(0)',
    'Runtime error: Stack overflow: too many nested calls (line 20)',
    '20',
    ['down at 21'],
  ],
];

test.each(ROWS)('the trace of %s', async (_rule, statement, message, at, notes) => {
  const { outcome } = await runText(`${HELPERS}mock_time(0)\n${statement}`);
  if (outcome.kind !== 'failed') throw new Error(`the script ended with ${outcome.kind}`);
  const { failure } = outcome;
  expect(failure.message).toBe(message);
  expect([failure.at?.line, failure.at?.column].filter((part) => part !== undefined).join(':')).toBe(at);
  const traced = failure.notes.map(
    (note) => /^called from (\S+) at \/nowhere\/test\.harn:(\d+)$/.exec(note)?.slice(1).join(' at ') ?? note,
  );
  expect(traced).toEqual(notes);
  const shown = renderRuntimeError(failure);
  expect(shown).toContain(` | ${failure.at?.source.split('\n')[(failure.at?.line ?? 1) - 1]}`);
  // No frame of JavaScript, neither ours nor Node's.
  expect(shown).not.toMatch(/\.ts\b|\.cjs\b|node:|\n\s+at |\$/);
});

test('a name of another language is answered with ours', async () => {
  const { outcome } = await runText('let x = [1]\nprintln(x[0] == null)');
  if (outcome.kind !== 'failed') throw new Error(`the script ended with ${outcome.kind}`);
  expect(outcome.failure.message).toBe('Runtime error: Undefined variable: null (line 2)');
  expect(renderRuntimeError(outcome.failure)).toContain('= help: write `nil`');
});

test.each([
  ['println(x)\nlet x = 1', 'it is declared in line 2, which is not in sight here'],
  ['if true { let z = 1 }\nprintln(z)', 'it is declared in line 1, which is not in sight here'],
  ['enum Color { Red, Green }\nprintln(Red)', 'write `Color.Red`'],
  ['println(1e5)', 'a number has no exponent: write out its zeros, or `pow(10.0, n)`'],
  ['let x = 1\nx()', '`x` holds a value of type int, not a function'],
  ['let n = 1\nprintln("n " + n)', 'write one text: `"n is ${n}"`'],
])('%s fails with what to do', async (script, help) => {
  const { outcome } = await runText(script);
  if (outcome.kind !== 'failed') throw new Error(`the script ended with ${outcome.kind}`);
  expect(outcome.failure.help).toBe(help);
});

test('a missing key of a service comes with what to do', async () => {
  const { outcome } = await runText('llm_call("hi", nil, {provider: "openai", model: "m"})');
  if (outcome.kind !== 'failed') throw new Error(`the script ended with ${outcome.kind}`);
  expect(outcome.failure.message).toContain('OPENAI_API_KEY');
  expect(outcome.failure.help).toContain('`harn doctor openai`');
});

test('a defect of harn looks like one, says what to do and keeps its stack', () => {
  const failure = describeFailure(new TypeError('value.frobnicate is not a function'), undefined);
  expect(failure).toMatchObject({ isInternal: true, at: undefined, code: undefined });
  expect(failure.message).toMatch(
    /^internal error in harn \(please report it with this text\): TypeError: value\.frobnicate is not a function\n\s+at /,
  );
});

test('what the system refuses is no defect of harn', () => {
  let refusal: unknown;
  try {
    readFileSync('/nowhere/at/all');
  } catch (error) {
    refusal = error;
  }
  expect(describeFailure(refusal, undefined)).toMatchObject({
    message: 'Runtime error: /nowhere/at/all: no such file or directory (open)',
    isInternal: false,
  });
});
