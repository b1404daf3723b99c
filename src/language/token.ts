import type { Span } from '../diagnostics/span.ts';

/** Words that can never be a name (spec/language.md 1.5). */
export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'break catch continue deadline defer emit else enum eval_pack exclusive extends false finally fn for from guard if impl import in ' +
    'interface let match mutex nil override parallel pipeline pub require retry return select skill spawn struct throw to tool true try ' +
    'type var while yield'
  ).split(' '),
);

/** Longest first, as the lexer tries them. */
export const PUNCTUATORS: readonly string[] = [
  '==',
  '!=',
  '&&',
  '||',
  '|>',
  '??',
  '**',
  '?.',
  '->',
  '<=',
  '>=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
];
export const SINGLE_PUNCTUATORS = '=!.+-*/%<>?|&{}()[],:;@';

/** A part of an interpolated string: literal text, or the source of one expression and where it stands. */
export type StringPart = string | { readonly text: string; readonly start: number; readonly line: number; readonly column: number };

/**
 * One token. `kind` is a literal kind, `newline`, `eof`, or the keyword or punctuator itself.
 * `text` is the name, the digits, or the decoded string; `parts` is set for interpolated strings only.
 */
export interface Token extends Span {
  readonly kind: string;
  readonly text: string;
  readonly parts?: readonly StringPart[];
  /** `block` for `"""` strings. */
  readonly isBlock?: boolean;
}

/** How a token is spelled behind `got` in a message (spec/language.md 11.2). */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'identifier':
      return `id(${token.text})`;
    case 'string':
    case 'raw':
      return `str(${token.text})`;
    case 'interpolation':
      return 'interpolated string';
    case 'int':
      return `int(${token.text})`;
    case 'float':
      return `float(${token.text})`;
    case 'duration':
      return token.text;
    case 'newline':
      return '\\n';
    case 'eof':
      return 'EOF';
    default:
      return token.kind;
  }
}

/** Does a name begin with an uppercase letter? Unicode is asked only beyond ASCII: V8 takes long to make its tables. */
export function startsUppercase(name: string): boolean {
  const code = name.charCodeAt(0);
  return code < 128 ? code >= 65 && code <= 90 : /^\p{Lu}/u.test(name);
}
