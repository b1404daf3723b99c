import path from 'node:path';
import { ensureDirectory, writeAtomic } from '../store/atomic-file.ts';
import type { Context } from './context.ts';
import { orThrow } from './file-errors.ts';
import { parseJson, stringify } from './json.ts';
import { Dict, type Value } from './value.ts';

/**
 * A dict of a script kept in one file. Every call reads and writes the file as a whole: what another process wrote is
 * seen, and a crash loses nothing.
 */
export function readJsonFile(context: Context, file: string): Dict {
  const { files } = context.run.platform;
  if (!files.exists(file)) return new Dict();
  const value: Value = parseJson(orThrow(`Failed to read file ${file}`, () => files.readText(file)));
  return value instanceof Dict ? value : new Dict();
}

export function writeJsonFile(context: Context, file: string, value: Dict): void {
  const { platform } = context.run;
  orThrow(`Failed to write file ${file}`, () => {
    ensureDirectory(platform.files, path.dirname(file));
    writeAtomic(platform, file, stringify(value));
  });
}
