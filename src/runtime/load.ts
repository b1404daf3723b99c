import { Script } from 'node:vm';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { isProducer } from '../language/colour.ts';
import { type EmittedModule, emitModule, type ModuleFacts, producesIterables } from '../language/emit.ts';
import type { EmitEnvironment, ImportedName } from '../language/emit-context.ts';
import type { Files } from '../platform/platform.ts';
import { loadBuiltins } from './builtin-access.ts';
import { BUILTIN_INDEX } from './builtin-index.ts';
import type { Context, Run } from './context.ts';
import { GLOBAL_NAMES } from './globals.ts';
import { declaredNames, type Exported, ImportFailure, importedNames, type ModuleNames } from './module-names.ts';
import { ModuleRecord } from './module-record.ts';
import { readGraph, type SourceGraph, type SourceModule } from './source-graph.ts';
import { createSupport } from './support.ts';
import type { Value } from './value.ts';

/** A program ready to run: JavaScript of all its modules, in the order in which they are initialised. */
export interface CompiledProgram {
  readonly entryPath: string;
  readonly modules: readonly CompiledModule[];
  readonly warnings: readonly Diagnostic[];
}

export interface CompiledModule {
  readonly path: string;
  readonly directory: string;
  readonly text: string;
  readonly js: string;
  readonly facts: ModuleFacts;
  /** One per import of the module, in source order. */
  readonly imports: readonly CompiledImport[];
}

export interface CompiledImport {
  /** Path of the imported module; undefined when it is missing. */
  readonly path: string | undefined;
  /** What running the import fails with. */
  readonly failure: string | undefined;
  readonly line: number;
  /** Names that must be exported again, with the modules that declare them. */
  readonly reexports: readonly { readonly name: string; readonly home: string }[];
}

/** The program was refused before anything ran. */
export class ProgramRejected extends Error {
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics[0]?.message ?? 'the program was refused');
    this.diagnostics = diagnostics;
  }
}

export interface CompileOptions {
  readonly forceAsync?: boolean;
  /** Checks the graph; errors refuse the program, warnings are kept. */
  readonly check?: (graph: SourceGraph) => readonly Diagnostic[];
}

/**
 * Source to JavaScript: read the graph of modules, check it, emit each module. Colours of imported functions must be
 * known before an importer is emitted, and whether any waiting function is used as a value must be known for all:
 * so modules are emitted in order, and once more when the first round found such a value.
 *
 * @throws ProgramRejected with everything that was found wrong
 */
export function compileProgram(files: Files, entryPath: string, entryText: string, options: CompileOptions = {}): CompiledProgram {
  const graph = readGraph(files, entryPath, entryText);
  if (graph.diagnostics.length > 0) throw new ProgramRejected(graph.diagnostics);
  const found = options.check?.(graph) ?? [];
  if (found.some(({ severity }) => severity === 'error')) throw new ProgramRejected(found);
  const asyncIterables = graph.order.some(({ program }) => producesIterables(program));
  const recordsCaptures = usesAgents(graph);
  const emit = (asyncCallables: boolean): Map<SourceModule, EmittedModule> =>
    emitAll(graph, { asyncCallables, asyncIterables, recordsCaptures, forceAsync: options.forceAsync === true });
  let emitted = emit(options.forceAsync === true);
  if ([...emitted.values()].some(({ facts }) => facts.hasAsyncValues)) emitted = emit(true);
  const problems = graph.order.flatMap((module) =>
    (emitted.get(module)?.problems ?? []).map((problem) => ({ ...problem, path: module.path })),
  );
  if (problems.length > 0) throw new ProgramRejected(problems);
  const modules = graph.order.map((module) => compiled(module, emitted.get(module) as EmittedModule));
  return { entryPath: graph.entry.path, modules, warnings: found };
}

interface GraphFacts {
  readonly asyncCallables: boolean;
  readonly asyncIterables: boolean;
  readonly recordsCaptures: boolean;
  readonly forceAsync: boolean;
}

/** Can any loop be parked by this program? Then closures remember what they captured. */
function usesAgents(graph: SourceGraph): boolean {
  return graph.order.some(({ text }) => /\b(?:agent_loop|spawn_agent|sub_agent_run|tool_define|daemon_spawn|tool)\b/.test(text));
}

function emitAll(graph: SourceGraph, facts: GraphFacts): Map<SourceModule, EmittedModule> {
  const emitted = new Map<SourceModule, EmittedModule>();
  for (const module of graph.order) emitted.set(module, emitModule(module.program, environmentOf(module, graph, facts, emitted)));
  return emitted;
}

const BUILTIN_COLOURS = new Map(Object.entries(BUILTIN_INDEX).map(([name, [, colour]]) => [name, colour]));

function environmentOf(
  module: SourceModule,
  graph: SourceGraph,
  facts: GraphFacts,
  emitted: ReadonlyMap<SourceModule, EmittedModule>,
): EmitEnvironment {
  const names = visibleNames(module);
  const imports = new Map<string, ImportedName>();
  const asyncImports = new Set<string>();
  const asyncMethods = new Set<string>();
  for (const [name, item] of names.values) {
    const fact = emitted.get(item.home)?.facts.functions.find((candidate) => candidate.name === name);
    // A module of a cycle that is not emitted yet may do anything.
    const isFunction = item.declaration.kind === 'Function';
    const isAsync = fact?.isAsync ?? (isFunction && !isProducer(item.declaration));
    const index = indexOfImport(module, item);
    imports.set(name, { module: index, name, kind: isFunction ? 'function' : 'value', isAsync, bounces: fact?.bounces ?? true });
    if (isAsync) asyncImports.add(name);
  }
  for (const { module: target } of module.imports) {
    for (const name of (target && emitted.get(target)?.facts.asyncMethods) ?? []) asyncMethods.add(name);
  }
  return {
    role: module === graph.entry ? 'entry' : 'module',
    builtins: BUILTIN_COLOURS,
    asyncImports,
    asyncMethods,
    asyncCallables: facts.asyncCallables,
    asyncIterables: facts.asyncIterables,
    forceAsync: facts.forceAsync,
    recordsCaptures: facts.recordsCaptures,
    imports,
    importedEnums: names.enums,
    importedStructs: names.structs,
    importedInterfaces: names.interfaces,
    importedAliases: names.aliases,
    globals: GLOBAL_NAMES,
  };
}

