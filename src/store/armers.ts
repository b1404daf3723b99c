import { isJsonObject } from '../base/json.ts';
import type { Files } from '../platform/platform.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readWaiterIndex } from './waiter-index.ts';

/**
 * Which process armed each suspension last, from the index of waiters, for listings: a line that cannot be read is
 * passed over, and a missing file means that nobody is known to wait.
 *
 * @returns by suspension id; the value is undefined where the record does not name its process
 */
export function readArmers(files: Files, waitersPath: string): ReadonlyMap<string, ProcessIdentity | undefined> {
  const { waiting } = readWaiterIndex(textOf(files, waitersPath));
  return new Map([...waiting].map(([suspensionId, record]) => [suspensionId, identityIn(record.armed_by)]));
}

function identityIn(value: unknown): ProcessIdentity | undefined {
  if (!isJsonObject(value)) return undefined;
  const { pid, host, boot_id } = value;
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  return { pid, host, boot_id: typeof boot_id === 'string' ? boot_id : null };
}

function textOf(files: Files, path: string): string {
  try {
    return files.readText(path);
  } catch {
    return '';
  }
}
