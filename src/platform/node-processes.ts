import { readFileSync } from 'node:fs';
import type { Processes, ProcessRequest, ProcessResult, StopSignal } from './platform.ts';

/** Child processes through execa, which is loaded at the first one. */
export class NodeProcesses implements Processes {
  /** Read once, since it cannot change while this process lives; empty where unknown. */
  #bootId: string | undefined;

  async run(request: ProcessRequest): Promise<ProcessResult> {
    const { execa } = await import('execa');
    const child = execa(request.command, [...request.args], {
      reject: false,
      stripFinalNewline: false,
      encoding: 'utf8',
      ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
      ...(request.env === undefined ? {} : { env: { ...request.env } }),
      ...(request.stdin === undefined ? { stdin: 'ignore' as const } : { input: request.stdin }),
      ...(request.timeoutMs === undefined ? {} : { timeout: request.timeoutMs }),
      ...(request.shell === true ? { shell: true } : {}),
      ...(request.signal === undefined ? {} : { cancelSignal: request.signal, gracefulCancel: false }),
    });
    const result = await child;
    if (request.signal?.aborted) throw request.signal.reason;
    // Without an exit code and without a signal the program never started.
    if (result.exitCode === undefined && result.signal === undefined && !result.timedOut)
      throw result.cause ?? new Error(result.shortMessage ?? 'the program could not be started');
    return {
      stdout: String(result.stdout ?? ''),
      stderr: String(result.stderr ?? ''),
      status: result.exitCode ?? -1,
      timedOut: result.timedOut,
      pid: child.pid,
    };
  }

  get startedAt(): number {
    return Math.trunc(Date.now() - process.uptime() * 1000);
  }

  get pid(): number {
    return process.pid;
  }

  exit(code: number): void {
    process.exit(code);
  }

  onIdle(callback: () => void): () => void {
    process.on('beforeExit', callback);
    return () => process.off('beforeExit', callback);
  }

  onDefect(callback: (error: unknown) => void): () => void {
    // A rejection that nobody handles arrives here, too.
    process.on('uncaughtException', callback);
    return () => process.off('uncaughtException', callback);
  }

  bootId(): string | undefined {
    this.#bootId ??= readBootId();
    return this.#bootId === '' ? undefined : this.#bootId;
  }

  onSignal(callback: (signal: StopSignal) => void): () => void {
    const listener = (signal: NodeJS.Signals): void => callback(signal as StopSignal);
    process.on('SIGINT', listener).on('SIGTERM', listener);
    return () => void process.off('SIGINT', listener).off('SIGTERM', listener);
  }

  isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  }
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
