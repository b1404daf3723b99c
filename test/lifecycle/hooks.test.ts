import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { HookRegistry } from '../../src/lifecycle/hooks.ts';
import { createWorld } from './scratch-world.ts';
import { gatedTurns, turns } from './scripted-runner.ts';
import { outcome, resume, runRoot, spawn, suspend, workerOf } from './world.ts';

const CANARY = 'canary-7f3a';

/** A worker that parks itself in its first turn, and ends in its second. */
async function selfParked(world = createWorld()) {
  const worker = await spawn(world, `prompt ${CANARY}`, turns({ say: `said ${CANARY}`, park: { reason: 'wait' } }, { end: true }));
  await worker.settled();
  return { world, worker };
}

describe('return values of hooks', () => {
  const rows: [string, Json, string][] = [
    ['nil', null, 'allow'],
    ['true', true, 'allow'],
    ['a decision', { decision: 'ALLOW' }, 'allow'],
    ['the word', 'Allow', 'allow'],
    ['R76 false', false, 'deny blocked by hook'],
    ['R76 a block', { block: true }, 'deny blocked by hook'],
    ['R76 a block with a reason', { block: true, reason: 'busy' }, 'deny busy'],
    ['R76 a decision to deny', { decision: 'deny', reason: 'no' }, 'deny no'],
    ['R76 the word deny', 'deny', 'deny blocked by hook'],
    ['a question', { decision: 'ask' }, 'deny approval required'],
  ];
  for (const [name, value, expected] of rows) {
    it(`${name} means ${expected}`, async () => {
      const hooks = new HookRegistry();
      hooks.registerSession('PreSuspend', '*', () => ({ value }));
      const result = await hooks.runChain('pre_suspend', {});
      expect(result.control === 'deny' ? `deny ${result.reason}` : 'allow').toBe(expected);
    });
  }

  it('a shape that means nothing throws', async () => {
    for (const value of [5, { what: 1 }, 'maybe'] as Json[]) {
      const hooks = new HookRegistry();
      hooks.registerSession('pre_suspend', '*', () => ({ value }));
      await expect(hooks.runChain('pre_suspend', {})).rejects.toThrow('hook pre_suspend returned');
    }
  });

  it('a change reaches the next hook, and only where it may', async () => {
    const hooks = new HookRegistry();
    hooks.registerSession('pre_suspend', '*', () => ({ value: { modify: { reason: 'new', handle: 'other' } } }));
    const seen: JsonObject[] = [];
    hooks.registerSession('pre_suspend', '*', (payload) => {
      seen.push(payload);
      return { value: null };
    });
    await hooks.runChain('pre_suspend', { reason: 'old', handle: 'h' });
    expect(seen).toEqual([{ reason: 'new', handle: 'h' }]);
  });

  it('10.3 hooks of the manifest come first, the first refusal ends the chain', async () => {
    const hooks = new HookRegistry();
    const order: string[] = [];
    const note = (name: string, value: Json) => () => {
      order.push(name);
      return { value };
    };
    hooks.registerSession('pre_suspend', '*', note('script', false));
    hooks.registerSession('pre_suspend', '*', note('late', null));
    hooks.registerSession('pre_suspend', '*', note('manifest', null), 'manifest');
    await hooks.runChain('pre_suspend', {});
    expect(order).toEqual(['manifest', 'script']);
    hooks.clearSession();
    order.length = 0;
    await hooks.runChain('pre_suspend', {});
    expect(order).toEqual(['manifest']);
  });

  it('that have yet to be read are asked once they are there', async () => {
    const registry = new HookRegistry();
    registry.loadFirst(async () => registry.registerSession('pre_suspend', '*', () => ({ value: 'deny' }), 'manifest'));
    // Nobody may go on without them, whatever they turn out to be about.
    expect([registry.has('pre_suspend'), registry.has('pre_resume')]).toEqual([true, true]);
    expect(await registry.runChain('pre_suspend', {})).toMatchObject({ control: 'deny' });
    expect([registry.has('pre_suspend'), registry.has('pre_resume')]).toEqual([true, false]);
  });

  it('an unknown event is refused with the list of the known ones', () => {
    expect(() => new HookRegistry().registerSession('pre_nap', '*', () => ({ value: null }))).toThrow(
      /unknown hook event 'pre_nap'; expected one of pre_suspend/,
    );
    expect(() => new HookRegistry().registerWorker('WorkerNaps', '*', () => ({ value: null }))).toThrow(/WorkerSpawned/);
  });
});

