import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runText } from '../runtime/run-text.ts';

/**
 * Values are immutable; that some writes go in place must never show. Random programs over a few variables print them
 * all after every statement, and a model that copies at each step says what they have to print.
 */
type Model = number | null | readonly Model[] | { readonly [key: string]: Model };

interface State {
  readonly lists: Record<string, readonly Model[]>;
  readonly dicts: Record<string, { readonly [key: string]: Model }>;
  /** What closures captured when they were made. */
  readonly held: Model[];
}

interface Step {
  readonly text: string;
  readonly apply: (state: State) => void;
}

const LISTS = ['a', 'b', 'c'] as const;
const DICTS = ['d', 'e'] as const;

const list = fc.constantFrom(...LISTS);
const dict = fc.constantFrom(...DICTS);
const key = fc.constantFrom('k', 'm');
const number = fc.integer({ min: 0, max: 99 });
const at = fc.integer({ min: 0, max: 3 });

function replaced(items: readonly Model[], index: number, value: Model): Model[] {
  return items.map((item, position) => (position === index ? value : item));
}

/** A write by index, where the list is long enough for it. */
function writeAt(name: string, index: number, text: string, modelled: (state: State) => Model): Step {
  return {
    text: `if len(${name}) > ${index} { ${name}[${index}] = ${text} }`,
    apply: (state) => {
      const items = state.lists[name] ?? [];
      if (items.length > index) state.lists[name] = replaced(items, index, modelled(state));
    },
  };
}

const listAt = (state: State, name: string): readonly Model[] => state.lists[name] ?? [];
const dictAt = (state: State, name: string): { readonly [key: string]: Model } => state.dicts[name] ?? {};

/** Containers grow fast when they hold each other; past this size a step is left out of the model and the program. */
const MAX_LENGTH = 12;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(list, list).map(
    ([x, y]): Step => ({
      text: `${x} = ${y}`,
      apply: (state) => {
        state.lists[x] = listAt(state, y);
      },
    }),
  ),
  fc.tuple(list, number).map(
    ([x, n]): Step => ({
      text: `${x} = [${n}]`,
      apply: (state) => {
        state.lists[x] = [n];
      },
    }),
  ),
  fc.tuple(list, at, number).map(([x, i, n]) => writeAt(x, i, String(n), () => n)),
  fc.tuple(list, at, list).map(([x, i, y]) => writeAt(x, i, `len(${y})`, (state) => listAt(state, y).length)),
  fc.tuple(list, number).map(([x, n]) => writeAt(x, 0, `[${n}]`, () => [n])),
  fc.tuple(list, list, fc.constantFrom('X = X + [Y]', 'X += [Y]', 'X = X.push(Y)')).map(
    ([x, y, form]): Step => ({
      text: `if len(${x}) < ${MAX_LENGTH} && depth < 3 { ${form.replaceAll('X', x).replaceAll('Y', y)}; depth = depth + 1 }`,
      apply: (state) => {
        if (listAt(state, x).length >= MAX_LENGTH || Number(state.lists.depth?.[0] ?? 0) >= 3) return;
        state.lists[x] = [...listAt(state, x), listAt(state, y)];
        state.lists.depth = [Number(state.lists.depth?.[0] ?? 0) + 1];
      },
    }),
  ),
  fc.tuple(list, number, fc.constantFrom('X = X + [N]', 'X += [N]', 'X = X.push(N)')).map(
    ([x, n, form]): Step => ({
      text: `if len(${x}) < ${MAX_LENGTH} { ${form.replaceAll('X', x).replaceAll('N', String(n))} }`,
      apply: (state) => {
        if (listAt(state, x).length < MAX_LENGTH) state.lists[x] = [...listAt(state, x), n];
      },
    }),
  ),
  list.map(
    (x): Step => ({
      text: `${x} = ${x}.pop()`,
      apply: (state) => {
        state.lists[x] = listAt(state, x).slice(0, -1);
      },
    }),
  ),
  fc.tuple(list, list).map(
    ([x, y]): Step => ({
      text: `${x} = same(${y})`,
      apply: (state) => {
        state.lists[x] = listAt(state, y);
      },
    }),
  ),
  fc.tuple(list, list).map(
    ([x, y]): Step => ({
      text: `${x} = if len(${x}) > 1 { ${y} } else { ${x} }`,
      apply: (state) => {
        if (listAt(state, x).length > 1) state.lists[x] = listAt(state, y);
      },
    }),
  ),
  fc.tuple(dict, key, list).map(
    ([d, k, x]): Step => ({
      text: `${d}.${k} = ${x}`,
      apply: (state) => {
        state.dicts[d] = { ...dictAt(state, d), [k]: listAt(state, x) };
      },
    }),
  ),
  fc.tuple(dict, key, number).map(
    ([d, k, n]): Step => ({
      text: `if type_of(${d}.${k}) == "list" && len(${d}.${k}) > 0 { ${d}.${k}[0] = ${n} }`,
      apply: (state) => {
        const inner = dictAt(state, d)[k];
        if (Array.isArray(inner) && inner.length > 0) state.dicts[d] = { ...dictAt(state, d), [k]: replaced(inner, 0, n) };
      },
    }),
  ),
  fc.tuple(dict, key, list).map(
    ([d, k, x]): Step => ({
      text: `if type_of(${d}.${k}) == "list" { ${x} = ${d}.${k} }`,
      apply: (state) => {
        const inner = dictAt(state, d)[k];
        if (Array.isArray(inner)) state.lists[x] = inner;
      },
    }),
  ),
  fc.tuple(dict, key, number, fc.constantFrom('D = D + {K: N}', 'D += {K: N}', 'D["K"] = N')).map(
    ([d, k, n, form]): Step => ({
      text: form.replaceAll('D', d).replaceAll('K', k).replaceAll('N', String(n)),
      apply: (state) => {
        state.dicts[d] = { ...dictAt(state, d), [k]: n };
      },
    }),
  ),
  fc.constant<Step>({
    text: 'e = d',
    apply: (state) => {
      state.dicts.e = dictAt(state, 'd');
    },
  }),
  list.map(
    (x): Step => ({
      text: `held = held + [{ -> ${x} }]`,
      apply: (state) => {
        state.held.push(listAt(state, x));
      },
    }),
  ),
  fc.tuple(list, number).map(
    ([x, n]): Step => ({
      text: `for item in ${x} { if len(${x}) < ${MAX_LENGTH} { ${x} = ${x} + [item] }; ${x}[0] = ${n} }`,
      apply: (state) => {
        for (const item of listAt(state, x)) {
          if (listAt(state, x).length < MAX_LENGTH) state.lists[x] = [...listAt(state, x), item];
          state.lists[x] = replaced(listAt(state, x), 0, n);
        }
      },
    }),
  ),
  fc.tuple(list, list, number).map(
    ([x, y, n]): Step => ({
      text: `for item in ${x} { ${y} = [item]; ${y}[0] = ${n} }`,
      apply: (state) => {
        for (const _ of listAt(state, x)) state.lists[y] = [n];
      },
    }),
  ),
);

