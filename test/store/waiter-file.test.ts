import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArmers } from '../../src/store/armers.ts';
import { addWaiter, removeWaiter, rewriteWaiters, takeOverWaiters, type Waiter } from '../../src/store/waiter-file.ts';
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

  const { armed } = waiter(1);
  it.each<[field: string, change: object]>([
    ['worker_id', { worker_id: null }],
    ['snapshot_path', { snapshot_path: 1 }],
    ['suspended_at', { suspended_at: undefined }],
    ['conditions', { conditions: [] }],
    ['conditions', { conditions: undefined }],
    ['resume_by_mechanism', { resume_by_mechanism: 5 }],
    ['armed', { armed: null }],
    ['armed.trigger', { armed: { ...armed, trigger: 'yes' } }],
    ['armed.deadline_at', { armed: { ...armed, deadline_at: 5 } }],
    ['armed.on_event', { armed: { ...armed, on_event: { topic: 't', from_cursor: -1 } } }],
    ['armed.on_event', { armed: { ...armed, on_event: { from_cursor: 1 } } }],
    ['armed_by', { armed_by: { pid: 'x', host: 'h' } }],
    ['armed_by', { armed_by: { pid: 1 } }],
  ])('with a record whose %s is not what it should be is built again: %j', (_field, change) => {
    const path = join(scratchDirectory(), 'waiters.jsonl');
    writeFileSync(path, `${line(1)}${JSON.stringify({ ...waiter(2), ...change })}\n`);
    expect(rewritten(path)).toEqual(['rebuilt']);
  });

  it('takes records with more keys, and without those that older versions did not write', () => {
    const path = join(scratchDirectory(), 'waiters.jsonl');
    const topic = { ...armed, deadline_at: undefined, on_event: { topic: 't', from_cursor: 0, more: 1 } };
    writeFileSync(path, `${JSON.stringify({ ...waiter(1), conditions: null, resume_by_mechanism: null, armed: topic, more: true })}\n`);
    expect(rewritten(path)).toEqual(['worker_1']);
  });

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

describe('a process that arms what others parked', () => {
  const OWNER = { pid: 7, host: 'here', boot_id: 'b' };
  const OTHER = { pid: 8, host: 'here', boot_id: 'b' };
  const scratch = (text: string): string => {
    const path = join(scratchDirectory(), 'waiters.jsonl');
    writeFileSync(path, text);
    return path;
  };
  const takeOver = (path: string, owner = OWNER): readonly Waiter[] => takeOverWaiters(platform, path, () => [], owner);
  const armers = (path: string): (number | undefined)[] => [...readArmers(files, path).values()].map((armer) => armer?.pid);

  it('says so in one line, which does not speak of what comes after it or while it is written', () => {
    const path = scratch([1, 2, 3, 4, 5].map(line).join(''));
    const waiters = takeOver(path);
    expect(waiters.map(({ worker_id, armed_by }) => [worker_id, armed_by?.pid])).toEqual([1, 2, 3, 4, 5].map((n) => [`worker_${n}`, 7]));
    addWaiter(files, path, waiter(6));
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(8);
    expect(armers(path)).toEqual([7, 7, 7, 7, 7, undefined]);
    appendFileSync(path, `${JSON.stringify({ armed_by: OTHER, lines: 3 })}\n`);
    expect(armers(path)).toEqual([8, 8, 8, undefined, undefined, undefined]);
  });

  it('writes the file anew when much of it is over', () => {
    const path = scratch(line(1) + line(2));
    removeWaiter(files, path, 'worker_1', 'susp_1');
    expect(takeOver(path).map(({ worker_id }) => worker_id)).toEqual(['worker_2']);
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify({ ...waiter(2), armed_by: OWNER })}\n`);
    expect(armers(path)).toEqual([7]);
  });

  it('writes it anew behind a line that was cut off, and never stays with the notes of earlier processes', () => {
    const path = scratch([1, 2, 3, 4].map(line).join('') + line(5).slice(0, 30));
    expect(takeOver(path)).toHaveLength(4);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5);
    for (const _ of [1, 2, 3, 4, 5]) takeOver(path, OTHER);
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThanOrEqual(7);
    expect(armers(path)).toEqual([8, 8, 8, 8]);
  });
});
