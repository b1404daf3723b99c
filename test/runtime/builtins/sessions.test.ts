import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/** Session functions (spec/agents.md 3.11), a row for what each promises. */
const SETUP = `
fn texts(id) { return agent_session_messages(id).map({ m -> m.content }) }
fn say(id, count) { for i in 1 to count { agent_session_inject(id, {role: "user", content: "m\${i}"}) } }
fn loop_in(options) { return agent_loop("go", nil, {provider: "mock"} + options) }
agent_session_open("s")
say("s", 3)
`;

const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'open: a new one has an id, a known one is reused',
    'println(agent_session_open("s") == "s" && len(agent_session_open()) == 36)\nprintln(agent_session_length("s"))',
    ['true', '3'],
  ],
  ['exists', 'println("${agent_session_exists("s")} ${agent_session_exists("t")}")', ['true false']],
  [
    'current_id is that of the innermost loop',
    `println(agent_session_current_id())
let asker = tool_define(tool_registry(), "ask", "d", {parameters: {inner: {type: "boolean", default: false}}, handler: { a -> println(agent_session_current_id()); return "ok" }})
let outer = tool_define(tool_registry(), "ask", "d", {parameters: {}, handler: { a -> println(agent_session_current_id()); loop_in({session_id: "inner", tools: asker, tool_format: "native"}); println(agent_session_current_id()); return "ok" }})
llm_mock({tool_calls: [{name: "ask", args: {}}]})
llm_mock({tool_calls: [{name: "ask", args: {}}]})
llm_mock({text: "inner ends"})
llm_mock({text: "outer ends"})
loop_in({session_id: "outer", tools: outer, tool_format: "native"})`,
    ['nil', 'outer', 'inner', 'outer'],
  ],
  ['length and messages', 'println("${agent_session_length("s")} ${texts("s")}")', ['3 [m1, m2, m3]']],
  [
    'snapshot is a transcript, nil for an unknown one',
    'println("${agent_session_snapshot("s")._type} ${agent_session_snapshot("t")}")',
    ['transcript nil'],
  ],
  [
    'ancestry of a fork of a fork',
    'agent_session_fork("s", "a")\nagent_session_fork("a", "b")\nprintln(agent_session_ancestry("b"))\nprintln(agent_session_ancestry("s").children)\nprintln(agent_session_ancestry("t"))',
    ['{ancestors: [a, s], children: [], parent_id: a, root_id: s}', '[a]', '{ancestors: [], children: [], parent_id: nil, root_id: t}'],
  ],
  ['reset empties', 'agent_session_reset("s")\nprintln("${agent_session_exists("s")} ${agent_session_length("s")}")', ['true 0']],
  ['close drops', 'agent_session_close("s")\nprintln(agent_session_exists("s"))', ['false']],
  [
    'fork copies, and the copy goes its own way',
    'agent_session_fork("s", "a")\nsay("a", 1)\nprintln("${texts("a")} ${texts("s")}")',
    ['[m1, m2, m3, m1] [m1, m2, m3]'],
  ],
  [
    'fork_at copies the first messages',
    'agent_session_fork_at("s", 1, "a")\nagent_session_fork_at("s", 0, "b")\nprintln("${texts("a")} ${texts("b")} ${len(agent_session_fork_at("s", 2))}")',
    ['[m1] [] 36'],
  ],
  ['trim keeps the last ones', 'println(agent_session_trim("s", 2))\nprintln(texts("s"))', ['2', '[m2, m3]']],
  [
    'compact keeps twelve and a summary, or as many as are asked for',
    'say("s", 20)\nprintln(agent_session_compact("s"))\nprintln(agent_session_compact("s", {keep_last: 3}))\nprintln(texts("s").slice(1))',
    ['13', '4', '[m18, m19, m20]'],
  ],
  [
    'inject appends messages of every role',
    'agent_session_inject("s", {role: "assistant", content: "yes"})\nprintln(texts("s").last())',
    ['yes'],
  ],
  [
    'inject refuses what is no message',
    'println(try { agent_session_inject("s", {role: "emperor", content: "x"}) } catch e { e })\nprintln(try { agent_session_inject("s", "x") } catch e { e })',
    [
      'agent_session_inject: invalid message.role: must be "system", "user", "assistant", "tool" or "developer", got "emperor"',
      'agent_session_inject: invalid message: must be a dict, got a string',
    ],
  ],
  [
    'subscribe hears the loop of its session and no other',
    `agent_subscribe("s", { e -> println("\${e.type} \${e.session_id}") })
llm_mock({text: "a"})
loop_in({session_id: "s", stream: false})
llm_mock({text: "a"})
loop_in({session_id: "other", stream: false})`,
    ['turn_start s', 'agent_message_chunk s', 'turn_end s', 'iteration_end s'],
  ],
  [
    'a subscriber that throws, at once or later, does not disturb the loop',
    `agent_subscribe("s", { e -> throw "at once" })
agent_subscribe("s", { e -> sleep(1ms); throw "later" })
agent_subscribe("s", { e -> if e.type == "turn_end" { println("heard") } })
llm_mock({text: "a"})
println(loop_in({session_id: "s", stream: false}).status)`,
    ['heard', 'done'],
  ],
  [
    'a subscriber may end the run',
    `agent_subscribe("s", { e -> if e.type == "turn_end" { exit(3) } })
llm_mock({text: "a"})
loop_in({session_id: "s", stream: false})
println("went on")`,
    [],
  ],
  [
    'agent_capture_events gives the result and the events meanwhile',
    `import { agent_capture_events } from "std/agent/events"
llm_mock({text: "a"})
let seen = agent_capture_events("s", { -> loop_in({session_id: "s", stream: false}).status })
println("\${seen.result} \${seen.events.map({ e -> e.type })}")`,
    ['done [turn_start, agent_message_chunk, turn_end, iteration_end]'],
  ],
  [
    'unknown ids throw',
    `let asked = [
  { -> agent_session_length("t") }, { -> agent_session_messages("t") }, { -> agent_session_reset("t") }, { -> agent_session_close("t") },
  { -> agent_session_fork("t") }, { -> agent_session_fork_at("t", 1) }, { -> agent_session_trim("t", 1) }, { -> agent_session_compact("t") },
  { -> agent_session_inject("t", {role: "user", content: "x"}) },
]
for ask in asked { println(try { ask() } catch e { e }) }`,
    ['length', 'messages', 'reset', 'close', 'fork', 'fork_at', 'trim', 'compact', 'inject'].map(
      (name) => `agent_session_${name}: unknown session: t`,
    ),
  ],
  [
    'of more than 128 the least recently used goes, never one whose worker is parked',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
loop_in({session_id: "parked", tool_format: "native"})
for i in 1 to 127 { agent_session_open("n\${i}") }
let _ = agent_session_length("s")
for i in 128 to 150 { agent_session_open("n\${i}") }
println("\${agent_session_exists("s")} \${agent_session_exists("n1")} \${agent_session_exists("n150")} \${agent_session_exists("parked")}")`,
    ['true false true true'],
  ],
  ['a loop without a name leaves no session', 'llm_mock({text: "a"})\nprintln(agent_session_exists(loop_in({}).transcript.id))', ['false']],
];

describe('sessions (3.11)', () => {
  it.each(rows)('%s', async (_rule, script, expected) => {
    const isImport = script.startsWith('import');
    const [imports, rest] = isImport ? [script.slice(0, script.indexOf('\n')), script.slice(script.indexOf('\n'))] : ['', script];
    expect(await linesOf(`${imports}\n${SETUP}\n${rest}\n`)).toEqual(expected);
  });
});
