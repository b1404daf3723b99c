import type { Json, JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';

/** The one line of `--json` of commands that do not run a script; those that do write a stream (json-stream.ts). */
export function writeEnvelope(
  { stdio }: Platform,
  { ok, data, error = null }: { readonly ok: boolean; readonly data: Json; readonly error?: JsonObject | null },
): void {
  stdio.out(`${JSON.stringify({ schemaVersion: 1, ok, data, error, warnings: [] })}\n`);
}
