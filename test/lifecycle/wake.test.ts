import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { emitChannel } from '../../src/lifecycle/channels.ts';
import { parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import type { SpecValue } from '../../src/lifecycle/spec-value.ts';
import { spawnParked } from '../../src/lifecycle/start.ts';
import type { Worker } from '../../src/lifecycle/worker.ts';
import { FileEventLog } from '../../src/store/event-log.ts';
import { createWorld } from './scratch-world.ts';
import { messagesOf, turns } from './scripted-runner.ts';
import { close, createWorldAt, dispatcherOf, resume, start, type TestWorld } from './world.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 3, 30, 12);

/** A worker that is parked on these conditions under a frozen clock. */
async function parkedOn(
  conditions: SpecValue,
  options: { resumeBy?: unknown; world?: TestWorld } = {},
): Promise<{ world: TestWorld; worker: Worker }> {
  const world = options.world ?? createWorld();
  world.clock.mock(NOON);
  const parsed = parseResumeConditions(conditions, 'spawn_agent');
  if (parsed === undefined) throw new Error('no conditions');
  const worker = await spawnParked(world.lifecycle, start('watch', turns({ say: 'woken', end: true })), parsed, options.resumeBy);
  return { world, worker };
}

const audits = (world: TestWorld): string[] => world.lifecycle.audit.snapshot().map(({ kind }) => kind);
const texts = (worker: Worker): unknown[] => messagesOf(worker.state).map(({ role, content, cause }) => content ?? `${role}:${cause}`);

/** Lets wakes that were fired run to their end. */
async function settled(worker: Worker): Promise<void> {
  for (let i = 0; i < 200 && worker.status === 'suspended'; i++) await new Promise((resolve) => setImmediate(resolve));
  await worker.settled();
}

describe('a worker that is born parked', () => {
  it('5.8 has run no turn, and its task stays the first message', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 5 } });
    expect(worker.suspension).toMatchObject({
      reason: 'resume_when',
      initiator: 'parent',
      iterations_completed: 0,
      suspended_at_turn: null,
      suspended_at: '2026-04-30T12:00:00.000Z',
      resume_by_mechanism: 'ResumeBy.local_runtime',
    });
    await resume(world, worker.id, { input: 'now' });
    await worker.settled();
    expect(texts(worker)).toEqual(['watch', 'reminder:operator', 'now', 'woken']);
  });

  it('R42 does not exist when its trigger is refused', async () => {
    const world = createWorld({ admitTrigger: () => 'no' });
    await expect(parkedOn({ trigger: { kind: 'x', provider: 'y' } }, { world })).rejects.toMatchObject({ code: 'HARN-SUS-007' });
    expect(world.lifecycle.registry.list()).toEqual([]);
  });
});

describe('R46 a timeout', () => {
  it('resumes with a summary by default, once, and not before its time', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 5 } });
    await world.clock.advance(5 * MINUTE - 1);
    expect(worker.status).toBe('suspended');
    await world.clock.advance(1);
    await settled(worker);
    expect(worker.status).toBe('completed');
    expect(texts(worker)).toEqual(['summary', 'reminder:timeout', 'woken']);
    expect(audits(world)).toContain('auto_resume_expired');
  });

  it('can resume with an input that says so', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 1, on_timeout: 'resume_with_input' } });
    await world.clock.advance(MINUTE);
    await settled(worker);
    expect(JSON.parse(worker.record.task)).toEqual({
      on_timeout: 'resume_with_input',
      trigger_id: null,
      type: 'auto_resume.timeout',
      worker_id: worker.id,
    });
    expect(texts(worker)[0]).toBe('watch');
  });

  it('can fail the worker, which is then done', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 1, on_timeout: 'fail' } });
    await world.clock.advance(MINUTE);
    await settled(worker);
    expect(worker.record).toMatchObject({ status: 'failed', lifecycle_state: 'done', latest_error: 'auto-resume timeout expired' });
    await expect(resume(world, worker.id)).rejects.toMatchObject({ code: 'HARN-SUS-003' });
    expect(world.runner.activations).toEqual([]);
  });

  it('T19 of weeks and years fires at its time', async () => {
    for (const minutes of [35_791, 35_792, 43_200, 525_600]) {
      const { world, worker } = await parkedOn({ timeout: { duration_minutes: minutes } });
      await world.clock.advance(minutes * MINUTE - 1);
      expect(worker.status).toBe('suspended');
      await world.clock.advance(1);
      await settled(worker);
      expect(worker.status).toBe('completed');
    }
  });

  it('13.15 is armed whoever owns the wake; trigger and topic are not', async () => {
    const owner = async (): Promise<JsonObject> => ({ handled: true, mechanism: 'mine' });
    const { world, worker } = await parkedOn(
      { timeout: { duration_minutes: 1 }, on_event: 'a.b', trigger: { kind: 'x', provider: 'y' } },
      { resumeBy: owner },
    );
    expect(worker.record).toMatchObject({ armed: { trigger: false, on_event: null, deadline_at: '2026-04-30T12:01:00.000Z' } });
    expect(worker.suspension).toMatchObject({ resume_by_mechanism: 'mine', auto_resume_trigger: null });
    expect(world.lifecycle.triggers.list()).toEqual([]);
    await world.clock.advance(MINUTE);
    await settled(worker);
    expect(worker.status).toBe('completed');
  });
});

