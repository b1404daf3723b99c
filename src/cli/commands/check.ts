import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticToJson, renderDiagnostic } from '../../diagnostics/render.ts';
import type { Platform } from '../../platform/platform.ts';
import { checkFiles, checkText, type FileReport } from '../../runtime/program/check-files.ts';
import { STDIN } from '../../runtime/program/project-root.ts';
import { counted } from '../counted.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { paletteFor } from '../palette.ts';
import { UsageError } from '../parse-options.ts';
import { findSources, shortPath } from '../source-files.ts';

export interface CheckOptions {
  readonly json?: boolean;
}

/** `harn check`: finds mistakes without running anything; `-` stands for a script on standard input. @returns the exit code: 1 when there is an error */
export async function checkCommand(platform: Platform, paths: readonly string[], options: CheckOptions): Promise<number> {
  const reports = await reportsOf(platform, paths);
  const sources = new Map(reports.map(({ path, text }) => [path, text]));
  const found = reports.flatMap(({ path, diagnostics }) =>
    diagnostics.map((diagnostic) => ({ ...diagnostic, path: diagnostic.path ?? path })),
  );
  const sourceOf = (path: string): string | undefined => sources.get(path) ?? readIfPossible(platform, path);
  const counts = { files: reports.length, errors: countOf(found, 'error'), warnings: countOf(found, 'warning') };
  if (options.json === true) {
    const diagnostics = found.map((diagnostic) => diagnosticToJson(shown(platform, diagnostic), sourceOf(diagnostic.path)));
    writeEnvelope(platform, { ok: counts.errors === 0, data: { ...counts, diagnostics } });
  } else {
    const palette = await paletteFor(platform, 'stderr');
    for (const diagnostic of found) {
      platform.stdio.err(renderDiagnostic(shown(platform, diagnostic), sourceOf(diagnostic.path), palette));
    }
    platform.stdio.err(`${summary(counts)}\n`);
  }
  return counts.errors === 0 ? EXIT.success : EXIT.failure;
}

async function reportsOf(platform: Platform, paths: readonly string[]): Promise<readonly FileReport[]> {
  if (!paths.includes('-')) return checkFiles(platform.files, findSources(platform, paths));
  if (paths.length > 1) throw new UsageError('- is standard input, and stands alone; give it, or files and folders');
  return [checkText(platform.files, STDIN, await platform.stdio.readAll())];
}

function countOf(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

function summary({ files, errors, warnings }: { readonly files: number; readonly errors: number; readonly warnings: number }): string {
  return `${counted(files, 'file')} checked: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
}

function shown(platform: Platform, diagnostic: Diagnostic & { readonly path: string }): Diagnostic {
  return { ...diagnostic, path: shortPath(platform, diagnostic.path) };
}

/** For an excerpt only: that a file cannot be read is what the diagnostic says. */
function readIfPossible({ files }: Platform, path: string): string | undefined {
  try {
    return files.stat(path)?.isFile === true ? files.readText(path) : undefined;
  } catch {
    return undefined;
  }
}
