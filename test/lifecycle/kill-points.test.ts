import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { type Fault, FaultyFiles } from '../../src/platform/fault-points.ts';
import type { Files, Processes } from '../../src/platform/platform.ts';
import { LEASE_MS } from '../../src/store/claim-file.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { expectEffectsOnce } from './effects-once.ts';
import { createLoopWorld, effectsOf, type LoopWorld, type Plan, workerIdIn } from './loop-world.ts';
import { messagesOf } from './scripted-runner.ts';
import { close, resume, workerOf } from './world.ts';

/**
 * The product's own loop, killed before, in and after every call that changes a file, on every path that writes:
 * turns, park, resume, end, close, and recovery itself. Whatever the instant, the next process must be able to go on.
 */
const PLAN: Plan = [['a', 'b'], { park: 'need an answer' }, ['c', 'd'], ['e'], []];
const EFFECTS = ['a', 'b', 'c', 'd', 'e'];
const INPUT = 'go on';
const WAYS = ['killBefore', 'tear', 'killAfter'] as const;

interface Machine {
  readonly files: Files;
  readonly directory: string;
  /** Processes that are alive, by pid. */
  readonly alive: Set<number>;
}

function newMachine(): Machine {
  // Everything looks as if it had been written a while ago: of a claim that was torn, only its age tells that it is nobody's.
  return { files: new FakeFiles({ now: () => Date.now() - 2 * LEASE_MS }), directory: '/project', alive: new Set() };
}

function startProcess(machine: Machine, pid: number, files = machine.files): LoopWorld {
  machine.alive.add(pid);
  const processes = { pid, bootId: () => 'boot', isAlive: (other: number) => machine.alive.has(other) };
  return createLoopWorld(machine.directory, PLAN, { files, processes: processes as Processes });
}

interface Death {
  readonly world: LoopWorld;
  readonly files: FaultyFiles;
  /** How many calls there were: a fault beyond them never came. */
  readonly wasHit: boolean;
}

/** Lets one process do something until it is over or dead. */
async function processThatDies(machine: Machine, pid: number, fault: Fault, work: (world: LoopWorld) => Promise<unknown>): Promise<Death> {
  const files = new FaultyFiles(machine.files, fault);
  const world = startProcess(machine, pid, files);
  let isOver = false;
  void work(world).then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (!isOver && !files.isDead) await tick();
  machine.alive.delete(pid);
  return { world, files, wasHit: files.isDead };
}

/** A millisecond on: requests of the same one count as overlapping, and the dead were here just now. */
const later = (world: LoopWorld): number => world.lifecycle.realClock.now() + 1;

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function settle(world: LoopWorld, id: string): Promise<void> {
  await workerOf(world, id).settled();
}

const workersOf = ({ directory }: Machine): string => join(directory, '.harn', 'workers');
const idOnDisk = ({ files, directory }: Machine): string | undefined => workerIdIn(files, directory);

function snapshotOnDisk(machine: Machine, id: string): JsonObject | undefined {
  const path = join(workersOf(machine), `${id}.json`);
  if (!machine.files.exists(path)) return undefined;
  return readSnapshot(testPlatform({ files: machine.files }), path).snapshot as JsonObject;
}

/** The same machine with the worker parked: run once, then copied. */
async function parkedMachine(): Promise<Machine & { readonly id: string }> {
  const machine = newMachine();
  const world = startProcess(machine, 1);
  const end = await world.runRoot();
  if (end.kind !== 'parked') throw new Error('did not park');
  machine.alive.delete(1);
  return { ...machine, id: idOnDisk(machine) ?? '' };
}

interface Finished {
  readonly messages: readonly JsonObject[];
  /** False when the dead process had written the end already: nobody claimed the worker again, and its leftovers stay. */
  readonly wasClaimed: boolean;
  /** The messages of the first model request after the death; undefined when the model was not asked again. */
  readonly firstRequest: readonly string[] | undefined;
}

