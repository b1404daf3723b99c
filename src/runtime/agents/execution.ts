import { posix as path } from 'node:path';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { processResult } from '../builtins/process.ts';
import type { Context, Run } from '../context.ts';
import { plainError } from '../errors.ts';
import { type Execution, executionEnv, executionRoot } from './execution-place.ts';

/** `execution` as a worker keeps it: variables by name alone, since their values may be secrets. */
export interface PreparedExecution {
  readonly execution: Execution;
  readonly record: JsonObject;
}

const KEYS = ['cwd', 'env', 'worktree'];
const WORKTREE_KEYS = ['repo', 'path', 'branch', 'base_ref', 'cleanup'];

/** @throws plain error for a key, directory or work tree that cannot be, before anything starts */
export async function prepareExecution(context: Context, given: JsonObject, operation: string): Promise<PreparedExecution> {
  refuseUnknown(given, KEYS, `${operation}: unknown execution key`);
  const worktree =
    given.worktree === undefined || given.worktree === null ? undefined : await createWorktree(context, given.worktree, operation);
  const named = worktree?.path ?? given.cwd;
  if (named !== undefined && named !== null && typeof named !== 'string') throw plainError(`${operation}: execution.cwd must be a string`);
  if (given.env !== undefined && given.env !== null && !isJsonObject(given.env))
    throw plainError(`${operation}: execution.env must be a dict`);
  const cwd = typeof named === 'string' ? path.resolve(executionRoot(context), named) : executionRoot(context);
  assertDirectory(context.run, cwd, `${operation}: execution.cwd`);
  const own = isJsonObject(given.env) ? given.env : {};
  const env = Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
  const record = { cwd, env: Object.keys(env).sort(), ...(worktree === undefined ? {} : { worktree }) };
  return { execution: { cwd, env: { ...executionEnv(context), ...env } }, record };
}

/**
 * The same place in another process; variables have the values that they have there.
 * @throws plain error when the directory is gone
 */
export function restoredExecution(run: Run, record: JsonObject): Execution {
  const cwd = typeof record.cwd === 'string' ? record.cwd : run.executionRoot;
  assertDirectory(run, cwd, 'the directory that it works in');
  const names = Array.isArray(record.env) ? record.env.filter((name) => typeof name === 'string') : [];
  const env = names.flatMap((name): [string, string][] => {
    const value = run.platform.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { cwd, env: Object.fromEntries(env) };
}

function assertDirectory({ platform }: Run, directory: string, what: string): void {
  if (platform.files.stat(directory)?.isDirectory !== true) throw plainError(`${what} ${directory} is not a directory`);
}

function refuseUnknown(given: JsonObject, known: readonly string[], text: string): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) throw plainError(`${text} \`${unknown}\``);
}

interface Worktree {
  readonly repo: string;
  readonly path: string;
  readonly cleanup: 'preserve' | 'remove';
  readonly [key: string]: string;
}

async function createWorktree(context: Context, given: unknown, operation: string): Promise<Worktree> {
  const settings = isJsonObject(given) ? given : {};
  refuseUnknown(settings, WORKTREE_KEYS, `${operation}: unknown worktree key`);
  const { repo, branch, base_ref: base = 'HEAD', cleanup = 'preserve' } = settings;
  if (typeof repo !== 'string' || typeof branch !== 'string')
    throw plainError(`${operation}: execution.worktree needs \`repo\` and \`branch\``);
  if (cleanup !== 'preserve' && cleanup !== 'remove') throw plainError(`${operation}: worktree.cleanup must be preserve or remove`);
  const root = path.resolve(executionRoot(context), repo);
  const target =
    typeof settings.path === 'string'
      ? path.resolve(executionRoot(context), settings.path)
      : path.join(context.run.stateRoot, 'worktrees', branch.replaceAll('/', '-'));
  context.run.platform.files.mkdir(path.dirname(target));
  const result = await git(context, root, ['worktree', 'add', '-b', branch, target, String(base)]);
  if (result.status !== 0) throw plainError(`${operation}: git worktree add failed: ${result.stderr.trim()}`);
  return { repo: root, path: target, branch, cleanup };
}

/** Takes a work tree away that was made for one worker and is not to be kept. */
export async function removeWorktree(context: Context, record: JsonObject): Promise<void> {
  const { worktree } = record;
  if (!isJsonObject(worktree) || worktree.cleanup !== 'remove') return;
  if (typeof worktree.repo !== 'string' || typeof worktree.path !== 'string') return;
  await git(context, worktree.repo, ['worktree', 'remove', '--force', worktree.path]);
}

function git(context: Context, cwd: string, args: readonly string[]): ReturnType<typeof processResult> {
  return processResult(context, { command: 'git', args, cwd, shell: false });
}