describe('R41 R60 a trigger', () => {
  for (const provider of ['github', 'slack', 'webhook', 'my-own']) {
    it(`of ${provider} wakes with the payload as input`, async () => {
      const { world, worker } = await parkedOn({ trigger: { kind: 'done', provider } });
      const id = worker.suspension?.auto_resume_trigger?.id ?? '';
      expect(id).toMatch(new RegExp(`^auto_resume_${worker.id}_`));
      expect(world.lifecycle.triggers.find(id)).toMatchObject({ kind: 'auto_resume', handlerKind: 'auto_resume', state: 'active' });
      const [result] = await dispatcherOf(world).publish({ provider, kind: 'done', payload: { n: 1 } });
      expect(result).toMatchObject({ status: 'dispatched', result: { status: 'resumed', worker_id: worker.id } });
      await settled(worker);
      expect(worker.record.task).toBe('{"n":1}');
      expect(world.lifecycle.triggers.find(id)?.state).toBe('terminated');
    });
  }

  it('of another kind does not wake', async () => {
    const { world, worker } = await parkedOn({ trigger: { kind: 'done', provider: 'github' } });
    expect(await dispatcherOf(world).publish({ provider: 'github', kind: 'opened' })).toEqual([]);
    expect(worker.status).toBe('suspended');
  });

  it('on a channel wakes', async () => {
    const { world, worker } = await parkedOn({
      trigger: { kind: 'channel.emit', provider: 'channel', match: { events: ['channel:tenant:default:news'] } },
    });
    const place = { sessionId: undefined, pipelineId: undefined, tenantId: 'default' };
    const receipt = await emitChannel(world.lifecycle, dispatcherOf(world), 'news', 'hello', place, { id: 'one' });
    expect(receipt).toMatchObject({ name_resolved: 'tenant:default:news', duplicate: false });
    await settled(worker);
    expect(worker.record.task).toBe('"hello"');
    expect(await emitChannel(world.lifecycle, dispatcherOf(world), 'news', 'hello', place, { id: 'one' })).toMatchObject({
      duplicate: true,
    });
  });

  it('by schedule wakes at its first tick', async () => {
    const { world, worker } = await parkedOn({ trigger: { kind: 'tick', provider: 'cron', schedule: '30 13 * * *', timezone: 'UTC' } });
    await world.clock.advance(90 * MINUTE - 1);
    expect(worker.status).toBe('suspended');
    await world.clock.advance(1);
    await settled(worker);
    expect(worker.status).toBe('completed');
  });

  it('whose schedule never comes is HARN-SUS-007', async () => {
    await expect(parkedOn({ trigger: { kind: 'tick', provider: 'cron', schedule: '0 0 30 2 *' } })).rejects.toMatchObject({
      code: 'HARN-SUS-007',
    });
  });
});

describe('R47 a topic', () => {
  const append = (world: TestWorld, payload: JsonObject): void => {
    world.lifecycle.eventLog.append({ topic: 'ci.done', kind: 'k', payload, headers: {}, occurredAt: NOON });
  };

  it('wakes with the first record after the park, not with earlier ones', async () => {
    const world = createWorld();
    append(world, { n: 0 });
    const { worker } = await parkedOn({ on_event: 'ci.done' }, { world });
    expect(worker.status).toBe('suspended');
    append(world, { n: 1 });
    append(world, { n: 2 });
    await settled(worker);
    expect(worker.record.history).toEqual(['watch', '{"n":1}']);
  });

  it('wakes when another process appends to the log, without anybody looking', async () => {
    const world = createWorld();
    const { files } = world.lifecycle.platform;
    const events = join(world.directory, 'events');
    const shared = createWorldAt(world.directory, { eventLog: new FileEventLog(files, events) });
    const { worker } = await parkedOn({ on_event: 'ci.done' }, { world: shared });
    new FileEventLog(files, events).append({ topic: 'ci.done', kind: 'k', payload: { n: 1 }, headers: {}, occurredAt: NOON });
    await worker.changed();
    await settled(worker);
    expect(worker.record.task).toBe('{"n":1}');
  });

  it('T07 wakes also when the record comes while the owner is asked', async () => {
    const world = createWorld();
    const owner = async (suspension: JsonObject): Promise<JsonObject> => {
      append(world, { n: 1 });
      return world.lifecycle.owners.preset('local_runtime', suspension);
    };
    const { worker } = await parkedOn({ on_event: 'ci.done' }, { world, resumeBy: owner });
    await settled(worker);
    expect(worker.record.task).toBe('{"n":1}');
  });
});

