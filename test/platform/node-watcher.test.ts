import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { nodeWatcher } from '../../src/platform/node-watcher.ts';
import { scratchDirectory } from '../support/scratch.ts';

let folder: string;
beforeEach(() => {
  folder = scratchDirectory();
});

/** Watches paths until the next change; `ready` resolves when changes are told. */
function watch(...paths: string[]): { readonly ready: Promise<void>; readonly changed: Promise<void>; readonly stop: () => void } {
  let onReady = (): void => undefined;
  let onChange = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const changed = new Promise<void>((resolve) => {
    onChange = resolve;
  });
  return { ready, changed, stop: nodeWatcher.watch(paths, { onReady, onChange }) };
}

describe('watching real files', () => {
  test.each<[string, (at: string) => void, (at: string) => void]>([
    ['a file that changes', (at) => writeFileSync(at, '1'), (at) => writeFileSync(at, 'longer')],
    ['a file that goes', (at) => writeFileSync(at, '1'), (at) => rmSync(at)],
    ['a file deep in a folder', (at) => mkdirSync(join(at, 'a/b'), { recursive: true }), (at) => writeFileSync(join(at, 'a/b/c'), '1')],
    ['a new file in a folder', (at) => mkdirSync(at), (at) => writeFileSync(join(at, 'new'), '1')],
  ])('tells of %s', async (_what, before, change) => {
    const at = join(folder, 'watched');
    before(at);
    const { ready, changed, stop } = watch(at);
    await ready;
    change(at);
    await changed;
    stop();
  });

  test('a watch that was ended before it began tells nothing', async () => {
    let told = 0;
    const stop = nodeWatcher.watch([folder], { onReady: () => told++, onChange: () => told++ });
    stop();
    const other = watch(folder);
    await other.ready;
    writeFileSync(join(folder, 'x'), '1');
    await other.changed;
    other.stop();
    expect(told).toBe(0);
  });
});
