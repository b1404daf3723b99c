import { CLOSED } from '../../tasks/channel.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictGet, dictHas, dictOf, dictSize } from '../dict.ts';
import { display } from '../display.ts';
import { equals } from '../equality.ts';
import { runtimeError } from '../errors.ts';
import { andThen } from '../maybe-async.ts';
import {
  handleOf,
  type Mailbox,
  nameOf,
  type SharedCell,
  type SharedCounters,
  type SharedMap,
  type SharedName,
  scopeId,
  scopeOf,
  sharedState,
  type Versioned,
} from '../shared.ts';
import { Dict, type Value } from '../value.ts';

const DEFAULT_MAILBOX_CAPACITY = 256;

export const sharedBuiltins: BuiltinGroup = {
  name: 'shared',
  title: 'Shared state and mailboxes',
  errors: [{ text: "Runtime error: NAME: no shared cell 'K' in scope S", when: 'a name of nothing; `no shared map` likewise' }],
  builtins: {
    shared_cell: {
      signature: '(options: dict | string, initial: any = nil) -> dict',
      doc: 'A value that tasks share: {scope, key, initial, tenant_id}, or a bare key. Equal scope and key mean the same cell; initial counts only for the first call.',
      call: (context, _depth, options, initial) => {
        const name = nameOf(context, 'shared_cell', options, 'key');
        sharedState(context.run).openCell(name, initialOf(options, initial));
        return handleOf('shared_cell', name);
      },
    },
    shared_map: {
      signature: '(options: dict | string, initial: dict = nil) -> dict',
      doc: 'A dict that tasks share; options as for shared_cell.',
      call: (context, _depth, options, initial) => {
        const name = nameOf(context, 'shared_map', options, 'key');
        const start = initialOf(options, initial);
        sharedState(context.run).openMap(name, new Map(start instanceof Dict ? dictEntries(start) : []));
        return handleOf('shared_map', name);
      },
    },
    shared_scope_id: {
      signature: '(scope: string = "task_group", tenant_id: string = nil) -> string',
      doc: 'What identifies a scope from the view of this task.',
      call: (context, _depth, scope, tenantId) => scopeId(context, scopeOf('shared_scope_id', scope), tenantId),
    },
    shared_get: {
      signature: '(cell: dict | string) -> any',
      doc: 'The value of a shared cell.',
      call: (context, _depth, handle) => {
        const cell = cellOf(context, 'shared_get', handle);
        cell.counters.reads++;
        return cell.value;
      },
    },
    shared_set: {
      signature: '(cell: dict | string, value: any) -> any',
      doc: 'Stores a value in a shared cell and gives the previous one.',
      call: (context, _depth, handle, value) => {
        const cell = cellOf(context, 'shared_set', handle);
        const previous = cell.value;
        write(cell, value, cell.counters);
        return previous;
      },
    },
    shared_snapshot: {
      signature: '(cell: dict | string) -> dict',
      doc: 'The value of a shared cell with its version: {value, version}. Give it to shared_cas.',
      call: (context, _depth, handle) => {
        const cell = cellOf(context, 'shared_snapshot', handle);
        cell.counters.reads++;
        return snapshot(cell);
      },
    },
    shared_cas: {
      signature: '(cell: dict | string, expected: any, value: any) -> bool',
      doc: 'Stores a value in a shared cell when it still holds the expected value, or, with a snapshot, when nobody wrote since. Tells whether it did.',
      call: (context, _depth, handle, expected, value) => {
        const cell = cellOf(context, 'shared_cas', handle);
        return swap(cell, expected, cell.counters, () => write(cell, value, cell.counters));
      },
    },
    shared_map_get: {
      signature: '(map: dict | string, key: any, default: any = nil) -> any',
      doc: 'The value under a key of a shared map, or the default.',
      call: (context, _depth, handle, key, otherwise) => {
        const map = mapOf(context, 'shared_map_get', handle);
        map.counters.reads++;
        const entry = map.entries.get(display(key));
        return entry === undefined ? otherwise : entry.value;
      },
    },
    shared_map_set: {
      signature: '(map: dict | string, key: any, value: any) -> any',
      doc: 'Stores a value under a key of a shared map and gives the previous one.',
      call: (context, _depth, handle, key, value) => {
        const map = mapOf(context, 'shared_map_set', handle);
        const previous = map.entries.get(display(key))?.value;
        writeEntry(map, display(key), value);
        return previous;
      },
    },
    shared_map_delete: {
      signature: '(map: dict | string, key: any) -> any',
      doc: 'Removes a key from a shared map and gives the value it had.',
      call: (context, _depth, handle, key) => {
        const map = mapOf(context, 'shared_map_delete', handle);
        const previous = map.entries.get(display(key));
        if (previous === undefined) return undefined;
        map.entries.delete(display(key));
        map.version++;
        map.counters.writes++;
        return previous.value;
      },
    },
    shared_map_entries: {
      signature: '(map: dict | string) -> dict',
      doc: 'All entries of a shared map as a dict.',
      call: (context, _depth, handle) => {
        const map = mapOf(context, 'shared_map_entries', handle);
        map.counters.reads++;
        return dictOf([...map.entries].map(([key, entry]): [string, Value] => [key, entry.value]));
      },
    },
    shared_map_snapshot: {
      signature: '(map: dict | string, key: any) -> dict',
      doc: 'The value under a key of a shared map with its version: {value, version}. Give it to shared_map_cas.',
      call: (context, _depth, handle, key) => {
        const map = mapOf(context, 'shared_map_snapshot', handle);
        map.counters.reads++;
        return snapshot(map.entries.get(display(key)) ?? ABSENT);
      },
    },
    shared_map_cas: {
      signature: '(map: dict | string, key: any, expected: any, value: any) -> bool',
      doc: 'Stores a value under a key of a shared map when it still holds the expected value, or, with a snapshot, when nobody wrote to the key since. Tells whether it did.',
      call: (context, _depth, handle, key, expected, value) => {
        const map = mapOf(context, 'shared_map_cas', handle);
        const entry = map.entries.get(display(key)) ?? ABSENT;
        return swap(entry, expected, map.counters, () => writeEntry(map, display(key), value));
      },
    },
    shared_metrics: {
      signature: '(handle: dict | string) -> dict',
      doc: 'Counters of a shared cell or map: read_count, write_count, cas_success_count, cas_failure_count, stale_read_count, version.',
      call: (context, _depth, handle) => metrics(cellOrMap(context, handle)),
    },
    mailbox_open: {
      signature: '(options: dict | string, capacity: int = 256) -> dict',
      doc: 'Opens a mailbox, or finds the one of that name: {scope, name, capacity}, or a bare name.',
      call: (context, _depth, options, capacity) => {
        const name = nameOf(context, 'mailbox_open', options, 'name');
        const size = options instanceof Dict ? (dictGet(options, 'capacity') ?? capacity) : capacity;
        sharedState(context.run).openMailbox(name, typeof size === 'number' ? size : DEFAULT_MAILBOX_CAPACITY);
        return mailboxHandle(name);
      },
    },
    mailbox_lookup: {
      signature: '(name: dict | string) -> dict | nil',
      doc: 'The handle of a mailbox, nil when there is none of that name.',
      call: (context, _depth, target) => {
        const name = nameOf(context, 'mailbox_lookup', target, 'name');
        return sharedState(context.run).mailbox(name) === undefined ? undefined : mailboxHandle(name);
      },
    },
    mailbox_send: {
      signature: '(mailbox: dict | string, value: any) -> bool',
      doc: 'Puts a value in a mailbox and waits while it is full. False when there is no such mailbox or it is closed.',
      colour: 'async',
      call: (context, _depth, target, value) => {
        const mailbox = findMailbox(context, 'mailbox_send', target);
        if (mailbox === undefined) return false;
        return andThen(mailbox.queue.send(value, context.signal), (sent) => {
          if (sent) mailbox.sent++;
          else mailbox.failedSends++;
          return sent;
        });
      },
    },
    mailbox_receive: {
      signature: '(mailbox: dict | string) -> any',
      doc: 'The next value of a mailbox; waits for one. Nil when it is closed and empty, or when there is no such mailbox.',
      colour: 'async',
      call: (context, _depth, target) => {
        const mailbox = findMailbox(context, 'mailbox_receive', target);
        if (mailbox === undefined) return undefined;
        return andThen(mailbox.queue.receive(context.signal), (value) => {
          if (value === CLOSED) return undefined;
          mailbox.received++;
          return value;
        });
      },
    },
    mailbox_try_receive: {
      signature: '(mailbox: dict | string) -> any',
      doc: 'The next value of a mailbox, or nil when there is none now.',
      call: (context, _depth, target) => {
        const mailbox = findMailbox(context, 'mailbox_try_receive', target);
        const ready = mailbox?.queue.tryReceive();
        if (mailbox === undefined || ready === undefined) return undefined;
        mailbox.received++;
        return ready.value;
      },
    },
    mailbox_close: {
      signature: '(mailbox: dict | string) -> bool',
      doc: 'Closes a mailbox; what is in it can still be received. False when there is none or it was closed already.',
      call: (context, _depth, target) => {
        const mailbox = findMailbox(context, 'mailbox_close', target);
        if (mailbox === undefined || mailbox.queue.isClosed) return false;
        mailbox.queue.close();
        return true;
      },
    },
    mailbox_metrics: {
      signature: '(mailbox: dict | string) -> dict | nil',
      doc: 'Counters of a mailbox: capacity, depth, sent_count, received_count, failed_send_count, closed. Nil when there is none.',
      call: (context, _depth, target) => {
        const mailbox = findMailbox(context, 'mailbox_metrics', target);
        return mailbox === undefined ? undefined : mailboxMetrics(mailbox);
      },
    },
  },
};

