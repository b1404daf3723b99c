import { posix as path } from 'node:path';
import type { Platform } from '../platform/platform.ts';
import { findProjectRoot, isUnfiled } from '../runtime/program/project-root.ts';

/** The `.harn` folder of a script: HARN_STATE_DIR, else at its project root, else in the current directory. */
export function stateRootFor(platform: Platform, scriptPath: string): string {
  const configured = platform.env.get('HARN_STATE_DIR');
  if (configured !== undefined && configured !== '') return path.resolve(platform.files.cwd(), configured);
  const directory = isUnfiled(scriptPath) ? platform.files.cwd() : path.dirname(scriptPath);
  return path.join(findProjectRoot(platform, directory) ?? platform.files.cwd(), '.harn');
}
