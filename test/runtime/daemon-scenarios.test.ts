import { afterEach, beforeEach, expect, test } from 'vitest';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

/** Works until a file says go. */
const WORK = `
tool work(seq: int) -> string {
  while !file_exists(DIR + "/go") { sleep(5ms) }
  return "worked"
}
`;

test('T45: a full queue refuses one more; order and counts hold over a restart, and what was in flight comes again once', async () => {
  const filled = await folder.lines(`
    ${WORK}
    llm_mock({text: "ready"})
    llm_mock({tool_calls: [{name: "work", arguments: {seq: 1}}]})
    let d = daemon_spawn({task: "Watch", provider: "mock", tool_format: "native", tools: work, persist_path: DIR,
      wake_interval_ms: 3600000, event_queue_capacity: 8})
    for n in [1, 2, 3, 4, 5, 6, 7, 8] { daemon_trigger(d, {n: n}) }
    println(replace(to_string(try { daemon_trigger(d, {n: 9}) } catch e { e }), d.id, "X"))
    while daemon_snapshot(d).inflight_event == nil { sleep(1ms) }
    let s = daemon_snapshot(d)
    println("\${s.pending_event_count} \${s.queued_event_count} \${s.inflight_event.seq}")
    println(daemon_stop(d).pending_event_count)
  `);
  expect(filled).toEqual(["Daemon queue full: daemon 'X' reached its event_queue_capacity of 8", '7 8 1', '8']);
  const emptied = await folder.lines(`
    ${WORK}
    for n in [1, 2, 3, 4, 5, 6, 7, 8] { llm_mock({text: "handled"}) }
    let d = daemon_resume(DIR)
    daemon_wait(d, 10)
    let told = daemon_snapshot(d).recorded_messages.filter({ m -> m.role == "user" && contains(to_string(m.content), "Daemon event") })
    println(told.map({ m -> regex_captures("\\"seq\\":(\\\\d+)", m.content)[0].groups[0] }))
    println(daemon_stop(d).queued_event_count)
  `);
  expect(emptied).toEqual(['[1, 1, 2, 3, 4, 5, 6, 7, 8]', '0']);
});
