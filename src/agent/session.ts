import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import type { Message } from './message.ts';
import { appendMessage, createTranscript, type Transcript } from './transcript.ts';

/**
 * Named histories that outlive a loop (spec/agents.md 3.11). At most `LIMIT` of them; the least recently used one
 * goes first, but never one whose worker runs or is parked.
 */
export class SessionStore {
  /** In order of use, the latest last. */
  readonly #sessions = new Map<string, Session>();
  /** Transcripts of sessions whose loop is running. */
  readonly #running = new Map<string, () => Transcript>();
  readonly #newId: () => string;
  readonly #isInUse: (id: string) => boolean;

  constructor(options: { readonly newId: () => string; readonly isInUse: (id: string) => boolean }) {
    this.#newId = options.newId;
    this.#isInUse = options.isInUse;
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

  /** Lets everybody see the transcript of a running loop. @returns what ends that */
  attach(id: string, read: () => Transcript): () => void {
    const before = this.#running.get(id);
    this.#running.set(id, read);
    return () => {
      if (before === undefined) this.#running.delete(id);
      else this.#running.set(id, before);
    };
  }

  exists(id: string): boolean {
    return this.#sessions.has(id) || this.#running.has(id);
  }

  /** Whether a loop is at work on it. */
  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Undefined for an unknown id. */
  transcript(id: string): Transcript | undefined {
    return this.#running.get(id)?.() ?? this.#sessions.get(id)?.transcript;
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
    this.required(id, operation);
    this.save(id, createTranscript(id));
  }

  close(id: string, operation: string): void {
    this.required(id, operation);
    this.#sessions.delete(id);
  }

  /** A copy under a new id, of the first `count` messages or of all. */
  fork(id: string, operation: string, newId?: string, count?: number): string {
    const source = this.required(id, operation);
    const copy = this.open(newId ?? this.#newId(), id);
    const kept = count === undefined ? source : replayed(copy, source.messages.slice(0, Math.max(0, count)));
    this.#sessions.set(copy, { transcript: { ...kept, id: copy }, parentId: id, branchedAt: kept.events.length });
    return copy;
  }

  trim(id: string, keepLast: number, operation: string): void {
    const { messages } = this.required(id, operation);
    this.save(id, replayed(id, messages.slice(Math.max(0, messages.length - keepLast))));
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
