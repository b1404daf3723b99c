import { dirname, isAbsolute, join } from 'node:path';
import { resolveModel } from '../agent/resolve-model.ts';
import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Rebinder, RebindRequest, Rebound } from '../lifecycle/lifecycle.ts';
import type { FileStat, Files } from '../platform/platform.ts';
import { snapshotError } from '../store/snapshot-error.ts';
import type { LoopPlace } from './agent-context.ts';
import { createLive, parametersSha256, restoredOptions, toolSlot } from './agent-live.ts';
import { sha256 } from './agent-program.ts';
import { agentServices } from './agent-services.ts';
import { agentValue, field } from './agent-values.ts';
import { decodeCaptures, type FunctionResolver } from './captured-value.ts';
import type { ClosureSources } from './compile-program.ts';
import type { Context, Run } from './context.ts';
import { copyDict, dictSet } from './dict.ts';
import { thrownText } from './errors.ts';
import { type LoadedProgram, loadProgram } from './load.ts';
import { limitsOf } from './loop-limits.ts';
import type { ModuleRecord } from './module-record.ts';
import { type CompiledProgram, ProgramRejected } from './program.ts';
import { programSource } from './program-source.ts';
import { ProgramFunctions } from './rebind.ts';
import { rootContext } from './task-context.ts';
import { Dict, type HarnFunction, type Value } from './value.ts';

/**
 * Makes a parked loop runnable in a process that never ran its script (spec/agents.md 5.12): load the program,
 * declarations only, find every tool and callback in it, and put the options together again.
 */
export function createRebinder(run: Run): Rebinder {
  return { rebind: (request) => rebind(run, request) };
}

async function rebind(run: Run, request: RebindRequest): Promise<Rebound> {
  const context = rootContext(run);
  const options = isJsonObject(request.config.options) ? request.config.options : {};
  const program = request.program === null ? undefined : await loadParked(run, context, request, request.program);
  const closures = program === undefined ? new Map<string, HarnFunction>() : bindClosures(program);
  const tools = restoreTools(request, options, program, closures);
  const sessionId = typeof request.config.session_id === 'string' ? request.config.session_id : '';
  const value = restoredOptions(agentValue(options), tools, closures);
  const place: LoopPlace = { kind: 'loop', workerId: request.workerId, sessionId, limits: limitsOf(value) };
  const live = createLive(context, value, place, request.daemon);
  const text = (key: string): string | undefined => (typeof options[key] === 'string' ? options[key] : undefined);
  const { models } = agentServices(run);
  await models.prepare?.();
  return {
    live,
    model: resolveModel(
      { provider: text('provider'), model: text('model'), modelTier: text('model_tier') },
      (name) => run.platform.env.get(name),
      models.settings,
    ),
    warnings: program?.warnings ?? [],
    resumeBy: live.callbacks.resumeBy,
  };
}

/** A program whose declarations have run, and what of it differs from what was parked. */
interface ParkedProgram {
  readonly facts: JsonObject;
  readonly resolver: FunctionResolver;
  readonly modules: ReadonlyMap<string, ModuleRecord>;
  readonly warnings: string[];
}

async function loadParked(run: Run, context: Context, request: RebindRequest, facts: JsonObject): Promise<ParkedProgram> {
  const saved = objectsOf(facts.modules);
  const places = new Map(saved.map((module): [string, FoundModule] => [String(module.path), findModule(run, request, module)]));
  const entry = places.get(String(facts.script_path)) ?? [...places.values()][0];
  if (entry === undefined) throw fault(request, 'program', 'the snapshot names no script');
  const changed = saved.map((module) => String(module.path)).filter((path) => places.get(path)?.isChanged === true);
  if (changed.length > 0 && run.platform.env.get('HARN_RESUME_STRICT') === '1') {
    throw fault(request, 'program', `${changed.join(', ')} changed since the loop was parked`);
  }
  const { loaded, functions } = await compileAndLoad(run, context, request, entry, places);
  await functions.prepare(closurePlaces(facts, places));
  const program: ParkedProgram = {
    facts,
    resolver: resolverFor(functions, places),
    modules: byStoredPath(loaded.modules, places),
    warnings: [],
  };
  if (changed.length > 0) {
    assertSameTools(request, program);
    program.warnings.push(`harn: ${changed.join(', ')} changed since the loop was parked; its tools still fit`);
  }
  return program;
}

interface FoundModule {
  /** Where it is, or was: relative imports and `source_dir()` start here. */
  readonly path: string;
  readonly text: string;
  readonly isChanged: boolean;
  /** The text at the time of the park: closures are found in it by their offset. Undefined when nobody has it any more. */
  readonly original: string | undefined;
}

