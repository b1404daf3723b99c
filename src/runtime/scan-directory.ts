import path from 'node:path';
import { absolutePath, globPattern } from './builtins/files.ts';
import type { Context } from './context.ts';
import { dictOf } from './dict.ts';
import { orThrow } from './file-errors.ts';
import type { Value } from './value.ts';

export interface ScanOptions {
  /** A part of names, or with `*` a glob over whole names. */
  readonly pattern: string | undefined;
  /** 0 stays in the directory itself. */
  readonly maxDepth: number;
  readonly includeHidden: boolean;
  readonly includeDirectories: boolean;
  readonly includeFiles: boolean;
}

/**
 * What is below a directory, sorted by path. The pattern chooses what is shown, not what is entered; links are shown as
 * what they lead to and never entered.
 */
export function scanDirectory(context: Context, root: string, options: ScanOptions): Value[] {
  const { files } = context.run.platform;
  const fits = namePattern(options.pattern);
  const found: [shown: string, entry: Value][] = [];
  const visit = (current: string, shown: string, depth: number): void => {
    for (const name of files.list(current)) {
      if (name.startsWith('.') && !options.includeHidden) continue;
      const place = path.join(current, name);
      const stat = files.stat(place);
      if (stat === undefined) continue;
      const wanted = stat.isDirectory ? options.includeDirectories : options.includeFiles;
      if (wanted && fits(name)) found.push([path.join(shown, name), entryOf(path.join(shown, name), name, stat, depth)]);
      if (stat.isDirectory && !stat.isSymbolicLink && depth < options.maxDepth) visit(place, path.join(shown, name), depth + 1);
    }
  };
  orThrow(`Failed to list directory ${root}`, () => visit(absolutePath(context, root), root, 0));
  return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function namePattern(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined || pattern === '') return () => true;
  if (!/[*?{]/.test(pattern)) return (name) => name.includes(pattern);
  const matcher = globPattern(pattern);
  return (name) => matcher.test(name);
}

function entryOf(shown: string, name: string, stat: { readonly isDirectory: boolean; readonly isFile: boolean }, depth: number): Value {
  return dictOf([
    ['path', shown],
    ['name', name],
    ['is_dir', stat.isDirectory],
    ['is_file', stat.isFile],
    ['depth', depth],
  ]);
}
