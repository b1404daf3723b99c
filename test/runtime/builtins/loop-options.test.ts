import { describe, expect, it } from 'vitest';
import { linesOf } from './lifecycle-script.ts';

/** Options of `agent_loop` (spec/agents.md 3.2) as a script sees them, a row for each; the model is the mock. */
const SETUP = `
fn ok_tool(args) { return "fine" }
fn failing(args) { throw "boom" }
fn made(name, handler) { return tool_define(tool_registry(), name, "d", {parameters: {}, handler: handler}) }
let call = {tool_calls: [{name: "ok", args: {}}]}
let native = {tool_format: "native", tools: made("ok", ok_tool)}
let text = {tool_format: "text", loop_until_done: true}
fn calls(count) { var all = []; for i in 1 to count { all = all + [{tool_calls: [{name: "ok", args: {n: i}}]}] }; return all }
fn run(entries, options) {
  llm_mock_clear()
  for entry in entries { llm_mock(entry) }
  return try { agent_loop("go", nil, options) } catch e { e }
}
fn shown(entries, options) {
  let r = run(entries, options)
  println(if type_of(r) == "string" { r } else { "\${r.status} \${r.stop_reason} \${len(llm_mock_calls())}" })
}
fn seen(index) { return llm_mock_calls()[index].messages }
`;

