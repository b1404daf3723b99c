import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

/** What is known of services and models, without asking any. */
const ROWS: ScriptRow[] = [
  [
    'names lead to services and tiers',
    `println(["claude-x", "gpt-x", "org/m", "m:tag", "gemini-x"].map({ name -> llm_infer_provider(name) }))
println(["gpt-4o-mini", "claude-opus-4", "deepseek-v3", "Qwen3.5-9B"].map({ name -> llm_model_tier(name) }))`,
    ['[anthropic, openai, openrouter, ollama, gemini]', '[small, frontier, mid, small]'],
  ],
  [
    'aliases and selectors are resolved',
    `let local = llm_resolve_model("local:gemma")
println("\${local.id} \${local.provider} \${local.alias} \${local.tool_format}")
let mid = llm_model_info("mid")
println("\${mid.id} \${mid.alias} \${mid.catalog.pricing.input_per_mtok} \${mid.capabilities.native_tools}")
println(llm_pick_model("small", {provider: "openai"}).id)
println(llm_known_models())`,
    ['gemma ollama nil text', 'gpt-4o-mini mid 0.15 true', 'gpt-4o-mini', '[frontier, mid, small]'],
  ],
  [
    'costs come from the catalogue, and are nothing for an unknown model',
    `println(llm_cost("gpt-4o", 1000000, 1000000))
println(llm_cost("who-knows", 1000000, 1000000))`,
    ['12.5', '0.0'],
  ],
  [
    'a configuration never holds a key',
    `println(llm_config("anthropic").auth_style)
println(llm_config("local").auth_style)
println(llm_config("nobody"))
println(contains(llm_providers(), "openrouter"))
println(contains(json_stringify(llm_config()), "OPENAI_API_KEY"))`,
    ['header', 'none', 'nil', 'true', 'true'],
  ],
  [
    'rules of a script come first, until they are cleared',
    `println(provider_capabilities("mine", "m").native_tools)
provider_capabilities_install("[[provider.mine]]\\nmodel_match = \\"*\\"\\nnative_tools = true\\n")
println(provider_capabilities("mine", "m").native_tools)
provider_capabilities_clear()
println(provider_capabilities("mine", "m").native_tools)
try { provider_capabilities_install("[[provider.mine]]\\nnative_tools = 1\\n") } catch (e) { println(e.contains("model_match")) }`,
    ['false', 'true', 'false', 'true'],
  ],
  [
    'the trace has calls and corrections, and their sums',
    `llm_mock({text: "no", input_tokens: 2, output_tokens: 3})
llm_mock({text: "{}", input_tokens: 5, output_tokens: 7})
llm_mock({error: {category: "overloaded"}})
llm_mock({text: "x", input_tokens: 1, output_tokens: 1})
llm_call_structured("x", {type: "object"}, {provider: "mock"})
llm_call("x", nil, {provider: "mock", llm_retries: 1})
println(agent_trace().map({ event -> event.type }))
let sums = agent_trace_summary()
println("\${sums.llm_calls} \${sums.llm_retries} \${sums.schema_retries} \${sums.input_tokens} \${sums.output_tokens}")
println(llm_usage().total_duration_ms >= 0)`,
    ['[llm_call, schema_retry, llm_call, llm_retry, llm_call]', '3 1 1 8 11', 'true'],
  ],
  [
    'vision is refused where nothing says that the model sees',
    `try { llm_call("x", nil, {provider: "mock", model: "gpt-3.5-turbo", vision: true}) } catch (e) { println(e) }
println(llm_call("x", nil, {provider: "mock", model: "gpt-4o", vision: true}).model)`,
    ['llm_call: option `vision` is not supported by mock/gpt-3.5-turbo', 'gpt-4o'],
  ],
  [
    'native search of tools is refused where nothing says that the service has it',
    `let tools = tool_define(tool_registry(), "a", "b", {handler: { _ -> 1 }, defer_loading: true})
try { llm_call("x", nil, {provider: "mock", tools: tools, tool_search: {mode: "native"}}) } catch (e) { println(e) }
llm_call("x", nil, {provider: "mock", model: "gpt-5.4", tools: tools, tool_search: {mode: "native"}})
println(llm_mock_calls()[0].tools.map({ one -> one.type }))`,
    ['tool_search: mock/mock does not expose native tool search; use mode: "client"', '[tool_search, function]'],
  ],
  [
    'unscripted completions say what was around them',
    `println(llm_completion("let x = ", ";", nil, {provider: "mock"}).text)
println(llm_completion("abc", nil, nil, {provider: "mock"}).text)`,
    ['Mock completion after 8 chars before 1 chars', 'Mock completion after 3 chars'],
  ],
];

describe('models and services', () => {
  test.each(ROWS)('%s', async (_title, source, expected) => {
    expect(await linesOf(source)).toEqual(expected);
  });
});
