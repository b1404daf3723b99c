import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { Files } from '../platform/platform.ts';
import { type Disk, ensureDirectory, isErrno, PRIVATE_FILE_MODE, unlinkIfPresent, writeAtomic } from './atomic-file.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { armedSchema } from './snapshot-schema.ts';
import { readWaiterIndex, type WaiterIndex } from './waiter-index.ts';

/**
 * One small record for each armed suspension, so that a host that starts again can arm thousands of parked workers
 * without reading a snapshot. It is an index: the snapshots are the truth, and a missing or damaged file is built
 * again from their heads.
 */
const waiterSchema = lazily(() =>
  z.looseObject({
    worker_id: z.string(),
    suspension_id: z.string(),
    snapshot_path: z.string(),
    suspended_at: z.string(),
    conditions: z.nullable(z.custom<JsonObject>(isJsonObject)),
    resume_by_mechanism: z.nullable(z.string()),
    armed: armedSchema,
    /** The process that armed it last; absent in records of older versions. */
    armed_by: z.optional(z.looseObject({ pid: z.int(), host: z.string(), boot_id: z.nullish(z.string()) })),
  }),
);

export type Waiter = z.infer<ReturnType<typeof waiterSchema>>;

export function addWaiter(files: Files, path: string, waiter: Waiter): void {
  appendLine(files, path, waiter);
}

/** Notes that this suspension waits no longer. */
export function removeWaiter(files: Files, path: string, workerId: string, suspensionId: string): void {
  if (files.exists(path)) appendLine(files, path, { worker_id: workerId, suspension_id: suspensionId, gone: true });
}

/**
 * Notes that a process arms all that waits, and gives it. One line says that of all lines before it; where much of the file
 * is over, or it is damaged, it is written anew instead.
 *
 * @param rebuild what waits, for a file that is missing or damaged
 */
export function takeOverWaiters(disk: Disk, path: string, rebuild: () => readonly Waiter[], owner: ProcessIdentity): readonly Waiter[] {
  const { files } = disk;
  const armed_by = { ...owner };
  const text = files.exists(`${path}.old`) ? undefined : textOf(files, path);
  const index = text?.endsWith('\n') === true ? readWaiterIndex(text) : undefined;
  const waiters = index === undefined ? undefined : decodeWaiters(index);
  if (index === undefined || waiters === undefined || (index.lines - waiters.length) * 4 > waiters.length)
    return rewriteWaiters(disk, path, rebuild, (waiter) => ({ ...waiter, armed_by }));
  appendLine(files, path, { armed_by, lines: index.lines });
  for (const waiter of waiters) waiter.armed_by = armed_by;
  return waiters;
}

/**
 * Writes the index anew, without what is over, and gives what still waits. Other processes may append meanwhile: the old
 * file keeps a second name until what came to it last stands in the new one.
 *
 * @param change made to each record
 */
export function rewriteWaiters(
  disk: Disk,
  path: string,
  rebuild: () => readonly Waiter[],
  change: (waiter: Waiter) => Waiter,
): readonly Waiter[] {
  const { files } = disk;
  const old = `${path}.old`;
  ensureDirectory(files, dirname(path));
  const isLeftover = !giveSecondName(files, path, old);
  const before = textOf(files, old);
  const text = isLeftover ? `${before ?? ''}${textOf(files, path) ?? ''}` : before;
  const waiters = ((text === undefined ? undefined : decodeWaiters(readWaiterIndex(text))) ?? rebuild()).map(change);
  const lines = waiters.map((waiter) => `${JSON.stringify(waiter)}\n`).join('');
  if (text !== undefined || lines !== '') writeAtomic(disk, path, lines);
  const late = (textOf(files, old) ?? '').slice(before?.length ?? 0);
  if (late !== '') appendText(files, path, late);
  unlinkIfPresent(files, old);
  return late === '' ? waiters : (decodeWaiters(readWaiterIndex(`${lines}${late}`)) ?? waiters);
}

/** False when a rewrite that was killed has left the name behind. */
function giveSecondName(files: Files, path: string, old: string): boolean {
  try {
    files.link(path, old);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return true;
}

function textOf(files: Files, path: string): string | undefined {
  try {
    return files.readText(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Undefined for an index that is damaged. */
function decodeWaiters({ waiting, isWhole }: WaiterIndex): Waiter[] | undefined {
  if (!isWhole) return undefined;
  const waiters: Waiter[] = [];
  for (const record of waiting.values()) {
    const waiter = waiterSchema().safeParse(record);
    if (!waiter.success) return undefined;
    waiters.push(waiter.data);
  }
  return waiters;
}

function appendLine(files: Files, path: string, record: unknown): void {
  ensureDirectory(files, dirname(path));
  appendText(files, path, `${JSON.stringify(record)}\n`);
}

function appendText(files: Files, path: string, text: string): void {
  const handle = files.open(path, 'append', PRIVATE_FILE_MODE);
  try {
    handle.write(text);
    handle.sync();
  } finally {
    handle.close();
  }
}