const rows: [rule: string, script: string, expected: string[]][] = [
  [
    'profile: turns of each',
    'for p in ["tool_using", "researcher", "verifier", "completer"] { shown(calls(60), native + {profile: p, durability: "park"}) }\nshown(calls(60), native + {durability: "park"})',
    [
      'budget_exhausted max_iterations 50',
      'budget_exhausted max_iterations 30',
      'budget_exhausted max_iterations 5',
      'budget_exhausted max_iterations 1',
      'budget_exhausted max_iterations 50',
    ],
  ],
  [
    'profile: nudges of each',
    'for p in ["tool_using", "researcher", "verifier", "completer"] { shown([{text: "prose", match: "*"}], text + {profile: p, max_iterations: 60}) }',
    ['stuck max_nudges 9', 'stuck max_nudges 5', 'stuck max_nudges 1', 'stuck max_nudges 1'],
  ],
  [
    'profile: the answers of a verifier are asked for again three times',
    `let schema = {type: "object", required: ["a"], properties: {a: {type: "int"}}}
for p in ["verifier", "completer"] {
  let r = run([{text: "no json", match: "*"}], {profile: p, output_format: {kind: "json_schema", schema: schema}, output_validation: "error"})
  println("\${r.category} \${len(llm_mock_calls())}")
}`,
    ['schema_validation 4', 'schema_validation 1'],
  ],
  [
    'profile: an explicit key wins',
    'shown(calls(5), native + {profile: "completer", max_iterations: 2})',
    ['budget_exhausted max_iterations 2'],
  ],
  [
    'persistent is loop_until_done',
    'shown([{text: "a"}, {text: "<done>##DONE##</done>"}], {tool_format: "text", persistent: true})',
    ['done sentinel 2'],
  ],
  [
    'done_sentinel: a text of its own counts in every format',
    'for f in ["native", "text"] { shown([{text: "a"}, {text: "now FIN"}], {tool_format: f, loop_until_done: true, done_sentinel: "FIN"}) }',
    ['done sentinel 2', 'done sentinel 2'],
  ],
  [
    'done_sentinel: with native tools a text-only answer is the end, whoever has tools of their own',
    'shown([{text: "a"}], native + {loop_until_done: true})\nshown([{text: "a"}], {tool_format: "native", loop_until_done: true})',
    ['done natural 1', 'done natural 1'],
  ],
  [
    'nudge: its text, and the two default ones',
    `let done = {text: "<done>##DONE##</done>"}
let _ = run([{text: "a"}, done], text + {nudge: "PUSH"})
println(seen(1)[2].content)
let _b = run([{text: "a"}, done], text)
println(seen(1)[2].content)
let _c = run([{text: "<assistant_prose>a</assistant_prose>"}, done], text + {tools: native.tools})
println(seen(1)[2].content)`,
    ['PUSH', 'Continue — make progress in your reply.', 'Continue — use a tool call to make progress.'].flatMap((said) => [
      '<runtime_feedback kind="nudge">',
      said,
      '</runtime_feedback>',
    ]),
  ],
  [
    'max_nudges counts text-only turns in a row',
    'shown([{text: "a"}, {text: "<tool_call>ok({})</tool_call>"}, {text: "b"}, {text: "c"}], text + {tools: native.tools, max_nudges: 1})',
    ['stuck max_nudges 4'],
  ],
  [
    'iteration_budget: fixed, growing while tools succeed, and not while they fail',
    `shown(calls(9), native + {iteration_budget: {mode: "fixed", initial: 2, max: 9, extend_by: 3}})
shown(calls(9), native + {iteration_budget: {mode: "adaptive", initial: 1, max: 3, extend_by: 1}})
shown(calls(9), native + {tools: made("ok", failing), iteration_budget: {mode: "adaptive", initial: 1, max: 3, extend_by: 1}})`,
    ['budget_exhausted max_iterations 2', 'budget_exhausted max_iterations 3', 'budget_exhausted max_iterations 1'],
  ],
  [
    'tool_retries wait twice as long each time, from tool_backoff_ms or a second on',
    `mock_time(0)
shown([call, {text: "x"}], native + {tools: made("ok", failing), tool_retries: 3, tool_backoff_ms: 100})
println(now_ms())
shown([call, {text: "x"}], native + {tools: made("ok", failing), tool_retries: 2})
println(now_ms())`,
    ['done natural 2', '700', 'done natural 2', '3700'],
  ],
  [
    'stop_after_successful_tools: a failing call does not count',
    'shown([call], native + {stop_after_successful_tools: ["ok"]})\nshown([call, {text: "x"}], native + {tools: made("ok", failing), stop_after_successful_tools: ["ok"]})',
    ['done stop_after_successful_tools 1', 'done natural 2'],
  ],
  [
    'require_successful_tools: one of them is enough',
    'shown([{text: "x"}], native + {require_successful_tools: ["ok"]})\nshown([call, {text: "x"}], native + {require_successful_tools: ["other", "ok"]})',
    ['failed require_successful_tools 1', 'done natural 2'],
  ],
  [
    'turn_policy: require_action_or_yield asks again, up to max_nudges',
    'shown([{text: "prose", match: "*"}], native + {max_nudges: 2, turn_policy: {require_action_or_yield: true}})\nprintln(seen(1)[2].content.contains("kind=\\"turn_policy\\""))',
    ['done natural 3', 'true'],
  ],
  [
    'turn_policy: allow_done_sentinel false takes the word away',
    'shown([{text: "<done>##DONE##</done>", match: "*"}], text + {tools: native.tools, max_nudges: 0, turn_policy: {allow_done_sentinel: false}})',
    ['stuck max_nudges 1'],
  ],
  [
    'turn_policy: max_prose_chars asks for less',
    'shown([{text: "a long answer"}, {text: "ok"}], native + {turn_policy: {max_prose_chars: 5}})\nprintln(seen(1)[2].content.contains("5 characters"))',
    ['done natural 2', 'true'],
  ],
  [
    'native_tool_fallback: allow, allow_once, reject',
    'for word in ["allow", "allow_once", "reject"] { shown([{text: "<tool_call>ok({n: 1})</tool_call>"}, {text: "<tool_call>ok({n: 2})</tool_call>"}, {text: "end"}], native + {native_tool_fallback: word}) }',
    ['done natural 3', 'done natural 2', 'done natural 1'],
  ],
  [
    'loop_detect: hint, redirect, refusal; three zeros switch it off',
    `fn results() { return seen(5).filter({ m -> m.role == "tool" }).map({ m -> if m.content == "fine" { "fine" } else { m.content.split(" ")[0] } }) }
let _ = run([call, call, call, call, call, {text: "x"}], native)
println(results())
let _b = run([call, call, call, call, call, {text: "x"}], native + {loop_detect_warn: 0, loop_detect_block: 0, loop_detect_skip: 0})
println(results())`,
    ['[fine, fine', '', '[ok, ok, Error:, Error:]', '[fine, fine, fine, fine, fine]'],
  ],
  ['token_budget counts input and output', 'shown(calls(9), native + {token_budget: 40})', ['budget_exhausted token_budget 2']],
  [
    'budget.total_budget_usd ends the loop before the call that would pass it',
    'shown(calls(9), native + {budget: {total_budget_usd: 0.0}})',
    ['budget_exhausted total_budget_usd 0'],
  ],
  [
    'budget: limits of one call are an error of it',
    'println(run([{text: "x"}], {budget: {max_input_tokens: 0}}).category)',
    ['budget_exceeded'],
  ],
  [
    'session_id: a named session goes on, and none may be blank',
    `let _ = run([{text: "one"}], {session_id: "s"})
let _b = run([{text: "two"}], {session_id: "s"})
println(agent_session_messages("s").map({ m -> m.content }))
shown([], {session_id: " "})`,
    ['[go, one, go, two]', 'agent_loop: session_id must not be blank'],
  ],
  [
    'transcript: what was said before',
    'let _ = run([{text: "x"}], {transcript: transcript_from_messages([{role: "user", content: "old"}, {role: "assistant", content: "yes"}])})\nprintln(seen(0).map({ m -> m.content }))',
    ['[old, yes, go]'],
  ],
  [
    'compaction and its older spellings keep the same messages; false, "none" and auto_compact: false keep all',
    `let old = transcript_from_messages([1, 2, 3, 4, 5, 6].map({ n -> {role: if n % 2 == 1 { "user" } else { "assistant" }, content: "m\${n} \${"word ".repeat(200)}"} }))
fn kept(options) { let _ = run([{text: "x"}], options + {transcript: old, reminders: false}); return seen(0).map({ m -> m.content.split(" ").first() }) }
println(kept({compaction: {strategy: "truncate", keep_first_n: 1, keep_last_n: 2, threshold: 10}}))
println(kept({compact_strategy: "truncate", compact_keep_first: 1, compact_keep_last: 2, compact_threshold: 10}))
println(kept({compact_strategy: "custom", compact_keep_first: 0, compact_keep_last: 1, compact_threshold: 10, compact_callback: { messages -> "mine" }}))
for options in [{compaction: false}, {compaction: "none"}, {auto_compact: false}] { println(len(kept(options + {compact_threshold: 10}))) }`,
    ['[m1, [Earlier, m6, go]', '[m1, [Earlier, m6, go]', '[[Earlier, go]', '7', '7', '7'],
  ],
  [
    'context_callback shows other messages and another system prompt, for one call',
    `let _ = run([call, {text: "x"}], native + {context_callback: { c -> if c.iteration == 0 { return nil } else { return {messages: [{role: "user", content: "only"}], system: "other"} } }})
println(seen(0).map({ m -> m.content }))
println("\${seen(1).map({ m -> m.content })} \${llm_mock_calls()[1].system}")`,
    ['[go]', '[only] other'],
  ],
  [
    'context_callback is told what is visible and what is recorded',
    `let _ = run([call, {text: "x"}], native + {context_callback: { c -> if c.iteration == 1 { println(keys(c)); println("\${c.latest_tool_result} \${len(c.visible_messages)} \${len(c.recorded_messages)}") }; return nil }})`,
    [
      '[iteration, latest_recorded_assistant_message, latest_recorded_tool_result, latest_recorded_user_message, latest_tool_result, latest_visible_assistant_message, latest_visible_user_message, messages, recorded_messages, system, visible_messages]',
      'fine 3 3',
    ],
  ],
  [
    'context_filter is the same, a list alone is the messages, and another answer is refused',
    `let _ = run([{text: "x"}], {context_filter: { c -> [{role: "user", content: "filtered"}] }})
println(seen(0).map({ m -> m.content }))
shown([{text: "x"}], {context_filter: { c -> 5 }})`,
    ['[filtered]', 'agent_loop: context_callback must answer nil, messages or {messages, system}, got int'],
  ],
  [
    'post_turn_callback: nil, "", a text, a bool, and a dict of both',
    `for answer in [nil, "", "more", true, false, {message: "m", stop: true}] { shown([call, {text: "x"}], native + {post_turn_callback: { i -> if i.iteration == 0 { answer } else { nil } }}) }`,
    ['done natural 2', 'done natural 2', 'done natural 2', 'done post_turn_callback 1', 'done natural 2', 'done post_turn_callback 1'],
  ],
  [
    'post_turn_callback: option patches last for the rest of the activation',
    `let asked = {llm_caller: { request, next -> println("\${request.model} \${request.options.temperature}"); next() }}
let patches = {next_options: {model: "other", max_iterations: 3}, llm_options: {temperature: 0.5}}
shown(calls(9), native + asked + {model: "first", post_turn_callback: { i -> if i.iteration == 0 { patches } else { nil } }})`,
    ['first nil', 'other 0.5', 'other 0.5', 'budget_exhausted max_iterations 3'],
  ],
  [
    'post_turn_callback: patches that may not be, or cannot be',
    `for patch in [{policy: {}}, {tools: []}, {session_id: "x"}, {max_iterations: -1}] { shown([call, {text: "x"}], native + {post_turn_callback: { i -> {next_options: patch} }}) }`,
    [
      'agent_loop: post_turn_callback may not change `policy` of a running loop',
      'agent_loop: post_turn_callback may not change `tools` of a running loop',
      'agent_loop: post_turn_callback may not change `session_id` of a running loop',
      'agent_loop: max_iterations must be at least 0, got -1',
    ],
  ],
  [
    'post_turn_callback: what it is told (3.6)',
    'let _ = run([call, {text: "x"}], native + {post_turn_callback: { i -> if i.iteration == 0 { println(keys(i)); println(i.tool_results) } }})',
    [
      '[consecutive_text_only, has_tool_calls, iteration, session_id, session_successful_tools, session_tools_used, successful_tool_names, tool_count, tool_names, tool_results, visible_text]',
      '[{rejected: false, status: ok, tool_name: ok}]',
    ],
  ],
  [
    'verify_completion and done_judge: a function vetoes by a text, false, or a dict',
    `for name in ["verify_completion", "done_judge"] {
  for answer in ["because", false, {ok: false, reason: "because"}] {
    shown([{text: "a"}, {text: "b"}], native + {[name]: { i -> if i.visible_text == "a" { answer } else { nil } }})
  }
}`,
    Array.from({ length: 6 }, () => 'done natural 2'),
  ],
  [
    'loop_control: continue, extend, stop, and words that mean nothing',
    `for answer in [nil, "continue", {decision: "extend", turns: 1}, "stop", "halt", {action: "stop"}] { shown([call, {text: "x"}], native + {max_iterations: 1, loop_control: { i -> answer }}) }`,
    [
      'budget_exhausted max_iterations 1',
      'budget_exhausted max_iterations 1',
      'done natural 2',
      'stopped loop_control 1',
      'agent_loop: loop_control must answer nil, "continue", "extend", "stop" or {decision}, got halt',
      'agent_loop: loop_control must answer nil, "continue", "extend", "stop" or {decision}, got {action: stop}',
    ],
  ],
  [
    'llm_caller stands around the call of the model, tool_caller around that of a tool',
    `let _ = run([call, {text: "x"}], native + {llm_caller: { request, next -> next() + {text: "changed"} }, tool_caller: { facts, next -> "\${facts.name}: \${next()}" }})
println(seen(1).map({ m -> m.content }))
shown([], native + {llm_caller: { request, next -> {error: {category: "auth", message: "no"}} }})`,
    ['[go, changed, ok: fine]', 'provider_error provider_error 0'],
  ],
  [
    'agent_await_resumption_enabled: the tool is there unless it is taken away',
    `let names = { options -> let _ = run([{text: "x"}], native + options); return llm_mock_calls()[0].tools.map({ t -> t.function.name }) }
println(names({}))
println(names({agent_await_resumption_enabled: false}))`,
    ['[ok, agent_await_resumption]', '[ok]'],
  ],
  [
    'subagents: offered when asked for, or when the registry can start workers',
    `let names = { options -> let _ = run([{text: "x"}], native + options); return llm_mock_calls()[0].tools.map({ t -> t.function.name }) }
println(names({subagents: true}))
println(names({subagent_tools: true}))
println(names({tools: made("spawn_agent", ok_tool)}))
println(names({tools: made("sub_agent_run", ok_tool), subagents: false}))`,
    [
      '[ok, subagent_pause, subagent_resume, agent_await_resumption]',
      '[ok, subagent_pause, subagent_resume, agent_await_resumption]',
      '[spawn_agent, subagent_pause, subagent_resume, agent_await_resumption]',
      '[sub_agent_run, agent_await_resumption]',
    ],
  ],
  [
    'an unknown name is ignored and told on the trace, also inside of a block',
    'println(run([{text: "x"}], {maxturns: 1, openai: {seed: 1}, turn_policy: {require_action: true}, compaction: {keep_last: 2}}).trace.warnings)',
    [
      '[agent_loop: unknown option `maxturns` is ignored, agent_loop: unknown option `turn_policy.require_action` is ignored, agent_loop: unknown option `compaction.keep_last` is ignored]',
    ],
  ],
];