function shown(value: Model): string {
  if (value === null) return 'nil';
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  const entries = Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1));
  return `{${entries.map(([name, item]) => `${name}: ${shown(item)}`).join(', ')}}`;
}

const SHOW = [...LISTS, ...DICTS].map((name) => `\${${name}}`).join(' ');

function bodyOf(steps: readonly Step[]): string {
  const start = ['var depth = 0', ...LISTS.map((name) => `var ${name} = [1, 2]`), ...DICTS.map((name) => `var ${name} = {k: [3]}`)];
  const lines = steps.flatMap(({ text }) => [text, `println("${SHOW}")`]);
  return [...start, 'var held = []', ...lines, 'println(held.map({ get -> get() }))'].join('\n');
}

function modelOf(steps: readonly Step[]): string[] {
  const state: State = {
    lists: Object.fromEntries(LISTS.map((name) => [name, [1, 2]])),
    dicts: Object.fromEntries(DICTS.map((name) => [name, { k: [3] }])),
    held: [],
  };
  const lines = steps.map(({ apply }) => {
    apply(state);
    return [...LISTS.map((name) => shown(listAt(state, name))), ...DICTS.map((name) => shown(dictAt(state, name)))].join(' ');
  });
  return [...lines, shown(state.held)];
}

const PLACES: readonly (readonly [place: string, wrap: (body: string) => string])[] = [
  ['at the top of a file', (body) => `fn same(x) { return x }\n${body}`],
  ['in a function', (body) => `fn same(x) { return x }\nfn work() {\n${body}\n}\nwork()`],
  ['in a closure inside a loop', (body) => `fn same(x) { return x }\nfor once in [1] {\nlet work = { ->\n${body}\n}\nwork()\n}`],
];

test.each(PLACES)('writing in place never shows %s', async (_place, wrap) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const { out, outcome } = await runText(wrap(bodyOf(steps)));
      expect(outcome.kind).toBe('value');
      expect(out.trimEnd().split('\n')).toEqual(modelOf(steps));
    }),
    { numRuns: 120 },
  );
});
