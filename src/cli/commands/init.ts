import { posix as path } from 'node:path';
import type { Platform } from '../../platform/platform.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { quoteForShell } from '../park-hint.ts';
import { UsageError } from '../parse-options.ts';
import { IGNORED, projectFiles } from '../project-template.ts';
import { shortPath } from '../source-files.ts';

export interface InitOptions {
  readonly json?: boolean;
}

/**
 * `harn init`: a small project that runs without a model. Writes into a folder that may have files, but over none of them.
 * @returns the exit code
 */
export function initCommand(platform: Platform, folder: string, options: InitOptions): number {
  const { files, stdio } = platform;
  const root = path.resolve(files.cwd(), folder);
  const wanted = Object.entries(projectFiles(path.basename(root) || 'project')).map(([name, text]) => ({
    file: path.join(root, name),
    text,
  }));
  assertFree(
    platform,
    root,
    wanted.map(({ file }) => file),
  );
  makeFolder(platform, root);
  for (const { file, text } of wanted) files.write(file, text);
  const created = [...wanted.map(({ file }) => file), ...ignoreState(platform, root)].map((file) => shortPath(platform, file));
  if (options.json === true) writeEnvelope(platform, { ok: true, data: { folder: root, created } });
  else {
    stdio.out(created.map((file) => `${file}\n`).join(''));
    stdio.err(nextSteps(root === files.cwd() ? undefined : folder));
  }
  return EXIT.success;
}

function assertFree({ files }: Platform, root: string, wanted: readonly string[]): void {
  const stat = files.stat(root);
  if (stat !== undefined && !stat.isDirectory) throw new UsageError(`${root} is a file; name a folder`);
  const taken = wanted.filter((file) => files.exists(file)).map((file) => path.basename(file));
  if (taken.length > 0) throw new UsageError(`${taken.join(', ')} exist${taken.length === 1 ? 's' : ''} in ${root}; nothing was written`);
}

function makeFolder(platform: Platform, folder: string): void {
  if (platform.files.exists(folder)) return;
  makeFolder(platform, path.dirname(folder));
  platform.files.mkdir(folder);
}

/** Adds a line to `.gitignore` unless one says it already. @returns the file when there was none */
function ignoreState({ files }: Platform, root: string): string[] {
  const file = path.join(root, '.gitignore');
  const before = files.exists(file) ? files.readText(file) : undefined;
  const lines = before?.split(/\r?\n/).map((line) => line.trim()) ?? [];
  if (lines.some((line) => line === IGNORED || line === '.harn')) return [];
  files.write(file, `${before === undefined || before === '' || before.endsWith('\n') ? (before ?? '') : `${before}\n`}${IGNORED}\n`);
  return before === undefined ? [file] : [];
}

function nextSteps(folder: string | undefined): string {
  return `
Try it without a model:
${folder === undefined ? '' : `  cd ${quoteForShell(folder)}\n`}  harn run --llm-mock main.llm-mock.jsonl main.harn
It parks and prints how to go on; add the same --llm-mock to that command.
`;
}
