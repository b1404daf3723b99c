import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { renderRuntimeError } from '../diagnostics/render.ts';
import type { Platform } from '../platform/platform.ts';
import { describeFailure } from '../runtime/report.ts';
import { writeEnvelope } from './envelope.ts';
import { EXIT } from './exit-codes.ts';
import { paletteFor } from './palette.ts';

/**
 * Says why a command that runs no script could not be done, and what to do next where that is known.
 * @returns the exit code
 */
export async function reportFailure(platform: Platform, error: unknown, { json }: { readonly json: boolean }): Promise<number> {
  const { message, code, data } = isSystemError(error)
    ? { message: error.message, code: error.code, data: {} }
    : describeFailure(error, undefined);
  if (json) {
    writeEnvelope(platform, { ok: false, data: null, error: { code: code ?? 'runtime', message: errorText(error), details: data } });
  } else {
    platform.stdio.err(renderRuntimeError({ message }, await paletteFor(platform, 'stderr')));
    platform.stdio.err(nextStep(data));
  }
  return EXIT.failure;
}

/** A file or folder that the system does not let us read or write: no defect of harn. */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

function nextStep({ detail }: JsonObject): string {
  if (!isJsonObject(detail)) return '';
  if (detail.reason === 'missing') return '  harn workers list --all shows what there is\n';
  if (detail.owner !== 'other-process') return '';
  const who = typeof detail.owner_pid === 'number' ? `process ${detail.owner_pid}` : 'another process';
  return `  ${who} runs it; SIGTERM makes that park its loops, and then it can be closed\n`;
}
