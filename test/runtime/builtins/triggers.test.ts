import { describe, expect, it } from 'vitest';
import { createFakePlatform } from '../../../src/platform/fake-platform.ts';
import type { HttpRequest } from '../../../src/platform/platform.ts';
import { linesOf, runText, type ScriptRow } from '../run-text.ts';

const EVENT = '{provider: "github", kind: "opened"}';

/** A binding with these settings; its handler counts its calls. */
function binding(settings: string): string {
  return `let calls = atomic(0)
let handle = trigger_register({id: "b", kind: "opened", provider: "github", handler: { event -> atomic_add(calls, 1); "handled" }} + ${settings})\n`;
}

const ROWS: readonly ScriptRow[] = [
  [
    '9.3 to fire a binding that is unknown or ended is an error that names it',
    `llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait", conditions: {trigger: {kind: "opened", provider: "github"}}}}]})
let parked = agent_loop("go", nil, {provider: "mock", tool_format: "native"})
let id = parked.auto_resume_trigger
fn fired(binding) { return try { trigger_fire(binding, ${EVENT}).status } catch e { e.replace(id, "ID") } }
println(fired(id))
println(trigger_list().last().state)
println(fired(id))
println(fired("nobody"))
wait_agent(parked.handle)`,
    ['dispatched', 'terminated', "trigger_fire: binding 'ID' is not active (terminated)", "trigger_fire: binding 'nobody' is unknown"],
  ],
  [
    'a predicate that says no skips the event',
    `${binding('{when: { _event -> false }}')}let fired = trigger_fire(handle, ${EVENT})\nprintln("\${fired.status} \${fired.result} \${atomic_get(calls)}")`,
    ['skipped {reason: nil, skipped: true} 0'],
  ],
  [
    'a predicate that throws lets nothing through',
    `${binding('{when: { _event -> throw "no idea" }}')}let fired = trigger_fire(handle, ${EVENT})\nprintln("\${fired.status}: \${fired.error}")\nprintln(atomic_get(calls))`,
    ['failed: Thrown: no idea', '0'],
  ],
  [
    'a predicate over its budget counts as a no',
    `llm_mock({text: "yes", input_tokens: 30, output_tokens: 40})
${binding('{when: { _event -> llm_call("is it?", nil, {provider: "mock"}).text == "yes" }, when_budget: {tokens_max: 50}}')}let fired = trigger_fire(handle, ${EVENT})
println(fired.result)
println(trigger_inspect_lifecycle("predicate.budget_exceeded").last().payload.tokens)`,
    ['{reason: budget_exceeded, skipped: true}', '70'],
  ],
  [
    'a predicate that takes too long counts as a no',
    `${binding('{when: { _event -> receive(channel("never")) }, when_budget: {timeout: "5s"}}')}let fired = spawn { trigger_fire(handle, ${EVENT}) }
sleep(1ms)
advance_time(6000)
println(await(fired).result)`,
    ['{reason: timeout, skipped: true}'],
  ],
  [
    'a replay does not ask the predicate again',
    `let asked = atomic(0)
${binding('{when: { _event -> atomic_add(asked, 1); true }}')}let fired = trigger_fire(handle, ${EVENT})
println(trigger_replay(fired.event_id).status)
println("\${atomic_get(asked)} \${atomic_get(calls)}")`,
    ['dispatched', '1 2'],
  ],
  [
    'retry.max counts all attempts',
    `let tries = atomic(0)
let handle = trigger_register({id: "b", kind: "opened", provider: "github", retry: {max: 3, backoff: "immediate"}, handler: { _event -> atomic_add(tries, 1); throw "down" }})
println(trigger_fire(handle, ${EVENT}).status)
println(atomic_get(tries))
println(trigger_inspect_dlq()[0].attempts)
trigger_replay(trigger_inspect_dlq()[0].event_id)
println([trigger_inspect_dlq()[0].attempts, trigger_inspect_dlq()[0].retry_history.map({ entry -> entry.attempt })])`,
    ['dlq', '3', '3', '[6, [3, 6]]'],
  ],
  [
    'a dead letter keeps its event and grows with each replay that fails, until one succeeds',
    `let is_down = atomic(1)
let handle = trigger_register({id: "b", kind: "opened", provider: "github", retry: {max: 1}, handler: { _event -> require atomic_get(is_down) == 0, "down"; "up" }})
let fired = trigger_fire(handle, ${EVENT})
println(trigger_replay(fired.event_id).status)
let [letter] = trigger_inspect_dlq()
println("\${letter.event_id == fired.event_id} \${letter.event.kind} \${letter.retry_history.map({ entry -> entry.status })}")
atomic_set(is_down, 0)
println(trigger_replay(fired.event_id).status)
println(trigger_inspect_dlq())`,
    ['dlq', 'true opened [dlq, replay_dlq]', 'dispatched', '[]'],
  ],
  [
    'a filter may compare with a bare word',
    `${binding('{filter: "event.kind == opened"}')}println(trigger_fire(handle, ${EVENT}).status)`,
    ['dispatched'],
  ],
  [
    'the handler knows what it was called for',
    `let handle = trigger_register({id: "b", kind: "opened", provider: "github", handler: { _event -> handler_context() }})
let seen = trigger_fire(handle, ${EVENT}).result
println("\${seen.agent} \${seen.action} \${seen.autonomy_tier} \${seen.trigger_event.kind}")
println(handler_context())`,
    ['b github.opened act_auto opened', 'nil'],
  ],
  [
    'the action graph leads from an event to what it caused',
    `${binding('{when: { _event -> true }}')}let trace = uuid()
trigger_fire(handle, ${EVENT.replace('}', ', trace_id: trace}')})
let steps = trigger_inspect_action_graph(trace).flat_map({ entry -> entry.payload.observability.action_graph_nodes })
println(steps.map({ node -> node.kind }))
println(len(trigger_inspect_action_graph(uuid())))`,
    ['[trigger, predicate, dispatch]', '0'],
  ],
  [
    'each step of an event is on its topic, without the body of the event',
    `let topics = ["trigger.inbox.envelopes", "trigger.inbox.claims", "trigger.attempts", "trigger.outbox", "triggers.events", "triggers.lifecycle"]
let before = topics.map({ topic -> event_log.latest(topic) ?? 0 })
${binding('{}')}trigger_fire(handle, {provider: "github", kind: "opened", payload: "canary", headers: {x: "canary"}})
for item in topics.enumerate() {
  for record in event_log.subscribe({topic: item.value, from_cursor: before[item.index]}) {
    println("\${item.value} \${record.kind} \${contains(json_stringify(record), "canary")}")
    break
  }
}`,
    [
      'trigger.inbox.envelopes accepted false',
      'trigger.inbox.claims claimed false',
      'trigger.attempts attempt false',
      'trigger.outbox dispatched false',
      'triggers.events opened false',
      'triggers.lifecycle DispatchStarted false',
    ],
  ],
  [
    'worker:// leaves a job on a queue',
    `let handle = trigger_register({id: "b", kind: "opened", provider: "github", handler: "worker://triage"})
let fired = trigger_fire(handle, ${EVENT})
println("\${fired.status} \${fired.result.queue} \${fired.result.response_topic}")
println(event_log.latest("worker.queues.triage") == fired.result.job_event_id)`,
    ['dispatched triage worker.responses.triage', 'true'],
  ],
  [
    'HARN-CHN-005 refuses a batch that cannot be',
    `for batch in [3, {}, {count: 0}] {
  let e = try { trigger_register({kind: "k", provider: "p", handler: { _e -> nil }, batch: batch}) } catch (e) { e }
  println("\${e.code}: \${e}")
}`,
    [
      'HARN-CHN-005: HARN-CHN-005: invalid batch: expected a dict, got int',
      'HARN-CHN-005: HARN-CHN-005: invalid batch: it needs `count` or `window_ms`',
      'HARN-CHN-005: HARN-CHN-005: invalid batch: `count` must be a positive int',
    ],
  ],
];

