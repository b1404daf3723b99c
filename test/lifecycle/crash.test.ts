import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { FaultyFiles, KilledHere } from '../../src/platform/fault-points.ts';
import { acquireClaim, claimPathOf } from '../../src/store/claim-file.ts';
import { journalPathOf } from '../../src/store/journal-file.ts';
import { readSnapshot, renderSnapshot } from '../../src/store/snapshot-file.ts';
import type { WorkerSnapshot } from '../../src/store/snapshot-schema.ts';
import { testPlatform } from '../store/test-platform.ts';
import { createWorld } from './scratch-world.ts';
import { messagesOf, type ScriptedLive, turns } from './scripted-runner.ts';
import { outcome, resume, runRoot, suspend, type TestWorld, workerOf } from './world.ts';

const three: ScriptedLive = turns({ say: 'one' }, { say: 'two' }, { say: 'three', park: { reason: 'wait' } }, { say: 'four', end: true });

/** The one worker of a directory, by whichever of its files exists. */
function leftBehind(directory: string): { id: string; snapshot: string } | undefined {
  const workers = join(directory, '.harn', 'workers');
  if (!existsSync(workers)) return undefined;
  const id = readdirSync(workers)
    .map((name) => /^(worker_[^.]+)\.(json|journal\.jsonl)$/.exec(name)?.[1])
    .find((found) => found !== undefined);
  return id === undefined ? undefined : { id, snapshot: join(workers, `${id}.json`) };
}

/** The claim of a process that died: nobody answers to its pid. */
function killOwner(snapshot: string): void {
  const path = claimPathOf(snapshot);
  if (!existsSync(path)) return;
  const claim = JSON.parse(readFileSync(path, 'utf8').split('\n')[0] as string) as JsonObject;
  writeFileSync(path, JSON.stringify({ ...claim, pid: 2 ** 22 + 54321 }));
}

async function runUntilKilled(
  at: number,
  how: 'killBefore' | 'killAfter',
): Promise<{ world: TestWorld; wasKilled: boolean; told: boolean }> {
  const files = new FaultyFiles(testPlatform().files, { at, how });
  const world = createWorld({ platform: { files } });
  let wasKilled = false;
  try {
    await runRoot(world, 'task', three);
  } catch (error) {
    wasKilled = error instanceof KilledHere;
  }
  const told = world.events.some((event) => event.event === 'WorkerSuspended');
  return { world, wasKilled: wasKilled || files.calls.length > at, told };
}

describe('D3 T14 a process killed at any write', () => {
  for (const how of ['killBefore', 'killAfter'] as const) {
    it(`${how === 'killBefore' ? 'before' : 'after'} it leaves nothing, a resumable worker, or a parked one`, {
      timeout: 60_000,
    }, async () => {
      let isOver = false;
      for (let at = 0; !isOver && at < 80; at++) {
        const { world, wasKilled, told } = await runUntilKilled(at, how);
        isOver = !wasKilled;
        const left = leftBehind(world.directory);
        if (left === undefined) {
          expect(told).toBe(false);
          continue;
        }
        killOwner(left.snapshot);
        if (told) expect(readSnapshot(testPlatform(), left.snapshot).snapshot.status).toBe('suspended');
        const later = createWorld({ directory: world.directory, live: three });
        await resume(later, left.id).catch((error: { code?: string; data?: { detail?: { reason?: string } } }) => {
          // A first record that was torn is no worker yet.
          expect([error.code, error.data?.detail?.reason]).toEqual(['HARN-SUS-004', 'missing']);
        });
        const worker = later.lifecycle.registry.get(left.id);
        if (worker === undefined) continue;
        await worker.settled();
        if (worker.status === 'suspended') {
          await resume(later, left.id);
          await worker.settled();
        }
        const said = messagesOf(worker.state).filter((message) => message.role === 'assistant');
        expect(said.map((message) => message.content)).toEqual(['one', 'two', 'three', 'four']);
        expect(readdirSync(join(world.directory, '.harn', 'workers')).filter((name) => name !== 'closed.index')).toEqual([
          `${left.id}.json`,
        ]);
      }
      expect(isOver).toBe(true);
    });
  }
});

