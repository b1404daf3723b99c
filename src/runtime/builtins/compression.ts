import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { unzipSync, type Zippable, zipSync } from 'fflate';
import { createTar, parseTar } from 'nanotar';
import { errorText } from '../../base/harn-error.ts';
import { bytesArgument, intArgument, optionsArgument, textOption } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { dictGet, dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { compressZstd, decompressZstd } from '../formats/zstandard.ts';
import type { Value } from '../value.ts';

/** What a library refuses becomes a thrown text. */
function guarded<T>(name: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw thrownText(`${name}: ${errorText(error)}`);
  }
}

type Compress = (data: Uint8Array, level: number | undefined) => Uint8Array;

function codec(label: string, compress: Compress, decompress: (data: Uint8Array) => Uint8Array): Record<string, Builtin> {
  const [encode, decode] = [`${label}_encode`, `${label}_decode`];
  return {
    [encode]: {
      signature: '(data: any, level: any = nil) -> bytes',
      doc: `A text, or bytes, compressed by ${label}.`,
      call: (_c, _d, data, level) =>
        guarded(encode, () => new Uint8Array(compress(bytesArgument(data), typeof level === 'number' ? level : undefined))),
    },
    [decode]: {
      signature: '(data: any) -> bytes',
      doc: `The bytes that were compressed by ${label}; throws when they were not.`,
      call: (_c, _d, data) => guarded(decode, () => new Uint8Array(decompress(bytesArgument(data)))),
    },
  };
}

function clamp(level: number | undefined, low: number, high: number, fallback: number): number {
  return Math.min(high, Math.max(low, level ?? fallback));
}

// ---- archives ----

interface ArchiveEntry {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

const DEFAULT_MODE = 0o644;

function entriesOf(name: string, value: Value): ArchiveEntry[] {
  if (!Array.isArray(value)) throw thrownText(`${name}: expected a list of entries`);
  return value.map((item: Value) => {
    const entry = optionsArgument(item);
    const path = textOption(entry, 'path');
    if (path === undefined || path === '') throw thrownText(`${name}: an entry needs a path`);
    return { path, content: bytesArgument(dictGet(entry, 'content')), mode: intArgument(dictGet(entry, 'mode'), DEFAULT_MODE) };
  });
}

/** A path that would leave the folder it is unpacked into is refused, here rather than by each script. */
function entryValue(name: string, { path, content, mode }: ArchiveEntry): Value {
  if (path.startsWith('/') || path.split(/[/\\]/).includes('..')) throw thrownText(`${name}: unsafe path ${path}`);
  return dictOf([
    ['path', path],
    ['content', content],
    ['mode', mode],
    ['size', content.length],
  ]);
}

/** Archives carry no time, so that the same entries always give the same bytes. */
const EPOCH_OF_ZIP = 315_532_800_000;

const TAR_BLOCK = 512;

function createZip(entries: readonly ArchiveEntry[]): Uint8Array {
  const files: Zippable = {};
  for (const { path, content, mode } of entries) {
    files[path] = [content, { mtime: EPOCH_OF_ZIP, os: 3, attrs: (0o100000 | mode) << 16 }];
  }
  return zipSync(files);
}

function createArchive(entries: readonly ArchiveEntry[]): Uint8Array {
  if (entries.length === 0) return new Uint8Array(2 * TAR_BLOCK);
  return createTar(
    entries.map(({ path, content, mode }) => ({ name: path, data: content, attrs: { mode: mode.toString(8), mtime: 0, uid: 0, gid: 0 } })),
  );
}

/** Where a header keeps its checksum: octal digits for the sum of its bytes, these eight counted as blanks. */
const CHECKSUM = { start: 148, end: 156 } as const;

/** The library takes whatever it is given for an archive, so the first header is looked at here. */
function parseArchive(archive: Uint8Array) {
  const header = archive.subarray(0, TAR_BLOCK);
  if (archive.length === 0 || (header.length === TAR_BLOCK && header.every((byte) => byte === 0))) return [];
  const sum = header.reduce((total, byte, at) => total + (at >= CHECKSUM.start && at < CHECKSUM.end ? 0x20 : byte), 0);
  const stated = Number.parseInt(Buffer.from(header.subarray(CHECKSUM.start, CHECKSUM.end)).toString('latin1'), 8);
  if (header.length < TAR_BLOCK || sum !== stated) throw new Error('invalid tar data');
  // A copy: the library reads the whole memory behind a view.
  return parseTar(archive.slice());
}

/** Compression and archives (spec/language.md 12.12). */
export const COMPRESSION: BuiltinGroup = {
  name: 'compression',
  title: 'Compression and archives',
  errors: [
    { text: 'NAME: …', when: 'what is to be unpacked was not packed that way' },
    { text: 'NAME: expected a list of entries', when: '`tar_create`, `zip_create`' },
    { text: 'NAME: an entry needs a path', when: '`tar_create`, `zip_create`' },
    { text: 'NAME: unsafe path P', when: '`zip_extract` of an archive with a path that is absolute or climbs with `..`' },
  ],
  builtins: {
    ...codec('gzip', (data, level) => gzipSync(data, { level: clamp(level, 0, 9, 6) }), gunzipSync),
    ...codec('zstd', compressZstd, decompressZstd),
    ...codec(
      'brotli',
      (data, level) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: clamp(level, 0, 11, 9) } }),
      brotliDecompressSync,
    ),
    tar_create: {
      signature: '(entries: list) -> bytes',
      doc: 'A tar archive of `{path, content, mode}` entries.',
      call: (_c, _d, given) => {
        const entries = entriesOf('tar_create', given);
        return guarded('tar_create', () => createArchive(entries));
      },
    },
    tar_extract: {
      signature: '(archive: any) -> list',
      doc: 'The files of a tar archive: `{path, content, mode, size}`.',
      call: (_c, _d, archive) =>
        guarded('tar_extract', () => parseArchive(bytesArgument(archive)))
          .filter(({ type }) => type === 'file' || type === undefined)
          .map(({ name, data, attrs }) =>
            entryValue('tar_extract', { path: name, content: new Uint8Array(data ?? []), mode: Number.parseInt(attrs?.mode ?? '644', 8) }),
          ),
    },
    zip_create: {
      signature: '(entries: list) -> bytes',
      doc: 'A ZIP archive of `{path, content, mode}` entries.',
      call: (_c, _d, given) => {
        const entries = entriesOf('zip_create', given);
        return guarded('zip_create', () => createZip(entries));
      },
    },
    zip_extract: {
      signature: '(archive: any) -> list',
      doc: 'The files of a ZIP archive: `{path, content, mode, size}`.',
      call: (_c, _d, archive) =>
        Object.entries(guarded('zip_extract', () => unzipSync(bytesArgument(archive))))
          .filter(([path]) => !path.endsWith('/'))
          .map(([path, content]) => entryValue('zip_extract', { path, content, mode: DEFAULT_MODE })),
    },
  },
};
