import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { type Fault, FaultyFiles } from '../../src/platform/fault-points.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { createWorld } from './scratch-world.ts';
import { gatedTurns, messagesOf, turns } from './scripted-runner.ts';
import { close, outcome, resume, runRoot, spawn, suspend, type TestWorld } from './world.ts';

/** Disks that refuse, hold something else, or were cut, with real files. */
const CODES = ['ENOSPC', 'EACCES', 'EROFS', 'EIO', 'EDQUOT'] as const;

async function parked(directory = scratchDirectory()): Promise<{ directory: string; id: string; snapshot: string }> {
  const world = createWorld({ directory });
  const end = await runRoot(world, 'task', turns({ say: 'one', park: { reason: 'wait' } }));
  if (end.kind !== 'parked') throw new Error('did not park');
  const { id, snapshot_path: snapshot } = end.suspension.handle as { id: string; snapshot_path: string };
  return { directory, id, snapshot };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('T35 something else in place of the snapshot', () => {
  it('fails the suspend with one message, leaves the worker running and no other file; the next suspend works', async () => {
    const world = createWorld();
    const { live, open, arrived } = gatedTurns([{}, {}, {}]);
    const worker = await spawn(world, 'task', live);
    await arrived();
    mkdirSync(join(worker.snapshotPath, 'in the way'), { recursive: true });
    const asked = suspend(world, worker);
    open();
    await expect(asked).rejects.toThrow(/^suspend_agent: failed to persist snapshot .*worker_.*\.json: E/);
    expect(worker.status).toBe('running');
    expect(world.events.filter((event) => event.event === 'WorkerSuspended')).toEqual([]);
    expect(readdirSync(dirname(worker.snapshotPath)).filter((name) => name.includes('.tmp_'))).toEqual([]);
    rmdirSync(join(worker.snapshotPath, 'in the way'));
    rmdirSync(worker.snapshotPath);
    await arrived();
    const again = suspend(world, worker);
    open();
    expect(await again).toMatchObject({ status: 'suspended' });
    expect(readSnapshot(testPlatform(), worker.snapshotPath).snapshot.status).toBe('suspended');
  });
});

describe('T23 T27 a state that no file could give back', () => {
  const rows: [what: string, live: unknown, message: RegExp][] = [
    [
      'a value of another kind',
      Number.NaN,
      /failed to persist snapshot .*: transcript\.messages\.1\.content is NaN, which JSON cannot hold/,
    ],
    [
      'more than a snapshot may be',
      'x'.repeat(70_000),
      /failed to persist snapshot .*: it would have \d+ bytes, more than the limit of 65536/,
    ],
  ];
  it.each(rows)('%s refuses the park by its path and leaves the worker running', async (_what, say, message) => {
    const env = { get: (name: string) => (name === 'HARN_SNAPSHOT_MAX_BYTES' ? '65536' : undefined), entries: () => ({}) };
    const world = createWorld({ platform: { env } });
    const { live, open, arrived } = gatedTurns([{ say: say as string }, {}]);
    const worker = await spawn(world, 'task', live);
    await arrived();
    const asked = suspend(world, worker);
    open();
    await expect(asked).rejects.toThrow(message);
    expect(worker.status).toBe('running');
    expect(readdirSync(dirname(worker.snapshotPath)).filter((name) => name.endsWith('.json'))).toEqual([]);
  });
});

describe('T35 a disk that refuses one call', () => {
  /** Suspend, resume, suspend, close: one worker through every path that writes. */
  async function live(world: TestWorld): Promise<{ readonly id: string; readonly failures: string[]; readonly told: JsonObject[] }> {
    const { live: script, open, arrived } = gatedTurns(Array.from({ length: 8 }, () => ({})));
    const failures: string[] = [];
    const told: JsonObject[] = [];
    const worker = await spawn(world, 'task', script);
    const attempt = async (action: () => Promise<JsonObject>): Promise<void> => {
      for (let tries = 0; tries < 2; tries++) {
        try {
          told.push(await action());
          return;
        } catch (error) {
          failures.push(error instanceof HarnError ? error.message : `not ours: ${String(error)}`);
        }
      }
    };
    await arrived();
    for (const step of ['suspend', 'resume', 'suspend', 'close'] as const) {
      await attempt(async () => {
        if (step === 'resume') return resume(world, worker.id, { input: 'go' });
        if (step === 'close') return close(world, worker.id);
        const asked = suspend(world, worker);
        await tick();
        open();
        return asked;
      });
      await Promise.race([arrived(), worker.settled()]);
    }
    return { id: worker.id, failures, told };
  }

  it('fails at most the operation that needed it; its repetition works, and nobody was told what is not on disk', {
    timeout: 60_000,
  }, async () => {
    for (let at = 0, isOver = false; !isOver; at++) {
      const code = CODES[at % CODES.length] ?? 'ENOSPC';
      const files = new FaultyFiles(testPlatform().files, { at, how: 'fail', code } satisfies Fault);
      const world = createWorld({ platform: { files } });
      const { id, failures, told } = await live(world);
      isOver = files.calls.length <= at;
      expect(
        failures.filter((message) => message.startsWith('not ours')),
        `call ${at}: ${files.calls[at]}`,
      ).toEqual([]);
      expect(failures.length, `call ${at}: ${files.calls[at]}: ${failures.join('; ')}`).toBeLessThanOrEqual(1);
      for (const message of failures) expect(message).toMatch(/^(suspend|resume|close)_agent: failed to persist .*E[A-Z]+/);
      expect(
        told.map(({ status }) => status),
        `call ${at}: ${files.calls[at]}: ${failures.join('; ')}`,
      ).toEqual(['suspended', 'running', 'suspended', 'cancelled']);
      const workers = join(world.directory, '.harn/workers');
      expect(JSON.parse(readFileSync(join(workers, `${id}.json`), 'utf8'))).toMatchObject({
        status: 'cancelled',
        rejected: { reason: 'closed' },
      });
      const left = readdirSync(workers).filter((name) => name.includes('.tmp_'));
      expect(left, `call ${at}: ${files.calls[at]}`).toEqual([]);
    }
  });
});

describe('T35 a file that is not whole or not ours', () => {
  it('is refused with HARN-SUS-004 wherever it was cut, and stays as it is', async () => {
    const { directory, id, snapshot } = await parked();
    const whole = readFileSync(snapshot);
    for (let part = 0; part < 40; part++) {
      const cut = whole.subarray(0, Math.floor((whole.length * part) / 40));
      writeFileSync(snapshot, cut);
      const world = createWorld({ directory });
      await expect(resume(world, snapshot), `cut at ${cut.length}`).rejects.toMatchObject({
        code: 'HARN-SUS-004',
        data: { detail: { reason: 'malformed' } },
      });
      expect(readFileSync(snapshot).equals(cut)).toBe(true);
      expect(readdirSync(dirname(snapshot))).toHaveLength(1);
    }
    writeFileSync(snapshot, whole);
    const world = createWorld({ directory, live: turns({}, { say: 'two', end: true }) });
    expect(await resume(world, snapshot)).toMatchObject({ status: 'running' });
    await outcome(world, id);
  });

  const foreign: [what: string, content: string | Buffer][] = [
    ['an empty file', ''],
    ['another JSON document', JSON.stringify({ name: 'harn', version: '0.1.0' })],
    ['a JSON number', '7'],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0xff])],
    ['a script', 'pipeline default() { return 1 }\n'],
    ['zeros, as some file systems leave after a crash', Buffer.alloc(4096)],
  ];
  it.each(foreign)('%s in its place is refused with HARN-SUS-004 and stays as it is', async (_what, content) => {
    const { directory, snapshot } = await parked();
    writeFileSync(snapshot, content);
    const before = readFileSync(snapshot);
    await expect(resume(createWorld({ directory }), snapshot)).rejects.toMatchObject({ code: 'HARN-SUS-004' });
    expect(readFileSync(snapshot).equals(before)).toBe(true);
  });

  it('a journal of zeros beside a whole snapshot does not stand in the way', async () => {
    const { directory, id, snapshot } = await parked();
    writeFileSync(join(dirname(snapshot), `${id}.journal.jsonl`), Buffer.alloc(512));
    const world = createWorld({ directory, live: turns({}, { say: 'two', end: true }) });
    await resume(world, snapshot);
    expect(await outcome(world, id)).toMatchObject({ status: 'completed' });
    expect(messagesOf(world.lifecycle.registry.get(id)?.state as never).map(({ content }) => content)).toEqual([
      'task',
      'one',
      undefined,
      'two',
    ]);
    expect(statSync(snapshot).mode & 0o777).toBe(0o600);
  });
});
