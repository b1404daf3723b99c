import { Script } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { compileProgram } from '../../src/runtime/program/compile-program.ts';
import { ProgramRejected } from '../../src/runtime/program/program.ts';
import { plainProgram } from './program-generator.ts';

/** What a compilation comes to: JavaScript that V8 reads, or messages that have a place. */
function outcomeOf(text: string, forceAsync = false): 'compiled' | 'refused' {
  try {
    const { modules } = compileProgram(createFakePlatform().files, '/nowhere/test.harn', text, { check: () => [], forceAsync });
    for (const { js } of modules) new Script(js);
    return 'compiled';
  } catch (error) {
    if (!(error instanceof ProgramRejected)) throw error;
    for (const { span } of error.diagnostics) expect(span).toBeDefined();
    return 'refused';
  }
}

test('a program that reads compiles to JavaScript', () => {
  fc.assert(
    fc.property(plainProgram, fc.boolean(), (text, forceAsync) => {
      expect(outcomeOf(text, forceAsync)).toBe('compiled');
    }),
    { numRuns: 100 },
  );
});

/** Statements that mean something only in some places. */
const STATEMENTS = [
  'yield 1',
  'yield',
  'emit 1',
  'break',
  'continue',
  'return 1',
  'throw 1',
  'let v = x?',
  'let v = try* f()',
  'defer { f() }',
  'select { a from x { f() } default { break } }',
  'override f() { return 1 }',
  'fn inner() { yield 1 }',
  'let c = { -> continue }',
];

/** Places for a statement. */
const PLACES: readonly ((statement: string) => string)[] = [
  (s) => s,
  (s) => `fn f(x) { ${s} }`,
  (s) => `gen fn f(x) { ${s} }`,
  (s) => `tool t(x: int) { ${s} }`,
  (s) => `pipeline p(x) { ${s} }`,
  (s) => `struct S { x }\nimpl S { fn f(self, x) { ${s} } }`,
  (s) => `let f = { x -> ${s} }`,
  (s) => `let f = fn(x) { ${s} }`,
];

const BLOCKS: readonly ((statement: string) => string)[] = [
  (s) => s,
  (s) => `if x { ${s} } else { ${s} }`,
  (s) => `for y in x { ${s} }`,
  (s) => `while x { ${s} }`,
  (s) => `match x {\n1 -> { ${s} }\n_ -> { ${s} }\n}`,
  (s) => `let r = match x {\n1 -> { ${s} }\n_ -> { 2 }\n}`,
  (s) => `try { ${s} } catch (e) { ${s} } finally { ${s} }`,
  (s) => `let r = try { ${s} }`,
  (s) => `retry 2 { ${s} }`,
  (s) => `deadline 1s { ${s} }`,
  (s) => `mutex { ${s} }`,
  (s) => `defer { ${s} }`,
  (s) => `for y in x { defer { ${s} } }`,
  (s) => `guard x else { ${s} }`,
  (s) => `parallel 2 { ${s} }`,
  (s) => `for y in x { parallel each y { z -> ${s} } }`,
  (s) => `spawn { ${s} }`,
  (s) => `select { a from x { ${s} } timeout 1s { ${s} } }`,
  (s) => `for y in x { let g = { -> ${s} } }`,
];

test.each(STATEMENTS)('`%s` compiles or is refused, wherever it stands', (statement) => {
  for (const place of PLACES) {
    for (const block of BLOCKS) for (const forceAsync of [false, true]) outcomeOf(place(block(statement)), forceAsync);
  }
});

test.each([
  ['fn f() { defer { yield 1 }\nyield 2 }', 'refused'],
  ['fn f() { for i in 1 to 2 { defer { break } } }', 'refused'],
  ['let f = { x -> yield x }', 'refused'],
  ['fn f() { try { yield 1 } finally { yield 2 } }', 'compiled'],
] as const)('%s is %s', (text, outcome) => expect(outcomeOf(text)).toBe(outcome));
