import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliWorld, type Ended, events } from './harn.ts';

/**
 * Words that must stay with the agent are put wherever words can be put, and then looked for in everything that leaves
 * it: envelope, events, audits, hooks, logs, errors, the JSON stream and the files beside the snapshot.
 */
const KEY = 'sk-canary0123456789abcdefghijklmnopqrstuvwxyz0123';

/** Only the event that says what was started, WorkerSpawned, names the task. */
const STARTED = 'canary-task';

const SCRIPT = `
tool lookup(q: string) -> string {
  return "canary-result \${trim(read_file("key.txt"))}"
}
fn watch(e) {
  println("HOOK \${json_stringify(e)}")
  return nil
}
pipeline default() {
  for name in ["pre_suspend", "post_suspend", "pre_resume", "post_resume", "on_drain_decision", "on_unsettled_detected", "pre_finish", "post_finish"] {
    register_session_hook(name, watch)
  }
  for name in ["WorkerSpawned", "WorkerProgressed", "WorkerSuspended", "WorkerResumed", "WorkerCompleted", "WorkerCancelled"] {
    register_worker_hook(name, watch)
  }
  let conditions = {trigger: {kind: "done", provider: "ci", token: "canary-declared"}, on_event: "ci.done"}
  llm_mock({text: "canary-said", tool_calls: [{name: "lookup", args: {q: "canary-argument"}}]})
  llm_mock({text: "canary-said", thinking: "canary-thought", tool_calls: [{name: "agent_await_resumption", args: {reason: "wait", conditions: conditions}}]})
  llm_mock({text: "canary-said", tool_calls: [{name: "agent_await_resumption", args: {reason: "again"}}]})
  let s = agent_loop("canary-prompt", "canary-system", {provider: "mock", tool_format: "native", tools: lookup})
  println("SHOWN \${json_stringify(s)}")
  println("SHOWN \${json_stringify(list_agents()[0].suspension)}")
  trigger_fire(s.auto_resume_trigger, {provider: "ci", kind: "done", payload: {v: "canary-payload"}, headers: {h: "canary-header"}})
  let again = wait_agent(s.handle)
  println("SHOWN \${json_stringify(again.result)}")
  println("SHOWN \${json_stringify(again.suspension)}")
  println("SHOWN \${try { resume_agent(s.handle, "  ", nil) } catch e { json_stringify(e) }}")
  llm_mock({text: "canary-said"})
  resume_agent(s.handle, "canary-input")
  wait_agent(s.handle)
  println("SHOWN \${json_stringify(lifecycle_audit_log_snapshot())}")
  let other = spawn_agent({task: "canary-task", options: {resume_when: {}}})
  println("SHOWN \${json_stringify(close_agent(other).suspension)}")
  resume_agent(s.handle, "canary-late")
}
`;

const world = new CliWorld();
afterAll(() => world.remove());

let plain: Ended;
let stream: Ended;

beforeAll(() => {
  world.write('work.harn', SCRIPT);
  world.write('key.txt', KEY);
  const env = { OPENAI_API_KEY: 'canary-key' };
  plain = world.harn(['run', 'work.harn'], { env });
  stream = world.harn(['run', '--json', 'work.harn'], { env });
});

const linesWith = (mark: string): string[] => plain.stdout.split('\n').filter((line) => line.startsWith(mark));

describe('R37 R82 T29 what stays with the agent', () => {
  test('is in the snapshot, but no key is, whoever said it', () => {
    const saved = world.snapshots().map((path) => readFileSync(path, 'utf8'));
    for (const word of ['prompt', 'system', 'said', 'argument', 'result', 'input', 'payload', 'task'])
      expect(
        saved.some((text) => text.includes(`canary-${word}`)),
        word,
      ).toBe(true);
    for (const text of saved) {
      expect(text).not.toContain('canary-key');
      expect(text).not.toContain(KEY);
    }
  });

  test('is in no envelope, summary of a suspension, audit or error that a script shows', () => {
    expect(plain.stderr).toContain('HARN-SUS-003');
    expect(linesWith('SHOWN ')).toHaveLength(7);
    expect(linesWith('SHOWN ').join('\n')).not.toContain('canary');
  });

  test('is told to no hook', () => {
    const told = linesWith('HOOK ').map((line) => JSON.parse(line.slice('HOOK '.length)) as { event: string });
    const named = new Set(told.map(({ event }) => event));
    for (const event of [
      'PreSuspend',
      'PostSuspend',
      'PreResume',
      'PostResume',
      'WorkerSuspended',
      'WorkerResumed',
      'WorkerCompleted',
      'WorkerCancelled',
    ])
      expect([...named]).toContain(event);
    expect(JSON.stringify(told).replaceAll(STARTED, '')).not.toContain('canary');
  });

  test('is in no line on standard error', () => {
    expect(plain.stderr.replace(/^.*canary-late.*$/m, '')).not.toContain('canary');
  });

  test('is in no topic of the event log, and in no other file of the state but its own', () => {
    const topics = join(world.folder, '.harn/events');
    expect(readdirSync(topics)).toContain('pipeline.lifecycle.audit.jsonl');
    for (const name of readdirSync(topics))
      expect(readFileSync(join(topics, name), 'utf8').replaceAll(STARTED, ''), name).not.toContain('canary');
    // What a restart has to arm again is kept as it was declared, for the owner alone.
    const waiters = join(world.folder, '.harn/waiters.jsonl');
    expect(readFileSync(waiters, 'utf8').replaceAll('canary-declared', '')).not.toContain('canary');
    const workers = join(world.folder, '.harn/workers');
    for (const path of [waiters, ...readdirSync(workers).map((name) => join(workers, name))])
      expect(statSync(path).mode & 0o077, path).toBe(0);
    expect(readdirSync(workers).filter((name) => !/^(worker_.*\.json|closed\.index)$/.test(name))).toEqual([]);
  });

  test('is in no event of the JSON stream about the worker, its hooks or its parks, nor in the error at its end', () => {
    const all = events(stream.stdout);
    const isAboutWorker = ({ data }: (typeof all)[number]): boolean =>
      data.event_type === 'hook' || ['worker_update', 'tool_call_audit', 'transcript_repaired'].includes(String(data.kind));
    const about = all.filter(isAboutWorker);
    expect(new Set(about.map(({ data }) => data.kind ?? data.event_type))).toEqual(new Set(['worker_update', 'tool_call_audit', 'hook']));
    expect(JSON.stringify(about).replaceAll(STARTED, '')).not.toContain('canary');
    const last = all.at(-1);
    expect(last).toMatchObject({ ok: false, error: { code: 'HARN-SUS-003', details: { detail: { handle: { status: 'completed' } } } } });
    expect(JSON.stringify(last)).not.toContain('canary');
    expect(stream.stdout).not.toContain('canary-key');
  });
});
