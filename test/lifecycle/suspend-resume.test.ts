import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Activation } from '../../src/lifecycle/activation.ts';
import { interruptAndSuspend } from '../../src/lifecycle/broadcast.ts';
import { suspendNamed } from '../../src/lifecycle/suspend.ts';
import type { Worker } from '../../src/lifecycle/worker.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import type { Clock, Processes } from '../../src/platform/platform.ts';
import { journalPathOf } from '../../src/store/journal-file.ts';
import { readSnapshot, renderSnapshot } from '../../src/store/snapshot-file.ts';
import type { WorkerSnapshot } from '../../src/store/snapshot-schema.ts';
import { testPlatform } from '../store/test-platform.ts';
import { createWorld } from './scratch-world.ts';
import { gatedTurns, messagesOf, type ScriptedLive, turns } from './scripted-runner.ts';
import { close, outcome, resume, spawn, suspend, type TestWorld, workerOf } from './world.ts';

/** A worker that stands inside its first turn until `release` is called. */
async function busyWorld(
  after: ScriptedLive['turns'] = [{ say: 'second', end: true }],
  world = createWorld(),
  first: ScriptedLive['turns'][0] = {},
) {
  const entered = signal();
  const held = signal();
  const during = (): Promise<void> => {
    entered.give();
    return held.given;
  };
  const worker = await spawn(world, 'task text', turns({ say: 'first', during, ...first }, ...after));
  await entered.given;
  return { world, worker, release: held.give };
}

function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

async function parkedWorld(after?: ScriptedLive['turns']): Promise<{ world: TestWorld; worker: Worker; summary: JsonObject }> {
  const { world, worker, release } = await busyWorld(after);
  const asked = suspend(world, worker, { reason: ' for lunch ' });
  release();
  return { world, worker, summary: await asked };
}

async function refusal(action: Promise<unknown>): Promise<HarnError> {
  return action.then(
    () => {
      throw new Error('was not refused');
    },
    (error: HarnError) => error,
  );
}

const kinds = (world: TestWorld): unknown[] => world.events.filter((event) => event.type === 'worker_update').map((event) => event.event);

