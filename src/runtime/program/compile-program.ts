import { lookupIn } from '../../base/lookup.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { HarnessColours } from '../../language/colour.ts';
import { type ClosureAlone, type EmittedModule, emitClosureAlone, type PreparedModule, prepareModule } from '../../language/emit.ts';
import type { EmitEnvironment, ImportedName } from '../../language/emit-context.ts';
import { isProducer } from '../../language/walk.ts';
import type { Files } from '../../platform/platform.ts';
import { namespaceMembers } from '../builtin-access.ts';
import { BUILTIN_INDEX } from '../builtin-index.ts';
import { isStackOverflow } from '../caught.ts';
import { GLOBAL_NAMES } from '../globals.ts';
import { harnessMethodWaits, harnessPartNames, isHarnessPart } from '../harness-methods.ts';
import { checkGraph } from './check-graph.ts';
import { declaredNames, exportedNames, ImportFailure, importedNames, type ModuleNames } from './module-names.ts';
import { type CompiledImport, type CompiledModule, type CompiledProgram, ProgramRejected } from './program.ts';
import { readGraph, type SourceGraph, type SourceModule } from './source-graph.ts';

export interface CompileOptions {
  readonly forceAsync?: boolean;
  /** Checks the graph; errors refuse the program, warnings are kept. The gradual checker unless something else is given. */
  readonly check?: (graph: SourceGraph) => readonly Diagnostic[];
}

/**
 * Source to JavaScript: read the graph of modules, check it, emit each module. Colours of imported functions must be
 * known before those of an importer, and whether any waiting function is used as a value must be known for all:
 * so modules are prepared in order, and once more when the first round found such a value.
 *
 * @throws ProgramRejected with everything that was found wrong
 */
export function compileProgram(files: Files, entryPath: string, entryText: string, options: CompileOptions = {}): CompiledProgram {
  try {
    return compile(files, entryPath, entryText, options);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    throw new ProgramRejected([tooDeep(entryPath)]);
  }
}

function tooDeep(path: string): Diagnostic {
  const message = 'The program is nested too deeply to be compiled';
  const help = 'give inner parts names of their own';
  return { severity: 'error', stage: 'compiler', message, help, path, span: { start: 0, end: 0, line: 1, column: 1 } };
}

function compile(files: Files, entryPath: string, entryText: string, options: CompileOptions): CompiledProgram {
  const graph = readGraph(files, entryPath, entryText);
  if (graph.diagnostics.length > 0) throw new ProgramRejected(graph.diagnostics);
  const found = (options.check ?? checkGraph)(graph);
  if (found.some(({ severity }) => severity === 'error')) throw new ProgramRejected(found);
  const emitted = emitProgram(graph, options.forceAsync === true);
  const problems = problemsOf(emitted);
  if (problems.length > 0) throw new ProgramRejected(problems);
  const modules = graph.order.map((module) => compiled(module, emitted.get(module) as EmittedModule));
  return { entryPath: graph.entry.path, modules, warnings: found, probes: graph.probes };
}

/** What only compiling finds wrong with a program that the checker let pass, such as a `break` outside of a loop. */
export function compileProblems(graph: SourceGraph): readonly Diagnostic[] {
  try {
    return problemsOf(emitProgram(graph, false));
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    return [tooDeep(graph.entry.path)];
  }
}

function emitProgram(graph: SourceGraph, forceAsync: boolean): ReadonlyMap<SourceModule, EmittedModule> {
  return new Map([...prepareProgram(graph, forceAsync)].map(([module, { emit }]) => [module, emit()]));
}

function problemsOf(emitted: ReadonlyMap<SourceModule, EmittedModule>): Diagnostic[] {
  return [...emitted].flatMap(([module, { problems }]) => problems.map((problem) => ({ ...problem, path: module.path })));
}

/** JavaScript of single closures of a program (see `emitClosureAlone`), for binding them again. */
export interface ClosureSources {
  source(modulePath: string, offset: number): ClosureAlone | undefined;
}

/** Reads the program once more for the closures that a snapshot names. */
export function closureSources(files: Files, entryPath: string, entryText: string): ClosureSources {
  const graph = readGraph(files, entryPath, entryText);
  const facts: GraphFacts = { ...graphFacts(graph), asyncCallables: true, asyncParts: true, forceAsync: false };
  const prepared = prepareAll(graph, facts);
  return {
    source(modulePath, offset) {
      const module = graph.order.find(({ path }) => path === modulePath);
      return module && emitClosureAlone(module.program, environmentOf(module, graph, facts, prepared), module.names, offset);
    },
  };
}

function graphFacts(graph: SourceGraph): Pick<GraphFacts, 'asyncIterables' | 'recordsCaptures'> {
  return { asyncIterables: graph.order.some(({ names }) => names.producesIterables), recordsCaptures: usesAgents(graph) };
}

interface GraphFacts {
  readonly asyncCallables: boolean;
  readonly asyncParts: boolean;
  readonly asyncIterables: boolean;
  readonly recordsCaptures: boolean;
  readonly forceAsync: boolean;
}

/** Can any loop be parked by this program? Then closures remember what they captured. */
function usesAgents(graph: SourceGraph): boolean {
  return graph.order.some(({ text }) => /\b(?:agent_loop|spawn_agent|sub_agent_run|tool_define|daemon_spawn|tool)\b/.test(text));
}

