import { add, normalInt } from '../arithmetic.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { DEFAULT_MUTEX, type NamedMetrics, SyncPermit, type SyncRequest, syncLocks } from '../concurrency/sync.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { equals } from '../equality.ts';
import { typeError } from '../errors.ts';
import { type Dict, Float, Handle, typeOf, type Value } from '../value.ts';

/** An int that tasks share by reference (spec/language.md 10.4). */
export class AtomicHandle extends Handle {
  readonly typeName = 'atomic';
  value: Value;

  constructor(value: Value) {
    super();
    this.value = value;
  }

  display(): string {
    return `<atomic:${display(this.value)}>`;
  }

  /** Current values count, not cells. */
  override isEqualTo(other: Handle): boolean {
    return other instanceof AtomicHandle && equals(this.value, other.value);
  }
}

/** A readers-writer lock is a pool of this many units: readers take one, a writer takes all. */
const RWLOCK_UNITS = 1 << 30;

export const synchronisationBuiltins: BuiltinGroup = {
  name: 'synchronisation',
  title: 'Atomics and locks',
  errors: [
    { text: 'Type error: sync_rwlock_acquire: mode must be "read" or "write", got V', when: '`sync_rwlock_acquire`' },
    {
      text: 'Type error: NAME: capacity must be a positive int, got V',
      when: 'a capacity, a limit or a number of permits that is not positive',
    },
  ],
  builtins: {
    atomic: {
      signature: '(init: any = 0) -> atomic',
      doc: 'A cell with an int that all tasks share. A float is truncated, true is 1 and false is 0.',
      call: (_context, _depth, init) => new AtomicHandle(cellInt(init)),
    },
    atomic_get: {
      signature: '(cell: atomic) -> int',
      doc: 'The value of an atomic.',
      call: (_context, _depth, cell) => (cell instanceof AtomicHandle ? cell.value : undefined),
    },
    atomic_set: {
      signature: '(cell: atomic, value: any) -> int',
      doc: 'Stores a value in an atomic and gives the previous one.',
      call: (_context, _depth, cell, value) => exchange(cell, () => cellInt(value)),
    },
    atomic_add: {
      signature: '(cell: atomic, delta: any) -> int',
      doc: 'Adds to an atomic and gives the previous value.',
      call: (_context, _depth, cell, delta) => exchange(cell, (value) => add(value, cellInt(delta))),
    },
    atomic_cas: {
      signature: '(cell: atomic, expected: any, value: any) -> bool',
      doc: 'Stores a value in an atomic when it holds the expected one; tells whether it did.',
      call: (_context, _depth, cell, expected, value) => {
        if (!(cell instanceof AtomicHandle) || !equals(cell.value, expected)) return false;
        cell.value = cellInt(value);
        return true;
      },
    },
    sync_mutex_acquire: acquisition(
      '(key: any = "__default__", timeout: duration | int = nil) -> sync_permit | nil',
      'Takes the named mutex. Nil when the time is up first; a timeout of 0 does not wait.',
      (key, timeout) => ({
        kind: 'mutex',
        key: key === undefined ? DEFAULT_MUTEX : display(key),
        capacity: 1,
        units: 1,
        timeoutMs: durationMs(timeout),
      }),
    ),
    sync_semaphore_acquire: acquisition(
      '(key: any, capacity: int, permits: int = 1, timeout: duration | int = nil) -> sync_permit | nil',
      'Takes permits of the named semaphore, first come, first served. The first caller sets the capacity. Nil when the time is up first.',
      (key, capacity, permits, timeout) => ({
        kind: 'semaphore',
        key: display(key),
        capacity: positive('sync_semaphore_acquire', 'capacity', capacity),
        units: permits === undefined ? 1 : positive('sync_semaphore_acquire', 'permits', permits),
        timeoutMs: durationMs(timeout),
      }),
    ),
    sync_gate_acquire: acquisition(
      '(key: any, limit: int, timeout: duration | int = nil) -> sync_permit | nil',
      'Takes one of the places of the named gate, first come, first served. Nil when the time is up first.',
      (key, limit, timeout) => ({
        kind: 'gate',
        key: display(key),
        capacity: positive('sync_gate_acquire', 'limit', limit),
        units: 1,
        timeoutMs: durationMs(timeout),
      }),
    ),
    sync_rwlock_acquire: acquisition(
      '(key: any, mode: string, timeout: duration | int = nil) -> sync_permit | nil',
      'Takes the named lock for "read", together with other readers, or for "write", alone. A waiting writer holds up later readers. Nil when the time is up first.',
      (key, mode, timeout) => ({
        kind: 'rwlock',
        key: display(key),
        capacity: RWLOCK_UNITS,
        units: lockUnits(mode),
        timeoutMs: durationMs(timeout),
      }),
    ),
    sync_release: {
      signature: '(permit: sync_permit) -> bool',
      doc: 'Gives a permit back. True the first time, false afterwards.',
      call: (context, _depth, permit) => permit instanceof SyncPermit && syncLocks(context.run).release(permit),
    },
    sync_metrics: {
      signature: '(kind: any = nil, key: any = nil) -> dict | list<dict> | nil',
      doc: 'Counters of the named locks. With kind and key one dict, or nil when there is no such lock; otherwise a list of those that fit.',
      call: (context, _depth, kind, key) => {
        const found = syncLocks(context.run).metrics(optionalText(kind), optionalText(key)).map(metricsDict);
        return kind !== undefined && key !== undefined ? found[0] : found;
      },
    },
  },
};

function acquisition(signature: string, doc: string, request: (...args: Value[]) => SyncRequest): Builtin {
  return {
    signature,
    doc,
    colour: 'async',
    call: (context: Context, _depth, ...args) => syncLocks(context.run).acquire(context, request(...args)),
  };
}

function exchange(cell: Value, change: (value: Value) => Value): Value {
  if (!(cell instanceof AtomicHandle)) return undefined;
  const previous = cell.value;
  cell.value = change(previous);
  return previous;
}

function cellInt(value: Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Float) return Number.isFinite(value.value) ? normalInt(BigInt(Math.trunc(value.value))) : 0;
  return value === true ? 1 : 0;
}

function positive(caller: string, what: string, value: Value): number {
  if (typeof value === 'number' && value >= 1) return value;
  throw typeError(
    `${caller}: ${what} must be a positive int, got ${value !== undefined && typeof value === 'number' ? value : typeOf(value)}`,
  );
}

function lockUnits(mode: Value): number {
  if (mode === 'read') return 1;
  if (mode === 'write') return RWLOCK_UNITS;
  throw typeError(`sync_rwlock_acquire: mode must be "read" or "write", got ${display(mode)}`);
}

function optionalText(value: Value): string | undefined {
  return value === undefined ? undefined : display(value);
}

function metricsDict({ kind, key, metrics }: NamedMetrics): Dict {
  return dictOf([
    ['kind', kind],
    ['key', key],
    ['acquisition_count', metrics.acquisitionCount],
    ['timeout_count', metrics.timeoutCount],
    ['cancellation_count', metrics.cancellationCount],
    ['release_count', metrics.releaseCount],
    ['current_held', metrics.currentHeld],
    ['current_queue_depth', metrics.currentQueueDepth],
    ['max_queue_depth', metrics.maxQueueDepth],
    ['total_wait_ms', metrics.totalWaitMs],
    ['total_held_ms', metrics.totalHeldMs],
  ]);
}
