import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ModuleFacts } from '../../language/emit.ts';
import type { ImportProbe } from './import-probes.ts';

/** A program ready to run: JavaScript of all its modules, in the order in which they are initialised. */
export interface CompiledProgram {
  readonly entryPath: string;
  readonly modules: readonly CompiledModule[];
  readonly warnings: readonly Diagnostic[];
  /** What has to be true of the disk for the imports to lead to these modules. */
  readonly probes: readonly ImportProbe[];
}

export interface CompiledModule {
  readonly path: string;
  readonly directory: string;
  readonly text: string;
  readonly js: string;
  /** What the places in `js` stand for, for errors; see `placeOf`. */
  readonly places: string;
  readonly facts: ModuleFacts;
  /** One per import of the module, in source order. */
  readonly imports: readonly CompiledImport[];
}

export interface CompiledImport {
  /** Path of the imported module; undefined when it is missing. */
  readonly path: string | undefined;
  /** What running the import fails with. */
  readonly failure: Diagnostic | undefined;
  /** Names that must be exported again, with the modules that declare them. */
  readonly reexports: readonly { readonly name: string; readonly home: string }[];
}

/**
 * Between the path of a script and the offset of a closure, in the file name of one that was compiled alone: lines stand as in
 * the script, but columns are not those of the module.
 */
export const ALONE = '?alone@';

/** The program was refused before anything ran. */
export class ProgramRejected extends Error {
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics[0]?.message ?? 'the program was refused');
    this.diagnostics = diagnostics;
  }
}
