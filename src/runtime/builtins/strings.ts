import type { BuiltinGroup } from '../builtin.ts';
import { display } from '../display.ts';
import { equals } from '../equality.ts';
import { runtimeError } from '../errors.ts';
import { joinList } from '../methods/methods-list.ts';
import { sliceText, splitText } from '../text.ts';
import { Dict, textOf, type Value } from '../value.ts';

const text = (value: Value): string => (typeof value === 'string' ? value : value === undefined ? '' : display(value));
const FORMS: ReadonlySet<string> = new Set(['NFC', 'NFD', 'NFKC', 'NFKD']);

function graphemes(value: string): string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(value)].map(({ segment }) => segment);
}

function pad(value: string, width: Value, fill: Value, side: Value): string {
  const where = side === undefined ? 'right' : text(side);
  if (where !== 'left' && where !== 'right' && where !== 'both') throw runtimeError('str_pad: side must be left, right, or both');
  const missing = Math.max(0, (typeof width === 'number' ? width : 0) - graphemes(value).length);
  const [filler = ' '] = graphemes(fill === undefined ? ' ' : text(fill));
  const left = where === 'left' ? missing : where === 'both' ? Math.floor(missing / 2) : 0;
  return filler.repeat(left) + value + filler.repeat(missing - left);
}

/** Text functions (spec/language.md 12.2). Each displays its argument first. */
export const STRINGS: BuiltinGroup = {
  name: 'strings',
  title: 'Strings',
  errors: [
    { text: 'Runtime error: str_pad: side must be left, right, or both', when: '`str_pad`' },
    { text: 'Runtime error: unicode_normalize: form must be NFC, NFD, NFKC, or NFKD', when: '`unicode_normalize`' },
  ],
  builtins: {
    trim: { signature: '(value: any) -> string', doc: 'Without white space at both ends.', call: (_c, _d, value) => text(value).trim() },
    lowercase: { signature: '(value: any) -> string', doc: 'In lower case.', call: (_c, _d, value) => text(value).toLowerCase() },
    uppercase: { signature: '(value: any) -> string', doc: 'In upper case.', call: (_c, _d, value) => text(value).toUpperCase() },
    split: {
      signature: '(value: any, separator: any = " ") -> list<string>',
      doc: 'The pieces between separators. The default separator is one blank.',
      call: (_c, _d, value, separator) => splitText(text(value), separator === undefined ? ' ' : text(separator)),
    },
    join: {
      signature: '(items: list | any, separator: any = "") -> string',
      doc: 'The elements, displayed, with the separator between them.',
      call: (_c, _d, items, separator) => (Array.isArray(items) ? joinList(items, text(separator)) : ''),
    },
    replace: {
      signature: '(value: any, old: any, new: any) -> string',
      doc: 'With every occurrence of `old` replaced, literally.',
      call: (_c, _d, value, old, replacement) => text(value).replaceAll(text(old), () => text(replacement)),
    },
    contains: {
      signature: '(container: string | list | any, item: any) -> bool',
      doc: 'True when a text holds the other, or a list an equal element.',
      call: (_c, _d, container, item) => {
        if (typeof container === 'string') return container.includes(text(item));
        if (Array.isArray(container)) return container.some((element) => equals(element, item));
        // A diagnostic value stands in for its text.
        return container instanceof Dict && (textOf(container)?.includes(text(item)) ?? false);
      },
    },
    starts_with: {
      signature: '(value: any, prefix: any) -> bool',
      doc: 'True when the text begins so.',
      call: (_c, _d, value, prefix) => text(value).startsWith(text(prefix)),
    },
    ends_with: {
      signature: '(value: any, suffix: any) -> bool',
      doc: 'True when the text ends so.',
      call: (_c, _d, value, suffix) => text(value).endsWith(text(suffix)),
    },
    substring: {
      signature: '(value: any, start: any, length: any = nil) -> string',
      doc: 'From a position, at most `length` code points. A negative start reads as 0.',
      call: (_c, _d, value, start, length) => {
        const from = typeof start === 'number' ? Math.max(0, start) : 0;
        return sliceText(text(value), from, typeof length === 'number' ? from + Math.max(0, length) : undefined);
      },
    },
    str_pad: {
      signature: '(value: any, width: any, fill: any = " ", side: any = "right") -> string',
      doc: 'Padded to a width in graphemes on the given side.',
      call: (_c, _d, value, width, fill, side) => pad(text(value), width, fill, side),
    },
    unicode_normalize: {
      signature: '(value: any, form: any = "NFC") -> string',
      doc: 'In a normal form: NFC, NFD, NFKC or NFKD.',
      call: (_c, _d, value, form) => {
        const name = form === undefined ? 'NFC' : text(form).toUpperCase();
        if (!FORMS.has(name)) throw runtimeError('unicode_normalize: form must be NFC, NFD, NFKC, or NFKD');
        return text(value).normalize(name);
      },
    },
    unicode_graphemes: {
      signature: '(value: any) -> list<string>',
      doc: 'What a reader sees as single characters.',
      call: (_c, _d, value) => graphemes(text(value)),
    },
    bytes_from_string: {
      signature: '(value: any) -> bytes',
      doc: 'The UTF-8 bytes of the text.',
      call: (_c, _d, value) => new TextEncoder().encode(text(value)),
    },
    bytes_len: {
      signature: '(value: any) -> int',
      doc: 'Number of bytes.',
      call: (_c, _d, value) => (value instanceof Uint8Array ? value.length : new TextEncoder().encode(text(value)).length),
    },
  },
};
