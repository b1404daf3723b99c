import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { FaultyFiles, KilledHere } from '../../src/platform/fault-points.ts';
import { NodeFiles } from '../../src/platform/node-files.ts';
import type { Files } from '../../src/platform/platform.ts';
import { scratchDirectory } from '../support/scratch.ts';

const implementations: readonly (readonly [string, () => { files: Files; root: string }])[] = [
  ['real files', () => ({ files: new NodeFiles(), root: scratchDirectory() })],
  ['fake files', () => ({ files: new FakeFiles(), root: '/project' })],
  ['files with fault points', () => ({ files: new FaultyFiles(new FakeFiles()), root: '/project' })],
];

describe.each(implementations)('%s', (_name, create) => {
  let files: Files;
  let at: (name: string) => string;

  beforeEach(() => {
    const { files: created, root } = create();
    files = created;
    at = (name) => join(root, name);
  });

  it('reads back what was written, as text and as bytes', () => {
    files.write(at('a'), 'h€llo');
    expect(files.readText(at('a'))).toBe('h€llo');
    files.write(at('a'), new Uint8Array([0, 255]));
    expect([...files.readBytes(at('a'))]).toEqual([0, 255]);
  });

  it('appends to the end, and creates what is missing', () => {
    files.append(at('log'), 'one\n');
    files.append(at('log'), 'two\n');
    expect(files.readText(at('log'))).toBe('one\ntwo\n');
  });

  it('reads a range, and less of it at the end of the file', () => {
    files.write(at('a'), '0123456789');
    const range = (offset: number, length: number): string => new TextDecoder().decode(files.readRange(at('a'), offset, length));
    expect([range(0, 3), range(8, 5), range(20, 5)]).toEqual(['012', '89', '']);
  });

  it('writes through a handle in order, and keeps the file that the handle was opened on', () => {
    const handle = files.open(at('a'), 'exclusive', 0o600);
    handle.write('one');
    files.rename(at('a'), at('b'));
    handle.write('two');
    handle.sync();
    handle.close();
    expect(files.readText(at('b'))).toBe('onetwo');
    expect(files.stat(at('b'))?.mode).toBe(0o600);
  });

  it('truncates or appends as the handle was opened', () => {
    files.write(at('a'), 'old');
    const more = files.open(at('a'), 'append');
    more.write('+');
    more.close();
    expect(files.readText(at('a'))).toBe('old+');
    files.open(at('a'), 'truncate').close();
    expect(files.readText(at('a'))).toBe('');
  });

  it('replaces a file by a rename', () => {
    files.write(at('new'), 'new');
    files.write(at('old'), 'old');
    files.rename(at('new'), at('old'));
    expect([files.readText(at('old')), files.exists(at('new'))]).toEqual(['new', false]);
  });

  it('moves a directory with what it holds', () => {
    files.mkdir(at('from/sub'));
    files.write(at('from/sub/a'), 'a');
    files.rename(at('from'), at('to'));
    expect(files.readText(at('to/sub/a'))).toBe('a');
  });

  it('shares the content of a hard link', () => {
    files.write(at('a'), 'one');
    files.link(at('a'), at('b'));
    files.append(at('b'), 'two');
    files.unlink(at('b'));
    expect(files.readText(at('a'))).toBe('onetwo');
  });

  it('makes directories with their parents, and again without complaint', () => {
    files.mkdir(at('x/y/z'), 0o700);
    files.mkdir(at('x/y/z'));
    expect(files.stat(at('x/y/z'))).toMatchObject({ isDirectory: true, isFile: false, mode: 0o700 });
    expect(files.list(at('x'))).toEqual(['y']);
    files.syncDirectory(at('x'));
  });

  it('removes a directory with what it holds', () => {
    files.mkdir(at('x/y'));
    files.write(at('x/y/a'), '');
    files.remove(at('x'));
    expect(files.exists(at('x'))).toBe(false);
  });

  it('copies files and directories', () => {
    files.mkdir(at('x/y'));
    files.write(at('x/y/a'), 'a');
    files.copy(at('x'), at('z'));
    files.copy(at('x/y/a'), at('b'));
    expect([files.readText(at('z/y/a')), files.readText(at('b'))]).toEqual(['a', 'a']);
  });

  it('tells size, kind and the absence of a file', () => {
    files.write(at('a'), '12345', 0o444);
    expect(files.stat(at('a'))).toMatchObject({ sizeBytes: 5, isFile: true, isDirectory: false, isSymbolicLink: false, readonly: true });
    expect(files.stat(at('b'))).toBeUndefined();
    expect(files.exists(at('b'))).toBe(false);
  });

  const failures: readonly (readonly [string, string, (files: Files, at: (name: string) => string) => void])[] = [
    ['reading what is not there', 'ENOENT', (f, p) => f.readText(p('none'))],
    ['reading a directory', 'EISDIR', (f, p) => f.readText(p('dir'))],
    ['reading a range of what is not there', 'ENOENT', (f, p) => f.readRange(p('none'), 0, 1)],
    ['writing below what is not there', 'ENOENT', (f, p) => f.write(p('none/a'), '')],
    ['writing over a directory', 'EISDIR', (f, p) => f.write(p('dir'), '')],
    ['writing below a file', 'ENOTDIR', (f, p) => f.write(p('file/a'), '')],
    ['creating what is there', 'EEXIST', (f, p) => void f.open(p('file'), 'exclusive')],
    ['linking over what is there', 'EEXIST', (f, p) => f.link(p('file'), p('other'))],
    ['linking what is not there', 'ENOENT', (f, p) => f.link(p('none'), p('new'))],
    ['renaming what is not there', 'ENOENT', (f, p) => f.rename(p('none'), p('new'))],
    ['renaming a file over a directory', 'EISDIR', (f, p) => f.rename(p('file'), p('dir'))],
    ['renaming a directory over a file', 'ENOTDIR', (f, p) => f.rename(p('dir'), p('file'))],
    ['unlinking what is not there', 'ENOENT', (f, p) => f.unlink(p('none'))],
    ['removing what is not there', 'ENOENT', (f, p) => f.remove(p('none'))],
    ['making a directory over a file', 'EEXIST', (f, p) => f.mkdir(p('file'))],
    ['making a directory below a file', 'ENOTDIR', (f, p) => f.mkdir(p('file/sub'))],
    ['listing what is not there', 'ENOENT', (f, p) => f.list(p('none'))],
    ['listing a file', 'ENOTDIR', (f, p) => f.list(p('file'))],
    ['resolving what is not there', 'ENOENT', (f, p) => f.realPath(p('none'))],
  ];

  it.each(failures)('%s fails with %s', (_what, code, act) => {
    files.mkdir(at('dir'));
    files.write(at('file'), '');
    files.write(at('other'), '');
    expect(() => act(files, at)).toThrow(expect.objectContaining({ code }));
  });
});

