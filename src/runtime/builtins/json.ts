import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { parseJson, stringify } from '../json.ts';

/** JSON (spec/language.md 12.5). */
export const JSON_GROUP: BuiltinGroup = {
  name: 'json',
  title: 'JSON',
  errors: [{ text: 'JSON parse error: DETAIL', when: '`json_parse`' }],
  builtins: {
    json_parse: {
      signature: '(text: string | any) -> any',
      doc: 'The value of JSON text; throws `JSON parse error: …`.',
      call: (_c, _d, text) => parseJson(textArgument(text, 'nil')),
    },
    json_stringify: {
      signature: '(value: any) -> string',
      doc: 'Compact JSON with sorted keys.',
      call: (_c, _d, value) => stringify(value),
    },
  },
};
