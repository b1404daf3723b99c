import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ResumeByCallback } from '../../src/lifecycle/resume-by.ts';
import { parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import { spawnParked } from '../../src/lifecycle/start.ts';
import { FakeClock } from '../../src/platform/fake-clock.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import type { Clock } from '../../src/platform/platform.ts';
import { testPlatform } from '../store/test-platform.ts';
import { turns } from './scripted-runner.ts';
import { createWorldAt, start, type TestWorld, type WorldOptions } from './world.ts';

/** Whoever is asked, and whatever comes of it, each suspension has exactly one owner (spec/agents.md chapter 8). */
const FALLBACK = 'ResumeBy.parent_llm';

function memoryWorld(options: WorldOptions = {}): TestWorld {
  return createWorldAt('/project', { platform: { files: new FakeFiles() }, ...options });
}

async function parkWith(world: TestWorld, resumeBy: ResumeByCallback | undefined, conditions: JsonObject): Promise<string | null> {
  const parsed = parseResumeConditions(conditions, 'spawn_agent');
  if (parsed === undefined) throw new Error('no conditions');
  const worker = await spawnParked(world.lifecycle, start('watch', turns({ end: true })), parsed, resumeBy);
  return worker.suspension?.resume_by_mechanism ?? null;
}

const audited = (world: TestWorld): JsonObject[] =>
  world.lifecycle.audit
    .take()
    .filter(({ kind }) => kind.startsWith('resume_by_'))
    .map(({ kind, payload }) => ({ kind, ...(payload as JsonObject) }));

type Answer =
  | 'handles'
  | 'declines'
  | 'throws'
  | 'nil'
  | 'no name'
  | 'text'
  | 'parent_llm'
  | 'local_runtime'
  | 'cloud_harness'
  | 'pipeline_drain';
const ANSWERS: readonly Answer[] = [
  'handles', 'declines', 'throws', 'nil', 'no name', 'text', 'parent_llm', 'local_runtime', 'cloud_harness', 'pipeline_drain',
]; // biome-ignore format: a list to be scanned

function owner(world: TestWorld, answer: Answer): ResumeByCallback {
  return (suspension) => {
    switch (answer) {
      case 'handles':
        return { handled: true, mechanism: 'mine' };
      case 'declines':
        return { handled: false, mechanism: 'mine', reason: 'busy' };
      case 'throws':
        throw new Error('no one home');
      case 'nil':
        return null;
      case 'no name':
        return { handled: true, mechanism: '' };
      case 'text':
        return 'yes';
      default:
        return world.lifecycle.owners.preset(answer, suspension);
    }
  };
}

describe('R56 any owner', () => {
  it('leaves one resume_by_dispatched for each suspension, which names the owner in the snapshot', async () => {
    const park = fc.record({
      asked: fc.array(fc.constantFrom(...ANSWERS), { maxLength: 4 }),
      isComposed: fc.boolean(),
      conditions: fc.constantFrom<JsonObject>({}, { on_event: 'a.b' }, { timeout: { duration_minutes: 5 } }),
    });
    await fc.assert(
      fc.asyncProperty(park, async ({ asked, isComposed, conditions }) => {
        const world = memoryWorld();
        const owners = asked.map((answer) => owner(world, answer));
        const composed: ResumeByCallback = (suspension) => world.lifecycle.owners.firstHandled(owners, suspension);
        const mechanism = await parkWith(world, isComposed ? composed : owners[0], conditions);
        const dispatched = audited(world).filter(({ kind }) => kind === 'resume_by_dispatched');
        expect(dispatched.map((record) => record.mechanism)).toEqual([mechanism]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('T46 an owner that does not take it', () => {
  const DISPATCHED = ['resume_by_fallback', 'resume_by_dispatched'];
  const rows: [rule: string, answer: Answer, kinds: string[]][] = [
    ['T46 R67 declines', 'declines', ['resume_by_declined', ...DISPATCHED]],
    ['T46 R67 throws', 'throws', ['resume_by_errored', ...DISPATCHED]],
    ['T46 gives nothing', 'nil', ['resume_by_declined', ...DISPATCHED]],
    ['T46 takes it without a name', 'no name', ['resume_by_declined', ...DISPATCHED]],
    ['T46 gives another shape', 'text', ['resume_by_declined', ...DISPATCHED]],
    ['T46 is a receiver without a session', 'cloud_harness', ['resume_by_declined', ...DISPATCHED]],
    ['T46 is this process, without conditions', 'local_runtime', ['resume_by_declined', ...DISPATCHED]],
  ];
  it.each(rows)('%s, and the parent is responsible', async (_rule, answer, kinds) => {
    const world = memoryWorld();
    expect(await parkWith(world, owner(world, answer), {})).toBe(FALLBACK);
    const records = audited(world);
    expect(records.map(({ kind }) => kind)).toEqual(kinds);
    expect(records.at(-1)).toMatchObject({ mechanism: FALLBACK, reason: 'resume_when' });
  });

  it('T46 hangs: after thirty seconds the parent is responsible', async () => {
    const clock = new FakeClock();
    const holds: unknown[] = [];
    // A limit that does not keep the process alive would never be reached when nothing else is pending.
    const timer: Clock['timer'] = (ms, callback, hold = 'ref') => {
      if (ms === 30_000) holds.push(hold);
      return FakeClock.prototype.timer.call(clock, ms, callback);
    };
    clock.timer = timer;
    const world = memoryWorld({ realClock: clock, platform: { files: new FakeFiles(), clock: testPlatform().clock } });
    const parked = parkWith(world, () => new Promise(() => undefined), { on_event: 'a.b' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(holds).toEqual(['ref']);
    await clock.advance(29_999);
    expect(audited(world)).toEqual([]);
    await clock.advance(1);
    expect(await parked).toBe(FALLBACK);
    expect(audited(world)).toMatchObject([
      { kind: 'resume_by_errored', error: 'resume_by did not settle within 30 seconds' },
      { kind: 'resume_by_fallback', mechanism: FALLBACK },
      { kind: 'resume_by_dispatched', mechanism: FALLBACK },
    ]);
  });
});
