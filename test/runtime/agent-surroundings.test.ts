import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

/** A parent whose hook gives it three reminders, and whose tool starts a child. */
const parent = (childOptions: string): string => `
  register_session_hook("pre_agent_turn", { e -> [
    {body: "for all", propagate: "all", dedupe_key: "a"},
    {body: "for the session", dedupe_key: "s"},
    {body: "for this loop", propagate: "none", dedupe_key: "n"},
  ] })
  tool delegate() -> string {
    clear_session_hooks()
    return sub_agent_run("Child work", {provider: "mock", tool_format: "native"${childOptions}}).summary
  }
  llm_mock({tool_calls: [{name: "delegate", arguments: {}}]})
  llm_mock({text: "child done"})
  llm_mock({text: "done"})
  agent_loop("Parent work", nil, {provider: "mock", tool_format: "native", tools: delegate, session_id: "p"})
  fn reminders(call) { return call.messages.map({ m -> m.content }).filter({ c -> starts_with(to_string(c), "<system-reminder>") }).map({ c -> split(c, "\\n")[1] }) }
  println(reminders(llm_mock_calls()[1]))
`;

describe('how far a reminder reaches (3.10)', () => {
  test.each([
    ['by default what is for all', '', '[for all]'],
    ['with "all" everything', ', reminder_propagation: "all"', '[for all, for the session, for this loop]'],
    ['with "none" nothing', ', reminder_propagation: "none"', '[]'],
  ])('a child gets %s', async (_what, options, expected) => {
    expect(await folder.lines(parent(options))).toEqual([expected]);
  });

  test('another word is refused', async () => {
    expect(await folder.lines('println(try { sub_agent_run("x", {reminder_propagation: "some"}) } catch (e) { to_string(e) })')).toEqual([
      'sub_agent_run: reminder_propagation must be all, session or none',
    ]);
  });

  test('the next loop of the session gets all but what was for one loop', async () => {
    const out = await folder.lines(`${parent('')}
      llm_mock({text: "again"})
      agent_loop("More", nil, {provider: "mock", tool_format: "native", session_id: "p"})
      println(reminders(llm_mock_calls()[3]))
    `);
    expect(out[1]).toBe('[for all, for the session]');
  });

  test('what is passed on is noted', async () => {
    const out = await folder.lines(`${parent('')}
      for record in event_log.subscribe({topic: "transcript.reminder.lifecycle", from_cursor: 0}) {
        if record.kind == "transcript.reminder.inherited" {
          println("\${record.payload.source} \${record.payload.dedupe_key}")
          break
        }
      }
    `);
    expect(out[1]).toBe('inherited a');
  });
});

describe('session hooks around a loop (10.1)', () => {
  const LOG = `
    import { omit } from "std/json"
    for event in ["session_start", "user_prompt_submit", "pre_compact", "post_compact", "session_end", "session_error", "permission_asked", "permission_replied"] {
      register_session_hook(event, { payload -> println("\${event} \${json_stringify(omit(payload, ["session_id", "worker_id"]))}") })
    }
  `;

  test('start, prompt, compaction and end are told, without what was said', async () => {
    const out = await folder.lines(`${LOG}
      tool look() -> string { return "seen" }
      llm_mock({tool_calls: [{name: "look", arguments: {}}]})
      llm_mock({text: "done"})
      agent_loop("A secret task", nil, {provider: "mock", tool_format: "native", tools: look, compaction: {strategy: "truncate", keep_last_n: 1, threshold: 4}})
    `);
    expect(out.map((line) => line.split(' ')[0])).toEqual([
      'session_start',
      'user_prompt_submit',
      'pre_compact',
      'post_compact',
      'session_end',
    ]);
    expect(out[2]).toBe('pre_compact {"archived_messages":1,"messages":3,"strategy":"truncate"}');
    expect(out.at(-1)).toBe('session_end {"status":"done"}');
    expect(out.join()).not.toContain('secret');
  });

  test('a hook that denies keeps the transcript as it is', async () => {
    const out = await folder.lines(`
      register_session_hook("pre_compact", { e -> false })
      tool look() -> string { return "seen" }
      llm_mock({tool_calls: [{name: "look", arguments: {}}]})
      llm_mock({text: "done"})
      let r = agent_loop("Task", nil, {provider: "mock", tool_format: "native", tools: look, compaction: {strategy: "truncate", keep_last_n: 1, threshold: 1}})
      println(r.trace.compactions)
    `);
    expect(out).toEqual(['0']);
  });

  test('an error of the model is told by its code, an escalation by the tool', async () => {
    const out = await folder.lines(`${LOG}
      tool drop() -> string { return "dropped" }
      llm_mock({tool_calls: [{name: "drop", arguments: {}}]})
      llm_mock({error: {category: "auth", message: "a secret key"}})
      try {
        agent_loop("Task", nil, {provider: "mock", tool_format: "native", tools: drop, permissions: {allow: [], on_escalation: { r -> {grant: "once"} }}})
      } catch (e) { println("failed") }
    `);
    expect(out.slice(2)).toEqual([
      'permission_asked {"tool":"drop"}',
      'permission_replied {"grant":"once","tool":"drop"}',
      'session_error {"code":"llm"}',
      'failed',
    ]);
  });

  test('a tool that writes is told of when it has succeeded', async () => {
    const out = await folder.lines(`
      register_session_hook("file_edited", { payload -> println(payload.tool) })
      let write = { name, handler -> {parameters: {}, handler: handler, annotations: {kind: "edit"}} }
      var tools = tool_define(tool_registry(), "save", "s", write("save", { _a -> "saved" }))
      tools = tool_define(tools, "fail", "f", write("fail", { _a -> throw "no" }))
      tools = tool_define(tools, "look", "l", {parameters: {}, handler: { _a -> "seen" }})
      llm_mock({tool_calls: ["look", "fail", "save"].map({ name -> {name: name, arguments: {}} })})
      llm_mock({text: "done"})
      agent_loop("Task", nil, {provider: "mock", tool_format: "native", tools: tools})
    `);
    expect(out).toEqual(['save']);
  });
});

