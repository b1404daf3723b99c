import { Script } from 'node:vm';
import { HarnError } from '../../base/harn-error.ts';
import { builtinFunction, loadBuiltins } from '../builtin-access.ts';
import type { FunctionResolver } from '../captured-value.ts';
import type { Run } from '../context.ts';
import { dictGet } from '../dict.ts';
import { Harness } from '../harness.ts';
import type { ClosureSources } from '../program/compile-program.ts';
import type { LoadedProgram } from '../program/load.ts';
import type { ModuleRecord } from '../program/module-record.ts';
import { ALONE } from '../program/program.ts';
import { createSupport, type Support } from '../support.ts';
import { Dict, type HarnFunction, isCallable, type Value } from '../value.ts';
import { noteClosure } from './loop-failures.ts';

type ClosureMaker = (support: Support, module: ModuleRecord, captures: Readonly<Record<string, Value>>) => HarnFunction;

/**
 * Functions of a program by the names that a snapshot knows them under (spec/agents.md 5.12): declared ones by module
 * and symbol, closures by module and offset with what they had captured. The body of the entry has not run.
 */
export class ProgramFunctions implements FunctionResolver {
  readonly #run: Run;
  readonly #loaded: LoadedProgram;
  readonly #readSources: () => Promise<ClosureSources>;
  #sources: ClosureSources | undefined;
  readonly #support: Support;

  /** @param readSources reads the program as it was parked; called only when there are closures to bind */
  constructor(run: Run, loaded: LoadedProgram, readSources: () => Promise<ClosureSources>) {
    this.#run = run;
    this.#loaded = loaded;
    this.#readSources = readSources;
    this.#support = createSupport(run);
  }

  /** Loads what closures at these places call; must be awaited before `closure`. */
  async prepare(places: readonly { readonly module: string; readonly offset: number }[]): Promise<void> {
    if (places.length === 0) return;
    const sources = await this.#readSources();
    this.#sources = sources;
    const names = new Set(places.flatMap(({ module, offset }) => sources.source(module, offset)?.builtins ?? []));
    await loadBuiltins(this.#run, names);
  }

  named(module: string, symbol: string): HarnFunction {
    const value = this.#record(module).exports[symbol];
    if (isCallable(value)) return value;
    const handler = value === undefined ? undefined : declaredHandler(value);
    if (handler !== undefined) return handler;
    throw gone(`${symbol} is not declared in ${module} any more`);
  }

  closure(module: string, offset: number, captures: Readonly<Record<string, Value>>): HarnFunction {
    const source = this.#sources?.source(module, offset);
    if (source === undefined) throw gone(`no function begins at offset ${offset} of ${module} any more`);
    const filename = `${module}${ALONE}${offset}`;
    noteClosure(this.#run, filename, source.places);
    const make = new Script(source.js, { filename }).runInThisContext() as ClosureMaker;
    return make(this.#support, this.#record(module), captures);
  }

  builtin(name: string): HarnFunction {
    return builtinFunction(this.#run, name, this.#loaded.entry);
  }

  harness(part: string | undefined): Value {
    const root = new Harness(this.#run);
    return part === undefined ? root : root.property(part);
  }

  #record(module: string): ModuleRecord {
    const record = this.#loaded.modules.get(module);
    if (record === undefined) throw gone(`${module} is not part of the program any more`);
    return record;
  }
}

/** A `tool` declaration exports a registry with one entry; its handler is what a snapshot names. */
function declaredHandler(registry: Value): HarnFunction | undefined {
  const tools = registry instanceof Dict ? dictGet(registry, 'tools') : undefined;
  const entry: Value = Array.isArray(tools) ? (tools[0] as Value) : undefined;
  const handler = entry instanceof Dict ? dictGet(entry, 'handler') : undefined;
  return isCallable(handler) ? handler : undefined;
}

function gone(message: string): HarnError {
  return new HarnError('plain', message);
}
