import { join } from 'node:path';
import { isJsonObject } from '../base/json.ts';
import { ownIdentity } from '../store/process-identity.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { armedSchema, suspensionSchema } from '../store/snapshot-schema.ts';
import { readWaiters, rewriteWaiters, type Waiter } from '../store/waiter-file.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type ParkedWorker, waiterOf } from './waker.ts';
import { splitSnapshot, Worker } from './worker.ts';
import { readWorkerFiles } from './worker-files.ts';

/**
 * Arming what earlier processes parked (spec/agents.md 9.7), for a host that stays: from the index of waiters, or,
 * when that is missing or damaged, from the heads of the snapshots. No transcript is read before a worker wakes, and
 * what is overdue fires at once.
 *
 * @returns how many suspensions wait now
 */
export function rearmParked(lifecycle: Lifecycle): number {
  const { platform, locations, waker } = lifecycle;
  const waiters = readWaiters(platform.files, locations.waiters) ?? waitersFromHeads(lifecycle);
  // Rewritten at each start, so that entries that are over do not pile up.
  if (waiters.length > 0) {
    const armed_by = ownIdentity(platform);
    rewriteWaiters(
      platform,
      locations.waiters,
      waiters.map((waiter) => ({ ...waiter, armed_by })),
    );
  }
  for (const waiter of waiters) {
    if (lifecycle.registry.get(waiter.worker_id) === undefined) waker.rearm(parkedWorker(waiter));
  }
  return waker.size;
}

/** The whole of a parked worker, read when something has to change it. */
export function loadedWorker(lifecycle: Lifecycle, parked: ParkedWorker): Worker {
  const known = lifecycle.registry.get(parked.id);
  if (known !== undefined) return known;
  const files = readWorkerFiles(lifecycle, parked.snapshotPath, parked.id);
  const { record, state } = splitSnapshot(files.snapshot);
  const worker = new Worker(parked.snapshotPath, record, state, undefined);
  worker.snapshotSha256 = files.sha256;
  return worker;
}

function parkedWorker(waiter: Waiter): ParkedWorker {
  return {
    id: waiter.worker_id,
    snapshotPath: waiter.snapshot_path,
    suspension: waiter,
    record: { armed: waiter.armed },
    whenSteady: (wake) => wake(),
  };
}

function waitersFromHeads(lifecycle: Lifecycle): Waiter[] {
  const { files } = lifecycle.platform;
  const { workers } = lifecycle.locations;
  if (!files.exists(workers)) return [];
  return files
    .list(workers)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => waiterFromHead(lifecycle, join(workers, name)));
}

function waiterFromHead(lifecycle: Lifecycle, snapshotPath: string): Waiter[] {
  const head = readSnapshotHead(lifecycle.platform.files, snapshotPath, ['id', 'status', 'armed', 'suspension']);
  if (!isJsonObject(head) || head.status !== 'suspended' || typeof head.id !== 'string') return [];
  const armed = armedSchema.safeParse(head.armed);
  const suspension = suspensionSchema.safeParse(head.suspension);
  if (!armed.success || !suspension.success) return [];
  return [waiterOf({ id: head.id, snapshotPath, suspension: suspension.data, record: {}, whenSteady: (wake) => wake() }, armed.data)];
}
