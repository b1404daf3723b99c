import { isJsonObject, type JsonObject } from '../base/json.ts';

const REASON_LIMIT = 120;

/** The two lines that tell how to go on with a parked loop (spec/agents.md 12.6). */
export function parkHint(event: JsonObject): string {
  const metadata = isJsonObject(event.metadata) ? event.metadata : {};
  const suspension = isJsonObject(metadata.suspension) ? metadata.suspension : {};
  const reason = String(suspension.reason ?? '').split('\n')[0] ?? '';
  const path = String(metadata.snapshot_path ?? event.worker_id);
  return `harn: agent parked (${String(event.worker_id)}): ${shorten(reason)}\nharn: resume with: harn run --resume ${quoteForShell(path)}\n`;
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= REASON_LIMIT ? text : `${characters.slice(0, REASON_LIMIT - 1).join('')}…`;
}

/** As it is when a shell reads it as one word. */
function quoteForShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
