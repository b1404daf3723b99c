import { dirname, isAbsolute, join } from 'node:path';
import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import type { RebindRequest } from '../../lifecycle/lifecycle.ts';
import type { FileStat, Files } from '../../platform/platform.ts';
import { snapshotError } from '../../store/snapshot-error.ts';
import type { Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { argumentForms } from '../program/module-record.ts';
import { type CompiledProgram, ProgramRejected } from '../program/program.ts';
import { programSource } from '../program/program-source.ts';
import { parametersSha256 } from './agent-live.ts';

/**
 * The program of a parked loop as it is now, compared with what the snapshot says of it (spec/agents.md 5.12 steps 2
 * and 4). Nothing here runs any of it: a restore goes on from here, and an operator who only asks stops here.
 */
export interface LocatedProgram {
  readonly entry: FoundModule;
  /** By the path that the snapshot stored. */
  readonly modules: ReadonlyMap<string, FoundModule>;
  /** Stored paths of modules whose text is another one now. */
  readonly changed: readonly string[];
}

export interface FoundModule {
  /** Where it is, or was: relative imports and `source_dir()` start here. */
  readonly path: string;
  readonly text: string;
  /** Its file is gone; the text comes from the snapshot. */
  readonly isEmbedded: boolean;
  readonly isChanged: boolean;
  /** The text at the time of the park: closures are found in it by their offset. Undefined when nobody has it any more. */
  readonly original: string | undefined;
}

/** @throws HarnError `HARN-SUS-004`, reason `program`: a module is lost, or one changed under HARN_RESUME_STRICT */
export function locateProgram(run: Run, request: RebindRequest, facts: JsonObject): LocatedProgram {
  const saved = objectsOf(facts.modules);
  const modules = new Map(saved.map((module): [string, FoundModule] => [String(module.path), findModule(run, request, module)]));
  const entry = modules.get(String(facts.script_path)) ?? [...modules.values()][0];
  if (entry === undefined) throw programFault(request, 'program', 'the snapshot names no script');
  const changed = [...modules].filter(([, { isChanged }]) => isChanged).map(([stored]) => stored);
  if (changed.length > 0 && run.platform.env.get('HARN_RESUME_STRICT') === '1') {
    throw programFault(request, 'program', `${changed.join(', ')} changed since the loop was parked`);
  }
  return { entry, modules, changed };
}

/** The first candidate that exists: beside the snapshot's project, in the current project, as written, embedded. */
function findModule(run: Run, request: RebindRequest, module: JsonObject): FoundModule {
  const { files } = run.platform;
  const stored = String(module.path);
  const local = fromDrive(stored);
  const candidates = isAbsolute(local) ? [local] : projectRoots(run, request).map((root) => join(root, local));
  const found = candidates.find((path) => files.stat(path)?.isFile === true);
  const path = found ?? candidates[0] ?? local;
  if (found === undefined && typeof module.source !== 'string')
    throw programFault(request, 'program', `the source of ${stored} is missing`);
  const text = found === undefined ? String(module.source) : files.readText(found);
  const isChanged = sha256(text) !== module.sha256;
  const original = typeof module.source === 'string' ? module.source : isChanged ? undefined : text;
  return { path, text, isEmbedded: found === undefined, isChanged, original };
}

/** A snapshot of Windows may name `C:\\work\\main.harn`: elsewhere that is no place, but its folders still tell what lies beside what. */
function fromDrive(stored: string): string {
  return !isAbsolute(stored) && /^[A-Za-z]:\\/.test(stored) ? stored.replaceAll('\\', '/') : stored;
}

/** The parent of the `.harn` folder that holds the snapshot comes first: the snapshot may have moved with its project. */
function projectRoots(run: Run, { snapshotPath }: RebindRequest): string[] {
  const roots: string[] = [];
  for (let folder = dirname(snapshotPath); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder.endsWith('.harn')) roots.push(dirname(folder));
  }
  return [...roots, ...(run.projectRoot === undefined ? [] : [run.projectRoot]), run.platform.files.cwd()];
}

