import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A fresh directory that is gone after the test. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'harn-test-'));
  directories.push(directory);
  return directory;
}