/** The first candidate that exists: beside the snapshot's project, in the current project, as written, embedded. */
function findModule(run: Run, request: RebindRequest, module: JsonObject): FoundModule {
  const { files } = run.platform;
  const stored = String(module.path);
  const candidates = isAbsolute(stored) ? [stored] : [...projectRoots(run, request).map((root) => join(root, stored))];
  const found = candidates.find((path) => files.stat(path)?.isFile === true);
  const path = found ?? candidates[0] ?? stored;
  if (found === undefined && typeof module.source !== 'string') throw fault(request, 'program', `the source of ${stored} is missing`);
  const text = found === undefined ? String(module.source) : files.readText(found);
  const isChanged = sha256(text) !== module.sha256;
  const original = typeof module.source === 'string' ? module.source : isChanged ? undefined : text;
  return { path, text, isChanged, original };
}

/** The parent of the `.harn` folder that holds the snapshot comes first: the snapshot may have moved with its project. */
function projectRoots(run: Run, { snapshotPath }: RebindRequest): string[] {
  const roots: string[] = [];
  for (let folder = dirname(snapshotPath); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder.endsWith('.harn')) roots.push(dirname(folder));
  }
  return [...roots, ...(run.projectRoot === undefined ? [] : [run.projectRoot]), run.platform.files.cwd()];
}

async function compileAndLoad(
  run: Run,
  context: Context,
  request: RebindRequest,
  entry: FoundModule,
  places: ReadonlyMap<string, FoundModule>,
): Promise<{ readonly loaded: LoadedProgram; readonly functions: ProgramFunctions }> {
  const { files } = run.platform;
  const modules = [...places.values()];
  const embedded = modules.flatMap(({ path, text }): [string, string][] => (files.stat(path)?.isFile === true ? [] : [[path, text]]));
  const parked = modules.flatMap(({ path, original }): [string, string][] => (original === undefined ? [] : [[path, original]]));
  const sources = async (): Promise<ClosureSources> => {
    const { closureSources } = await import('./compile-program.ts');
    return closureSources(withSources(files, parked), entry.path, entry.original ?? entry.text);
  };
  try {
    const program = await compileWith(run, embedded, entry);
    const loaded = await loadProgram(run, context, program, { mode: 'declarations' });
    return { loaded, functions: new ProgramFunctions(run, loaded, sources) };
  } catch (error) {
    const why =
      error instanceof ProgramRejected
        ? `the script no longer compiles: ${error.message}`
        : `the script cannot be loaded: ${errorText(error)}`;
    throw fault(request, 'program', why, error);
  }
}

/** A program with texts that are in no file is in no cache either. */
async function compileWith(
  run: Run,
  embedded: readonly (readonly [string, string])[],
  { path, text }: FoundModule,
): Promise<CompiledProgram> {
  if (embedded.length === 0) return programSource(run).compile(path, text);
  const { compileProgram } = await import('./compile-program.ts');
  return compileProgram(withSources(run.platform.files, embedded), path, text);
}

/** Files as they are but for these texts. A proxy, because `Files` may be a class. */
function withSources(files: Files, sources: Iterable<readonly [path: string, text: string]>): Files {
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

/** Snapshots name modules by stored path; the program knows them by where they are now. */
function resolverFor(functions: ProgramFunctions, places: ReadonlyMap<string, FoundModule>): FunctionResolver {
  const here = (module: string): string => places.get(module)?.path ?? module;
  return {
    named: (module, symbol) => functions.named(here(module), symbol),
    closure: (module, offset, captures) => {
      const place = places.get(module);
      if (place?.isChanged === true && place.original === undefined)
        throw thrownText(`${module} changed, and the text that it had is lost`);
      return functions.closure(here(module), offset, captures);
    },
    builtin: (name) => functions.builtin(name),
    harness: (part) => functions.harness(part),
  };
}

function byStoredPath(
  modules: ReadonlyMap<string, ModuleRecord>,
  places: ReadonlyMap<string, FoundModule>,
): ReadonlyMap<string, ModuleRecord> {
  return new Map(
    [...places].flatMap(([stored, { path }]): [string, ModuleRecord][] => {
      const record = modules.get(path);
      return record === undefined ? [] : [[stored, record]];
    }),
  );
}

/** Where closures begin, those inside captures included. */
function closurePlaces(facts: JsonObject, places: ReadonlyMap<string, FoundModule>): { module: string; offset: number }[] {
  const found: { module: string; offset: number }[] = [];
  const visit = (value: Json | undefined): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isJsonObject(value)) return;
    const { module, offset } = value;
    if (typeof module === 'string' && typeof offset === 'number') found.push({ module: places.get(module)?.path ?? module, offset });
    for (const item of Object.values(value)) visit(item);
  };
  visit(facts.closures);
  return found;
}

