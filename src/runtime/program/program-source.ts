import type { Platform } from '../../platform/platform.ts';
import type { Run } from '../context.ts';
import type { CompileCache } from './compile-cache.ts';
import { instantiate, type ModuleFunction } from './module-function.ts';
import type { CompiledModule, CompiledProgram } from './program.ts';

/** Where a run gets its programs from: the script itself, and the script of each parked loop that it resumes. */
export interface ProgramSource {
  /** @throws ProgramRejected with everything that is wrong with the program */
  compile(scriptPath: string, text: string): Promise<CompiledProgram>;
  instantiate(module: CompiledModule): ModuleFunction;
}

/** Programs are compiled each time. */
class FreshPrograms implements ProgramSource {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The compiler is loaded only when it is needed: a cached program starts without it. */
  async compile(scriptPath: string, text: string): Promise<CompiledProgram> {
    const { compileProgram } = await import('./compile-program.ts');
    return compileProgram(this.#platform.files, scriptPath, text);
  }

  instantiate(module: CompiledModule): ModuleFunction {
    return instantiate(module).run;
  }
}

/** Programs are taken from the cache of compiled programs, and those that were not there are kept in it at the end. */
export class CachedPrograms implements ProgramSource {
  readonly #fresh: FreshPrograms;
  readonly #cache: CompileCache;
  readonly #used = new Set<CompiledProgram>();

  constructor(platform: Platform, cache: CompileCache) {
    this.#fresh = new FreshPrograms(platform);
    this.#cache = cache;
  }

  async compile(scriptPath: string, text: string): Promise<CompiledProgram> {
    const program = this.#cache.find(scriptPath, text) ?? (await this.#fresh.compile(scriptPath, text));
    this.#used.add(program);
    return program;
  }

  instantiate(module: CompiledModule): ModuleFunction {
    return this.#cache.instantiate(module);
  }

  /** To be called when the programs have run: what V8 compiled lazily is then kept too. */
  keep(): void {
    for (const program of this.#used) this.#cache.store(program);
  }
}

const SOURCE = Symbol('program source');

function slot(run: Run): { source: ProgramSource } {
  return run.service(SOURCE, () => ({ source: new FreshPrograms(run.platform) }));
}

export function programSource(run: Run): ProgramSource {
  return slot(run).source;
}

export function setProgramSource(run: Run, source: ProgramSource): void {
  slot(run).source = source;
}
