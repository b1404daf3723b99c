import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'equal scope and key mean one cell, and initial counts once',
    'let a = shared_cell({key: "n", initial: 1}); let b = shared_cell({key: "n", initial: 9}); println([shared_set(a, 2), shared_get(b), shared_get("n")])',
    ['[1, 2, 2]'],
  ],
  ['a bare string is the key, with the initial value second', 'println(shared_get(shared_cell("n", 7)))', ['7']],
  [
    'scopes are apart',
    'shared_cell({scope: "process", key: "n", initial: 1}); shared_cell({scope: "task", key: "n", initial: 2}); println(shared_get({scope: "process", key: "n"})); println(await(spawn { shared_get(shared_cell({scope: "task", key: "n", initial: 3})) }))',
    ['1', '3'],
  ],
  [
    'tenants are apart',
    'let a = shared_cell({scope: "tenant", tenant_id: "a", key: "n", initial: 1}); let b = shared_cell({scope: "tenant", tenant_id: "b", key: "n", initial: 2}); println([shared_get(a), shared_get(b)])',
    ['[1, 2]'],
  ],
  [
    'a handle means the same cell in another task group',
    'let c = shared_cell({key: "n", initial: 0}); parallel 3 { i -> shared_set(c, shared_get(c) + 1) }; println(shared_get(c))',
    ['3'],
  ],
  [
    'an unknown scope is refused',
    'try { shared_cell({scope: "galaxy", key: "n"}) } catch (e) { println(e) }',
    ["Runtime error: shared_cell: unknown scope 'galaxy', expected one of task, task_group, workflow_run, agent_session, tenant, process"],
  ],
  [
    'cas compares values, or versions with a snapshot',
    'let c = shared_cell({key: "n", initial: 1}); let s = shared_snapshot(c); println(s); println([shared_cas(c, 1, 2), shared_cas(c, 1, 3), shared_cas(c, s, 4), shared_cas(c, shared_snapshot(c), 5), shared_get(c)])',
    ['{value: 1, version: 0}', '[true, false, false, true, 5]'],
  ],
  [
    'a snapshot notices a write of the same value',
    'let c = shared_cell({key: "n", initial: 1}); let s = shared_snapshot(c); shared_set(c, 1); println(shared_cas(c, s, 2))',
    ['false'],
  ],
  [
    'metrics',
    'let c = shared_cell({key: "n", initial: 1}); let s = shared_snapshot(c); shared_set(c, 2); shared_cas(c, s, 3); shared_cas(c, 2, 4); println(shared_metrics(c))',
    ['{cas_failure_count: 1, cas_success_count: 1, read_count: 1, stale_read_count: 1, version: 2, write_count: 2}'],
  ],
  [
    'a map',
    'let m = shared_map({key: "m", initial: {a: 1}}); println([shared_map_get(m, "a"), shared_map_get(m, "b"), shared_map_get(m, "b", 0), shared_map_set(m, "b", 2), shared_map_set(m, "b", 3), shared_map_delete(m, "a"), shared_map_delete(m, "a")]); println(shared_map_entries(m))',
    ['[1, nil, 0, nil, 2, 1, nil]', '{b: 3}'],
  ],
  [
    'cas on a key of a map, present and absent',
    'let m = shared_map("m"); let s = shared_map_snapshot(m, "k"); println(shared_map_cas(m, "k", s, 1)); println(shared_map_cas(m, "k", s, 2)); println(shared_map_cas(m, "k", 1, 3)); println(shared_map_get(m, "k"))',
    ['true', 'false', 'true', '3'],
  ],
  [
    'a key that was removed and set again is not unchanged',
    'let m = shared_map({key: "m", initial: {k: 1}}); let s = shared_map_snapshot(m, "k"); shared_map_delete(m, "k"); shared_map_set(m, "k", 1); println(shared_map_cas(m, "k", s, 2))',
    ['false'],
  ],
  [
    'a mailbox by name from another task',
    'let box = mailbox_open({name: "w", capacity: 4}); let h = spawn { mailbox_send("w", 1) }; println(mailbox_receive(box)); println(await(h))',
    ['1', 'true'],
  ],
  [
    'lookup, try_receive and close',
    'println(mailbox_lookup("w")); let box = mailbox_open("w"); println(mailbox_lookup("w")._type); println(mailbox_try_receive(box)); mailbox_send(box, 1); println([mailbox_close(box), mailbox_close(box), mailbox_send(box, 2), mailbox_receive(box), mailbox_receive(box)])',
    ['nil', 'mailbox', 'nil', '[true, false, false, 1, nil]'],
  ],
  ['sending to no mailbox is false', 'println(mailbox_send("nobody", 1)); println(mailbox_metrics("nobody"))', ['false', 'nil']],
  [
    'mailbox metrics',
    'let box = mailbox_open({name: "w", capacity: 3}); mailbox_send(box, 1); mailbox_send(box, 2); mailbox_receive(box); mailbox_close(box); mailbox_send(box, 3); println(mailbox_metrics(box))',
    ['{capacity: 3, closed: true, depth: 1, failed_send_count: 1, received_count: 1, sent_count: 2}'],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
