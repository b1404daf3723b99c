import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseMockFile } from '../../src/agent/providers/mock-entry.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { rearmParked } from '../../src/lifecycle/rearm.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { lifecycleOf } from '../../src/runtime/agents/agent-lifecycle.ts';
import { agentServices } from '../../src/runtime/agents/agent-services.ts';
import { triggerService } from '../../src/runtime/agents/trigger-service.ts';
import { RunHost } from '../../src/runtime/run.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type ParkPlace, type Resumed, resumeIn, runIn } from './park-project.ts';

/** Closures in the options of a parked loop, in a process that never ran the script (spec/agents.md 5.12). */
let directory: string;

beforeEach(() => {
  directory = scratchDirectory();
});

const PARK = '{tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]}';

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function answers(...entries: JsonObject[]): string {
  return write('answers.jsonl', entries.map((entry) => JSON.stringify(entry)).join('\n'));
}

/** Parks a loop with these options in one run and goes on with it in another. */
async function parkAndResume(before: string, options: string, ...after: JsonObject[]): Promise<Resumed> {
  const script = write(
    'main.harn',
    `${before}
let tools = tool_define(tool_registry(), "write_note", "Writes", {parameters: {path: {type: "string"}}, handler: { args -> "wrote " + args.path }})
llm_mock(${PARK})
agent_loop("go", nil, {provider: "mock", tools: tools, tool_format: "native"} + ${options})`,
  );
  const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
  const { value } = await runIn(place, script);
  expect(value.status).toBe('suspended');
  return resumeIn(place, String(value.snapshot_path), 'go on', answers(...after));
}

const note = (path: string): JsonObject => ({ tool_calls: [{ name: 'write_note', arguments: { path } }] });

/** What the model read of each tool call. */
function results({ messages }: Resumed): unknown[] {
  return messages.filter(({ role, name }) => role === 'tool' && name === 'write_note').map(({ content }) => content);
}

describe('functions of skills', () => {
  test('on_activate and on_deactivate are called again', async () => {
    const told = join(directory, 'told.txt');
    const resumed = await parkAndResume(
      `let told = ${JSON.stringify(told)}`,
      `{
  skill_match: {sticky: false},
  skills: [
    {name: "go", on_deactivate: { -> append_file(told, "go ends;") }},
    {name: "On", on_activate: { -> append_file(told, "On begins;") }},
  ],
}`,
      { text: 'done' },
    );
    expect(resumed.summary).toMatchObject({ status: 'completed' });
    expect(readFileSync(told, 'utf8')).toBe('go ends;On begins;');
  });
});

describe('functions in permissions', () => {
  test('an allowing function decides again', async () => {
    const resumed = await parkAndResume(
      'let folder = "/docs/"',
      '{permissions: {allow: {write_note: { args -> args.path.starts_with(folder) }}}}',
      note('/docs/a'),
      note('/etc/a'),
      { text: 'done' },
    );
    expect(results(resumed)).toEqual(['wrote /docs/a', expect.stringContaining('permission_denied')]);
  });

  test('a denying function decides again', async () => {
    const resumed = await parkAndResume('', '{permissions: {deny: [{ args -> args.path == "/etc/a" }]}}', note('/docs/a'), note('/etc/a'), {
      text: 'done',
    });
    expect(results(resumed)).toEqual(['wrote /docs/a', expect.stringContaining('permission_denied')]);
  });

  test('on_escalation is asked again', async () => {
    const resumed = await parkAndResume(
      'fn ask(request) { return {grant: "once", reason: "fine by me"} }',
      '{permissions: {deny: ["write_note"], on_escalation: ask}}',
      note('/a'),
      { text: 'done' },
    );
    expect(results(resumed)).toEqual(['wrote /a']);
    expect(JSON.stringify(resumed.transcript)).toContain('fine by me');
  });

  test('a function that cannot be saved refuses instead of letting through', async () => {
    const resumed = await parkAndResume(
      'let queue = channel("q")',
      '{permissions: {allow: {write_note: { args -> queue != nil }}}}',
      note('/a'),
      { text: 'done' },
    );
    expect(results(resumed)).toEqual([expect.stringContaining('permission_denied')]);
  });
});

