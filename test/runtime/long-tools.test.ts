import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

const lines = (text: string): Promise<string[]> => folder.lines(text);

/** Works until a file says that it may end. */
const SLOW = `
mkdir(DIR)
fn wait_for_go() -> string {
  while !file_exists(DIR + "/go") { sleep(2ms) }
  append_file(DIR + "/effects", "ended ")
  return "went"
}
tool slow() -> string {
  description "Takes its time"
  write_file(DIR + "/begun", "")
  return wait_for_go()
}
fn begun() { while !file_exists(DIR + "/begun") { sleep(1ms) } }
`;

const WORKER = (options = ''): string => `
  llm_mock({tool_calls: [{name: "slow", arguments: {}}]})
  llm_mock({text: "done"})
  let w = spawn_agent({task: "Work", options: {provider: "mock", tool_format: "native", tools: slow${options}}})
  begun()
`;

describe('long-running tools', () => {
  test('R91: a tool at work delays the suspension, and is not killed', async () => {
    expect(
      await lines(`${SLOW}${WORKER()}
        let asked = suspend_agent(w, "pause", {wait_ms: 20})
        println("\${asked.status} \${asked.suspend_requested.reason}")
        println(file_exists(DIR + "/effects"))
        write_file(DIR + "/go", "")
        let parked = wait_agent(w)
        println("\${parked.status} \${parked.suspension.iterations_completed} \${read_file(DIR + "/effects")}")
        let ended = wait_agent(resume_agent(w))
        println(json_stringify(ended.transcript.messages.map({ m -> m.content })))
      `),
    ).toEqual(['running pause', 'false', 'suspended 1 ended ', '["Work","","went","done"]']);
  });

  test('R92: a worker that reaches no boundary stays running with the request, until it is closed', async () => {
    expect(
      await lines(`${SLOW}${WORKER()}
        suspend_agent(w, "pause", {wait_ms: 0})
        let seen = list_agents()[0]
        println("\${seen.status} \${seen.suspend_requested.reason}")
        println(close_agent(w).status)
      `),
    ).toEqual(['running pause', 'cancelled']);
  });

  test.each([
    ['of the loop', ', tool_call_timeout: 50ms'],
    ['in milliseconds', ', tool_call_timeout: 50'],
  ])('R93: tool_call_timeout %s ends the call, and the park follows', async (_what, option) => {
    expect(
      await lines(`${SLOW}${WORKER(option)}
        let parked = suspend_agent(w, "pause")
        println("\${parked.status} \${parked.suspension.reason}")
        let ended = wait_agent(resume_agent(w))
        println(ended.transcript.messages[2].content)
      `),
    ).toEqual(['suspended pause', 'Error: tool slow timed out after 50 ms']);
  });

  test('R93: with async_tool_run the turn settles at once, the park follows, and the result comes with the resume', async () => {
    expect(
      await lines(`${SLOW}
        tool start() -> dict {
          description "Starts the work"
          let started = async_tool_run(wait_for_go)
          write_file(DIR + "/begun", "")
          while !file_exists(DIR + "/asked") { sleep(1ms) }
          return started
        }
        llm_mock({tool_calls: [{name: "start", arguments: {}}]})
        llm_mock({text: "done"})
        let w = spawn_agent({task: "Work", options: {provider: "mock", tool_format: "native", tools: start}})
        begun()
        suspend_agent(w, "pause", {wait_ms: 0})
        write_file(DIR + "/asked", "")
        println(wait_agent(w).status)
        write_file(DIR + "/go", "")
        while !contains(read_file(wait_agent(w).snapshot_path), "\\"kind\\": \\"tool_result\\"") { sleep(2ms) }
        wait_agent(resume_agent(w))
        let told = llm_mock_calls()[1].messages.filter({ m -> contains(to_string(m.content), "runtime_feedback kind=\\"tool_result\\"") })
        println(len(told))
        let result = json_parse(split(told[0].content, "\\n")[1])
        println("\${result.status} \${result.operation} \${result.result} \${result.command_or_op_descriptor} \${result.duration_ms >= 0}")
        println(split(told[0].content, "\\n")[1] == json_stringify(result))
      `),
    ).toEqual(['suspended', '1', 'completed wait_for_go went wait_for_go true', 'true']);
  });

  test('2.8: a timeout that bounds nothing is refused', async () => {
    expect(await lines('try { async_tool_run({ -> 1 }, nil, {timeout_ms: "soon"}) } catch e { println(e) }')).toEqual([
      'async_tool_run: timeout_ms must be milliseconds or a duration, got soon',
    ]);
  });

  test('T29: credentials in a result, an error or the command of background work reach neither the model nor the snapshot', async () => {
    // Put together at run time: the snapshot holds the text of the script.
    const printed = await lines(`${SLOW}
      fn key() { return "sk-" + "proj-${'a1B2'.repeat(10)}" }
      fn leak() { wait_for_go(); return {found: [key(), 1], [key()]: nil} }
      fn fail() { wait_for_go(); throw "denied for " + key() }
      tool start() -> dict {
        description "Starts the work"
        async_tool_run("trim", [key()])
        async_tool_run(leak)
        return async_tool_run(fail)
      }
      llm_mock({tool_calls: [{name: "start", arguments: {}}]})
      llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})
      llm_mock({text: "done"})
      let w = spawn_agent({task: "Work", options: {provider: "mock", tool_format: "native", tools: start}})
      let parked = wait_agent(w)
      write_file(DIR + "/go", "")
      while len(split(read_file(parked.snapshot_path), "ended_" + "at")) < 4 { sleep(2ms) }
      println(contains(read_file(parked.snapshot_path), "sk-" + "proj-a"))
      wait_agent(resume_agent(w))
      let told = llm_mock_calls()[2].messages.filter({ m -> contains(to_string(m.content), "kind=\\"tool_result\\"") })
      let results = told.map({ m -> json_parse(split(m.content, "\\n")[1]) })
      for r in results.filter({ r -> r.operation != "trim" }) { println(json_stringify([r.operation, r.result ?? r.error])) }
      println(json_stringify(llm_mock_calls()))
    `);
    expect(printed.slice(0, 1)).toEqual(['false']);
    expect(printed.slice(1, 3).sort()).toEqual([
      '["fail","denied for [redacted]"]',
      '["leak",{"[redacted]":null,"found":["[redacted]",1]}]',
    ]);
    expect(printed[3]).toContain('trim [redacted]');
    expect(printed[3]).not.toContain('sk-proj');
  });

  test('what another process had started is told as lost', async () => {
    await lines(`${SLOW}
      tool start() -> dict { return async_tool_run("slow") }
      llm_mock({tool_calls: [{name: "start", arguments: {}}]})
      agent_loop("Work", nil, {provider: "mock", tool_format: "native", tools: [start, slow],
        post_turn_callback: { turn -> agent_await_resumption("enough") }})
    `);
    const snapshot = folder.worker();
    expect(snapshot.loop).toMatchObject({ async_handles: [{ status: 'running', command_or_op_descriptor: 'slow' }] });
    expect(
      await lines(`${SLOW}
        tool start() -> dict { return async_tool_run("slow") }
        llm_mock({text: "done"})
        wait_agent(resume_agent("${String(snapshot.id)}"))
        let told = llm_mock_calls()[0].messages.filter({ m -> contains(to_string(m.content), "kind=\\"tool_result\\"") })
        println(json_parse(split(told[0].content, "\\n")[1]).status)
      `),
    ).toEqual(['lost']);
  });

  test('a handle can be cancelled once, and the end of the session cancels the rest', async () => {
    expect(
      await lines(`${SLOW}
        tool start() -> dict {
          let handles = [async_tool_run(wait_for_go), async_tool_run(wait_for_go)]
          write_file(DIR + "/handles", json_stringify(handles))
          return cancel_handle(handles[0])
        }
        llm_mock({tool_calls: [{name: "start", arguments: {}}]})
        llm_mock({text: "done"})
        let r = agent_loop("Work", nil, {provider: "mock", tool_format: "native", tools: start})
        println(r.transcript.messages[2].content)
        let handles = json_parse(read_file(DIR + "/handles"))
        println(cancel_handle(handles[0].handle_id))
        println(cancel_handle(handles[1]))
      `),
    ).toEqual(['{', '  "cancelled": true', '}', '{cancelled: false}', '{cancelled: false}']);
  });

  test('a failure and a time limit are told as failed', async () => {
    expect(
      await lines(`${SLOW}
        fn fails() { throw "broken" }
        tool start() -> string {
          async_tool_run(fails)
          async_tool_run("slow", nil, {timeout_ms: 10})
          return "started"
        }
        llm_mock({tool_calls: [{name: "start", arguments: {}}]})
        llm_mock({text: "waiting"})
        llm_mock({text: "waiting"})
        llm_mock({text: "waiting"})
        agent_loop("Work", nil, {provider: "mock", tool_format: "native", tools: [start, slow], daemon: true, wake_interval_ms: 3600000,
          post_turn_callback: { turn -> contains(json_stringify(agent_session_messages(turn.session_id)), "timed out") }})
        let calls = llm_mock_calls()
        let told = calls[len(calls) - 1].messages.filter({ m -> contains(to_string(m.content), "kind=\\"tool_result\\"") })
        for m in told {
          let result = json_parse(split(m.content, "\\n")[1])
          println("\${result.status} \${result.error}")
        }
        println(try { async_tool_run("nothing such") } catch (e) { to_string(e) })
      `),
    ).toEqual([
      'failed broken',
      'failed async_tool_run: slow timed out after 10 ms',
      'async_tool_run: unknown tool or function `nothing such`',
    ]);
  });

  test.each([
    ['walk_dir', 'walk_dir(DIR, {background: true})', 'walk_dir', 'path'],
    ['glob', 'glob("*.txt", {base: DIR, long_running: true})', 'glob', 'a.txt'],
    ['a command', 'host_call("process.exec", {argv: ["echo", "hello"], background: true})', 'process.exec', 'hello'],
  ])('%s can run in the background', async (_what, call, operation, expected) => {
    expect(
      await lines(`${SLOW}
        write_file(DIR + "/a.txt", "x")
        tool start() -> dict { return ${call} }
        llm_mock({tool_calls: [{name: "start", arguments: {}}]})
        llm_mock({text: "waiting"})
        llm_mock({text: "done"})
        // The end of the work wakes a loop that idles.
        agent_loop("Work", nil, {provider: "mock", tool_format: "native", tools: start, daemon: true, wake_interval_ms: 3600000,
          post_turn_callback: { turn -> contains(json_stringify(agent_session_messages(turn.session_id)), "tool_result") }})
        let calls = llm_mock_calls()
        let told = calls[len(calls) - 1].messages.filter({ m -> contains(to_string(m.content), "kind=\\"tool_result\\"") })
        let result = json_parse(split(told[0].content, "\\n")[1])
        println("\${result.status} \${result.operation} \${contains(json_stringify(result.result), "${expected}")}")
      `),
    ).toEqual([`completed ${operation} true`]);
  });
});