/** An entry that a map does not have: its version is older than that of any other. */
const ABSENT: Versioned = { value: undefined, version: 0 };

function initialOf(options: Value, initial: Value): Value {
  return options instanceof Dict ? (dictGet(options, 'initial') ?? initial) : initial;
}

function cellOf(context: Context, caller: string, handle: Value): SharedCell {
  const name = nameOf(context, caller, handle, 'key');
  const cell = sharedState(context.run).cell(name);
  if (cell === undefined) throw runtimeError(`${caller}: no shared cell '${name.key}' in scope ${name.scope}`);
  return cell;
}

function mapOf(context: Context, caller: string, handle: Value): SharedMap {
  const name = nameOf(context, caller, handle, 'key');
  const map = sharedState(context.run).map(name);
  if (map === undefined) throw runtimeError(`${caller}: no shared map '${name.key}' in scope ${name.scope}`);
  return map;
}

function cellOrMap(context: Context, handle: Value): SharedCell | SharedMap {
  const name = nameOf(context, 'shared_metrics', handle, 'key');
  const wantsMap = handle instanceof Dict && dictGet(handle, '_type') === 'shared_map';
  const state = sharedState(context.run);
  const found = wantsMap ? state.map(name) : (state.cell(name) ?? state.map(name));
  if (found === undefined) throw runtimeError(`shared_metrics: no shared cell or map '${name.key}' in scope ${name.scope}`);
  return found;
}

