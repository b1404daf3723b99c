import { type Palette, renderRuntimeError } from '../diagnostics/render.ts';
import type { Platform } from '../platform/platform.ts';
import type { Failure } from '../runtime/report.ts';
import { shortPath } from './source-files.ts';

/** An uncaught error as the command line prints it: paths as short as they can be. */
export function renderFailure(platform: Platform, failure: Failure, palette: Palette): string {
  const notes = failure.notes.map((note) =>
    note.replace(/ at (.*):(\d+)$/, (_all, path: string, line: string) => ` at ${shortPath(platform, path)}:${line}`),
  );
  const at = failure.at === undefined ? undefined : { ...failure.at, path: shortPath(platform, failure.at.path) };
  return renderRuntimeError({ message: failure.message, at, help: failure.help, notes }, palette);
}
