import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'vitest';

const directories: Record<'test' | 'file', string[]> = { test: [], file: [] };

/** A fresh directory that is gone after the test. */
export function scratchDirectory(): string {
  return freshDirectory('test');
}

/** A fresh directory that is gone after the tests of the file. */
export function sharedDirectory(): string {
  return freshDirectory('file');
}

/** What clean-up.ts calls after each test, and after those of a file. */
export function removeScratchDirectories(of: 'test' | 'file'): void {
  for (const directory of directories[of].splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** Named for the test file: what is left behind then says whose it is (temporary-files.ts). */
function freshDirectory(of: 'test' | 'file'): string {
  const { testPath = '' } = expect.getState();
  const directory = mkdtempSync(join(tmpdir(), `${basename(testPath, '.test.ts')}-`));
  directories[of].push(directory);
  return directory;
}
