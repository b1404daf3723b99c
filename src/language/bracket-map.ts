import type { Token } from './token.ts';

/**
 * What one look over the brackets of a file settles beforehand, so that the parser never scans ahead: whether a brace
 * holds an arrow (closure or dict), whether a `<` may open type arguments, how deep each token stands, and what is
 * never closed. Each answer is looked up in constant time, which keeps nested braces and long lines of `a < b < c`
 * linear. A closing bracket that fits no open one is ignored.
 */
export interface BracketMap {
  /** Does a `->` stand directly inside the `{` at this index? */
  holdsArrow(index: number): boolean;
  /** Is the `<` at this index closed by a `>` with `(` behind it, with nothing between that a type cannot hold? */
  mayTakeTypes(index: number): boolean;
  /** Brackets open before the token at this index. */
  depth(index: number): number;
  /** The innermost bracket still open at the end. */
  readonly unclosed: Token | undefined;
  /** Does the closing bracket at this index close nothing? */
  isStray(index: number): boolean;
}

const CLOSES: Readonly<Record<string, string>> = { '}': '{', ')': '(', ']': '[' };

const TYPE_TOKENS: ReadonlySet<string> = new Set(
  'identifier int string raw nil true false fn in newline < > { } ( ) [ ] , : ? | & - ->'.split(' '),
);

export function mapBrackets(tokens: readonly Token[]): BracketMap {
  const arrows = new Set<number>();
  const generics = new Set<number>();
  const strays = new Set<number>();
  const depths = new Uint32Array(tokens.length);
  const open: number[] = [];
  let angles: number[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const kind = tokens[index]?.kind ?? '';
    depths[index] = open.length;
    if (kind === '{' || kind === '(' || kind === '[') open.push(index);
    else if (kind in CLOSES) {
      if (!close(tokens, open, CLOSES[kind] ?? '')) strays.add(index);
    } else if (kind === '->') markArrow(tokens, open, arrows);
    if (kind === '<') angles.push(index);
    else if (kind === '>') {
      const opening = angles.pop();
      if (opening !== undefined && tokens[index + 1]?.kind === '(') generics.add(opening);
    } else if (angles.length > 0 && !TYPE_TOKENS.has(kind)) angles = [];
  }
  const last = open.at(-1);
  return {
    holdsArrow: (index) => arrows.has(index),
    mayTakeTypes: (index) => generics.has(index),
    depth: (index) => depths[index] ?? 0,
    unclosed: last === undefined ? undefined : tokens[last],
    isStray: (index) => strays.has(index),
  };
}

/** Closes the nearest bracket of the kind, and those that were left open inside it. @returns whether there was one */
function close(tokens: readonly Token[], open: number[], opening: string): boolean {
  for (let at = open.length - 1; at >= 0; at--) {
    if (tokens[open[at] ?? 0]?.kind !== opening) continue;
    open.length = at;
    return true;
  }
  return false;
}

function markArrow(tokens: readonly Token[], open: readonly number[], arrows: Set<number>): void {
  const inner = open.at(-1);
  if (inner !== undefined && tokens[inner]?.kind === '{') arrows.add(inner);
}
