import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

/** A daemon whose work on an event ends when a file says so. */
const TOOL = `
tool work(n: int) -> string {
  description "Works on an event"
  println("working on \${n}")
  while !file_exists("go") { sleep(5ms) }
  return "worked"
}
`;

const SPAWN = `
${TOOL}
pipeline default() {
  llm_mock({text: "ready"})
  llm_mock({tool_calls: [{name: "work", arguments: {n: 1}}]})
  let d = daemon_spawn({task: "Watch", provider: "mock", tool_format: "native", tools: work, persist_path: "d", wake_interval_ms: 3600000})
  for n in [1, 2, 3] { daemon_trigger(d, {n: n}) }
  println("id \${d.id} \${d.session_id}")
  daemon_wait(d, 99, 60000)
}
`;

const RESUME = `
${TOOL}
pipeline default() {
  for n in [1, 2, 3] { llm_mock({text: "handled \${n}"}) }
  let d = daemon_resume("d")
  println("id \${d.id} \${d.session_id}")
  println("\${d.queued_event_count} queued")
  daemon_wait(d, 5)
  let s = daemon_snapshot(d)
  println("\${s.queued_event_count} queued, \${s.total_iterations} turns, \${s.last_iteration_text}")
  let told = s.recorded_messages.filter({ m -> m.role == "user" && contains(to_string(m.content), "Daemon event") })
  println(json_stringify(told.map({ m -> regex_captures("\\"seq\\":(\\\\d+)", m.content)[0].groups[0] })))
  daemon_stop(d)
}
`;

describe('a daemon whose process was killed', () => {
  test('R90: comes back in a new process with its queue, the event in flight first; nobody else may run it meanwhile', async () => {
    world.write('daemon.harn', SPAWN);
    world.write('resume.harn', RESUME);
    const { child, saw, ended } = world.start(['run', 'daemon.harn']);
    await saw('working on 1');
    await saw('id daemon_');
    const refused = world.harn(['run', 'resume.harn']);
    expect(refused.stderr).toContain('is already running');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { stdout: before } = await ended;
    const { stdout, stderr } = world.harn(['run', 'resume.harn']);
    expect(stderr).not.toContain('error');
    const [id, , after, told] = stdout.split('\n');
    expect(before).toContain(`${id}\n`);
    // The turn that the crash cut off is settled as unknown; then each event has one turn.
    expect(after).toBe('0 queued, 5 turns, handled 3');
    expect(told).toBe('["1","1","2","3"]');
  });
});

describe('harn run --resume', () => {
  test.each([
    ['the directory of a daemon', 'd'],
    ['its daemon.json', 'd/daemon.json'],
  ])('takes %s, also where nothing else is left of it', (_what, path) => {
    const idle =
      'pipeline default() {\n  llm_mock({text: "ready"})\n  daemon_stop(daemon_spawn({task: "Watch", provider: "mock", persist_path: "d"}))\n}';
    world.write('daemon.harn', idle);
    expect(world.harn(['run', 'daemon.harn'])).toMatchObject({ code: 0 });
    rmSync(join(world.folder, '.harn'), { recursive: true });
    cpSync(join(world.folder, 'd'), join(world.folder, 'copy'), { recursive: true });
    const mock = world.write('mock.jsonl', '{"text": "looked"}\n');
    const resumed = world.harn(['run', '--resume', path, '--llm-mock', mock, '--json', '--', 'look']);
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      data: { event_type: 'result', value: { status: 'suspended', suspension: { reason: 'daemon idle', iterations_completed: 2 } } },
    });
  });
});