describe('lifecycle hooks', () => {
  it('R77 T18 a refusal of a suspend leaves the worker running and is audited', async () => {
    const world = createWorld();
    world.lifecycle.hooks.registerSession('pre_suspend', '*', () => ({ value: { decision: 'deny', reason: 'busy' } }));
    const { live, open, arrived } = gatedTurns([{ end: true }]);
    const worker = await spawn(world, 'a', live);
    await arrived();
    expect(await suspend(world, worker, { reason: 'pause' })).toMatchObject({ status: 'running', pre_suspend_denied: 'busy' });
    open();
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
    expect(world.lifecycle.audit.take()).toMatchObject([
      { kind: 'pre_suspend_denied', payload: { handle: worker.id, reason: 'pause', initiator: 'operator', hook_reason: 'busy' } },
    ]);
  });

  it('T18 a hook that throws leaves the worker running and its error reaches the caller', async () => {
    const world = createWorld();
    world.lifecycle.hooks.registerSession('pre_suspend', '*', () => Promise.reject(new Error('hook broke')));
    const { live, open, arrived } = gatedTurns([{ end: true }]);
    const worker = await spawn(world, 'a', live);
    await arrived();
    await expect(suspend(world, worker)).rejects.toThrow('hook broke');
    open();
    expect(worker.pending).toBeUndefined();
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
  });

  it('R79 T18 a refusal of a resume leaves the worker parked, and a later one works', async () => {
    const { world, worker } = await selfParked();
    const before = readFileSync(worker.snapshotPath, 'utf8');
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: false }));
    expect(await resume(world, worker.id, { input: CANARY })).toMatchObject({ status: 'suspended', pre_resume_denied: 'blocked by hook' });
    expect(readFileSync(worker.snapshotPath, 'utf8')).toBe(before);
    expect(existsSync(`${worker.snapshotPath}.claim`)).toBe(false);
    world.lifecycle.hooks.clearSession();
    await resume(world, worker.id);
    expect(await outcome(world, worker.id)).toMatchObject({ status: 'completed' });
  });

  it('R78 R80 the hooks afterwards come after the file and the event, and cannot refuse', async () => {
    const world = createWorld();
    const log: string[] = [];
    world.lifecycle.hooks.registerWorker('WorkerSuspended', '*', () => {
      log.push('event');
      return { value: null };
    });
    world.lifecycle.hooks.registerSession('post_suspend', '*', (payload) => {
      log.push(existsSync(payload.snapshot_path as string) ? 'hook after file' : 'hook before file');
      return { value: false };
    });
    const { worker } = await selfParked(world);
    expect(log).toEqual(['event', 'hook after file']);
    expect(worker.status).toBe('suspended');
  });

  it('R81 R82 R37 are told who and why, never what was said or put in', async () => {
    const world = createWorld();
    const seen: JsonObject[] = [];
    for (const event of ['pre_suspend', 'post_suspend', 'pre_resume', 'post_resume']) {
      world.lifecycle.hooks.registerSession(event, '*', (payload) => {
        seen.push(payload);
        return { value: null };
      });
    }
    const end = await runRoot(world, `prompt ${CANARY}`, turns({ say: `said ${CANARY}`, park: { reason: 'wait' } }, { end: true }));
    if (end.kind !== 'parked') throw new Error('did not park');
    const id = (end.suspension.handle as JsonObject).id as string;
    await resume(world, id, { input: `input ${CANARY}` });
    await outcome(world, id);
    const common = [
      'event',
      'handle',
      'has_conditions',
      'has_on_event',
      'has_timeout',
      'has_trigger',
      'initiator',
      'iterations_completed',
      'reason',
      'session_id',
      'worker',
    ];
    const resumed = ['snapshot_path', 'suspended_at', 'resume_cause', 'has_input', 'continue_transcript', 'gap_ms'];
    expect(seen.map((payload) => Object.keys(payload).sort())).toEqual([
      [...common, 'requested_at'].sort(),
      [...common, 'snapshot_path', 'suspended_at', 'suspended_at_turn', 'resume_by_mechanism', 'auto_resume_trigger'].sort(),
      [...common, ...resumed].sort(),
      [...common, ...resumed, 'resumed_at'].sort(),
    ]);
    const told = JSON.stringify([seen, end.suspension, world.events, world.lifecycle.audit.snapshot(), world.warnings]);
    expect(told).not.toContain(CANARY);
    expect(readFileSync(workerOf(world, id).snapshotPath, 'utf8')).toContain(CANARY);
  });

  it('13.35 R81 are never told of a gap below zero, whatever the clocks say', async () => {
    const world = createWorld();
    world.clock.mock(Date.UTC(2026, 3, 30, 12));
    const worker = await spawn(world, 'task', turns({ park: { reason: 'wait' } }, { end: true }));
    await worker.settled();
    const gaps: unknown[] = [];
    for (const event of ['pre_resume', 'post_resume'])
      world.lifecycle.hooks.registerSession(event, '*', (payload) => {
        gaps.push(payload.gap_ms);
        return { value: null };
      });
    world.clock.mock(Date.UTC(2026, 3, 30, 11));
    await resume(world, worker.id);
    await worker.settled();
    expect(gaps).toEqual([0, 0]);
  });

  it('R82 a hook may replace the input it never sees, under the same rule', async () => {
    const { world, worker } = await selfParked();
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: { modify: { resume_input: '  ' } } }));
    await expect(resume(world, worker.id, { input: 'mine' })).rejects.toMatchObject({ code: 'HARN-SUS-009' });
    world.lifecycle.hooks.clearSession();
    world.lifecycle.hooks.registerSession('pre_resume', '*', () => ({ value: { modify: { resume_input: 'theirs' } } }));
    expect(await resume(world, worker.id, { input: 'mine' })).toMatchObject({ task: 'theirs' });
    await worker.settled();
  });

  it('T18 10.3 cannot start another transition of the same worker', async () => {
    const { world, worker } = await selfParked();
    const errors: unknown[] = [];
    world.lifecycle.hooks.registerSession('pre_resume', '*', async () => {
      await resume(world, worker.id, { isInHook: true }).catch((error: unknown) => errors.push(error));
      await suspend(world, worker, { isInHook: true }).catch((error: unknown) => errors.push(error));
      return { value: null };
    });
    await resume(world, worker.id);
    expect(errors).toMatchObject([
      { code: 'HARN-SUS-006', data: { detail: { reason: 'in_transition' } } },
      { code: 'HARN-SUS-006', data: { detail: { reason: 'in_transition' } } },
    ]);
    await worker.settled();
  });
});
