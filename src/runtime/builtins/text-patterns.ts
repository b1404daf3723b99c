import { textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { dictGet, dictHas, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { convertCase, type LetterCase, lowerFirst, titleCase, upperFirst } from '../letter-case.ts';
import { compileRegex, replaceAllMatches } from '../regex.ts';
import { Dict, type Value } from '../value.ts';

const regexOf = (pattern: Value, flags?: Value): RegExp => compileRegex(textArgument(pattern), textArgument(flags));

/** Patterns, placeholders and the styles of names (spec/language.md 12.11). */
export const TEXT_PATTERNS: BuiltinGroup = {
  name: 'text-patterns',
  title: 'Regular expressions, formats, styles of names',
  builtins: {
    regex_match: {
      signature: '(pattern: any, text: any, flags: any = "") -> list<string> | nil',
      doc: 'Every match, or nil when there is none. Flags: `i m s x`. Throws `Invalid regex: …`.',
      call: (_c, _d, pattern, text, flags) => textArgument(text).match(regexOf(pattern, flags)) ?? undefined,
    },
    regex_replace: replacing('Every match replaced; `$1`, `${1}` and `$name` stand for groups.'),
    regex_replace_all: replacing('The same as regex_replace.'),
    regex_captures: {
      signature: '(pattern: any, text: any, flags: any = "") -> list<dict>',
      doc: 'For each match a dict of `match`, `groups` and the named groups. A group that took no part is nil.',
      call: (_c, _d, pattern, text, flags) => [...textArgument(text).matchAll(regexOf(pattern, flags))].map(capture),
    },
    regex_split: {
      signature: '(text: any, pattern: any, flags: any = "") -> list<string>',
      doc: 'The pieces between matches.',
      call: (_c, _d, text, pattern, flags) => splitByRegex(textArgument(text), regexOf(pattern, flags)),
    },
    format: {
      signature: '(template: any, ...values: any) -> string',
      doc: 'Fills `{}` in order, or `{name}` from a dict; placeholders without a value stay.',
      call: (_c, _d, template, ...values) => format(textArgument(template), values),
    },
    snake_to_camel: converting('camel'),
    snake_to_pascal: converting('pascal'),
    snake_to_kebab: converting('kebab'),
    kebab_to_camel: converting('camel'),
    kebab_to_snake: converting('snake'),
    camel_to_snake: converting('snake'),
    camel_to_kebab: converting('kebab'),
    camel_to_pascal: converting('pascal'),
    pascal_to_snake: converting('snake'),
    pascal_to_camel: converting('camel'),
    title_case: {
      signature: '(text: any) -> string',
      doc: 'Every word with a capital.',
      call: (_c, _d, text) => titleCase(textArgument(text)),
    },
    uppercase_first: {
      signature: '(text: any) -> string',
      doc: 'With a capital in front.',
      call: (_c, _d, text) => upperFirst(textArgument(text)),
    },
    lowercase_first: {
      signature: '(text: any) -> string',
      doc: 'With a small letter in front.',
      call: (_c, _d, text) => lowerFirst(textArgument(text)),
    },
  },
};

function replacing(doc: string): Builtin {
  return {
    signature: '(pattern: any, replacement: any, text: any) -> string',
    doc,
    call: (_c, _d, pattern, replacement, text) => replaceAllMatches(regexOf(pattern), textArgument(replacement), textArgument(text)),
  };
}

function converting(style: LetterCase): Builtin {
  return {
    signature: '(name: any) -> string',
    doc: `The words of a name in ${style} case.`,
    call: (_c, _d, name) => convertCase(textArgument(name), style),
  };
}

function capture(found: RegExpExecArray): Value {
  return dictOf([['match', found[0]], ['groups', found.slice(1)], ...Object.entries(found.groups ?? {})]);
}

/** `String.split` would put the groups of the pattern among the pieces. */
function splitByRegex(text: string, regex: RegExp): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(regex)) {
    pieces.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return [...pieces, text.slice(from)];
}

function format(template: string, values: readonly Value[]): string {
  const [first] = values;
  if (first instanceof Dict && values.length === 1 && !template.includes('{}')) {
    return template.replaceAll(/\{([^{}]+)\}/g, (written, name: string) =>
      dictHas(first, name) ? display(dictGet(first, name)) : written,
    );
  }
  let next = 0;
  return template.replaceAll('{}', (written) => (next < values.length ? display(values[next++]) : written));
}
