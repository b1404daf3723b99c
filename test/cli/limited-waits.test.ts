import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

/** A tool that says when it is called and never settles, and a model that calls it. */
const STUCK = `let started = channel("started")
tool stuck() -> string {
  send(started, 1)
  receive(channel("never"))
  return "late"
}
llm_mock({tool_calls: [{name: "stuck"}]})
`;

/** In a process where nothing else is pending: a wait with an end is no deadlock. */
describe('a wait that is limited ends by its limit', () => {
  test('R92: suspend_agent of a worker whose tool never settles', () => {
    world.write(
      'work.harn',
      `${STUCK}let w = spawn_agent({task: "work", options: {provider: "mock", tool_format: "native", tools: stuck}})
receive(started)
println(suspend_agent(w, "lunch", {wait_ms: 20}).suspend_requested.reason)
println(close_agent(w).status)
`,
    );
    expect(world.harn(['run', 'work.harn'])).toMatchObject({ code: 0, stdout: 'lunch\ncancelled\n' });
  });

  test('daemon_wait for turns that do not come', () => {
    world.write(
      'work.harn',
      `${STUCK}let d = daemon_spawn({task: "watch", state_dir: "daemon", provider: "mock", tool_format: "native", tools: stuck})
receive(started)
println(try { daemon_wait(d, 5, 20) } catch (e) { e.replace(d.id, "D") })
println(daemon_stop(d).status)
`,
    );
    expect(world.harn(['run', 'work.harn'])).toMatchObject({
      code: 0,
      stdout: 'daemon_wait: daemon D did not complete 5 iterations within 20 ms\nstopped\n',
    });
  });
});
