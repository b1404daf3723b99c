import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { isSystemError, type SystemError, systemErrorText } from '../base/system-error.ts';
import { renderRuntimeError } from '../diagnostics/render.ts';
import type { Platform } from '../platform/platform.ts';
import { describeFailure } from '../runtime/report.ts';
import { writeEnvelope } from './envelope.ts';
import { EXIT } from './exit-codes.ts';
import { JsonStream } from './json-stream.ts';
import { paletteFor } from './palette.ts';
import { UsageError } from './parse-options.ts';
import { shortPath } from './source-files.ts';

/** How a command tells programs of its end: by the last line of a stream, by its one envelope, or not at all. */
export type Reporting = { readonly kind: 'stream'; readonly json: JsonStream } | { readonly kind: 'envelope' } | { readonly kind: 'text' };

/** What the words of a command line ask for, also where they cannot be read as a command. */
export function reportingOf({ stdio }: Platform, argv: readonly string[]): Reporting {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  if (!words.includes('--json')) return { kind: 'text' };
  const isStream = words[0] === 'run' || (words[0] === 'workers' && words[1] === 'resume');
  return isStream ? { kind: 'stream', json: new JsonStream((line) => stdio.out(line), 'all') } : { kind: 'envelope' };
}

/**
 * Says why a command came to no end of its own: the command line was wrong, the system refused a file, or harn has a
 * defect. @returns the exit code
 */
export async function reportTrouble(platform: Platform, error: unknown, reporting: Reporting): Promise<number> {
  const { exitCode, code, message, text } = troubleOf(platform, error);
  platform.stdio.err(text ?? `harn: ${message}\n`);
  const facts = { code, message, details: {} };
  if (reporting.kind === 'stream') reporting.json.failure(facts, exitCode);
  else if (reporting.kind === 'envelope') writeEnvelope(platform, { ok: false, data: null, error: facts });
  return exitCode;
}

interface Trouble {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  /** What people read, where that is more than the message. */
  readonly text?: string;
}

function troubleOf(platform: Platform, error: unknown): Trouble {
  if (error instanceof UsageError) return { exitCode: EXIT.usage, code: 'usage', message: error.message };
  if (isSystemError(error)) return { exitCode: EXIT.failure, code: error.code, message: refused(platform, error) };
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = `harn: internal error; please report it with this text:\n${stack}\n`;
  return { exitCode: EXIT.defect, code: 'internal', message: errorText(error), text };
}

/**
 * Says why a command that runs no script could not be done, and what to do next where that is known.
 * @returns the exit code
 */
export async function reportFailure(platform: Platform, error: unknown, { json }: { readonly json: boolean }): Promise<number> {
  if (isSystemError(error)) return reportTrouble(platform, error, { kind: json ? 'envelope' : 'text' });
  const { message, code, data } = describeFailure(error, undefined);
  if (json) {
    writeEnvelope(platform, { ok: false, data: null, error: { code: code ?? 'runtime', message: errorText(error), details: data } });
  } else {
    platform.stdio.err(renderRuntimeError({ message }, await paletteFor(platform, 'stderr')));
    platform.stdio.err(nextStep(data));
  }
  return EXIT.failure;
}

/**
 * Why the system refused one file of several, in a line that names it.
 * @throws the error when it is none of the system
 */
export function refusalText(platform: Platform, error: unknown): string {
  if (!isSystemError(error)) throw error;
  return refused(platform, error);
}

function refused(platform: Platform, error: SystemError): string {
  return systemErrorText(error, (path) => shortPath(platform, path));
}

function nextStep({ detail }: JsonObject): string {
  if (!isJsonObject(detail)) return '';
  if (detail.reason === 'missing') return '  harn workers list --all shows what there is\n';
  if (detail.owner !== 'other-process') return '';
  const who = typeof detail.owner_pid === 'number' ? `process ${detail.owner_pid}` : 'another process';
  return `  ${who} runs it; SIGTERM makes that park its loops, and then it can be closed\n`;
}
