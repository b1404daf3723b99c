import type { Span } from '../diagnostics/span.ts';
import type { Expression, Spelling } from './ast.ts';
import { type Layout, trailing, verbatim } from './layout.ts';
import type { Comment } from './lexer.ts';
import type { Token } from './token.ts';

/** What the tree leaves out and a printer needs: the text itself, its tokens, comments and parentheses. */
export interface SourceParts {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  readonly spelling: Spelling;
}

/** A thing in a row of things, such as a statement in a block, that is printed when its comments have been placed. */
export interface Item {
  readonly span: Pick<Span, 'start' | 'end'>;
  readonly print: () => Layout;
}

/** One line of a broken row: an item, or a comment that stands alone. */
export interface Row {
  readonly kind: 'item' | 'comment';
  readonly layout: Layout;
  /** Comments behind it on the same line. */
  readonly trailing: Layout[];
  readonly isAfterBlankLine: boolean;
}

export interface Rows {
  /** Comments behind the opening bracket on the same line. */
  readonly afterOpen: readonly Layout[];
  readonly rows: readonly Row[];
}

/**
 * The source behind a tree while it is printed. Comments have no node: each is placed by where it stands between two
 * items of a row. One that stands elsewhere stays unplaced, and the statement around it is then kept as it was written
 * (see `printStatement`): no comment is ever lost, and none is moved to where it means something else.
 */
export class PrintSource {
  readonly text: string;
  private readonly tokens: readonly Token[];
  private readonly comments: readonly Comment[];
  private readonly spelling: Spelling;
  private readonly placed = new Set<Comment>();
  /** Offset behind each opening bracket, by the offset behind its closing one. */
  private readonly openers: ReadonlyMap<number, number>;
  /** The same the other way round. */
  private readonly closers: ReadonlyMap<number, number>;

  constructor({ text, tokens, comments, spelling }: SourceParts) {
    this.text = text;
    this.tokens = tokens;
    this.comments = comments;
    this.spelling = spelling;
    this.openers = matchBrackets(tokens);
    this.closers = new Map([...this.openers].map(([close, open]) => [open, close]));
  }

  slice({ start, end }: Pick<Span, 'start' | 'end'>): string {
    return this.text.slice(start, end);
  }

  isParenthesised(node: Expression): boolean {
    return this.spelling.parenthesised.has(node);
  }

  /** The right side of a pipe before its `_` was replaced. */
  writtenFor(node: Expression): Expression {
    return this.spelling.placeholders.get(node) ?? node;
  }

  /** Offset behind the bracket that the one ending at `closeEnd` closes. */
  openerOf(closeEnd: number): number {
    return this.openers.get(closeEnd) ?? closeEnd - 1;
  }

  /** The brackets of this kind that open first at or after `from`: offsets just inside of them. */
  bracketsAfter(from: number, kind: '(' | '{'): Pick<Span, 'start' | 'end'> {
    let index = this.tokenIndex(from);
    while (index < this.tokens.length && this.tokens[index]?.kind !== kind) index++;
    const start = this.tokens[index]?.end ?? from;
    return { start, end: (this.closers.get(start) ?? start + 1) - 1 };
  }

  /** The first token at or after an offset. */
  tokenAt(offset: number): Token | undefined {
    return this.tokens[this.tokenIndex(offset)];
  }

  /** The first token at or after an offset, as written. */
  tokenText(offset: number): string {
    const token = this.tokenAt(offset);
    return token === undefined ? '' : this.slice(token);
  }

  /** End of the last token before an offset. */
  endBefore(offset: number): number {
    return this.tokens[this.tokenIndex(offset) - 1]?.end ?? 0;
  }

  /** Start of the first token at or after an offset that is no separator. */
  nextStart(offset: number): number {
    let index = this.tokenIndex(offset);
    while (SEPARATORS.has(this.tokens[index]?.kind ?? '')) index++;
    return this.tokens[index]?.start ?? offset;
  }

  /** Start of the nearest such word before an offset. */
  startOfWord(word: string, offset: number): number {
    let index = this.tokenIndex(offset) - 1;
    while (index > 0 && this.tokens[index]?.text !== word) index--;
    return this.tokens[index]?.start ?? offset;
  }

