import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { suspendNamed } from '../../src/lifecycle/suspend.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import type { Processes } from '../../src/platform/platform.ts';
import { claimPathOf } from '../../src/store/claim-file.ts';
import { journalPathOf } from '../../src/store/journal-file.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { messagesOf, type ScriptedLive, turns } from './scripted-runner.ts';
import { close, createWorldAt, LIFE_LETTERS, resume, spawn, type TestWorld, target } from './world.ts';

/**
 * Three processes over one disk that resume, suspend and close one worker in orders that a scheduler chooses: whatever
 * comes between, the worker has one life, told once, and every turn of it is taken by one process only.
 */
const TURNS = 14;
const REFUSALS = ['HARN-SUS-001', 'HARN-SUS-003', 'HARN-SUS-004', 'HARN-SUS-006', 'HARN-SUS-010'];
const LIFE = /^S(PR)*(P?X|P|C|F)$/;

type Command = 'suspend' | 'resume' | 'resume by path' | 'close';
const command = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Command>('suspend') },
  { weight: 5, arbitrary: fc.constantFrom<Command>('resume', 'resume by path') },
  { weight: 1, arbitrary: fc.constant<Command>('close') },
);
const request = fc.record({ process: fc.nat({ max: 2 }), name: command });
const callers = fc.array(fc.array(request, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 4 });

it('R6 R16 D1 any order of requests of three processes leaves one life of the worker', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), callers, async (scheduler, lanes) => {
      const files = new FakeFiles({ now: () => Date.now() });
      const pause = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
      const told: string[] = [];
      const taken: number[] = [];
      const live: ScriptedLive = turns(
        ...Array.from({ length: TURNS }, (_, turn) => ({
          during: async () => {
            await pause('turn');
            taken.push(turn);
          },
          ...(turn === TURNS - 1 ? { end: true } : {}),
        })),
      );
      const emit = (event: JsonObject): void => {
        const letter = LIFE_LETTERS[String(event.event)];
        if (letter !== undefined) told.push(letter);
      };
      const worlds = [1, 2, 3].map((pid): TestWorld => {
        const processes = { pid, bootId: () => 'boot', isAlive: () => true } as unknown as Processes;
        const world = createWorldAt('/project', { platform: { files, processes }, live, emit });
        for (const event of ['pre_suspend', 'post_suspend', 'pre_resume', 'post_resume'])
          world.lifecycle.hooks.registerSession(event, '*', () => pause(event).then(() => ({ value: null })));
        return world;
      });
      const { id, snapshotPath } = await spawn(worlds[0] as TestWorld, 'task', live);
      const run = (world: TestWorld, name: Command): Promise<unknown> => {
        if (name === 'close') return close(world, id);
        if (name === 'resume') return resume(world, target(id), { mayReadResult: false });
        if (name === 'resume by path') return resume(world, target(snapshotPath), { mayReadResult: false });
        const asked = { reason: 'r', initiator: 'operator', conditions: undefined, resumeBy: undefined, waitMs: 60_000 } as const;
        return suspendNamed(world.lifecycle, { kind: 'worker', id }, asked);
      };
      const ended = lanes.map(async (requests) => {
        for (const { process, name } of requests) {
          await pause(name);
          await run(worlds[process] as TestWorld, name).catch((error: unknown) => {
            if (!(error instanceof HarnError) || !REFUSALS.includes(error.code)) throw error;
          });
        }
      });
      await scheduler.waitFor(Promise.all(ended));
      for (const world of worlds) {
        const worker = world.lifecycle.registry.get(id);
        if (worker?.tenure !== undefined) await scheduler.waitFor(worker.settled());
      }
      expect(told.join('')).toMatch(LIFE);
      // A turn that a close cut off may be taken to its end, and counts for nothing.
      expect(taken).toEqual([...new Set(taken)].sort((left, right) => left - right));
      const { snapshot } = readSnapshot(testPlatform({ files }), snapshotPath);
      const ends: Readonly<Record<string, string>> = { P: 'suspended', X: 'cancelled', C: 'completed', F: 'failed' };
      expect(snapshot.status).toBe(ends[told.at(-1) ?? '']);
      expect(messagesOf(snapshot as never).filter(({ role }) => role === 'assistant').length).toBeLessThanOrEqual(taken.length);
      expect([files.exists(claimPathOf(snapshotPath)), files.exists(journalPathOf(snapshotPath))]).toEqual([false, false]);
    }),
    { numRuns: 300 },
  );
});
