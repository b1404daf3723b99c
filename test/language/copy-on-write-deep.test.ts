import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf, runText } from '../runtime/run-text.ts';

/**
 * Writes below the root of a variable go in place once the variable owns what lies on the way. Random programs over three
 * variables write, read and pass on parts of each other, in every form that lets a part escape; a model that copies at
 * each step says what all of them hold afterwards. Steps that make no sense where they stand are left out.
 */
type Model = number | readonly Model[];
type Path = readonly number[];

const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];
type State = Readonly<Record<Name, Model>>;

interface Step {
  readonly target: Name;
  readonly path: Path;
  readonly source: Name;
  readonly sourcePath: Path;
  readonly form: number;
}

/** How a value travels: the text around it, and what it is afterwards. */
const FORMS: readonly (readonly [text: string, apply: (value: Model) => Model | undefined])[] = [
  ['X', (value) => value],
  ['same(X)', (value) => value],
  ['[X][0]', (value) => value],
  ['{k: X}.k', (value) => value],
  ['if true { X } else { nil }', (value) => value],
  ['X ?? 1', (value) => value],
  ['match X { kept -> { kept } }', (value) => value],
  ['{ -> X }', () => undefined],
  ['X.map({ item -> item })', (value) => (typeof value === 'number' ? undefined : value)],
  ['X.filter({ item -> true })', (value) => (typeof value === 'number' ? undefined : value)],
  ['X[0:9]', (value) => (typeof value === 'number' ? undefined : value)],
  ['X + []', (value) => (typeof value === 'number' ? undefined : value)],
  ['[] + X', (value) => (typeof value === 'number' ? undefined : value)],
  ['[...X]', (value) => (typeof value === 'number' ? undefined : value)],
  ['X.first', (value) => (typeof value === 'number' ? undefined : value[0])],
  ['X.values()', () => undefined],
  ['[X, X]', (value) => (depthOf(value) < 3 ? [value, value] : undefined)],
  ['7', () => 7],
  ['len([X]) * 5', () => 5],
  ['collect(X)', (value) => (typeof value === 'number' ? undefined : value)],
];

const HELPERS = `fn same(x) { return x }
fn collect(xs) {
  var found = []
  for x in xs { found = found.push(x) }
  return found
}`;

function depthOf(value: Model): number {
  return typeof value === 'number' ? 0 : 1 + Math.max(0, ...value.map(depthOf));
}

function partAt(value: Model | undefined, path: Path): Model | undefined {
  return path.reduce((part: Model | undefined, at) => (Array.isArray(part) ? (part as readonly Model[])[at] : undefined), value);
}

function withPart(value: Model, path: Path, part: Model): Model {
  const [at, ...rest] = path;
  if (at === undefined || typeof value === 'number') return part;
  return value.map((item, index) => (index === at ? withPart(item, rest, part) : item));
}

const path = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 3 });
const deepPath = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 2, maxLength: 3 });
const name = fc.constantFrom(...NAMES);
const NUMBER = FORMS.findIndex(([text]) => text === '7');

/** Parts travel from one variable to another; in between numbers are written deep down, which is where it would show. */
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ target: name, path, source: name, sourcePath: path, form: fc.nat(FORMS.length - 1) }),
  fc.record({ target: name, path: deepPath, source: name, sourcePath: fc.constant([]), form: fc.constant(NUMBER) }),
);

const START: State = {
  a: [
    [
      [1, 2],
      [3, 4],
    ],
    [
      [5, 6],
      [7, 8],
    ],
  ],
  b: [
    [10, 11],
    [12, 13],
  ],
  c: [20, 21],
};

interface Program {
  readonly lines: readonly string[];
  readonly printed: readonly string[];
}

function programOf(steps: readonly Step[]): Program {
  const lines: string[] = [];
  const printed: string[] = [];
  let state = START;
  for (const { target, path: to, source, sourcePath, form } of steps) {
    const [text, apply] = FORMS[form] as (typeof FORMS)[number];
    const read = partAt(state[source], sourcePath);
    const value = read === undefined ? undefined : apply(read);
    const root = state[target];
    if (value === undefined || depthOf(value) + to.length > 4) continue;
    if (to.length > 0 && partAt(root, to) === undefined) continue;
    state = { ...state, [target]: withPart(root, to, value) };
    lines.push(`${at(target, to)} = ${text.replaceAll('X', at(source, sourcePath))}`, 'println("${a} ${b} ${c}")');
    printed.push(NAMES.map((name) => shown(state[name])).join(' '));
  }
  return { lines, printed };
}

