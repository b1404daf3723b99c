import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

const lines = (text: string): Promise<string[]> => folder.lines(text);

/** A tool that waits until a file says go, so that a daemon is at work for as long as a test wants. */
const GATE = `
tool work(seq: int) -> string {
  description "Works on an event"
  while !file_exists(DIR + "/go") { sleep(5ms) }
  return "worked on \${seq}"
}
`;

const SPAWN = `daemon_spawn({task: "Watch", name: "watcher", provider: "mock", tool_format: "native", persist_path: DIR})`;

describe('daemons of scripts (11.3)', () => {
  test('R87: without a wake source a daemon parks through the await primitive, and a trigger wakes it for one turn', async () => {
    expect(
      await lines(`
        llm_mock({text: "ready"})
        llm_mock({text: "handled"})
        let d = ${SPAWN}
        println(d.status + " " + d.daemon_state)
        let w = wait_agent(d.worker_id)
        println(w.status + " " + w.suspension.reason + " " + w.suspension.initiator)
        daemon_trigger(d, {path: "a"})
        daemon_wait(d, 2)
        wait_agent(d.worker_id)
        let s = daemon_snapshot(d)
        println(s.status + " " + to_string(s.total_iterations) + " " + to_string(s.queued_event_count))
        println(len(llm_mock_calls()))
      `),
    ).toEqual(['suspended idle', 'suspended daemon idle self', 'suspended 2 0', '2']);
  });

  test('R89: the snapshot of a daemon has its queue, its sources and their limits, in its block and in its suspension', async () => {
    const out = await lines(`
      ${GATE}
      llm_mock({text: "ready"})
      llm_mock({tool_calls: [{name: "work", arguments: {seq: 1}}]})
      let d = daemon_spawn({task: "Watch", provider: "mock", tool_format: "native", tools: work, persist_path: DIR,
        wake_interval_ms: 3600000, watch_paths: ["/nowhere/a", "/nowhere/b"]})
      for n in [1, 2, 3, 4] { daemon_trigger(d, {n: n}) }
      while daemon_snapshot(d).inflight_event == nil { sleep(1ms) }
      let asked = suspend_agent(d.worker_id, "look", {wait_ms: 0})
      println(asked.status)
      write_file(DIR + "/go", "")
      println(wait_agent(d.worker_id).status)
      let s = daemon_snapshot(d)
      println("\${s.pending_event_count} \${s.queued_event_count} \${s.inflight_event.seq}")
    `);
    expect(out).toEqual(['running', 'suspended', '3 4 1']);
    const { daemon, suspension } = folder.worker();
    const expected = {
      pending_event_count: 3,
      queued_event_count: 4,
      inflight_event: { seq: 1, payload: { n: 1 } },
      wake_interval_ms: 3_600_000,
      watch_paths: ['/nowhere/a', '/nowhere/b'],
      event_queue_capacity: 1024,
    };
    expect(daemon).toMatchObject({ ...expected, next_event_seq: 5, total_iterations: 2, daemon_state: 'running' });
    expect(suspension).toMatchObject(expected);
    expect(folder.json('d/daemon.json')).toMatchObject({ _type: 'daemon_snapshot', daemon: expected, suspension: expected });
    expect(folder.json('d/daemon.meta.json')).toMatchObject({
      inflight_event: { seq: 1 },
      pending_events: [{ seq: 2 }, { seq: 3 }, { seq: 4 }],
    });
  });

  test('an event in flight at a stop without a boundary comes again, marked', async () => {
    const first = await lines(`
      ${GATE}
      llm_mock({text: "ready"})
      llm_mock({tool_calls: [{name: "work", arguments: {seq: 1}}]})
      let d = daemon_spawn({task: "Watch", provider: "mock", tool_format: "native", tools: work, persist_path: DIR, wake_interval_ms: 3600000})
      daemon_trigger(d, {n: 1})
      daemon_trigger(d, {n: 2})
      while daemon_snapshot(d).inflight_event == nil { sleep(1ms) }
      let s = daemon_stop(d)
      println("\${s.status} \${s.pending_event_count} \${s.inflight_event}")
      let refused = try { daemon_trigger(d, {n: 3}) } catch (e) { replace(to_string(e), d.id, "X") }
      println(refused)
      println(daemon_stop(d).status)
    `);
    expect(first).toEqual(['stopped 2 nil', 'daemon_trigger: daemon X is not running', 'stopped']);
    const second = await lines(`
      ${GATE}
      llm_mock({text: "one is done"})
      llm_mock({text: "two is done"})
      let d = daemon_resume(DIR)
      daemon_wait(d, 4)
      let calls = llm_mock_calls()
      println(contains(json_stringify(calls[0].messages[-2]), "\\\\\\"payload\\\\\\":{\\\\\\"n\\\\\\":1},\\\\\\"redelivered\\\\\\":true"))
      println(contains(json_stringify(calls[0].messages[-3]), "outcome is unknown"))
      println(contains(json_stringify(calls[1].messages[-1]), "\\\\\\"n\\\\\\":2}}"))
      println(len(calls))
      println(daemon_stop(d).queued_event_count)
    `);
    expect(second).toEqual(['true', 'true', 'true', '2', '0']);
  });

  test('R90: a cold restore has the same queue, counters and transcript, id and session', async () => {
    const [before] = await lines(`
      llm_mock({text: "ready"})
      llm_mock({text: "handled one"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, wake_interval_ms: 3600000})
      daemon_trigger(d, {n: 1})
      daemon_wait(d, 2)
      daemon_stop(d)
      let s = daemon_snapshot(d)
      println(json_stringify({id: s.id, session_id: s.session_id, messages: s.recorded_messages, n: s.total_iterations, next: s.next_event_seq, pending: s.pending_events}))
    `);
    const [after, calls] = await lines(`
      let d = daemon_resume(DIR)
      let s = daemon_snapshot(d)
      println(json_stringify({id: s.id, session_id: s.session_id, messages: s.recorded_messages, n: s.total_iterations, next: s.next_event_seq, pending: s.pending_events}))
      println("\${len(llm_mock_calls())} \${s.status} \${s.daemon_state}")
      daemon_stop(d)
    `);
    expect(JSON.parse(after ?? '')).toEqual(JSON.parse(before ?? ''));
    expect(JSON.parse(after ?? '')).toMatchObject({ n: 2, next: 2, pending: [] });
    expect(calls).toBe('0 running idle');
  });

  test.each([
    ['its directory', 'DIR'],
    ['its daemon.json', 'DIR + "/daemon.json"'],
    ['the snapshot of its worker', 'FILE'],
  ])('daemon_resume takes %s', async (_what, path) => {
    await lines(`llm_mock({text: "ready"})\nlet d = ${SPAWN}\ndaemon_stop(d)`);
    const [name] = readdirSync(join(folder.path, '.harn/workers')).filter((entry) => entry.endsWith('.json'));
    const file = JSON.stringify(join(folder.path, '.harn/workers', name ?? ''));
    const out = await lines(`
      llm_mock({text: "went on"})
      let d = daemon_resume(${path.replace('FILE', file)})
      println(d.name)
      daemon_trigger(d, {n: 1})
      daemon_wait(d, 2)
      println(daemon_snapshot(d).last_iteration_text)
    `);
    expect(out).toEqual(['watcher', 'went on']);
  });

  test('daemon.json alone is enough on another machine, for resume_agent too', async () => {
    await lines(`llm_mock({text: "ready"})\nlet d = ${SPAWN}\ndaemon_stop(d)`);
    rmSync(join(folder.path, '.harn'), { recursive: true });
    rmSync(join(folder.path, 'd/daemon.meta.json'));
    const out = await lines(`
      llm_mock({text: "went on"})
      let w = wait_agent(resume_agent(DIR + "/daemon.json", "hello"))
      println(w.status + " " + w.suspension.reason)
      println(llm_mock_calls()[0].messages[-1].content)
    `);
    expect(out[0]).toBe('suspended daemon idle');
    expect(out.join('\n')).toContain('hello');
  });

  test.each([
    ['{', 'is not valid JSON'],
    ['{"_type": "daemon_meta", "id": 5}', 'field `id` of'],
  ])('a daemon.meta.json that holds %s is refused', async (text, said) => {
    await lines(`llm_mock({text: "ready"})\nlet d = ${SPAWN}\ndaemon_stop(d)`);
    writeFileSync(join(folder.path, 'd/daemon.meta.json'), text);
    const [code, message] = await lines('let e = try { daemon_resume(DIR) } catch (e) { e }\nprintln(e.code)\nprintln(e)');
    expect([code, message]).toEqual(['HARN-SUS-004', expect.stringContaining(said)]);
  });

  test('an interval that went by meanwhile fires once, and changed paths are one wake', async () => {
    writeFileSync(join(folder.path, 'watched'), '1');
    const watched = JSON.stringify(join(folder.path, 'watched'));
    await lines(`
      llm_mock({text: "ready"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, watch_paths: [${watched}]})
      daemon_stop(d)
    `);
    writeFileSync(join(folder.path, 'watched'), 'changed while nobody looked');
    const out = await lines(`
      llm_mock({text: "saw it"})
      let d = daemon_resume(DIR)
      daemon_wait(d, 2)
      println(len(llm_mock_calls()))
      println(contains(json_stringify(llm_mock_calls()[0].messages), "watched paths changed"))
      println(daemon_snapshot(d).daemon_state)
      daemon_stop(d)
    `);
    expect(out).toEqual(['1', 'true', 'idle']);
  });

  test('R88 watched paths: the watcher of the platform says when to look, long before the next poll', async () => {
    writeFileSync(join(folder.path, 'watched'), '1');
    const watched = JSON.stringify(join(folder.path, 'watched'));
    const node = createNodePlatform();
    let polls = 0;
    const platform: Platform = {
      ...node,
      // Time stands still for a daemon that only looks from time to time.
      clock: {
        ...node.clock,
        now: () => node.clock.now(),
        monotonicMs: () => node.clock.monotonicMs(),
        sleep: (ms, signal) => node.clock.sleep(ms, signal),
        timer: (ms, callback, hold) => (ms >= 100 && ms <= 2000 && ++polls > 0 ? () => undefined : node.clock.timer(ms, callback, hold)),
      },
    };
    const out = await folder.lines(
      `
      llm_mock({text: "ready"})
      llm_mock({text: "saw it"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, watch_paths: [${watched}]})
      var written = 0
      while daemon_snapshot(d).total_iterations < 2 {
        written = written + 1
        write_file(${watched}, to_string(written))
        sleep(20ms)
      }
      println(contains(json_stringify(daemon_snapshot(d).recorded_messages), "saw it"))
      daemon_stop(d)
    `,
      platform,
    );
    expect(out).toEqual(['true']);
    expect(polls).toBeGreaterThan(0);
  });

  test.each<[string, string, string]>([
    ['a message for its session', 'agent_session_inject(d.session_id, {role: "user", content: "look at this"})', 'look at this'],
    ['feedback', 'agent_inject_feedback(d.session_id, "note", "look at that")', 'look at that'],
    ['agent/resume, as resume_agent with input', 'resume_agent(d.worker_id, "go on")', 'go on'],
    ['agent/resume without input', 'resume_agent(d.worker_id)', 'Daemon wake: resumed.'],
    ['a record of its topic', 'event_log.emit("jobs", "done", {n: 7})', 'on topic jobs: {\\"n\\":7}'],
    ['an event', 'daemon_trigger(d, {n: 8})', '\\"payload\\":{\\"n\\":8}'],
  ])('R88: an idle daemon takes its next turn exactly once for %s', async (_what, wake, told) => {
    const out = await lines(`
      llm_mock({text: "ready"})
      llm_mock({text: "handled"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, wake_interval_ms: 3600000, resume_event_topic: "jobs"})
      ${wake}
      daemon_wait(d, 2)
      let s = daemon_snapshot(d)
      println("\${s.status} \${s.daemon_state} \${s.total_iterations} \${len(llm_mock_calls())}")
      println(json_stringify(llm_mock_calls()[1].messages))
      daemon_stop(d)
    `);
    expect(out[0]).toBe('running idle 2 2');
    expect(out[1]).toContain(told);
  });

  test('R88: of two resumes at once one wakes it, the other hears that it runs', async () => {
    const out = await lines(`
      llm_mock({text: "ready"})
      llm_mock({text: "handled"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, wake_interval_ms: 3600000})
      resume_agent(d.worker_id, "first")
      println(try { resume_agent(d.worker_id, "second").status } catch (e) { e.code })
      daemon_wait(d, 2)
      println(len(llm_mock_calls()))
      daemon_stop(d)
    `);
    expect(out).toEqual(['HARN-SUS-003', '2']);
  });

  test('R87: a suspended daemon that idles in its process parks at B2 and keeps its block', async () => {
    const out = await lines(`
      llm_mock({text: "ready"})
      let d = daemon_spawn({task: "Watch", provider: "mock", persist_path: DIR, wake_interval_ms: 3600000})
      let w = suspend_agent(d.worker_id, "pause")
      println("\${w.status} \${w.suspension.reason} \${daemon_snapshot(d).status} \${daemon_snapshot(d).daemon_state}")
      daemon_trigger(d, {n: 1})
      println("\${daemon_snapshot(d).status} \${daemon_snapshot(d).queued_event_count}")
    `);
    expect(out).toEqual(['suspended pause suspended idle', 'suspended 1']);
    expect(folder.worker()).toMatchObject({ daemon: { daemon_state: 'idle', wake_interval_ms: 3_600_000 } });
  });

  test('resume_path starts a new loop from what a daemon saved', async () => {
    await lines(`llm_mock({text: "ready"})\nlet d = ${SPAWN}\ndaemon_stop(d)`);
    const out = await lines(`
      llm_mock({text: "second"})
      let r = agent_loop("And now?", nil, {provider: "mock", tool_format: "native", daemon: true, resume_path: DIR, persist_path: DIR + "/other.json"})
      println("\${r.status} \${r.llm.iterations}")
      println(llm_mock_calls()[0].messages[0].content)
      println(ends_with(r.daemon_snapshot_path, "/d/other.json"))
    `);
    expect(out).toEqual(['idle 2', 'Watch', 'true']);
  });

  test('a daemon that is parked is not replaced, one that was stopped is', async () => {
    const out = await lines(`
      for n in [1, 2] { llm_mock({text: "ready"}) }
      let d = ${SPAWN}
      println(try { ${SPAWN} } catch (e) { starts_with(to_string(e), "a daemon is already running for ") })
      daemon_stop(d)
      let other = ${SPAWN}
      println(other.id != d.id)
      println(daemon_snapshot(other).total_iterations)
    `);
    expect(out).toEqual(['true', 'true', '1']);
  });

  test('what cannot be is refused with the words of the contract', async () => {
    const out = await lines(`
      let refused = fn(f) { return try { f() } catch (e) { to_string(e) } }
      println(refused({ -> daemon_spawn({persist_path: DIR}) }))
      println(refused({ -> daemon_spawn({task: "x"}) }))
      llm_mock({text: "ready"})
      let d = daemon_spawn({task: "Watch", provider: "mock", state_dir: DIR, wake_interval_ms: 3600000, event_queue_capacity: 0})
      println(replace(refused({ -> daemon_trigger(d, 1) }), d.id, "X"))
      println(refused({ -> daemon_spawn({task: "x", provider: "mock", persist_path: DIR}) }))
      println(replace(refused({ -> daemon_resume(DIR) }), d.id, "X"))
      println(replace(refused({ -> daemon_wait(d, 9, 10) }), d.id, "X"))
      daemon_stop(d)
      println(refused({ -> daemon_resume("/nowhere/daemon") }))
    `);
    expect(out.slice(0, -1)).toEqual([
      'daemon_spawn: config must include `task` or `prompt`',
      'daemon_spawn: config must include `persist_path` or `state_dir`',
      "Daemon queue full: daemon 'X' reached its event_queue_capacity of 0",
      expect.stringMatching(/^a daemon is already running for '.+'$/),
      "daemon_resume: daemon 'X' is already running",
      'daemon_wait: daemon X did not complete 9 iterations within 10 ms',
    ]);
    expect(out.at(-1)).toMatch(/^HARN-SUS-004: .*\/nowhere\/daemon/);
  });

  test('options that cannot be are refused before there is a daemon, and so are waits', async () => {
    const out = await lines(`
      let refused = fn(f) { return try { f(nil) } catch (e) { to_string(e) } }
      println(refused({ _ -> daemon_spawn({task: "x", state_dir: DIR, max_iterations: -1}) }))
      println(refused({ _ -> daemon_spawn({task: "x", state_dir: DIR, resume_event_topic: "a b"}) }))
      println(file_exists(DIR + "/daemon.meta.json"))
      llm_mock({text: "ready"})
      let d = ${SPAWN}
      println(refused({ _ -> daemon_wait(d, -1) }))
      println(refused({ _ -> daemon_wait(d, 0, "soon") }))
      println(daemon_wait(d, 1, 5s).daemon_state)
      for ask in [daemon_trigger, daemon_snapshot, daemon_stop, daemon_wait] { println(refused({ _ -> ask("daemon_nobody") })) }
      println(refused({ _ -> daemon_snapshot(nil) }))
    `);
    expect(out).toEqual([
      'agent_loop: max_iterations must be at least 0, got -1',
      'agent_loop: resume_event_topic must be the name of a topic (letters, digits, `.`, `_` and `-`)',
      'false',
      'daemon_wait: min_iterations must be an int of 0 or more',
      'daemon_wait: timeout_ms must be milliseconds or a duration',
      'idle',
      ...['trigger', 'snapshot', 'stop', 'wait'].map((name) => `daemon_${name}: unknown daemon: daemon_nobody`),
      'daemon_snapshot: missing daemon handle',
    ]);
  });
});
