import { posix as path } from 'node:path';
import type { Platform } from '../../platform/platform.ts';

/** The path of code that has no file: `-e`, and a resume, which names its script itself. */
export const INLINE = '<inline>';

/** The path of a script that was read from standard input. */
export const STDIN = '<stdin>';

/** Is this the path of a script that is no file? */
export function isUnfiled(scriptPath: string): boolean {
  return scriptPath === INLINE || scriptPath === STDIN;
}

/** The nearest ancestor with `harn.toml`. */
export function findProjectRoot(platform: Platform, directory: string): string | undefined {
  for (let current = directory; ; current = path.dirname(current)) {
    if (platform.files.exists(path.join(current, 'harn.toml'))) return current;
    if (path.dirname(current) === current) return undefined;
  }
}
