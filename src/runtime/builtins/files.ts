import { posix as path } from 'node:path';
import { inBackground, wantsBackground } from '../agents/background-operation.ts';
import { executionRoot } from '../agents/execution-place.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { thrownText } from '../errors.ts';
import { errorDetail, orThrow } from '../file-errors.ts';
import { linesOf } from '../text.ts';
import { Dict, enumValue, Float, type Value } from '../value.ts';
import { classifyPath, isAbsolute, type WorkspacePath } from '../workspace-path.ts';

const text = (value: Value): string => (value === undefined ? '' : display(value));

/** Relative paths start at the execution directory. */
export function absolutePath(context: Context, value: Value): string {
  return path.resolve(executionRoot(context), text(value));
}

function removeFile(context: Context, given: Value): void {
  const { files } = context.run.platform;
  const target = absolutePath(context, given);
  const isDirectory = files.stat(target)?.isDirectory === true;
  orThrow(`Failed to delete ${isDirectory ? 'directory' : 'file'} ${text(given)}`, () => files.remove(target));
}

interface WalkOptions {
  readonly maxDepth: number;
  readonly followsLinks: boolean;
}

function walk(context: Context, root: string, options: WalkOptions): Value[] {
  const { files } = context.run.platform;
  const found: Value[] = [];
  const visit = (current: string, shown: string, depth: number): void => {
    const stat = files.stat(current);
    if (stat === undefined) return;
    const isDirectory = stat.isDirectory && (options.followsLinks || depth === 0 || !stat.isSymbolicLink);
    found.push(
      dictOf([
        ['path', shown],
        ['is_dir', isDirectory],
        ['is_file', stat.isFile],
        ['depth', depth],
      ]),
    );
    if (!isDirectory || depth >= options.maxDepth) return;
    for (const name of files.list(current).sort()) visit(path.join(current, name), path.join(shown, name), depth + 1);
  };
  visit(absolutePath(context, root), root, 0);
  return found;
}

function walkOptions(value: Value): WalkOptions {
  const options = value instanceof Dict ? value : new Dict();
  return {
    maxDepth: typeof options.max_depth === 'number' ? options.max_depth : Number.POSITIVE_INFINITY,
    followsLinks: options.follow_symlinks === true,
  };
}

/** A glob as a regular expression over paths: `**` crosses folders, `*` and `?` do not, `{a,b}` chooses. */
export function globPattern(glob: string): RegExp {
  let source = '';
  for (let i = 0; i < glob.length; i++) {
    const character = glob[i] as string;
    if (glob.startsWith('**/', i)) {
      source += '(?:.*/)?';
      i += 2;
    } else if (glob.startsWith('**', i)) {
      source += '.*';
      i++;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '{') source += '(?:';
    else if (character === '}') source += ')';
    else if (character === ',' && /\{[^}]*$/.test(glob.slice(0, i))) source += '|';
    else source += character.replaceAll(/[.+^$()|[\]\\]/g, String.raw`\$&`);
  }
  return new RegExp(`^${source}$`);
}

function globFiles(context: Context, pattern: string, base: Value): string[] {
  const root = base === undefined ? '.' : text(base);
  const matcher = globPattern(pattern);
  const { files } = context.run.platform;
  const found: string[] = [];
  const visit = (relative: string): void => {
    const current = path.join(absolutePath(context, root), relative);
    const stat = files.stat(current);
    if (stat === undefined) return;
    if (stat.isDirectory && !(stat.isSymbolicLink && relative !== '')) {
      for (const name of files.list(current)) visit(path.join(relative, name));
      return;
    }
    if (matcher.test(relative)) found.push(base === undefined ? relative : path.join(root, relative));
  };
  visit('');
  return found.sort();
}

/** `a/./b/../c` folded, with `/` as the separator. */
function normalize(value: string): string {
  return path.normalize(value.replaceAll('\\', '/'));
}

function projectRoot(context: Context): string | undefined {
  return context.run.projectRoot;
}

const runtimePaths = (context: Context): Value =>
  dictOf([
    ['execution_root', executionRoot(context)],
    ['asset_root', path.dirname(context.run.scriptPath)],
    ['state_root', context.run.stateRoot],
    ['run_root', path.join(context.run.executionRoot, '.harn-runs')],
    ['worktree_root', path.join(context.run.stateRoot, 'worktrees')],
  ]);