describe('callbacks', () => {
  test('R57: a closure that owns the resume is asked for the next park too', async () => {
    const resumed = await parkAndResume(
      'let name = "my.desk"',
      '{resume_by: { _harness, suspension -> {handled: true, mechanism: name + ":" + suspension.reason} }}',
      { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'again' } }] },
    );
    expect(resumed.summary.status).toBe('suspended');
    expect(resumed.audits.filter(({ kind }) => kind === 'resume_by_dispatched').map(({ payload }) => payload)).toMatchObject([
      { mechanism: 'my.desk:again', reason: 'again' },
    ]);
  });

  test('a closure that owns the resume and cannot be saved leaves the parent responsible', async () => {
    const resumed = await parkAndResume('let queue = channel("q")', '{resume_by: { _h, _s -> {handled: queue != nil, mechanism: "x"} }}', {
      tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'again' } }],
    });
    expect(resumed.warnings).toContain('resume_by is not active after the restore');
    expect(resumed.audits.filter(({ kind }) => kind === 'resume_by_dispatched').map(({ payload }) => payload)).toMatchObject([
      { mechanism: 'ResumeBy.parent_llm' },
    ]);
  });

  test('post_turn_callback, tool_caller and verify_completion are bound with what they captured', async () => {
    const resumed = await parkAndResume(
      'let word = "please"',
      `{
  post_turn_callback: { info -> info.has_tool_calls ? "note: " + word : nil },
  tool_caller: { call, next -> word + " " + next() },
  verify_completion: { info -> info.visible_text == "sure" ? true : "say sure, " + word },
}`,
      note('/a'),
      { text: 'done' },
      { text: 'sure' },
    );
    expect(results(resumed)).toEqual(['please wrote /a']);
    const said = JSON.stringify(resumed.messages);
    expect(said).toContain('note: please');
    expect(said).toContain('say sure, please');
    expect(resumed.summary).toMatchObject({ status: 'completed', visible_text: 'sure' });
  });
});

