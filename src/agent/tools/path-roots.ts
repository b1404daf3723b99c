import { posix } from 'node:path';

/** Whether a path lies in a folder or is it. A relative path begins in the folder, and `..` must not lead out of it. */
export function insideRoot(root: string, path: string): boolean {
  const base = posix.resolve('/', root);
  const inside = posix.relative(base, posix.resolve(base, path));
  return inside !== '..' && !inside.startsWith('../');
}
