import { join } from 'node:path';
import { errorText } from '../base/harn-error.ts';
import { isJsonObject } from '../base/json.ts';
import type { Files } from '../platform/platform.ts';
import { ownIdentity } from '../store/process-identity.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { type ArmedRecord, armedSchema, type SuspensionRecord, suspensionSchema } from '../store/snapshot-schema.ts';
import { takeOverWaiters, type Waiter } from '../store/waiter-file.ts';
import type { Lifecycle } from './lifecycle.ts';
import { rebindRequest } from './rebind-request.ts';
import type { Opaque } from './spec-value.ts';
import { type ParkedWorker, waiterOf } from './waiting.ts';
import { splitSnapshot, Worker } from './worker.ts';
import { readWorkerFiles } from './worker-files.ts';

/**
 * Arming what earlier processes parked (spec/agents.md 9.7), for a host that stays: from the index of waiters, or,
 * when that is missing or damaged, from the heads of the snapshots. No transcript is read before a worker wakes, and
 * what is overdue fires at once. Only a trigger with a predicate needs the script that parked it; those come last.
 *
 * @returns how many suspensions wait now
 */
export async function rearmParked(lifecycle: Lifecycle): Promise<number> {
  const { platform, locations } = lifecycle;
  const waiters = takeOverWaiters(platform, locations.waiters, () => waitersFromHeads(lifecycle), ownIdentity(platform));
  const withPredicate: Waiter[] = [];
  for (const waiter of waiters) {
    if (hasPredicate(waiter)) withPredicate.push(waiter);
    else rearm(lifecycle, waiter);
  }
  for (const waiter of withPredicate) rearm(lifecycle, waiter, await predicateOf(lifecycle, waiter));
  return lifecycle.waker.size;
}

function rearm({ platform, registry, waker }: Lifecycle, waiter: Waiter, predicate?: Opaque): void {
  if (registry.get(waiter.worker_id) === undefined)
    waker.rearm(new ParkedElsewhere(platform.files, waiter, predicate), waiter, waiter.armed);
}

function hasPredicate({ armed, conditions }: Waiter): boolean {
  return armed.trigger && isJsonObject(conditions) && isJsonObject(conditions.trigger) && conditions.trigger.when_unbound === true;
}

/** Undefined where it cannot be had: the trigger then stays unarmed, and what else may wake the worker does not. */
async function predicateOf(lifecycle: Lifecycle, { worker_id: id, snapshot_path: path }: Waiter): Promise<Opaque | undefined> {
  try {
    const { record } = splitSnapshot(readWorkerFiles(lifecycle, path, id).snapshot);
    const rebound = await lifecycle.rebinder.rebindPredicate?.(rebindRequest(record, path, id));
    for (const warning of rebound?.warnings ?? []) lifecycle.warn(warning);
    return rebound?.predicate;
  } catch (error) {
    lifecycle.warn(`harn: the trigger of ${id} is not armed: ${errorText(error)}`);
    return undefined;
  }
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

/**
 * A worker that another process parked. What it waits for is read from its file when something has to be known of it: a
 * host holds very many of these, and few of them wake while it lives.
 */
class ParkedElsewhere implements ParkedWorker {
  readonly id: string;
  readonly snapshotPath: string;
  readonly predicate: Opaque | undefined;
  readonly #files: Files;

  constructor(files: Files, waiter: Waiter, predicate: Opaque | undefined) {
    this.id = waiter.worker_id;
    this.snapshotPath = waiter.snapshot_path;
    this.predicate = predicate;
    this.#files = files;
  }

  get suspension(): SuspensionRecord | undefined {
    return readParkedHead(this.#files, this.snapshotPath)?.suspension;
  }

  get record(): { readonly armed?: ArmedRecord | undefined } {
    return { armed: readParkedHead(this.#files, this.snapshotPath)?.armed };
  }

  whenSteady(wake: () => void): void {
    wake();
  }
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

function waiterFromHead({ platform }: Lifecycle, snapshotPath: string): Waiter[] {
  const head = readParkedHead(platform.files, snapshotPath);
  if (head === undefined) return [];
  const worker = { ...head, snapshotPath, record: {}, whenSteady: (wake: () => void) => wake() };
  return [waiterOf(worker, head.armed)];
}

interface ParkedHead {
  readonly id: string;
  readonly armed: ArmedRecord;
  readonly suspension: SuspensionRecord;
}

/** What a snapshot says of its suspension, without its transcript; undefined when it waits for nothing (any more). */
function readParkedHead(files: Files, snapshotPath: string): ParkedHead | undefined {
  const head = readSnapshotHead(files, snapshotPath, ['id', 'status', 'armed', 'suspension']);
  if (!isJsonObject(head) || head.status !== 'suspended' || typeof head.id !== 'string') return undefined;
  const armed = armedSchema.safeParse(head.armed);
  const suspension = suspensionSchema.safeParse(head.suspension);
  return armed.success && suspension.success ? { id: head.id, armed: armed.data, suspension: suspension.data } : undefined;
}
