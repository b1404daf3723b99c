import { isSameInConstantTime } from '../../base/constant-time.ts';
import { bytesArgument, intArgument, textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { thrownText, typeError } from '../errors.ts';
import { decodeBase32, encodeBase32 } from '../formats/base32.ts';
import { typeOf, type Value } from '../value.ts';

function requireBytes(name: string, value: Value): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw typeError(`${name}: expected bytes, got ${typeOf(value)}`);
}

function strictText(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw thrownText(`${name}: invalid UTF-8`);
  }
}

// ---- text encodings of bytes ----

interface Encoding {
  readonly label: string;
  encode(bytes: Uint8Array): string;
  /** Undefined for text that is not of this encoding. */
  decode(text: string): Uint8Array | undefined;
}

const BASE64: Encoding = {
  label: 'base64',
  encode: (bytes) => Buffer.from(bytes).toString('base64'),
  decode: (text) =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) ? fromBuffer(text, 'base64') : undefined,
};

const BASE64URL: Encoding = {
  label: 'base64url',
  encode: (bytes) => Buffer.from(bytes).toString('base64url'),
  decode: (text) => {
    const digits = text.replace(/={1,2}$/, '');
    return /^[A-Za-z0-9_-]*$/.test(digits) && digits.length % 4 !== 1 ? fromBuffer(digits, 'base64url') : undefined;
  },
};

const BASE32: Encoding = { label: 'base32', encode: encodeBase32, decode: decodeBase32 };

const HEX: Encoding = {
  label: 'hex',
  encode: (bytes) => Buffer.from(bytes).toString('hex'),
  decode: (text) => (/^(?:[0-9a-fA-F]{2})*$/.test(text) ? fromBuffer(text, 'hex') : undefined),
};

function fromBuffer(text: string, encoding: 'base64' | 'base64url' | 'hex'): Uint8Array {
  return new Uint8Array(Buffer.from(text, encoding));
}

function decoded(name: string, encoding: Encoding, value: Value): Uint8Array {
  const bytes = encoding.decode(textArgument(value));
  if (bytes === undefined) throw thrownText(`${name}: invalid ${encoding.label}`);
  return bytes;
}

/** `NAME_encode` and `NAME_decode`, which work on the UTF-8 bytes of text. */
function textCodec(encoding: Encoding): Record<string, Builtin> {
  const { label } = encoding;
  return {
    [`${label}_encode`]: {
      signature: '(value: any) -> string',
      doc: `The text, or bytes, in ${label}.`,
      call: (_c, _d, value) => encoding.encode(bytesArgument(value)),
    },
    [`${label}_decode`]: {
      signature: '(value: any) -> string',
      doc: `The text that was written in ${label}; throws when it is not that, or not UTF-8.`,
      call: (_c, _d, value) => strictText(`${label}_decode`, decoded(`${label}_decode`, encoding, value)),
    },
  };
}

/** `bytes_to_NAME` and `bytes_from_NAME`. */
function bytesCodec(encoding: Encoding): Record<string, Builtin> {
  const { label } = encoding;
  return {
    [`bytes_to_${label}`]: {
      signature: '(value: any) -> string',
      doc: `The bytes in ${label}.`,
      call: (_c, _d, value) => encoding.encode(bytesArgument(value)),
    },
    [`bytes_from_${label}`]: {
      signature: '(value: any) -> bytes',
      doc: `The bytes that were written in ${label}; throws when it is not that.`,
      call: (_c, _d, value) => decoded(`bytes_from_${label}`, encoding, value),
    },
  };
}

function sliceBytes(bytes: Uint8Array, start: Value, end: Value): Uint8Array {
  return bytes.slice(intArgument(start, 0), end === undefined ? undefined : intArgument(end, 0));
}

/** Bytes and their encodings (spec/language.md 12.11, 12.12). */
export const BYTES: BuiltinGroup = {
  name: 'bytes',
  title: 'Bytes and encodings',
  errors: [
    { text: 'Type error: NAME: expected bytes, got T', when: 'an argument that must be bytes is something else' },
    { text: 'NAME: invalid UTF-8', when: 'the bytes are no text' },
    { text: 'NAME: invalid ENCODING', when: 'the text is not written in that encoding' },
  ],
  builtins: {
    bytes_to_string: {
      signature: '(value: bytes) -> string',
      doc: 'The text of UTF-8 bytes; throws when they are not UTF-8.',
      call: (_c, _d, value) => strictText('bytes_to_string', requireBytes('bytes_to_string', value)),
    },
    bytes_to_string_lossy: {
      signature: '(value: bytes) -> string',
      doc: 'The text of UTF-8 bytes, with U+FFFD for what is not UTF-8.',
      call: (_c, _d, value) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(requireBytes('bytes_to_string_lossy', value)),
    },
    bytes_concat: {
      signature: '(...parts: any) -> bytes',
      doc: 'All bytes one after another; a list of bytes is spread.',
      call: (_c, _d, ...parts) => new Uint8Array(Buffer.concat(parts.flat().map((part) => requireBytes('bytes_concat', part as Value)))),
    },
    bytes_slice: {
      signature: '(value: bytes, start: any, end: any = nil) -> bytes',
      doc: 'From a start to an end position; negative ones count from the end.',
      call: (_c, _d, value, start, end) => sliceBytes(requireBytes('bytes_slice', value), start, end),
    },
    bytes_eq: {
      signature: '(a: any, b: any) -> bool',
      doc: 'Compares in a time that does not depend on the content.',
      call: (_c, _d, a, b) => isSameInConstantTime(bytesArgument(a), bytesArgument(b)),
    },
    ...bytesCodec(HEX),
    ...bytesCodec(BASE64),
    ...textCodec(BASE64),
    ...textCodec(BASE64URL),
    ...textCodec(BASE32),
    ...textCodec(HEX),
  },
};
