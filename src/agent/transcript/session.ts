import { HarnError } from '../../base/harn-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { RunningHistory } from '../loop-live.ts';
import { editTranscript } from '../loop-record.ts';
import { type CompactionPlan, removableRange } from './compaction.ts';
import type { Message } from './message.ts';
import { compacting, emptying, type SessionEdit, trimming } from './session-edit.ts';
import { appendMessage, createTranscript, type Transcript } from './transcript.ts';

/**
 * Named histories that outlive a loop (spec/agents.md 3.11). At most `LIMIT` of them; the least recently used one
 * goes first, but never one whose worker runs or is parked.
 */
export class SessionStore {
  /** In order of use, the latest last. */
  readonly #sessions = new Map<string, Session>();
  /** Sessions whose loop is running. */
  readonly #running = new Map<string, RunningHistory>();
  readonly #newId: () => string;
  readonly #isInUse: (id: string) => boolean;
  readonly #parked: (id: string) => Transcript | undefined;

  constructor(options: SessionWorld) {
    this.#newId = options.newId;
    this.#isInUse = options.isInUse;
    this.#parked = options.parked;
  }

  /** Creates it, or reuses what is there. */
  open(id: string = this.#newId(), parentId?: string): string {
    if (!this.#sessions.has(id)) {
      this.#sessions.set(id, { transcript: createTranscript(id), parentId });
      this.#evict();
    }
    this.#touch(id);
    return id;
  }

  /** Lets everybody see and change the history of a running loop. @returns what ends that */
  attach(id: string, history: RunningHistory): () => void {
    const before = this.#running.get(id);
    this.#running.set(id, history);
    return () => {
      if (before === undefined) this.#running.delete(id);
      else this.#running.set(id, before);
    };
  }

  exists(id: string): boolean {
    return this.#sessions.has(id) || this.isInUse(id);
  }

  /** Whether a loop is at work on it, or parked. */
  isInUse(id: string): boolean {
    return this.#running.has(id) || this.#isInUse(id);
  }

  /** Undefined for an unknown id. */
  transcript(id: string): Transcript | undefined {
    return this.#running.get(id)?.read() ?? this.#parked(id) ?? this.#sessions.get(id)?.transcript;
  }

  /** @throws HarnError `plain` for an unknown id */
  required(id: string, operation: string): Transcript {
    const transcript = this.transcript(id);
    if (transcript === undefined) throw new HarnError('plain', `${operation}: unknown session: ${id}`);
    this.#touch(id);
    return transcript;
  }

  /** Stores a history; creates the session when it is new. */
  save(id: string, transcript: Transcript): void {
    this.open(id);
    this.#sessions.set(id, { ...(this.#sessions.get(id) as Session), transcript });
    this.#touch(id);
  }

  inject(id: string, message: Message, operation: string): void {
    this.save(id, appendMessage(this.required(id, operation), message));
  }

  reset(id: string, operation: string): void {
    const { messages } = this.required(id, operation);
    if (!this.#editRunning(id, operation, emptying(messages))) this.save(id, createTranscript(id));
  }

  close(id: string, operation: string): void {
    this.required(id, operation);
    if (this.isInUse(id)) throw new HarnError('plain', `${operation}: an agent loop uses session ${id}; close it when the loop has ended`);
    this.#sessions.delete(id);
  }

  /**
   * @param plan made for `planned`, which may have changed since
   * @returns whether it still fits
   */
  compact(id: string, plan: CompactionPlan, planned: readonly Message[], operation: string): boolean {
    const edit = compacting(plan, planned);
    const transcript = this.required(id, operation);
    const record = edit(transcript);
    if (record === undefined) return false;
    if (!this.#editRunning(id, operation, edit)) this.save(id, editTranscript(transcript, record));
    return true;
  }

  /**
   * The history of a loop is the loop's: it changes it between two turns.
   *
   * @returns false when no loop has anything to do with it
   * @throws HarnError `plain` for the session of a parked loop, whose history is in its snapshot
   */
  #editRunning(id: string, operation: string, edit: SessionEdit): boolean {
    const running = this.#running.get(id);
    running?.edit(edit);
    if (running === undefined && this.#isInUse(id))
      throw new HarnError('plain', `${operation}: the agent loop of session ${id} is parked; resume or close it first`);
    return running !== undefined;
  }

  /** A copy under a new id, of the first `count` messages or of all. */
  fork(id: string, operation: string, newId?: string, count?: number): string {
    const source = this.required(id, operation);
    if (newId !== undefined && this.exists(newId)) throw new HarnError('plain', `${operation}: there is a session ${newId} already`);
    const copy = this.open(newId ?? this.#newId(), id);
    const kept = count === undefined ? source : replayed(copy, source.messages.slice(0, Math.max(0, count)));
    this.#sessions.set(copy, { transcript: { ...kept, id: copy }, parentId: id, branchedAt: kept.events.length });
    return copy;
  }

  trim(id: string, keepLast: number, operation: string): void {
    const { messages } = this.required(id, operation);
    if (this.#editRunning(id, operation, trimming(messages, keepLast))) return;
    const dropped = removableRange(messages, { keepFirst: 0, keepLast })?.removed ?? 0;
    this.save(id, replayed(id, messages.slice(dropped)));
  }

  /** The transcript with its place among the forks; undefined for an unknown id. */
  snapshot(id: string): JsonObject | undefined {
    const transcript = this.transcript(id);
    if (transcript === undefined) return undefined;
    const { parentId = null, branchedAt = null } = this.#sessions.get(id) ?? {};
    return { ...transcript, parent_id: parentId, child_ids: this.#children(id), branched_at_event_index: branchedAt };
  }

  #children(id: string): string[] {
    return [...this.#sessions].flatMap(([child, { parentId }]) => (parentId === id ? [child] : []));
  }

  ancestry(id: string): JsonObject {
    const ancestors: string[] = [];
    for (let parent = this.#sessions.get(id)?.parentId; parent !== undefined && !ancestors.includes(parent); ) {
      ancestors.push(parent);
      parent = this.#sessions.get(parent)?.parentId;
    }
    return { parent_id: ancestors[0] ?? null, children: this.#children(id), root_id: ancestors.at(-1) ?? id, ancestors };
  }

  #touch(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
  }

  #evict(): void {
    for (const id of [...this.#sessions.keys()].slice(0, -1)) {
      if (this.#sessions.size <= LIMIT) return;
      if (!this.#isInUse(id)) this.#sessions.delete(id);
    }
  }
}

export interface SessionWorld {
  readonly newId: () => string;
  /** A worker of this process runs or is parked with the session. */
  readonly isInUse: (id: string) => boolean;
  /** The history of a worker of this process that is parked. */
  readonly parked: (id: string) => Transcript | undefined;
}

interface Session {
  readonly transcript: Transcript;
  readonly parentId: string | undefined;
  /** How many events it had when it was forked. */
  readonly branchedAt?: number | undefined;
}

const LIMIT = 128;

function replayed(id: string, messages: readonly Message[]): Transcript {
  return messages.reduce((transcript, message) => appendMessage(transcript, message), createTranscript(id));
}