describe('fault points', () => {
  function save(files: Files): void {
    const handle = files.open('/project/new', 'exclusive');
    handle.write('content');
    handle.sync();
    handle.close();
    files.rename('/project/new', '/project/file');
  }

  it('counts every call that changes something', () => {
    const files = new FaultyFiles(new FakeFiles());
    save(files);
    expect(files.calls).toEqual([
      'open /project/new exclusive',
      'handle.write /project/new',
      'handle.sync /project/new',
      'rename /project/new /project/file',
    ]);
  });

  it('a failing call throws an error of the disk and changes nothing', () => {
    const inner = new FakeFiles();
    const files = new FaultyFiles(inner, { at: 3, how: 'fail', code: 'EROFS' });
    expect(() => save(files)).toThrow(expect.objectContaining({ code: 'EROFS', path: '/project/new' }));
    expect(inner.list('/project')).toEqual(['new']);
    files.rename('/project/new', '/project/file');
    expect(inner.list('/project')).toEqual(['file']);
  });

  const deaths = [
    ['killBefore', 3, ['new'], 'content'],
    ['killAfter', 3, ['file'], 'content'],
    ['tear', 1, ['new'], 'con'],
  ] as const;

  it.each(deaths)('%s at call %i leaves %j', (how, index, names, text) => {
    const inner = new FakeFiles();
    const files = new FaultyFiles(inner, { at: index, how });
    expect(() => save(files)).toThrow(KilledHere);
    expect(inner.list('/project')).toEqual(names);
    expect(inner.readText(`/project/${names[0]}`)).toBe(text);
    expect(() => files.unlink('/project/new')).toThrow(KilledHere);
  });
});
