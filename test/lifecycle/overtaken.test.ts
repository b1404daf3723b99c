import { existsSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { restartWorker } from '../../src/lifecycle/start.ts';
import type { Worker } from '../../src/lifecycle/worker.ts';
import type { Files, Processes } from '../../src/platform/platform.ts';
import { acquireClaim, claimPathOf } from '../../src/store/claim-file.ts';
import { CLOSED_INDEX } from '../../src/store/closed-index.ts';
import { journalPathOf } from '../../src/store/journal-file.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { createWorld } from './scratch-world.ts';
import { messagesOf, type ScriptedTurn, turns } from './scripted-runner.ts';
import { close, outcome, resume, runRoot, spawn, type TestWorld, workerOf } from './world.ts';

/**
 * Somebody else between the look at the files of a worker and the step that it was for. Processes meet there only by
 * chance, so each test lets the other one act at the very place: what it would have written is written then.
 */
interface Parked {
  readonly directory: string;
  readonly id: string;
  readonly snapshot: string;
  readonly suspensionId: string;
}

async function parked(first: ScriptedTurn = { say: 'one', park: { reason: 'wait' } }): Promise<Parked> {
  const world = createWorld();
  const end = await runRoot(world, 'task', turns(first));
  if (end.kind !== 'parked') throw new Error('did not park');
  const { id, snapshot_path: snapshot } = end.suspension.handle as { id: string; snapshot_path: string };
  return { directory: world.directory, id, snapshot, suspensionId: String(workerOf(world, id).suspension?.suspension_id) };
}

/** What a second process makes of a parked worker, put back so that it can happen once more at another moment. */
async function foretold({ directory, id, snapshot }: Parked, act: (other: TestWorld) => Promise<unknown>): Promise<() => void> {
  const before = contentOf(snapshot);
  const other = createWorld({ directory, live: turns({}, { say: 'elsewhere', park: { reason: 'again' } }) });
  await act(other);
  await outcome(other, id);
  const after = contentOf(snapshot);
  rmSync(join(dirname(snapshot), CLOSED_INDEX), { force: true });
  putBack(snapshot, before);
  return () => putBack(snapshot, after);
}

interface Content {
  readonly snapshot: Buffer;
  readonly journal: Buffer | undefined;
}

function contentOf(snapshot: string): Content {
  const journal = journalPathOf(snapshot);
  return { snapshot: readFileSync(snapshot), journal: existsSync(journal) ? readFileSync(journal) : undefined };
}

function putBack(path: string, { snapshot, journal }: Content): void {
  writeFileSync(path, snapshot);
  if (journal === undefined) rmSync(journalPathOf(path), { force: true });
  else writeFileSync(journalPathOf(path), journal);
}

/** Resumes a parked worker in a process that dies in its next turn. */
async function interrupt({ directory, id, snapshot }: Parked): Promise<void> {
  const hang = turns({}, { during: () => new Promise(() => undefined) });
  await resume(createWorld({ directory, live: hang }), id);
  const claim = JSON.parse(readFileSync(claimPathOf(snapshot), 'utf8').split('\n')[0] as string) as JsonObject;
  writeFileSync(claimPathOf(snapshot), JSON.stringify({ ...claim, pid: 2 ** 22 + 54321 }));
}

/** Files that let somebody else act before this process makes its first claim. */
function overtakenAtClaim(act: () => void): Files {
  const { files } = testPlatform();
  let isFirst = true;
  const open = (path: string, how: Parameters<Files['open']>[1], mode?: number) => {
    if (isFirst && path.includes('.claim.')) {
      isFirst = false;
      act();
    }
    return files.open(path, how, mode);
  };
  return Object.assign(Object.create(files) as Files, { open });
}

/** The claim of another process that is alive. */
function stealClaim(snapshot: string, generation = 9): void {
  rmSync(claimPathOf(snapshot), { force: true });
  const attempt = acquireClaim(createWorld().lifecycle.claims, claimPathOf(snapshot), { suspensionId: null, generation });
  if (attempt.kind !== 'won') throw new Error('the claim was not stolen');
}

const refusal = (action: Promise<unknown>): Promise<HarnError> =>
  action.then(
    () => Promise.reject(new Error('was not refused')),
    (error: HarnError) => error,
  );

const again = (other: TestWorld, id: string): Promise<unknown> => resume(other, id);

describe('D1 R16 a resume that was overtaken before its claim', () => {
  it.each([
    ['by one that parked the worker again', again],
    ['by a close', (other: TestWorld, id: string) => close(other, id)],
  ])('%s has lost, and changes nothing', async (_what, act) => {
    const worker = await parked();
    const happen = await foretold(worker, (other) => act(other, worker.id));
    const late = createWorld({ directory: worker.directory, platform: { files: overtakenAtClaim(happen) } });
    const error = await refusal(resume(late, worker.id));
    expect(error).toMatchObject({ code: 'HARN-SUS-006', data: { detail: { suspension_id: worker.suspensionId } } });
    happen();
    const now = readFileSync(worker.snapshot, 'utf8');
    expect(now).toContain(act === again ? 'elsewhere' : 'rejected');
    expect([existsSync(claimPathOf(worker.snapshot)), existsSync(journalPathOf(worker.snapshot))]).toEqual([false, false]);
    expect(late.runner.activations).toEqual([]);
  });

  it('by one that recovered the worker and died has lost', async () => {
    const worker = await parked();
    await interrupt(worker);
    const happen = await foretold(worker, async (other) => {
      other.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: false }));
      await resume(other, worker.id);
    });
    const late = createWorld({ directory: worker.directory, platform: { files: overtakenAtClaim(happen) } });
    expect((await refusal(resume(late, worker.id))).code).toBe('HARN-SUS-006');
    expect(late.runner.activations).toEqual([]);
  });

  it('by a removal of the file says that it is missing', async () => {
    const worker = await parked();
    const files = overtakenAtClaim(() => unlinkSync(worker.snapshot));
    const error = await refusal(resume(createWorld({ directory: worker.directory, platform: { files } }), worker.id));
    expect(error).toMatchObject({ code: 'HARN-SUS-004', data: { detail: { reason: 'missing' } } });
  });

  it('13.57 on an older copy, when the original has parked again, is stale', async () => {
    const worker = await parked();
    const copy = join(createWorld().directory, 'copy.json');
    writeFileSync(copy, readFileSync(worker.snapshot));
    (await foretold(worker, (other) => again(other, worker.id)))();
    const error = await refusal(resume(createWorld({ directory: worker.directory }), copy));
    expect(error).toMatchObject({ code: 'HARN-SUS-004', data: { detail: { reason: 'stale', suspension_id: worker.suspensionId } } });
  });

  it('13.57 on a copy, while the original is being resumed, has lost', async () => {
    const worker = await parked();
    const copy = join(createWorld().directory, 'copy.json');
    writeFileSync(copy, readFileSync(worker.snapshot));
    stealClaim(worker.snapshot, 2);
    const error = await refusal(resume(createWorld({ directory: worker.directory }), copy));
    expect(error).toMatchObject({ code: 'HARN-SUS-006', data: { detail: { owner_pid: process.pid } } });
  });

  it('R16 at the very instant at which another one opened counts as overlapping, one later as new', async () => {
    const worker = await parked();
    const first = createWorld({ directory: worker.directory, live: turns({}, { park: { reason: 'again' } }) });
    await resume(first, worker.id);
    await outcome(first, worker.id);
    const openedAt = Date.parse(String(readSnapshot(testPlatform(), worker.snapshot).snapshot.resume.opened_at));
    const second = createWorld({ directory: worker.directory, live: turns({}, {}, { end: true }) });
    expect((await refusal(resume(second, worker.id, { startedAt: openedAt }))).code).toBe('HARN-SUS-006');
    expect(await resume(second, worker.id, { startedAt: openedAt + 1 })).toMatchObject({ status: 'running' });
    await outcome(second, worker.id);
  });
});