describe('T20 T35 a wake that the disk refuses', () => {
  // Everything is refused at the claim; a journal only when what was armed has been disarmed already.
  const rows: [what: string, conditions: SpecValue, dueMs: number, status: string, refused?: string][] = [
    ['T20 T35 a timeout', { timeout: { duration_minutes: 1 } }, MINUTE, 'completed'],
    ['T20 T35 a timeout that fails the worker', { timeout: { duration_minutes: 1, on_timeout: 'fail' } }, MINUTE, 'failed'],
    ['T20 T35 a record of a topic', { on_event: 'ci.done' }, 0, 'completed'],
    ['T20 T35 a timeout without a journal', { timeout: { duration_minutes: 1 } }, MINUTE, 'completed', '.journal.jsonl'],
    ['T20 T35 a record of a topic without a journal', { on_event: 'ci.done' }, 0, 'completed', '.journal.jsonl'],
  ];
  it.each(rows)('%s is tried again every half minute, and once the disk takes it', async (_what, conditions, dueMs, status, what = '') => {
    const { world, worker } = await parkedOn(conditions);
    const { files } = world.lifecycle.platform;
    const original = files.open.bind(files);
    let refused = 0;
    files.open = (path, ...how) => {
      if (!path.endsWith(what)) return original(path, ...how);
      refused++;
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    world.lifecycle.eventLog.append({ topic: 'ci.done', kind: 'k', payload: { n: 1 }, headers: {}, occurredAt: NOON });
    await world.clock.advance(dueMs);
    for (let tries = 1; tries < 4; tries++) {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      expect([worker.status, world.warnings.length, refused > 0]).toEqual(['suspended', tries, true]);
      if (tries === 3) files.open = original;
      await world.clock.advance(30_000);
    }
    await settled(worker);
    expect(worker.status).toBe(status);
    expect(world.warnings).toHaveLength(3);
  });
});

describe('T06 several wakes at once', () => {
  it('have one winner, and nothing of the suspension stays armed', async () => {
    const { world, worker } = await parkedOn({
      timeout: { duration_minutes: 1 },
      on_event: 'ci.done',
      trigger: { kind: 'done', provider: 'github' },
    });
    const fired = [
      dispatcherOf(world).publish({ provider: 'github', kind: 'done', payload: { from: 'trigger' } }),
      resume(world, worker.id).catch(() => undefined),
      world.clock.advance(MINUTE),
    ];
    world.lifecycle.eventLog.append({ topic: 'ci.done', kind: 'k', payload: {}, headers: {}, occurredAt: NOON });
    await Promise.all(fired);
    await settled(worker);
    expect(world.runner.activations).toHaveLength(1);
    expect(texts(worker).filter((text) => String(text).startsWith('reminder:'))).toHaveLength(1);
    expect(world.lifecycle.waker.size).toBe(0);
    expect(world.lifecycle.triggers.list().every((binding) => binding.state === 'terminated')).toBe(true);
  });

  it('R50 an open park waits for an explicit resume only', async () => {
    const { world, worker } = await parkedOn({});
    await world.clock.advance(10 * 525_600 * MINUTE);
    world.lifecycle.eventLog.append({ topic: 'ci.done', kind: 'k', payload: {}, headers: {}, occurredAt: NOON });
    expect(worker.status).toBe('suspended');
    expect(worker.suspension).toMatchObject({ conditions: null, resume_by_mechanism: 'ResumeBy.parent_llm' });
  });

  it('a closed worker is woken by nothing', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 1 }, trigger: { kind: 'done', provider: 'github' } });
    await close(world, worker.id);
    expect(await dispatcherOf(world).publish({ provider: 'github', kind: 'done' })).toEqual([]);
    await world.clock.advance(MINUTE);
    expect(worker.status).toBe('cancelled');
    expect(world.runner.activations).toEqual([]);
  });
});

