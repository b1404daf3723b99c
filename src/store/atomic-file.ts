import { basename, dirname, join } from 'node:path';
import type { Files, Platform } from '../platform/platform.ts';

/**
 * Durable writes. A reader sees the old content or the new one, never a mixture, also after a crash at any instant:
 * the new content goes to a temporary file beside the old one, is flushed, and takes its name in one rename.
 * Serves spec/agents.md 4.7 ("write") and 4.8.
 */
export type Disk = Pick<Platform, 'files' | 'random'>;

export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_DIRECTORY_MODE = 0o700;

/** Virus scanners and indexers hold files open for moments; a rename is tried again after these pauses. */
const RENAME_PAUSES_MS = [2, 8, 32, 64, 128];

/**
 * Replaces a file as a whole. Its directory must exist.
 * @throws Node's error (`ENOSPC`, `EACCES`, …); the old file is then intact and no temporary file is left
 */
export function writeAtomic(disk: Disk, path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${disk.random.id('tmp')}`;
  try {
    writeDurably(disk.files, temporary, content);
    renameWithRetry(disk.files, temporary, path);
  } catch (error) {
    unlinkIfPresent(disk.files, temporary);
    throw error;
  }
  syncParent(disk.files, path);
}

/**
 * Creates a file that must not exist yet, flushed with its directory entry.
 * @throws Node's `EEXIST` when it exists
 */
export function createDurably(files: Files, path: string, content: string): void {
  writeDurably(files, path, content);
  syncParent(files, path);
}

/** Removes a file and makes the removal durable; nothing happens when it is not there. */
export function removeDurably(files: Files, path: string): void {
  if (unlinkIfPresent(files, path)) syncParent(files, path);
}

/** Removes what writers that were killed left beside a file. Only the owner of the file may call this. */
export function sweepTemporaries(files: Files, path: string): void {
  const prefix = `${basename(path)}.tmp_`;
  const directory = dirname(path);
  for (const name of files.list(directory)) {
    if (name.startsWith(prefix)) unlinkIfPresent(files, join(directory, name));
  }
}

/** Creates a private directory with its ancestors; one that exists stays as it is. */
export function ensureDirectory(files: Files, path: string): void {
  if (files.exists(path)) return;
  const parent = dirname(path);
  if (parent !== path) ensureDirectory(files, parent);
  try {
    files.mkdir(path, PRIVATE_DIRECTORY_MODE);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

/** True for an error of the file system with this code, such as `ENOENT`. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** @returns whether it was there and is gone; a system that refuses leaves it, and callers make do with that */
export function unlinkIfPresent(files: Files, path: string): boolean {
  try {
    files.unlink(path);
    return true;
  } catch {
    return false;
  }
}

function writeDurably(files: Files, path: string, content: string | Uint8Array): void {
  const handle = files.open(path, 'exclusive', PRIVATE_FILE_MODE);
  try {
    handle.write(content);
    handle.sync();
  } finally {
    handle.close();
  }
}

function renameWithRetry(files: Files, from: string, to: string): void {
  for (const pauseMs of RENAME_PAUSES_MS) {
    try {
      files.rename(from, to);
      return;
    } catch (error) {
      if (!isErrno(error, 'EPERM', 'EBUSY')) throw error;
      pause(pauseMs);
    }
  }
  files.rename(from, to);
}

/** After a rename every reader already sees the new content, so a directory that cannot be flushed is no failure. */
function syncParent(files: Files, path: string): void {
  try {
    files.syncDirectory(dirname(path));
  } catch {
    // Some file systems cannot flush directories at all.
  }
}

/** Blocks the thread: a durable write must be over before the next step may start. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
