/** `npm run check`: types, format and lint, generated files, the arrows between folders. Prints a line a step. */
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

const STEPS: readonly (readonly [string, string, ...string[]])[] = [
  ['types', process.execPath, 'node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json'],
  ['format and lint (biome)', 'npx', 'biome', 'check', '--error-on-warnings', '.'],
  ['typed lint (eslint)', 'npx', 'eslint', 'src', 'scripts', 'test'],
  ['generated: builtin index', 'npx', 'tsx', 'scripts/builtin-index.ts', '--check'],
  ['generated: standard library', 'npx', 'tsx', 'scripts/stdlib-sources.ts', '--check'],
  ['generated: requirement table', 'npx', 'tsx', 'scripts/requirement-table.ts', '--check'],
  ['architecture', 'npx', 'vitest', 'run', 'test/architecture.test.ts'],
];

let failed = 0;
for (const [name, command, ...args] of STEPS) {
  const start = performance.now();
  const result = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0' } });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const passed = result.status === 0;
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (passed) continue;
  failed++;
  console.log(`${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd());
}
process.exitCode = failed === 0 ? 0 : 1;