describe('triggers', () => {
  it.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(script)).toEqual(lines);
  });
});

describe('a2a:// hands the event to an agent elsewhere', () => {
  const rows = [
    [
      'a finished task gives what it says',
      { result: { status: { state: 'completed' }, artifacts: [{ parts: [{ kind: 'text', text: '{"label":"bug"}' }] }] } },
      'dispatched {label: bug}',
    ],
    [
      'an open task gives its id',
      { result: { id: 't1', status: { state: 'working' } } },
      'dispatched {state: working, status: pending, task_id: t1}',
    ],
    ['a failed task is a failed attempt', { result: { status: { state: 'failed' } } }, 'dlq nil'],
    ['an error of the protocol too', { error: { code: -32_000, message: 'busy' } }, 'dlq nil'],
  ] as const;

  it.each(rows)('%s', async (_rule, answer, line) => {
    const asked: HttpRequest[] = [];
    const platform = createFakePlatform({
      respond: (request) => {
        asked.push(request);
        return { status: 200, headers: {}, body: JSON.stringify({ jsonrpc: '2.0', id: '1', ...answer }) };
      },
    });
    const script = `mock_time(0)
let handle = trigger_register({id: "b", kind: "opened", provider: "github", retry: {max: 1}, allow_cleartext: true, handler: "a2a://agents.test:8080/triage"})
let fired = trigger_fire(handle, ${EVENT})
print("\${fired.status} \${fired.result}")`;
    expect((await runText(script, platform)).out).toBe(line);
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST http://agents.test:8080/']);
    expect(String(asked[0]?.body)).toContain('message/send');
    expect(String(asked[0]?.body)).toContain(String.raw`\"target_agent\":\"triage\"`);
  });
});
