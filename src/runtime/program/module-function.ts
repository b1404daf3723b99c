import { Script } from 'node:vm';
import type { Context } from '../context.ts';
import type { Value } from '../value.ts';
import type { ModuleRecord } from './module-record.ts';
import type { CompiledModule } from './program.ts';

export type ModuleFunction = (
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
