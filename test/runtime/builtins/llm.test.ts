import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

/** Prints several values on one line. */
const SHOW = 'fn show(values) { println(join(values.map({ value -> to_string(value) }), " ")) }\n';

const ROWS: ScriptRow[] = [
  [
    '1.5: a repair is paid for too, and is no attempt at the question',
    `llm_mock({text: "nope", input_tokens: 3, output_tokens: 4})
llm_mock({text: "{}", input_tokens: 5, output_tokens: 6})
let r = llm_call_structured_result("q", {type: "object"}, {provider: "mock", retries: 0, repair: {enabled: true}})
show([r.ok, r.repaired, r.attempts, r.usage.input_tokens, r.usage.output_tokens])`,
    ['true true 1 8 10'],
  ],
  [
    '1.2: what a ceiling is and what was spent is told in dollars',
    `llm_mock({text: "a", model: "claude-sonnet-4", input_tokens: 1000, output_tokens: 10})
llm_call("x", nil, {provider: "mock", model: "claude-sonnet-4"})
llm_budget(0.001)
println(try { llm_call("x", nil, {provider: "mock", model: "claude-sonnet-4"}) } catch e { e.message })
llm_budget(1.0)
println(try { llm_call("x", nil, {provider: "mock", budget: {max_input_tokens: 0}}) } catch e { e.message })`,
    ['llm_budget is $0.001, and $0.00315 is spent', 'max_input_tokens is 0, and this call may need 1'],
  ],
  [
    '1.3: the result has text, usage, blocks and a transcript',
    `llm_mock({text: "<thinking>x</thinking>Hi", thinking: "hm", input_tokens: 3, output_tokens: 4})
let r = llm_call("hello", "be brief", {provider: "mock"})
show([r.text, r.visible_text])
show([r.usage.input_tokens, r.output_tokens, r.usage.cache_hit_ratio])
show([r.blocks.map({ b -> b.type }), r.stop_reason, r.thinking == r.private_reasoning])
println(r.transcript.messages.map({ m -> m.role }))`,
    ['<thinking>x</thinking>Hi Hi', '3 4 0.0', '[reasoning, output_text] end_turn true', '[user, assistant]'],
  ],
  [
    '1.2: messages replace the prompt, also where history goes on',
    `let said = [{role: "user", content: "only"}]
let first = llm_call("unused", nil, {provider: "mock", messages: said})
llm_call("unused", nil, {provider: "mock", transcript: first.transcript, messages: [{role: "user", content: "more"}]})
for call in llm_mock_calls() { println(call.messages.map({ m -> m.content })) }`,
    ['[only]', '[only, Mock response to 1-word prompt: only, more]'],
  ],
  [
    '1.2: an option that cannot be is refused by name',
    `for options in [{timeout: "3"}, {timeout: 0}, {max_tokens: 0}, {temperature: "hot"}, {seed: 1.5}, {stop: "X"}, {tool_format: "xml"}, {output_validation: "maybe"}, {response_format: "xml"}, {llm_retries: -1}, {cache: "yes"}, {thinking: {mode: "wild"}}, {budget: 3}, {provider: 5}, {temperature: nil}] {
  try { println(llm_call("x", nil, {provider: "mock"} + options).text) } catch (e) { println(e) }
}`,
    [
      'llm_call: option `timeout` must be a number of seconds above 0, got "3"',
      'llm_call: option `timeout` must be a number of seconds above 0, got 0',
      'llm_call: option `max_tokens` must be a whole number above 0, got 0',
      'llm_call: option `temperature` must be a number, got "hot"',
      'llm_call: option `seed` must be a whole number, got 1.5',
      'llm_call: option `stop` must be a list of strings, got "X"',
      'llm_call: option `tool_format` must be "native" or "text", got "xml"',
      'llm_call: option `output_validation` must be "off", "warn" or "error", got "maybe"',
      'llm_call: option `response_format` must be "text" or "json", got "xml"',
      'llm_call: option `llm_retries` must be a whole number of 0 or more, got -1',
      'llm_call: option `cache` must be true or false, got "yes"',
      'llm_call: option `thinking` must be true, false or a dict whose `mode` is one of enabled, adaptive, effort, disabled, with `budget_tokens` (a whole number) or `level` (a string), got {"mode":"wild"}',
      'llm_call: option `budget` must be a dict of limits, numbers of 0 or more (max_cost_usd, max_input_tokens, max_output_tokens, total_budget_usd), got 3',
      'llm_call: option `provider` must be a string, got 5',
      'Mock response to 1-word prompt: x',
    ],
  ],
  [
    '1.3: the cache is measured by the whole prompt',
    `llm_mock({text: "a", input_tokens: 10, cache_read_tokens: 4})
println(llm_call("x", nil, {provider: "mock"}).cache_hit_ratio)`,
    ['0.4'],
  ],
  [
    '0.4: an LLM error is a dict',
    `llm_mock({error: {category: "auth", message: "bad key"}})
try { llm_call("x", nil, {provider: "mock", model: "m"}) } catch (e) {
  show([type_of(e), e.category, e.kind, e.reason, e.message, e.provider, e.model])
}`,
    ['dict auth terminal auth_failure bad key mock m'],
  ],
  [
    '0.4: uncaught it is of the categorised kind',
    'llm_mock({error: {category: "auth", message: "bad key"}})\nllm_call("x", nil, {provider: "mock"})',
    ['FAILED Error [auth]: bad key (line 4)'],
  ],
  [
    '1.7: only transient faults are tried again',
    `llm_mock({error: {category: "overloaded"}})
llm_mock({text: "second"})
println(llm_call("x", nil, {provider: "mock", llm_retries: 1}).text)
llm_mock({error: {category: "auth", message: "no"}})
show([llm_call_safe("x", nil, {provider: "mock", llm_retries: 5}).error.category, len(llm_mock_calls())])`,
    ['second', 'auth 3'],
  ],
  [
    '1.5: a wrong answer is corrected and forgotten',
    `let schema = {type: "object", required: ["n"], properties: {n: {type: "integer"}}}
llm_mock({text: "no json here"})
llm_mock({text: "Sure: {\\"n\\": 7}"})
println(llm_call_structured("count", schema, {provider: "mock"}).n)
let second = llm_mock_calls()[1].messages
show([len(second), second[1].content.contains("contains no parseable JSON value")])`,
    ['7', '2 true'],
  ],
  [
    '1.5: exhausted retries throw schema_validation, and the envelope names the attempts',
    `let schema = {type: "object", required: ["n"]}
llm_mock({text: "{}", match: "*"})
try { llm_call_structured("count", schema, {provider: "mock", retries: 1}) } catch (e) { println(e.category) }
let r = llm_call_structured_result("count", schema, {provider: "mock", retries: 2})
show([r.ok, r.error_category, r.attempts, r.raw_text])`,
    ['schema_validation', 'false schema_validation 3 {}'],
  ],
  [
    '1.6: a stream is a channel that closes at the end',
    `llm_mock({text: "all of it"})
for piece in llm_stream("x", nil, {provider: "mock"}) { println(piece) }
println("closed")`,
    ['all of it', 'closed'],
  ],
  [
    '3.11: a session carries the history',
    `let s = agent_session_open()
llm_mock({text: "one"})
llm_mock({text: "two"})
llm_call("a", nil, {provider: "mock", session_id: s})
llm_call("b", nil, {provider: "mock", session_id: s})
println(llm_mock_calls()[1].messages.map({ m -> m.content }))
println(agent_session_length(s))`,
    ['[a, one, b]', '4'],
  ],
  [
    '1.1: a spent budget refuses the next call',
    `llm_mock({text: "x", model: "claude-opus-4", input_tokens: 1000000, output_tokens: 0})
llm_budget(1.0)
llm_call("a", nil, {provider: "mock"})
show([llm_usage().total_cost, llm_budget_remaining(), llm_usage().call_count])
println(llm_call_safe("b", nil, {provider: "mock"}).error.category)`,
    ['15.0 0.0 1', 'budget_exceeded'],
  ],
  [
    '1.8: with_llm_mocks puts back what was there, also after a throw',
    `import { llm_text, with_llm_mocks } from "std/testing"
llm_mock({text: "outer"})
println(with_llm_mocks([llm_text("inner", {input_tokens: 2})], { -> llm_call("x", nil, {provider: "mock"}).input_tokens }))
let failed = try { with_llm_mocks([], { -> throw "boom" }) }
show([unwrap_err(failed), llm_call("y", nil, {provider: "mock"}).text])`,
    ['2', 'boom outer'],
  ],
];

describe('model calls of scripts', () => {
  test.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(SHOW + script)).toEqual(lines);
  });
});
