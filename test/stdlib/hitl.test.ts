import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../runtime/run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'an answer comes from the host, in the kind of the default',
    `host_mock("hitl", "question", {answer: " 9 "})
println(ask_user("How many?", {default: 0}) + 1)
println(ask_user("Sure?", {default: false}))
println(ask_user("What?"))`,
    ['10', 'false', ' 9 '],
  ],
  [
    'an answer must fit the schema',
    `type Choice = {name: string}
host_mock("hitl", "question", {answer: {name: "Ada"}})
println(ask_user("Who?", {schema: schema_of(Choice)}).name)
host_mock("hitl", "question", {answer: {name: 5}})
println(try { ask_user("Who?", {schema: schema_of(Choice)}) } catch (e) { e })`,
    ['Ada', "at name: expected type 'string', got 'int'"],
  ],
  [
    'nobody answers in time',
    `let a = spawn { ask_user("x", {timeout: 5s, default: "none"}) }
let b = spawn { try { ask_user("y", {timeout: 5s}) } catch (e) { "\${e.name} \${error_category(e)} \${e.message}" } }
sleep(10s)
println(await(a))
println(await(b))
println(len(hitl_pending()))`,
    ['none', 'HumanTimeoutError timeout nobody answered: y', '0'],
  ],
  [
    'another task answers what is pending',
    `let a = spawn { ask_user("Deploy?", {timeout: 1h}) }
yield_now()
let row = hitl_pending({kinds: ["question"]})[0]
println([row.request_kind, row.prompt, row.approvers])
hitl_respond(row.request_id, {answer: "yes"})
println(await(a))
println(len(hitl_pending()))
println(try { hitl_respond("none", {}) } catch (e) { e })`,
    ['[question, Deploy?, []]', 'yes', '0', 'hitl_respond: there is no request none'],
  ],
  [
    'a quorum counts each reviewer once, and only those who have a say',
    `let a = spawn { request_approval("deploy", {quorum: 2, reviewers: ["ada", "bob"], args: {to: "prod"}}) }
yield_now()
let row = hitl_pending()[0]
println([row.approvers, row.metadata.args, row.metadata.approvers_required])
hitl_respond(row.request_id, {approved: true, reviewer: "ada", reason: "fine"})
hitl_respond(row.request_id, {approved: true, reviewer: "ada"})
hitl_respond(row.request_id, {approved: true, reviewer: "eve"})
yield_now()
println(len(hitl_pending()))
hitl_respond(row.request_id, {approved: true, reviewer: "bob"})
let record = await(a)
println([record.approved, record.reviewers, record.reason, len(record.signatures), record.signatures[0].signature.starts_with("sha256:")])`,
    ['[[ada, bob], {to: prod}, 2]', '1', '[true, [ada, bob], fine, 2, true]'],
  ],
  [
    'without a host the person at the terminal is asked, on standard error',
    `mock_tty("stdin", true)
mock_stdin("Ada\\ny\\nno\\nyes\\n")
capture_stderr_start()
println(ask_user("Who?"))
println(request_approval("deploy").approved)
println(try { request_approval("delete") } catch (e) { e.name })
println(escalate_to("lead", "rights").status)
println(capture_stderr_take())
let a = spawn { ask_user("Again?", {timeout: 1s, default: "nobody"}) }
sleep(2s)
println(await(a))`,
    [
      'Ada',
      'true',
      'ApprovalDeniedError',
      'accepted',
      'Who? Approve: deploy? [y/N] Approve: delete? [y/N] Accept as lead: rights? [y/N] ',
      'nobody',
    ],
  ],
  [
    'one denial is enough',
    `host_mock("hitl", "approval", [{approved: true, reviewer: "ada"}, {approved: false, reviewer: "bob", reason: "too late"}])
let e = try { request_approval("deploy", {quorum: 2}) } catch (e) { e }
println([e.name, e.message, e.reason])`,
    ['[ApprovalDeniedError, bob denied: deploy, too late]'],
  ],
  [
    'an action under dual control runs after its approvals, not before',
    `host_mock("hitl", "dual_control", [{approved: true, reviewer: "ada"}, {approved: true, reviewer: "bob"}])
println(dual_control(2, 3, { -> "deleted" }, ["ada", "bob", "eve"]))
host_mock("hitl", "dual_control", [{approved: false, reviewer: "ada"}])
println(try { dual_control(1, 3, { -> println("never") }) } catch (e) { e.name })
println(try { dual_control(3, 2, { -> 1 }) } catch (e) { e })
println(try { dual_control(1, 2, { -> 1 }, ["ada"]) } catch (e) { e })`,
    [
      'deleted',
      'ApprovalDeniedError',
      'dual_control: 3 approvals of 2 approvers cannot be',
      'dual_control: 2 approvers are wanted, 1 are named',
    ],
  ],
  [
    'an escalation waits until somebody accepts',
    `let a = spawn { escalate_to("lead", "needs rights") }
yield_now()
let row = hitl_pending({kinds: ["escalation"]})[0]
hitl_respond(row.request_id, {accepted: false, reviewer: "bob"})
hitl_respond(row.request_id, {accepted: true, reviewer: "ada"})
let handle = await(a)
println([handle.role, handle.status, handle.reviewer])`,
    ['[lead, accepted, ada]'],
  ],
  [
    'a replayed handler gets the answers of its first run',
    `host_mock("hitl", "question", {answer: "first"})
fn handle_push(event) { return ask_user("Go on?") }
let binding = trigger_register({id: "x", kind: "push", provider: "github", handler: handle_push, events: ["push"]})
let fired = trigger_fire(binding, {provider: "github", kind: "push"})
host_mock("hitl", "question", {answer: "second"})
println([fired.result, trigger_replay(fired.event_id).result, trigger_fire(binding, {provider: "github", kind: "push"}).result])`,
    ['[first, first, second]'],
  ],
];

test.each(ROWS)('std/hitl: %s', async (_rule, script, lines) => {
  expect(await linesOf(`import "std/hitl"\n${script}`)).toEqual(lines);
});
