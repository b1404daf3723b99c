import { ExpressionParser } from './template-expression.ts';
import { type Expression, type ForNode, type IfNode, type IncludeNode, TemplateFault, type TemplateNode } from './template-tree.ts';

/**
 * Templates as trees (spec/language.md 12.7). The text is first cut into literal pieces and directives, which is also
 * where `{{-` and `-}}` take blanks away; the directives are then nested.
 *
 * @throws TemplateFault
 */
export function parseTemplate(text: string): readonly TemplateNode[] {
  return new TemplateParser(pieces(text)).parse();
}

// ---- pieces ----

type Piece =
  | { readonly kind: 'text'; text: string }
  /** `text` is what stands between the braces; `offset` where it starts; `at` where the braces do. */
  | { readonly kind: 'directive'; readonly text: string; readonly at: number; readonly offset: number };

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let position = 0;
  let trimNext = false;
  const pushText = (until: number, trimEnd: boolean): void => {
    let literal = text.slice(position, until);
    if (trimNext) literal = literal.replace(/^[ \t]*(?:\r?\n)?/, '');
    if (trimEnd) literal = literal.replace(/(?:\r?\n)?[ \t]*$/, '');
    if (literal !== '') found.push({ kind: 'text', text: literal });
  };
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', position)) {
    if (text.startsWith('{{#', open)) {
      pushText(open, false);
      const close = text.indexOf('#}}', open + 3);
      if (close < 0) throw new TemplateFault('unterminated comment', open);
      position = close + 3;
      trimNext = false;
      continue;
    }
    const directive = readDirective(text, open);
    pushText(open, directive.trimsBefore);
    position = directive.end;
    trimNext = directive.trimsAfter;
    if (directive.text.trim() !== 'raw') {
      found.push({ kind: 'directive', text: directive.text, at: open, offset: directive.offset });
      continue;
    }
    const close = /\{\{(-?)\s*endraw\s*(-?)\}\}/g;
    close.lastIndex = position;
    const end = close.exec(text);
    if (end === null) throw new TemplateFault('unterminated `{{ raw }}` block', open);
    pushText(end.index, end[1] === '-');
    position = end.index + end[0].length;
    trimNext = end[2] === '-';
  }
  pushText(text.length, false);
  return found;
}

interface Directive {
  readonly text: string;
  readonly offset: number;
  readonly end: number;
  readonly trimsBefore: boolean;
  readonly trimsAfter: boolean;
}

/** Reads from `{{` to its `}}`; braces inside quotes, and those of `with { … }`, do not end it. */
function readDirective(text: string, open: number): Directive {
  const trimsBefore = text[open + 2] === '-';
  const offset = open + (trimsBefore ? 3 : 2);
  let quote: string | undefined;
  let depth = 0;
  for (let i = offset; i < text.length; i++) {
    const character = text[i];
    if (quote !== undefined) {
      if (character === '\\') i++;
      else if (character === quote) quote = undefined;
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '{') {
      depth++;
    } else if (character === '}' && depth > 0) {
      depth--;
    } else if (text.startsWith('}}', i)) {
      const trimsAfter = text[i - 1] === '-' && i - 1 >= offset;
      return { text: text.slice(offset, trimsAfter ? i - 1 : i), offset, end: i + 2, trimsBefore, trimsAfter };
    }
  }
  throw new TemplateFault('unterminated directive', open);
}

// ---- nesting ----

type Word = 'elif' | 'else' | 'end';

/** A directive that closes or continues the block it stands in. */
interface Stop {
  readonly word: Word;
  readonly parser: ExpressionParser;
  readonly at: number;
}

class TemplateParser {
  readonly #pieces: readonly Piece[];
  #next = 0;

  constructor(found: readonly Piece[]) {
    this.#pieces = found;
  }

  parse(): readonly TemplateNode[] {
    const { nodes, stop } = this.#nodes();
    if (stop !== undefined) throw new TemplateFault(`unexpected \`${stop.word}\``, stop.at);
    return nodes;
  }

  /** Nodes up to a directive that belongs to the block around them, or to the end of the template. */
  #nodes(): { readonly nodes: TemplateNode[]; readonly stop: Stop | undefined } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const piece = this.#pieces[this.#next++];
      if (piece === undefined) return { nodes, stop: undefined };
      if (piece.kind === 'text') {
        nodes.push({ kind: 'text', text: piece.text });
        continue;
      }
      const parser = new ExpressionParser(piece.text, piece.offset);
      const word = /^\s*(if|for|include|elif|else|end)\b/.exec(piece.text)?.[1];
      if (word === undefined) {
        nodes.push({ kind: 'output', at: piece.at, expression: whole(parser) });
        continue;
      }
      parser.take(word);
      if (word === 'elif' || word === 'else' || word === 'end') return { nodes, stop: { word, parser, at: piece.at } };
      nodes.push(word === 'if' ? this.#if(parser, piece.at) : word === 'for' ? this.#for(parser, piece.at) : include(parser, piece.at));
    }
  }

  #if(first: ExpressionParser, at: number): IfNode {
    const branches: IfNode['branches'][number][] = [];
    let parser = first;
    for (;;) {
      const condition = whole(parser);
      const { nodes: body, stop } = this.#nodes();
      branches.push({ condition, body });
      if (stop?.word === 'elif') {
        parser = stop.parser;
        continue;
      }
      const otherwise = this.#otherwise(stop, at, 'if');
      return { kind: 'if', at, branches, otherwise };
    }
  }

  #for(parser: ExpressionParser, at: number): ForNode {
    const first = parser.name('a name after `for`');
    const second = parser.take(',') ? parser.name('a second name') : undefined;
    parser.expect('in');
    const iterable = whole(parser);
    const { nodes: body, stop } = this.#nodes();
    const otherwise = this.#otherwise(stop, at, 'for');
    return { kind: 'for', at, keyName: second === undefined ? undefined : first, itemName: second ?? first, iterable, body, otherwise };
  }

  /** What follows the last branch: nothing, or the nodes of an `else`. */
  #otherwise(stop: Stop | undefined, at: number, block: string): readonly TemplateNode[] {
    if (stop?.word === 'elif') throw new TemplateFault('unexpected `elif`', stop.at);
    if (stop === undefined) throw new TemplateFault(`unterminated \`${block}\` block`, at);
    stop.parser.end();
    if (stop.word === 'end') return [];
    const { nodes, stop: last } = this.#nodes();
    if (last === undefined) throw new TemplateFault(`unterminated \`${block}\` block`, at);
    if (last.word !== 'end') throw new TemplateFault(`unexpected \`${last.word}\``, last.at);
    last.parser.end();
    return nodes;
  }
}

function whole(parser: ExpressionParser): Expression {
  const expression = parser.expression();
  parser.end();
  return expression;
}

function include(parser: ExpressionParser, at: number): IncludeNode {
  const path = parser.expression();
  const bindings: [string, Expression][] = [];
  if (parser.take('with')) {
    parser.expect('{');
    while (!parser.take('}')) {
      const name = parser.name('a binding');
      parser.expect(':');
      bindings.push([name, parser.expression()]);
      if (!parser.take(',')) {
        parser.expect('}');
        break;
      }
    }
  }
  parser.end();
  return { kind: 'include', at, path, bindings };
}