function write(target: Versioned, value: Value, counters: SharedCounters): void {
  target.value = value;
  target.version++;
  counters.writes++;
}

function writeEntry(map: SharedMap, key: string, value: Value): void {
  map.version++;
  map.counters.writes++;
  // The version of the map, so that a key that was removed and set again does not look unchanged.
  map.entries.set(key, { value, version: map.version });
}

function swap(current: Versioned, expected: Value, counters: SharedCounters, store: () => void): boolean {
  const version = snapshotVersion(expected);
  const fits = version === undefined ? equals(current.value, expected) : version === current.version;
  if (!fits) {
    counters.casFailures++;
    if (version !== undefined) counters.staleReads++;
    return false;
  }
  store();
  counters.casSuccesses++;
  return true;
}

function snapshot(current: Versioned): Dict {
  return dictOf([
    ['value', current.value],
    ['version', current.version],
  ]);
}

/** A snapshot is a dict of exactly `value` and `version`; undefined for any other value. */
function snapshotVersion(value: Value): number | undefined {
  if (!(value instanceof Dict) || dictSize(value) !== 2 || !dictHas(value, 'value')) return undefined;
  const version = dictGet(value, 'version');
  return typeof version === 'number' ? version : undefined;
}

function metrics({ counters, version }: SharedCell | SharedMap): Dict {
  return dictOf([
    ['read_count', counters.reads],
    ['write_count', counters.writes],
    ['cas_success_count', counters.casSuccesses],
    ['cas_failure_count', counters.casFailures],
    ['stale_read_count', counters.staleReads],
    ['version', version],
  ]);
}

function mailboxHandle(name: SharedName): Dict {
  return dictOf([...dictEntries(handleOf('mailbox', name)), ['name', name.key]]);
}

function findMailbox(context: Context, caller: string, target: Value): Mailbox | undefined {
  return sharedState(context.run).mailbox(nameOf(context, caller, target, 'name'));
}

function mailboxMetrics(mailbox: Mailbox): Dict {
  return dictOf([
    ['capacity', mailbox.queue.capacity],
    ['closed', mailbox.queue.isClosed],
    ['depth', mailbox.queue.size],
    ['failed_send_count', mailbox.failedSends],
    ['received_count', mailbox.received],
    ['sent_count', mailbox.sent],
  ]);
}
