import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const PROJECT_ROOT = resolve(import.meta.dirname, '../..');
export const HARN_BIN = join(PROJECT_ROOT, 'bin/harn.js');

/** A fresh folder that holds the programs, caches and state of one bench run; removed at the end. */
export class Workspace {
  readonly root = mkdtempSync(join(tmpdir(), 'harn-bench-'));

  /** Writes a file below the folder and gives its absolute path. */
  write(name: string, text: string): string {
    const path = join(this.root, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  folder(name: string): string {
    const path = join(this.root, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Environment of a measured harn process: its cache and its state stay inside the folder. */
  environment(cache = 'cache'): NodeJS.ProcessEnv {
    return { ...process.env, NO_COLOR: '1', HARN_CACHE_DIR: join(this.root, cache), HARN_STATE_DIR: join(this.root, 'state') };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
