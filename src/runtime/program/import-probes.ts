import type { Files } from '../../platform/platform.ts';

/** A question that finding an import asked of the disk, with its answer. */
export type ImportProbe =
  | { readonly ask: 'isFile' | 'exists'; readonly path: string; readonly answer: boolean }
  | { readonly ask: 'text'; readonly path: string; readonly answer: string };

/** As much of the disk as finding an import needs. */
export interface ProbedFiles {
  isFile(path: string): boolean;
  exists(path: string): boolean;
  readText(path: string): string;
}

/**
 * The disk, with every question noted. An import leads to the same file as long as all answers are the same: a file
 * that appears where nothing was found before, or another table of exports, leads it elsewhere without any module having
 * changed.
 */
export function recordProbes(files: Files, probes: Map<string, ImportProbe>): ProbedFiles {
  const note = <P extends ImportProbe>(probe: P): P['answer'] => {
    probes.set(`${probe.ask} ${probe.path}`, probe);
    return probe.answer;
  };
  return {
    isFile: (path) => note({ ask: 'isFile', path, answer: isFile(files, path) }),
    exists: (path) => note({ ask: 'exists', path, answer: files.exists(path) }),
    readText: (path) => note({ ask: 'text', path, answer: files.readText(path) }),
  };
}

/** Would the disk still answer as it did? */
export function isStillTrue(files: Files, { ask, path, answer }: ImportProbe): boolean {
  switch (ask) {
    case 'isFile':
      return isFile(files, path) === answer;
    case 'exists':
      return files.exists(path) === answer;
    case 'text':
      return files.readText(path) === answer;
  }
}

function isFile(files: Files, path: string): boolean {
  return files.stat(path)?.isFile === true;
}