describe('the resume owner', () => {
  const decline = async (): Promise<JsonObject> => ({ handled: false, mechanism: 'mine', reason: 'busy' });
  const rows: [string, unknown, string, string[]][] = [
    ['R67 that declines', decline, 'ResumeBy.parent_llm', ['resume_by_declined', 'resume_by_fallback', 'resume_by_dispatched']],
    [
      'R67 that throws',
      () => Promise.reject(new Error('boom')),
      'ResumeBy.parent_llm',
      ['resume_by_errored', 'resume_by_fallback', 'resume_by_dispatched'],
    ],
    [
      '13.60 that gives nothing',
      async () => null,
      'ResumeBy.parent_llm',
      ['resume_by_declined', 'resume_by_fallback', 'resume_by_dispatched'],
    ],
    ['R57 that handles', async () => ({ handled: true, mechanism: 'mine' }), 'mine', ['resume_by_dispatched']],
    ['R64 by default with conditions', undefined, 'ResumeBy.local_runtime', ['resume_by_dispatched']],
  ];
  for (const [name, resumeBy, mechanism, kinds] of rows) {
    it(`${name} leaves ${mechanism} responsible`, async () => {
      const { world, worker } = await parkedOn({ on_event: 'a.b' }, { resumeBy });
      expect(worker.suspension?.resume_by_mechanism).toBe(mechanism);
      expect(audits(world).filter((kind) => kind.startsWith('resume_by'))).toEqual(kinds);
    });
  }

  it('R66 asks in order and audits who declined', async () => {
    const world = createWorld();
    const owner = (suspension: JsonObject) =>
      world.lifecycle.owners.firstHandled(
        [
          decline,
          (value) => world.lifecycle.owners.preset('cloud_harness', value),
          (value) => world.lifecycle.owners.preset('pipeline_drain', value),
        ],
        suspension,
      );
    const { worker } = await parkedOn({ on_event: 'a.b' }, { world, resumeBy: owner });
    expect(worker.suspension?.resume_by_mechanism).toBe('ResumeBy.pipeline_drain');
    expect(world.lifecycle.audit.take().map(({ kind, payload }) => [kind, (payload as JsonObject).mechanism])).toEqual([
      ['resume_by_declined', 'mine'],
      ['resume_by_declined', 'ResumeBy.cloud_harness'],
      ['resume_by_dispatched', 'ResumeBy.pipeline_drain'],
    ]);
  });

  it('R60 local_runtime declines without conditions, with the exact dict', async () => {
    const world = createWorld();
    expect(await world.lifecycle.owners.preset('local_runtime', { handle: 'x', conditions: {} })).toEqual({
      handled: false,
      mechanism: 'ResumeBy.local_runtime',
      reason: 'no_conditions',
    });
  });

  it('R64 with a cloud session asks the receiver first, and this process when it declines', async () => {
    for (const [answer, mechanism] of [
      [true, 'ResumeBy.cloud_harness'],
      [false, 'ResumeBy.local_runtime'],
    ] as const) {
      const sent: JsonObject[] = [];
      const cloud = {
        sessionId: 'cloud-1',
        register: async (ref: { suspension: JsonObject }) => {
          sent.push(ref.suspension);
          return answer;
        },
      };
      const { worker } = await parkedOn({ on_event: 'a.b' }, { world: createWorld({ cloud }) });
      expect(sent).toHaveLength(1);
      expect(worker.suspension?.resume_by_mechanism).toBe(mechanism);
    }
  });
});

describe('R46 R79 a timeout that a hook refuses', () => {
  it('gets its whole time once more, and no more', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 5 } });
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: false }));
    const denials = (): number => audits(world).filter((kind) => kind === 'pre_resume_denied').length;
    const counts: number[] = [];
    for (const ms of [5 * MINUTE, 5 * MINUTE - 1, 1, 60 * MINUTE]) {
      await world.clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      counts.push(denials());
    }
    expect(counts).toEqual([1, 1, 2, 2]);
    expect(worker.status).toBe('suspended');
  });
});

describe('9.7 after a restart', () => {
  it('T20 a denied cold resume arms the timeout at its old instant', async () => {
    const { world, worker } = await parkedOn({ timeout: { duration_minutes: 30 } });
    const later = createWorld({ directory: world.directory, live: turns({ say: 'woken', end: true }) });
    later.clock.mock(NOON + 10 * MINUTE);
    later.lifecycle.hooks.registerSession('pre_resume', '*', (payload) => ({ value: payload.resume_cause === 'operator' ? false : null }));
    expect(await resume(later, worker.snapshotPath)).toMatchObject({ status: 'suspended', pre_resume_denied: 'blocked by hook' });
    await later.clock.advance(20 * MINUTE - 1);
    const again = later.lifecycle.registry.get(worker.id);
    expect(again?.status).toBe('suspended');
    await later.clock.advance(1);
    await settled(again as Worker);
    expect(again?.status).toBe('completed');
  });
});
