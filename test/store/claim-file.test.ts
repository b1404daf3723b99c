import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderInstant } from '../../src/base/instant.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import {
  acquireClaim,
  type Claim,
  type ClaimRecord,
  type ClaimWorld,
  LEASE_MS,
  readClaim,
  readLiveClaim,
} from '../../src/store/claim-file.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const DEAD_PID = 2 ** 22 + 12345;
const NOW = Date.UTC(2026, 3, 30);

interface TestWorld extends ClaimWorld {
  now: number;
  beats: (() => void)[];
}

function world(): TestWorld {
  const platform = testPlatform();
  const created: TestWorld = {
    ...platform,
    now: NOW,
    beats: [],
    processes: {
      run: platform.processes.run,
      pid: process.pid,
      startedAt: 0,
      onSignal: () => () => undefined,
      exit: () => undefined,
      bootId: () => 'boot-1',
      isAlive: (pid) => pid === process.pid,
    },
    realClock: {
      ...platform.clock,
      now: () => created.now,
      timer: (_ms: number, beat: () => void) => {
        created.beats.push(beat);
        return () => undefined;
      },
    } as ClaimWorld['realClock'],
  };
  return created;
}

function won(attempt: ReturnType<typeof acquireClaim>): Claim {
  if (attempt.kind !== 'won') throw new Error('the claim was not won');
  return attempt.claim;
}

const facts = { suspensionId: 'susp_x', generation: 2 };

