/** What Node throws when the system refuses something, such as a file: no defect of harn. */
export interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
}

export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** What was refused and why, in one line. @param shown how a path is written for the reader */
export function systemErrorText({ message, code, syscall, path }: SystemError, shown: (path: string) => string = String): string {
  if (syscall === 'uv_cwd') return 'the current folder is gone; change to one that exists';
  if (path === undefined) return message;
  const [, reason = code] = /^\w+: (.*?),/.exec(message) ?? [];
  return `${shown(path)}: ${reason} (${syscall})`;
}