describe('transcript_summarize', () => {
  const T = `let t = transcript_from_messages([{role: "user", content: "Find the bug"}, {role: "assistant", content: "It is in a.ts"}, {role: "user", content: "Thanks"}])`;

  test('with a model, its summary takes the place of the messages', async () => {
    const out = await folder.lines(`${T}
      llm_mock({text: "The bug is in a.ts."})
      let s = transcript_summarize(t, {provider: "mock", keep_last: 1})
      println(transcript_summary(s))
      println(len(transcript_messages(s)))
      println(contains(llm_mock_calls()[0].messages[0].content, "Find the bug"))
      println(transcript_events_by_kind(s, "compaction")[0].metadata.engine_strategy)
    `);
    expect(out).toEqual(['The bug is in a.ts.', '2', 'true', 'llm']);
  });

  test('without one nobody is asked and nothing goes', async () => {
    const out = await folder.lines(`${T}
      let s = transcript_summarize(t)
      println(len(transcript_messages(s)))
      println(contains(transcript_summary(s), "Find the bug"))
      println(len(llm_mock_calls()))
    `);
    expect(out).toEqual(['3', 'true', '0']);
  });
});

describe('agent_session_compact', () => {
  const OPEN = `let s = agent_session_open("talk")
    for text in ["Find the bug", "It is in a.ts", "Thanks"] { agent_session_inject(s, {role: "user", content: text}) }
    fn first() { return agent_session_messages(s)[0].content.replace("\\n", " ") }`;

  test.each(['{keep_last: 1, provider: "mock"}', '{keep_last: 1, strategy: "hybrid", provider: "mock"}'])(
    'with a model it writes the summary, and the session is told: %s',
    async (options) => {
      const out = await folder.lines(`${OPEN}
        llm_mock({text: "The bug is in a.ts."})
        agent_subscribe(s, { event -> println([event.type, event.mode, event.strategy, event.archived_messages]) })
        println(agent_session_compact(s, ${options}))
        println(first())
        println(contains(llm_mock_calls()[0].messages[0].content, "Find the bug"))
        println(transcript_events_by_kind(agent_session_snapshot(s), "compaction")[0].metadata.engine_strategy)
      `);
      expect(out).toEqual([
        '[transcript_compacted, manual, hybrid, 2]',
        '2',
        '[Earlier conversation, compacted] The bug is in a.ts.',
        'true',
        'llm',
      ]);
    },
  );

  test.each([
    ['{keep_last: 1, summary: "short"}', 'short'],
    ['{keep_last: 1, compact_callback: { gone -> {summary: "${len(gone)} gone"} }}', '2 gone'],
    ['{keep_last: 1}', '- user: Find the bug - user: It is in a.ts'],
  ])('%s asks nobody', async (options, summary) => {
    const out = await folder.lines(`${OPEN}
      println(agent_session_compact(s, ${options}))
      println(first())
      println(len(llm_mock_calls()))`);
    expect(out).toEqual(['2', `[Earlier conversation, compacted] ${summary}`, '0']);
  });

  test.each([
    ['twelve messages stay when nothing else is said', '{}', '3'],
    ['none leaves everything', '{keep_last: 1, strategy: "none"}', '3'],
    ['summarize_all takes everything', '{strategy: "summarize_all", summary: "all"}', '1'],
  ])('%s', async (_what, options, left) => {
    expect(await folder.lines(`${OPEN}\nprintln(agent_session_compact(s, ${options}))`)).toEqual([left]);
  });

  test('what is said while the model writes stays', async () => {
    const out = await folder.lines(`${OPEN}
      agent_session_compact(s, {keep_last: 1, compact_callback: { _ -> agent_session_inject(s, {role: "user", content: "One more thing"}) ?? "short" }})
      println(agent_session_messages(s).map({ message -> message.content.replace("\\n", " ") }))`);
    expect(out).toEqual(['[[Earlier conversation, compacted] short, Thanks, One more thing]']);
  });

  test.each([
    ['{keep_last: 1, provider: "mock", budget: {max_input_tokens: 5}}', 'max_input_tokens is 5'],
    ['{strategy: "odd"}', 'agent_session_compact: unknown strategy "odd"'],
    ['{strategy: "custom", keep_last: 1}', 'agent_session_compact: strategy custom needs `compact_callback`'],
  ])('%s is refused', async (options, text) => {
    const [said] = await folder.lines(`${OPEN}\nprintln(try { agent_session_compact(s, ${options}) } catch (e) { e })`);
    expect(said).toContain(text);
  });
});

