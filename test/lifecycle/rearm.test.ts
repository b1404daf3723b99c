import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listWorkers } from '../../src/lifecycle/list-workers.ts';
import { rearmParked } from '../../src/lifecycle/rearm.ts';
import { parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import { Opaque, type SpecValue } from '../../src/lifecycle/spec-value.ts';
import { spawnParked } from '../../src/lifecycle/start.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { createWorld } from './scratch-world.ts';
import { turns } from './scripted-runner.ts';
import { resume, start, type TestWorld } from './world.ts';

const NOON = Date.UTC(2026, 3, 30, 12);
const MINUTE = 60_000;
const live = turns({ say: 'woken', end: true });

async function parked(conditions: SpecValue): Promise<{ directory: string; id: string; snapshot: string; waiters: string }> {
  const world = createWorld();
  world.clock.mock(NOON);
  const parsed = parseResumeConditions(conditions, 'spawn_agent');
  if (parsed === undefined) throw new Error('no conditions');
  const worker = await spawnParked(world.lifecycle, start('watch', live), parsed, undefined);
  return {
    directory: world.directory,
    id: worker.id,
    snapshot: worker.snapshotPath,
    waiters: join(world.directory, '.harn', 'waiters.jsonl'),
  };
}

function host(directory: string, at: number): TestWorld {
  const world = createWorld({ directory, live });
  world.clock.mock(at);
  return world;
}

/** The status in the file, once one of these hosts has told of the worker's end. */
async function statusAfterEnd(snapshot: string, ...hosts: readonly TestWorld[]): Promise<string> {
  await Promise.race(hosts.map((each) => each.told('WorkerCompleted', 'WorkerFailed')));
  return readSnapshot(testPlatform(), snapshot).snapshot.status;
}

describe('a host that starts again', () => {
  it('T46: attends what it armed, for everybody who lists the workers', async () => {
    const { directory, waiters } = await parked({ timeout: { duration_minutes: 30 } });
    const gone = readFileSync(waiters, 'utf8').replace(/"pid":\d+/, '"pid":4194303');
    writeFileSync(waiters, gone);
    const next = host(directory, NOON + MINUTE);
    const attendance = async () => {
      const [row] = await listWorkers(next.lifecycle.platform, next.lifecycle.locations);
      return row?.kind === 'worker' ? row.suspension?.attendance : row?.problem;
    };
    expect(await attendance()).toBe('unattended');
    await rearmParked(next.lifecycle);
    expect(await attendance()).toBe('attended');
  });

  it('T20 fires a timeout at its instant, however often it was restarted', async () => {
    const { directory, snapshot } = await parked({ timeout: { duration_minutes: 30 } });
    for (const minutes of [5, 10, 29]) expect(await rearmParked(host(directory, NOON + minutes * MINUTE).lifecycle)).toBe(1);
    for (let restart = 0; restart < 20; restart++)
      await rearmParked(host(directory, NOON + 30 * MINUTE - 1000 + 50 * restart - 1).lifecycle);
    const last = host(directory, NOON + 30 * MINUTE - 1);
    await rearmParked(last.lifecycle);
    expect(last.runner.activations).toEqual([]);
    await last.clock.advance(1);
    expect(await statusAfterEnd(snapshot, last)).toBe('completed');
    expect(last.runner.activations).toHaveLength(1);
  });

  it('T20 fires what is overdue at once, and once when two hosts share the directory', async () => {
    const { directory, snapshot } = await parked({ timeout: { duration_minutes: 30 } });
    const hosts = [host(directory, NOON + 45 * MINUTE), host(directory, NOON + 45 * MINUTE)];
    for (const each of hosts) await rearmParked(each.lifecycle);
    for (const each of hosts) await each.clock.advance(0);
    expect(await statusAfterEnd(snapshot, ...hosts)).toBe('completed');
    expect(hosts.flatMap((each) => each.runner.activations)).toHaveLength(1);
  });

  it('can fail a worker that it never loaded', async () => {
    const { directory, snapshot } = await parked({ timeout: { duration_minutes: 1, on_timeout: 'fail' } });
    const later = host(directory, NOON + 2 * MINUTE);
    await rearmParked(later.lifecycle);
    await later.clock.advance(0);
    expect(await statusAfterEnd(snapshot, later)).toBe('failed');
  });

  for (const damage of ['missing', 'damaged'] as const) {
    it(`builds the index again from the heads of the snapshots when it is ${damage}`, async () => {
      const { directory, waiters, id } = await parked({ on_event: 'ci.done', timeout: { duration_minutes: 5 } });
      const before = readFileSync(waiters, 'utf8');
      if (damage === 'missing') unlinkSync(waiters);
      else writeFileSync(waiters, 'garbage\n{}\n');
      expect(await rearmParked(host(directory, NOON).lifecycle)).toBe(1);
      expect(JSON.parse(readFileSync(waiters, 'utf8'))).toEqual(JSON.parse(before));
      expect(before).toContain(id);
      expect(before.length).toBeLessThan(1024);
    });
  }

  it('keeps what other processes append while it writes the index anew', async () => {
    const { directory, waiters } = await parked({ timeout: { duration_minutes: 5 } });
    const line = readFileSync(waiters, 'utf8');
    const late = line.replaceAll(/(worker|susp)_[0-9a-f-]+/g, '$1_00000000-0000-7000-8000-000000000001');
    // Much of it is over, so that it is written anew.
    appendFileSync(waiters, `${JSON.stringify({ worker_id: 'worker_0', suspension_id: 'susp_0', gone: true })}\n`);
    const { files } = testPlatform();
    // Opened before the index is replaced, written afterwards.
    const descriptor = openSync(waiters, 'a');
    const racing = new Proxy(files, {
      get: (target, key) => {
        if (key !== 'rename') return Reflect.get(target, key).bind(target);
        return (from: string, to: string) => {
          target.rename(from, to);
          if (to === waiters) writeSync(descriptor, late);
        };
      },
    });
    const first = createWorld({ directory, live, platform: { files: racing } });
    first.clock.mock(NOON);
    expect(await rearmParked(first.lifecycle)).toBe(2);
    closeSync(descriptor);
    expect(await rearmParked(host(directory, NOON).lifecycle)).toBe(2);
    expect(readdirSync(join(directory, '.harn')).filter((name) => name.startsWith('waiters'))).toEqual(['waiters.jsonl']);
  });

  it('takes in what a killed rewrite of the index left behind', async () => {
    const { directory, waiters } = await parked({ timeout: { duration_minutes: 5 } });
    renameSync(waiters, `${waiters}.old`);
    writeFileSync(waiters, '');
    expect(await rearmParked(host(directory, NOON).lifecycle)).toBe(1);
    expect(existsSync(`${waiters}.old`)).toBe(false);
  });

  it('does not wait for what was resumed', async () => {
    const { directory, id, waiters } = await parked({ timeout: { duration_minutes: 5 } });
    const other = host(directory, NOON);
    await resume(other, id);
    await other.lifecycle.registry.get(id)?.settled();
    expect(existsSync(waiters)).toBe(true);
    const later = host(directory, NOON + 6 * MINUTE);
    expect(await rearmParked(later.lifecycle)).toBe(0);
    await later.clock.advance(0);
    expect(later.runner.activations).toEqual([]);
  });

  it('leaves alone what this process parked itself', async () => {
    const world = createWorld({ live });
    world.clock.mock(NOON);
    const parsed = parseResumeConditions({ timeout: { duration_minutes: 5 } }, 'spawn_agent');
    const worker = await spawnParked(world.lifecycle, start('watch', live), parsed as NonNullable<typeof parsed>, undefined);
    expect(await rearmParked(world.lifecycle)).toBe(1);
    await world.clock.advance(5 * MINUTE);
    expect(await statusAfterEnd(worker.snapshotPath, world)).toBe('completed');
    expect(world.lifecycle.audit.snapshot().map(({ kind }) => kind)).not.toContain('auto_resume_lost');
  });

  it('9.7 does not arm a trigger whose predicate it cannot have', async () => {
    const { directory } = await parked({
      trigger: { kind: 'x', provider: 'y', when: new Opaque('closure', () => true) },
      timeout: { duration_minutes: 5 },
    });
    const later = host(directory, NOON);
    expect(await rearmParked(later.lifecycle)).toBe(1);
    expect(later.lifecycle.triggers.list()).toEqual([]);
    expect(later.lifecycle.audit.take()).toMatchObject([{ kind: 'auto_resume_lost', payload: { cause: 'unbound_closure' } }]);
  });
});
