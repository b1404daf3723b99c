import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Files } from '../platform/platform.ts';
import { type Disk, ensureDirectory, isErrno, PRIVATE_FILE_MODE, writeAtomic } from './atomic-file.ts';
import { armedSchema } from './snapshot-schema.ts';

/**
 * One small record for each armed suspension, so that a host that starts again can arm thousands of parked workers
 * without reading a snapshot. It is an index: the snapshots are the truth, and a missing or damaged file is built
 * again from their heads.
 */
const waiterSchema = z.looseObject({
  worker_id: z.string(),
  suspension_id: z.string(),
  snapshot_path: z.string(),
  suspended_at: z.string(),
  conditions: z.nullable(z.custom<JsonObject>(isJsonObject)),
  resume_by_mechanism: z.nullable(z.string()),
  armed: armedSchema,
  /** The process that armed it last; absent in records of older versions. */
  armed_by: z.optional(z.looseObject({ pid: z.int(), host: z.string(), boot_id: z.nullish(z.string()) })),
});

export type Waiter = z.infer<typeof waiterSchema>;

/** A line of the index. It stays text: the file may hold very many, and is written again as it was. */
export class StoredWaiter {
  readonly line: string;

  private constructor(line: string) {
    this.line = line;
  }

  static of(waiter: Waiter): StoredWaiter {
    return new StoredWaiter(JSON.stringify(waiter));
  }

  /** @param line the text of a waiter that was checked */
  static ofLine(line: string): StoredWaiter {
    return new StoredWaiter(line);
  }

  read(): Waiter {
    return JSON.parse(this.line) as Waiter;
  }
}

export function addWaiter(files: Files, path: string, waiter: Waiter): void {
  appendLine(files, path, waiter);
}

/** Notes that this suspension waits no longer. */
export function removeWaiter(files: Files, path: string, workerId: string, suspensionId: string): void {
  if (files.exists(path)) appendLine(files, path, { worker_id: workerId, suspension_id: suspensionId, gone: true });
}

/**
 * The suspensions that still wait.
 * @returns undefined when the file is missing or damaged and has to be built again
 */
export function readWaiters(files: Files, path: string): StoredWaiter[] | undefined {
  let text: string;
  try {
    text = files.readText(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
  const waiting = new Map<string, StoredWaiter>();
  const lines = text.split('\n').filter((line) => line !== '');
  for (const [index, line] of lines.entries()) {
    const record = parseLine(line);
    if (record === undefined) {
      if (index === lines.length - 1) break;
      return undefined;
    }
    const suspensionId = String(record.suspension_id);
    if (record.gone === true) waiting.delete(suspensionId);
    else if (waiterSchema.safeParse(record).success) waiting.set(suspensionId, StoredWaiter.ofLine(line));
    else return undefined;
  }
  return [...waiting.values()];
}

/** Replaces the file by these records alone. */
export function rewriteWaiters(disk: Disk, path: string, waiters: readonly StoredWaiter[]): void {
  ensureDirectory(disk.files, dirname(path));
  writeAtomic(disk, path, waiters.map(({ line }) => `${line}\n`).join(''));
}

function appendLine(files: Files, path: string, record: unknown): void {
  ensureDirectory(files, dirname(path));
  const handle = files.open(path, 'append', PRIVATE_FILE_MODE);
  try {
    handle.write(`${JSON.stringify(record)}\n`);
    handle.sync();
  } finally {
    handle.close();
  }
}

function parseLine(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