function at(name: string, steps: Path): string {
  return `${name}${steps.map((index) => `[${index}]`).join('')}`;
}

function shown(value: Model): string {
  return typeof value === 'number' ? String(value) : `[${value.map(shown).join(', ')}]`;
}

const PLACES: readonly (readonly [place: string, wrap: (body: string) => string])[] = [
  ['at the top of a file', (body) => body],
  ['in a function', (body) => `fn work() {\n${body}\n}\nwork()`],
  ['in a function that waits', (body) => `fn work() {\n${body}\nsleep(0)\n}\nmock_time(0)\nwork()`],
];

test.each(PLACES)('writing deep in place never shows %s', async (_place, wrap) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
      const { lines, printed } = programOf(steps);
      fc.pre(lines.length > 0);
      const start = NAMES.map((name) => `var ${name}: any = ${shown(START[name])}`);
      const { out, outcome } = await runText(`${HELPERS}\n${wrap([...start, ...lines].join('\n'))}`);
      expect(outcome.kind).toBe('value');
      expect(out.trimEnd().split('\n')).toEqual(printed);
    }),
    { numRuns: 250 },
  );
});

/** Escapes that the random programs have no words for. */
const ESCAPES: readonly (readonly [rule: string, body: string, printed: string])[] = [
  ['a closure keeps what it captured', 'let get = { -> g }\n  g[0][0] = 9\n  println(get())', '[[1, 2], [3, 4]]'],
  ['a task keeps what it captured', 'let t = spawn { sleep(5)\n    "${g}" }\n  g[0][0] = 9\n  println(await(t))', '[[1, 2], [3, 4]]'],
  [
    'a loop keeps its elements',
    'var seen = []\n  for row in g {\n    seen = seen.push(row)\n    g[0][0] = 7\n    g[1][0] = 8\n  }\n  println(seen)',
    '[[1, 2], [3, 4]]',
  ],
  ['destructuring keeps parts', 'let [first, second] = g\n  g[0][0] = 9\n  println(first)', '[1, 2]'],
  ['a default parameter keeps its value', 'fn f(x = g[0]) { return x }\n  let kept = f()\n  g[0][0] = 9\n  println(kept)', '[1, 2]'],
  ['a thrown part stays as it was', 'try { throw g[0] } catch (e) { g[0][0] = 9\n    println(e) }', '[1, 2]'],
  ['a swap of rows', 'let t = g[0]\n  g[0] = g[1]\n  g[1] = t\n  g[0][0] = 9\n  println(g)\n  println(t)', '[[9, 4], [1, 2]]|[1, 2]'],
  ['one row in two places', 'g[0] = g[1]\n  g[0][0] = 9\n  println(g)', '[[9, 4], [3, 4]]'],
  ['an operator assignment', 'let kept = g[0]\n  g[0][1] += 5\n  g[0] += [6]\n  println([g, kept])', '[[[1, 7, 6], [3, 4]], [1, 2]]'],
  [
    'dicts in lists in dicts',
    'var d = {x: [{n: 1}]}\n  d.x[0].n = 2\n  let kept = d.x[0]\n  d.x[0].n = 3\n  let list = d.x\n  d.x[0].n = 4\n  println([d, kept, list])',
    '[{x: [{n: 4}]}, {n: 2}, [{n: 3}]]',
  ],
  [
    'structs in structs',
    'var s = Outer {inner: Inner {n: 1}}\n  s.inner.n = 2\n  let kept = s.inner\n  s.inner.n = 3\n  println("${s.inner.n} ${kept.n}")',
    '3 2',
  ],
  [
    'a dict that grows beyond its form',
    'var d = {x: {}}\n  for i in 1 to 70 { d.x["k${i}"] = i }\n  let kept = d.x\n  d.x["k1"] = 0\n  println("${len(d.x)} ${d.x.k1} ${kept.k1}")',
    '70 0 1',
  ],
];

test.each(ESCAPES)('%s', async (_rule, body, printed) => {
  const script = `struct Inner { n: int }\nstruct Outer { inner: Inner }\nfn work() {\n  var g = [[1, 2], [3, 4]]\n  g[0][0] = 1\n  g[1][0] = 3\n  ${body}\n}\nwork()`;
  expect((await linesOf(script)).join('|')).toBe(printed);
});
