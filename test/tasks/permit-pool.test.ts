import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { ControlledClock } from '../../src/platform/controlled-clock.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { type Permit, PermitPool } from '../../src/tasks/permit-pool.ts';

const never = new AbortController().signal;
let clock: ControlledClock;

beforeEach(() => {
  clock = new ControlledClock(createNodePlatform().clock);
  clock.mock(0);
});

/** Acquires and notes when the permit came; the permit is released by the test. */
function request(pool: PermitPool, units: number, name: string, log: string[], timeoutMs?: number): Promise<Permit | undefined> {
  return Promise.resolve(pool.acquire(units, never, timeoutMs)).then((permit) => {
    log.push(permit === undefined ? `${name} gave up` : name);
    return permit;
  });
}

describe('a permit pool', () => {
  test('serves first come, first served, also when a later and smaller request would fit', async () => {
    const pool = new PermitPool(2, clock);
    const log: string[] = [];
    const first = await request(pool, 1, 'first', log);
    const big = request(pool, 2, 'big', log);
    const small = request(pool, 1, 'small', log);
    first?.release();
    (await big)?.release();
    await small;
    expect(log).toEqual(['first', 'big', 'small']);
  });

  test('a waiting writer holds up later readers', async () => {
    const writerUnits = 1 << 30;
    const lock = new PermitPool(writerUnits, clock);
    const log: string[] = [];
    const reader = await request(lock, 1, 'reader', log);
    const writer = request(lock, writerUnits, 'writer', log);
    const late = request(lock, 1, 'late reader', log);
    reader?.release();
    (await writer)?.release();
    await late;
    expect(log).toEqual(['reader', 'writer', 'late reader']);
  });

  test('a timeout of 0 does not wait, and no try jumps the queue', async () => {
    const pool = new PermitPool(1, clock);
    const log: string[] = [];
    await request(pool, 1, 'holder', log);
    void request(pool, 1, 'waiting', log);
    await request(pool, 1, 'try', log, 0);
    expect(log).toEqual(['holder', 'try gave up']);
  });

  test('a request that gives up makes room for the one behind it', async () => {
    const pool = new PermitPool(2, clock);
    const log: string[] = [];
    await request(pool, 1, 'holder', log);
    const big = request(pool, 2, 'big', log, 10);
    const small = request(pool, 1, 'small', log);
    await clock.advance(10);
    await Promise.all([big, small]);
    expect(log).toEqual(['holder', 'big gave up', 'small']);
  });

  test('a cancelled request leaves the queue and is counted', async () => {
    const pool = new PermitPool(1, clock);
    await pool.acquire(1, never, undefined);
    const end = new AbortController();
    const request = pool.acquire(1, end.signal, undefined);
    end.abort('cancelled');
    await expect(request).rejects.toBe('cancelled');
    expect(pool.metrics()).toMatchObject({ cancellationCount: 1, currentQueueDepth: 0, maxQueueDepth: 1 });
  });

  test('a permit is given back once', async () => {
    const pool = new PermitPool(1, clock);
    const permit = await pool.acquire(1, never, undefined);
    expect([permit?.release(), permit?.release(), pool.metrics().releaseCount]).toEqual([true, false, 1]);
  });

  test('counts waits and holds by the clock', async () => {
    const pool = new PermitPool(1, clock);
    const holder = await pool.acquire(1, never, undefined);
    const next = pool.acquire(1, never, undefined);
    await clock.advance(30);
    holder?.release();
    await next;
    expect(pool.metrics()).toMatchObject({ acquisitionCount: 2, currentHeld: 1, totalWaitMs: 30, totalHeldMs: 30, timeoutCount: 0 });
  });
});

test('no interleaving of requests, releases and cancellations exceeds the capacity or breaks the order', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('acquire' as const), units: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constantFrom('release' as const, 'cancel' as const), which: fc.nat(9) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const capacity = 3;
      const pool = new PermitPool(capacity, clock);
      const held: { readonly permit: Permit; readonly units: number }[] = [];
      const waiting: { readonly number: number; readonly end: AbortController }[] = [];
      const granted: number[] = [];
      const waits: Promise<void>[] = [];
      for (const [number, current] of steps.entries()) {
        if (current.kind === 'acquire') {
          const end = new AbortController();
          const entry = { number, end };
          waiting.push(entry);
          const answer = Promise.resolve(pool.acquire(current.units, end.signal, undefined)).then(
            (permit) => {
              waiting.splice(waiting.indexOf(entry), 1);
              granted.push(number);
              if (permit !== undefined) held.push({ permit, units: current.units });
            },
            () => {},
          );
          waits.push(answer);
        } else if (current.kind === 'release') held.splice(current.which % (held.length || 1), 1)[0]?.permit.release();
        else waiting.splice(current.which % (waiting.length || 1), 1)[0]?.end.abort('gone');
        await new Promise((resolve) => setImmediate(resolve));
        expect(held.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(capacity);
      }
      for (let next = held.shift(); next !== undefined; next = held.shift()) {
        next.permit.release();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(waits);
      expect(granted).toEqual([...granted].sort((a, b) => a - b));
      expect(pool.metrics()).toMatchObject({ currentHeld: 0, currentQueueDepth: 0 });
    }),
    { numRuns: 40 },
  );
});
