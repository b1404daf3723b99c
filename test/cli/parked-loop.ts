import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
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

/** Edits a snapshot and gives it a checksum that fits, as a harmful writer would. */
// biome-ignore lint/suspicious/noExplicitAny: any part of the document may be damaged
export function editSnapshot(snapshot: string, edit: (document: any) => void): void {
  const document = JSON.parse(readFileSync(snapshot, 'utf8'));
  edit(document);
  const { integrity: _, ...rest } = document;
  const sha256 = createHash('sha256')
    .update(JSON.stringify(rest, null, 2))
    .digest('hex');
  writeFileSync(snapshot, `${JSON.stringify({ ...rest, integrity: { sha256 } }, null, 2)}\n`);
}