describe('D1 a resume whose hooks take so long that somebody else comes in between', () => {
  async function overtakenInHook(act: (worker: Parked) => void): Promise<{ worker: Parked; world: TestWorld; error: HarnError }> {
    const worker = await parked();
    const world = createWorld({ directory: worker.directory, live: turns({}, { end: true }) });
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => {
      act(worker);
      return { value: null };
    });
    return { worker, world, error: await refusal(resume(world, worker.id)) };
  }

  it('and takes the claim, has lost and leaves no journal', async () => {
    const { worker, world, error } = await overtakenInHook(({ snapshot }) => stealClaim(snapshot));
    expect(error.code).toBe('HARN-SUS-006');
    expect(existsSync(journalPathOf(worker.snapshot))).toBe(false);
    expect(JSON.parse(readFileSync(claimPathOf(worker.snapshot), 'utf8'))).toMatchObject({ generation: 9 });
    expect(world.runner.activations).toEqual([]);
  });

  it('and opens the journal of the same generation, has lost and leaves that journal alone', async () => {
    const open = (id: string): string =>
      `${JSON.stringify({ t: 'open', v: 1, worker_id: id, generation: 2, claim_token: 'other', suspension_id: 'susp_x', base: { sha256: 'x' }, at: '2026-04-30T12:00:00.000Z' })}\n`;
    const { worker, world, error } = await overtakenInHook(({ id, snapshot }) => writeFileSync(journalPathOf(snapshot), open(id)));
    expect(error.code).toBe('HARN-SUS-006');
    expect(readFileSync(journalPathOf(worker.snapshot), 'utf8')).toBe(open(worker.id));
    expect(world.runner.activations).toEqual([]);
  });
});

