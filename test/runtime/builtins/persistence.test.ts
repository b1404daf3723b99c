import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createNodePlatform } from '../../../src/platform/node-platform.ts';
import { runScript } from '../../../src/runtime/run.ts';
import { scratchDirectory } from '../../support/scratch.ts';

let root: string;

beforeEach(() => {
  root = scratchDirectory();
});

/** A run of its own: nothing but files is left of the one before. */
async function run(text: string, stateRoot = join(root, '.harn')): Promise<string> {
  let out = '';
  await runScript({
    platform: { ...createNodePlatform(), files: filesAt(root) },
    script: { path: join(root, 'job.harn'), text },
    argv: [],
    stateRoot,
    output: { out: (piece) => (out += piece), err: (piece) => (out += piece) },
  });
  return out;
}

function filesAt(directory: string): ReturnType<typeof createNodePlatform>['files'] {
  const { files } = createNodePlatform();
  return Object.assign(Object.create(files), { cwd: () => directory }) as typeof files;
}

test('the next run finds what a run stored', async () => {
  await run('store_set("a", {n: [1, 2.5, nil]})\nstore_set("b", 1)\nstore_delete("b")');
  expect(await run('println(store_list())\nprintln(store_get("a"))\nprintln(store_get("b"))')).toBe('[a]\n{n: [1, 2.5, nil]}\nnil\n');
  expect(JSON.parse(readFileSync(join(root, '.harn', 'store.json'), 'utf8'))).toEqual({ a: { n: [1, 2.5, null] } });
});

test('the store lies in the state folder of the run', async () => {
  await run('store_set("a", 1)', join(root, 'elsewhere'));
  expect(JSON.parse(readFileSync(join(root, 'elsewhere', 'store.json'), 'utf8'))).toEqual({ a: 1 });
  expect(await run('println(store_list())')).toBe('[]\n');
});

test('clearing the store leaves nothing', async () => {
  await run('store_set("a", 1)\nstore_clear()');
  expect(await run('println(store_list())')).toBe('[]\n');
});

test('a checkpoint of nil exists', async () => {
  await run('checkpoint("step", nil)');
  expect(
    await run('println(checkpoint_exists("step"))\nprintln(checkpoint_get("step"))\ncheckpoint_clear()\nprintln(checkpoint_list())'),
  ).toBe('true\nnil\n[]\n');
});

test('a stage runs once over all runs', async () => {
  const script = 'import "std/checkpoint"\nprintln(checkpoint_stage("s", { -> println("works"); 42 }))';
  expect(await run(script)).toBe('works\n42\n');
  expect(await run(script)).toBe('42\n');
});

test('a stage is tried again until it works', async () => {
  const script = `import "std/checkpoint"
let n = atomic(0)
println(checkpoint_stage_retry("s", 3, { -> if atomic_add(n, 1) < 2 { throw "no" }; "done" }))
println(try { checkpoint_stage_retry("t", 2, { -> throw "never" }) } catch (e) { e })`;
  expect(await run(script)).toBe('done\nnever\n');
});
