import { describe, expect, it } from 'vitest';
import { DueQueue, RECHECK_MS } from '../../src/lifecycle/due-queue.ts';
import { ControlledClock } from '../../src/platform/controlled-clock.ts';
import type { Clock } from '../../src/platform/platform.ts';

/** Real time as a test moves it: its timers fire only when it is told so. */
function handClock(): Clock & { readonly timers: Map<number, () => void> } {
  const timers = new Map<number, () => void>();
  return {
    timers,
    now: () => 0,
    monotonicMs: () => 0,
    sleep: async () => undefined,
    timer: (ms, callback) => {
      timers.set(ms, callback);
      return () => timers.delete(ms);
    },
  };
}

function frozen() {
  const realClock = handClock();
  const clock = new ControlledClock(realClock);
  clock.mock(0);
  return { clock, realClock, queue: new DueQueue(clock, realClock) };
}

/** The numbers 0 to count - 1 in an order that is no order. */
const shuffled = (count: number): number[] => Array.from({ length: count }, (_, index) => (index * 37) % count);

describe('due instants (9.8)', () => {
  it('fire in the order of due time, equal ones in the order of registration', async () => {
    const { clock, queue } = frozen();
    const fired: string[] = [];
    shuffled(100).forEach((number, index) => {
      const at = 1000 * (number % 5);
      queue.add(at, () => void fired.push(`${at}/${String(index).padStart(3, '0')}`));
    });
    await clock.advance(10_000);
    expect(fired).toHaveLength(100);
    expect(fired).toEqual([...fired].sort());
  });

  it('that are cancelled leave the order of the others as it is', async () => {
    const { clock, queue } = frozen();
    const fired: number[] = [];
    const entries = shuffled(50).map((_, index) => queue.add(1000, () => void fired.push(index)));
    for (const [index, entry] of entries.entries()) if (index % 3 === 0) entry.cancel();
    await clock.advance(1000);
    expect(fired).toEqual(Array.from({ length: 50 }, (_, index) => index).filter((index) => index % 3 !== 0));
  });

  it('do not fire before their time, and at once when it has passed', async () => {
    const { clock, queue } = frozen();
    const fired: string[] = [];
    await clock.advance(5000);
    queue.add(9000, () => void fired.push('later'));
    queue.add(1000, () => void fired.push('overdue'));
    queue.check();
    expect(fired).toEqual(['overdue']);
    await clock.advance(3999);
    expect(fired).toEqual(['overdue']);
    await clock.advance(1);
    expect(fired).toEqual(['overdue', 'later']);
  });

  it('of a clock that was set forward are found by the second look', () => {
    let now = 0;
    const realClock = handClock();
    const queue = new DueQueue({ ...realClock, now: () => now, timer: () => () => undefined }, realClock);
    const fired: string[] = [];
    queue.add(60_000, () => void fired.push('a'));
    now = 3_600_000;
    realClock.timers.get(RECHECK_MS)?.();
    expect(fired).toEqual(['a']);
  });
});
