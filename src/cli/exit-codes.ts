import type { StopSignal } from '../platform/platform.ts';

/** Exit codes of the command line (spec/agents.md 12.5, spec/language.md 11.6). An entry value that is an int is its own code. */
export const EXIT = {
  success: 0,
  /** An error of any stage, a refused or denied resume, a worker that failed. */
  failure: 1,
  /** The command line itself was wrong. */
  usage: 2,
  sigint: 130,
  sigterm: 143,
  /** A defect of harn: the code of sysexits.h for software. */
  defect: 70,
  /** Standard output was closed by its reader: 128 + SIGPIPE. */
  brokenPipe: 141,
} as const;

/** How a command ends whose standard output takes nothing any more. @param code of the system, as `Stdio.onOutputLost` tells it */
export function exitCodeOfLostOutput(code: string): number {
  return code === 'EPIPE' || code === 'EBADF' ? EXIT.brokenPipe : EXIT.failure;
}

export function exitCodeOfSignal(signal: StopSignal): number {
  return signal === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
}
