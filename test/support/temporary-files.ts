import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Caches of tools that tests start; they are no state of a test. */
const CACHES = /^(?:tsx-|node-compile-cache$)/;

const PREFIX = 'harn-tests-';

/**
 * Vitest's global setup: the tests have a folder for temporary files of their own, which every process they start
 * inherits. A run that passes leaves nothing in it: what is still there was not cleaned up, or was written by something
 * that outlived its test.
 */
export function setup(): (() => void) | undefined {
  // Once for all projects of a run.
  if (basename(tmpdir()).startsWith(PREFIX)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  return () => {
    const left = readdirSync(folder).filter((name) => !CACHES.test(name));
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    console.error(`tests left behind: ${left.join(', ')}`);
    // Vitest reports an error of a teardown, and passes all the same.
    process.exitCode = 1;
  };
}
