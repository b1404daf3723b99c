import { expect } from 'vitest';
import type { CliWorld } from './harn.ts';

/** Parks after one tool call; each call of the tool leaves a line in the effect log. */
export const SCRIPT = `
tool note(text: string) -> string {
  description "Writes a line down."
  append_file(env_or("EFFECTS", "effects"), "\${text}\\n")
  println("noted \${text}")
  return "noted"
}

pipeline default() {
  let result = agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: note, max_iterations: 6})
  println("status: \${result.status}")
  return result
}
`;

export const PARKS = [
  { tool_calls: [{ name: 'note', arguments: { text: 'first' } }] },
  { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'needs a decision' } }] },
];
export const FINISHES = [{ tool_calls: [{ name: 'note', arguments: { text: 'second' } }] }, { text: 'all done' }];

/** Writes a file of scripted answers. @returns its path */
export function mockFile(world: CliWorld, name: string, entries: readonly object[]): string {
  return world.write(name, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** Runs the script to its park in a process of its own. @returns the snapshot */
export function parkedLoop(world: CliWorld): string {
  world.write('work.harn', SCRIPT);
  const parked = world.harn(['run', '--llm-mock', mockFile(world, 'park.jsonl', PARKS), 'work.harn']);
  expect(parked).toMatchObject({ code: 0, stdout: 'noted first\nstatus: suspended\n' });
  const [snapshot] = world.snapshots();
  if (snapshot === undefined) throw new Error(`no snapshot: ${parked.stderr}`);
  return snapshot;
}
