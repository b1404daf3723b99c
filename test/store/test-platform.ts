import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { FileHandle, Files, Platform } from '../../src/platform/platform.ts';

/** The real machine with some parts replaced. */
export function testPlatform(replaced: Partial<Platform> = {}): Platform {
  return { ...createNodePlatform(), ...replaced };
}

/** What a fault does to the call it hits: `fail` throws an error of the disk, `kill` ends this and all later calls. */
export interface Fault {
  readonly at: number;
  readonly how: 'fail' | 'killBefore' | 'killAfter';
  readonly code?: string;
}

export class Killed extends Error {}

/** Files that count their mutating calls and break at one of them. */
export class FaultyFiles implements Files {
  readonly log: string[] = [];
  fault: Fault | undefined;
  #isDead = false;
  readonly #inner: Files;

  constructor(inner: Files, fault?: Fault) {
    this.#inner = inner;
    this.fault = fault;
  }

  #mutate<T>(name: string, action: () => T): T {
    if (this.#isDead) throw new Killed('killed');
    const isHit = this.fault?.at === this.log.length;
    this.log.push(name);
    if (isHit && this.fault?.how === 'killBefore') {
      this.#isDead = true;
      throw new Killed('killed');
    }
    if (isHit && this.fault?.how === 'fail') {
      throw Object.assign(new Error(`${this.fault.code ?? 'ENOSPC'}: no space left on device`), { code: this.fault.code ?? 'ENOSPC' });
    }
    const result = action();
    if (isHit) {
      this.#isDead = true;
      throw new Killed('killed');
    }
    return result;
  }

  open(path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number): FileHandle {
    const handle = this.#mutate(`open ${how}`, () => this.#inner.open(path, how, mode));
    return {
      write: (data) => this.#mutate('write', () => handle.write(data)),
      sync: () => this.#mutate('sync', () => handle.sync()),
      close: () => handle.close(),
    };
  }

  write = (path: string, data: string | Uint8Array, mode?: number): void =>
    this.#mutate('write', () => this.#inner.write(path, data, mode));
  append = (path: string, data: string | Uint8Array): void => this.#mutate('append', () => this.#inner.append(path, data));
  rename = (from: string, to: string): void => this.#mutate('rename', () => this.#inner.rename(from, to));
  link = (from: string, to: string): void => this.#mutate('link', () => this.#inner.link(from, to));
  unlink = (path: string): void => this.#mutate('unlink', () => this.#inner.unlink(path));
  remove = (path: string): void => this.#mutate('remove', () => this.#inner.remove(path));
  mkdir = (path: string, mode?: number): void => this.#mutate('mkdir', () => this.#inner.mkdir(path, mode));
  syncDirectory = (path: string): void => this.#mutate('syncDirectory', () => this.#inner.syncDirectory(path));
  copy = (from: string, to: string): void => this.#mutate('copy', () => this.#inner.copy(from, to));
  cwd = (): string => this.#inner.cwd();
  readText = (path: string): string => this.#inner.readText(path);
  readBytes = (path: string): Uint8Array => this.#inner.readBytes(path);
  readRange = (path: string, offset: number, length: number): Uint8Array => this.#inner.readRange(path, offset, length);
  stat = (path: string) => this.#inner.stat(path);
  exists = (path: string): boolean => this.#inner.exists(path);
  list = (path: string): string[] => this.#inner.list(path);
  realPath = (path: string): string => this.#inner.realPath(path);
  tempDirectory = (): string => this.#inner.tempDirectory();
}
