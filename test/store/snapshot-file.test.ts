import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import { decodeSnapshot, readSnapshot, renderSnapshot, writeSnapshot } from '../../src/store/snapshot-file.ts';
import { readSnapshotHead } from '../../src/store/snapshot-head.ts';
import type { WorkerSnapshot } from '../../src/store/snapshot-schema.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { sampleSnapshot } from './sample-snapshot.ts';
import { testPlatform } from './test-platform.ts';

const platform = testPlatform();

function saved(text: string): string {
  const path = join(scratchDirectory(), 'worker_x.json');
  writeFileSync(path, text);
  return path;
}

function textOf(snapshot: WorkerSnapshot): string {
  return Buffer.from(renderSnapshot(snapshot).bytes).toString();
}

function refusal(action: () => unknown): { code: string; message: string; detail: JsonObject } {
  try {
    action();
  } catch (error) {
    if (!(error instanceof HarnError)) throw error;
    return { code: error.code, message: error.message, detail: error.data.detail as JsonObject };
  }
  throw new Error('was not refused');
}

describe('a snapshot file', () => {
  it('gives back what was written, with its checksum', () => {
    const path = join(scratchDirectory(), 'worker_x.json');
    const sha256 = writeSnapshot(platform, path, sampleSnapshot());
    const loaded = readSnapshot(platform, path);
    expect(loaded.sha256).toBe(sha256);
    expect(loaded.snapshot).toMatchObject(sampleSnapshot() as object);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is two-space JSON that ends in a newline, small fields first and the transcript last', () => {
    const text = textOf(sampleSnapshot());
    const document = JSON.parse(text) as object;
    expect(text).toBe(`${JSON.stringify(document, null, 2)}\n`);
    expect(Object.keys(document).slice(0, 5)).toEqual(['_type', 'version', 'id', 'name', 'status']);
    expect(Object.keys(document).at(-1)).toBe('transcript');
  });

  it.each([
    ['that is not there', 'missing', 'none.json'],
    ['that is a folder', 'malformed', '.'],
  ])('%s is refused as %s', (_what, reason, name) => {
    const path = join(scratchDirectory(), name);
    expect(() => readSnapshot(platform, path)).toThrow(
      expect.objectContaining({ code: 'HARN-SUS-004', data: expect.objectContaining({ detail: expect.objectContaining({ reason }) }) }),
    );
  });

  it('keeps unknown keys when it is written again', () => {
    const path = saved(textOf(Object.assign(sampleSnapshot(), { note_of_another_tool: { a: 1 } })));
    writeSnapshot(platform, path, { ...readSnapshot(platform, path).snapshot, status: 'interrupted' });
    expect(readSnapshot(platform, path).snapshot).toMatchObject({ note_of_another_tool: { a: 1 } });
  });

  const acceptedEdits: [string, (text: string) => string][] = [
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['CRLF line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['no final newline', (text) => text.trimEnd()],
    ['another indentation', (text) => JSON.stringify(JSON.parse(text), null, 4)],
  ];
  for (const [name, edit] of acceptedEdits) {
    it(`is accepted with ${name}`, () => {
      expect(readSnapshot(platform, saved(edit(textOf(sampleSnapshot())))).snapshot.id).toBe(sampleSnapshot().id);
    });
  }

  const text = textOf(sampleSnapshot());
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const refused: [string, string, string, RegExp][] = [
    ['changed text', text.replace('waiting for a human', 'waiting for a robot'), 'integrity', /checksum does not match/],
    ['no checksum', text.replace(/,\n {2}"integrity": \{\n.*\n {2}\}/, ''), 'integrity', /checksum is missing/],
    ['half a file', text.slice(0, text.length / 2), 'malformed', /not valid JSON/],
    ['an empty file', '', 'malformed', /not valid JSON/],
    ['a list', '[]', 'malformed', /expected a JSON object/],
    [
      'a version from the future',
      '{"version": 7, "program": {"harn_version": "9.9.9"}}',
      'version',
      /written by harn 9\.9\.9, format 7; this harn reads up to 1/,
    ],
    ['a version that is no number', '{"version": "1"}', 'malformed', /version/],
    ['a depth of 100000', `{"version": 1, "x": ${deep}}`, 'malformed', /nested deeper/],
    ['a field of another type', textOf({ ...sampleSnapshot(), name: 5 as unknown as string }), 'malformed', /field `name`/],
    [
      'a suspension without an id',
      '{"version": 0, "id": "worker_x", "suspension": {"initiator": "nobody"}}',
      'malformed',
      /suspension\.initiator/,
    ],
    ['an id that is a path', textOf({ ...sampleSnapshot(), id: '../../etc/passwd' }), 'malformed', /field `id`/],
  ];
  for (const [name, content, reason, message] of refused) {
    it(`T24 refuses ${name} with HARN-SUS-004`, () => {
      const path = saved(content);
      const { code, message: found, detail } = refusal(() => readSnapshot(platform, path));
      expect(code).toBe('HARN-SUS-004');
      expect(detail.reason).toBe(reason);
      expect(found).toMatch(message);
      expect(readFileSync(path, 'utf8')).toBe(content);
    });
  }

  it('T24 does not let a hostile key reach a prototype', () => {
    const path = saved('{"id": "worker_x", "__proto__": {"polluted": true}, "loop": {"__proto__": {"polluted": true}}}');
    const { snapshot } = readSnapshot(platform, path);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((snapshot as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('the last of two equal keys counts, as in every JSON reader', () => {
    expect(readSnapshot(platform, saved('{"id": "worker_x", "name": "a", "name": "b"}')).snapshot.name).toBe('b');
  });

  it('T27 is refused before it is read when it is larger than the limit', () => {
    const path = saved(text);
    const limited = testPlatform({ env: { get: () => '100', entries: () => ({}) } });
    expect(refusal(() => readSnapshot(limited, path)).detail).toMatchObject({ reason: 'size', limit_bytes: 100 });
  });

  it('T27 of 100 MB comes back whole, one file for one write, and its head is read without it', { timeout: 60_000 }, () => {
    const megabyte = 'x'.repeat(1 << 20);
    const messages = Array.from({ length: 100 }, (_, index) => ({ role: 'user', content: `${index} ${megabyte}` }));
    const path = join(scratchDirectory(), 'worker_x.json');
    const files = new FaultyFiles(platform.files);
    const digest = writeSnapshot({ ...platform, files }, path, sampleSnapshot({ transcript: { messages } }));
    expect(files.calls.filter((call) => call.startsWith('handle.write '))).toHaveLength(1);
    expect(statSync(path).size).toBeGreaterThan(100 << 20);
    expect(statSync(path).size).toBeLessThan(101 << 20);
    const lengths: number[] = [];
    const watched = Object.assign(Object.create(platform.files) as typeof platform.files, {
      readRange: (file: string, offset: number, length: number) => {
        lengths.push(length);
        return platform.files.readRange(file, offset, length);
      },
    });
    expect(readSnapshotHead(watched, path, ['id', 'status', 'suspension'])).toMatchObject({ status: 'suspended' });
    expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(20_000);
    const loaded = readSnapshot(platform, path);
    expect(loaded.sha256).toBe(digest);
    const found = (loaded.snapshot.transcript as typeof loaded.snapshot.transcript & { messages: { content: string }[] }).messages;
    expect(found.map(({ content }) => content.length)).toEqual(messages.map(({ content }) => content.length));
    expect(found.at(-1)?.content.startsWith('99 x')).toBe(true);
  });

  it('T27 of more than the default limit is refused before it is rendered, and nothing is written', () => {
    // One text in many places: the test needs the memory of one.
    const content = 'x'.repeat(64 << 20);
    const messages = Array.from({ length: 8 }, () => ({ role: 'user', content }));
    const files = new FaultyFiles(platform.files);
    const render = vi.spyOn(JSON, 'stringify');
    try {
      expect(() => writeSnapshot({ ...platform, files }, '/nowhere/w.json', sampleSnapshot({ transcript: { messages } }))).toThrow(
        /^it would have \d+ bytes, more than the limit of \d+ \(HARN_SNAPSHOT_MAX_BYTES\)$/,
      );
      expect(render).not.toHaveBeenCalled();
    } finally {
      render.mockRestore();
    }
    expect(files.calls).toEqual([]);
  });

  it('T27 whose escapes are more than a text can hold is refused the same way', () => {
    const render = vi.spyOn(JSON, 'stringify').mockImplementation(() => {
      throw new RangeError('Invalid string length');
    });
    try {
      expect(() => writeSnapshot(platform, '/nowhere/w.json', sampleSnapshot())).toThrow(/^it would have \d+ bytes, more than the limit/);
    } finally {
      render.mockRestore();
    }
  });

  it('T27 of more bytes than a text can hold is refused by its size, whatever the limit is set to', () => {
    const files = Object.assign(Object.create(platform.files) as typeof platform.files, {
      stat: () => ({ ...(platform.files.stat('.') as object), isFile: true, sizeBytes: 600 << 20 }),
      readBytes: () => {
        throw new Error('read');
      },
    });
    const env = { get: () => String(2 ** 40), entries: () => ({}) };
    expect(refusal(() => readSnapshot({ files, env } as never, 'w.json')).detail).toMatchObject({ reason: 'size', size_bytes: 600 << 20 });
  });

  it('T27 can be listed from its head while the transcript stays unread', () => {
    const transcript = { messages: [{ role: 'user', content: 'x'.repeat(200_000) }] };
    const path = saved(textOf(sampleSnapshot({ transcript })));
    const lengths: number[] = [];
    const files = Object.assign(Object.create(platform.files), {
      readRange: (file: string, offset: number, length: number) => {
        lengths.push(length);
        return platform.files.readRange(file, offset, length);
      },
      readText: () => {
        throw new Error('read as a whole');
      },
    });
    const head = readSnapshotHead(files, path, ['id', 'status', 'suspension', 'resume']);
    expect(head).toMatchObject({ id: sampleSnapshot().id, status: 'suspended' });
    expect(Math.max(...lengths)).toBeLessThan(20_000);
  });

  it('T25 keeps every string, also one that is not well-formed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }), (value, key) => {
        const transcript = { value: value as Json, [`k${key}`]: '\ud800 \udc00 \u2028 \u0000' };
        const { bytes, sha256 } = renderSnapshot(sampleSnapshot({ transcript }));
        const loaded = decodeSnapshot(bytes, { target: 'x' });
        expect(loaded.sha256).toBe(sha256);
        expect(JSON.stringify(loaded.snapshot.transcript)).toBe(JSON.stringify(transcript));
      }),
      { numRuns: 50 },
    );
  });
});

describe('T30 released formats', () => {
  const directory = new URL('./fixtures/', import.meta.url).pathname;
  for (const name of readdirSync(directory).filter((file) => file.startsWith('snapshot-'))) {
    it(`${name} is read to the current format`, () => {
      const { snapshot } = readSnapshot(platform, join(directory, name));
      expect(snapshot.version).toBe(1);
      expect(isJsonObject(snapshot.transcript)).toBe(true);
      expect(snapshot.suspension).toMatchObject({ initiator: 'self', reason: 'waiting for the release window' });
      expect(snapshot.suspension?.suspension_id).toMatch(/^susp_[0-9a-f-]{36}$/);
      expect(readSnapshot(platform, join(directory, name)).snapshot).toEqual(snapshot);
    });
  }
});
