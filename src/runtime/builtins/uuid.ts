import { createHash } from 'node:crypto';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { thrownText } from '../errors.ts';

const NIL = '00000000-0000-0000-0000-000000000000';

/** The name spaces of RFC 9562. */
const NAMESPACES: Readonly<Record<string, string>> = {
  dns: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  url: '6ba7b811-9dad-11d1-80b4-00c04fd430c8',
  oid: '6ba7b812-9dad-11d1-80b4-00c04fd430c8',
  x500: '6ba7b814-9dad-11d1-80b4-00c04fd430c8',
};

/** UUIDs beside the random one (spec/language.md 12.15). */
export const UUID: BuiltinGroup = {
  name: 'uuid',
  title: 'UUIDs',
  errors: [{ text: "uuid_v5: unknown namespace 'N'; use dns, url, oid, x500 or a UUID", when: '`uuid_v5`' }],
  builtins: {
    uuid_v7: { signature: '() -> string', doc: 'A UUID that sorts by time.', call: (c) => c.run.platform.random.uuidV7() },
    uuid_v5: {
      signature: '(namespace: any, name: any) -> string',
      doc: 'The UUID of a name within `dns`, `url`, `oid`, `x500` or another UUID: always the same.',
      call: (_c, _d, namespace, name) => uuidV5(textArgument(namespace), textArgument(name)),
    },
    uuid_parse: {
      signature: '(text: any) -> string | nil',
      doc: 'A UUID in its usual form; nil when the text is none.',
      call: (_c, _d, text) => parseUuid(textArgument(text)),
    },
    uuid_nil: { signature: '() -> string', doc: 'The UUID of zeros.', call: () => NIL },
  },
};

function parseUuid(text: string): string | undefined {
  const digits = text.replace(/^urn:uuid:/i, '').replace(/^\{(.*)\}$/, '$1');
  const isUuid = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32})$/i.test(digits);
  return isUuid ? withHyphens(digits.replaceAll('-', '').toLowerCase()) : undefined;
}

function withHyphens(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function uuidV5(namespace: string, name: string): string {
  const space = NAMESPACES[namespace.toLowerCase()] ?? parseUuid(namespace);
  if (space === undefined) throw thrownText(`uuid_v5: unknown namespace '${namespace}'; use dns, url, oid, x500 or a UUID`);
  const hash = createHash('sha1')
    .update(Buffer.from(space.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return withHyphens(hash.toString('hex'));
}