/** Goes on until the worker is done, as a careful operator would; every process but the last may have died. */
async function finish(machine: Machine, pid: number): Promise<Finished | undefined> {
  const id = idOnDisk(machine);
  if (id === undefined) return undefined;
  const world = startProcess(machine, pid);
  let wasClaimed = false;
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await resume(world, id, { input: INPUT, mayReadResult: false, startedAt: later(world) });
    } catch (error) {
      if (error instanceof HarnError && error.code === 'HARN-SUS-003' && error.data.status === 'completed') break;
      // The first record of a worker that never parked was torn: no worker yet.
      if (error instanceof HarnError && error.code === 'HARN-SUS-004' && (error.data.detail as JsonObject).reason === 'missing')
        return undefined;
      throw error;
    }
    wasClaimed = true;
    await settle(world, id);
  }
  machine.alive.delete(pid);
  const snapshot = snapshotOnDisk(machine, id);
  expect(snapshot).toMatchObject({ status: 'completed', lifecycle_state: 'done', suspension: null });
  return { messages: messagesOf(snapshot as never), wasClaimed, firstRequest: world.requests[0] };
}

/** What must hold however often and wherever processes died. */
function expectNothingLost(machine: Machine, finished: Finished | undefined, before: readonly string[]): void {
  const { messages, wasClaimed } = finished ?? { messages: [] as JsonObject[], wasClaimed: false };
  expectEffectsOnce(machine.files, machine.directory, messages, EFFECTS);
  // Nothing that was settled before a death is different after it.
  expect(messages.slice(0, before.length).map((message) => JSON.stringify(message))).toEqual(before);
  if (!wasClaimed) return;
  expect(machine.files.list(workersOf(machine)).filter((name) => name !== 'closed.index')).toEqual([`${idOnDisk(machine)}.json`]);
}

/** Whatever the dead process had last sent to the model stands at the head of the next request, byte for byte. */
function expectSameHead(dead: LoopWorld, finished: Finished | undefined): void {
  const sent = dead.requests.at(-1);
  if (sent === undefined || finished?.firstRequest === undefined) return;
  const settled = sent.filter((message) => !message.includes('<system-reminder>'));
  expect(finished.firstRequest.slice(0, settled.length)).toEqual(settled);
}

/** Tries every call in every way; @returns how many deaths there were. */
async function atEveryCall(action: (fault: Fault) => Promise<Death>): Promise<number> {
  let deaths = 0;
  for (const how of WAYS) {
    for (let at = 0; ; at++) {
      const { wasHit } = await action({ at, how });
      if (!wasHit) break;
      deaths++;
    }
  }
  return deaths;
}