describe('D2 an owner that was replaced', () => {
  const rows: readonly [at: string, turn: ScriptedTurn, on: 'turn' | 'progress'][] = [
    ['a record of its journal', {}, 'turn'],
    ['its park', { park: { reason: 'late' } }, 'turn'],
    ['its end', { end: true }, 'progress'],
  ];
  it.each(rows)('is stopped before %s, and changes nothing', async (_at, turn, on) => {
    const worker = await parked();
    let bytes: string | undefined;
    const steal = (): void => {
      if (bytes !== undefined) return;
      stealClaim(worker.snapshot);
      bytes = readFileSync(worker.snapshot, 'utf8') + readFileSync(journalPathOf(worker.snapshot), 'utf8');
    };
    const told: unknown[] = [];
    const emit = (event: JsonObject): void => {
      told.push(event.event);
      if (on === 'progress' && event.event === 'WorkerProgressed') {
        // The last record is written by now.
        steal();
      }
    };
    const live = turns({}, { ...turn, say: 'late', during: () => (on === 'turn' ? steal() : undefined) }, { end: true });
    const zombie = createWorld({ directory: worker.directory, live, emit });
    await resume(zombie, worker.id);
    await expect(workerOf(zombie, worker.id).settled()).rejects.toMatchObject({ code: 'HARN-SUS-006', data: { operation: 'agent_loop' } });
    expect(readFileSync(worker.snapshot, 'utf8') + readFileSync(journalPathOf(worker.snapshot), 'utf8')).toBe(bytes);
    expect(JSON.parse(readFileSync(claimPathOf(worker.snapshot), 'utf8'))).toMatchObject({ generation: 9 });
    expect(told.filter((name) => name === 'WorkerSuspended' || name === 'WorkerCompleted' || name === 'WorkerFailed')).toEqual([]);
  });

  it('goes on when only its claim is gone: nobody else has a higher generation', async () => {
    const worker = await parked();
    const during = (): void => unlinkSync(claimPathOf(worker.snapshot));
    const world = createWorld({ directory: worker.directory, live: turns({}, { during }, { say: 'done', end: true }) });
    await resume(world, worker.id);
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed', result: { summary: 'done' } });
  });
});

