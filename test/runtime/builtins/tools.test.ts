import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

/** Prints several values on one line. */
const SHOW = 'fn show(values) { println(join(values.map({ value -> to_string(value) }), " ")) }\n';

const REJECTIONS: [what: string, config: string, message: string][] = [
  ['`params`', '{params: {}, handler: { a -> a }}', 'tool_define: use `parameters`, not `params`'],
  ['a config that is no dict', '5', 'tool_define: config must be a dict'],
  ['an executor that is no string', '{executor: 5}', 'tool_define: executor must be a string'],
  [
    'an unknown executor',
    '{executor: "magic"}',
    'tool_define: unknown executor "magic" for tool "a". Expected one of: "harn", "host_bridge", "mcp_server", "provider_native"',
  ],
  ['`harn` without a handler', '{executor: "harn"}', 'tool_define: tool "a" declares executor: "harn" but has no `handler`.'],
  [
    'a handler beside another executor',
    '{executor: "provider_native", handler: { a -> a }}',
    'tool_define: tool "a" declares executor: "provider_native" but also has a `handler`.',
  ],
  [
    'no host capability',
    '{executor: "host_bridge"}',
    'tool_define: tool "a" declares executor: "host_bridge" but is missing `host_capability`.',
  ],
  ['no server', '{executor: "mcp_server"}', 'tool_define: tool "a" declares executor: "mcp_server" but is missing `mcp_server`.'],
  ['defer_loading that is no bool', '{defer_loading: "yes", handler: { a -> a }}', 'tool_define: defer_loading must be a bool'],
  ['a blank namespace', '{namespace: " ", handler: { a -> a }}', 'tool_define: namespace must be a non-empty string'],
  ['parameters that are no dict', '{parameters: 5, handler: { a -> a }}', 'tool_define: parameters must be a dict'],
  ['annotations that are no dict', '{annotations: "safe", handler: { a -> a }}', 'tool_define: annotations must be a dict'],
  ['idempotent that is no bool', '{idempotent: "yes", handler: { a -> a }}', 'tool_define: idempotent must be a bool'],
  ['a time limit that is none', '{timeout_ms: 0, handler: { a -> a }}', 'tool_define: timeout_ms must be a positive int, in milliseconds'],
  ['a time limit in words', '{timeout_ms: "5s", handler: { a -> a }}', 'tool_define: timeout_ms must be a positive int, in milliseconds'],
  ['neither handler nor executor', '{}', 'tool_define: tool "a" has no `handler` and no `executor`.'],
];

