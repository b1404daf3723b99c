import type { ModuleFacts } from '../../language/emit.ts';
import { loadBuiltins } from '../builtin-access.ts';
import type { Context, Run } from '../context.ts';
import { createSupport } from '../support.ts';
import type { Value } from '../value.ts';
import { ModuleRecord } from './module-record.ts';
import { type CompiledModule, type CompiledProgram, ProgramRejected } from './program.ts';
import { programSource } from './program-source.ts';

/** A program whose modules have been initialised. */
export interface LoadedProgram {
  readonly entry: ModuleRecord;
  readonly entryFacts: ModuleFacts;
  readonly modules: ReadonlyMap<string, ModuleRecord>;
  /** What the body of a script-mode entry ended with. */
  readonly value: Value;
}

export interface LoadOptions {
  /** `declarations` makes functions and tools without running the body of a script (spec/agents.md 5.12). */
  readonly mode: 'run' | 'declarations';
}

/** Initialises all modules in order, the entry last. */
export async function loadProgram(run: Run, context: Context, program: CompiledProgram, options: LoadOptions): Promise<LoadedProgram> {
  await loadBuiltins(run, new Set(program.modules.flatMap(({ facts }) => facts.builtins)));
  const support = createSupport(run);
  const records = new Map(program.modules.map(({ path, directory }) => [path, new ModuleRecord(run, path, placeOf(run, directory))]));
  const source = programSource(run);
  let value: Value;
  for (const module of program.modules) {
    const record = records.get(module.path) as ModuleRecord;
    connect(module, record, records);
    try {
      value = await source.instantiate(module)(support, record, context, 0, options.mode);
    } finally {
      await support.runDefersAsync(record.defers);
    }
    reexport(module, record, records);
  }
  const entry = program.modules.at(-1) as CompiledModule;
  return { entry: records.get(entry.path) as ModuleRecord, entryFacts: entry.facts, modules: records, value };
}

/** A script without a file stands where it was run from, not where its compiled form was first made. */
function placeOf(run: Run, directory: string): string {
  return directory === '.' ? run.executionRoot : directory;
}

function connect(module: CompiledModule, record: ModuleRecord, records: ReadonlyMap<string, ModuleRecord>): void {
  for (const item of module.imports) {
    const target = item.path === undefined ? undefined : records.get(item.path);
    if (target === undefined) {
      throw new ProgramRejected(item.failure === undefined ? [] : [item.failure]);
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
