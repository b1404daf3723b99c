import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NodeClock } from '../../src/platform/node-clock.ts';

const YEAR_MS = 365 * 24 * 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('a wait longer than a Node timer can hold is made of hops', () => {
  const callback = vi.fn();
  new NodeClock().timer(YEAR_MS, callback);
  vi.advanceTimersByTime(YEAR_MS - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(callback).toHaveBeenCalledOnce();
});

it('a cancelled timer never fires, also after a hop', () => {
  const callback = vi.fn();
  const cancel = new NodeClock().timer(YEAR_MS, callback);
  vi.advanceTimersByTime(YEAR_MS / 2);
  cancel();
  vi.advanceTimersByTime(YEAR_MS);
  expect(callback).not.toHaveBeenCalled();
});

it('a sleep ends with the reason of its signal', async () => {
  const stop = new AbortController();
  const sleep = new NodeClock().sleep(YEAR_MS, stop.signal);
  stop.abort('enough');
  await expect(sleep).rejects.toBe('enough');
  expect(vi.getTimerCount()).toBe(0);
});
