import * as zlib from 'node:zlib';
import { decompress } from 'fzstd';

/**
 * Zstandard (RFC 8878). Node has it from 22.15 on. Before that, frames are read by a library and written by hand as raw
 * blocks: every reader accepts them, but they are not smaller than what they hold.
 */
interface ZstdOfNode {
  zstdCompressSync?(data: Uint8Array, options?: object): Buffer;
  zstdDecompressSync?(data: Uint8Array): Buffer;
  constants: { ZSTD_c_compressionLevel?: number };
}

const node = zlib as unknown as ZstdOfNode;

export function compressZstd(data: Uint8Array, level: number | undefined): Uint8Array {
  if (node.zstdCompressSync === undefined) return rawFrame(data);
  const parameter = node.constants.ZSTD_c_compressionLevel;
  const options = level === undefined || parameter === undefined ? {} : { params: { [parameter]: level } };
  return new Uint8Array(node.zstdCompressSync(data, options));
}

/** @throws Error for data that is no Zstandard frame */
export function decompressZstd(data: Uint8Array): Uint8Array {
  return new Uint8Array(node.zstdDecompressSync?.(data) ?? decompress(data));
}

const MAGIC = 0xfd2fb528;
const MAX_BLOCK = 128 * 1024;

/** Magic number, a header with an 8-byte content size and a single segment, then blocks as they are. */
function rawFrame(data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt8(0b1110_0000, 4);
  header.writeBigUInt64LE(BigInt(data.length), 5);
  const parts: Uint8Array[] = [header];
  let at = 0;
  do {
    const block = data.subarray(at, at + MAX_BLOCK);
    at += block.length;
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | (at >= data.length ? 1 : 0), 0, 3);
    parts.push(head, block);
  } while (at < data.length);
  return new Uint8Array(Buffer.concat(parts));
}
