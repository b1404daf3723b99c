import { thrownText } from './errors.ts';

/** Texts of operating system errors in the style that scripts know them. */
const DETAILS: Readonly<Record<string, readonly [string, number]>> = {
  ENOENT: ['No such file or directory', 2],
  EACCES: ['Permission denied', 13],
  EEXIST: ['File exists', 17],
  ENOTDIR: ['Not a directory', 20],
  EISDIR: ['Is a directory', 21],
  ENOSPC: ['No space left on device', 28],
  EROFS: ['Read-only file system', 30],
  ENOTEMPTY: ['Directory not empty', 39],
  ELOOP: ['Too many levels of symbolic links', 40],
};

export function errorDetail(error: unknown): string {
  const code = (error as { code?: string }).code;
  const known = code === undefined ? undefined : DETAILS[code];
  if (known !== undefined) return `${known[0]} (os error ${known[1]})`;
  return error instanceof Error ? error.message : String(error);
}

/** Runs a file operation; a failure is thrown as `PREFIX: DETAIL`. */
export function orThrow<T>(prefix: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw thrownText(`${prefix}: ${errorDetail(error)}`);
  }
}
