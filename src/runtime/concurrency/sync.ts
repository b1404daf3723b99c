import { type Permit, type PermitMetrics, PermitPool } from '../../tasks/permit-pool.ts';
import type { Context, Run } from '../context.ts';
import { runtimeError } from '../errors.ts';
import { andThen } from '../maybe-async.ts';
import { Handle } from '../value.ts';

export type SyncKind = 'mutex' | 'semaphore' | 'gate' | 'rwlock';

/** The key of `mutex { … }`, and of `sync_mutex_acquire()` without a key. */
export const DEFAULT_MUTEX = '__default__';

/** What `sync_*_acquire` gives (spec/language.md 10.4). */
export class SyncPermit extends Handle {
  readonly typeName = 'sync_permit';
  readonly kind: SyncKind;
  readonly key: string;
  readonly taskId: string;
  readonly permit: Permit;

  constructor(kind: SyncKind, key: string, taskId: string, permit: Permit) {
    super();
    this.kind = kind;
    this.key = key;
    this.taskId = taskId;
    this.permit = permit;
  }

  display(): string {
    return `<sync_permit:${this.kind}:${this.key}>`;
  }
}

export interface SyncRequest {
  readonly kind: SyncKind;
  readonly key: string;
  /** Size of the pool when this is the first request for the key; later ones share that pool. */
  readonly capacity: number;
  readonly units: number;
  /** Undefined waits for ever. */
  readonly timeoutMs: number | undefined;
}

export interface NamedMetrics {
  readonly kind: SyncKind;
  readonly key: string;
  readonly metrics: PermitMetrics;
}

/** The locks of a run by kind and key, and who holds them. */
export class SyncLocks {
  readonly #run: Run;
  readonly #pools = new Map<string, { readonly kind: SyncKind; readonly key: string; readonly pool: PermitPool }>();
  readonly #held = new Set<SyncPermit>();

  constructor(run: Run) {
    this.#run = run;
  }

  acquire(context: Context, request: SyncRequest): SyncPermit | undefined | Promise<SyncPermit | undefined> {
    const { kind, key, units } = request;
    const pool = this.#pool(request);
    if (units > pool.capacity)
      throw runtimeError(`sync_${kind}_acquire: ${units} permits exceed the capacity ${pool.capacity} of '${key}'`);
    return andThen(pool.acquire(units, context.signal, request.timeoutMs), (permit) => {
      if (permit === undefined) return undefined;
      const held = new SyncPermit(kind, key, context.taskId, permit);
      this.#held.add(held);
      return held;
    });
  }

  /** True the first time, false afterwards. */
  release(held: SyncPermit): boolean {
    this.#held.delete(held);
    return held.permit.release();
  }

  /** What a task held when it failed or was cancelled would otherwise be locked for ever. */
  releaseAllOf(taskId: string): void {
    for (const held of [...this.#held]) {
      if (held.taskId === taskId) this.release(held);
    }
  }

  heldBy(taskId: string): SyncPermit[] {
    return [...this.#held].filter((held) => held.taskId === taskId);
  }

  /** Metrics of every lock that fits, in order of creation. */
  metrics(kind: string | undefined, key: string | undefined): NamedMetrics[] {
    return [...this.#pools.values()]
      .filter((entry) => (kind === undefined || entry.kind === kind) && (key === undefined || entry.key === key))
      .map((entry) => ({ kind: entry.kind, key: entry.key, metrics: entry.pool.metrics() }));
  }

  #pool({ kind, key, capacity }: SyncRequest): PermitPool {
    const name = `${kind}:${key}`;
    let entry = this.#pools.get(name);
    if (entry === undefined) {
      entry = { kind, key, pool: new PermitPool(capacity, this.#run.platform.clock) };
      this.#pools.set(name, entry);
    }
    return entry.pool;
  }
}

const SYNC_LOCKS = Symbol('sync locks');

export function syncLocks(run: Run): SyncLocks {
  return run.service(SYNC_LOCKS, (owner) => new SyncLocks(owner));
}

/**
 * Enters a `mutex` block: exclusive over the whole run. A task that is already inside one enters again at once, since it
 * would otherwise wait for itself.
 *
 * @returns what `leaveMutex` needs
 */
export function enterMutex(context: Context): SyncPermit | undefined | Promise<SyncPermit | undefined> {
  const locks = syncLocks(context.run);
  if (locks.heldBy(context.taskId).some(isDefaultMutex)) return undefined;
  return locks.acquire(context, { kind: 'mutex', key: DEFAULT_MUTEX, capacity: 1, units: 1, timeoutMs: undefined });
}

export function leaveMutex(context: Context, held: SyncPermit | undefined): void {
  if (held !== undefined) syncLocks(context.run).release(held);
}

function isDefaultMutex(held: SyncPermit): boolean {
  return held.kind === 'mutex' && held.key === DEFAULT_MUTEX;
}
