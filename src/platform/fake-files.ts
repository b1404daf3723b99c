import { posix as path } from 'node:path';
import type { Instant } from '../base/instant.ts';
import type { FileHandle, FileStat, Files } from './platform.ts';

/**
 * Files in memory, with the errors of a real disk. Names lead to nodes as they do on Unix, so that a renamed or
 * removed file stays writable through an open handle, and a hard link shares its content.
 * The suite test/platform/files.test.ts holds it to the same rules as the real files.
 */
export class FakeFiles implements Files {
  readonly #root: DirectoryNode;
  readonly #now: () => Instant;
  readonly #cwd: string;

  constructor(options: { readonly now?: () => Instant; readonly cwd?: string } = {}) {
    this.#now = options.now ?? (() => 0);
    this.#cwd = options.cwd ?? '/project';
    this.#root = new DirectoryNode(0o755, this.#now());
    this.mkdir(this.#cwd);
    this.mkdir(this.tempDirectory());
  }

  cwd(): string {
    return this.#cwd;
  }

  tempDirectory(): string {
    return '/tmp';
  }

  readText(name: string): string {
    return new TextDecoder().decode(this.readBytes(name));
  }

  readBytes(name: string): Uint8Array {
    return this.#file(name, 'read').content.slice();
  }

  readRange(name: string, offset: number, length: number): Uint8Array {
    return this.#file(name, 'open').content.slice(offset, offset + length);
  }

  write(name: string, data: string | Uint8Array, mode = 0o666): void {
    const handle = this.open(name, 'truncate', mode);
    handle.write(data);
    handle.close();
  }

  append(name: string, data: string | Uint8Array): void {
    const handle = this.open(name, 'append');
    handle.write(data);
    handle.close();
  }

  open(name: string, how: 'exclusive' | 'append' | 'truncate', mode = 0o666): FileHandle {
    const { parent, base } = this.#place(name, 'open');
    const found = parent.entries.get(base);
    if (found !== undefined && how === 'exclusive') throw diskError('EEXIST', 'open', name);
    if (found instanceof DirectoryNode) throw diskError('EISDIR', 'open', name);
    const node = found ?? new FileNode(withoutUmask(mode), this.#now());
    if (found === undefined) this.#enter(parent, base, node);
    if (how === 'truncate') node.truncate(this.#now());
    return new FakeFileHandle(node, this.#now);
  }

  rename(from: string, to: string): void {
    const source = this.#place(from, 'rename');
    const target = this.#place(to, 'rename');
    const node = source.parent.entries.get(source.base);
    if (node === undefined) throw diskError('ENOENT', 'rename', from);
    const replaced = target.parent.entries.get(target.base);
    if (replaced instanceof DirectoryNode && node instanceof FileNode) throw diskError('EISDIR', 'rename', to);
    if (replaced instanceof FileNode && node instanceof DirectoryNode) throw diskError('ENOTDIR', 'rename', to);
    if (replaced instanceof DirectoryNode && replaced !== node && replaced.entries.size > 0) throw diskError('ENOTEMPTY', 'rename', to);
    source.parent.entries.delete(source.base);
    this.#enter(target.parent, target.base, node);
  }

  link(from: string, to: string): void {
    const node = this.#file(from, 'link');
    const { parent, base } = this.#place(to, 'link');
    if (parent.entries.has(base)) throw diskError('EEXIST', 'link', to);
    this.#enter(parent, base, node);
  }

  unlink(name: string): void {
    const { parent, base } = this.#place(name, 'unlink');
    const node = parent.entries.get(base);
    if (node === undefined) throw diskError('ENOENT', 'unlink', name);
    if (node instanceof DirectoryNode) throw diskError('EISDIR', 'unlink', name);
    parent.entries.delete(base);
  }

  remove(name: string): void {
    const { parent, base } = this.#place(name, 'rm');
    if (!parent.entries.delete(base)) throw diskError('ENOENT', 'rm', name);
  }

  mkdir(name: string, mode = 0o777): void {
    let current = this.#root;
    for (const part of this.#parts(name)) {
      const next = current.entries.get(part) ?? new DirectoryNode(withoutUmask(mode), this.#now());
      if (next instanceof FileNode) throw diskError(part === this.#parts(name).at(-1) ? 'EEXIST' : 'ENOTDIR', 'mkdir', name);
      if (!current.entries.has(part)) this.#enter(current, part, next);
      current = next;
    }
  }

  syncDirectory(name: string): void {
    this.#node(name, 'open');
  }

  stat(name: string): FileStat | undefined {
    const node = this.#find(name);
    if (node === undefined) return undefined;
    return {
      sizeBytes: node instanceof FileNode ? node.content.length : 0,
      isFile: node instanceof FileNode,
      isDirectory: node instanceof DirectoryNode,
      isSymbolicLink: false,
      readonly: (node.mode & 0o222) === 0,
      modifiedAt: node.modifiedAt,
      mode: node.mode,
    };
  }

  exists(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  list(name: string): string[] {
    const node = this.#node(name, 'scandir');
    if (node instanceof FileNode) throw diskError('ENOTDIR', 'scandir', name);
    return [...node.entries.keys()].sort();
  }

  realPath(name: string): string {
    this.#node(name, 'realpath');
    return path.resolve(this.#cwd, name);
  }

  copy(from: string, to: string): void {
    const node = this.#node(from, 'cp');
    if (node instanceof FileNode) {
      this.mkdir(path.dirname(path.resolve(this.#cwd, to)));
      this.write(to, node.content, node.mode);
      return;
    }
    this.mkdir(to, node.mode);
    for (const child of node.entries.keys()) this.copy(path.join(from, child), path.join(to, child));
  }

  #enter(parent: DirectoryNode, base: string, node: Node): void {
    parent.entries.set(base, node);
    parent.modifiedAt = this.#now();
  }

  #file(name: string, call: string): FileNode {
    const node = this.#node(name, call);
    if (node instanceof DirectoryNode) throw diskError('EISDIR', call, name);
    return node;
  }

  #node(name: string, call: string): Node {
    const node = this.#find(name);
    if (node === undefined) throw diskError('ENOENT', call, name);
    return node;
  }

  #find(name: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of this.#parts(name)) node = node instanceof DirectoryNode ? node.entries.get(part) : undefined;
    return node;
  }

  /** The directory that holds, or will hold, this name. */
  #place(name: string, call: string): { readonly parent: DirectoryNode; readonly base: string } {
    const parts = this.#parts(name);
    const base = parts.pop();
    if (base === undefined) throw diskError('EBUSY', call, name);
    const parent = this.#find(`/${parts.join('/')}`);
    if (parent === undefined) throw diskError('ENOENT', call, name);
    if (parent instanceof FileNode) throw diskError('ENOTDIR', call, name);
    return { parent, base };
  }

  #parts(name: string): string[] {
    return path
      .resolve(this.#cwd, name)
      .split('/')
      .filter((part) => part !== '');
  }
}

type Node = FileNode | DirectoryNode;

class DirectoryNode {
  readonly entries = new Map<string, Node>();
  readonly mode: number;
  modifiedAt: Instant;

  constructor(mode: number, modifiedAt: Instant) {
    this.mode = mode;
    this.modifiedAt = modifiedAt;
  }
}

/** Content in a buffer that doubles, so that many small appends stay linear. */
class FileNode {
  readonly mode: number;
  modifiedAt: Instant;
  #buffer = new Uint8Array(0);
  #length = 0;

  constructor(mode: number, modifiedAt: Instant) {
    this.mode = mode;
    this.modifiedAt = modifiedAt;
  }

  get content(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  truncate(now: Instant): void {
    this.#length = 0;
    this.modifiedAt = now;
  }

  append(bytes: Uint8Array, now: Instant): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
      larger.set(this.content);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = needed;
    this.modifiedAt = now;
  }
}

class FakeFileHandle implements FileHandle {
  readonly #node: FileNode;
  readonly #now: () => Instant;
  #isClosed = false;

  constructor(node: FileNode, now: () => Instant) {
    this.#node = node;
    this.#now = now;
  }

  write(data: string | Uint8Array): void {
    this.#assertOpen('write');
    this.#node.append(typeof data === 'string' ? new TextEncoder().encode(data) : data, this.#now());
  }

  sync(): void {
    this.#assertOpen('fsync');
  }

  close(): void {
    this.#assertOpen('close');
    this.#isClosed = true;
  }

  #assertOpen(call: string): void {
    if (this.#isClosed) throw diskError('EBADF', call, undefined);
  }
}

/** What a usual umask leaves. */
function withoutUmask(mode: number): number {
  return mode & ~0o022;
}

/** An error as Node makes them: `code`, `syscall` and `path`. */
export function diskError(code: string, syscall: string, name: string | undefined): Error {
  const place = name === undefined ? '' : ` '${name}'`;
  return Object.assign(new Error(`${code}: ${DISK_ERRORS[code] ?? 'input/output error'}, ${syscall}${place}`), {
    code,
    syscall,
    ...(name === undefined ? {} : { path: name }),
  });
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBADF: 'bad file descriptor',
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EROFS: 'read-only file system',
};