function visibleNames(module: SourceModule): ModuleNames {
  try {
    return importedNames(module);
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    throw new ProgramRejected([importDiagnostic(error)]);
  }
}

function importDiagnostic(error: ImportFailure): Diagnostic {
  const span = { start: 0, end: 0, line: error.line, column: 1 };
  return { severity: 'error', stage: 'import', message: error.message, path: error.module.path, span };
}

/** The first import through which the name comes; its record exports the name too when it re-exports it. */
function indexOfImport(module: SourceModule, item: Exported): number {
  const index = module.imports.findIndex(({ node, module: target }) => {
    if (target === undefined) return false;
    if (node.names !== undefined) return node.names.some(({ text }) => text === item.name);
    return target === item.home || reexports(target, item, new Set());
  });
  return Math.max(0, index);
}

function reexports(module: SourceModule, item: Exported, seen: Set<SourceModule>): boolean {
  if (seen.has(module)) return false;
  seen.add(module);
  return module.imports.some(
    ({ node, module: target }) => node.isPublic && target !== undefined && (target === item.home || reexports(target, item, seen)),
  );
}

function compiled(module: SourceModule, emitted: EmittedModule): CompiledModule {
  const imports = module.imports.map(({ node, module: target, message }): CompiledImport => {
    const names =
      node.isPublic && target !== undefined
        ? reexportsOf(
            module,
            node.names?.map(({ text }) => text),
            target,
          )
        : [];
    return { path: target?.path, failure: message, line: node.span.line, reexports: names };
  });
  return { path: module.path, directory: module.directory, text: module.text, js: emitted.js, facts: emitted.facts, imports };
}

function reexportsOf(module: SourceModule, names: readonly string[] | undefined, target: SourceModule): { name: string; home: string }[] {
  const visible = importedNames({ ...module, imports: module.imports.filter((item) => item.module === target) }).values;
  const own = declaredNames(target).values;
  const wanted = names ?? [...visible.keys()];
  return wanted.flatMap((name) => {
    const item = visible.get(name) ?? own.get(name);
    return item === undefined ? [] : [{ name, home: item.home.path }];
  });
}

// ---- running ----

/** A program whose modules have been initialised. */
export interface LoadedProgram {
  readonly entry: ModuleRecord;
  readonly entryFacts: ModuleFacts;
  readonly modules: ReadonlyMap<string, ModuleRecord>;
  /** What the body of a script-mode entry ended with. */
  readonly value: Value;
}

type ModuleFunction = (
  support: unknown,
  module: ModuleRecord,
  context: Context,
  depth: number,
  mode: 'run' | 'declarations',
) => Promise<Value>;

/** Makes the JavaScript function of a module; `cached` is V8's code cache of the same text. */
export function instantiate(module: CompiledModule, cached?: Buffer): { readonly run: ModuleFunction; readonly script: Script } {
  const script = new Script(module.js, { filename: module.path, ...(cached === undefined ? {} : { cachedData: cached }) });
  return { run: script.runInThisContext() as ModuleFunction, script };
}

export interface LoadOptions {
  /** `declarations` makes functions and tools without running the body of a script (spec/agents.md 5.12). */
  readonly mode: 'run' | 'declarations';
  readonly instantiate?: (module: CompiledModule) => ModuleFunction;
}

/** Initialises all modules in order, the entry last. */
export async function loadProgram(run: Run, context: Context, program: CompiledProgram, options: LoadOptions): Promise<LoadedProgram> {
  await loadBuiltins(run, new Set(program.modules.flatMap(({ facts }) => facts.builtins)));
  const support = createSupport(run);
  const records = new Map(program.modules.map(({ path, directory }) => [path, new ModuleRecord(run, path, directory)]));
  const make = options.instantiate ?? ((module: CompiledModule) => instantiate(module).run);
  let value: Value;
  for (const module of program.modules) {
    const record = records.get(module.path) as ModuleRecord;
    connect(module, record, records);
    value = await make(module)(support, record, context, 0, options.mode);
    reexport(module, record, records);
  }
  const entry = program.modules.at(-1) as CompiledModule;
  return { entry: records.get(entry.path) as ModuleRecord, entryFacts: entry.facts, modules: records, value };
}

function connect(module: CompiledModule, record: ModuleRecord, records: ReadonlyMap<string, ModuleRecord>): void {
  for (const item of module.imports) {
    const target = item.path === undefined ? undefined : records.get(item.path);
    if (target === undefined) {
      const span = { start: 0, end: 0, line: item.line, column: 1 };
      throw new ProgramRejected([{ severity: 'error', stage: 'import', message: item.failure ?? 'Import error', path: module.path, span }]);
    }
    record.imported.push(target.exports);
    record.see(target);
  }
}

function reexport(module: CompiledModule, record: ModuleRecord, records: ReadonlyMap<string, ModuleRecord>): void {
  for (const { reexports: names } of module.imports) {
    for (const { name, home } of names) record.exports[name] = records.get(home)?.exports[name];
  }
}
