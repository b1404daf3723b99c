import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addWaiter, removeWaiter, rewriteWaiters, type Waiter } from '../../src/store/waiter-file.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const platform = testPlatform();
const { files } = platform;

function waiter(n: number): Waiter {
  return {
    worker_id: `worker_${n}`,
    suspension_id: `susp_${n}`,
    snapshot_path: `/w/worker_${n}.json`,
    suspended_at: '2026-04-30T12:00:00.000Z',
    conditions: { timeout: { duration_minutes: 5 } },
    resume_by_mechanism: 'local_runtime',
    armed: { trigger: false, deadline_at: '2026-04-30T12:05:00.000Z', on_event: null },
  };
}

const line = (n: number): string => `${JSON.stringify(waiter(n))}\n`;

/** The workers that wait, and whether the snapshots had to be asked: then `rebuilt` stands for what they say. */
function rewritten(path: string): string[] {
  const rebuild = (): Waiter[] => [{ ...waiter(9), worker_id: 'rebuilt' }];
  return rewriteWaiters(platform, path, rebuild, (found) => found).map(({ worker_id }) => worker_id);
}

describe('the index of waiters', () => {
  it('gives what was added and not removed since', () => {
    const path = join(scratchDirectory(), 'state', 'waiters.jsonl');
    for (const n of [1, 2, 3]) addWaiter(files, path, waiter(n));
    removeWaiter(files, path, 'worker_2', 'susp_2');
    expect(rewritten(path)).toEqual(['worker_1', 'worker_3']);
    expect(readFileSync(path, 'utf8')).toBe(line(1) + line(3));
  });

  const rows: readonly [name: string, text: string | undefined, waiting: readonly string[]][] = [
    ['whose last line was torn goes without that line', line(1) + line(2).slice(0, 40), ['worker_1']],
    ['with a damaged line in the middle is built again', `${line(1)}garbage\n${line(2)}`, ['rebuilt']],
    ['with a record of another shape is built again', `${line(1)}{"worker_id":"worker_2","suspension_id":5}\n${line(2)}`, ['rebuilt']],
    ['that is missing is built again', undefined, ['rebuilt']],
    ['that is empty has nobody', '', []],
  ];
  for (const [name, text, waiting] of rows) {
    it(name, () => {
      const path = join(scratchDirectory(), 'waiters.jsonl');
      if (text !== undefined) writeFileSync(path, text);
      expect(rewritten(path)).toEqual(waiting);
    });
  }

  it('loses nothing when a rewrite was killed half-way', () => {
    const path = join(scratchDirectory(), 'waiters.jsonl');
    writeFileSync(`${path}.old`, line(1));
    writeFileSync(path, line(2));
    expect(rewritten(path)).toEqual(['worker_1', 'worker_2']);
    expect(files.exists(`${path}.old`)).toBe(false);
  });

  it('keeps what another process adds while it is written anew', () => {
    const path = join(scratchDirectory(), 'waiters.jsonl');
    writeFileSync(path, line(1));
    const late = (found: Waiter): Waiter => {
      appendFileSync(path, line(2));
      return found;
    };
    expect(rewriteWaiters(platform, path, () => [], late).map(({ worker_id }) => worker_id)).toEqual(['worker_1', 'worker_2']);
    expect(readFileSync(path, 'utf8')).toBe(line(1) + line(2));
  });
});
