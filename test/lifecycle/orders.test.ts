import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Dispatcher } from '../../src/lifecycle/dispatcher.ts';
import { parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import { spawnParked } from '../../src/lifecycle/start.ts';
import type { Worker } from '../../src/lifecycle/worker.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { claimPathOf } from '../../src/store/claim-file.ts';
import { journalPathOf } from '../../src/store/journal-file.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { messagesOf, turns } from './scripted-runner.ts';
import { close, createWorldAt, dispatcherOf, LIFE_LETTERS, resume, spawn, start, suspend, type TestWorld } from './world.ts';

/**
 * Overlapping suspends, resumes, closes and wakes of one worker in one process, in orders that a scheduler chooses:
 * every turn, every hook and every owner is a place where the others may come between.
 */
const NOON = Date.UTC(2026, 3, 30, 12);
const MINUTE = 60_000;
const CONDITIONS = { timeout: { duration_minutes: 1 }, on_event: 'ci.done', trigger: { kind: 'done', provider: 'ci' } };
const TURNS = 12;

type Command = 'suspend' | 'suspend on conditions' | 'resume' | 'resume first' | 'close' | 'trigger' | 'event' | 'timeout';
const command = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<Command>('suspend', 'suspend on conditions') },
  { weight: 6, arbitrary: fc.constantFrom<Command>('resume', 'resume', 'resume first', 'trigger', 'event', 'timeout') },
  { weight: 1, arbitrary: fc.constant<Command>('close') },
);
/** Callers at once, each with its requests one after another. */
const callers = fc.array(fc.array(command, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 3 });

function memoryWorld(): TestWorld & { readonly files: FakeFiles } {
  const files = new FakeFiles({ now: () => Date.now() });
  const world = createWorldAt('/project', { platform: { files } });
  world.clock.mock(NOON);
  return { ...world, files };
}

const publish = (world: TestWorld, dispatcher: Dispatcher): Promise<unknown> =>
  dispatcher.publish({ provider: 'ci', kind: 'done', payload: { from: 'trigger' } }).then(() => world);

function append(world: TestWorld): void {
  world.lifecycle.eventLog.append({ topic: 'ci.done', kind: 'k', payload: { from: 'event' }, headers: {}, occurredAt: NOON });
}

const REFUSALS = ['HARN-SUS-001', 'HARN-SUS-003', 'HARN-SUS-004', 'HARN-SUS-006', 'HARN-SUS-010'];

const updates = (world: TestWorld): string[] =>
  world.events.filter((event) => event.type === 'worker_update' && event.event !== 'WorkerProgressed').map((event) => String(event.event));

/** Spawned, then parks and resumes in turn, then one end: nothing else can have happened to a worker. */
const LIFE = /^S(PR)*(P?X|P|C|F|)$/;

function expectConsistent(world: TestWorld & { readonly files: FakeFiles }, worker: Worker, resumes: number): void {
  const told = updates(world);
  expect(told.map((event) => LIFE_LETTERS[event]).join('')).toMatch(LIFE);
  const resumed = told.filter((event) => event === 'WorkerResumed').length;
  expect(resumes).toBeLessThanOrEqual(resumed);
  // A close may come between the start of an activation and its first step.
  expect(world.runner.activations.length).toBeLessThanOrEqual(1 + resumed);
  const { snapshot } = readSnapshot(testPlatform({ files: world.files }), worker.snapshotPath);
  expect([snapshot.status, snapshot.suspension?.suspension_id]).toEqual([worker.status, worker.suspension?.suspension_id]);
  expect(world.files.exists(claimPathOf(worker.snapshotPath))).toBe(false);
  expect(world.files.exists(journalPathOf(worker.snapshotPath))).toBe(false);
  expect(messagesOf(worker.state).filter(({ role }) => role === 'reminder').length).toBeLessThanOrEqual(1);
  const isArmed = worker.status === 'suspended' && worker.record.armed !== null;
  expect(world.lifecycle.waker.size).toBe(isArmed ? 1 : 0);
  const active = world.lifecycle.triggers.list().filter((binding) => binding.state !== 'terminated');
  expect(active.map(({ id }) => id)).toEqual(isArmed ? [worker.suspension?.auto_resume_trigger?.id] : []);
  const kinds = world.lifecycle.audit.snapshot().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'resume_by_dispatched')).toHaveLength(told.filter((event) => event === 'WorkerSuspended').length);
}