/** @throws HarnError `HARN-SUS-004`, reason `program`, when it no longer compiles */
export async function compileParked(run: Run, request: RebindRequest, { entry, modules }: LocatedProgram): Promise<CompiledProgram> {
  const embedded = [...modules.values()].filter(({ isEmbedded }) => isEmbedded).map(({ path, text }) => [path, text] as const);
  try {
    // A program with texts that are in no file is in no cache either.
    if (embedded.length === 0) return await programSource(run).compile(entry.path, entry.text);
    const { compileProgram } = await import('../program/compile-program.ts');
    return compileProgram(withSources(run.platform.files, embedded), entry.path, entry.text);
  } catch (error) {
    const cause = error instanceof ProgramRejected ? 'the script no longer compiles' : 'the script cannot be loaded';
    throw programFault(request, 'program', `${cause}: ${errorText(error)}`, error);
  }
}

/** A tool that a changed script no longer offers as the parked loop knows it. */
export interface ToolMisfit {
  readonly name: string;
  readonly problem: 'gone' | 'parameters';
}

/** A changed script may go on as long as every declared tool is still there with the same parameters (5.12 step 4). */
export function toolMisfits(facts: JsonObject, { modules, changed }: LocatedProgram, program: CompiledProgram): ToolMisfit[] {
  if (changed.length === 0) return [];
  return objectsOf(facts.tools).flatMap((tool): ToolMisfit[] => {
    const { name, binding, module, symbol, schema_sha256 } = tool;
    if (binding !== 'declared' || typeof symbol !== 'string') return [];
    const path = modules.get(String(module))?.path;
    const parameters = program.modules.find((candidate) => candidate.path === path)?.facts.tools?.[symbol];
    if (parameters === undefined) return [{ name: String(name), problem: 'gone' }];
    const isSame = parametersSha256(dictOf([['parameters', argumentForms(parameters)]]), sha256) === schema_sha256;
    return isSame ? [] : [{ name: String(name), problem: 'parameters' }];
  });
}

export function misfitFault(request: RebindRequest, { name, problem }: ToolMisfit): Error {
  const what = problem === 'gone' ? 'is gone' : 'takes other parameters';
  return programFault(request, 'program', `the script changed and the tool ${name} ${what}`);
}

/** Tools without which the loop cannot end: one of them that cannot be bound again refuses the resume. */
export function neededTools(options: JsonObject): ReadonlySet<Json> {
  return new Set([...listOfJson(options.stop_after_successful_tools), ...listOfJson(options.require_successful_tools)]);
}

/** Tools of hosts, servers and providers have no handler of the script. */
export function isForeignTool({ executor }: JsonObject): boolean {
  return executor === 'host_bridge' || executor === 'mcp_server' || executor === 'provider_native';
}

export function unboundToolFault(request: RebindRequest, name: string): Error {
  return programFault(request, 'tools', `the tool ${name} cannot be bound again`);
}

export function programFault(request: RebindRequest, reason: 'program' | 'tools' | 'closures', cause: string, causedBy?: unknown): Error {
  return snapshotError(reason, cause, { target: request.target, path: request.snapshotPath, workerId: request.workerId, causedBy });
}

/** Files as they are but for these texts. A proxy, because `Files` may be a class. */
export function withSources(files: Files, sources: Iterable<readonly [path: string, text: string]>): Files {
  const texts = new Map(sources);
  if (texts.size === 0) return files;
  const overlay: Partial<Files> = {
    readText: (path) => texts.get(path) ?? files.readText(path),
    exists: (path) => texts.has(path) || files.exists(path),
    stat: (path) => files.stat(path) ?? (texts.has(path) ? EMBEDDED : undefined),
    realPath: (path) => (texts.has(path) ? path : files.realPath(path)),
  };
  return new Proxy(files, {
    get: (target, key) => {
      const member: unknown = Reflect.get(overlay, key) ?? Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const EMBEDDED: FileStat = {
  sizeBytes: 0,
  isFile: true,
  isDirectory: false,
  isSymbolicLink: false,
  readonly: true,
  modifiedAt: 0,
  mode: 0o400,
};

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function listOfJson(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
