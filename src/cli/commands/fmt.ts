import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticToJson, renderDiagnostic } from '../../diagnostics/render.ts';
import { formatSource } from '../../language/format.ts';
import type { Platform } from '../../platform/platform.ts';
import { STDIN } from '../../runtime/program/project-root.ts';
import { refusalText } from '../command-failure.ts';
import { counted } from '../counted.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { paletteFor } from '../palette.ts';
import { UsageError } from '../parse-options.ts';
import { findSources, shortPath } from '../source-files.ts';
import { textDifference } from '../text-difference.ts';

export interface FmtOptions {
  readonly json?: boolean;
  /** Writes nothing; files that are not in the one style are a failure. */
  readonly check?: boolean;
  /** As `check`, and shows what would change. */
  readonly diff?: boolean;
  /** Digits; 100 by default. */
  readonly lineWidth?: string;
}

/** One source, as it is and as it should be. */
interface Formatted {
  /** As the user would write it; `<stdin>` for standard input. */
  readonly name: string;
  readonly before: string;
  /** The same text when nothing changes; undefined for a source that cannot be read. */
  readonly after: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Why the system did not let it be read or written. */
  readonly refusal?: string;
}

/**
 * `harn fmt`: puts scripts into the one style, in place. `-` reads standard input and writes standard output. A source with a
 * syntax error is left as it is, and so is one that cannot be read or written; the others are done.
 *
 * @returns the exit code: 1 for one that was left, and with `--check` for a file that would change
 */
export async function fmtCommand(platform: Platform, paths: readonly string[], options: FmtOptions): Promise<number> {
  if (paths.includes('-')) {
    if (paths.length > 1) throw new UsageError('- is standard input, and stands alone; give it, or files and folders');
    return formatStdin(platform, options);
  }
  const width = widthIn(options.lineWidth);
  const results = findSources(platform, paths).map((file) => formatFile(platform, file, width, isDry(options)));
  if (options.json === true) writeJson(platform, results, options);
  else await print(platform, results, options);
  return exitCodeOf(results, options);
}

function formatFile(platform: Platform, file: string, width: number | undefined, isDryRun: boolean): Formatted {
  const name = shortPath(platform, file);
  try {
    const result = formatted(name, platform.files.readText(file), width);
    // What a link leads to is written, and the file keeps its mode.
    if (!isDryRun && isChanged(result)) platform.files.write(file, result.after ?? result.before);
    return result;
  } catch (error) {
    return { name, before: '', after: undefined, diagnostics: [], refusal: refusalText(platform, error) };
  }
}

async function formatStdin(platform: Platform, options: FmtOptions): Promise<number> {
  const result = formatted(STDIN, await platform.stdio.readAll(), widthIn(options.lineWidth));
  if (options.json === true) writeJson(platform, [result], options, result.after);
  else {
    if (!isDry(options)) platform.stdio.out(result.after ?? '');
    await print(platform, [result], options, 'stdin');
  }
  return exitCodeOf([result], options);
}

function widthIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError(`--line-width: ${text} is no number of characters`);
  return Number(text);
}

function formatted(name: string, before: string, width: number | undefined): Formatted {
  const result = formatSource(before, { path: name, width });
  return result.kind === 'formatted'
    ? { name, before, after: result.text, diagnostics: [] }
    : { name, before, after: undefined, diagnostics: result.diagnostics };
}

function isDry({ check, diff }: FmtOptions): boolean {
  return check === true || diff === true;
}

function isChanged({ before, after }: Formatted): boolean {
  return after !== undefined && after !== before;
}

function exitCodeOf(results: readonly Formatted[], options: FmtOptions): number {
  const isBad = results.some((result) => result.after === undefined || (isDry(options) && isChanged(result)));
  return isBad ? EXIT.failure : EXIT.success;
}

/** Names of files that change on stdout, all else on stderr. */
async function print(
  platform: Platform,
  results: readonly Formatted[],
  options: FmtOptions,
  from: 'files' | 'stdin' = 'files',
): Promise<void> {
  const { stdio } = platform;
  const palette = await paletteFor(platform, 'stderr');
  for (const { before, diagnostics, refusal } of results) {
    for (const diagnostic of diagnostics) stdio.err(renderDiagnostic(diagnostic, before, palette));
    if (refusal !== undefined) stdio.err(`harn: ${refusal}\n`);
  }
  for (const result of results.filter(isChanged)) {
    if (from === 'files' || isDry(options)) stdio.out(`${result.name}\n`);
    if (options.diff === true) stdio.out(differenceText(result));
  }
  if (from === 'files') stdio.err(`${summary(results, options)}\n`);
}

function differenceText({ before, after = '' }: Formatted): string {
  return textDifference(before, after)
    .lines.map((line) => `  ${line}\n`)
    .join('');
}

function summary(results: readonly Formatted[], options: FmtOptions): string {
  const { changed, unchanged, rejected, refused } = countsOf(results);
  const verb = isDry(options) ? 'would change' : 'formatted';
  return [
    `${counted(changed, 'file')} ${verb}`,
    `${unchanged} unchanged`,
    ...(rejected === 0 ? [] : [`${rejected} left alone because of syntax errors`]),
    ...(refused === 0 ? [] : [`${refused} refused by the system`]),
  ].join(', ');
}

type Counts = Readonly<Record<'changed' | 'unchanged' | 'rejected' | 'refused', number>>;

function countsOf(results: readonly Formatted[]): Counts {
  const changed = results.filter(isChanged).length;
  const refused = results.filter(({ refusal }) => refusal !== undefined).length;
  const rejected = results.filter(({ after }) => after === undefined).length - refused;
  return { changed, unchanged: results.length - changed - rejected - refused, rejected, refused };
}

/** @param text the formatted standard input */
function writeJson(platform: Platform, results: readonly Formatted[], options: FmtOptions, text?: string): void {
  const files = results.map((result) => ({
    path: result.name,
    changed: isChanged(result),
    difference: options.diff === true && isChanged(result) ? textDifference(result.before, result.after ?? '').lines : null,
    diagnostics: result.diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, result.before)),
    refusal: result.refusal ?? null,
  }));
  const data = { ...countsOf(results), written: !isDry(options) && text === undefined, files, ...(text === undefined ? {} : { text }) };
  writeEnvelope(platform, { ok: exitCodeOf(results, options) === EXIT.success, data });
}