describe('4.3 a worker between two cycles', () => {
  async function awaiting(): Promise<{ world: TestWorld; worker: Worker }> {
    const world = createWorld();
    const worker = await spawn(world, 'task', turns({ end: true }, { say: 'next', end: true }), { carry: { retriggerable: true } });
    await worker.atRest();
    return { world, worker };
  }

  it('keeps its claim, and this process starts its next cycle and ends it', async () => {
    const { world, worker } = await awaiting();
    expect(worker.status).toBe('awaiting');
    expect(existsSync(claimPathOf(worker.snapshotPath))).toBe(true);
    expect(existsSync(journalPathOf(worker.snapshotPath))).toBe(false);
    restartWorker(world.lifecycle, worker, 'worker_trigger', 'more');
    await worker.atRest();
    expect([worker.status, worker.hasReducedDurability]).toEqual(['awaiting', false]);
    expect(await close(world, worker.id)).toMatchObject({ status: 'cancelled' });
    expect(existsSync(claimPathOf(worker.snapshotPath))).toBe(false);
  });

  it('is closed by nobody else while its process lives', async () => {
    const { world, worker } = await awaiting();
    await expect(close(createWorld({ directory: world.directory }), worker.id)).rejects.toMatchObject({
      code: 'HARN-SUS-006',
      data: { detail: { owner: 'other-process' } },
    });
  });

  it('that another process closed meanwhile stays closed: its owner starts no further cycle', async () => {
    const { world, worker } = await awaiting();
    const { processes } = testPlatform();
    const survivor = { pid: 1, bootId: () => processes.bootId(), isAlive: () => false } as unknown as Processes;
    await close(createWorld({ directory: world.directory, platform: { processes: survivor } }), worker.id);
    const bytes = readFileSync(worker.snapshotPath, 'utf8');
    expect(() => restartWorker(world.lifecycle, worker, 'worker_trigger', 'more')).toThrow(
      expect.objectContaining({ code: 'HARN-SUS-006', message: expect.stringContaining('is owned by generation') }),
    );
    expect(readFileSync(worker.snapshotPath, 'utf8')).toBe(bytes);
  });
});

describe('5.11 a close', () => {
  it('that was overtaken by a resume closes what the worker is by then', async () => {
    const worker = await parked();
    const happen = await foretold(worker, (other) => again(other, worker.id));
    const late = createWorld({ directory: worker.directory, platform: { files: overtakenAtClaim(happen) } });
    expect(await close(late, worker.id)).toMatchObject({ status: 'cancelled' });
    const { snapshot } = readSnapshot(testPlatform(), worker.snapshot);
    expect(snapshot.last_suspension).toMatchObject({ reason: 'again' });
    expect(messagesOf({ transcript: snapshot.transcript }).map(({ content }) => content)).toContain('elsewhere');
  });

  it('waits for a resume that is under way in this process, and closes what it started', async () => {
    const worker = await parked();
    let agree = (): void => undefined;
    const agreed = new Promise<void>((resolve) => {
      agree = resolve;
    });
    const world = createWorld({ directory: worker.directory });
    // A worker is known to a process once it has been asked to resume here.
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: false }));
    await resume(world, worker.id);
    world.lifecycle.hooks.clearSession();
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => agreed.then(() => ({ value: null })));
    const resumed = resume(world, worker.id);
    const closed = close(world, worker.id);
    agree();
    expect(await resumed).toMatchObject({ status: 'running' });
    expect(await closed).toMatchObject({ status: 'cancelled' });
  });

  it('13.17 stands against an older copy under the name of the snapshot', async () => {
    const worker = await parked();
    const older = readFileSync(worker.snapshot);
    await close(createWorld({ directory: worker.directory }), worker.id);
    writeFileSync(worker.snapshot, older);
    expect((await refusal(resume(createWorld({ directory: worker.directory }), worker.id))).code).toBe('HARN-SUS-010');
    // Also in another folder, and when the closed snapshot itself is gone.
    const copy = join(createWorld().directory, 'copy.json');
    writeFileSync(copy, older);
    unlinkSync(worker.snapshot);
    expect((await refusal(resume(createWorld({ directory: worker.directory }), copy))).code).toBe('HARN-SUS-010');
  });

  it('of an interrupted worker leaves no journal', async () => {
    const worker = await parked();
    await interrupt(worker);
    expect(await close(createWorld({ directory: worker.directory }), worker.id)).toMatchObject({ status: 'cancelled' });
    expect(existsSync(journalPathOf(worker.snapshot))).toBe(false);
  });

  it('13.36 lets nothing more of the loop be heard', async () => {
    const world = createWorld();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const heard = new Promise<void>((resolve) => {
      const during: ScriptedTurn['during'] = async (activation) => {
        await held;
        activation.emit({ type: 'late' });
        resolve();
      };
      void spawn(world, 'task', turns({ during }));
    });
    while (world.runner.activations.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await close(world, String(world.runner.activations[0]));
    release();
    await heard;
    expect(world.events.map(({ type }) => type)).not.toContain('late');
  });
});
