import type { Json, JsonObject } from '../../base/json.ts';
import type { Clock } from '../../platform/platform.ts';
import type { Run } from '../context.ts';

/** What others want of a workflow, in the order in which they asked, and what it lets them see. */
export class WorkflowMailbox {
  readonly #id: string;
  readonly #newId: (prefix: string) => string;
  readonly #waiting: JsonObject[] = [];
  readonly #queries = new Map<string, Json>();
  readonly #open = new Map<string, (value: Json) => void>();
  #isPaused = false;
  #generation = 1;

  constructor(id: string, newId: (prefix: string) => string) {
    this.#id = id;
    this.#newId = newId;
  }

  status(): JsonObject {
    return {
      workflow_id: this.#id,
      generation: this.#generation,
      paused: this.#isPaused,
      pending_count: this.#waiting.length,
      query_count: this.#queries.size,
      open_updates: this.#open.size,
    };
  }

  send(kind: 'signal' | 'update' | 'control', name: string, payload: Json, requestId?: string): JsonObject {
    const message: JsonObject = {
      workflow_id: this.#id,
      message_id: this.#newId('message'),
      kind,
      name,
      payload,
      ...(requestId === undefined ? {} : { request_id: requestId }),
    };
    this.#waiting.push(message);
    return message;
  }

  receive(): JsonObject | undefined {
    return this.#waiting.shift();
  }

  publish(name: string, value: Json): JsonObject {
    this.#queries.set(name, value);
    return this.status();
  }

  query(name: string): Json | undefined {
    return this.#queries.get(name);
  }

  setPaused(name: 'pause' | 'resume'): JsonObject {
    this.#isPaused = name === 'pause';
    this.send('control', name, null);
    return this.status();
  }

  nextGeneration(): JsonObject {
    this.#generation += 1;
    this.#open.clear();
    this.#waiting.splice(0);
    return this.status();
  }

  /** @returns whether somebody waited for it */
  respond(requestId: string, value: Json): boolean {
    const deliver = this.#open.get(requestId);
    this.#open.delete(requestId);
    deliver?.(value);
    return deliver !== undefined;
  }

  /** @returns undefined when nobody answered in time */
  async update(name: string, payload: Json, wait: UpdateWait): Promise<{ readonly value: Json } | undefined> {
    const requestId = this.#newId('request');
    const timer = new AbortController();
    const answer = new Promise<{ readonly value: Json }>((resolve) => this.#open.set(requestId, (value) => resolve({ value })));
    this.send('update', name, payload, requestId);
    try {
      const expired = wait.clock
        .sleep(wait.timeoutMs ?? DEFAULT_TIMEOUT_MS, AbortSignal.any([wait.signal, timer.signal]))
        .then(() => undefined);
      expired.catch(() => undefined);
      return await Promise.race([answer, expired]);
    } finally {
      timer.abort();
      this.#open.delete(requestId);
    }
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;

interface UpdateWait {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
}

const MAILBOXES = Symbol('workflow mailboxes');

/** The mailbox of a workflow of this run. */
export function openMailbox(run: Run, id: string): WorkflowMailbox {
  const mailboxes = run.service(MAILBOXES, () => new Map<string, WorkflowMailbox>());
  const known = mailboxes.get(id);
  if (known !== undefined) return known;
  const mailbox = new WorkflowMailbox(id, (prefix) => run.platform.random.id(prefix));
  mailboxes.set(id, mailbox);
  return mailbox;
}