describe('suspend', () => {
  it('R1 R8 R12 is honoured at the boundary after the turn in flight', async () => {
    const { world, worker, summary } = await parkedWorld();
    expect(summary).toMatchObject({ status: 'suspended', lifecycle_state: 'suspended' });
    expect(messagesOf(worker.state).map((message) => message.content)).toEqual(['task text', 'first']);
    expect(world.runner.activations).toHaveLength(1);
  });

  it('R24 R26 R27 R28 R29 R31 R32 gives a Suspension with its eleven keys', async () => {
    const { summary } = await parkedWorld();
    const suspension = summary.result as JsonObject;
    expect(Object.keys(suspension).sort()).toEqual([
      'auto_resume_trigger', 'conditions', 'handle', 'initiator', 'iterations_completed', 'reason', 'resume_by_mechanism',
      'snapshot_path', 'status', 'suspended_at', 'suspended_at_turn',
    ]); // biome-ignore format: a list to be scanned
    expect(suspension).toMatchObject({
      status: 'suspended',
      reason: 'for lunch',
      initiator: 'operator',
      conditions: null,
      iterations_completed: 1,
      suspended_at_turn: 0,
      resume_by_mechanism: 'ResumeBy.parent_llm',
      auto_resume_trigger: null,
    });
    expect(suspension.suspended_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(existsSync(suspension.snapshot_path as string)).toBe(true);
    expect(Object.keys(suspension.handle as JsonObject).sort()).toEqual(
      ['_type', 'id', 'lifecycle_state', 'mode', 'name', 'parent_worker_id', 'snapshot_path', 'status', 'suspension'],
    ); // biome-ignore format: a list to be scanned
  });

  it('R14 a second time changes nothing, whatever it asks', async () => {
    const { world, worker, summary } = await parkedWorld();
    const before = statSync(worker.snapshotPath).mtimeMs;
    for (const changes of [{}, { reason: 'other' }, { conditions: { nonsense: 1 } }]) {
      expect(await suspend(world, worker, changes)).toEqual(summary);
    }
    expect(kinds(world).filter((kind) => kind === 'WorkerSuspended')).toHaveLength(1);
    expect(statSync(worker.snapshotPath).mtimeMs).toBe(before);
  });

  it('T11 while a request is pending joins it, and the first reason stays', async () => {
    const { world, worker, release } = await busyWorld();
    const asked = ['one', 'two', 'three'].map((reason) => suspend(world, worker, { reason }));
    release();
    const summaries = await Promise.all(asked);
    expect(new Set(summaries.map((summary) => JSON.stringify(summary))).size).toBe(1);
    expect(summaries[0]?.result).toMatchObject({ reason: 'one' });
    expect(kinds(world).filter((kind) => kind === 'WorkerSuspended')).toHaveLength(1);
  });

  it('R92 without a boundary in time says that it is requested, and close ends it', async () => {
    const { world, worker } = await busyWorld();
    const summary = await suspend(world, worker, { waitMs: 1, reason: 'please' });
    expect(summary).toMatchObject({ status: 'running', suspend_requested: { reason: 'please', initiator: 'operator' } });
    expect(await close(world, worker.id)).toMatchObject({ status: 'cancelled', lifecycle_state: 'closed' });
  });

  it('R96 a broadcast counts as suspended only what is parked: who reaches no boundary in time keeps the request', async () => {
    const platform = testPlatform();
    // The two seconds are over at once.
    const realClock = { ...platform.clock, timer: (_ms: number, then: () => void) => platform.clock.timer(0, then, 'unref') } as Clock;
    const world = createWorld({ realClock });
    const busy = await busyWorld([{ end: true }], world);
    const other = await busyWorld([{ end: true }], world);
    const spec = { reason: 'halt', target_agents: [busy.worker.id, other.worker.id, 'worker_nobody'] };
    const answer = await interruptAndSuspend(world.lifecycle, spec, async () => null);
    const outcomes = (answer.targets as JsonObject[]).map(({ handle, outcome: how }) => [handle, how]);
    expect(Object.fromEntries(outcomes)).toEqual({
      [busy.worker.id]: 'suspend_requested',
      [other.worker.id]: 'suspend_requested',
      worker_nobody: 'unknown',
    });
    expect(answer).toMatchObject({ target_count: 3, suspended_count: 0, skipped_count: 3 });
    busy.release();
    expect(await outcome(world, busy.worker.id)).toMatchObject({ status: 'suspended', result: { initiator: 'triggered', reason: 'halt' } });
    const again = await interruptAndSuspend(world.lifecycle, spec, async () => null);
    expect(again.targets).toContainEqual({ handle: busy.worker.id, outcome: 'already_suspended' });
    other.release();
    await outcome(world, other.worker.id);
  });

  it('R10 loses against a natural end at the same boundary', async () => {
    const { world, worker, release } = await busyWorld([], createWorld(), { end: true });
    const asked = suspend(world, worker);
    release();
    expect(await asked).toMatchObject({ status: 'completed', lifecycle_state: 'done', suspension: null });
    expect(kinds(world)).not.toContain('WorkerSuspended');
  });

  it('R20 of an ended worker is HARN-SUS-001', async () => {
    const world = createWorld();
    const completed = await spawn(world, 'a', turns({ end: true }));
    await completed.settled();
    const failed = await spawn(world, 'b', turns({ during: () => Promise.reject(new Error('boom')) }));
    await failed.settled();
    const closed = (await parkedWorld()) as { world: TestWorld; worker: Worker };
    await close(closed.world, closed.worker.id);
    for (const [where, worker, status] of [
      [world, completed, 'completed'],
      [world, failed, 'failed'],
      [closed.world, closed.worker, 'cancelled'],
    ] as const) {
      const before = readFileSync(worker.snapshotPath, 'utf8');
      const error = await refusal(suspend(where, worker));
      expect(error.message).toBe(`HARN-SUS-001: suspend_agent: worker ${worker.id} is not running (status=${status})`);
      expect(readFileSync(worker.snapshotPath, 'utf8')).toBe(before);
    }
  });

  it('R49 with invalid conditions is refused before anything happens', async () => {
    const { world, worker, release } = await busyWorld();
    expect((await refusal(suspend(world, worker, { conditions: { timeout: {} } }))).code).toBe('HARN-SUS-002');
    expect(worker.pending).toBeUndefined();
    release();
    expect((await outcome(world, worker.id)).status).toBe('completed');
  });

  it('R20 13.31 of a worker that only its files know says where it stands, and whose it is', async () => {
    const ask = (where: TestWorld, id: string): Promise<JsonObject> =>
      suspendNamed(
        where.lifecycle,
        { kind: 'worker', id },
        { reason: 'r', initiator: 'operator', conditions: undefined, resumeBy: undefined, waitMs: 0 },
      );
    const { world, worker, release } = await busyWorld([{ park: { reason: 'second' } }, { end: true }], createWorld(), {
      park: { reason: 'first' },
    });
    const { processes } = testPlatform();
    const other = createWorld({
      directory: world.directory,
      platform: { processes: { pid: 1, bootId: () => processes.bootId(), isAlive: (pid: number) => processes.isAlive(pid) } as Processes },
    });
    expect(await refusal(ask(other, worker.id))).toMatchObject({
      code: 'HARN-SUS-001',
      data: { status: 'running', detail: { owner: 'other-process', owner_pid: process.pid } },
    });
    release();
    await worker.settled();
    expect(await ask(other, worker.id)).toMatchObject({ status: 'suspended', suspension: { reason: 'first' } });
    await close(other, worker.id);
    expect(await refusal(ask(world, worker.id))).toMatchObject({ code: 'HARN-SUS-001', data: { status: 'cancelled' } });
    expect((await refusal(ask(other, 'worker_nobody'))).message).toBe('unknown worker: worker_nobody');
  });

  it('R42 with a trigger that cannot be registered parks open and throws HARN-SUS-007', async () => {
    const world = createWorld({ admitTrigger: (spec) => (spec.provider === 'refused' ? 'no such provider' : undefined) });
    const { worker, release } = await busyWorld(undefined, world);
    const asked = suspend(world, worker, { conditions: { trigger: { kind: 'x', provider: 'refused' } } });
    release();
    const error = await refusal(asked);
    expect(error.message).toBe('HARN-SUS-007: auto_resume: failed to register trigger: no such provider');
    expect(error.data.detail).toMatchObject({ provider: 'refused', suspended: true });
    expect(worker.suspension).toMatchObject({ conditions: null, resume_by_mechanism: 'ResumeBy.parent_llm' });
  });

  it('R13 T35 whose snapshot cannot be written leaves the worker running and throws', async () => {
    const files = new FaultyFiles(testPlatform().files);
    const world = createWorld({ platform: { files } });
    const { worker, release } = await busyWorld(undefined, world);
    const asked = suspend(world, worker, { conditions: { trigger: { kind: 'x', provider: 'y' } } });
    await Promise.resolve();
    const original = files.rename;
    files.rename = () => {
      files.rename = original;
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    release();
    const error = await refusal(asked);
    expect(error.message).toMatch(/^suspend_agent: failed to persist snapshot .*: ENOSPC/);
    expect(world.lifecycle.triggers.list()).toEqual([]);
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
    expect(kinds(world)).not.toContain('WorkerSuspended');
  });
});

describe('resume', () => {
  it('R2 R9 in the same process goes on with the whole transcript', async () => {
    const { world, worker } = await parkedWorld();
    expect(await resume(world, worker.id, { input: 'back' })).toMatchObject({ status: 'running', task: 'back', suspension: null });
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed', result: { summary: 'second' } });
    expect(messagesOf(worker.state).map(({ content }) => content)).toEqual(['task text', 'first', undefined, 'back', 'second']);
    expect(kinds(world).filter((kind) => kind !== 'WorkerProgressed')).toEqual([
      'WorkerSpawned',
      'WorkerSuspended',
      'WorkerResumed',
      'WorkerCompleted',
    ]);
  });

  it('R25 R97 accepts handle, id and path alike', async () => {
    for (const form of ['id', 'path', 'suspension'] as const) {
      const { world, worker } = await parkedWorld();
      const suspensionId = worker.suspension?.suspension_id;
      const to = { id: worker.id, path: worker.snapshotPath, suspension: { kind: 'worker' as const, id: worker.id, suspensionId } }[form];
      expect(await resume(world, to)).toMatchObject({ status: 'running' });
      expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
    }
  });

  it('R16 R17 two at once have one winner; the loser may ask again', async () => {
    const gate = gatedTurns([{ say: 'slow' }]);
    const { world, worker } = await parkedWorld([...gate.live.turns, { end: true }]);
    const [first, second] = await Promise.allSettled([resume(world, worker.id), resume(world, worker.id)]);
    expect(first.status).toBe('fulfilled');
    expect(second.status === 'rejected' && second.reason).toMatchObject({ code: 'HARN-SUS-006', data: { detail: { retryable: true } } });
    const again = await refusal(resume(world, worker.id));
    expect(again).toMatchObject({ code: 'HARN-SUS-003', data: { status: 'running', detail: { handle: { status: 'running' } } } });
    await gate.arrived();
    gate.open();
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
    expect(world.runner.activations).toHaveLength(2);
  });

  it('R16 a request that began before the winner opened has lost, even when the worker is done or parked again', async () => {
    for (const last of [{ end: true }, { park: { reason: 'again' } }]) {
      const { world, worker } = await parkedWorld([last]);
      const entry = world.lifecycle.registry.nextEntry();
      await resume(world, worker.id);
      await worker.settled();
      expect((await refusal(resume(world, worker.id, { entry }))).code).toBe('HARN-SUS-006');
    }
  });

  it('R21 of a running worker is HARN-SUS-003 and does not disturb it', async () => {
    const { world, worker, release } = await busyWorld();
    const error = await refusal(resume(world, worker.id));
    expect(error.message).toBe(`HARN-SUS-003: resume_agent: worker ${worker.id} is not suspended (status=running)`);
    release();
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
    expect(world.runner.activations).toHaveLength(1);
  });

  it('R75 with blank input is HARN-SUS-009 and leaves everything as it was', async () => {
    const { world, worker } = await parkedWorld();
    const before = readFileSync(worker.snapshotPath, 'utf8');
    for (const input of ['', '   ', '\n']) {
      const error = await refusal(resume(world, worker.id, { input }));
      expect(error.message).toBe('HARN-SUS-009: resume_agent: resume input must be nil or non-empty text');
    }
    expect(worker.status).toBe('suspended');
    expect(readFileSync(worker.snapshotPath, 'utf8')).toBe(before);
  });

  it('T10 of a finished run is refused without an effect, and a script may read the result by path', async () => {
    const { world, worker } = await parkedWorld();
    await resume(world, worker.id);
    await worker.settled();
    const path = worker.snapshotPath;
    for (const to of [worker.id, path]) expect((await refusal(resume(world, to, { input: 'approve' }))).code).toBe('HARN-SUS-003');
    expect((await refusal(resume(world, path, { mayReadResult: false }))).code).toBe('HARN-SUS-003');
    const fresh = createWorld({ directory: world.directory });
    expect(await resume(fresh, path)).toMatchObject({ status: 'completed', result: { summary: 'second' } });
    expect(fresh.runner.activations).toEqual([]);
  });

  it('D1 of an older suspension is stale, while the handle means the current one', async () => {
    const { world, worker } = await parkedWorld([{ park: { reason: 'again' } }, { end: true }]);
    const old = { kind: 'worker' as const, id: worker.id, suspensionId: worker.suspension?.suspension_id };
    await resume(world, worker.id);
    await worker.settled();
    const error = await refusal(resume(world, old));
    expect(error).toMatchObject({
      code: 'HARN-SUS-004',
      data: { detail: { reason: 'stale', suspension_id: old.suspensionId, current_suspension_id: worker.suspension?.suspension_id } },
    });
    expect(error.message).toContain(
      `stale suspension ${old.suspensionId}; the worker is parked again as ${worker.suspension?.suspension_id}`,
    );
    expect(await resume(world, worker.id)).toMatchObject({ status: 'running' });
    await worker.settled();
  });

  it('R37 says of a task that came as an input no more than that, in every later process', async () => {
    const { world, worker } = await parkedWorld([{ park: { reason: 'again' } }]);
    await resume(world, worker.id, { input: 'secret' });
    await worker.settled();
    const later = createWorld({ directory: world.directory, live: turns({}, {}, { end: true }) });
    await resume(later, worker.id);
    await outcome(later, worker.id);
    const tasks = [...world.events, ...later.events].filter(({ event }) => event === 'WorkerResumed').map(({ worker_task }) => worker_task);
    expect(tasks).toEqual(['[resume input]', '[resume input]']);
  });

  it('R37 and says of a prompt that no input came for it, also after a restart', async () => {
    const { world, worker } = await parkedWorld([{ park: { reason: 'again' } }]);
    const later = createWorld({ directory: world.directory, live: turns({}, { end: true }) });
    await resume(later, worker.id);
    await outcome(later, worker.id);
    expect(later.events.find(({ event }) => event === 'WorkerResumed')).toMatchObject({ worker_task: '[task]' });
  });

  it('R15 of something that does not exist is HARN-SUS-004', async () => {
    const world = createWorld();
    for (const to of ['worker_nobody', 'no/such.json']) {
      expect(await refusal(resume(world, to))).toMatchObject({ code: 'HARN-SUS-004', data: { detail: { reason: 'missing' } } });
    }
  });

  it('T35 that cannot be written leaves the worker parked', async () => {
    const { world, worker } = await parkedWorld();
    const { files } = world.lifecycle.platform;
    const original = files.open.bind(files);
    Object.assign(files, {
      open: (path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number) => {
        if (path.endsWith('.journal.jsonl')) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
        return original(path, how, mode);
      },
    });
    expect((await refusal(resume(world, worker.id))).message).toMatch(/^resume_agent: failed to persist resume of .*EACCES/);
    Object.assign(files, { open: original });
    expect(worker.status).toBe('suspended');
    expect(existsSync(`${worker.snapshotPath}.claim`)).toBe(false);
    expect(await resume(world, worker.id)).toMatchObject({ status: 'running' });
    await worker.settled();
  });

  it('of a worker that another process has taken over in the meantime asks the files', async () => {
    const { world, worker } = await parkedWorld([{ say: 'elsewhere', end: true }]);
    const other = createWorld({ directory: world.directory, live: turns({}, { say: 'elsewhere', end: true }) });
    await resume(other, worker.id);
    await outcome(other, worker.id);
    const error = await refusal(resume(world, worker.id));
    expect(error).toMatchObject({ code: 'HARN-SUS-003', data: { status: 'completed' } });
  });

  it('R57 of a file with conditions that nobody could have written names the field', async () => {
    const { world, worker } = await parkedWorld();
    const { snapshot } = readSnapshot(testPlatform(), worker.snapshotPath);
    const suspension = { ...snapshot.suspension, conditions: { timeout: { duration_minutes: 0 } } };
    writeFileSync(worker.snapshotPath, renderSnapshot({ ...snapshot, suspension } as WorkerSnapshot).bytes);
    const error = await refusal(resume(createWorld({ directory: world.directory }), worker.id));
    expect(error).toMatchObject({
      code: 'HARN-SUS-004',
      data: { detail: { reason: 'malformed', field: 'suspension.conditions.timeout.duration_minutes' } },
    });
    expect(existsSync(`${worker.snapshotPath}.claim`)).toBe(false);
  });

  it('4.2 of a worker that keeps no journal writes no turn to the disk before its next park', async () => {
    const world = createWorld();
    let lines = 0;
    const during = ({ workerId }: Activation): void => {
      lines = readFileSync(journalPathOf(workerOf(world, workerId).snapshotPath), 'utf8')
        .trim()
        .split('\n').length;
    };
    const live = turns({ park: { reason: 'wait' } }, { say: 'second' }, { during, end: true });
    const worker = await spawn(world, 'task', live, { carry: { persist_state: false } });
    await worker.settled();
    await resume(world, worker.id);
    await outcome(world, worker.id);
    // That it was resumed has to be known to others.
    expect(lines).toBe(1);
  });

  it('5.7 that a hook refuses leaves an interrupted worker armed with nothing of its last park', async () => {
    const { world, worker } = await parkedWorld();
    const { snapshot } = readSnapshot(testPlatform(), worker.snapshotPath);
    const conditions = { timeout: { duration_minutes: 5, on_timeout: 'resume_with_summary' } };
    const armed = { trigger: false, deadline_at: '2026-04-30T12:05:00.000Z', on_event: null };
    const document = { ...snapshot, status: 'running', armed, suspension: { ...snapshot.suspension, conditions } };
    writeFileSync(worker.snapshotPath, renderSnapshot(document as WorkerSnapshot).bytes);
    const later = createWorld({ directory: world.directory });
    later.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: false }));
    expect(await resume(later, worker.id)).toHaveProperty('pre_resume_denied');
    expect(later.lifecycle.waker.size).toBe(0);
    expect(readSnapshot(testPlatform(), worker.snapshotPath).snapshot.armed).toBeNull();
  });

  it('R4 works on a copy in another place', async () => {
    const { worker } = await parkedWorld();
    const elsewhere = createWorld({ live: turns({}, { say: 'moved', end: true }) });
    const copy = join(elsewhere.directory, 'copy.json');
    writeFileSync(copy, readFileSync(worker.snapshotPath));
    await resume(elsewhere, copy);
    expect(await outcome(elsewhere, worker.id)).toMatchObject({ status: 'completed', result: { summary: 'moved' }, snapshot_path: copy });
  });
});

