import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FaultyFiles, KilledHere } from '../../src/platform/fault-points.ts';
import { sweepTemporaries, writeAtomic } from '../../src/store/atomic-file.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

describe('an atomic write', () => {
  it('leaves a private file with the new content and nothing else', () => {
    const directory = scratchDirectory();
    const path = join(directory, 'file.json');
    writeFileSync(path, 'old');
    writeAtomic(testPlatform(), path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['file.json']);
  });

  it('flushes the content before it gets its name, and then the name', () => {
    const directory = scratchDirectory();
    const path = join(directory, 'file.json');
    const files = new FaultyFiles(testPlatform().files);
    writeAtomic(testPlatform({ files }), path, 'new');
    const temporary = files.calls[0]?.split(' ')[1] ?? '';
    expect(files.calls).toEqual([
      `open ${temporary} exclusive`,
      `handle.write ${temporary}`,
      `handle.sync ${temporary}`,
      `rename ${temporary} ${path}`,
      `syncDirectory ${directory}`,
    ]);
  });

  it('T14 leaves the old or the new content when the process dies at any call', () => {
    for (const how of ['killBefore', 'killAfter'] as const) {
      for (let at = 0; at < 5; at++) {
        const path = join(scratchDirectory(), 'file.json');
        writeFileSync(path, 'old');
        const files = new FaultyFiles(testPlatform().files, { at, how });
        try {
          writeAtomic(testPlatform({ files }), path, 'new');
        } catch (error) {
          expect(error).toBeInstanceOf(KilledHere);
        }
        expect(['old', 'new']).toContain(readFileSync(path, 'utf8'));
      }
    }
  });

  it('T35 leaves the old file and no temporary one when the disk refuses', () => {
    for (const at of [0, 1, 2, 3]) {
      const directory = scratchDirectory();
      const path = join(directory, 'file.json');
      writeFileSync(path, 'old');
      const files = new FaultyFiles(testPlatform().files, { at, how: 'fail' });
      expect(() => writeAtomic(testPlatform({ files }), path, 'new')).toThrow('ENOSPC');
      expect(readFileSync(path, 'utf8')).toBe('old');
      expect(readdirSync(directory)).toEqual(['file.json']);
    }
  });

  it('T34 tries a rename again when another program holds the file', () => {
    const path = join(scratchDirectory(), 'file.json');
    const files = new FaultyFiles(testPlatform().files, { at: 3, how: 'fail', code: 'EBUSY' });
    writeAtomic(testPlatform({ files }), path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(files.calls.filter((call) => call.startsWith('rename '))).toHaveLength(2);
  });

  it.each(['EPERM', 'EBUSY'])('T34 gives up after a bounded number of renames that end with %s, and leaves the old file alone', (code) => {
    const directory = scratchDirectory();
    const path = join(directory, 'file.json');
    writeFileSync(path, 'old');
    const { files } = testPlatform();
    let renames = 0;
    const held = Object.assign(Object.create(files) as typeof files, {
      rename: () => {
        renames++;
        throw Object.assign(new Error(`${code}: held by another program`), { code });
      },
    });
    expect(() => writeAtomic(testPlatform({ files: held }), path, 'new')).toThrow(code);
    expect(renames).toBe(6);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['file.json']);
  });
});

it('sweeping a file removes what killed writers left beside it, and nothing of others', () => {
  const directory = scratchDirectory();
  const names = ['file.json', 'file.json.tmp_a', 'file.json.claim', 'other.json.tmp_b'];
  for (const name of names) writeFileSync(join(directory, name), '');
  sweepTemporaries(testPlatform().files, join(directory, 'file.json'));
  expect(readdirSync(directory).sort()).toEqual(['file.json', 'file.json.claim', 'other.json.tmp_b']);
});
