import { createHash, createHmac } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { isSameInConstantTime } from '../../base/constant-time.ts';
import { bytesArgument } from '../arguments.ts';
import { normalInt } from '../arithmetic.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { display } from '../display.ts';
import { equals, identity, structuralKey } from '../equality.ts';
import { typeOf, type Value } from '../value.ts';

function digest(label: string, compute: (bytes: Uint8Array) => string): Builtin {
  return {
    signature: '(value: any) -> string',
    doc: `${label} of a text or of bytes, in hex.`,
    call: (_c, _d, value) => compute(bytesArgument(value)),
  };
}

const openssl = (algorithm: string, label: string): Builtin => digest(label, (bytes) => createHash(algorithm).update(bytes).digest('hex'));

function hmac(key: Value, message: Value, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', bytesArgument(key)).update(bytesArgument(message)).digest(encoding);
}

/** FNV-1a, 64 bits, over the structural key: equal values of one kind give equal numbers, on every machine. */
function fnv1a(value: Value): number | bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(structuralKey(value))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return normalInt(hash);
}

function isShared(value: Value): value is Exclude<Value, undefined | boolean | number | bigint | string> {
  return typeof value === 'object' || typeof value === 'function';
}

/** Text of the identity of a value: what it shows for plain kinds, a number for anything that lives in memory. */
function addressOf(value: Value): string {
  return `${typeOf(value)}@${isShared(value) ? `0x${identity(value).toString(16).padStart(8, '0')}` : display(value)}`;
}

/** Hashes and identity (spec/language.md 12.12, 12.15). */
export const HASHING: BuiltinGroup = {
  name: 'hashing',
  title: 'Hashes and identity',
  builtins: {
    md5: openssl('md5', 'MD5'),
    sha224: openssl('sha224', 'SHA-224'),
    sha256: openssl('sha256', 'SHA-256'),
    sha384: openssl('sha384', 'SHA-384'),
    sha512: openssl('sha512', 'SHA-512'),
    sha512_256: openssl('sha512-256', 'SHA-512/256'),
    sha3_256: openssl('sha3-256', 'SHA3-256'),
    sha3_512: openssl('sha3-512', 'SHA3-512'),
    blake3: digest('BLAKE3', (bytes) => Buffer.from(blake3(bytes)).toString('hex')),
    hash_value: {
      signature: '(value: any) -> int',
      doc: 'A number that is the same for structurally equal values of one kind.',
      call: (_c, _d, value) => fnv1a(value),
    },
    hmac_sha256: {
      signature: '(key: any, message: any) -> string',
      doc: 'HMAC with SHA-256, in hex.',
      call: (_c, _d, key, message) => hmac(key, message, 'hex'),
    },
    hmac_sha256_base64: {
      signature: '(key: any, message: any) -> string',
      doc: 'HMAC with SHA-256, in base64.',
      call: (_c, _d, key, message) => hmac(key, message, 'base64'),
    },
    constant_time_eq: {
      signature: '(a: any, b: any) -> bool',
      doc: 'Compares texts in a time that does not depend on what they hold.',
      call: (_c, _d, a, b) => isSameInConstantTime(bytesArgument(a), bytesArgument(b)),
    },
    is_same: {
      signature: '(a: any, b: any) -> bool',
      doc: 'True for one and the same value in memory; plain kinds compare with `==`.',
      call: (_c, _d, a, b) => (isShared(a) || isShared(b) ? a === b : typeOf(a) === typeOf(b) && equals(a, b)),
    },
    addr_of: {
      signature: '(value: any) -> string',
      doc: 'A text that stands for the identity of a value; a whole number shows as `int@42`.',
      call: (_c, _d, value) => addressOf(value),
    },
  },
};