describe('a hook that refuses (3.7 row 12)', () => {
  test.each(['user_prompt_submit', 'pre_agent_turn'])('%s: the loop ends blocked before the model is asked', async (event) => {
    const out = await folder.lines(`register_session_hook("${event}", { _ -> {block: true, reason: "not today"} })
      let r = agent_loop("go", nil, {provider: "mock"})
      println("\${r.status} \${r.stop_reason} \${r.error}")
      println(len(llm_mock_calls()))`);
    expect(out).toEqual(['blocked hook {category: blocked, message: not today}', '0']);
  });

  test('a later turn is refused with what the earlier ones did kept', async () => {
    const out = await folder.lines(`let tools = tool_define(tool_registry(), "look", "Looks", {parameters: {}, handler: { _ -> "seen" }})
      register_session_hook("pre_agent_turn", { event -> event.iteration < 1 })
      llm_mock({tool_calls: [{name: "look", arguments: {}}]})
      let r = agent_loop("go", nil, {provider: "mock", tools: tools, tool_format: "native"})
      println("\${r.status} \${r.error.message} \${r.tools.successful} \${r.llm.iterations}")`);
    expect(out).toEqual(['blocked blocked by hook [look] 1']);
  });

  test('a message of the host that is refused ends the loop too', async () => {
    const out = await folder.lines(`let s = agent_session_open("talk")
      let tools = tool_define(tool_registry(), "look", "Looks", {parameters: {}, handler: { _ -> agent_session_inject("talk", {role: "user", content: "more"}) ?? "seen" }})
      register_session_hook("user_prompt_submit", { event -> event.source == "prompt" })
      llm_mock({tool_calls: [{name: "look", arguments: {}}]})
      println(agent_loop("go", nil, {provider: "mock", tools: tools, tool_format: "native", session_id: s}).status)
      println(len(llm_mock_calls()))`);
    expect(out).toEqual(['blocked', '1']);
  });
});

test('std/agents exports the projections of a summary (4.1)', async () => {
  const out = await folder.lines(`import { worker_provenance, worker_request, worker_result } from "std/agents"
    llm_mock({text: "fine"})
    let worker = wait_agent(spawn_agent({task: "look", options: {provider: "mock"}}))
    println("\${worker_request(worker).task} \${worker_result(worker.id).summary} \${worker_provenance(worker).worker_id == worker.id}")
    println(try { worker_result("nobody") } catch (e) { e })
    println(try { worker_request(nil) } catch (e) { e })`);
  expect(out).toEqual(['look fine true', 'unknown worker: nobody', 'worker_request: missing worker handle']);
});
