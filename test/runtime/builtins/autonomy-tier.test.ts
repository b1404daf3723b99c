import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchDirectory } from '../../support/scratch.ts';
import { linesOf, runLifecycleScript } from './lifecycle-script.ts';

/** `autonomy_tier` of a trigger (spec/agents.md 9.1, docs/decisions/021). */
/** @returns the beginning of a script, with a folder of its own in `here` */
const setup = (here = scratchDirectory()): string => `
let here = "${here}"
fn fired(tier, handler) { return trigger_fire(trigger_register({kind: "k", provider: "p", autonomy_tier: tier, handler: handler}), {provider: "p", kind: "k"}) }
fn told(text) { return if text == nil { "nil" } else { text.split("Permission denied: ").last() } }
let limited = ["shadow", "suggest", "act_with_approval"]
write_file("\${here}/there.txt", "text")
`;

const denied = (tier: string, what: string): string => `the autonomy tier ${tier} does not let this code ${what}`;
const LIMITED = ['shadow', 'suggest', 'act_with_approval'];

describe('a handler under a tier', () => {
  it.each([
    ['writes files', 'write_file("${here}/out.txt", "x")', 'write files'],
    ['appends to files', 'append_file("${here}/there.txt", "x")', 'write files'],
    ['removes files', 'delete_file("${here}/there.txt")', 'write files'],
    ['makes folders', 'mkdir("${here}/folder")', 'write files'],
    ['runs programs', 'exec("true")', 'run programs'],
    ['asks services', 'http_get("http://127.0.0.1:9/")', 'reach the network'],
  ])('that %s fails at once, and is neither tried again nor kept', async (_what, action, operation) => {
    const script = `${setup()}
for tier in limited { let d = fired(tier, { e -> ${action} }); println("\${d.status} \${d.dlq_entry_id} \${told(d.error)}") }
println("\${len(trigger_inspect_dlq())} \${len(trigger_inspect_lifecycle("RetryScheduled"))}")
println(read_file("\${here}/there.txt"))`;
    expect(await linesOf(script)).toEqual([...LIMITED.map((tier) => `failed nil ${denied(tier, operation)}`), '0 0', 'text']);
  });

  it('may look, compute, ask a model and manage agents, and knows its tier', async () => {
    const script = `${setup()}
for tier in limited {
  println(fired(tier, { e -> llm_mock({text: "said"}); "\${handler_context().autonomy_tier} \${read_file("\${here}/there.txt")} \${llm_call("x", nil, {provider: "mock"}).text} \${spawn_agent({task: "x", options: {resume_when: {}}}).status}" }).result)
}`;
    expect(await linesOf(script)).toEqual(LIMITED.map((tier) => `${tier} text said suspended`));
  });

  it('may go on behind a refusal, which is told to whoever looks over it', async () => {
    const script = `${setup()}
let d = fired("shadow", { e -> try { write_file("\${here}/out.txt", "x") } catch error { "proposed" } })
println("\${d.status} \${d.result} \${file_exists("\${here}/out.txt")}")
println(trigger_inspect_lifecycle("AutonomyDenied").map({ r -> "\${r.payload.autonomy_tier} \${r.payload.operation} \${r.payload.binding_id == d.binding_id} \${r.payload.event_id == d.event_id}" }))`;
    expect(await linesOf(script)).toEqual(['dispatched proposed false', '[shadow write files true true]']);
  });

  it('acts freely under act_auto, which is the default', async () => {
    const script = `${setup()}
for tier in ["act_auto", nil] { println(fired(tier, { e -> write_file("\${here}/out.txt", "x"); "wrote" }).result) }
println(len(trigger_inspect_lifecycle("AutonomyDenied")))`;
    expect(await linesOf(script)).toEqual(['wrote', 'wrote', '0']);
  });
});

describe('an agent that such a handler starts', () => {
  const AGENT = `
fn writes(args) { write_file("\${here}/out.txt", "x"); return "wrote" }
fn starts(event) {
  let registry = tool_define(tool_registry(), "writes", "d", {parameters: {}, handler: writes})
  let tools = tool_define(registry, "declared", "d", {parameters: {}, policy: {side_effect_level: "workspace_write"}, handler: { a -> "ran" }})
  llm_mock({tool_calls: [{name: "writes", args: {}}, {name: "declared", args: {}}]})
  llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
  return agent_loop("go", nil, {provider: "mock", tool_format: "native", tools: tools}).snapshot_path
}
`;

  it('is held to the tier in its tools, and after a park as well', async () => {
    const script = `${setup()}${AGENT}
let path = fired("suggest", starts).result
fn results(transcript) { return transcript.messages.filter({ m -> m.role == "tool" }).map({ m -> told(m.content).split("\\n").first() }) }
println(json_parse(read_file(path)).config.spec.options.policy)
llm_mock({tool_calls: [{name: "writes", args: {}}]})
llm_mock({text: "end"})
for text in results(wait_agent(resume_agent(path)).transcript) { println(text) }
println(file_exists("\${here}/out.txt"))`;
    expect(await linesOf(script)).toEqual([
      '{side_effect_level: read_only}',
      denied('suggest', 'write files'),
      '{',
      expect.stringContaining('awaiting_resumption'),
      denied('suggest', 'write files'),
      'false',
    ]);
  });

  it('is held to it in another process, too', async () => {
    const { out, directory } = await runLifecycleScript(`${setup()}${AGENT}\nprintln(fired("shadow", starts).result)`);
    const path = join(directory, '.harn/workers', out.trim().split('/').at(-1) ?? '');
    const script = `
llm_mock({tool_calls: [{name: "writes", args: {}}]})
llm_mock({text: "end"})
let transcript = wait_agent(resume_agent("${path}")).transcript
println(transcript.messages[len(transcript.messages) - 2].content.split("Permission denied: ").last())`;
    expect(await linesOf(script)).toEqual([denied('shadow', 'write files')]);
  });
});
