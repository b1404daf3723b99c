import { relative, sep } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Json, JsonObject } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import { encodeCaptures } from '../captured-value.ts';
import type { Run } from '../context.ts';
import { isUnfiled } from '../program/project-root.ts';
import { runningProgram } from '../program/running-program.ts';
import type { Value } from '../value.ts';
import { describeTools, type LiveClosure, liveClosures } from './agent-live.ts';

/**
 * The `program` block of a snapshot (spec/agents.md 4.7): which script declared the tools and callbacks of a loop,
 * and how each of them is found again in another process (agent-rebind.ts reads it).
 */

/** Sources up to this size in total go with the snapshot, so that it can be resumed without its files. */
const EMBEDDED_LIMIT = 1 << 20;

/** @param scriptHooks events for which the script has hooks: those of its body do not come back, which a resume says */
export function describeProgram(run: Run, options: Value, scriptHooks: readonly string[]): JsonObject | null {
  const program = runningProgram(run);
  if (program === undefined) return null;
  const own = [...program.modules].reverse().filter(({ path }) => !path.startsWith('std/'));
  const total = own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const [entry] = own;
  const script = storedPath(run, program.entryPath);
  return {
    harn_version: packageJson.version,
    language: 'harn/0.8',
    script_path: script.path,
    script_path_kind: script.kind,
    script_sha256: sha256(entry?.text ?? ''),
    entry: 'default',
    modules: own.map(
      ({ path, text }): Json => ({
        path: storedPath(run, path).path,
        sha256: sha256(text),
        source: total <= EMBEDDED_LIMIT ? text : null,
      }),
    ),
    tools: describeTools(options, sha256).map((tool) => withStoredModule(run, tool)),
    closures: liveClosures(options).map((closure) => describeClosure(run, closure)),
    argv: run.argv,
    ...(scriptHooks.length === 0 ? {} : { script_hooks: [...scriptHooks] }),
  };
}

/** Relative to the project, with `/`, where the file is in it: the project may be somewhere else at the resume. */
export function storedPath(run: Run, path: string): { readonly path: string; readonly kind: 'absolute' | 'project' } {
  const root = run.projectRoot ?? run.platform.files.cwd();
  const inside = relative(root, path);
  if (isUnfiled(path) || inside.startsWith('..') || inside === '') return { path, kind: 'absolute' };
  return { path: inside.split(sep).join('/'), kind: 'project' };
}

function withStoredModule(run: Run, tool: JsonObject): JsonObject {
  return typeof tool.module === 'string' ? { ...tool, module: storedPath(run, tool.module).path } : tool;
}

/** An entry of `program.closures` (4.7): where a function stands, and what it captured. */
export function describeClosure(run: Run, { slot, fn }: LiveClosure): JsonObject {
  const { origin, kind, name } = fn.meta;
  if (kind === 'builtin') return { slot, builtin: name, captures: null, unserialisable: [] };
  if (origin === undefined) return { slot, captures: null, unserialisable: ['the function itself'] };
  const module = storedPath(run, origin.module).path;
  if (origin.symbol !== undefined) return { slot, module, symbol: origin.symbol, captures: null, unserialisable: [] };
  return { slot, module, offset: origin.offset, ...encodeCaptures(fn.captures?.() ?? {}) };
}
