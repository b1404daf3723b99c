/**
 * Where builds lie: one folder each under `dist`, named by its id, and the file `dist/current` that names the one to
 * start. Several builds may run at once: each works in a folder of its own, those of the same sources make the same
 * build, of which the first one stays, and nobody ever finds half of one.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEEP_MS = 600_000;

/** Milliseconds since the epoch; 0 for what is not there. */
export function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Makes a build the current one; its files are written only when it is not there yet.
 *
 * @param write fills `dist/<id>` below the given folder, which is beside the other builds
 */
export function publishBuild(dist: string, id: string, write: (aside: string) => void): void {
  const folder = join(dist, id);
  mkdirSync(dist, { recursive: true });
  const aside = mkdtempSync(join(dist, 'new-'));
  try {
    if (modifiedAt(folder) === 0) {
      write(aside);
      moveUnlessThere(join(aside, 'dist', id), folder);
    }
    const named = join(aside, 'current');
    writeFileSync(named, id);
    renameSync(named, join(dist, 'current'));
  } finally {
    rmSync(aside, { recursive: true });
  }
}

/** Another build of the same sources may have been quicker. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (modifiedAt(to) === 0) throw error;
  }
}

/**
 * Removes the builds but one.
 *
 * @param keep `recent` leaves those that processes may still run; what an unfinished build works in always stays for a while
 */
export function removeOtherBuilds(dist: string, id: string, keep: 'recent' | 'none'): void {
  for (const name of readdirSync(dist)) {
    if (name === id || name === 'current') continue;
    const isKept = keep === 'recent' || name.startsWith('new-');
    // Somebody else may be removing it as well.
    if (!isKept || Date.now() - modifiedAt(join(dist, name)) >= KEEP_MS)
      rmSync(join(dist, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
