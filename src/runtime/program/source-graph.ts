import { posix as path } from 'node:path';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Import, Program, Statement } from '../../language/ast.ts';
import { parse } from '../../language/parser.ts';
import { mergePipelines } from '../../language/pipelines.ts';
import { resolveNames } from '../../language/resolve-names.ts';
import type { Resolution } from '../../language/scope.ts';
import type { Files } from '../../platform/platform.ts';
import { resolveImport } from './import-path.ts';
import { type ImportProbe, recordProbes } from './import-probes.ts';
import { preludeImports } from './prelude.ts';

/** A file of the program before it is compiled. */
export interface SourceModule {
  /** Absolute path, or `std/…`. */
  readonly path: string;
  readonly directory: string;
  readonly text: string;
  readonly program: Program;
  /** What its names mean. */
  readonly names: Resolution;
  readonly imports: readonly ResolvedImport[];
}

export interface ResolvedImport {
  readonly node: Import;
  /** Undefined for a module that is missing: running the import fails with `failure`. */
  readonly module: SourceModule | undefined;
  readonly failure: Diagnostic | undefined;
  /** Nobody wrote it (runtime/program/prelude.ts): any other import of the same name wins. */
  readonly isPrelude: boolean;
}

export interface SourceGraph {
  readonly entry: SourceModule;
  /** Imported modules before their importers; the entry comes last. */
  readonly order: readonly SourceModule[];
  readonly diagnostics: readonly Diagnostic[];
  /** What was asked of the disk to find the modules. */
  readonly probes: readonly ImportProbe[];
}

/** Reads and parses the entry and everything it imports. Cycles are fine: a module appears once. */
export function readGraph(files: Files, entryPath: string, entryText: string): SourceGraph {
  const diagnostics: Diagnostic[] = [];
  const modules = new Map<string, SourceModule>();
  const order: SourceModule[] = [];
  const probes = new Map<string, ImportProbe>();
  const probed = recordProbes(files, probes);

  const add = (modulePath: string, directory: string, text: string, importedAs: string | undefined): SourceModule => {
    const result = parse({ path: modulePath, text });
    diagnostics.push(...result.diagnostics.map((diagnostic) => (importedAs === undefined ? diagnostic : importFailure(diagnostic))));
    const imports: ResolvedImport[] = [];
    const program = mergePipelines(result.program);
    const names = resolveNames(program);
    const module: SourceModule = { path: modulePath, directory, text, program, names, imports };
    modules.set(modulePath, module);
    for (const node of importsOf(result.program)) imports.push({ ...resolve(module, node), isPrelude: false });
    for (const node of preludeImports(names, modulePath)) imports.push({ ...resolve(module, node), isPrelude: true });
    order.push(module);
    return module;
  };

  const resolve = (from: SourceModule, node: Import): Omit<ResolvedImport, 'isPrelude'> => {
    const target = resolveImport(probed, from.directory, node.path);
    if (target.kind === 'missing') {
      const { message, help } = target;
      return { node, module: undefined, failure: { severity: 'error', stage: 'import', message, help, path: from.path, span: node.span } };
    }
    const known = modules.get(target.path);
    if (known !== undefined) return { node, module: known, failure: undefined };
    const text = target.kind === 'std' ? target.text : files.readText(target.path);
    const directory = target.kind === 'std' ? from.directory : path.dirname(target.path);
    return { node, module: add(target.path, directory, text, node.path), failure: undefined };
  };

  const entry = add(entryPath, path.dirname(entryPath), entryText, undefined);
  return { entry, order, diagnostics, probes: [...probes.values()] };
}

function importsOf(program: Program): Import[] {
  return program.items.filter((item: Statement): item is Import => item.kind === 'Import');
}

function importFailure(diagnostic: Diagnostic): Diagnostic {
  const stage = diagnostic.stage === 'lexer' ? 'lex' : 'parse';
  return { ...diagnostic, stage: 'import', message: `Import ${stage} error: ${diagnostic.message}` };
}
