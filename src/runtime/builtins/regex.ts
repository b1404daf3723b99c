import { errorText } from '../../base/harn-error.ts';
import { textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { translatePattern } from '../regex-syntax.ts';
import type { Value } from '../value.ts';

const CACHE = Symbol('regular expressions');
const CACHE_LIMIT = 256;

/** The compiled pattern for this text; throws `Invalid regex: …`. */
function compile(context: Context, pattern: Value, flags: Value, text: string): RegExp {
  const cache = context.run.service(CACHE, () => new Map<string, RegExp>());
  const isUnicode = /[^\0-\x7f]/.test(text);
  const [source, letters] = [textArgument(pattern), textArgument(flags)];
  const key = `${isUnicode ? 'u' : 'a'}${letters}/${source}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const compiled = build(source, letters, isUnicode);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(key, compiled);
  return compiled;
}

function build(source: string, letters: string, isUnicode: boolean): RegExp {
  const unknown = /[^imsx]/.exec(letters);
  if (unknown !== null) throw thrownText(`Invalid regex: unknown flag \`${unknown[0]}\``);
  try {
    const translated = translatePattern(source, letters, isUnicode);
    return new RegExp(translated.source, translated.flags);
  } catch (error) {
    // V8 says which pattern after translation; what the script wrote is what its author knows.
    const reason = errorText(error).replace(/^Invalid regular expression: \/.*\/\w*: /su, '');
    throw thrownText(`Invalid regex: ${reason} in \`${source}\``);
  }
}

function matches(context: Context, pattern: Value, text: string, flags?: Value): RegExpExecArray[] {
  return [...text.matchAll(compile(context, pattern, flags, text))];
}

function captures(match: RegExpExecArray): Value {
  return dictOf([['match', match[0]], ['groups', match.slice(1)], ...Object.entries(match.groups ?? {})]);
}

/** `$1`, `${1}`, `$name`, `${name}` and `$$`; a group that does not exist is empty. */
function expand(replacement: string, match: RegExpExecArray): string {
  return replacement.replaceAll(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    if (whole === '$$') return '$';
    const name = braced ?? bare ?? '';
    const group = groupOf(match, name);
    if (group !== undefined || bare === undefined) return group ?? '';
    // `$1px` means the group 1 and then `px`.
    const number = /^\d+/.exec(bare)?.[0];
    return number === undefined ? '' : (groupOf(match, number) ?? '') + bare.slice(number.length);
  });
}

function groupOf(match: RegExpExecArray, name: string): string | undefined {
  return /^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name];
}

function replace(context: Context, pattern: Value, replacement: Value, subject: Value): string {
  const text = textArgument(subject);
  let result = '';
  let position = 0;
  for (const match of matches(context, pattern, text)) {
    result += text.slice(position, match.index) + expand(textArgument(replacement), match);
    position = match.index + match[0].length;
  }
  return result + text.slice(position);
}

function split(context: Context, subject: Value, pattern: Value, flags: Value): string[] {
  const text = textArgument(subject);
  const pieces: string[] = [];
  let position = 0;
  for (const match of matches(context, pattern, text, flags)) {
    pieces.push(text.slice(position, match.index));
    position = match.index + match[0].length;
  }
  return [...pieces, text.slice(position)];
}

const replacing = (): Builtin => ({
  signature: '(pattern: any, replacement: any, text: any) -> string',
  doc: 'Replaces every match; `$1`, `${1}` and `$name` stand for groups.',
  call: (c, _d, pattern, replacement, text) => replace(c, pattern, replacement, text),
});

/** Regular expressions (spec/language.md 12.11). A bad pattern throws `Invalid regex: …`. */
export const REGEX: BuiltinGroup = {
  name: 'regex',
  title: 'Regular expressions',
  errors: [{ text: 'Invalid regex: DETAIL', when: 'a pattern that cannot be read, or an unknown flag' }],
  builtins: {
    regex_match: {
      signature: '(pattern: any, text: any, flags: any = "") -> list<string> | nil',
      doc: 'The texts that match, nil when none does. Flags: `i` case, `m` lines, `s` dot matches newline, `x` blanks and comments.',
      call: (c, _d, pattern, text, flags) => {
        const found = matches(c, pattern, textArgument(text), flags).map(([match]) => match);
        return found.length === 0 ? undefined : found;
      },
    },
    regex_replace: replacing(),
    regex_replace_all: replacing(),
    regex_captures: {
      signature: '(pattern: any, text: any, flags: any = "") -> list<dict>',
      doc: '`{match, groups, NAME…}` of each match; a group that took no part is nil.',
      call: (c, _d, pattern, text, flags) => matches(c, pattern, textArgument(text), flags).map(captures),
    },
    regex_split: {
      signature: '(text: any, pattern: any, flags: any = "") -> list<string>',
      doc: 'The pieces between matches.',
      call: (c, _d, text, pattern, flags) => split(c, text, pattern, flags),
    },
  },
};
