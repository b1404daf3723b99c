import { posix as path } from 'node:path';
import type { Platform } from '../platform/platform.ts';
import { UsageError } from './parse-options.ts';

/** Folders that hold no sources of the project. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.harn', 'node_modules']);

/**
 * The scripts that files and folders on the command line mean, as absolute paths: a folder means every `.harn` file
 * below it; no argument at all means the current folder.
 *
 * @throws UsageError for what is not there, and for folders without scripts
 */
export function findSources({ files }: Pick<Platform, 'files'>, given: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const name of given.length === 0 ? ['.'] : given) {
    const target = path.resolve(files.cwd(), name);
    const stat = files.stat(target);
    if (stat === undefined) throw new UsageError(`there is no file or folder ${name}`);
    const before = found.size;
    if (stat.isDirectory) for (const file of scriptsBelow(files, target)) found.add(file);
    else found.add(target);
    if (stat.isDirectory && found.size === before) throw new UsageError(`there are no .harn files in ${name}`);
  }
  return [...found];
}

function scriptsBelow(files: Platform['files'], folder: string): string[] {
  return [...files.list(folder)].sort().flatMap((name) => {
    const target = path.join(folder, name);
    if (name.endsWith('.harn') && files.stat(target)?.isFile === true) return [target];
    return !SKIPPED.has(name) && files.stat(target)?.isDirectory === true ? scriptsBelow(files, target) : [];
  });
}

/** A path as the user would write it: relative when it lies below the current directory. */
export function shortPath({ files }: Pick<Platform, 'files'>, file: string): string {
  const root = `${files.cwd()}/`;
  return file.startsWith(root) ? file.slice(root.length) : file;
}
