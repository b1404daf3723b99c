import { fstatSync, writeSync } from 'node:fs';
import type { Stdio } from './platform.ts';

const STDOUT = 1;
const STDERR = 2;
const DESCRIPTORS = { stdin: 0, stdout: STDOUT, stderr: STDERR };

/**
 * Standard streams, written synchronously, so that nothing is lost when the process ends and the order of the two
 * streams is kept. A full pipe (EAGAIN) is waited for; a closed one (EPIPE) is reported once and then swallowed.
 */
export class NodeStdio implements Stdio {
  #broken = false;
  readonly #onBroken: (() => void)[] = [];
  #lines: AsyncIterator<string> | undefined;

  out(text: string): void {
    if (!this.#broken) this.#write(STDOUT, text);
  }

  err(text: string): void {
    this.#write(STDERR, text);
  }

  async drain(): Promise<void> {
    // Every write has already reached the kernel.
  }

  onBrokenPipe(callback: () => void): void {
    this.#onBroken.push(callback);
  }

  async readLine(): Promise<string | undefined> {
    if (this.#lines === undefined) {
      const { createInterface } = await import('node:readline');
      this.#lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
    }
    const next = await this.#lines.next();
    return next.done === true ? undefined : next.value;
  }

  async readAll(): Promise<string> {
    const lines: string[] = [];
    if (this.#lines !== undefined) {
      for (let line = await this.readLine(); line !== undefined; line = await this.readLine()) lines.push(line);
      return lines.join('\n');
    }
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Looks at the file first: Node's stream objects take longer to make than a small script runs, and a pipe needs none. */
  isTty(stream: 'stdin' | 'stdout' | 'stderr'): boolean {
    const descriptor = DESCRIPTORS[stream];
    return isCharacterDevice(descriptor) && process.getBuiltinModule('node:tty').isatty(descriptor);
  }

  columns(): number {
    return process.stderr.columns ?? process.stdout.columns ?? 80;
  }

  #write(descriptor: number, text: string): void {
    const bytes = Buffer.from(text);
    for (let offset = 0; offset < bytes.length; ) {
      try {
        offset += writeSync(descriptor, bytes, offset);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EAGAIN') {
          Atomics.wait(PAUSE, 0, 0, 1);
          continue;
        }
        if (code !== 'EPIPE' && code !== 'EBADF') throw error;
        if (descriptor === STDOUT) this.#breakPipe();
        return;
      }
    }
  }

  #breakPipe(): void {
    if (this.#broken) return;
    this.#broken = true;
    for (const callback of this.#onBroken) callback();
  }
}

/** Somebody to wait for: never notified, so that a wait lasts its timeout. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** False also for a stream that was closed before the process began. */
function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}
