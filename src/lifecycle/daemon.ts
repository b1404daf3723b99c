import type { JsonObject } from '../base/json.ts';
import type { Disk } from '../store/atomic-file.ts';
import type { Claim } from '../store/claim-file.ts';
import { type DaemonEvent, type DaemonMeta, daemonFiles, readDaemonMeta, writeDaemonMeta } from '../store/daemon-file.ts';
import { DaemonQueue, DEFAULT_QUEUE_CAPACITY, type QueueState, queueFacts, queueStateOf } from './daemon-queue.ts';

/** What a daemon is made of besides its loop (spec/agents.md 11.3): who it is, where it lives, its queue. */
export interface DaemonIdentity {
  readonly id: string;
  readonly name: string;
  readonly prompt: string;
  readonly system: string | null;
  readonly sessionId: string;
  readonly workerId: string;
  readonly options: JsonObject;
  readonly capacity: number;
}

/** Where a daemon keeps its files. */
export interface DaemonPlace {
  /** Absolute directory of the queue's file; undefined keeps the queue in the worker's snapshots only. */
  readonly directory: string | undefined;
  /** Its own snapshot: absolute, and as its author wrote the path; undefined for a daemon without one. */
  readonly file: { readonly path: string; readonly shown: string } | undefined;
}

/**
 * A daemon of this process. It is also what its loop sees of it: the loop takes events, and says which of them it is
 * done with.
 */
export class Daemon {
  readonly identity: DaemonIdentity;
  readonly directory: string | undefined;
  readonly file: DaemonPlace['file'];
  readonly queue: DaemonQueue;
  readonly #disk: Disk;
  /** Stopped by its owner; nothing wakes it any more. */
  isStopped = false;
  /** Keeps every other process off the directory while the daemon runs. */
  claim: Claim | undefined;
  #restored: JsonObject | undefined;
  #isRestored = false;

  constructor(disk: Disk, identity: DaemonIdentity, place: DaemonPlace, state: QueueState) {
    this.#disk = disk;
    this.identity = identity;
    this.directory = place.directory;
    this.file = place.file;
    const path = place.directory === undefined ? undefined : daemonFiles(place.directory).meta;
    this.queue = new DaemonQueue({
      daemonId: identity.id,
      capacity: identity.capacity,
      state,
      save: (changed) => {
        if (path !== undefined) writeDaemonMeta(disk, path, metaOf(identity, changed));
      },
    });
  }

  /** Looks at the queue's file again: another process may have run the daemon meanwhile. */
  reload(): void {
    const meta = this.directory === undefined ? undefined : readDaemonMeta(this.#disk.files, daemonFiles(this.directory).meta);
    if (meta !== undefined) this.queue.reload(queueStateOf(meta));
  }

  /** Makes the next activation wait again instead of asking the model. */
  restore(block: JsonObject | undefined): void {
    this.#restored = block;
    this.#isRestored = true;
  }

  begin(): { readonly restored: JsonObject | undefined; readonly isRestored: boolean } {
    const begun = { restored: this.#restored, isRestored: this.#isRestored };
    this.#restored = undefined;
    this.#isRestored = false;
    return begun;
  }

  get inflightSeq(): number | undefined {
    return this.queue.state.inflight?.seq;
  }

  get next(): DaemonEvent | undefined {
    return this.queue.state.pending[0];
  }

  take(): DaemonEvent | undefined {
    return this.queue.take();
  }

  settle(seq: number): void {
    this.queue.settle(seq);
  }

  putBack(): void {
    this.queue.putBack();
  }

  facts(): JsonObject {
    return queueFacts(this.queue.state);
  }
}

/** A daemon that its directory remembers; undefined when there is no file of its queue. */
export function openDaemon(disk: Disk, directory: string, file: DaemonPlace['file'], target?: string): Daemon | undefined {
  const meta = readDaemonMeta(disk.files, daemonFiles(directory).meta, target);
  if (meta === undefined) return undefined;
  const identity: DaemonIdentity = {
    id: meta.id,
    name: meta.name,
    prompt: meta.prompt,
    system: meta.system,
    sessionId: meta.session_id,
    workerId: meta.worker_id,
    options: meta.options,
    capacity: meta.event_queue_capacity,
  };
  return new Daemon(disk, identity, { directory, file }, queueStateOf(meta));
}

export function queueCapacity(value: unknown): number {
  return typeof value === 'number' ? value : DEFAULT_QUEUE_CAPACITY;
}

function metaOf(identity: DaemonIdentity, { pending, inflight, nextSeq }: QueueState): DaemonMeta {
  return {
    _type: 'daemon_meta',
    id: identity.id,
    name: identity.name,
    prompt: identity.prompt,
    system: identity.system,
    session_id: identity.sessionId,
    worker_id: identity.workerId,
    options: identity.options,
    event_queue_capacity: identity.capacity,
    next_event_seq: nextSeq,
    pending_events: pending,
    inflight_event: inflight ?? null,
  };
}

/** The daemons of a process, by their own id and by that of the worker which runs them now. */
export class DaemonRegistry {
  readonly #byId = new Map<string, Daemon>();

  add(daemon: Daemon): void {
    this.#byId.set(daemon.identity.id, daemon);
  }

  get(id: string): Daemon | undefined {
    return this.#byId.get(id);
  }

  ofWorker(workerId: string): Daemon | undefined {
    return [...this.#byId.values()].find((daemon) => daemon.identity.workerId === workerId);
  }

  inDirectory(directory: string): Daemon | undefined {
    return [...this.#byId.values()].findLast((daemon) => daemon.directory === directory);
  }
}
