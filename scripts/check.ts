/** `npm run check`: everything that can be said of the code without running its tests. Prints a line a step. */
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

type Step = readonly [name: string, command: string, ...args: string[]];

/** The long one first: the others run beside it. */
const STEPS: readonly Step[] = [
  ['typed lint (eslint)', 'npx', 'eslint', 'src', 'scripts', 'test'],
  ['types', process.execPath, 'node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json'],
  ['format and lint (biome)', 'npx', 'biome', 'check', '--error-on-warnings', '.'],
  ['generated: builtin index', 'npx', 'tsx', 'scripts/builtin-index.ts', '--check'],
  ['generated: standard library', 'npx', 'tsx', 'scripts/stdlib-sources.ts', '--check'],
  ['generated: reference pages', 'npx', 'tsx', 'scripts/reference-pages.ts', '--check'],
  ['generated: requirement table', 'npx', 'tsx', 'scripts/requirement-table.ts', '--check'],
  ['unused files and dependencies (knip)', 'npx', 'knip', '--no-progress'],
  ['architecture', 'npx', 'vitest', 'run', 'test/architecture.test.ts'],
];

/** As many as the machines that matter have cores. */
const LANES = 2;

/** @returns whether it passed */
function run([name, command, ...args]: Step): Promise<boolean> {
  const start = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...process.env, FORCE_COLOR: '0' }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    child.stdout.on('data', (data: Buffer) => output.push(data));
    child.stderr.on('data', (data: Buffer) => output.push(data));
    child.on('close', (status) => {
      const passed = status === 0;
      console.log(`${passed ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
      if (!passed) console.log(Buffer.concat(output).toString().trimEnd());
      resolve(passed);
    });
  });
}

async function main(): Promise<void> {
  const waiting = [...STEPS];
  let failed = 0;
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) if (!(await run(step))) failed++;
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  process.exitCode = failed === 0 ? 0 : 1;
}

void main();
