import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';

/** What commands load, of harn (docs/ARCHITECTURE.md, packs) and of Node: each of these takes longer than a small script runs. */
let world: CliWorld;

beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

interface Loaded {
  readonly packs: readonly string[];
  /** Modules of Node that a Node without a program has not loaded. */
  readonly modules: readonly string[];
}

/** Standard error is a device, as on a terminal: only what is printed in colours has to look closer. */
function loadedBy(...args: readonly string[]): Loaded {
  const preload = resolve(import.meta.dirname, 'tell-loaded.cjs');
  const loaded = join(world.folder, 'loaded.json');
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(preload)}`, LOADED: loaded, NO_COLOR: '' };
  expect(world.shell('exec "$0" "$@" 2> /dev/null', args, env)).toMatchObject({ code: 0 });
  const { packs, modules } = JSON.parse(world.read('loaded.json')) as Loaded;
  return { packs: [...packs].sort(), modules };
}

test('a run from the cache', () => {
  world.write('hello.harn', 'println("hello")\n');
  expect(world.harn(['run', 'hello.harn'])).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(loadedBy('run', 'hello.harn')).toEqual({ packs: ['base', 'main'], modules: [] });
});

test('a script that reads and writes files, and runs a program', () => {
  world.write('work.harn', 'write_file("a.txt", "a")\nprintln(read_file("a.txt"))\nprintln(shell("true").success)\n');
  expect(world.harn(['run', 'work.harn'])).toMatchObject({ code: 0, stdout: 'a\ntrue\n' });
  const { packs } = loadedBy('run', 'work.harn');
  expect(packs).not.toContain('agent');
});

/** One tool, a park after its first call, and the answers of the resumed loop. */
function park(): string {
  const turn = (answer: object): string => `${JSON.stringify(answer)}\n`;
  const call = (name: string, args: object): string => turn({ tool_calls: [{ name, arguments: args }] });
  world.write(
    'work.harn',
    `tool note(text: string) -> string {
  description "Keeps a note."
  return "kept " + text
}
pipeline default() {
  let result = agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: note})
  return nil
}
`,
  );
  const parks = call('note', { text: 'a' }) + call('agent_await_resumption', { reason: 'a test' });
  world.write('park.jsonl', parks);
  world.write('end.jsonl', turn({ text: 'done' }));
  expect(world.harn(['run', '--llm-mock', 'park.jsonl', 'work.harn'])).toMatchObject({ code: 0 });
  return world.snapshots()[0] as string;
}

// What waits is not there for a loop that has to park after its installation was replaced.
test.each([
  ['comes to its end', 'end.jsonl'],
  ['calls a tool and parks again', 'park.jsonl'],
])('a resume of a loop that %s', (_, answers) => {
  const snapshot = park();
  const { packs } = loadedBy('run', '--llm-mock', answers, '--resume', snapshot);
  // The reader of files with answers is a pack that has no fixed name.
  expect(packs.filter((pack) => !pack.startsWith('agent-mock-file-'))).toEqual(['agent', 'base', 'main', 'messages', 'workers']);
});
