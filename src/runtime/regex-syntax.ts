/**
 * Patterns of scripts as JavaScript's. Scripts write the dialect of Rust's `regex`: `(?P<name>…)`, `\A`, `\z`, `\x{…}`,
 * `[[:alpha:]]`, flags in front, escaped punctuation, and `\w \d \b` that know all of Unicode. In ASCII text the classes of
 * JavaScript are the same, so the longer translation is made only for other text.
 */
export interface TranslatedPattern {
  readonly source: string;
  readonly flags: string;
}

const WORD = String.raw`\p{L}\p{M}\p{Nd}\p{Pc}`;

const UNICODE_OUTSIDE: Readonly<Record<string, string>> = {
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  d: String.raw`\p{Nd}`,
  D: String.raw`\P{Nd}`,
  b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
};
const UNICODE_IN_CLASS: Readonly<Record<string, string>> = { w: WORD, d: String.raw`\p{Nd}`, D: String.raw`\P{Nd}` };

const POSIX: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z',
  digit: '0-9',
  alnum: 'a-zA-Z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: String.raw`\s`,
  blank: String.raw` \t`,
  punct: String.raw`!-\/:-@\[-\x60{-~`,
  word: 'a-zA-Z0-9_',
  xdigit: '0-9a-fA-F',
  cntrl: String.raw`\x00-\x1f\x7f`,
  print: ' -~',
  graph: '!-~',
};

/** Escapes that mean the same in both dialects. */
const SHARED_ESCAPE = /^[dDwWsSbBnrtfv0^$\\.*+?()[\]{}|/]$/;

/**
 * @param flags of `i m s x`
 * @param isUnicode whether `\w`, `\d` and `\b` reach beyond ASCII
 */
export function translatePattern(pattern: string, flags: string, isUnicode: boolean): TranslatedPattern {
  const leading = /^\(\?([imsxu]+)\)/.exec(pattern);
  const all = new Set(flags + (leading?.[1] ?? ''));
  const source = new Translation(pattern.slice(leading?.[0].length ?? 0), all.has('x'), isUnicode).run();
  return { source, flags: `gu${['i', 'm', 's'].filter((flag) => all.has(flag)).join('')}` };
}

class Translation {
  readonly #pattern: string;
  readonly #isVerbose: boolean;
  readonly #isUnicode: boolean;
  #at = 0;

  constructor(pattern: string, isVerbose: boolean, isUnicode: boolean) {
    this.#pattern = pattern;
    this.#isVerbose = isVerbose;
    this.#isUnicode = isUnicode;
  }

  run(): string {
    let out = '';
    while (this.#at < this.#pattern.length) out += this.#next();
    return out;
  }

  #next(): string {
    const character = this.#pattern[this.#at] as string;
    if (character === '\\') return this.#escape(false);
    if (character === '[') return this.#class();
    if (this.#pattern.startsWith('(?P<', this.#at)) {
      this.#at += 4;
      return '(?<';
    }
    this.#at++;
    if (!this.#isVerbose) return character;
    if (character === '#') {
      while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== '\n') this.#at++;
      return '';
    }
    return /\s/.test(character) ? '' : character;
  }

  #escape(isInClass: boolean): string {
    const next = this.#pattern[this.#at + 1];
    this.#at += 2;
    if (next === undefined) return '\\';
    const unicode = isInClass ? UNICODE_IN_CLASS : UNICODE_OUTSIDE;
    if (this.#isUnicode && unicode[next] !== undefined) return unicode[next];
    if (SHARED_ESCAPE.test(next)) return `\\${next}`;
    switch (next) {
      case 'A':
        return String.raw`(?<![\s\S])`;
      case 'z':
        return String.raw`(?![\s\S])`;
      case 'a':
        return String.raw`\x07`;
      case '-':
        return isInClass ? String.raw`\-` : '-';
      case 'x':
      case 'u':
      case 'U':
        return this.#codePoint(next);
      case 'p':
      case 'P':
        return this.#property(next);
      default:
        // Punctuation may be escaped without need; JavaScript refuses that. Anything else is left for it to judge.
        return /[!-/:-@[-`{-~\s]/.test(next) ? next : `\\${next}`;
    }
  }

  #codePoint(letter: string): string {
    const digits = /^\{([0-9a-fA-F]{1,8})\}/.exec(this.#pattern.slice(this.#at));
    if (digits === null) return `\\${letter}`;
    this.#at += digits[0].length;
    return `\\u{${digits[1]}}`;
  }

  /** `\pL` is `\p{L}`; scripts need their key in JavaScript. */
  #property(letter: string): string {
    const braced = /^\{(\^?)([A-Za-z_]+)\}/.exec(this.#pattern.slice(this.#at));
    const name = braced?.[2] ?? this.#pattern[this.#at] ?? '';
    this.#at += braced?.[0].length ?? 1;
    const isNegated = (letter === 'P') !== (braced?.[1] === '^');
    const key = isKnownProperty(name) ? name : `Script=${name}`;
    return `\\${isNegated ? 'P' : 'p'}{${key}}`;
  }

  #class(): string {
    let out = '[';
    this.#at++;
    if (this.#pattern[this.#at] === '^') {
      out += '^';
      this.#at++;
    }
    // A bracket directly after the opening one is a member.
    if (this.#pattern[this.#at] === ']') {
      out += '\\]';
      this.#at++;
    }
    while (this.#at < this.#pattern.length) {
      const character = this.#pattern[this.#at] as string;
      if (character === '\\') {
        out += this.#escape(true);
        continue;
      }
      const posix = /^\[:([a-z]+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 12));
      if (posix?.[1] !== undefined && POSIX[posix[1]] !== undefined) {
        out += POSIX[posix[1]];
        this.#at += posix[0].length;
        continue;
      }
      this.#at++;
      out += character;
      if (character === ']') return out;
    }
    return out;
  }
}

function isKnownProperty(name: string): boolean {
  try {
    return new RegExp(`\\p{${name}}`, 'u') !== undefined;
  } catch {
    return false;
  }
}