const ROWS: ScriptRow[] = [
  [
    'the given registry stays as it is, and a tool of the same name is replaced where it stands',
    `let empty = tool_registry()
let one = tool_define(empty, "a", "first", {handler: { x -> 1 }})
let two = tool_define(one, "b", "second", {handler: { x -> 2 }})
let three = tool_define(two, "a", "third", {handler: { x -> 3 }, returns: {type: "string"}, note: "kept"})
show([tool_count(empty), tool_count(one), tool_count(two), tool_count(three)])
show([tool_list(three).map({ t -> t.description }), tool_find(three, "a").note, tool_find(three, "a").outputSchema.type, tool_find(three, "z")])
show([tool_list(three)[0].handler == nil, tool_count(tool_remove(three, "a")), tool_count(tool_select(three, ["a"]))])`,
    ['0 1 2 2', '[third, second] kept string nil', 'true 1 1'],
  ],
  [
    'wrong arity',
    'println(try { tool_define(tool_registry(), "a") })',
    ['Result.Err(tool_define: expected 4 arguments: registry, name, description, config)'],
  ],
  ['no registry', 'println(try { tool_define({}, "a", "b", {}) })', ['Result.Err(tool_define: first argument must be a tool registry)']],
  [
    'calls are parsed in both ways of writing, and a result is formatted',
    `println(tool_parse_call("<tool_call>look({ path: 'a' })</tool_call> and <tool_call>{\\"name\\": \\"b\\", \\"arguments\\": {\\"n\\": 1}}</tool_call>"))
println(tool_parse_call("nothing"))
println(tool_format_result("look", {n: 1}))`,
    [
      '[{arguments: {path: a}, name: look}, {arguments: {n: 1}, name: b}]',
      '[]',
      '<tool_result>{"name": "look", "result": {"n":1}}</tool_result>',
    ],
  ],
  [
    'a bound registry is found, and tool_bind with a function ends with it',
    `let r = tool_define(tool_registry(), "a", "b", {handler: { x -> 1 }})
println(tool_bind(r, { -> tool_ref("a") }))
println(try { tool_ref("a") })`,
    ['a', 'Result.Err(tool_ref: no tool registry bound)'],
  ],
  [
    '10.1: a hook refuses, changes arguments, and cuts results',
    `tool echo(text: string) -> string {
  return text
}
fn result(text) {
  llm_mock({tool_calls: [{name: "echo", args: {text: text}}]})
  llm_mock({text: "end"})
  let r = agent_loop("x", nil, {provider: "mock", tool_format: "native", tools: echo})
  return r.transcript.messages[2].content
}
register_tool_hook({pattern: "ec*", max_output: 3, pre: { call -> {args: {text: call.args.text + "!"}} }})
println(result("ab"))
println(result("abcd"))
clear_tool_hooks()
register_tool_hook({pattern: "*", deny: "closed"})
println(result("ab").contains("permission_denied"))`,
    ['ab!', 'abc', '[2 characters snipped]', 'true'],
  ],
  [
    '2.2: a tool that nothing can execute fails before the first model call',
    `println(try { agent_loop("x", nil, {provider: "mock", tools: {_type: "tool_registry", tools: [{name: "a"}]}}) })
println(len(llm_mock_calls()))`,
    ['Result.Err(agent_loop: tool a has no executable backend)', '0'],
  ],
  [
    'what is no tool, and an option of the wrong kind, are named before the first model call',
    `println(try { agent_loop("x", nil, {provider: "mock", tools: ["look"]}) })
println(try { agent_loop("x", nil, {provider: "mock", max_iterations: "3"}) })
println(try { agent_loop("x", nil, {provider: "mock", tool_format: "xml"}) })
println(len(llm_mock_calls()))`,
    [
      'Result.Err(tools: a string without a name is no tool; tools are declared with `tool` or made by tool_define)',
      'Result.Err(agent_loop: max_iterations must be a number, got a string)',
      'Result.Err(agent_loop: option `tool_format` must be "native" or "text", got "xml")',
      '0',
    ],
  ],
  [
    'limits that cannot be read, and options that would have no effect, are refused',
    `for options in [{policy: {tools: "read"}}, {policy: {side_effect_level: "readonly"}}, {permissions: {deny: "write"}}, {permissions: {on_escalation: true}}, {approval_policy: {require_approval: "deploy"}}, {durability: "full"}, {subagents: 1}, {compaction: "custom"}, {transcript: "old"}] {
  println(try { agent_loop("x", nil, {provider: "mock"} + options) } catch e { e })
}
println(len(llm_mock_calls()))`,
    [
      'agent_loop: policy.tools must be a list, got a string',
      'agent_loop: policy.side_effect_level must be "none", "read_only", "workspace_write", "process_exec" or "network", got "readonly"',
      'agent_loop: permissions.deny must be a list or a dict, got a string',
      'agent_loop: permissions.on_escalation must be a function',
      'agent_loop: approval_policy.require_approval must be a list or a dict, got a string',
      'agent_loop: durability must be "turn" or "park", got "full"',
      'agent_loop: subagents must be a bool, got 1',
      'agent_loop: strategy custom needs `compact_callback`',
      'agent_loop: transcript must be a transcript, got string',
      '0',
    ],
  ],
];

describe('tool registries (2.2)', () => {
  test.each(REJECTIONS)('tool_define refuses %s', async (_what, config, message) => {
    const [line] = await linesOf(`println(try { tool_define(tool_registry(), "a", "b", ${config}) })`);
    expect(line?.startsWith(`Result.Err(${message}`), line).toBe(true);
  });

  test.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(SHOW + script)).toEqual(lines);
  });
});
