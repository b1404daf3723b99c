import path from 'node:path';
import type { Files } from '../platform/platform.ts';

/** What a path is to a workspace; models often write `/src/a.ts` for a file of the workspace. */
export type WorkspacePath =
  | { readonly kind: 'workspace_relative'; readonly workspacePath: string; readonly hostPath: string; readonly recoveredRootDrift: boolean }
  | { readonly kind: 'host_absolute'; readonly workspacePath: string | undefined; readonly hostPath: string }
  | { readonly kind: 'invalid'; readonly reason: string };

export function classifyPath(files: Files, root: string, given: string): WorkspacePath {
  const written = given.trim().replaceAll('\\', '/');
  if (written === '') return { kind: 'invalid', reason: 'the path is empty' };
  if (written.includes('\0')) return { kind: 'invalid', reason: 'the path holds a NUL character' };
  return isAbsolute(written) ? classifyAbsolute(files, root, path.normalize(written)) : classifyRelative(root, written);
}

/** `C:/…` is absolute on every host: a script may talk about another one. */
export function isAbsolute(given: string): boolean {
  return path.isAbsolute(given) || /^[A-Za-z]:[\\/]/.test(given);
}

function classifyRelative(root: string, given: string): WorkspacePath {
  const hostPath = path.resolve(root, given);
  const workspacePath = inside(root, hostPath);
  if (workspacePath === undefined) return { kind: 'invalid', reason: 'the path leaves the workspace' };
  return { kind: 'workspace_relative', workspacePath, hostPath, recoveredRootDrift: false };
}

function classifyAbsolute(files: Files, root: string, given: string): WorkspacePath {
  const workspacePath = inside(root, given);
  if (workspacePath !== undefined) return { kind: 'host_absolute', workspacePath, hostPath: given };
  const drifted = path.join(root, given);
  if (!files.exists(given) && files.exists(drifted)) {
    return { kind: 'workspace_relative', workspacePath: inside(root, drifted) ?? '.', hostPath: drifted, recoveredRootDrift: true };
  }
  return { kind: 'host_absolute', workspacePath: undefined, hostPath: given };
}

function inside(root: string, target: string): string | undefined {
  const relative = path.relative(path.resolve(root), target);
  if (relative === '..' || relative.startsWith('../') || path.isAbsolute(relative)) return undefined;
  return relative === '' ? '.' : relative;
}