describe('R6 R16 R94 any order of overlapping requests', () => {
  it('leaves one consistent life of the worker, in memory and on disk', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callers, async (scheduler, requests) => {
        const world = memoryWorld();
        const { lifecycle } = world;
        const dispatcher = dispatcherOf(world);
        const pause = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        for (const event of ['pre_suspend', 'post_suspend', 'pre_resume', 'post_resume'])
          lifecycle.hooks.registerSession(event, '*', () => pause(event).then(() => ({ value: null })));
        const owner = async (suspension: JsonObject): Promise<JsonObject> => {
          await pause('owner');
          return lifecycle.owners.preset('local_runtime', suspension);
        };
        const turn = { during: () => pause('turn') };
        const worker = await spawn(world, 'task', turns(...Array.from({ length: TURNS }, () => turn), { ...turn, end: true }));
        let first: string | undefined;
        let resumed = 0;
        const run: Readonly<Record<Command, () => Promise<unknown>>> = {
          suspend: () => suspend(world, worker, { waitMs: 60_000 }),
          'suspend on conditions': () => suspend(world, worker, { waitMs: 60_000, conditions: CONDITIONS, resumeBy: owner }),
          resume: () => resume(world, worker.id).then(() => resumed++),
          'resume first': () => resume(world, { kind: 'worker', id: worker.id, suspensionId: first }).then(() => resumed++),
          close: () => close(world, worker.id),
          trigger: () => publish(world, dispatcher),
          event: async () => append(world),
          timeout: () => world.clock.advance(MINUTE),
        };
        const call = async (name: Command): Promise<void> => {
          await pause(name);
          first ??= worker.suspension?.suspension_id;
          await run[name]().catch((error: HarnError) => {
            if (!REFUSALS.includes(error.code)) throw error;
          });
        };
        const ended = requests.map(async (names) => {
          for (const name of names) await call(name);
        });
        await scheduler.waitFor(Promise.all(ended));
        await scheduler.waitFor(worker.settled());
        while (worker.isInTransition) await scheduler.waitFor(worker.changed());
        expectConsistent(world, worker, resumed);
      }),
      { numRuns: 400 },
    );
  });
});

/** All orders of a list. */
function permutations<T>(list: readonly T[]): T[][] {
  return list.length === 0 ? [[]] : list.flatMap((item, at) => permutations(list.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

describe('T06: trigger, timeout, event and operator at one instant', () => {
  const wakes = ['trigger', 'timeout', 'event', 'operator'] as const;
  it.each(permutations(wakes))('in the order %s, %s, %s, %s have one winner, and nothing stays armed', async (...order) => {
    const world = memoryWorld();
    const conditions = parseResumeConditions(CONDITIONS, 'spawn_agent');
    if (conditions === undefined) throw new Error('no conditions');
    const worker = await spawnParked(world.lifecycle, start('watch', turns({ end: true })), conditions, undefined);
    const dispatcher = dispatcherOf(world);
    const wake = {
      trigger: () => publish(world, dispatcher),
      timeout: () => world.clock.advance(MINUTE),
      event: async () => append(world),
      operator: () => resume(world, worker.id).catch(() => undefined),
    };
    await Promise.all(order.map((name) => wake[name]()));
    await worker.settled();
    expect(world.runner.activations).toHaveLength(1);
    const reminders = messagesOf(worker.state).filter(({ role }) => role === 'reminder');
    const causes = { trigger: 'triggered', event: 'triggered', timeout: 'timeout', operator: 'operator' };
    expect(reminders).toHaveLength(1);
    expect(Object.values(causes)).toContain(reminders[0]?.cause);
    expectConsistent(world, worker, 0);
  });
});
