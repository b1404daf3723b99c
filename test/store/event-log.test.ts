import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import type { FileHandle } from '../../src/platform/platform.ts';
import { createEventLog, type EventLog, FileEventLog, MemoryEventLog } from '../../src/store/event-log.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const { files } = testPlatform();
const event = (topic: string, n: number) => ({ topic, kind: 'tick', payload: { n }, headers: { from: 'test' }, occurredAt: 1000 + n });

const backends: [string, () => EventLog][] = [
  ['memory', () => new MemoryEventLog()],
  ['file', () => new FileEventLog(files, join(scratchDirectory(), 'events'))],
];

for (const [name, create] of backends) {
  describe(`an event log in ${name}`, () => {
    it('numbers the records of each topic from 1', () => {
      const log = create();
      expect([log.append(event('a', 1)).id, log.append(event('a', 2)).id, log.append(event('b', 3)).id]).toEqual([1, 2, 1]);
      expect([log.latest('a'), log.latest('b'), log.latest('c')]).toEqual([2, 1, undefined]);
      expect(log.topics()).toEqual(['a', 'b']);
    });

    it('reads after a cursor, up to a limit', () => {
      const log = create();
      for (const n of [1, 2, 3, 4]) log.append(event('a', n));
      expect(log.read('a', 1, 2).map(({ id }) => id)).toEqual([2, 3]);
      expect(log.read('a', 0)[0]).toEqual({ ...event('a', 1), id: 1 });
      expect(log.read('a', 4)).toEqual([]);
    });

    it('R47 refuses names that are no topic', () => {
      const log = create();
      for (const topic of ['', 'a b', '../x', 'x'.repeat(257)]) expect(() => log.append(event(topic, 1))).toThrow('event_log: topic');
      expect(log.append(event('x'.repeat(256), 1)).id).toBe(1);
    });
  });
}

describe('an event log in files', () => {
  it('gives processes that append at once different ids', () => {
    const directory = join(scratchDirectory(), 'events');
    const logs = [new FileEventLog(files, directory), new FileEventLog(files, directory)] as const;
    const ids = Array.from({ length: 20 }, (_, n) => logs[n % 2 === 0 ? 0 : 1].append(event('a', n)).id);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  it('gives the id of its own record when another process appends in the same moment', () => {
    const directory = join(scratchDirectory(), 'events');
    const other = new FileEventLog(files, directory);
    const overtaken = Object.assign(Object.create(files) as typeof files, {
      open: (...args: Parameters<typeof files.open>): FileHandle => {
        const handle = files.open(...args);
        return {
          write: (data) => handle.write(data),
          sync: () => handle.sync(),
          close: () => {
            handle.close();
            other.append(event('a', 2));
          },
        };
      },
    });
    expect(new FileEventLog(overtaken, directory).append(event('a', 1)).id).toBe(1);
    expect(other.latest('a')).toBe(2);
  });

  it('flushes a record before it is said to be there, unless it only informs', () => {
    const directory = join(scratchDirectory(), 'events');
    const faulty = new FaultyFiles(files);
    const log = new FileEventLog(faulty, directory);
    const path = join(directory, 'a.jsonl');
    log.append({ ...event('a', 1), durability: 'lazy' });
    expect(faulty.calls).not.toContain(`handle.sync ${path}`);
    log.append(event('a', 2));
    expect(faulty.calls.at(-1)).toBe(`handle.sync ${path}`);
  });

  it('goes on after a line that a crash tore', () => {
    const directory = join(scratchDirectory(), 'events');
    const log = new FileEventLog(files, directory);
    log.append(event('a', 1));
    appendFileSync(join(directory, 'a.jsonl'), '{"kind":"ti');
    const again = new FileEventLog(files, directory);
    expect(again.latest('a')).toBe(1);
    expect(again.append(event('a', 2)).id).toBe(3);
    expect(again.read('a', 0).map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('is chosen by the environment, and an unknown kind is refused by name', () => {
    const env = (value: string | undefined) => ({ get: () => value });
    expect(createEventLog(files, env(undefined), { defaultBackend: 'file', directory: '/x' })).toBeInstanceOf(FileEventLog);
    expect(createEventLog(files, env('memory'), { defaultBackend: 'file', directory: '/x' })).toBeInstanceOf(MemoryEventLog);
    expect(() => createEventLog(files, env('tape'), { defaultBackend: 'file', directory: '/x' })).toThrow("'tape' is not available");
  });
});