describe('options of agent_loop (3.2)', () => {
  it.each(rows)('%s', async (_rule, script, expected) => {
    expect(await linesOf(`${SETUP}\n${script}\n`)).toEqual(expected);
  });
});

const refused: [option: string, fault: string][] = [
  ['profile: "x"', 'profile must be one of tool_using, researcher, verifier, completer'],
  ['max_iterations: 1.5', 'max_iterations must be an int, got 1.5'],
  ['max_nudges: -1', 'max_nudges must be at least 0, got -1'],
  ['done_sentinel: 5', 'done_sentinel must be a string, got 5'],
  ['tool_call_timeout: "5s"', 'tool_call_timeout must be a number, got a string'],
  ['stop_after_successful_tools: "ok"', 'stop_after_successful_tools must be a list, got a string'],
  ['native_tool_fallback: "never"', 'native_tool_fallback must be "allow", "allow_once" or "reject", got "never"'],
  ['policy: {tool: ["read"]}', 'policy has no key `tool`; did you mean `tools`?'],
  ['permissions: {alow: ["read"]}', 'permissions has no key `alow`; did you mean `allow`?'],
  ['approval_policy: {auto_aprove: ["read"]}', 'approval_policy has no key `auto_aprove`; did you mean `auto_approve`?'],
  ['autonomy_budget: {per_minute: 1}', 'autonomy_budget has no key `per_minute`'],
  ['durability: "full"', 'durability must be "turn" or "park", got "full"'],
  ['resume_by: 5', 'resume_by must be a function'],
  ['compaction: "custom"', 'strategy custom needs `compact_callback`'],
  ['daemon: true, resume_event_topic: "a b"', 'resume_event_topic must be the name of a topic (letters, digits, `.`, `_` and `-`)'],
];

describe('options of agent_loop that cannot be', () => {
  it.each(refused)('{%s}', async (option, fault) => {
    expect(await linesOf(`println(try { agent_loop("go", nil, {${option}}) } catch e { e })`)).toEqual([`agent_loop: ${fault}`]);
  });

  it('nor can other values in the places of the system prompt and of the options', async () => {
    const script = 'for args in [["go", 5], ["go", nil, 5], ["go", nil, []]] { println(try { agent_loop(...args) } catch e { e }) }';
    expect(await linesOf(script)).toEqual([
      'agent_loop: system must be a string, got int',
      'agent_loop: options must be a dict, got int',
      'agent_loop: options must be a dict, got list',
    ]);
  });
});
