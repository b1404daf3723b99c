import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

/** Prints several values on one line. */
const SHOW = 'fn show(values) { println(join(values.map({ value -> to_string(value) }), " ")) }\n';

const TWO = 'let t = transcript_from_messages(["hi", {role: "assistant", content: "yes"}])\n';

const ROWS: ScriptRow[] = [
  [
    'messages and events',
    `${TWO}show([len(transcript_messages(t)), transcript_events(t).map({ e -> e.id }), t.state, t.version])`,
    ['2 [evt_1, evt_2] active 2'],
  ],
  [
    'renderings',
    `${TWO}println(transcript_render_visible(t))\nprintln(transcript_render_full(t))`,
    ['user: hi', 'assistant: yes', '[public] message user: hi', '[public] message assistant: yes'],
  ],
  ['export and import give the same', `${TWO}println(transcript_import(transcript_export(t)) == t)`, ['true']],
  ['a fork has its own id', `${TWO}println(transcript_id(transcript_fork(t)) != transcript_id(t))`, ['true']],
  [
    'compaction keeps the last messages and says what it did',
    `${TWO}let c = transcript_compact(t, {keep_last: 1, summary: "short"})
show([transcript_summary(c), transcript_messages(c).map({ m -> m.role }), len(transcript_events_by_kind(c, "compaction"))])`,
    ['short [user, assistant] 1'],
  ],
  [
    'reminders: a new one of the same key replaces the pending one',
    `${TWO}let one = transcript.inject_reminder(t, {body: "a", dedupe_key: "k", tags: ["x"]})
let two = transcript.inject_reminder(one.transcript, {body: "b", dedupe_key: "k"})
show([one.deduped_count, two.deduped_count, transcript_events_by_kind(two.transcript, "system_reminder").map({ e -> e.text })])
show([transcript.clear_reminders(two.transcript, {dedupe_key: "k"}).removed_count, transcript.clear_reminders(two.transcript, {tag: "x"}).removed_count])`,
    ['0 1 [b]', '1 0'],
  ],
  ['RMD-001', `${TWO}try { transcript.inject_reminder(t, {body: "a", colour: 1}) } catch (e) { println(e.code) }`, ['HARN-RMD-001']],
  ['RMD-002', `${TWO}try { transcript.inject_reminder(t, {body: " "}) } catch (e) { println(e.code) }`, ['HARN-RMD-002']],
  ['RMD-005', `${TWO}try { transcript.inject_reminder(t, {body: "a", propagate: "far"}) } catch (e) { println(e.code) }`, ['HARN-RMD-005']],
  [
    'sessions: unknown ids throw',
    'show([try { agent_session_length("x") }, agent_session_exists("x"), agent_session_snapshot("x")])',
    ['Result.Err(agent_session_length: unknown session: x) false nil'],
  ],
  [
    'sessions: forks know where they come from',
    `let a = agent_session_open("a")
agent_session_inject(a, {role: "user", content: "1"})
agent_session_inject(a, {role: "user", content: "2"})
let b = agent_session_fork_at(a, 1, "b")
show([agent_session_length(b), agent_session_ancestry(b).parent_id, agent_session_ancestry(a).children])`,
    ['1 a [b]'],
  ],
  [
    '3.12: a subscriber hears the events of its session, in order',
    `let s = agent_session_open()
agent_subscribe(s, { event -> println(event.type) })
agent_loop("x", nil, {provider: "mock", session_id: s})
show([agent_session_length(s), agent_session_current_id()])`,
    ['turn_start', 'agent_message_chunk', 'turn_end', 'iteration_end', '2 nil'],
  ],
];

describe('transcripts, reminders and sessions (3.9 to 3.12)', () => {
  test.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(SHOW + script)).toEqual(lines);
  });
});
