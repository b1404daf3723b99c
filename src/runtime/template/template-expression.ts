import { Float, type Value } from '../value.ts';
import { type BinaryOperator, type Expression, TemplateFault } from './template-tree.ts';

/**
 * Expressions of templates (spec/language.md 12.7): `or`, `and`, `not`, comparisons, paths, literals, filters.
 * A small recursive-descent parser over the text between the braces; positions are offsets of the whole template.
 */
export class ExpressionParser {
  readonly #text: string;
  readonly #offset: number;
  #tokens: readonly Token[];
  #next = 0;

  /** @param offset of `text` in the template */
  constructor(text: string, offset: number) {
    this.#text = text;
    this.#offset = offset;
    this.#tokens = tokenize(text, offset);
  }

  /** An expression with its filters. */
  expression(): Expression {
    let input = this.#or();
    while (this.take('|')) {
      const name = this.name('filter name');
      const args: Expression[] = [];
      if (this.take(':')) {
        do args.push(this.#or());
        while (this.take(','));
      }
      input = { kind: 'filter', input, name, args };
    }
    return input;
  }

  /** Takes a punctuation mark or word when it comes next. */
  take(text: string): boolean {
    const token = this.#tokens[this.#next];
    if (token === undefined || token.kind === 'literal' || token.text !== text) return false;
    this.#next++;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) this.fail(`expected \`${text}\``);
  }

  name(what: string): string {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'name') return this.fail(`expected ${what}`);
    this.#next++;
    return token.text;
  }

  end(): void {
    if (this.#next < this.#tokens.length) this.fail(`unexpected \`${this.#tokens[this.#next]?.text ?? ''}\``);
  }

  fail(message: string): never {
    throw new TemplateFault(message, this.#tokens[this.#next]?.at ?? this.#offset + this.#text.trimEnd().length);
  }

  #or(): Expression {
    let left = this.#and();
    while (this.take('or') || this.take('||')) left = { kind: 'binary', operator: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.take('and') || this.take('&&')) left = { kind: 'binary', operator: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    return this.take('not') ? { kind: 'not', operand: this.#not() } : this.#comparison();
  }

  #comparison(): Expression {
    let left = this.#unary();
    for (let operator = this.#comparisonOperator(); operator !== undefined; operator = this.#comparisonOperator()) {
      left = { kind: 'binary', operator, left, right: this.#unary() };
    }
    return left;
  }

  #comparisonOperator(): BinaryOperator | undefined {
    return (['==', '!=', '<=', '>=', '<', '>'] as const).find((operator) => this.take(operator));
  }

  #unary(): Expression {
    return this.take('!') ? { kind: 'not', operand: this.#unary() } : this.#path();
  }

  #path(): Expression {
    let object = this.#primary();
    for (;;) {
      if (this.take('.')) {
        object = { kind: 'member', object, key: { kind: 'literal', value: this.#memberName() } };
      } else if (this.take('[')) {
        object = { kind: 'member', object, key: this.expression() };
        this.expect(']');
      } else {
        return object;
      }
    }
  }

  /** A name, or a position such as `items.0`. */
  #memberName(): string {
    const token = this.#tokens[this.#next];
    if (token?.kind === 'literal' && typeof token.value === 'number') {
      this.#next++;
      return token.text;
    }
    return this.name('a name after `.`');
  }

  #primary(): Expression {
    if (this.take('(')) {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    const token = this.#tokens[this.#next];
    if (token === undefined || token.kind === 'mark') return this.fail('expected an expression');
    this.#next++;
    if (token.kind === 'literal') return { kind: 'literal', value: token.value };
    switch (token.text) {
      case 'true':
      case 'false':
        return { kind: 'literal', value: token.text === 'true' };
      case 'nil':
        return { kind: 'literal', value: undefined };
      default:
        return { kind: 'name', name: token.text };
    }
  }
}

type Token =
  | { readonly kind: 'name' | 'mark'; readonly text: string; readonly at: number }
  | { readonly kind: 'literal'; readonly text: string; readonly value: Value; readonly at: number };

const TOKEN =
  /\s*(?:(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<number>-?\d+(?:\.\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<mark>==|!=|<=|>=|&&|\|\||[<>!|:,.()[\]{}]))/suy;

function tokenize(text: string, offset: number): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  while (text.slice(pattern.lastIndex).trim() !== '') {
    const begin = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      const blanks = /\S/.exec(text.slice(begin))?.index ?? 0;
      throw new TemplateFault(`unexpected character \`${[...text.slice(begin + blanks)][0]}\``, offset + begin + blanks);
    }
    const { string, number, name, mark } = match.groups as Partial<Record<'string' | 'number' | 'name' | 'mark', string>>;
    const at = offset + pattern.lastIndex - match[0].trimStart().length;
    if (string !== undefined) tokens.push({ kind: 'literal', text: string, value: unescaped(string.slice(1, -1)), at });
    else if (number !== undefined) tokens.push({ kind: 'literal', text: number, value: numberValue(number), at });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name, at });
    else tokens.push({ kind: 'mark', text: mark as string, at });
  }
  return tokens;
}

function numberValue(text: string): Value {
  return text.includes('.') || !Number.isSafeInteger(Number(text)) ? new Float(Number(text)) : Number(text);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_pair, character: string) => ESCAPES[character] ?? character);
}
