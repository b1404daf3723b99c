import { describe, expect, test } from 'vitest';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { runText } from '../runtime/run-text.ts';

/** Lines that a script prints under a frozen clock, with files of its own. */
async function linesOf(script: string): Promise<string[]> {
  const { out, outcome } = await runText(`mock_time(0)\n${script}`, createFakePlatform({ cwd: '/project' }));
  const lines = out.split('\n').slice(0, -1);
  if (outcome.kind === 'failed') lines.push(`FAILED ${outcome.failure.message}`);
  return lines;
}

type Row = readonly [rule: string, script: string, lines: readonly string[]];

const MONITORS: readonly Row[] = [
  [
    'asks until the condition holds',
    `let n = atomic(0)
let r = wait_for({timeout: 1m, poll_interval: 10s, wait_id: "w", source: {label: "deploy", poll: { ctx -> {count: ctx.poll_count, id: ctx.wait_id} }}, condition: { s -> s.count == 3 }})
println([r.status, r.poll_count, r.state, r.source, r.condition_value, r.reason, now_ms()])`,
    ['[matched, 3, {count: 3, id: w}, deploy, true, nil, 20000]'],
  ],
  [
    'ends with the last state when the time is up',
    `let r = wait_for({timeout: 25s, poll_interval: 10s, source: {poll: { _ -> "waiting" }}, condition: { s -> s == "done" }})
println([r.status, r.poll_count, r.state, r.reason])`,
    ['[timed_out, 3, waiting, the condition did not hold within 25s]'],
  ],
  [
    'asks once when there is no time at all',
    'let r = wait_for({timeout: 0ms, source: {poll: { _ -> 1 }}, condition: { s -> s == 1 }})\nprintln([r.status, r.poll_count])',
    ['[matched, 1]'],
  ],
  [
    'throws what poll throws',
    'println(try { wait_for({source: {poll: { _ -> throw "down" }}, condition: { _ -> true }}) } catch (e) { e })',
    ['down'],
  ],
  ['needs a source', 'println(try { wait_for({condition: { _ -> true }}) } catch (e) { e })', ['wait_for: source.poll is required']],
];

const WAITPOINTS: readonly Row[] = [
  [
    'whoever waits goes on, and whoever comes later',
    `let w = spawn { waitpoint_wait("a").value }
waitpoint_create("a", {for: "x"})
yield_now()
println(waitpoint_get("a").status)
println(waitpoint_complete("a", 7).status)
println([await(w), waitpoint_wait("a").value, waitpoint_get("a").metadata])`,
    ['open', 'completed', '[7, 7, {for: x}]'],
  ],
  ['the first end counts', 'waitpoint_complete("a", 1)\nwaitpoint_complete("a", 2)\nprintln(waitpoint_cancel("a").value)', ['1']],
  [
    'a point that is over can be opened again',
    `waitpoint_complete("a", 1)
println(waitpoint_create("a").status)
let w = spawn { waitpoint_wait("a").value }
yield_now()
waitpoint_complete("a", 2)
println(await(w))`,
    ['open', '2'],
  ],
  [
    'a cancelled point',
    'waitpoint_cancel("a", "no longer")\nlet r = waitpoint_wait(["a"])\nprintln([r.status, r.reason, r.waitpoints[0].status])',
    ['[cancelled, no longer, cancelled]'],
  ],
  [
    'the time is up',
    'let w = spawn { waitpoint_wait(["a", "b"], {timeout: 5s}).status }\nwaitpoint_complete("a")\nsleep(10s)\nprintln(await(w))',
    ['timed_out'],
  ],
];

const WAITPOINT: readonly Row[] = [
  [
    'handles',
    `let p = create()
let w = spawn { wait([p, create("q")]).map({ one -> one.value }) }
complete("q", 2)
complete(p, 1)
println(await(w))`,
    ['[1, 2]'],
  ],
  [
    'a cancelled point and one in vain are errors',
    `let p = create("p")
cancel(p, "stopped")
println(try { wait(p) } catch (e) { e })
let w = spawn { try { wait("q", {timeout: 1s}) } catch (e) { error_category(e) } }
sleep(2s)
println(await(w))`,
    ['{category: cancelled, message: wait: a waitpoint was cancelled: stopped}', 'timeout'],
  ],
];