function listOf(value: Value): readonly Value[] {
  return Array.isArray(value) ? value : [];
}

/** What can be bound, by slot; a slot that cannot be is left out. */
function bindClosures({ facts, resolver, warnings }: ParkedProgram): Map<string, HarnFunction> {
  const bound = new Map<string, HarnFunction>();
  for (const closure of objectsOf(facts.closures)) {
    const slot = String(closure.slot);
    try {
      bound.set(slot, bindClosure(closure, resolver));
    } catch (error) {
      if (!slot.startsWith('tools.')) warnings.push(`harn: ${slot} is not active after the restore: ${errorText(error)}`);
    }
  }
  return bound;
}

/** @throws what says why it cannot be bound */
function bindClosure(closure: JsonObject, resolver: FunctionResolver): HarnFunction {
  const [lost] = listOfJson(closure.unserialisable);
  if (lost !== undefined) throw thrownText(`capture ${String(lost)} was not serialisable`);
  if (typeof closure.builtin === 'string') return resolver.builtin(closure.builtin);
  const module = String(closure.module);
  if (typeof closure.symbol === 'string') return resolver.named(module, closure.symbol);
  return resolver.closure(module, Number(closure.offset), decodeCaptures(isJsonObject(closure.captures) ? closure.captures : {}, resolver));
}

/**
 * The entries of the registry again, each with its handler. One whose handler is lost becomes a stub that says so,
 * unless the loop cannot end without it.
 */
function restoreTools(
  request: RebindRequest,
  options: JsonObject,
  program: ParkedProgram | undefined,
  closures: ReadonlyMap<string, HarnFunction>,
): Value[] {
  const needed = new Set([...listOfJson(options.stop_after_successful_tools), ...listOfJson(options.require_successful_tools)]);
  return objectsOf(options.tools).map((entry) => {
    const name = String(entry.name);
    const value = agentValue(entry);
    if (!(value instanceof Dict) || isForeign(entry)) return value;
    const handler = closures.get(toolSlot(name));
    if (handler === undefined && needed.has(name)) throw fault(request, 'tools', `the tool ${name} cannot be bound again`);
    return dictSet(copyDict(value), 'handler', handler ?? stub(name, lostCapture(program, name)));
  });
}

/** Tools of hosts, servers and providers have no handler of the script. */
function isForeign({ executor }: JsonObject): boolean {
  return executor === 'host_bridge' || executor === 'mcp_server' || executor === 'provider_native';
}

function lostCapture(program: ParkedProgram | undefined, name: string): string | undefined {
  const closure = objectsOf(program?.facts.closures).find((one) => one.slot === toolSlot(name));
  const [path] = listOfJson(closure?.unserialisable);
  return typeof path === 'string' ? path : undefined;
}

function stub(name: string, capture: string | undefined): HarnFunction {
  const why = capture === undefined ? 'its handler could not be bound again' : `capture ${capture} was not serialisable`;
  const fn = (() => {
    throw thrownText(`tool ${name} cannot run after a cold restore: ${why}`);
  }) as unknown as HarnFunction;
  (fn as { meta: HarnFunction['meta'] }).meta = { kind: 'builtin', name, params: ['args'], isAsync: false };
  return fn;
}

/** A changed script may go on as long as every declared tool is still there with the same parameters (5.12 step 4). */
function assertSameTools(request: RebindRequest, { facts, modules }: ParkedProgram): void {
  for (const tool of objectsOf(facts.tools)) {
    if (tool.binding !== 'declared' || typeof tool.symbol !== 'string') continue;
    const entry = listOf(field(modules.get(String(tool.module))?.exports[tool.symbol], 'tools'))[0];
    if (entry === undefined) throw fault(request, 'program', `the script changed and the tool ${String(tool.name)} is gone`);
    if (parametersSha256(entry, sha256) !== tool.schema_sha256) {
      throw fault(request, 'program', `the script changed and the tool ${String(tool.name)} takes other parameters`);
    }
  }
}

function fault(request: RebindRequest, reason: 'program' | 'tools' | 'closures', cause: string, causedBy?: unknown): Error {
  return snapshotError(reason, cause, { target: request.target, path: request.snapshotPath, workerId: request.workerId, causedBy });
}

function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function listOfJson(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
