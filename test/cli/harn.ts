import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/harn.js');

export interface Ended {
  readonly code: number | null;
  /** The signal that ended the process, where one did. */
  readonly signal?: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of its own with scripts, state and cache; every command runs in it unless told otherwise. */
export class CliWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'harn-cli-'));

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  /** Absolute paths of snapshots under `.harn/workers`. */
  snapshots(): string[] {
    const workers = join(this.folder, '.harn/workers');
    return readdirSync(workers)
      .filter((name) => /^worker_.*\.json$/.test(name))
      .map((name) => join(workers, name));
  }

  get environment(): NodeJS.ProcessEnv {
    const { HARN_STATE_DIR: _state, HARN_WORKER_STATE_DIR: _workers, ...rest } = process.env;
    return { ...rest, HOME: this.folder, NO_COLOR: '1', HARN_CACHE_DIR: join(this.folder, 'cache'), EFFECTS: join(this.folder, 'effects') };
  }

  harn(args: readonly string[], options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {}): Ended {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
      input: options.input,
      cwd: options.cwd ?? this.folder,
      env: { ...this.environment, ...options.env },
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { code: status, stdout, stderr };
  }

  /** As `harn`, with no file that it writes growing beyond a size: the disk then says EFBIG. */
  limited(args: readonly string[], { fileBytes }: { readonly fileBytes: number }): Ended {
    // A signal that is ignored stays ignored over `exec`; units are of 512 bytes.
    return this.shell(`trap '' XFSZ; ulimit -f ${fileBytes / 512}; exec "$0" "$@"`, args);
  }

  /** As `harn`, started by a shell script in which `"$0" "$@"` is the command. */
  shell(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, BIN, ...args], {
      cwd: this.folder,
      env: { ...this.environment, ...env },
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { code: status, stdout, stderr };
  }

  /** Starts a command without waiting for it. */
  start(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): { readonly child: ChildProcess; readonly ended: Promise<Ended>; saw(text: string): Promise<void> } {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: this.folder,
      env: { ...this.environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    const listeners = new Set<() => void>();
    const tell = (): void => {
      for (const listener of [...listeners]) listener();
    };
    child.stdout?.on('data', (data: Buffer) => {
      stdout += data.toString();
      tell();
    });
    child.stderr?.on('data', (data: Buffer) => {
      stderr += data.toString();
      tell();
    });
    const ended = new Promise<Ended>((resolveEnd) => child.once('close', (code, signal) => resolveEnd({ code, signal, stdout, stderr })));
    return {
      child,
      ended,
      saw: (text) =>
        new Promise((resolveSaw, reject) => {
          const look = (): void => {
            if (!`${stdout}${stderr}`.includes(text)) return;
            listeners.delete(look);
            resolveSaw();
          };
          listeners.add(look);
          void ended.then(() => reject(new Error(`ended before it said ${text}:\n${stdout}${stderr}`)));
          look();
        }),
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Lines of a JSON stream; each must parse. */
export function events(
  stdout: string,
): { readonly ok: boolean; readonly data: Record<string, unknown>; readonly error: Record<string, unknown> | null }[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