const AGENT_STATE: readonly Row[] = [
  [
    'texts by key, sorted, without what is kept about them',
    `let s = agent_state_init("/state", {session_id: "one", writer_id: "a"})
agent_state_write(s, "b/c.json", "2")
agent_state_write(s, "a.md", "1")
println(agent_state_list(s))
agent_state_delete(s, "a.md")
agent_state_delete(s, "a.md")
println([agent_state_read(s, "a.md"), agent_state_read(agent_state_resume("/state", "one"), "b/c.json")])`,
    ['[a.md, b/c.json]', '[nil, 2]'],
  ],
  [
    'keys stay within the session',
    `let s = agent_state_init("/state", {session_id: "one"})
for key in ["/etc/x", "../x", "a/../../x", "", ".agent_state/writers.json"] { println(try { agent_state_write(s, key, "x") } catch (e) { "refused" }) }
println(try { agent_state_init("/state", {session_id: "a/b"}) } catch (e) { e })`,
    ['refused', 'refused', 'refused', 'refused', 'refused', 'agent_state: a session id cannot be a path: a/b'],
  ],
  [
    'only a session that exists is resumed',
    'println(try { agent_state_resume("/state", "none") } catch (e) { e })',
    ['agent_state_resume: there is no session none under /state'],
  ],
  [
    'a second writer is ignored, told of, or refused',
    `let a = agent_state_init("/state", {session_id: "one", writer_id: "a"})
agent_state_write(a, "k", "from a")
capture_stderr_start()
agent_state_write(agent_state_resume("/state", "one", {writer_id: "b", conflict_policy: "warn"}), "k", "from b")
println(json_parse(capture_stderr_take()).msg)
println(try { agent_state_write(agent_state_resume("/state", "one", {writer_id: "c", conflict_policy: "error"}), "k", "from c") } catch (e) { e })
println(agent_state_read(a, "k"))
println(try { agent_state_init("/state", {conflict_policy: "shout"}) } catch (e) { e })`,
    [
      'agent_state: k was previously written by a, now by b',
      'agent_state: k was previously written by b, now by c',
      'from b',
      'agent_state: conflict_policy must be ignore, warn or error, got shout',
    ],
  ],
  [
    'a handoff is a document of its own',
    `let s = agent_state_init("/state", {session_id: "one"})
agent_state_handoff(s, {status: "ready"})
let plain = json_parse(agent_state_read(s, agent_state_handoff_key()))
println([plain.session_id, plain.summary, plain.handoff])
agent_state_handoff(s, {task: "sign"})
println(json_parse(agent_state_read(s, s.handoff_key)).handoff)`,
    ['[one, {status: ready}, nil]', '{_type: handoff_artifact, task: sign}'],
  ],
];