function prepareAll(graph: SourceGraph, facts: GraphFacts): Map<SourceModule, PreparedModule> {
  const prepared = new Map<SourceModule, PreparedModule>();
  for (const module of graph.order) {
    const environment = environmentOf(module, graph, facts, prepared);
    prepared.set(module, prepareModule(module.program, environment, module.names));
  }
  return prepared;
}

/**
 * Every module with the colours that hold in the whole program. The host hands waiting functions (`next` of an
 * `llm_caller`) to closures of programs with agents, so there unknown callees may wait from the start.
 */
function prepareProgram(graph: SourceGraph, forceAsync: boolean): Map<SourceModule, PreparedModule> {
  const known = graphFacts(graph);
  const first: GraphFacts = { ...known, forceAsync, asyncCallables: forceAsync || known.recordsCaptures, asyncParts: forceAsync };
  const prepared = prepareAll(graph, first);
  const values = [...prepared.values()].map(({ asyncValues }) => asyncValues);
  const asyncParts = first.asyncParts || values.some(({ parts }) => parts);
  const asyncCallables = first.asyncCallables || asyncParts || values.some(({ callables }) => callables);
  if (asyncCallables === first.asyncCallables && asyncParts === first.asyncParts) return prepared;
  return prepareAll(graph, { ...first, asyncCallables, asyncParts });
}

const BUILTIN_COLOURS = lookupIn(BUILTIN_INDEX, ([, colour]) => colour);

const HARNESS: HarnessColours = {
  isPart: isHarnessPart,
  waits: harnessMethodWaits,
  waitsAnywhere: (method) =>
    harnessPartNames().some((part) => harnessMethodWaits(part, method)) ||
    [...GLOBAL_NAMES].some((name) => BUILTIN_COLOURS.get(`${name}.${method}`) === 'async'),
  isNamespace: (name) => name !== 'harness' && GLOBAL_NAMES.has(name) && namespaceMembers(name).length > 0,
};

function environmentOf(
  module: SourceModule,
  graph: SourceGraph,
  facts: GraphFacts,
  prepared: ReadonlyMap<SourceModule, PreparedModule>,
): EmitEnvironment {
  const names = visibleNames(module);
  const imports = new Map<string, ImportedName>();
  const asyncImports = new Set<string>();
  const asyncMethods = new Set<string>();
  const offered = offeredNames(module);
  for (const [name, item] of names.values) {
    const fact = prepared.get(item.home)?.functions.find((candidate) => candidate.name === name);
    // A module of a cycle that is not prepared yet may do anything.
    const isFunction = item.declaration.kind === 'Function';
    const isAsync = fact?.isAsync ?? (isFunction && !isProducer(item.declaration));
    const index = indexOfImport(module, offered, name);
    imports.set(name, { module: index, name, kind: isFunction ? 'function' : 'value', isAsync, bounces: fact?.bounces ?? true });
    if (isAsync) asyncImports.add(name);
  }
  for (const { module: target } of module.imports) {
    for (const name of (target && prepared.get(target)?.asyncMethods) ?? []) asyncMethods.add(name);
  }
  return {
    role: module === graph.entry ? 'entry' : 'module',
    builtins: BUILTIN_COLOURS,
    asyncImports,
    asyncMethods,
    asyncCallables: facts.asyncCallables,
    asyncParts: facts.asyncParts,
    asyncIterables: facts.asyncIterables,
    forceAsync: facts.forceAsync,
    recordsCaptures: facts.recordsCaptures,
    imports,
    importedEnums: names.enums,
    importedStructs: names.structs,
    importedInterfaces: names.interfaces,
    importedAliases: names.aliases,
    globals: GLOBAL_NAMES,
    harness: HARNESS,
  };
}

function visibleNames(module: SourceModule): ModuleNames {
  try {
    return importedNames(module);
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    throw new ProgramRejected([error.diagnostic]);
  }
}

/** The names that each import of a module offers; undefined for a selective import, which offers what it asks for. */
function offeredNames(module: SourceModule): (ReadonlySet<string> | undefined)[] {
  return module.imports.map(({ node, module: target }) =>
    node.names !== undefined || target === undefined ? undefined : new Set(exportedNames(target).values.keys()),
  );
}

/** The first import through which the name comes; its record exports the name too when it re-exports it. */
function indexOfImport(module: SourceModule, offered: readonly (ReadonlySet<string> | undefined)[], name: string): number {
  return module.imports.findIndex(({ node }, index) => offered[index]?.has(name) ?? node.names?.some(({ text }) => text === name));
}

function compiled(module: SourceModule, emitted: EmittedModule): CompiledModule {
  const imports = module.imports.map(({ node, module: target, failure }): CompiledImport => {
    const names =
      node.isPublic && target !== undefined
        ? reexportsOf(
            module,
            node.names?.map(({ text }) => text),
            target,
          )
        : [];
    return { path: target?.path, failure, reexports: names };
  });
  return {
    path: module.path,
    directory: module.directory,
    text: module.text,
    js: emitted.js,
    places: emitted.places,
    facts: emitted.facts,
    imports,
  };
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
