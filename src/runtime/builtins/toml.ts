import { parse, stringify } from 'smol-toml';
import { errorText } from '../../base/harn-error.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { thrownText } from '../errors.ts';
import { fromPlainData, type PlainData, toPlainData } from '../formats/plain-data.ts';
import { Dict, StructValue, type Value } from '../value.ts';

/** TOML has no null: such entries are left out. */
function withoutNulls(data: PlainData): PlainData {
  if (Array.isArray(data)) {
    if (data.includes(null)) throw thrownText('TOML stringify error: a list with nil has no TOML form');
    return data.map(withoutNulls);
  }
  if (typeof data !== 'object' || data === null || data instanceof Date) return data;
  return Object.fromEntries(Object.entries(data).flatMap(([key, item]) => (item === null ? [] : [[key, withoutNulls(item)]])));
}

function write(value: Value): string {
  if (!(value instanceof Dict) && !(value instanceof StructValue)) throw thrownText('TOML stringify error: the top level must be a dict');
  return stringify(withoutNulls(toPlainData(value)));
}

/** TOML 1.0 (spec/language.md 12.11). */
export const TOML: BuiltinGroup = {
  name: 'toml',
  title: 'TOML',
  errors: [
    { text: 'TOML parse error: …', when: '`toml_parse`' },
    { text: 'TOML stringify error: the top level must be a dict', when: '`toml_stringify`' },
    { text: 'TOML stringify error: a list with nil has no TOML form', when: '`toml_stringify`' },
  ],
  builtins: {
    toml_parse: {
      signature: '(text: string | any) -> dict',
      doc: 'The value of a TOML document; dates are texts. Throws `TOML parse error: …`.',
      call: (_c, _d, text) => {
        try {
          return fromPlainData(parse(textArgument(text), { integersAsBigInt: true }));
        } catch (error) {
          throw thrownText(`TOML parse error: ${errorText(error).split('\n')[0] ?? ''}`);
        }
      },
    },
    toml_stringify: {
      signature: '(value: any) -> string',
      doc: 'A dict as a TOML document. Entries that hold nil are left out.',
      call: (_c, _d, value) => write(value),
    },
  },
};
