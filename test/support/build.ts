import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Vitest's global setup: tests of the command line run the binary of the sources under test. */
export function setup(): void {
  const root = resolve(import.meta.dirname, '../..');
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts', '--if-stale'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
