import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { compileProgram } from '../../src/runtime/program/compile-program.ts';
import { linesOf, runText } from '../runtime/run-text.ts';

/** Chains just below what the parser takes: they run. */
const CHAINS: readonly (readonly [rule: string, script: string, last: string])[] = [
  ['methods', `println("a"${'.trim()'.repeat(495)})`, 'a'],
  ['methods with callbacks', `println([0]${'.map({ x -> x + 1 })'.repeat(480)})`, '[480]'],
  ['methods with callbacks that wait', `println([0]${'.map({ x -> sleep(1); x + 1 })'.repeat(300)})\nprintln(now_ms())`, '300'],
  [
    'methods of a struct',
    `struct S { n: int }\nimpl S { fn inc(self) { return S {n: self.n + 1} } }\nprintln(S {n: 0}${'.inc()'.repeat(480)}.n)`,
    '480',
  ],
  ['slices, subscripts and properties', `println([7]${'[0:1].map({ x -> [x] }).first'.repeat(150)})`, '[7]'],
  ['arguments that need statements', `println(len([0]${'.push(match 1 { 1 -> { "x" } _ -> { "y" } })'.repeat(300)}))`, '301'],
  ['a condition in front', `println(true && [0]${'.map({ x -> x })'.repeat(400)}[0] == 0)`, 'true'],
  ['a sum', `println(1${' + 1'.repeat(495)})`, '496'],
  ['optional access', `println(nil${'?.a'.repeat(495)})`, 'nil'],
  ['a pipe', `println([1]${' |> len'.repeat(495)})`, '0'],
];

test.each(CHAINS)('a long chain of %s', async (_rule, script, last) => {
  expect((await linesOf(script)).at(-1)).toBe(last);
});

/** Where a chain of `else if` may stand: `CHAIN` holds the links, and `x` picks one. */
const PLACES: readonly (readonly [rule: string, script: string])[] = [
  ['returns', 'fn pick(x) { CHAIN }\nprintln(pick(9999)); println(pick(7)); println(pick(-1))'],
  ['a value', 'fn pick(x) { let v = CHAIN\n return v }\nprintln(pick(9999)); println(pick(7)); println(pick(-1))'],
  ['the value of a closure', 'let pick = { x -> CHAIN }\nprintln(pick(9999)); println(pick(7)); println(pick(-1))'],
  ['an argument', 'fn pick(x) { return (CHAIN) }\nprintln(pick(9999)); println(pick(7)); println(pick(-1))'],
  ['statements', 'fn pick(x) { var r = "none"; CHAIN\n return r }\nprintln(pick(9999)); println(pick(7)); println(pick(-1))'],
];

test.each(PLACES)('`else if` goes on as long as a list: %s', async (rule, script) => {
  const value = (text: string): string => (rule === 'returns' ? `return "${text}"` : rule === 'statements' ? `r = "${text}"` : `"${text}"`);
  const links = Array.from({ length: 10_000 }, (_, i) => `if x == ${i} { ${value(`v${i}`)} }`);
  const chain = `${links.join(' else ')} else { ${value('none')} }`;
  expect(await linesOf(script.replace('CHAIN', () => chain))).toEqual(['v9999', 'v7', 'none']);
});

test('conditions of a long chain that need statements are met in order, up to the first that holds', async () => {
  const links = Array.from({ length: 60 }, (_, i) => `if (match seen("${i}") { _ -> { ${i} == x } }) { println("took ${i}") }`);
  const script = `fn seen(n) { print("\${n} ") }\nfn pick(x) { ${links.join(' else ')} }\npick(30)`;
  const met = Array.from({ length: 31 }, (_, i) => `${i} `).join('');
  expect(await linesOf(script)).toEqual([`${met}took 30`]);
});

test('operands of a long chain keep their order', async () => {
  const script = `fn say(x) { print("\${x} "); return x }
fn all(a, b, c) { return c }
println(all(say("a"), say("b")${'.trim()'.repeat(60)}, say("c")${'.replace(say("c"), match 1 { _ -> { say("d") } })'.repeat(30)}))`;
  expect(await linesOf(script)).toEqual([`a b c ${'c d '.repeat(30)}d`]);
});

/** Opening and closing text of one level, around `1`. */
const LEVELS: readonly (readonly [open: string, close: string])[] = [
  ['(', ')'],
  ['[', ']'],
  ['{k: ', '}'],
  ['-', ''],
  ['len([', '])'],
  ['[1].map({ x -> ', ' })'],
  ['{ x -> ', ' }'],
  ['true ? ', ' : 2'],
  ['if true { ', ' } else { 2 }'],
  ['match 1 { 1 -> { ', ' } _ -> { 2 } }'],
  ['try { ', ' } catch (e) { 2 }'],
  ['deadline 9s { ', ' }'],
  ['"${', '}"'],
  ['1 + (', ')'],
  ['[0][', ']'],
];

describe('any depth works or ends in a message of harn', () => {
  test.each(LEVELS)('%s…%s', async (open, close) => {
    for (const depth of [30, 120, 230, 2_000]) {
      const { outcome } = await runText(`println(len("\${type_of(${open.repeat(depth)}1${close.repeat(depth)})}"))`);
      if (outcome.kind === 'rejected')
        expect(outcome.diagnostics.map(({ message }) => message).join()).toMatch(/deep|long|Expected|Unterminated|Unexpected/);
      else if (outcome.kind === 'failed') expect(outcome.failure.message).toBe('Runtime error: Stack overflow: too many nested calls');
      else expect(outcome.kind).toBe('value');
    }
  });
});

/** One level around `X`; what it is emitted as must not grow faster than what is written. */
const NESTS: readonly string[] = [
  's.plus(X)',
  's.plus(s.plus(1).plus(X))',
  'X.plus(s)',
  'f(X)',
  'g(X, 1)',
  'abs(X - 1)',
  'len([X])',
  '(X + 1)',
  '(X * 0.5)',
  '(X % 7)',
  '-X',
  '(X == 1 ? 2 : 3)',
  '(X ?? 1)',
  '(X && true)',
  'xs[X]',
  'xs[X].n',
  'X.n',
  'X?.n',
  'X[1:2]',
  '{a: X}.a',
  'S {n: X}.n',
  'E.V(X)',
  '(match X { 1 -> { 2 } _ -> { 3 } })',
  '(match X { E.V(v) -> { v } [a, b] -> { a } {k: c} -> { c } _ -> { 3 } })',
  '(if X { 1 } else { 2 })',
  '(try { X } catch (e) { 1 })',
  '(X |> f)',
  '"${X}"',
  '[1].map({ y -> X })',
  'X.map({ y -> y })',
  '(X in xs)',
  '(1 to X)',
];

test.each(NESTS)('nesting `%s` makes code as long as the script', (form) => {
  const sizeAt = (depth: number): number => {
    let value = 'x';
    for (let level = 0; level < depth; level++) value = form.replaceAll('X', () => value);
    const head =
      'struct S { n: any }\nimpl S { fn plus(self, o) { return o } }\nenum E { V(v: any), W(v: any) }\nlet s = S {n: 1}\nlet xs = [s]';
    const text = `${head}\nfn f(x) { return x }\nfn work(g: closure, x: any) { return ${value} }\n`;
    const program = compileProgram(createNodePlatform().files, '/nowhere/nest.harn', text, { check: () => [] });
    return program.modules[0]?.js.length ?? 0;
  };
  expect(sizeAt(16) - sizeAt(8)).toBeLessThan(1.5 * (sizeAt(8) - sizeAt(0)));
});
