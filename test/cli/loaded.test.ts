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
