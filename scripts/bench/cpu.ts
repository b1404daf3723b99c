import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { geometricMean, median, type Row } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');

/** Program and the size that keeps its JavaScript twin busy for roughly a tenth of a second. */
const SIZES: Readonly<Record<string, number>> = {
  fib: 32,
  loops: 150_000,
  sieve: 1_500_000,
  queens: 10,
  matmul: 220,
  mandelbrot: 500,
  integrate: 15_000_000,
  words: 500_000,
  text: 250_000,
  quicksort: 500_000,
  trees: 16,
  collatz: 150_000,
  closures: 150_000,
  records: 150_000,
  levenshtein: 90,
  tailcalls: 1_500_000,
  structs: 6_000_000,
  interpreter: 17,
};

/** Rounds inside one process: the first is the "first run", the median of the last three is "warm". */
const ROUNDS = 6;

/** Python is there for comparison and takes its time. */
const PYTHON_ROUNDS = 2;

interface Timing {
  readonly first: number;
  readonly warm: number;
  readonly result: string;
}

/** Times every CPU program in harn, JavaScript and, where there is one, Python; results must be equal first. */
export function measureCpu(workspace: Workspace, processes: number): Row[] {
  const python = spawnSync('python3', ['--version']).status === 0;
  const driver = readFileSync(join(PROGRAMS, 'driver.harn.txt'), 'utf8');
  const jsDriver = workspace.write('driver.mjs', JS_MAIN);
  const pyDriver = workspace.write('driver.py', PY_MAIN);
  const rows: Row[] = [];
  const warmRatios: number[] = [];
  const firstRatios: number[] = [];
  for (const [name, size] of Object.entries(SIZES)) {
    const script = workspace.write(`cpu/${name}.harn`, readFileSync(join(PROGRAMS, `${name}.harn`), 'utf8') + driver);
    const engines: Record<string, (rounds: number) => Timing> = {
      harn: (rounds) => run(process.execPath, [HARN_BIN, 'run', script, '--', String(rounds), String(size)], workspace),
      js: (rounds) => run(process.execPath, [jsDriver, join(PROGRAMS, `${name}.mjs`), String(rounds), String(size)], workspace),
    };
    if (python && existsSync(join(PROGRAMS, `${name}.py`))) {
      engines.python = (rounds) => run('python3', ['-B', pyDriver, PROGRAMS, name, String(rounds), String(size)], workspace);
    }
    assertEqualResults(name, engines);
    const timings: Record<string, Timing[]> = {};
    for (let round = 0; round < processes; round++) {
      for (const [engine, once] of Object.entries(engines)) {
        if (engine === 'python' && round > 0) continue;
        timings[engine] ??= [];
        timings[engine].push(once(engine === 'python' ? PYTHON_ROUNDS : ROUNDS));
      }
    }
    const at = (engine: string, key: 'first' | 'warm'): number => median((timings[engine] ?? []).map((timing) => timing[key]));
    const warm = at('harn', 'warm') / at('js', 'warm');
    const first = at('harn', 'first') / at('js', 'first');
    warmRatios.push(warm);
    firstRatios.push(first);
    const figures: Record<string, number> = {
      harnWarmMs: at('harn', 'warm'),
      jsWarmMs: at('js', 'warm'),
      harnFirstMs: at('harn', 'first'),
      jsFirstMs: at('js', 'first'),
      firstRatio: first,
    };
    if (timings.python) figures.pythonRatio = at('python', 'warm') / at('js', 'warm');
    rows.push({ group: 'cpu', name, value: warm, unit: 'ratio', goal: 6, figures });
  }
  rows.push({ group: 'cpu', name: 'geometric mean, warm', value: geometricMean(warmRatios), unit: 'ratio', goal: 1.6, figures: {} });
  rows.push({ group: 'cpu', name: 'geometric mean, first run', value: geometricMean(firstRatios), unit: 'ratio', goal: 2, figures: {} });
  return rows;
}

/** A program that computes something else is not timed. */
function assertEqualResults(name: string, engines: Readonly<Record<string, (rounds: number) => Timing>>): void {
  const results = Object.entries(engines).map(([engine, once]) => ({ engine, result: once(1).result }));
  if (new Set(results.map(({ result }) => result)).size === 1) return;
  throw new Error(`${name}: the engines disagree: ${results.map(({ engine, result }) => `${engine} ${result}`).join(', ')}`);
}

function run(command: string, args: readonly string[], workspace: Workspace): Timing {
  const result = spawnSync(command, args, { encoding: 'utf8', env: workspace.environment() });
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${result.status}: ${result.stderr}`);
  const lines = result.stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const times = lines.map((line) => Number(line[0]));
  return { first: times[0] as number, warm: median(times.slice(-3)), result: (lines[0]?.[1] ?? '') as string };
}

const JS_MAIN = `const [, , program, rounds, size] = process.argv;
const { bench } = await import(program);
for (let round = 0; round < Number(rounds); round++) {
  const start = performance.now();
  const result = bench(Number(size));
  console.log(\`\${performance.now() - start} \${result}\`);
}
`;

const PY_MAIN = `import importlib, sys, time
sys.setrecursionlimit(100000)
sys.path.insert(0, sys.argv[1])
bench = importlib.import_module(sys.argv[2]).bench
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    result = bench(int(sys.argv[4]))
    print((time.perf_counter() - start) * 1000, result)
`;
