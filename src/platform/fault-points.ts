import { diskError } from './fake-files.ts';
import type { FileHandle, FileStat, Files } from './platform.ts';

/** What happens at one mutating call of the files. */
export interface Fault {
  /** Which call, counted from 0. */
  readonly at: number;
  /**
   * - `fail`: the call throws an error of the disk and does nothing;
   * - `killBefore`, `killAfter`: the process dies there: `KilledHere`, and again at every later call;
   * - `tear`: a write leaves half of its bytes, then the process dies.
   */
  readonly how: 'fail' | 'killBefore' | 'killAfter' | 'tear';
  /** For `fail`; ENOSPC by default. */
  readonly code?: 'ENOSPC' | 'EACCES' | 'EROFS' | 'EIO' | 'EDQUOT' | 'EBUSY' | undefined;
}

/** Thrown in place of a death of the process. Code under test must not recover from it: every later call throws it again. */
export class KilledHere extends Error {
  override readonly name = 'KilledHere';
}

/**
 * Files that count their mutating calls and break at one of them, so that a test can try each place in turn:
 * run once without a fault, then once for every index of `calls`.
 */
export class FaultyFiles implements Files {
  /** Every mutating call so far, as `rename /a /b`. */
  readonly calls: string[] = [];
  /** May be set in the middle of a test; undefined breaks nothing. */
  fault: Fault | undefined;
  readonly #inner: Files;
  readonly #die: () => void;
  #isDead = false;

  /** @param die called at the death, before `KilledHere` is thrown: may end the process in earnest */
  constructor(inner: Files, fault?: Fault, die: () => void = () => undefined) {
    this.#inner = inner;
    this.fault = fault;
    this.#die = die;
  }

  /** Whether the death that the fault stands for has happened. */
  get isDead(): boolean {
    return this.#isDead;
  }

  write(path: string, data: string | Uint8Array, mode?: number): void {
    this.#mutate(
      `write ${path}`,
      () => this.#inner.write(path, data, mode),
      () => this.#inner.write(path, half(data), mode),
    );
  }

  append(path: string, data: string | Uint8Array): void {
    this.#mutate(
      `append ${path}`,
      () => this.#inner.append(path, data),
      () => this.#inner.append(path, half(data)),
    );
  }

  open(path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number): FileHandle {
    const handle = this.#mutate(`open ${path} ${how}`, () => this.#inner.open(path, how, mode));
    return {
      write: (data) =>
        this.#mutate(
          `handle.write ${path}`,
          () => handle.write(data),
          () => handle.write(half(data)),
        ),
      sync: () => this.#mutate(`handle.sync ${path}`, () => handle.sync()),
      // Closing changes nothing on the disk, and a dead process no longer needs to.
      close: () => handle.close(),
    };
  }

  rename(from: string, to: string): void {
    this.#mutate(`rename ${from} ${to}`, () => this.#inner.rename(from, to));
  }

  link(from: string, to: string): void {
    this.#mutate(`link ${from} ${to}`, () => this.#inner.link(from, to));
  }

  unlink(path: string): void {
    this.#mutate(`unlink ${path}`, () => this.#inner.unlink(path));
  }

  remove(path: string): void {
    this.#mutate(`remove ${path}`, () => this.#inner.remove(path));
  }

  mkdir(path: string, mode?: number): void {
    this.#mutate(`mkdir ${path}`, () => this.#inner.mkdir(path, mode));
  }

  syncDirectory(path: string): void {
    this.#mutate(`syncDirectory ${path}`, () => this.#inner.syncDirectory(path));
  }

  copy(from: string, to: string): void {
    this.#mutate(`copy ${from} ${to}`, () => this.#inner.copy(from, to));
  }

  cwd(): string {
    return this.#inner.cwd();
  }

  readText(path: string): string {
    return this.#inner.readText(path);
  }

  readBytes(path: string): Uint8Array {
    return this.#inner.readBytes(path);
  }

  readRange(path: string, offset: number, length: number): Uint8Array {
    return this.#inner.readRange(path, offset, length);
  }

  stat(path: string): FileStat | undefined {
    return this.#inner.stat(path);
  }

  exists(path: string): boolean {
    return this.#inner.exists(path);
  }

  list(path: string): string[] {
    return this.#inner.list(path);
  }

  realPath(path: string): string {
    return this.#inner.realPath(path);
  }

  tempDirectory(): string {
    return this.#inner.tempDirectory();
  }

  #mutate<T>(call: string, action: () => T, torn: () => void = () => undefined): T {
    if (this.#isDead) throw new KilledHere(call);
    const how = this.fault?.at === this.calls.length ? this.fault.how : undefined;
    this.calls.push(call);
    if (how === undefined) return action();
    if (how === 'fail') {
      const [name, path] = call.split(' ');
      throw diskError(this.fault?.code ?? 'ENOSPC', name ?? call, path);
    }
    this.#isDead = true;
    try {
      if (how === 'killAfter') action();
      if (how === 'tear') torn();
    } catch {
      // A call that fails is the last one all the same.
    }
    this.#die();
    throw new KilledHere(call);
  }
}

function half(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return bytes.subarray(0, bytes.length >> 1);
}
