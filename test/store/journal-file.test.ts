import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import {
  type JournalOpen,
  JournalWriter,
  journalPathOf,
  readJournal,
  readJournalOpen,
  snapshotPathOf,
} from '../../src/store/journal-file.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const { files } = testPlatform();

const open: JournalOpen = {
  t: 'open',
  v: 1,
  worker_id: 'worker_x',
  generation: 3,
  claim_token: 'token',
  suspension_id: 'susp_x',
  base: { sha256: 'aa' },
  at: '2026-04-30T12:00:00.000Z',
};

function newJournal(): { path: string; journal: JournalWriter } {
  const path = journalPathOf(join(scratchDirectory(), 'worker_x.json'));
  return { path, journal: JournalWriter.create(files, path, open) };
}

const read = (path: string) => readJournal(files, path, { target: 'worker_x' });

describe('a journal', () => {
  it('gives back its records in order', () => {
    const { path, journal } = newJournal();
    journal.append({ t: 'begin', pos: 0, id: 'call-1' });
    journal.append({ t: 'result', pos: 0, id: 'call-1', text: '\u2028 \ud83d\ude00' });
    expect(read(path)).toEqual({
      open,
      records: [
        { t: 'begin', pos: 0, id: 'call-1' },
        { t: 'result', pos: 0, id: 'call-1', text: '\u2028 \ud83d\ude00' },
      ],
    });
    expect(readJournalOpen(files, path)).toEqual(open);
    expect(snapshotPathOf(path)).toMatch(/worker_x\.json$/);
  });

  it('flushes each record before it returns', () => {
    const faulty = new FaultyFiles(files);
    const path = join(scratchDirectory(), 'j.jsonl');
    const journal = JournalWriter.create(faulty, path, open);
    faulty.calls.length = 0;
    journal.append({ t: 'turn' });
    expect(faulty.calls).toEqual([`handle.write ${path}`, `handle.sync ${path}`]);
  });

  it('drops a torn last line and nothing else', () => {
    const { path, journal } = newJournal();
    journal.append({ t: 'turn', n: 1 });
    const whole = readFileSync(path, 'utf8');
    const next = '{"t":"turn","n":2}\n';
    for (let length = 1; length < next.length - 1; length++) {
      writeFileSync(path, whole + next.slice(0, length));
      expect(read(path)?.records).toEqual([{ t: 'turn', n: 1 }]);
    }
  });

  it('names the line of damage in the middle', () => {
    const { path, journal } = newJournal();
    journal.append({ t: 'turn', n: 1 });
    appendFileSync(path, 'garbage\n{"t":"turn","n":2}\n');
    try {
      read(path);
      expect.unreachable();
    } catch (error) {
      expect((error as HarnError).data.detail).toEqual({ reason: 'malformed', line: 3 });
    }
  });

  it('that an editor gave a byte order mark is read as before', () => {
    const { path } = newJournal();
    writeFileSync(path, `\ufeff${readFileSync(path, 'utf8')}`);
    expect(read(path)?.open).toEqual(open);
    expect(readJournalOpen(files, path)).toEqual(open);
  });

  it('whose first record was torn counts as none', () => {
    const path = join(scratchDirectory(), 'j.jsonl');
    writeFileSync(path, JSON.stringify(open).slice(0, 40));
    expect(read(path)).toBeUndefined();
    expect(readJournalOpen(files, path)).toBeUndefined();
  });

  it('that is not there is none; one that begins with anything but its open record is malformed', () => {
    const path = join(scratchDirectory(), 'j.jsonl');
    expect(read(path)).toBeUndefined();
    writeFileSync(path, `${JSON.stringify({ ...open, t: 'turn' })}\n`);
    expect(() => read(path)).toThrow(/HARN-SUS-004.*expected a valid `open` record/);
  });

  it('is created once only: the second owner of a suspension fails', () => {
    const { path } = newJournal();
    expect(() => JournalWriter.create(files, path, open)).toThrow('EEXIST');
    expect(read(path)?.open).toEqual(open);
  });

  it('T35 leaves nothing when the disk refuses its first record', () => {
    for (const at of [1, 2]) {
      const path = join(scratchDirectory(), 'j.jsonl');
      expect(() => JournalWriter.create(new FaultyFiles(files, { at, how: 'fail' }), path, open)).toThrow('ENOSPC');
      expect(files.exists(path)).toBe(false);
    }
  });
});
