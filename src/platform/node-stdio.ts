import { fstatSync, writeSync } from 'node:fs';
import type { Stdio } from './platform.ts';

const STDOUT = 1;
const STDERR = 2;
const DESCRIPTORS = { stdin: 0, stdout: STDOUT, stderr: STDERR };

/**
 * Standard streams, written synchronously, so that nothing is lost when the process ends and the order of the two
 * streams is kept. A full pipe (EAGAIN) is waited for. Standard output that takes nothing any more is reported once, and what
 * is written to it afterwards is dropped.
 */
export class NodeStdio implements Stdio {
  #isOutputLost = false;
  readonly #onOutputLost: ((code: string) => void)[] = [];
  #lines: AsyncIterator<string> | undefined;

  out(text: string): void {
    if (!this.#isOutputLost) this.#write(STDOUT, text);
  }

  err(text: string): void {
    this.#write(STDERR, text);
  }

  async drain(): Promise<void> {
    // Every write has already reached the kernel.
  }

  onOutputLost(callback: (code: string) => void): void {
    this.#onOutputLost.push(callback);
  }

  async readLine(): Promise<string | undefined> {
    if (this.#lines === undefined) {
      const { createInterface } = await import('node:readline');
      this.#lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
    }
    const next = await this.#lines.next();
    return next.done === true ? undefined : next.value;
  }

  async readSecret(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#lines !== undefined || !this.isTty('stdin')) return this.readLine();
    const terminal = process.stdin;
    terminal.setRawMode(true);
    try {
      const secret = await readHidden(terminal, signal);
      this.err('\n');
      return secret;
    } finally {
      terminal.setRawMode(false);
      terminal.pause();
    }
  }

  async readAll(): Promise<string> {
    const lines: string[] = [];
    if (this.#lines !== undefined) {
      for (let line = await this.readLine(); line !== undefined; line = await this.readLine()) lines.push(line);
      return lines.join('\n');
    }
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    // A reader of lines would wait for an end that has been: there are none left.
    this.#lines = (async function* (): AsyncGenerator<string> {})()[Symbol.asyncIterator]();
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Looks at the file first: Node's stream objects take longer to make than a small script runs, and a pipe needs none. */
  isTty(stream: 'stdin' | 'stdout' | 'stderr'): boolean {
    const descriptor = DESCRIPTORS[stream];
    return isCharacterDevice(descriptor) && process.getBuiltinModule('node:tty').isatty(descriptor);
  }

  columns(): number {
    const widths = [Number(process.env.COLUMNS), process.stderr.columns, process.stdout.columns];
    // A terminal that nobody has given a size says 0.
    return widths.find((width) => Number.isSafeInteger(width) && width > 0) ?? 80;
  }

  #write(descriptor: number, text: string): void {
    const bytes = Buffer.from(text);
    for (let offset = 0; offset < bytes.length; ) {
      try {
        offset += writeSync(descriptor, bytes, offset);
      } catch (error) {
        const { code = 'EIO' } = error as NodeJS.ErrnoException;
        if (code === 'EAGAIN') {
          Atomics.wait(PAUSE, 0, 0, 1);
          continue;
        }
        // Of standard error nobody could be told.
        if (descriptor === STDOUT) this.#loseOutput(code);
        return;
      }
    }
  }

  #loseOutput(code: string): void {
    if (this.#isOutputLost) return;
    this.#isOutputLost = true;
    for (const callback of this.#onOutputLost) callback(code);
  }
}

/** Keys of a terminal in raw mode up to the end of the line. What follows the line goes back to the stream. */
function readHidden(terminal: NodeJS.ReadStream, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const line = new HiddenLine();
    const finish = (settle: () => void): void => {
      terminal.off('data', onData).off('end', onEnd);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      const rest = line.take(chunk.toString('utf8'));
      if (line.isInterrupted) process.kill(process.pid, 'SIGINT');
      if (rest === undefined) return;
      if (rest !== '') terminal.unshift(Buffer.from(rest));
      finish(() => resolve(line.text));
    };
    const onEnd = (): void => finish(() => resolve(line.text));
    const onAbort = (): void => finish(() => reject(signal?.reason));
    signal?.addEventListener('abort', onAbort, { once: true });
    terminal.on('data', onData).on('end', onEnd);
    terminal.resume();
  });
}

/** What was typed so far, with the keys that a terminal in its ordinary mode would have handled. */
export class HiddenLine {
  /** Undefined when the input ended before a line began. */
  text: string | undefined;
  isInterrupted = false;

  /** @returns what follows the line, once the line is complete */
  take(keys: string): string | undefined {
    for (const [index, key] of [...keys].entries()) {
      if (key === '\r' || key === '\n') {
        this.text ??= '';
        return [...keys].slice(index + 1).join('');
      }
      if (key === CTRL_C) this.isInterrupted = true;
      if (key === CTRL_C || (key === CTRL_D && (this.text ?? '') === '')) {
        this.text = undefined;
        return [...keys].slice(index + 1).join('');
      }
      if (key === CTRL_U) this.text = '';
      else if (key === BACKSPACE || key === '\b') this.text = [...(this.text ?? '')].slice(0, -1).join('');
      else if (key >= ' ') this.text = (this.text ?? '') + key;
    }
    return undefined;
  }
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const BACKSPACE = '\u007f';

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
