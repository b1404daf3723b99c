import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';

const ofTest: string[] = [];
const ofFile: string[] = [];

afterEach(() => removeAll(ofTest));
afterAll(() => removeAll(ofFile));

/** A fresh directory that is gone after the test. */
export function scratchDirectory(): string {
  return freshDirectory(ofTest);
}

/** A fresh directory that is gone after the tests of the file. */
export function sharedDirectory(): string {
  return freshDirectory(ofFile);
}

/** Named for the test file: what is left behind then says whose it is (temporary-files.ts). */
function freshDirectory(directories: string[]): string {
  const { testPath = '' } = expect.getState();
  const directory = mkdtempSync(join(tmpdir(), `${basename(testPath, '.test.ts')}-`));
  directories.push(directory);
  return directory;
}

function removeAll(directories: string[]): void {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}
