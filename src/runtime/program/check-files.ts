import { posix as path } from 'node:path';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Files } from '../../platform/platform.ts';
import { checkGraph } from './check-graph.ts';
import { compileProblems } from './compile-program.ts';
import { ImportFailure, importedNames } from './module-names.ts';
import { readGraph, type SourceGraph } from './source-graph.ts';

/** What `harn check` has to say of one file. */
export interface FileReport {
  /** As it was given. */
  readonly path: string;
  /** For the excerpts of the report; undefined when the file cannot be read. */
  readonly text: string | undefined;
  /** Mistakes of the file itself in the order of their places, then those of modules that only it imports. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Checks files without running them: reads, parses, resolves imports, infers types, compiles. A module that several files import
 * is reported once, with the first of them; a module that is among the files is reported as itself.
 *
 * @param paths absolute paths
 */
export function checkFiles(files: Files, paths: readonly string[]): readonly FileReport[] {
  const asked = new Set(paths.map((file) => path.normalize(file)));
  const reported = new Set<string>();
  return paths.map((file) => {
    const text = readOrExplain(files, file);
    if (typeof text !== 'string') return { path: file, text: undefined, diagnostics: [text] };
    const found = diagnose(readGraph(files, file, text)).filter((diagnostic) => {
      const owner = diagnostic.path ?? file;
      if (owner === file) return true;
      if (asked.has(owner)) return false;
      const key = `${owner}:${diagnostic.span?.start}:${diagnostic.message}`;
      return !reported.has(key) && reported.add(key);
    });
    return { path: file, text, diagnostics: inOrder(found, file) };
  });
}

/** The same for one script that is no file; `name` stands for its path. Its imports begin at the current folder. */
export function checkText(files: Files, name: string, text: string): FileReport {
  return { path: name, text, diagnostics: inOrder(diagnose(readGraph(files, name, text)), name) };
}

function readOrExplain(files: Files, file: string): string | Diagnostic {
  try {
    return files.readText(file);
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code ?? error);
    return { severity: 'error', stage: 'import', message: `cannot read the file: ${why}`, path: file };
  }
}

/** A file that does not parse is not checked: half a tree would only give false reports. */
function diagnose(graph: SourceGraph): readonly Diagnostic[] {
  if (graph.diagnostics.length > 0) return graph.diagnostics;
  const found = [...importMistakes(graph), ...checkGraph(graph, { lints: true })];
  return found.some(({ severity }) => severity === 'error') ? found : [...found, ...compileProblems(graph)];
}

function importMistakes(graph: SourceGraph): readonly Diagnostic[] {
  return graph.order.flatMap((module) => {
    const missing = module.imports.flatMap(({ failure }) => failure ?? []);
    if (missing.length > 0) return missing;
    try {
      importedNames(module);
      return [];
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      return [error.diagnostic];
    }
  });
}

function inOrder(diagnostics: readonly Diagnostic[], file: string): readonly Diagnostic[] {
  const rank = (diagnostic: Diagnostic): number => ((diagnostic.path ?? file) === file ? 0 : 1);
  return [...diagnostics].sort((a, b) => rank(a) - rank(b) || (rank(a) === 0 ? (a.span?.start ?? 0) - (b.span?.start ?? 0) : 0));
}