/** Files, paths and places (spec/language.md 12.6, 12.14). */
export const FILES: BuiltinGroup = {
  name: 'files',
  title: 'Files and paths',
  errors: [
    {
      text: 'Failed to read file P: DETAIL',
      when: 'also `write file`, `open file`, `append to file`, `delete file`, `create directory`, `list directory`, `stat`, in the same form; DETAIL such as `No such file or directory (os error 2)`',
    },
    { text: 'Failed to copy A to B: DETAIL', when: '`copy_file`; `move_file` likewise' },
    { text: 'walk_dir: root path is required', when: '`walk_dir` without a path' },
  ],
  builtins: {
    read_file: {
      signature: '(path: any) -> string',
      doc: 'The text of a file; throws `Failed to read file …`.',
      call: (c, _d, p) => orThrow(`Failed to read file ${text(p)}`, () => c.run.platform.files.readText(absolutePath(c, p))),
    },
    read_file_result: {
      signature: '(path: any) -> Result<string, string>',
      doc: '`Ok(text)`, or `Err` with the message that read_file throws.',
      call: (c, _d, p) => {
        try {
          return enumValue('Result', 'Ok', [c.run.platform.files.readText(absolutePath(c, p))]);
        } catch (error) {
          return enumValue('Result', 'Err', [`Failed to read file ${text(p)}: ${errorDetail(error)}`]);
        }
      },
    },
    read_file_bytes: {
      signature: '(path: any) -> bytes',
      doc: 'The bytes of a file.',
      call: (c, _d, p) => orThrow(`Failed to read file ${text(p)}`, () => c.run.platform.files.readBytes(absolutePath(c, p))),
    },
    read_lines: {
      signature: '(path: any) -> list<string>',
      doc: 'The lines of a file without their ends.',
      call: (c, _d, p) => linesOf(orThrow(`Failed to read file ${text(p)}`, () => c.run.platform.files.readText(absolutePath(c, p)))),
    },
    write_file: {
      signature: '(path: any, content: any) -> nil',
      doc: 'Replaces the content of a file. Folders are not created.',
      call: (c, _d, p, content) =>
        orThrow(`Failed to write file ${text(p)}`, () => c.run.platform.files.write(absolutePath(c, p), text(content))),
    },
    write_file_bytes: {
      signature: '(path: any, content: any) -> nil',
      doc: 'Replaces the content of a file by bytes.',
      call: (c, _d, p, content) =>
        orThrow(`Failed to write file ${text(p)}`, () =>
          c.run.platform.files.write(absolutePath(c, p), content instanceof Uint8Array ? content : text(content)),
        ),
    },
    append_file: {
      signature: '(path: any, content: any) -> nil',
      doc: 'Adds text at the end of a file, which is created when missing.',
      call: (c, _d, p, content) =>
        orThrow(`Failed to open file ${text(p)}`, () => c.run.platform.files.append(absolutePath(c, p), text(content))),
    },
    copy_file: {
      signature: '(source: any, target: any) -> nil',
      doc: 'Copies a file.',
      call: (c, _d, from, to) =>
        orThrow(`Failed to copy ${text(from)} to ${text(to)}`, () => c.run.platform.files.copy(absolutePath(c, from), absolutePath(c, to))),
    },
    move_file: {
      signature: '(source: any, target: any) -> nil',
      doc: 'Moves or renames a file.',
      call: (c, _d, from, to) =>
        orThrow(`Failed to move ${text(from)} to ${text(to)}`, () =>
          c.run.platform.files.rename(absolutePath(c, from), absolutePath(c, to)),
        ),
    },
    delete_file: {
      signature: '(path: any) -> nil',
      doc: 'Removes a file, or a directory with all it holds.',
      call: (c, _d, p) => removeFile(c, p),
    },
    file_exists: {
      signature: '(path: any) -> bool',
      doc: 'True when something is there.',
      call: (c, _d, p) => c.run.platform.files.exists(absolutePath(c, p)),
    },
    mkdir: {
      signature: '(path: any) -> nil',
      doc: 'Creates a directory with its parents; an existing one is fine.',
      call: (c, _d, p) => orThrow(`Failed to create directory ${text(p)}`, () => c.run.platform.files.mkdir(absolutePath(c, p))),
    },
    list_dir: {
      signature: '(path: any = ".") -> list<string>',
      doc: 'Names in a directory, sorted.',
      call: (c, _d, p) =>
        orThrow(`Failed to list directory ${p === undefined ? '.' : text(p)}`, () =>
          c.run.platform.files.list(absolutePath(c, p ?? '.')).sort(),
        ),
    },
    walk_dir: {
      signature: '(root: any, options: any = nil) -> list<dict> | dict',
      doc: '`{path, is_dir, is_file, depth}` of everything below a directory, itself included. With `background: true` the handle of the work, whose result comes to the loop as feedback.',
      colour: 'async',
      call: (c, _d, root, options) => {
        if (root === undefined || text(root) === '') throw thrownText('walk_dir: root path is required');
        if (wantsBackground(options)) {
          const run = (inside: Context): Value => walk(inside, text(root), walkOptions(options));
          return inBackground(c, options, { operation: 'walk_dir', descriptor: `walk_dir ${text(root)}`, run });
        }
        return walk(c, text(root), walkOptions(options));
      },
    },
    glob: {
      signature: '(pattern: any, base: any = nil) -> list<string> | dict',
      doc: 'Paths of files that match, sorted. Instead of the base a dict: `base`, and `background: true` for the handle of the work, whose result comes to the loop as feedback.',
      colour: 'async',
      call: (c, _d, pattern, base) => {
        const root = base instanceof Dict ? dictGet(base, 'base') : base;
        if (!wantsBackground(base)) return globFiles(c, text(pattern), root);
        const run = (inside: Context): Value => globFiles(inside, text(pattern), root);
        return inBackground(c, base, { operation: 'glob', descriptor: `glob ${text(pattern)}`, run });
      },
    },
    stat: {
      signature: '(path: any) -> dict',
      doc: '`{size, is_file, is_dir, readonly, modified}`; modified in seconds.',
      call: (c, _d, p) => {
        const stat = orThrow(`Failed to stat ${text(p)}`, () => {
          const found = c.run.platform.files.stat(absolutePath(c, p));
          if (found === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' });
          return found;
        });
        return dictOf([
          ['size', stat.sizeBytes],
          ['is_file', stat.isFile],
          ['is_dir', stat.isDirectory],
          ['readonly', stat.readonly],
          ['modified', new Float(stat.modifiedAt / 1000)],
        ]);
      },
    },
    temp_dir: { signature: '() -> string', doc: 'The directory for temporary files.', call: (c) => c.run.platform.files.tempDirectory() },
    path_join: {
      signature: '(...parts: any) -> string',
      doc: 'The parts as one path; an absolute part starts again.',
      call: (_c, _d, ...parts) => joinPaths(parts.map(text)),
    },
    dirname: {
      signature: '(path: any) -> string',
      doc: 'The path without its last part; empty when there is none.',
      call: (_c, _d, p) => parentOf(text(p)),
    },
    basename: { signature: '(path: any) -> string', doc: 'The last part of a path.', call: (_c, _d, p) => path.basename(text(p)) },
    extname: {
      signature: '(path: any) -> string',
      doc: 'The extension with its dot; empty when there is none.',
      call: (_c, _d, p) => path.extname(text(p)),
    },
    path_parent: { signature: '(path: any) -> string', doc: 'The path without its last part.', call: (_c, _d, p) => parentOf(text(p)) },
    path_basename: { signature: '(path: any) -> string', doc: 'The last part of a path.', call: (_c, _d, p) => path.basename(text(p)) },
    path_stem: {
      signature: '(path: any) -> string',
      doc: 'The last part without its extension.',
      call: (_c, _d, p) => path.parse(text(p)).name,
    },
    path_extension: { signature: '(path: any) -> string', doc: 'The extension with its dot.', call: (_c, _d, p) => path.extname(text(p)) },
    path_normalize: {
      signature: '(path: any) -> string',
      doc: 'With `/` as separator and `.` and `..` folded.',
      call: (_c, _d, p) => normalize(text(p)),
    },
    path_is_absolute: {
      signature: '(path: any) -> bool',
      doc: 'True for an absolute path.',
      call: (_c, _d, p) => isAbsolute(text(p)),
    },
    path_is_relative: {
      signature: '(path: any) -> bool',
      doc: 'True for a relative path.',
      call: (_c, _d, p) => !isAbsolute(text(p)),
    },
    path_to_posix: {
      signature: '(path: any) -> string',
      doc: 'With `/` as separator.',
      call: (_c, _d, p) => text(p).replaceAll('\\', '/'),
    },
    path_to_native: {
      signature: '(path: any) -> string',
      doc: 'With the separator of this system.',
      call: (c, _d, p) => (c.run.platform.system.platform === 'windows' ? text(p).replaceAll('/', '\\') : text(p)),
    },
    path_segments: {
      signature: '(path: any) -> list<string>',
      doc: 'The parts of a path.',
      call: (_c, _d, p) => segmentsOf(text(p)),
    },
    path_with_extension: {
      signature: '(path: any, extension: any) -> string',
      doc: 'With another extension.',
      call: (_c, _d, p, extension) => withExtension(text(p), text(extension)),
    },
    path_with_stem: {
      signature: '(path: any, stem: any) -> string',
      doc: 'With another name before the extension.',
      call: (_c, _d, p, stem) => path.join(parentOf(text(p)), text(stem) + path.extname(text(p))),
    },
    path_relative_to: {
      signature: '(path: any, base: any) -> string | nil',
      doc: 'The way from a base to a path; nil when only one of them is absolute.',
      call: (_c, _d, p, base) => relativeTo(normalize(text(p)), normalize(text(base))),
    },
    path_parts: {
      signature: '(path: any) -> dict',
      doc: '`{dir, file, stem, ext, segments}` of a path.',
      call: (_c, _d, p) => {
        const parsed = path.parse(text(p));
        return dictOf([
          ['dir', parsed.dir],
          ['file', parsed.base],
          ['stem', parsed.name],
          ['ext', parsed.ext],
          ['segments', segmentsOf(text(p))],
        ]);
      },
    },
    path_workspace_info: {
      signature: '(path: any, root: any = nil) -> dict',
      doc: 'What a path is to a workspace: `kind` is `workspace_relative`, `host_absolute` or `invalid` with a `reason`.',
      call: (c, _d, p, root) => workspaceInfo(workspacePath(c, p, root)),
    },
    path_workspace_normalize: {
      signature: '(path: any, root: any = nil) -> string | nil',
      doc: 'The path within the workspace; nil when it lies outside.',
      call: (c, _d, p, root) => {
        const found = workspacePath(c, p, root);
        return found.kind === 'invalid' ? undefined : found.workspacePath;
      },
    },
    cwd: { signature: '() -> string', doc: 'The execution directory.', call: (c) => executionRoot(c) },
    execution_root: { signature: '() -> string', doc: 'The execution directory.', call: (c) => executionRoot(c) },
    source_dir: {
      signature: '() -> string',
      doc: 'The directory of the file that contains the call.',
      forModule: (module) => () => module.directory,
    },
    asset_root: {
      signature: '() -> string',
      doc: 'The directory that assets of the script are found in.',
      forModule: (module) => () => module.directory,
    },
    project_root: {
      signature: '() -> string | nil',
      doc: 'The nearest ancestor of the script with harn.toml.',
      call: (c) => projectRoot(c),
    },
    runtime_paths: { signature: '() -> dict', doc: 'The directories that the runtime uses.', call: (c) => runtimePaths(c) },
  },
};

function workspacePath(context: Context, given: Value, root: Value): WorkspacePath {
  const { run } = context;
  const base = root === undefined ? (run.projectRoot ?? run.executionRoot) : absolutePath(context, root);
  return classifyPath(run.platform.files, base, text(given));
}

function workspaceInfo(found: WorkspacePath): Dict {
  if (found.kind === 'invalid') {
    return dictOf([
      ['kind', found.kind],
      ['reason', found.reason],
      ['workspace_path', undefined],
      ['host_path', undefined],
      ['recovered_root_drift', false],
    ]);
  }
  return dictOf([
    ['kind', found.kind],
    ['workspace_path', found.workspacePath],
    ['host_path', found.hostPath],
    ['recovered_root_drift', found.kind === 'workspace_relative' && found.recoveredRootDrift],
  ]);
}

function joinPaths(parts: readonly string[]): string {
  let result = '';
  for (const part of parts) result = path.isAbsolute(part) || result === '' ? part : `${result.replace(/\/$/, '')}/${part}`;
  return result;
}

function segmentsOf(value: string): string[] {
  return normalize(value)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
}

function parentOf(value: string): string {
  const parent = path.dirname(value);
  return parent === '.' && !value.startsWith('.') ? '' : parent;
}

function withExtension(value: string, extension: string): string {
  const parsed = path.parse(value);
  const dotted = extension === '' || extension.startsWith('.') ? extension : `.${extension}`;
  return path.join(parsed.dir, parsed.name + dotted);
}

function relativeTo(value: string, base: string): string | undefined {
  return path.isAbsolute(value) === path.isAbsolute(base) ? path.relative(base, value) : undefined;
}
