import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { compileProgram } from '../../src/runtime/program/compile-program.ts';
import { instantiate } from '../../src/runtime/program/module-function.ts';
import { runScript } from '../../src/runtime/run.ts';

/**
 * Which functions wait decides only how they are compiled, never what they do. Random programs of functions that call
 * later ones in every way there is are run as they are, with everything made asynchronous, and with waits put into some
 * of the functions: all three must print the same.
 */
const FORMS: readonly string[] = [
  'return x + 1',
  'return J(x)',
  'return J(x) + K(x + 1)',
  'return [3, 1, 2].map({ v -> J(v) }).reduce(0, { a, b -> a + b })',
  'return len([3, 1, 2].filter({ v -> J(v) % 2 == 0 }))',
  'return [3, 1, 2].sort_by({ v -> J(v) })[0]',
  'let g = { v -> J(v) * 2 }\n  return g(x)',
  'return apply(J, x)',
  'return apply({ v -> J(v) }, x) + apply(K, 1)',
  'try { if x % 2 == 0 { throw "e${x}" }\n    return J(x) } catch (e) { return len(e) + K(x) } finally { say("finally") }',
  'var t = 0\n  for v in [1, 2] { if v > J(v) { continue }\n    t += K(v) }\n  return t',
  'var t = 0\n  while t < 3 { t += 1 + J(t) % 2 }\n  return t',
  'return match x % 3 { 0 -> { J(x) } n if n == J(n) -> { n } _ -> { K(1) } }',
  'let d = {run: J}\n  return d.run(x)',
  'let d = {run: J}\n  let r = d.run\n  return r(x)',
  'return x |> J',
  'return x |> J |> K',
  'return [x, 1] |> apply(J, _[0])',
  'defer { say("defer ${J(1)}") }\n  return K(x)',
  'var t = 0\n  for v in made_I(x) { t += v }\n  return t',
  'return N_I {n: x}.go(2)',
  'let h = spawn { J(x) }\n  return await(h)',
  'return len("${J(x)} and ${K(x)}")',
  'return J(x) > 2 && K(x) < 50 || x == 1 ? J(1) : K(2)',
  'let {a, b = J(x)} = {a: K(1)}\n  return a + b',
  'let r = try { J(x) }\n  return unwrap(r)',
  'fn local(n) { return n <= 0 ? J(x) : local(n - 1) }\n  return local(2)',
  'let table = [J, K, { v -> v }]\n  var t = 0\n  for f in table { t += f(x) }\n  return t',
  'let xs = [1, 2].iter().map({ v -> J(v) }).to_list()\n  return xs[0] + xs[1]',
  'return J(x) ?? K(x)',
  'guard J(x) > 0 else { return K(x) }\n  return 1',
  'retry 2 { say("try ${J(x)}") }\n  return 5',
  'return deadline 9s { J(x) }',
];

interface Plan {
  readonly forms: readonly number[];
  readonly waits: readonly boolean[];
}

const plan: fc.Arbitrary<Plan> = fc.integer({ min: 2, max: 7 }).chain((size) =>
  fc.record({
    forms: fc.array(fc.nat(FORMS.length - 1), { minLength: size, maxLength: size }),
    waits: fc.array(fc.boolean(), { minLength: size + 1, maxLength: size + 1 }),
  }),
);

/** @param mode where `sleep` stands: nowhere, or in the functions that the plan names */
function programOf({ forms, waits }: Plan, mode: 'plain' | 'waiting'): string {
  const wait = (at: number): string => (mode === 'waiting' && waits[at] ? 'sleep(1)\n  ' : '');
  const functions = forms.map((form, at) => {
    const next = (step: number): string => `f${Math.min(at + step, forms.length)}`;
    const body = (FORMS[form] as string).replaceAll(/\bJ\b/g, next(1)).replaceAll(/\bK\b/g, next(2)).replaceAll(/_I\b/g, `_${at}`);
    return [
      `fn f${at}(x) {\n  say("f${at} \${x}")\n  ${wait(at)}${body}\n}`,
      `fn made_${at}(x) {\n  yield ${next(1)}(x)\n  yield 2\n}`,
      `struct N_${at} { n: int }\nimpl N_${at} {\n  fn go(self, by) { return ${next(1)}(self.n) + by }\n}`,
    ].join('\n');
  });
  const last = `fn f${forms.length}(x) {\n  ${wait(forms.length)}return x % 7 + 1\n}`;
  const helpers = 'fn say(text) { print("${text};") }\nfn apply(f, x) { return f(x) }';
  return `mock_time(0)\n${helpers}\n${[...functions, last].join('\n')}\nprintln(f0(1))\nprintln(f0(4))\n`;
}

async function outputOf(text: string, forceAsync: boolean): Promise<string> {
  let printed = '';
  const platform = createNodePlatform();
  const outcome = await runScript({
    platform,
    script: { path: '/nowhere/colours.harn', text },
    argv: [],
    stateRoot: '/nowhere/.harn',
    output: {
      out: (piece) => {
        printed += piece;
      },
      err: () => {},
    },
    programs: {
      compile: async (scriptPath, source) => compileProgram(platform.files, scriptPath, source, { forceAsync }),
      instantiate: (module) => instantiate(module).run,
    },
  });
  if (outcome.kind === 'rejected') return `rejected: ${outcome.diagnostics[0]?.message}`;
  return outcome.kind === 'failed' ? `${printed}failed: ${outcome.failure.message.replace(/ \(line \d+\)$/, '')}` : printed;
}

test('a program prints the same whichever of its functions wait', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (made) => {
      const plain = programOf(made, 'plain');
      const printed = await outputOf(plain, false);
      expect(printed).not.toMatch(/rejected|failed|Promise|undefined|internal/);
      expect(await outputOf(plain, true)).toBe(printed);
      expect(await outputOf(programOf(made, 'waiting'), false)).toBe(printed);
    }),
    { numRuns: 100 },
  );
});