describe('close', () => {
  it('R11 R19 R22 ends a parked worker for good, by handle, id, path, and in a fresh process', async () => {
    const { world, worker } = await parkedWorld();
    const copy = readFileSync(worker.snapshotPath);
    const summary = await close(world, worker.id);
    expect(summary).toMatchObject({ status: 'cancelled', lifecycle_state: 'closed', error: 'worker cancelled', suspension: null });
    expect(JSON.parse(readFileSync(worker.snapshotPath, 'utf8'))).toMatchObject({
      rejected: { by: 'operator', reason: 'closed' },
      suspension: null,
    });
    const fresh = createWorld({ directory: world.directory });
    for (const where of [world, fresh]) {
      for (const to of [worker.id, worker.snapshotPath]) {
        const error = await refusal(resume(where, to));
        expect(error.message).toBe(`HARN-SUS-010: resume_agent: worker ${worker.id} was closed and cannot be resumed`);
      }
    }
    writeFileSync(join(world.directory, 'old.json'), copy);
    expect((await refusal(resume(fresh, join(world.directory, 'old.json')))).code).toBe('HARN-SUS-010');
    expect(await close(world, worker.id)).toEqual(summary);
    expect(kinds(world).filter((kind) => kind === 'WorkerCancelled')).toHaveLength(1);
  });

  it('leaves a completed worker completed', async () => {
    const world = createWorld();
    const worker = await spawn(world, 'a', turns({ end: true }));
    await worker.settled();
    expect(await close(world, worker.id)).toMatchObject({ status: 'completed' });
  });

  it('13.36 of a running worker does not wait for its boundary and drops its late result', async () => {
    const { world, worker, release } = await busyWorld();
    expect(await close(world, worker.id)).toMatchObject({ status: 'cancelled' });
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(worker.status).toBe('cancelled');
    expect(kinds(world)).not.toContain('WorkerCompleted');
  });

  it('13.58 of a parked worker of another process works, of a running one is HARN-SUS-006', async () => {
    const parked = await parkedWorld();
    expect(await close(createWorld({ directory: parked.world.directory }), parked.worker.id)).toMatchObject({ status: 'cancelled' });
    const busy = await busyWorld();
    const error = await refusal(close(createWorld({ directory: busy.world.directory }), busy.worker.id));
    expect(error).toMatchObject({ code: 'HARN-SUS-006', data: { detail: { owner: 'other-process' } } });
    busy.release();
  });
});