describe('a worker that runs a graph', () => {
  test('parks between two stages and goes on in another process, with the tools of its nodes and the input', async () => {
    const script = write(
      'main.harn',
      `let word = "found"
let tools = tool_define(tool_registry(), "look", "Looks", {parameters: {}, handler: { _args -> word + " it" }})
let pausing = tool_define(tool_registry(), "pause", "Pauses", {parameters: {}, handler: { _args -> suspend_agent(list_agents()[0], "enough").status }})
let agent_node = {kind: "stage", mode: "agent", model_policy: {provider: "mock", tool_format: "native"}}
let flow = workflow_graph({
  entry: "first",
  nodes: {first: agent_node + {tools: pausing}, second: agent_node + {tools: tools}},
  edges: [{from: "first", to: "second"}],
})
llm_mock({tool_calls: [{name: "pause", arguments: {}}]})
llm_mock({text: "first done"})
let handle = spawn_agent({task: "go", graph: flow, options: {persist_path: "${join(directory, 'run.json')}"}})
wait_agent(handle)`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    expect(value).toMatchObject({ status: 'suspended', mode: 'workflow' });
    expect(value.suspension).toMatchObject({ reason: 'enough', iterations_completed: 1, suspended_at_turn: 0 });
    const look = { tool_calls: [{ name: 'look', arguments: {} }] };
    const resumed = await resumeIn(place, String(value.snapshot_path), 'take the left one', answers(look, { text: 'second done' }));
    expect(resumed.summary).toMatchObject({ status: 'completed', summary: 'second done' });
    const said = JSON.stringify(resumed.messages);
    expect(said).toContain('found it');
    expect(said).toContain('take the left one');
    expect((resumed.summary.run as JsonObject).completed_nodes).toEqual(['first', 'second']);
  });

  test('D5: goes on behind its last stage when its process died in the next one', async () => {
    const run = join(directory, 'run.json');
    const script = write(
      'main.harn',
      `let seen = []
fn note(name) { shell("echo " + name + " >> ${join(directory, 'effects')}") }
let crash = tool_define(tool_registry(), "crash", "c", {parameters: {}, handler: { _args ->
  note("second")
  shell("cp -r ${join(directory, '.harn')} ${join(directory, 'left')}; rm ${join(directory, 'left')}/workers/*.claim; cp ${run} ${run}.left")
  "survived"
}})
let first = tool_define(tool_registry(), "first", "f", {parameters: {}, handler: { _args -> note("first"); "ok" }})
let agent_node = {kind: "stage", mode: "agent", model_policy: {provider: "mock", tool_format: "native", max_iterations: 1}}
let flow = workflow_graph({
  entry: "a",
  nodes: {
    a: agent_node + {tools: first, model_policy: agent_node.model_policy + {stop_after_successful_tools: ["first"]}},
    b: agent_node + {tools: crash, model_policy: agent_node.model_policy + {stop_after_successful_tools: ["crash"]}},
  },
  edges: [{from: "a", to: "b"}],
})
llm_mock({tool_calls: [{name: "first", arguments: {}}]})
llm_mock({tool_calls: [{name: "crash", arguments: {}}]})
wait_agent(spawn_agent({task: "go", graph: flow, options: {persist_path: "${run}"}}))`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    expect(value.status).toBe('completed');
    const again = answers({ tool_calls: [{ name: 'crash', arguments: {} }] });
    cpSync(join(directory, 'left'), join(directory, 'torn'), { recursive: true });
    writeFileSync(run, '{"half');
    const torn = { platform: createNodePlatform(), stateRoot: join(directory, 'torn') };
    const tornSnapshot = join(directory, 'torn', 'workers', `${String(value.id)}.json`);
    expect((await resumeIn(torn, tornSnapshot, undefined, again)).summary).toMatchObject({ status: 'failed' });
    expect(readFileSync(tornSnapshot, 'utf8')).toContain(`the run of the graph in ${run} cannot be read; move the file away`);
    renameSync(`${run}.left`, run);
    const left = { platform: createNodePlatform(), stateRoot: join(directory, 'left') };
    const snapshot = join(directory, 'left', 'workers', `${String(value.id)}.json`);
    const { summary } = await resumeIn(left, snapshot, undefined, again);
    expect(summary).toMatchObject({ status: 'completed', run: { completed_nodes: ['a', 'b'] } });
    expect(readFileSync(join(directory, 'effects'), 'utf8').split('\n')).toEqual(['first', 'second', 'second', '']);
  });

  test('a graph that workflow_graph did not make is refused', async () => {
    const script = write('main.harn', 'try { spawn_agent({task: "go", graph: {nodes: {}}}) } catch (e) { {error: e} }');
    const { value } = await runIn({ platform: createNodePlatform(), stateRoot: join(directory, '.harn') }, script);
    expect(value).toEqual({ error: 'spawn_agent: graph must come from workflow_graph' });
  });
});

describe('tools of a standard module', () => {
  test('are bound again', async () => {
    const script = write(
      'main.harn',
      `import { plan_tools } from "std/plan"
llm_mock(${PARK})
agent_loop("go", nil, {provider: "mock", tools: plan_tools(), tool_format: "native"})`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    const emit = { tool_calls: [{ name: 'emit_plan', arguments: { summary: 'do it', steps: [] } }] };
    const { messages, warnings } = await resumeIn(place, String(value.snapshot_path), 'go', answers(emit, { text: 'done' }));
    expect(warnings).toBe('');
    expect(messages.find(({ name }) => name === 'emit_plan')?.content).toContain('recorded');
  });
});

describe('hooks of harn.toml (10.1)', () => {
  const GUARD = `pub fn note(event) { println("\${event.event} \${event.worker.name}") }
pub fn refuse(_harness, event) { return event.has_input ? nil : {decision: "deny", reason: "bring an answer"} }`;

  test('run before those of the script, and hold a resume in another process', async () => {
    write('guard.harn', GUARD);
    write(
      'harn.toml',
      '[[hooks]]\nevent = "PreSuspend"\nhandler = "guard::note"\n\n[[hooks]]\nevent = "pre_resume"\npattern = "*"\nhandler = "guard.harn::refuse"\n',
    );
    const script = write(
      'main.harn',
      `register_session_hook("pre_suspend", { event -> println("script \${event.event}") })
llm_mock(${PARK})
agent_loop("go", nil, {provider: "mock", tool_format: "native"})`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value, printed } = await runIn(place, script);
    expect(printed).toBe('PreSuspend top-level-agent\nscript PreSuspend\n');
    const refused = await resumeIn(place, String(value.snapshot_path), undefined, answers({ text: 'done' }));
    expect(refused.audits.map(({ kind }) => kind)).toContain('pre_resume_denied');
    const resumed = await resumeIn(place, String(value.snapshot_path), 'the answer', answers({ text: 'done' }));
    expect(resumed.summary.status).toBe('completed');
  });

  const wrong = [
    ['an event that does not exist', 'event = "Never"\nhandler = "a::b"', "harn.toml: [[hooks]] entry 1: unknown hook event 'Never'"],
    ['a handler without a function', 'event = "PreSuspend"\nhandler = "a"', "handler must be `path::function`, got 'a'"],
    ['an entry without a handler', 'event = "PreSuspend"', 'harn.toml: [[hooks]] entry 1: handler'],
  ] as const;

  test.each(wrong)('%s ends the run at the first step that hooks are asked about', async (_rule, entry, text) => {
    write('harn.toml', `[[hooks]]\n${entry}\n`);
    const script = write('main.harn', 'agent_loop("go", nil, {provider: "mock"})');
    await expect(runIn({ platform: createNodePlatform(), stateRoot: join(directory, '.harn') }, script)).rejects.toThrow(text);
  });

  test('a function that is not there stops the step that would have asked it', async () => {
    write('guard.harn', GUARD);
    write('harn.toml', '[[hooks]]\nevent = "PreSuspend"\nhandler = "guard::gone"\n');
    const script = write(
      'main.harn',
      `llm_mock(${PARK})
try { agent_loop("go", nil, {provider: "mock", tool_format: "native"}) } catch (e) { {error: to_string(e)} }`,
    );
    const { value } = await runIn({ platform: createNodePlatform(), stateRoot: join(directory, '.harn') }, script);
    expect(JSON.stringify(value)).toContain('the hook guard::gone is no function');
  });
});

describe('the place of a worker (4.2 execution)', () => {
  test('comes back, and a resume where it is gone says so', async () => {
    const script = write(
      'main.harn',
      `let place = "${join(directory, 'place')}"
mkdir(place)
let where = tool_define(tool_registry(), "where", "w", {parameters: {}, handler: { _args -> cwd() }})
llm_mock(${PARK})
wait_agent(spawn_agent({task: "go", tools: where, options: {provider: "mock", tool_format: "native"}, execution: {cwd: place}}))`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    const path = String(value.snapshot_path);
    const mock = answers({ tool_calls: [{ name: 'where', arguments: {} }] }, { text: 'done' });
    renameSync(join(directory, 'place'), join(directory, 'elsewhere'));
    await expect(resumeIn(place, path, 'go', mock)).rejects.toMatchObject({
      code: 'HARN-SUS-004',
      message: expect.stringContaining(`${join(directory, 'place')} is not a directory`),
    });
    renameSync(join(directory, 'elsewhere'), join(directory, 'place'));
    const { messages } = await resumeIn(place, path, 'go', mock);
    expect(messages.filter(({ name }) => name === 'where').map(({ content }) => content)).toEqual([join(directory, 'place')]);
  });
});

describe('the predicate of a trigger (9.7)', () => {
  async function parkedOnTrigger(when: string): Promise<{ place: ParkPlace; path: string }> {
    const script = write(
      'main.harn',
      `let wanted = "urgent"
let queue = channel("q")
llm_mock({text: "never"})
spawn_agent({task: "go", options: {provider: "mock", resume_when: {trigger: {kind: "opened", provider: "tests", when: ${when}}}}})`,
    );
    write('harn.toml', '[[hooks]]\nevent = "PreResume"\nhandler = "guard::refuse"\n');
    write('guard.harn', 'pub fn refuse(_harness, event) { return event.resume_cause == "operator" ? false : nil }');
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    return { place, path: String(value.snapshot_path) };
  }

  test('is asked again where a resume was refused and the worker goes on waiting', async () => {
    const { place, path } = await parkedOnTrigger('{ event -> event.provider_payload.raw.label == wanted }');
    const script = write(
      'later.harn',
      `println(resume_agent("${path}").pre_resume_denied != nil)
llm_mock({text: "done"})
let [binding] = trigger_list()
println(trigger_fire(binding, {provider: "tests", kind: "opened", payload: {label: "dull"}}).status)
println(trigger_fire(binding, {provider: "tests", kind: "opened", payload: {label: "urgent"}}).status)
println(wait_agent(list_agents()[0]).status)`,
    );
    expect((await runIn(place, script)).printed).toBe('true\nskipped\ndispatched\ncompleted\n');
  });

  /** A host that starts again, and what came of two events for the trigger. */
  async function hosted(place: ParkPlace) {
    let warnings = '';
    const err = (text: string): void => {
      warnings += text;
    };
    const host = new RunHost({ ...place, argv: [], scriptPath: '<inline>', output: { out: () => {}, err } });
    agentServices(host).mock.useFile(parseMockFile('{"text": "done"}', 'answers'));
    const lifecycle = lifecycleOf(host);
    await rearmParked(lifecycle);
    const bindings = lifecycle.triggers.list().length;
    const statuses: unknown[] = [];
    for (const label of ['dull', 'urgent']) {
      const results = await triggerService(host).dispatcher.publish({ provider: 'tests', kind: 'opened', payload: { label } });
      statuses.push(...results.map(({ status }) => status));
    }
    await Promise.all(lifecycle.registry.list().map((worker) => worker.settled()));
    const woken = lifecycle.registry.list().map(({ status }) => status);
    const lost = lifecycle.audit.snapshot().filter(({ kind }) => kind === 'auto_resume_lost');
    return { bindings, statuses, woken, lost: lost.map(({ payload }) => (payload as JsonObject).cause), warnings };
  }

  test('is asked by a host that arms what others parked', async () => {
    const { place } = await parkedOnTrigger('{ event -> event.provider_payload.raw.label == wanted }');
    const expected = { bindings: 1, statuses: ['skipped', 'dispatched'], woken: ['completed'], lost: [], warnings: '' };
    expect(await hosted(place)).toEqual(expected);
  });

  test.each([
    ['cannot be saved', '{ _event -> queue != nil }', () => {}, 'conditions.trigger.when is not active after the restore: capture queue'],
    ['is in a script that no longer compiles', '{ _event -> true }', () => write('main.harn', 'fn ('), 'is not armed: HARN-SUS-004'],
  ])('that %s leaves the trigger unarmed in a host', async (_what, when, before, warning) => {
    const { place } = await parkedOnTrigger(when);
    before();
    const { warnings, ...rest } = await hosted(place);
    expect(rest).toEqual({ bindings: 0, statuses: [], woken: [], lost: ['unbound_closure'] });
    expect(warnings).toContain(warning);
  });

  test('that cannot be bound leaves the trigger unarmed', async () => {
    const { place, path } = await parkedOnTrigger('{ _event -> queue != nil }');
    const script = write(
      'later.harn',
      `resume_agent("${path}")
println(trigger_list())
println(lifecycle_audit_log_take().filter({ entry -> entry.kind == "auto_resume_lost" }).map({ entry -> entry.payload.cause }))`,
    );
    const { printed } = await runIn(place, script);
    expect(printed).toContain('[]\n[unbound_closure]\n');
    expect(printed).toContain('conditions.trigger.when is not active after the restore: capture queue was not serialisable');
  });
});

describe('limits of the loops above', () => {
  test('come back with a parked child, functions included', async () => {
    const script = write(
      'main.harn',
      `fn only_docs(args) { return args.path.starts_with("/docs/") }
fn child() {
  let tools = tool_define(tool_registry(), "write_note", "Writes", {parameters: {path: {type: "string"}}, handler: { args -> "wrote " + args.path }})
  return sub_agent_run("write", {provider: "mock", tools: tools, tool_format: "native", permissions: {allow: ["*"]}})
}
let tools = tool_define(tool_registry(), "delegate", "Delegates", {parameters: {}, handler: { _args -> child() }})
llm_mock({tool_calls: [{name: "delegate", arguments: {}}]})
llm_mock(${PARK})
llm_mock({text: "parked"})
agent_loop("go", nil, {provider: "mock", tools: tools, tool_format: "native", permissions: {allow: {write_note: only_docs, delegate: true}}})
list_agents()[0].suspension`,
    );
    const place = { platform: createNodePlatform(), stateRoot: join(directory, '.harn') };
    const { value } = await runIn(place, script);
    const resumed = await resumeIn(place, String(value.snapshot_path), 'go on', answers(note('/docs/a'), note('/etc/a'), { text: 'done' }));
    expect(results(resumed)).toEqual(['wrote /docs/a', expect.stringContaining('denied for the parent')]);
  });
});
