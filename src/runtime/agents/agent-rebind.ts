import { dirname } from 'node:path';
import { resolveModel } from '../../agent/providers/resolve-model.ts';
import { errorText, HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { PREDICATE_SLOT, type Rebinder, type RebindRequest, type Rebound } from '../../lifecycle/lifecycle.ts';
import { Opaque } from '../../lifecycle/spec-value.ts';
import { decodeCaptures, type FunctionResolver } from '../captured-value.ts';
import type { Context, Run } from '../context.ts';
import { copyDict, dictSet } from '../dict.ts';
import { thrownText } from '../errors.ts';
import type { ClosureSources } from '../program/compile-program.ts';
import { loadProgram } from '../program/load.ts';
import type { CompiledProgram } from '../program/program.ts';
import { findProjectRoot } from '../program/project-root.ts';
import { rootContext } from '../task-context.ts';
import { Dict, type HarnFunction, type Value } from '../value.ts';
import type { LoopPlace } from './agent-context.ts';
import { createLive, restoredOptions, toolSlot } from './agent-live.ts';
import { describeClosure } from './agent-program.ts';
import { agentServices } from './agent-services.ts';
import { agentValue } from './agent-values.ts';
import { restoredExecution } from './execution.ts';
import type { Execution } from './execution-place.ts';
import { noteRestoredProgram } from './loop-failures.ts';
import { limitsOf } from './loop-limits.ts';
import {
  compileParked,
  type FoundModule,
  isForeignTool,
  type LocatedProgram,
  listOfJson,
  locateProgram,
  misfitFault,
  neededTools,
  objectsOf,
  programFault,
  toolMisfits,
  unboundToolFault,
  withSources,
} from './parked-program.ts';
import { ProgramFunctions } from './rebind.ts';

/**
 * Makes a parked loop runnable in a process that never ran its script (spec/agents.md 5.12): load the program,
 * declarations only, find every tool and callback in it, and put the options together again.
 */
export function createRebinder(run: Run, hooks: RestoringHooks): Rebinder {
  return {
    rebind: (request) => rebind(run, request, hooks),
    rebindPredicate: (request) => rebindPredicate(run, request, hooks),
    // A callable of conditions is a closure of the script that parked.
    describe: (slot, callable) => describeClosure(run, { slot, fn: callable as HarnFunction }),
  };
}

/** The hooks of the process that restores a loop. */
export interface RestoringHooks {
  /** Told of the project of the loop, for the hooks of its manifest. */
  enterProject(root: string | undefined): void;
  /** Events for which scripts have hooks in this process. */
  scriptEvents(): readonly string[];
}

async function rebind(run: Run, request: RebindRequest, hooks: RestoringHooks): Promise<Rebound> {
  const context = rootContext(run);
  const options = isJsonObject(request.config.options) ? request.config.options : {};
  const program = request.program === null ? undefined : await loadParked(run, context, request, request.program, hooks);
  const closures = program === undefined ? new Map<string, HarnFunction>() : bindClosures(program);
  const tools = restoreTools(request, options, program, closures);
  const sessionId = typeof request.config.session_id === 'string' ? request.config.session_id : '';
  const value = restoredOptions(agentValue(withGraph(options, request.config.graph)), tools, closures);
  const place: LoopPlace = {
    kind: 'loop',
    workerId: request.workerId,
    sessionId,
    limits: limitsOf(value),
    execution: executionFor(run, request),
  };
  const live = createLive(context, value, place, request.daemon);
  return {
    live,
    model: await parkedModel(run, options),
    warnings: [...(program?.warnings ?? []), ...lostHooks(request, hooks)],
    predicate: predicateOf(closures),
  };
}

/** Hooks that only the body of the script registers hold no more; those of modules and of the manifest are there again. */
function lostHooks({ program }: RebindRequest, hooks: RestoringHooks): string[] {
  const here = hooks.scriptEvents();
  const lost = listOfJson(program?.script_hooks).filter((event) => !here.includes(String(event)));
  if (lost.length === 0) return [];
  return [`harn: hooks of the script for ${lost.join(', ')} do not hold here: its body does not run again; [[hooks]] of harn.toml do`];
}

/** As little of the program as the predicate needs: the other closures of the loop wait for its resume. */
async function rebindPredicate(run: Run, request: RebindRequest, hooks: RestoringHooks): Promise<Pick<Rebound, 'predicate' | 'warnings'>> {
  if (request.program === null) return { warnings: [] };
  const closures = objectsOf(request.program.closures).filter(({ slot }) => slot === PREDICATE_SLOT);
  const program = await loadParked(run, rootContext(run), request, { ...request.program, closures }, hooks);
  return { predicate: predicateOf(bindClosures(program)), warnings: program.warnings };
}

/** @throws HarnError `HARN-SUS-004` when the directory of the worker is gone */
function executionFor(run: Run, request: RebindRequest): Execution | undefined {
  if (request.execution === undefined) return undefined;
  try {
    return restoredExecution(run, request.execution);
  } catch (error) {
    throw programFault(request, 'program', errorText(error), error);
  }
}

function predicateOf(closures: ReadonlyMap<string, HarnFunction>): Opaque | undefined {
  const predicate = closures.get(PREDICATE_SLOT);
  return predicate === undefined ? undefined : new Opaque('closure', predicate);
}

/** Provider and model that a parked loop would ask. */
export async function parkedModel(run: Run, options: JsonObject): Promise<Rebound['model']> {
  const text = (key: string): string | undefined => (typeof options[key] === 'string' ? options[key] : undefined);
  const { models } = agentServices(run);
  await models.prepare?.();
  return resolveModel(
    { provider: text('provider'), model: text('model'), modelTier: text('model_tier') },
    (name) => run.platform.env.get(name),
    models.settings,
  );
}

/** The graph of a workflow stands beside the options in the snapshot. */
function withGraph(options: JsonObject, graph: Json | undefined): JsonObject {
  return isJsonObject(graph) ? { ...options, graph } : options;
}

/** A program whose declarations have run, and what of it differs from what was parked. */
interface ParkedProgram {
  readonly facts: JsonObject;
  readonly resolver: FunctionResolver;
  readonly warnings: string[];
}

async function loadParked(
  run: Run,
  context: Context,
  request: RebindRequest,
  facts: JsonObject,
  hooks: RestoringHooks,
): Promise<ParkedProgram> {
  const located = locateProgram(run, request, facts);
  hooks.enterProject(findProjectRoot(run.platform, dirname(located.entry.path)));
  const program = await compileParked(run, request, located);
  const [misfit] = toolMisfits(facts, located, program);
  if (misfit !== undefined) throw misfitFault(request, misfit);
  const functions = await loadDeclarations(run, context, request, located, program);
  await functions.prepare(closurePlaces(facts, located.modules));
  const { changed } = located;
  return {
    facts,
    resolver: resolverFor(functions, located.modules),
    warnings: changed.length === 0 ? [] : [`harn: ${changed.join(', ')} changed since the loop was parked; its tools still fit`],
  };
}

async function loadDeclarations(
  run: Run,
  context: Context,
  request: RebindRequest,
  { entry, modules }: LocatedProgram,
  program: CompiledProgram,
): Promise<ProgramFunctions> {
  const parked = [...modules.values()].flatMap(({ path, original }): [string, string][] =>
    original === undefined ? [] : [[path, original]],
  );
  const sources = async (): Promise<ClosureSources> => {
    const { closureSources } = await import('../program/compile-program.ts');
    return closureSources(withSources(run.platform.files, parked), entry.path, entry.original ?? entry.text);
  };
  try {
    noteRestoredProgram(run, program);
    const loaded = await loadProgram(run, context, program, { mode: 'declarations' });
    return new ProgramFunctions(run, loaded, sources);
  } catch (error) {
    throw programFault(request, 'program', `the script cannot be loaded: ${errorText(error)}`, error);
  }
}

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
  if (lost !== undefined) throw new HarnError('plain', `capture ${String(lost)} was not serialisable`);
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
  const needed = neededTools(options);
  return objectsOf(options.tools).map((entry) => {
    const name = String(entry.name);
    const value = agentValue(entry);
    if (!(value instanceof Dict) || isForeignTool(entry)) return value;
    const handler = closures.get(toolSlot(name));
    if (handler === undefined && needed.has(name)) throw unboundToolFault(request, name);
    return dictSet(copyDict(value), 'handler', handler ?? stub(name, lostCapture(program, name)));
  });
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
