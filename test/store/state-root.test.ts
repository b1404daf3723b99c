import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import { displayPath, isSnapshotPath, locateSnapshot, locateState } from '../../src/store/state-root.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const ID = 'worker_01990000-0000-7000-8000-000000000001';
const { files } = testPlatform();

function project(): { root: string; places: Parameters<typeof locateSnapshot>[0]; snapshot: string } {
  const root = scratchDirectory();
  const workers = join(root, '.harn', 'workers');
  mkdirSync(workers, { recursive: true });
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  const snapshot = join(workers, `${ID}.json`);
  writeFileSync(snapshot, '{}');
  return {
    root,
    snapshot,
    places: { files, cwd: join(root, 'a', 'b'), projectRoot: root, scriptDirectory: undefined, workersDirectory: workers },
  };
}

describe('finding a snapshot', () => {
  it('R84 R85 follows the order of candidates', () => {
    const { root, snapshot, places } = project();
    const relative = `.harn/workers/${ID}.json`;
    const rows: [string, Partial<typeof places>, string][] = [
      ['absolute', {}, snapshot],
      ['from the current directory', { cwd: root, projectRoot: undefined }, relative],
      ['from the project root', {}, relative],
      ['from the directory of the script', { cwd: scratchDirectory(), projectRoot: undefined, scriptDirectory: root }, relative],
      ['with backslashes', { cwd: root }, `.harn\\workers\\${ID}.json`],
      ['by id', {}, ID],
      ['by a prefix of the id', {}, ID.slice(0, 20)],
    ];
    for (const [name, changes, target] of rows) {
      expect(locateSnapshot({ ...places, ...changes }, target), name).toEqual({ kind: 'worker', snapshotPath: snapshot });
    }
  });

  it('finds a worker that has a journal only, by either name', () => {
    const { root, places } = project();
    const lone = join(root, '.harn', 'workers', 'worker_lonely-one.json');
    writeFileSync(lone.replace('.json', '.journal.jsonl'), '');
    for (const target of [lone, lone.replace('.json', '.journal.jsonl'), 'worker_lonely-one']) {
      expect(locateSnapshot(places, target)).toEqual({ kind: 'worker', snapshotPath: lone });
    }
  });

  it('hands a directory with daemon.json on', () => {
    const { root, places } = project();
    writeFileSync(join(root, 'a', 'daemon.json'), '{}');
    expect(locateSnapshot(places, join(root, 'a'))).toEqual({ kind: 'daemon', directory: join(root, 'a') });
  });

  it('lists every candidate when there is nothing', () => {
    const { root, places } = project();
    try {
      locateSnapshot(places, 'x/y.json');
      expect.unreachable();
    } catch (error) {
      const { code, data } = error as HarnError;
      expect(code).toBe('HARN-SUS-004');
      expect(data.detail).toMatchObject({
        reason: 'missing',
        tried: [join(root, 'a/b/x/y.json'), join(root, 'x/y.json'), join(root, 'a/x/y.json')],
      });
    }
  });

  it('does not take a short or ambiguous prefix for an id', () => {
    const { places, root } = project();
    writeFileSync(join(root, '.harn', 'workers', `${ID.slice(0, -1)}2.json`), '{}');
    expect(() => locateSnapshot(places, 'worker_01')).toThrow('no such file');
    expect(() => locateSnapshot(places, ID.slice(0, 20))).toThrow(
      `2 workers begin like this, ${ID}, ${ID.slice(0, -1)}2; give more of the id`,
    );
  });
});

it('a text with a separator or an ending of a state file is a path', () => {
  expect(['a/b', 'a\\b', 'x.json', 'x.jsonl'].map(isSnapshotPath)).toEqual([true, true, true, true]);
  expect(isSnapshotPath(ID)).toBe(false);
});

it('T34 a path that a shell for Windows has rewritten is refused with a hint', () => {
  const { places } = project();
  const rewritten = `C:/Program Files/Git/.harn/workers/${ID}x.json`;
  expect(() => locateSnapshot(places, rewritten)).toThrow('the shell seems to have rewritten the path; write it with a leading ./');
});

it('T34 a path is shown relative to the current directory when inside it', () => {
  expect(displayPath('/a/b', '/a/b/.harn/workers/w.json')).toBe('.harn/workers/w.json');
  expect(displayPath('/a/b', '/a/c/w.json')).toBe('/a/c/w.json');
});

it('the state root can be moved by the environment', () => {
  const env = (values: Record<string, string>) => ({ get: (name: string) => values[name], entries: () => values });
  expect(locateState(env({}), '/p/.harn')).toEqual({
    workers: '/p/.harn/workers',
    events: '/p/.harn/events',
    waiters: '/p/.harn/waiters.jsonl',
  });
  expect(locateState(env({ HARN_STATE_DIR: '/s' }), '/p/.harn').workers).toBe('/s/workers');
  expect(locateState(env({ HARN_STATE_DIR: '/s', HARN_WORKER_STATE_DIR: '/w' }), '/p/.harn').workers).toBe('/w');
});
