import { parse, stringify } from 'yaml';
import { errorText } from '../../base/harn-error.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { thrownText } from '../errors.ts';
import { fromPlainData, toPlainData } from '../formats/plain-data.ts';

/** YAML 1.2 (spec/language.md 12.11). */
export const YAML: BuiltinGroup = {
  name: 'yaml',
  title: 'YAML',
  errors: [{ text: 'YAML parse error: …', when: '`yaml_parse`' }],
  builtins: {
    yaml_parse: {
      signature: '(text: string | any) -> any',
      doc: 'The value of a YAML document; throws `YAML parse error: …`.',
      call: (_c, _d, text) => {
        try {
          return fromPlainData(parse(textArgument(text), { intAsBigInt: true, merge: true, prettyErrors: true, logLevel: 'error' }));
        } catch (error) {
          throw thrownText(`YAML parse error: ${errorText(error).split('\n')[0]?.replace(/:$/, '') ?? ''}`);
        }
      },
    },
    yaml_stringify: {
      signature: '(value: any) -> string',
      doc: 'A value as a YAML document, keys sorted.',
      call: (_c, _d, value) => stringify(toPlainData(value), { aliasDuplicateObjects: false, lineWidth: 0 }),
    },
  },
};
