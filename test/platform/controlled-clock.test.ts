import { beforeEach, describe, expect, test } from 'vitest';
import { ControlledClock } from '../../src/platform/controlled-clock.ts';
import type { Clock } from '../../src/platform/platform.ts';

/** An inner clock that never moves by itself: what fires under `mock` fires because of the clock under test. */
class StillClock implements Clock {
  readonly timers = new Map<number, { readonly ms: number; readonly callback: () => void }>();
  wallMs = 5_000;
  monotonic = 70;
  #next = 0;

  now(): number {
    return this.wallMs;
  }
  monotonicMs(): number {
    return this.monotonic;
  }
  sleep(): Promise<void> {
    return new Promise(() => {});
  }
  timer(ms: number, callback: () => void): () => void {
    const id = this.#next++;
    this.timers.set(id, { ms, callback });
    return () => this.timers.delete(id);
  }
  fireAll(): void {
    for (const [id, timer] of [...this.timers]) {
      this.timers.delete(id);
      timer.callback();
    }
  }
}

let inner: StillClock;
let clock: ControlledClock;
let log: string[];

beforeEach(() => {
  inner = new StillClock();
  clock = new ControlledClock(inner);
  log = [];
});

const note = (text: string) => (): void => void log.push(`${text}@${clock.now()}`);

describe('a running clock', () => {
  test('reads through to the clock it wraps', () => {
    expect([clock.now(), clock.monotonicMs(), clock.isFrozen]).toEqual([5_000, 70, false]);
  });

  test('a cancelled timer is taken from the inner clock', () => {
    clock.timer(10, note('a'))();
    expect(inner.timers.size).toBe(0);
  });

  test('a sleep rejects with the reason of its signal and leaves no timer', async () => {
    const end = new AbortController();
    const sleep = clock.sleep(10, end.signal);
    end.abort('stop');
    await expect(sleep).rejects.toBe('stop');
    expect(inner.timers.size).toBe(0);
  });

  test('advance does nothing', async () => {
    await clock.advance(1_000);
    expect(clock.now()).toBe(5_000);
  });
});

describe('a frozen clock', () => {
  beforeEach(() => clock.mock(1_000));

  test('stands still and starts the script view of monotonic time at zero', () => {
    inner.wallMs = 9_999;
    inner.monotonic = 999;
    expect([clock.now(), clock.monotonicMs(), clock.scriptMonotonicMs()]).toEqual([1_000, 70, 0]);
  });

  test('advance moves wall and monotonic time alike', async () => {
    await clock.advance(250);
    expect([clock.now(), clock.scriptMonotonicMs()]).toEqual([1_250, 250]);
  });

  test('timers fire in the order of due time, then registration', async () => {
    clock.timer(20, note('late'));
    clock.timer(10, note('first'));
    clock.timer(10, note('second'));
    clock.timer(21, note('never'));
    await clock.advance(20);
    expect(log).toEqual(['first@1010', 'second@1010', 'late@1020']);
  });

  test('what a firing sets up within the advance fires in the same advance', async () => {
    clock.timer(5, () => clock.timer(5, note('nested')));
    await clock.advance(10);
    expect(log).toEqual(['nested@1010']);
  });

  test('tasks run to their next wait between two firings', async () => {
    clock.timer(5, () => void Promise.resolve().then(note('task')));
    clock.timer(6, note('timer'));
    await clock.advance(10);
    expect(log).toEqual(['task@1005', 'timer@1006']);
  });

  test('a sleep is an advance that returns at once', async () => {
    clock.timer(5, note('timer'));
    await clock.sleep(10);
    expect(log).toEqual(['timer@1005']);
    expect(clock.now()).toBe(1_010);
  });

  test('concurrent sleeps end in the order of their due times', async () => {
    await Promise.all([clock.sleep(30).then(note('slow')), clock.sleep(5).then(note('fast'))]);
    expect(log).toEqual(['fast@1005', 'slow@1030']);
  });

  test('a sleep that was cancelled does not move the time any further', async () => {
    const end = new AbortController();
    clock.timer(10, () => end.abort('cut'));
    await expect(clock.sleep(1_000, end.signal)).rejects.toBe('cut');
    await clock.advance(0);
    expect(clock.now()).toBe(1_010);
  });

  test('a passive timer alone never moves the time', async () => {
    clock.timer(10, note('timer'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(1_000);
  });
});

describe('freezing and thawing', () => {
  test('a pending timer keeps the time it has left when the clock freezes', async () => {
    clock.timer(100, note('timer'));
    inner.monotonic += 40;
    clock.mock(0);
    expect(inner.timers.size).toBe(0);
    await clock.advance(59);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(['timer@60']);
  });

  test('a pending timer goes back to the inner clock with the time it has left', async () => {
    clock.mock(0);
    clock.timer(100, note('timer'));
    await clock.advance(30);
    clock.unmock();
    expect([...inner.timers.values()].map((timer) => timer.ms)).toEqual([70]);
    inner.fireAll();
    expect(log).toHaveLength(1);
  });

  test('monotonic time never goes back, whatever was mocked', async () => {
    const before = clock.monotonicMs();
    clock.mock(0);
    await clock.advance(500);
    const frozen = clock.monotonicMs();
    clock.unmock();
    inner.monotonic += 1;
    expect([frozen - before, clock.monotonicMs() - frozen]).toEqual([500, 1]);
  });

  test('an advance that is under way ends when the clock is given back', async () => {
    clock.mock(0);
    clock.timer(10, () => clock.unmock());
    await clock.advance(1_000);
    expect(clock.isFrozen).toBe(false);
  });
});
