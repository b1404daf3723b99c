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
const PROCESSES = 3;
const ROUNDS = 4;

/**
 * time(2n) / time(n) of amortised constant-time writes. The two sizes never share a process: what one leaves on the heap would be
 * collected in the time of the other. What a row can reach is set by V8: `map.set` alone doubles in 2.2 times the time at
 * this size, because twice as much no longer fits the caches as well.
 */
export function measureGrowth(workspace: Workspace): Row[] {
  return Object.entries(STATEMENTS).map(([name, { start, step }], index) => {
    const scripts = [SIZE, 2 * SIZE].map((size) => workspace.write(`growth/${index}-${size}.harn`, fillScript(start, step, size)));
    const times = scripts.map((): number[] => []);
    for (let process = 0; process < PROCESSES; process++) {
      scripts.forEach((script, at) => {
        times[at]?.push(...timesOf(workspace, name, script));
      });
    }
    const [once = 0, twice = 0] = times.map(median);
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

function fillScript(start: string, step: string, size: number): string {
  return `fn fill(n) {\n  var xs = ${start}\n  for i in 0 to n exclusive { ${step} }\n  return len(xs)\n}\n\npipeline default() {\n  for round in 0 to ${ROUNDS} exclusive {\n    let begin = monotonic_ms()\n    fill(${size})\n    println(monotonic_ms() - begin)\n  }\n}\n`;
}

/** Milliseconds of each round but the first, which V8 has not optimised yet. */
function timesOf(workspace: Workspace, name: string, script: string): number[] {
  const result = spawnSync(process.execPath, [HARN_BIN, 'run', script], { encoding: 'utf8', env: workspace.environment() });
  if (result.status !== 0) throw new Error(`growth of ${name} ended with ${result.status}: ${result.stderr}`);
  return result.stdout.trim().split('\n').slice(1).map(Number);
}
