import { spawnSync } from 'node:child_process';
import { median, type Row } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

/** Statements that must cost the same for each element, however many there are. */
const STATEMENTS: Readonly<Record<string, { readonly start: string; readonly step: string }>> = {
  push: { start: '[]', step: 'xs = xs.push(i)' },
  'xs + [v]': { start: '[]', step: 'xs = xs + [i]' },
  'd[k] = v': { start: '{}', step: 'xs["k${i}"] = i' },
  'xs[i][j] = v': { start: '[range(n).iter().to_list()]', step: 'xs[0][i] = i' },
  'd.a.b[i] = v': { start: '{a: {b: range(n).iter().to_list()}}', step: 'xs.a.b[i] = i' },
};

const SIZE = 200_000;
const ROUNDS = 5;

/** time(2n) / time(n) of amortised constant-time writes. */
export function measureGrowth(workspace: Workspace): Row[] {
  return Object.entries(STATEMENTS).map(([name, { start, step }], index) => {
    const script = workspace.write(
      `growth/${index}.harn`,
      `fn fill(n) {\n  var xs = ${start}\n  for i in 0 to n exclusive { ${step} }\n  return len(xs)\n}\n\npipeline default() {\n  for round in 0 to ${ROUNDS} exclusive {\n    for n in [${SIZE}, ${2 * SIZE}] {\n      let begin = monotonic_ms()\n      fill(n)\n      println(monotonic_ms() - begin)\n    }\n  }\n}\n`,
    );
    const result = spawnSync(process.execPath, [HARN_BIN, 'run', script], { encoding: 'utf8', env: workspace.environment() });
    if (result.status !== 0) throw new Error(`growth of ${name} ended with ${result.status}: ${result.stderr}`);
    const times = result.stdout.trim().split('\n').map(Number);
    const once = median(times.filter((_, i) => i % 2 === 0).slice(1));
    const twice = median(times.filter((_, i) => i % 2 === 1).slice(1));
    return {
      group: 'growth',
      name,
      value: twice / Math.max(once, 1),
      unit: 'ratio',
      goal: 2.5,
      figures: { onceMs: once, twiceMs: twice, elements: SIZE },
    };
  });
}
