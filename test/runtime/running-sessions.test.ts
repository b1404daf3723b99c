import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

/** A loop with two turns of tools before its end; `code` runs in the first of them. */
const during = (code: string): string => `let options = {provider: "mock", tool_format: "native", session_id: "s"}
for text in ["one", "two", "three"] { agent_session_inject(agent_session_open("s"), {role: "user", content: text}) }
let calls = atomic(0)
tool work() -> string {
  atomic_set(calls, atomic_get(calls) + 1)
  if atomic_get(calls) == 1 { ${code} }
  return "result \${atomic_get(calls)}"
}
llm_mock({tool_calls: [{id: "a", name: "work"}]})
llm_mock({tool_calls: [{id: "b", name: "work"}]})
llm_mock({text: "end"})
agent_loop("go", nil, options + {tools: work})
fn shown(messages) { return messages.map({ m -> m.role + (m.content == "" ? "" : ":" + m.content.replace("\\n", " ")) }).join(" | ") }
`;
const REPORT = `println(shown(llm_mock_calls()[1].messages))
println(shown(agent_session_messages("s")))
`;

describe('a session whose loop runs', () => {
  test.each([
    [
      'agent_session_trim',
      'println(agent_session_trim("s", 0))',
      ['1', 'assistant | tool:result 1', 'assistant | tool:result 1 | assistant | tool:result 2 | assistant:end'],
    ],
    [
      'agent_session_trim to some',
      'println(agent_session_trim("s", 3))',
      [
        '3',
        'user:three | user:go | assistant | tool:result 1',
        'user:three | user:go | assistant | tool:result 1 | assistant | tool:result 2 | assistant:end',
      ],
    ],
    [
      'agent_session_reset',
      'agent_session_reset("s"); println(agent_session_length("s"))',
      ['1', 'assistant | tool:result 1', 'assistant | tool:result 1 | assistant | tool:result 2 | assistant:end'],
    ],
    [
      'agent_session_compact',
      'println(agent_session_compact("s", {keep_last: 0, summary: "short"}))',
      [
        '2',
        'user:[Earlier conversation, compacted] short | assistant | tool:result 1',
        'user:[Earlier conversation, compacted] short | assistant | tool:result 1 | assistant | tool:result 2 | assistant:end',
      ],
    ],
  ])('%s changes what the next model call sees, and what is left of it at the end', async (_name, code, lines) => {
    expect(await folder.lines(during(code) + REPORT)).toEqual(lines);
  });

  test('a change in its last turn is in what is stored', async () => {
    const out = await folder.lines(`let options = {provider: "mock", tool_format: "native", session_id: "s"}
llm_mock({text: "end"})
llm_mock({text: "again"})
agent_loop("before", nil, options)
agent_loop("go", nil, options + {post_turn_callback: { _ -> agent_session_reset("s") }})
println(agent_session_messages("s").map({ m -> m.content }))`);
    expect(out).toEqual(['[go, again]']);
  });

  test('is not closed', async () => {
    const out = await folder.lines(
      `${during('println(try { agent_session_close("s") } catch (e) { e })')}println(agent_session_exists("s"))`,
    );
    expect(out).toEqual(['agent_session_close: an agent loop uses session s; close it when the loop has ended', 'true']);
  });

  test('a trim of one that no loop uses leaves no result without its call', async () => {
    const out = await folder.lines(`${during('')}println(agent_session_trim("s", 2)); println(shown(agent_session_messages("s")))`);
    expect(out).toEqual(['3', 'assistant | tool:result 2 | assistant:end']);
  });
});

describe('forks (3.11)', () => {
  test('go to ids that are free, and tell their ancestry', async () => {
    const out =
      await folder.lines(`for text in ["one", "two", "three"] { agent_session_inject(agent_session_open("a"), {role: "user", content: text}) }
println([agent_session_fork("a", "b"), agent_session_fork_at("b", 2, "c"), agent_session_length("c")])
println(agent_session_ancestry("c"))
for bad in [{ -> agent_session_fork("a", "a") }, { -> agent_session_fork_at("a", 1, "b") }, { -> agent_session_fork("a", " ") }, { -> agent_session_open("") }] {
  println(try { bad() } catch (e) { e })
}
println(agent_session_length("b"))`);
    expect(out).toEqual([
      '[b, c, 2]',
      '{ancestors: [b, a], children: [], parent_id: b, root_id: a}',
      'agent_session_fork: there is a session a already',
      'agent_session_fork_at: there is a session b already',
      'agent_session_fork: missing session id',
      'agent_session_open: missing session id',
      '3',
    ]);
  });
});

describe('a session whose loop is parked', () => {
  const PARKED = `llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "r"}}]})
let parked = agent_loop("go", nil, {provider: "mock", tool_format: "native", session_id: "s"})
`;

  test('shows what is in its snapshot', async () => {
    expect(await folder.lines(`${PARKED}println([agent_session_exists("s"), agent_session_length("s")])`)).toEqual(['[true, 3]']);
  });

  test.each([
    ['agent_session_trim("s", 1)', 'agent_session_trim'],
    ['agent_session_reset("s")', 'agent_session_reset'],
    ['agent_session_compact("s", {keep_last: 0})', 'agent_session_compact'],
  ])('refuses %s', async (code, name) => {
    const out = await folder.lines(`${PARKED}println(try { ${code} } catch (e) { e })`);
    expect(out).toEqual([`${name}: the agent loop of session s is parked; resume or close it first`]);
  });

  test('keeps a message for the next turn', async () => {
    const out = await folder.lines(`${PARKED}agent_session_inject("s", {role: "user", content: "one thing more"})
llm_mock({text: "end"})
resume_agent(parked)
wait_agent(parked.handle)
println(llm_mock_calls()[1].messages.any({ m -> m.content == "one thing more" }))`);
    expect(out).toEqual(['true']);
  });
});