describe('5.7 an interrupted worker', () => {
  async function interrupted(): Promise<{ world: TestWorld; id: string; snapshot: string }> {
    const world = createWorld();
    const hang = turns({ say: 'one' }, { during: () => new Promise(() => undefined) });
    void runRoot(world, 'task', hang);
    const journal = (): string | undefined => leftBehind(world.directory)?.snapshot;
    while (journal() === undefined || world.runner.activations.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const left = leftBehind(world.directory);
    if (left === undefined) throw new Error('nothing was left');
    killOwner(left.snapshot);
    return { world, ...left };
  }

  it('goes on from its last settled turn, by id, snapshot path or journal path', async () => {
    for (const form of ['id', 'snapshot', 'journal'] as const) {
      const { world, id, snapshot } = await interrupted();
      const later = createWorld({ directory: world.directory, live: turns({}, { say: 'two', end: true }) });
      await resume(later, { id, snapshot, journal: journalPathOf(snapshot) }[form]);
      const done = await outcome(later, id);
      expect(done).toMatchObject({ status: 'completed', result: { summary: 'two' } });
      expect(messagesOf(workerOf(later, id).state).map(({ role, content, reason }) => content ?? `${role}:${reason}`)).toEqual([
        'task',
        'one',
        'reminder:interrupted',
        'two',
      ]);
      expect(later.lifecycle.audit.snapshot()).toMatchObject([{ kind: 'worker_interrupted_recovered' }]);
    }
  });

  it('whose resume was cut off gets its input again', async () => {
    const world = createWorld();
    const end = await runRoot(world, 'task', turns({ park: { reason: 'wait' } }));
    if (end.kind !== 'parked') throw new Error('did not park');
    const { id } = end.suspension.handle as { id: string };
    const { snapshotPath } = workerOf(world, id);
    const second = createWorld({ directory: world.directory, live: turns({}, { during: () => new Promise(() => undefined) }) });
    await resume(second, id, { input: 'the answer' });
    while (second.runner.activations.length === 0) await new Promise((resolve) => setImmediate(resolve));
    killOwner(snapshotPath);
    const third = createWorld({ directory: world.directory, live: turns({}, { end: true }) });
    await resume(third, id);
    await outcome(third, id);
    expect(messagesOf(workerOf(third, id).state).map((message) => message.content)).toContain('the answer');
    expect(workerOf(third, id).record.history).toEqual(['task', 'the answer']);
  });

  it('says what the signal said', async () => {
    const { world, id, snapshot } = await interrupted();
    const record = { t: 'signal', signal: 'SIGTERM', reason: 'signal SIGTERM', initiator: 'operator', at: '2026-04-30T12:00:00.000Z' };
    writeFileSync(journalPathOf(snapshot), `${readFileSync(journalPathOf(snapshot), 'utf8')}${JSON.stringify(record)}\n`);
    const later = createWorld({ directory: world.directory, live: turns({}, { end: true }) });
    await resume(later, id);
    expect(workerOf(later, id).record.last_suspension).toMatchObject({
      reason: 'signal SIGTERM',
      suspended_at: '2026-04-30T12:00:00.000Z',
    });
    await workerOf(later, id).settled();
  });

  it('4.7 is what a snapshot that says `running` stands for, without a journal and without a living owner', async () => {
    const world = createWorld();
    await runRoot(world, 'task', turns({ say: 'one', park: { reason: 'wait' } }));
    const left = leftBehind(world.directory);
    if (left === undefined) throw new Error('nothing was left');
    const { snapshot } = readSnapshot(testPlatform(), left.snapshot);
    const running = { ...snapshot, status: 'running', lifecycle_state: 'running', suspension: null } as WorkerSnapshot;
    writeFileSync(left.snapshot, renderSnapshot(running).bytes);
    const later = createWorld({ directory: world.directory, live: turns({}, { say: 'two', end: true }) });
    acquireClaim(world.lifecycle.claims, claimPathOf(left.snapshot), { suspensionId: null, generation: 1 });
    await expect(resume(later, left.id)).rejects.toMatchObject({ code: 'HARN-SUS-003', data: { status: 'running' } });
    killOwner(left.snapshot);
    await resume(later, left.id);
    expect(workerOf(later, left.id).record.last_suspension).toMatchObject({ reason: 'interrupted', initiator: 'operator' });
    expect(await outcome(later, left.id)).toMatchObject({ status: 'completed', result: { summary: 'two' } });
  });

  it('with a journal that builds on another snapshot is refused, and says what to do', async () => {
    const world = createWorld();
    await runRoot(world, 'task', turns({ park: { reason: 'wait' } }));
    const left = leftBehind(world.directory);
    if (left === undefined) throw new Error('nothing was left');
    const open = {
      t: 'open',
      v: 1,
      worker_id: left.id,
      generation: 9,
      claim_token: 'x',
      suspension_id: 'susp_x',
      base: { sha256: 'other' },
      at: '2020-01-01T00:00:00.000Z',
    };
    writeFileSync(journalPathOf(left.snapshot), `${JSON.stringify(open)}\n`);
    await expect(resume(createWorld({ directory: world.directory }), left.id)).rejects.toMatchObject({
      code: 'HARN-SUS-004',
      data: { detail: { reason: 'integrity' } },
      message: expect.stringContaining('move'),
    });
  });

  it('D6 a leftover journal of a finished fold is ignored and removed', async () => {
    const world = createWorld();
    await runRoot(world, 'task', three);
    const left = leftBehind(world.directory);
    if (left === undefined) throw new Error('nothing was left');
    const { generation } = workerOf(world, left.id);
    const open = {
      t: 'open',
      v: 1,
      worker_id: left.id,
      generation,
      claim_token: 'x',
      suspension_id: null,
      base: null,
      head: {},
      at: '2020-01-01T00:00:00.000Z',
    };
    writeFileSync(journalPathOf(left.snapshot), `${JSON.stringify(open)}\n{"t":"turn","message":{"role":"assistant","content":"again"}}\n`);
    const later = createWorld({ directory: world.directory, live: three });
    await resume(later, left.id);
    await outcome(later, left.id);
    expect(messagesOf(workerOf(later, left.id).state).map(({ content }) => content)).not.toContain('again');
    expect(existsSync(journalPathOf(left.snapshot))).toBe(false);
  });
});

describe('D2 T05 an owner that was replaced', () => {
  it('stops at its next write, changes nothing and tells nobody', async () => {
    const world = createWorld();
    const end = await runRoot(world, 'task', turns({ park: { reason: 'wait' } }));
    if (end.kind !== 'parked') throw new Error('did not park');
    const { id } = end.suspension.handle as { id: string };
    let wakeUp = (): void => undefined;
    const paused = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    const zombie = createWorld({ directory: world.directory, live: turns({}, { say: 'late', during: () => paused }, { end: true }) });
    await resume(zombie, id);
    const zombieWorker = workerOf(zombie, id);
    while (zombie.runner.activations.length === 0) await new Promise((resolve) => setImmediate(resolve));
    killOwner(zombieWorker.snapshotPath);

    const winner = createWorld({ directory: world.directory, live: turns({}, { say: 'in time', park: { reason: 'again' } }) });
    await resume(winner, id);
    await outcome(winner, id);
    const { snapshotPath } = zombieWorker;
    const before = {
      bytes: readFileSync(snapshotPath, 'utf8'),
      at: statSync(snapshotPath).mtimeMs,
      files: readdirSync(join(world.directory, '.harn', 'workers')),
    };
    const events = zombie.events.length;
    wakeUp();
    await expect(zombieWorker.settled()).rejects.toMatchObject({
      code: 'HARN-SUS-006',
      data: { operation: 'agent_loop', detail: { retryable: false } },
    });
    expect({
      bytes: readFileSync(snapshotPath, 'utf8'),
      at: statSync(snapshotPath).mtimeMs,
      files: readdirSync(join(world.directory, '.harn', 'workers')),
    }).toEqual(before);
    expect(zombie.events.slice(events)).toEqual([]);
  });
});

describe('4.8 a disk that refuses the journal', () => {
  it('makes the worker less durable, says so once, and does not stop it', async () => {
    const files = new FaultyFiles(testPlatform().files);
    const world = createWorld({ platform: { files } });
    const broken = (): void => {
      files.fault = { at: files.calls.length, how: 'fail' };
    };
    const end = await runRoot(world, 'task', turns({ during: broken }, {}, { park: { reason: 'wait' } }));
    expect(end.kind).toBe('parked');
    expect(world.warnings).toHaveLength(1);
    expect(world.warnings[0]).toContain('only parks and ends are durable');
    const [worker] = world.lifecycle.registry.list();
    expect(worker?.hasReducedDurability).toBe(true);
    expect(await suspend(world, worker as never)).toMatchObject({ audit: { durability: 'park' } });
  });
});

describe('D4 bytes', () => {
  it('grow with the turns and hold no text twice', async () => {
    const { files } = testPlatform();
    let appended = 0;
    const counting = Object.assign(Object.create(files), {
      open: (path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number) => {
        const handle = files.open(path, how, mode);
        if (how !== 'append' || !path.endsWith('.journal.jsonl')) return handle;
        return {
          ...handle,
          write: (data: string) => {
            appended += data.length;
            handle.write(data);
          },
          sync: () => undefined,
          close: () => handle.close(),
        };
      },
    });
    const text = 'x'.repeat(2048);
    const world = createWorld({ platform: { files: counting } });
    await runRoot(world, 'task', turns(...Array.from({ length: 100 }, () => ({ say: text })), { end: true }));
    expect(appended / (100 * JSON.stringify({ role: 'assistant', content: text }).length)).toBeLessThan(1.5);
  });
});