const MEMORY: readonly Row[] = [
  [
    'what fits best comes first, what does not fit not at all',
    `let o = {root: "/m"}
memory_store("team", "ada", "likes Rust and short plans", ["profile"], o)
memory_store("team", "bob", "likes TypeScript", ["profile"], o)
memory_store("team", "plan", "a plan about Rust, Rust and Rust", nil, o)
println(memory_recall("team", "rust plans", 5, o).map({ r -> r.key }))
println(memory_recall("team", "profile", 5, o).map({ r -> r.key }))
println(memory_recall("team", "", 1, o).map({ r -> r.key }))
println(memory_recall("other", "rust", 5, o))`,
    ['[plan, ada]', '[bob, ada]', '[plan]', '[]'],
  ],
  [
    'what was forgotten stays in the file',
    `let o = {root: "/m", now: "2026-01-01T00:00:00Z"}
memory_store("n", "a", {text: "one"}, ["x"], o)
memory_store("n", "b", {text: "two"}, ["x", "y"], o)
println(memory_forget("n", {tags: ["x", "y"]}, o).forgotten)
println(memory_forget("n", "nothing like it", o).forgotten)
println(memory_summarize("n", nil, o).text)
println(len(read_lines("/m/n/events.jsonl")))
println(try { memory_forget("n", {}, o) } catch (e) { e })`,
    ['1', '0', '- a: one', '3', 'memory_forget: the predicate must be a text or a dict that is not empty'],
  ],
  [
    'summaries by number, words and tags',
    `let o = {root: "/m"}
for n in 1 to 4 { memory_store("n", "k\${n}", "note \${n}", [n % 2 == 0 ? "even" : "odd"], o) }
println(memory_summarize("n", 2, o).records.map({ r -> r.key }))
println(memory_summarize("n", {tag: "odd"}, o).count)
println(memory_summarize("n", {query: "3"}, o).text)`,
    ['[k3, k4]', '2', '- k3: note 3'],
  ],
  [
    'a namespace cannot leave its place',
    'println(try { memory_store("../x", "k", "v") } catch (e) { e })',
    ['memory: a namespace is made of names with `/` between them, got ../x'],
  ],
];

const PROMPT_LIBRARY: readonly Row[] = [
  [
    'pieces from files',
    `write_file("/one.toml", "[[prompt_fragments]]\\nid = \\"a\\"\\ntags = [\\"x\\"]\\npath = \\"a.prompt\\"\\n")
write_file("/a.prompt", "Hello {{who}}")
write_file("/two.harn.prompt", "No head")
let lib = prompt_library_load(["/one.toml", "/two.harn.prompt"])
println(prompt_library_inject(lib, "a", {who: "Ada"}))
println(prompt_library_inject(lib, "two"))
println(prompt_library_payload(lib, "a", {who: "B"}).cache_control)
println(try { prompt_library_inject(lib, "z") } catch (e) { e })`,
    ['Hello Ada', 'No head', '{type: ephemeral}', 'prompt_library_inject: there is no piece z'],
  ],
  [
    'one of the same id gives way where it stands',
    `let lib = prompt_library([{id: "a", body: "1"}, {id: "b", body: "2"}])
println(prompt_library_define(lib, {id: "a", body: "3"}).fragments.map({ one -> one.body }))`,
    ['[3, 2]'],
  ],
  [
    'chosen by words and tags, within a size',
    `let lib = prompt_library([{id: "a", body: "rust build", tags: ["x"]}, {id: "b", body: "docs", tags: ["x", "y"]}])
println(prompt_library_suggest(lib, {query: "rust"}).map({ one -> one.id }))
println(prompt_library_suggest(lib, {tags: ["y"], query: "rust"}).map({ one -> one.id }))
println(prompt_library_list(lib, {tags: ["x", "y"]}).map({ one -> one.id }))
println(prompt_library_inject_cluster(lib, {tag: "x", max_tokens: 3}))`,
    ['[a]', '[b, a]', '[b]', 'rust build'],
  ],
  [
    'what conversations share becomes a proposal',
    `let talks = ["use the house style and run all checks first", "use the house style and run all checks last", "something else entirely"]
let found = prompt_library_hotspots(talks, {k: 2, min_shared_tokens: 4})
println(found.map({ one -> [one.support, one.status, one.body] }))
println(len(prompt_library_review_queue(prompt_library(found))))
println(prompt_library_hotspots(talks, {k: 2}))`,
    ['[[2, pending_review, use the house style and run all checks]]', '1', '[]'],
  ],
];

describe.each([
  ['monitors', MONITORS],
  ['waitpoints', WAITPOINTS],
  ['waitpoint', WAITPOINT],
  ['agent_state', AGENT_STATE],
  ['memory', MEMORY],
  ['prompt_library', PROMPT_LIBRARY],
] as const)('std/%s', (module, rows) => {
  test.each(rows)('%s', async (_rule, script, lines) => {
    expect(await linesOf(`import "std/${module}"\n${script}`)).toEqual(lines);
  });
});
