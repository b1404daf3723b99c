import { Channel } from '../tasks/channel.ts';
import type { Context, Run } from './context.ts';
import { dictGet, dictOf } from './dict.ts';
import { display } from './display.ts';
import { runtimeError } from './errors.ts';
import { ROOT_TASK_ID } from './task-context.ts';
import { Dict, type Value } from './value.ts';

/**
 * State that tasks share on purpose (spec/language.md 10.5): cells, maps and mailboxes, found by scope and key. A handle
 * is a plain dict that carries the identity of its scope, so that it means the same cell in whatever task it is
 * used; a bare name means the name in the scope of the task that uses it.
 */
export type SharedKind = 'shared_cell' | 'shared_map' | 'mailbox';

export type SharedScope = 'task' | 'task_group' | 'workflow_run' | 'agent_session' | 'tenant' | 'process';

const SCOPES: readonly string[] = ['task', 'task_group', 'workflow_run', 'agent_session', 'tenant', 'process'];
const DEFAULT_SCOPE: SharedScope = 'task_group';

export interface SharedName {
  readonly scope: SharedScope;
  readonly scopeId: string;
  readonly key: string;
}

export interface SharedCounters {
  reads: number;
  writes: number;
  casSuccesses: number;
  casFailures: number;
  staleReads: number;
}

/** A cell, or one entry of a map. */
export interface Versioned {
  value: Value;
  version: number;
}

export interface SharedCell extends Versioned {
  readonly kind: 'shared_cell';
  readonly counters: SharedCounters;
}

export interface SharedMap {
  readonly kind: 'shared_map';
  readonly entries: Map<string, Versioned>;
  /** Of the whole map: grows with each write. */
  version: number;
  readonly counters: SharedCounters;
}

export interface Mailbox {
  readonly kind: 'mailbox';
  readonly queue: Channel<Value>;
  sent: number;
  received: number;
  failedSends: number;
}

/** All shared state of a run by kind, scope and key. */
export class SharedState {
  readonly #cells = new Map<string, SharedCell>();
  readonly #maps = new Map<string, SharedMap>();
  readonly #mailboxes = new Map<string, Mailbox>();

  openCell(name: SharedName, initial: Value): SharedCell {
    return openIn(this.#cells, name, () => ({ kind: 'shared_cell', value: initial, version: 0, counters: newCounters() }));
  }

  openMap(name: SharedName, initial: ReadonlyMap<string, Value>): SharedMap {
    return openIn(this.#maps, name, () => {
      const entries = [...initial].map(([key, value]): [string, Versioned] => [key, { value, version: 1 }]);
      return { kind: 'shared_map', entries: new Map(entries), version: 1, counters: newCounters() };
    });
  }

  openMailbox(name: SharedName, capacity: number): Mailbox {
    return openIn(this.#mailboxes, name, () => ({ kind: 'mailbox', queue: new Channel(capacity), sent: 0, received: 0, failedSends: 0 }));
  }

  cell(name: SharedName): SharedCell | undefined {
    return this.#cells.get(pathOf(name));
  }

  map(name: SharedName): SharedMap | undefined {
    return this.#maps.get(pathOf(name));
  }

  mailbox(name: SharedName): Mailbox | undefined {
    return this.#mailboxes.get(pathOf(name));
  }
}

const SHARED_STATE = Symbol('shared state');

export function sharedState(run: Run): SharedState {
  return run.service(SHARED_STATE, () => new SharedState());
}

export function handleOf(kind: SharedKind, name: SharedName): Dict {
  return dictOf([
    ['_type', kind],
    ['scope', name.scope],
    ['scope_id', name.scopeId],
    ['key', name.key],
  ]);
}

/**
 * The name that an options dict, a handle or a bare string stands for.
 *
 * @param field the option that holds the name: `key`, or `name` for mailboxes
 */
export function nameOf(context: Context, caller: string, value: Value, field: 'key' | 'name'): SharedName {
  if (!(value instanceof Dict)) return { scope: DEFAULT_SCOPE, scopeId: scopeId(context, DEFAULT_SCOPE, undefined), key: display(value) };
  const scope = scopeOf(caller, dictGet(value, 'scope'));
  const key = dictGet(value, field) ?? dictGet(value, 'key') ?? dictGet(value, 'name');
  if (key === undefined) throw runtimeError(`${caller}: ${field} is required`);
  const known = dictGet(value, 'scope_id');
  const id = typeof known === 'string' ? known : scopeId(context, scope, dictGet(value, 'tenant_id'));
  return { scope, scopeId: id, key: display(key) };
}

export function scopeOf(caller: string, value: Value): SharedScope {
  if (value === undefined) return DEFAULT_SCOPE;
  const scope = display(value);
  if (!SCOPES.includes(scope)) throw runtimeError(`${caller}: unknown scope '${scope}', expected one of ${SCOPES.join(', ')}`);
  return scope as SharedScope;
}

/** What tells two scopes of the same sort apart, from the view of the running task. */
export function scopeId(context: Context, scope: SharedScope, tenantId: Value): string {
  switch (scope) {
    case 'task':
      return context.taskId;
    case 'task_group':
      return context.taskGroupId ?? ROOT_TASK_ID;
    case 'tenant':
      return tenantId === undefined ? 'default' : display(tenantId);
    default:
      return scope;
  }
}

function pathOf({ scope, scopeId: id, key }: SharedName): string {
  return JSON.stringify([scope, id, key]);
}

function openIn<T>(shelf: Map<string, T>, name: SharedName, create: () => T): T {
  const path = pathOf(name);
  let found = shelf.get(path);
  if (found === undefined) {
    found = create();
    shelf.set(path, found);
  }
  return found;
}

function newCounters(): SharedCounters {
  return { reads: 0, writes: 0, casSuccesses: 0, casFailures: 0, staleReads: 0 };
}