describe('D3 T14 a process that dies at any change of a file', () => {
  test('in a fresh run, with its turns and its park, loses at most the turn in flight', async () => {
    const deaths = await atEveryCall(async (fault) => {
      const machine = newMachine();
      const death = await processThatDies(machine, 1, fault, (world) => world.runRoot());
      const id = idOnDisk(machine);
      const isTold = death.world.events.some((event) => event.event === 'WorkerSuspended');
      if (isTold) expect(snapshotOnDisk(machine, id ?? '')).toMatchObject({ status: 'suspended' });
      const done = await finish(machine, 2);
      if (done === undefined) expect([isTold, effectsOf(machine.files, machine.directory)]).toEqual([false, []]);
      else expectNothingLost(machine, done, []);
      expectSameHead(death.world, done);
      return death;
    });
    expect(deaths).toBeGreaterThan(60);
  }, 60_000);

  test('in a resume, the turns after it and the end, is followed by another that finishes', async () => {
    const deaths = await atEveryCall(async (fault) => {
      const machine = await parkedMachine();
      const parked = messagesOf(snapshotOnDisk(machine, machine.id) as never).map((message) => JSON.stringify(message));
      const death = await processThatDies(machine, 2, fault, async (world) => {
        await resume(world, machine.id, { input: INPUT });
        await settle(world, machine.id);
      });
      const done = await finish(machine, 3);
      expectNothingLost(machine, done, parked);
      expectSameHead(death.world, done);
      const inputs = done?.messages.filter((message) => message.role === 'user' && message.content === INPUT);
      // The operator who resumed after the crash gave the input once more, unless the first had already ended.
      expect([1, 2]).toContain(inputs?.length);
      return death;
    });
    expect(deaths).toBeGreaterThan(60);
  }, 60_000);

  for (const standing of ['parked', 'running'] as const) {
    test(`in the close of a ${standing} worker leaves it resumable or closed, never between`, async () => {
      const outcomes = new Set<string>();
      await atEveryCall(async (fault) => {
        const machine = await parkedMachine();
        let answer: JsonObject | undefined;
        const death = await processThatDies(machine, 2, fault, async (world) => {
          if (standing === 'running') await resume(world, machine.id);
          answer = await close(world, machine.id);
        });
        const next = startProcess(machine, 3);
        const outcome = await resume(next, machine.id, { mayReadResult: false, startedAt: later(next) }).then(
          () => 'resumable',
          (error: HarnError) => error.code,
        );
        outcomes.add(outcome);
        expect(['resumable', 'HARN-SUS-010']).toContain(outcome);
        if (answer !== undefined) expect([answer.status, outcome]).toEqual(['cancelled', 'HARN-SUS-010']);
        if (outcome === 'resumable') {
          await settle(next, machine.id);
          machine.alive.delete(3);
          expectNothingLost(
            machine,
            { messages: messagesOf(snapshotOnDisk(machine, machine.id) as never), wasClaimed: true, firstRequest: undefined },
            [],
          );
        }
        return death;
      });
      expect([...outcomes].sort()).toEqual(['HARN-SUS-010', 'resumable']);
    });
  }

  test('again and again, also while it recovers, still ends in one finished run', async () => {
    const fault = fc.record({ at: fc.nat({ max: 45 }), how: fc.constantFrom(...WAYS) });
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 2, maxLength: 6 }), async (faults) => {
        const machine = await parkedMachine();
        const parked = messagesOf(snapshotOnDisk(machine, machine.id) as never).map((message) => JSON.stringify(message));
        for (const [index, each] of faults.entries()) {
          await processThatDies(machine, 10 + index, each, async (world) => {
            await resume(world, machine.id, { mayReadResult: false, startedAt: later(world) });
            await settle(world, machine.id);
          });
        }
        const done = await finish(machine, 99);
        expectNothingLost(machine, done, parked);
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  test('R16 while it recovers is no damage to a contender that had looked before: it lost a race', async () => {
    // A worker that died in its turns, and what is left when the process that recovered it died before its journal.
    let dead = newMachine();
    for (let at = 12; readsJournalOf(dead) < 3; at++) {
      dead = newMachine();
      await processThatDies(dead, 1, { at, how: 'killAfter' }, (world) => world.runRoot());
    }
    const id = idOnDisk(dead) ?? '';
    const [snapshotPath, journalPath] = [join(workersOf(dead), `${id}.json`), join(workersOf(dead), `${id}.journal.jsonl`)];
    const journal = dead.files.readText(journalPath);
    const copyOfDead = (): Machine => {
      const machine = newMachine();
      machine.files.mkdir(workersOf(machine));
      machine.files.write(journalPath, journal);
      return machine;
    };
    let recovered = copyOfDead();
    for (let at = 0; !recovered.files.exists(snapshotPath) || recovered.files.exists(journalPath); at++) {
      recovered = copyOfDead();
      await processThatDies(recovered, 2, { at, how: 'killAfter' }, (world) => resume(world, id, { startedAt: later(world) }));
    }
    const snapshot = recovered.files.readText(snapshotPath);
    // The contender has read the files; what the other did comes before its own claim.
    const machine = copyOfDead();
    const disk = machine.files;
    const interfering = Object.assign(Object.create(disk) as Files, {
      ...bound(disk),
      open: (path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number) => {
        if (path.includes('.claim.') && disk.exists(journalPath)) {
          disk.write(snapshotPath, snapshot);
          disk.unlink(journalPath);
        }
        return disk.open(path, how, mode);
      },
    });
    const contender = startProcess(machine, 3, interfering);
    await expect(resume(contender, id, { startedAt: later(contender) })).rejects.toMatchObject({ code: 'HARN-SUS-006' });
    expect(disk.readText(snapshotPath)).toBe(snapshot);
    const done = await finish(machine, 4);
    expect(done?.messages.length).toBeGreaterThan(3);
  });
});

/** Records in the journal of a machine. */
function readsJournalOf(machine: Machine): number {
  const id = idOnDisk(machine);
  const path = join(workersOf(machine), `${id}.journal.jsonl`);
  return id !== undefined && machine.files.exists(path) ? machine.files.readText(path).split('\n').length - 1 : 0;
}

/** The methods of files, bound to them. */
function bound(files: Files): Files {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(files)).filter((name) => name !== 'constructor' && !name.startsWith('#'));
  const methods = files as unknown as Record<string, (...args: unknown[]) => unknown>;
  return Object.fromEntries(names.map((name) => [name, methods[name]?.bind(files)])) as unknown as Files;
}
