import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { createWorld } from './scratch-world.ts';
import { messagesOf, turns } from './scripted-runner.ts';
import { outcome, resume, runRoot } from './world.ts';

const script = turns({ say: 'looking' }, { say: 'asking', park: { reason: 'need an answer' } }, { say: 'finished', end: true });

describe('a root loop', () => {
  it('R36 R83 parks itself as one file that another process resumes to its end', async () => {
    const first = createWorld();
    const end = await runRoot(first, 'review', script);
    if (end.kind !== 'parked') throw new Error('did not park');
    const workers = join(first.directory, '.harn', 'workers');
    const files = readdirSync(workers);
    expect(files).toHaveLength(1);
    expect(files[0]).toMatch(/^worker_[0-9a-f-]{36}\.json$/);
    const path = join(workers, files[0] as string);
    expect(end.suspension).toMatchObject({
      status: 'suspended',
      reason: 'need an answer',
      initiator: 'self',
      snapshot_path: path,
      iterations_completed: 2,
    });

    const second = createWorld({ directory: first.directory, live: script });
    const running = await resume(second, path, { input: 'yes' });
    expect(running).toMatchObject({ status: 'running', lifecycle_state: 'running', suspension: null });
    const done = await outcome(second, running.id as string);
    expect(done).toMatchObject({ status: 'completed', lifecycle_state: 'done', result: { status: 'done', summary: 'finished' } });
    expect(messagesOf(done as { transcript: unknown }).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'review'],
      ['assistant', 'looking'],
      ['assistant', 'asking'],
      ['reminder', undefined],
      ['user', 'yes'],
      ['assistant', 'finished'],
    ]);
    expect(readdirSync(workers)).toEqual(files);
    expect((JSON.parse(readFileSync(path, 'utf8')) as JsonObject).status).toBe('completed');
  });

  it('leaves no file when it ends without a park', async () => {
    const world = createWorld();
    await runRoot(world, 'quick', turns({ say: 'done', end: true }));
    expect(readdirSync(join(world.directory, '.harn', 'workers'))).toEqual([]);
    expect(world.lifecycle.registry.list()).toEqual([]);
  });

  it('leaves no file when it throws without a park, and throws to its caller', async () => {
    const world = createWorld();
    const broken = turns({
      during: () => {
        throw new Error('tool broke');
      },
    });
    await expect(runRoot(world, 'quick', broken)).rejects.toThrow('tool broke');
    expect(readdirSync(join(world.directory, '.harn', 'workers'))).toEqual([]);
  });

  it('keeps its journal and claim while it runs', async () => {
    const world = createWorld();
    const seen: string[][] = [];
    const workers = join(world.directory, '.harn', 'workers');
    await runRoot(world, 'look', turns({ during: () => void seen.push(readdirSync(workers).sort()) }, { end: true }));
    expect(seen[0]).toHaveLength(2);
    expect(seen[0]?.[0]).toMatch(/\.journal\.jsonl$/);
    expect(seen[0]?.[1]).toMatch(/\.json\.claim$/);
    expect(existsSync(workers)).toBe(true);
  });
});