describe('a claim', () => {
  it('is exclusive until it is released', () => {
    const path = join(scratchDirectory(), 'worker_x.json.claim');
    const first = won(acquireClaim(world(), path, facts));
    expect(first.isHeld()).toBe(true);
    expect(acquireClaim(world(), path, facts)).toMatchObject({ kind: 'held', by: { token: first.token, generation: 2 } });
    first.release();
    first.release();
    expect(acquireClaim(world(), path, facts).kind).toBe('won');
  });

  it('R16 that is given back while another process looks at it stays with whoever takes it next', () => {
    const path = join(scratchDirectory(), 'worker_x.json.claim');
    const first = won(acquireClaim(world(), path, facts));
    let quicker: Claim | undefined;
    const late = world();
    const files = late.files;
    const unlinked: string[] = [];
    const attempt = acquireClaim(
      {
        ...late,
        files: Object.assign(Object.create(files) as typeof files, {
          readText: (name: string) => {
            first.release();
            try {
              return files.readText(name);
            } finally {
              quicker ??= won(acquireClaim(world(), path, facts));
            }
          },
          unlink: (name: string) => {
            unlinked.push(name);
            files.unlink(name);
          },
        }),
      },
      path,
      facts,
    );
    expect(attempt).toMatchObject({ kind: 'held', by: { token: quicker?.token } });
    expect(quicker?.isHeld()).toBe(true);
    expect(unlinked).not.toContain(path);
  });

  it('holds the facts of its owner and leaves no other file', () => {
    const directory = scratchDirectory();
    const path = join(directory, 'worker_x.json.claim');
    won(acquireClaim(world(), path, facts));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      suspension_id: 'susp_x',
      pid: process.pid,
      boot_id: 'boot-1',
      generation: 2,
    });
    expect(readdirSync(directory)).toEqual(['worker_x.json.claim']);
  });

  it('shows its latest heartbeat', () => {
    const path = join(scratchDirectory(), 'c.claim');
    const w = world();
    won(acquireClaim(w, path, facts));
    w.now += 10_000;
    w.beats[0]?.();
    expect(readClaim(w.files, path)?.heartbeat_at).toBe(renderInstant(NOW + 10_000));
  });

  const owner: ClaimRecord = {
    token: 'old-token',
    suspension_id: 'susp_x',
    pid: process.pid,
    host: testPlatform().system.hostname,
    boot_id: 'boot-1',
    generation: 1,
    claimed_at: renderInstant(NOW),
    heartbeat_at: renderInstant(NOW),
  };
  const lapsed = renderInstant(NOW - LEASE_MS - 1);
  const rows: [string, Partial<ClaimRecord>, 'won' | 'held'][] = [
    ['a live process of this host', {}, 'held'],
    ['a dead process of this host', { pid: DEAD_PID }, 'won'],
    ['an earlier boot of this host', { boot_id: 'boot-0' }, 'won'],
    ['another host that is heard from', { host: 'elsewhere', pid: DEAD_PID }, 'held'],
    ['another host that has been silent for a lease', { host: 'elsewhere', heartbeat_at: lapsed }, 'won'],
    ['a pid that lives on but has been silent for a lease', { heartbeat_at: lapsed }, 'won'],
  ];
  for (const [name, changes, outcome] of rows) {
    it(`T04 of ${name} is ${outcome === 'won' ? 'taken over' : 'respected'}`, () => {
      const directory = scratchDirectory();
      const path = join(directory, 'c.claim');
      writeFileSync(path, JSON.stringify({ ...owner, ...changes }, null, 2));
      expect(acquireClaim(world(), path, facts).kind).toBe(outcome);
      expect(readdirSync(directory)).toEqual(['c.claim']);
    });
  }

  it.each([
    ['respected until a lease has passed', 0, 'held'],
    ['taken over when it is older than a lease', LEASE_MS + 1, 'won'],
  ] as const)('that nobody can read is %s', (_rule, ageMs, outcome) => {
    const path = join(scratchDirectory(), 'c.claim');
    writeFileSync(path, '{"token":');
    utimesSync(path, NOW / 1000, NOW / 1000);
    const w = world();
    w.now += ageMs;
    expect(acquireClaim(w, path, facts).kind).toBe(outcome);
  });

  it('of an owner that is heard again before it is removed stays', () => {
    const path = join(scratchDirectory(), 'c.claim');
    const silent = world();
    const first = won(acquireClaim(silent, path, facts));
    const thief = world();
    thief.now = NOW + LEASE_MS + 1;
    silent.now = thief.now;
    const { files } = thief;
    const open = (name: string, ...how: [Parameters<typeof files.open>[1], number?]) => {
      // The first thing a thief does after its look is to ask for the right to remove the claim.
      if (name.includes('.stale.')) silent.beats[0]?.();
      return files.open(name, ...how);
    };
    const attempt = acquireClaim({ ...thief, files: Object.assign(Object.create(files) as typeof files, { open }) }, path, facts);
    expect(attempt).toMatchObject({ kind: 'held', by: { token: first.token } });
    expect(first.isHeld()).toBe(true);
  });

  it('is flushed before anybody can see it', () => {
    const path = join(scratchDirectory(), 'c.claim');
    const files = new FaultyFiles(testPlatform().files);
    won(acquireClaim({ ...world(), files }, path, facts));
    const calls = files.calls.map((call) => call.split(' ')[0]);
    expect(calls.slice(0, 4)).toEqual(['open', 'handle.write', 'handle.sync', 'link']);
  });

  it('that the disk will not remove keeps nobody out', () => {
    const path = join(scratchDirectory(), 'c.claim');
    const w = world();
    const stuck = Object.assign(Object.create(w.files) as typeof w.files, {
      unlink: (name: string) => {
        if (name === path) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
        w.files.unlink(name);
      },
    });
    won(acquireClaim({ ...w, files: stuck }, path, facts)).release();
    expect(acquireClaim(world(), path, facts).kind).toBe('won');
  });

  it('T05 an owner that was robbed neither beats into the new claim nor removes it', () => {
    const path = join(scratchDirectory(), 'c.claim');
    const zombie = world();
    const first = won(acquireClaim(zombie, path, facts));
    const later = world();
    later.now = NOW + LEASE_MS + 1;
    const second = won(acquireClaim(later, path, { ...facts, generation: 3 }));
    zombie.beats[0]?.();
    expect(first.isHeld()).toBe(false);
    first.release();
    expect(second.isHeld()).toBe(true);
    expect(readLiveClaim(later, path)?.token).toBe(second.token);
  });
});
