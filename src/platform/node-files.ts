import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FileHandle, FileStat, Files } from './platform.ts';

/** Files of the machine. Relative paths start at the current directory of the process. */
export class NodeFiles implements Files {
  cwd(): string {
    return process.cwd();
  }

  readText(path: string): string {
    return readFileSync(path, 'utf8');
  }

  readBytes(path: string): Uint8Array {
    return new Uint8Array(readFileSync(path));
  }

  readRange(path: string, offset: number, length: number): Uint8Array {
    const descriptor = openSync(path, 'r');
    try {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      for (;;) {
        const count = readSync(descriptor, buffer, filled, length - filled, offset + filled);
        filled += count;
        if (count === 0 || filled === length) return new Uint8Array(buffer.buffer, buffer.byteOffset, filled);
      }
    } finally {
      closeSync(descriptor);
    }
  }

  write(path: string, data: string | Uint8Array, mode?: number): void {
    writeFileSync(path, data, mode === undefined ? {} : { mode });
  }

  append(path: string, data: string | Uint8Array): void {
    appendFileSync(path, data);
  }

  open(path: string, how: 'exclusive' | 'append' | 'truncate', mode = 0o666): FileHandle {
    const flags = { exclusive: 'wx', append: 'a', truncate: 'w' }[how];
    return new NodeFileHandle(openSync(path, flags, mode));
  }

  rename(from: string, to: string): void {
    renameSync(from, to);
  }

  link(from: string, to: string): void {
    linkSync(from, to);
  }

  unlink(path: string): void {
    unlinkSync(path);
  }

  remove(path: string): void {
    rmSync(path, { recursive: true });
  }

  mkdir(path: string, mode?: number): void {
    // Not Node's recursive form: it tries for ever where a system says of a folder that is there that it is not (/proc).
    try {
      mkdirSync(path, mode);
    } catch (error) {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
      const parent = dirname(path);
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error;
      this.mkdir(parent, mode);
      this.mkdir(path, mode);
    }
  }

  syncDirectory(path: string): void {
    // Windows cannot open a directory; its renames are durable by themselves.
    if (process.platform === 'win32') return;
    const descriptor = openSync(path, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  stat(path: string): FileStat | undefined {
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return undefined;
    const stat = link.isSymbolicLink() ? (statSync(path, { throwIfNoEntry: false }) ?? link) : link;
    return {
      sizeBytes: stat.size,
      isFile: stat.isFile(),
      isDirectory: stat.isDirectory(),
      isSymbolicLink: link.isSymbolicLink(),
      readonly: (stat.mode & 0o222) === 0,
      modifiedAt: Math.trunc(stat.mtimeMs),
      mode: stat.mode & 0o7777,
    };
  }

  exists(path: string): boolean {
    return existsSync(path);
  }

  list(path: string): string[] {
    return readdirSync(path);
  }

  realPath(path: string): string {
    return realpathSync(resolve(path));
  }

  copy(from: string, to: string): void {
    cpSync(from, to, { recursive: true });
  }

  tempDirectory(): string {
    return process.getBuiltinModule('node:os').tmpdir();
  }
}

class NodeFileHandle implements FileHandle {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let offset = 0; offset < bytes.length; ) offset += writeSync(this.#descriptor, bytes, offset);
  }

  sync(): void {
    fsyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
