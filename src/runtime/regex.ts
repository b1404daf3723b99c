import { thrownText } from './errors.ts';

/**
 * Regular expressions of scripts (spec/language.md 12.11) on the engine of JavaScript. Scripts write the common
 * dialect of tools such as ripgrep; a pattern is translated where JavaScript spells it otherwise: `(?P<name>…)`, inline flags in
 * front, `\A`, `\z`, `[[:alpha:]]`, escaped punctuation, and the flag `x` for patterns with blanks and comments.
 */

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: '0-9A-Za-z',
  upper: 'A-Z',
  lower: 'a-z',
  space: String.raw`\s`,
  word: String.raw`\w`,
  punct: String.raw`!-\/:-@\[-\x60\{-~`,
  xdigit: '0-9A-Fa-f',
  blank: String.raw` \t`,
};

/** What JavaScript allows to be escaped when Unicode is on; other punctuation stands for itself without an escape. */
const SYNTAX = new Set('^$\\.*+?()[]{}|/');

/**
 * @param flags any of `i m s x`
 * @returns a global expression over whole code points
 * @throws the string `Invalid regex: DETAIL`
 */
export function compileRegex(pattern: string, flags = ''): RegExp {
  const inline = /^\(\?([imsxu]+)\)/.exec(pattern);
  const wanted = new Set(flags + (inline?.[1] ?? ''));
  for (const flag of wanted) {
    if (!'imsxu'.includes(flag)) throw thrownText(`Invalid regex: unknown flag '${flag}'; use i, m, s or x`);
  }
  const body = pattern.slice(inline?.[0].length ?? 0);
  const native = ['i', 'm', 's'].filter((flag) => wanted.has(flag)).join('');
  try {
    return new RegExp(new Translator(body, wanted.has('x')).translate(), `gu${native}`);
  } catch (error) {
    throw thrownText(`Invalid regex: ${detailOf(error)}`);
  }
}

/** The engine repeats the whole pattern in front of what is wrong. */
function detailOf(error: unknown): string {
  const { message } = error as Error;
  return message.slice(message.lastIndexOf(': ') + 2);
}

class Translator {
  readonly #pattern: string;
  readonly #skipsBlanks: boolean;
  #at = 0;
  #out = '';

  constructor(pattern: string, skipsBlanks: boolean) {
    this.#pattern = pattern;
    this.#skipsBlanks = skipsBlanks;
  }

  translate(): string {
    while (this.#at < this.#pattern.length) this.#out += this.#next();
    return this.#out;
  }

  #next(): string {
    const character = this.#take();
    switch (character) {
      case '\\':
        return this.#escape(false);
      case '[':
        return this.#characterClass();
      case '(':
        return this.#group();
      case '{':
        return /^\d+(,\d*)?\}/.test(this.#pattern.slice(this.#at)) ? this.#upTo('{', '}') : String.raw`\{`;
      case '}':
      case ']':
        return `\\${character}`;
      default:
        return this.#skipsBlanks ? this.#verbose(character) : character;
    }
  }

  #take(): string {
    return this.#pattern[this.#at++] ?? '';
  }

  #upTo(begun: string, end: string): string {
    const close = this.#pattern.indexOf(end, this.#at);
    const text = this.#pattern.slice(this.#at, close + 1);
    this.#at = close + 1;
    return begun + text;
  }

  #verbose(character: string): string {
    if (/\s/.test(character)) return '';
    if (character !== '#') return character;
    const end = this.#pattern.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#pattern.length : end;
    return '';
  }

  #group(): string {
    if (!this.#pattern.startsWith('?P<', this.#at)) return '(';
    this.#at += 3;
    return '(?<';
  }

  #escape(isInClass: boolean): string {
    const character = this.#take();
    if (character === 'A' && !isInClass) return '(?<![^])';
    if (character === 'z' && !isInClass) return '(?![^])';
    if (character === 'a') return String.raw`\x07`;
    if (character === 'x' && this.#pattern[this.#at] === '{') return String.raw`\u`;
    if ((character === 'p' || character === 'P') && this.#pattern[this.#at] !== '{') return `\\${character}{${this.#take()}}`;
    if (character === '-' && isInClass) return String.raw`\-`;
    const isLetter = /[\p{L}\p{N}]/u.test(character);
    return isLetter || SYNTAX.has(character) ? `\\${character}` : character;
  }

  #characterClass(): string {
    let text = '[';
    if (this.#pattern[this.#at] === '^') text += this.#take();
    // A bracket that comes first is an ordinary member.
    if (this.#pattern[this.#at] === ']') text += `\\${this.#take()}`;
    while (this.#at < this.#pattern.length) {
      const character = this.#take();
      if (character === ']') return `${text}]`;
      if (character === '\\') text += this.#escape(true);
      else if (character === '[') text += this.#posixClass() ?? String.raw`\[`;
      else text += character;
    }
    return text;
  }

  #posixClass(): string | undefined {
    const match = /^:(\w+):\]/.exec(this.#pattern.slice(this.#at));
    const members = POSIX_CLASSES[match?.[1] ?? ''];
    if (match !== null && members !== undefined) this.#at += match[0].length;
    return members;
  }
}

/** Replaces every match; `$1`, `${1}`, `$name` and `${name}` stand for groups, `$$` for a dollar sign. */
export function replaceAllMatches(regex: RegExp, replacement: string, text: string): string {
  return text.replace(regex, (...found: unknown[]) => {
    const named = typeof found.at(-1) === 'object' ? (found.at(-1) as Record<string, string | undefined>) : {};
    const groups = found.slice(
      0,
      found.findIndex((part, index) => index > 0 && typeof part === 'number'),
    );
    return replacement.replaceAll(/\$(?:\$|(\w+)|\{(\w+)\})/g, (written, bare?: string, braced?: string) => {
      if (written === '$$') return '$';
      const name = bare ?? braced ?? '';
      const group = /^\d+$/.test(name) ? groups[Number(name)] : named[name];
      return typeof group === 'string' ? group : '';
    });
  });
}