  private tokenIndex(offset: number): number {
    let low = 0;
    let high = this.tokens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.tokens[middle]?.start ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  hasLineBreak(from: number, to: number): boolean {
    const at = this.text.indexOf('\n', from);
    return at !== -1 && at < to;
  }

  /** Does a line begin with what stands at this offset, dots and opening parentheses aside? */
  beginsLine(offset: number): boolean {
    let at = offset - 1;
    while (at >= 0 && ' \t\r.?(|>'.includes(this.text[at] ?? '')) at--;
    return this.text[at] === '\n';
  }

  private isAfterBlankLine(offset: number): boolean {
    let lines = 0;
    for (let at = offset - 1; at >= 0 && ' \t\r\n;'.includes(this.text[at] ?? ''); at--) if (this.text[at] === '\n') lines++;
    return lines > 1;
  }

  // ---- comments ----

  hasUnplaced(span: Pick<Span, 'start' | 'end'>): boolean {
    return this.commentsBetween(span.start, span.end).length > 0;
  }

  place(span: Pick<Span, 'start' | 'end'>): void {
    this.takeBetween(span.start, span.end);
  }

  private commentsBetween(from: number, to: number): Comment[] {
    let low = 0;
    let high = this.comments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.comments[middle]?.start ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    const found: Comment[] = [];
    for (let index = low; index < this.comments.length; index++) {
      const comment = this.comments[index];
      if (comment === undefined || comment.end > to) break;
      if (!this.placed.has(comment)) found.push(comment);
    }
    return found;
  }

  /**
   * The items between two offsets with every comment that stands between them.
   *
   * @param opening what stands before `from`: a comment on the same line belongs to a bracket, but not to the start of a file
   */
  rows(items: readonly Item[], from: number, to: number, opening: 'bracket' | 'file' = 'bracket'): Rows {
    const afterOpen: Layout[] = [];
    const rows: Row[] = [];
    let end = from;
    const add = (kind: Row['kind'], layout: Layout, start: number): void => {
      rows.push({ kind, layout, trailing: [], isAfterBlankLine: rows.length > 0 && this.isAfterBlankLine(start) });
    };
    /** Places a comment of the gap before `next`; answers false when it stands right before the item there. */
    const placeInGap = (comment: Comment, next: number | undefined): boolean => {
      if (next !== undefined && comment.kind === 'block' && !this.hasLineBreak(comment.end, next)) return false;
      const sharesLine = !this.hasLineBreak(end, comment.start) && (rows.length > 0 || opening === 'bracket');
      if (sharesLine) (rows.at(-1)?.trailing ?? afterOpen).push(this.trailingComment(comment));
      else add('comment', this.commentLayout(comment), comment.start);
      end = comment.end;
      return true;
    };
    for (const { span, print } of items) {
      const leading = this.takeBetween(end, span.start).filter((comment) => !placeInGap(comment, span.start));
      const layout = leading.length === 0 ? print() : [leading.map((comment) => [this.commentLayout(comment), ' ']), print()];
      add('item', layout, leading[0]?.start ?? span.start);
      end = span.end;
    }
    for (const comment of this.takeBetween(end, to)) placeInGap(comment, undefined);
    return { afterOpen, rows };
  }

  private takeBetween(from: number, to: number): Comment[] {
    const found = this.commentsBetween(from, to);
    for (const comment of found) this.placed.add(comment);
    return found;
  }

  private trailingComment(comment: Comment): Layout {
    return trailing(` ${this.slice(comment).trimEnd()}`, { endsLine: comment.kind === 'line' });
  }

  private commentLayout(comment: Comment): Layout {
    const text = this.slice(comment).trimEnd();
    return comment.kind === 'line' ? trailing(text, { endsLine: true }) : verbatim(text);
  }
}

const SEPARATORS: ReadonlySet<string> = new Set(['newline', ',', ';']);

function matchBrackets(tokens: readonly Token[]): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (const { kind, end } of tokens) {
    if (kind === '(' || kind === '[' || kind === '{') {
      open.push(end);
    } else if (kind === ')' || kind === ']' || kind === '}') {
      pairs.set(end, open.pop() ?? end - 1);
    }
  }
  return pairs;
}
