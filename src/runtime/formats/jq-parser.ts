import { parseJsonAt } from '../json.ts';
import type { Value } from '../value.ts';

/** A jq program of the subset that scripts may use (spec/language.md 12.11). */
export type JqNode =
  | { readonly kind: 'identity' }
  | { readonly kind: 'recurse' }
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'index'; readonly input: JqNode; readonly key: JqNode }
  | { readonly kind: 'slice'; readonly input: JqNode; readonly from: JqNode | undefined; readonly to: JqNode | undefined }
  | { readonly kind: 'iterate'; readonly input: JqNode }
  /** `e?`: faults give nothing. */
  | { readonly kind: 'try'; readonly input: JqNode }
  | { readonly kind: 'pipe' | 'comma'; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: 'binary'; readonly operator: JqOperator; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly JqNode[] }
  | { readonly kind: 'list'; readonly items: JqNode | undefined }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: JqNode, value: JqNode])[] };

export type JqOperator = 'or' | 'and' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '//' | '+' | '-' | '*' | '/' | '%';

export class JqSyntaxError extends Error {}

/** Loosest first. */
const LEVELS: readonly (readonly JqOperator[])[] = [
  ['//'],
  ['or'],
  ['and'],
  ['==', '!=', '<=', '>=', '<', '>'],
  ['+', '-'],
  ['*', '/', '%'],
];

const TOKEN =
  /\s*(?:(?<string>"(?:[^"\\]|\\.)*")|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_]\w*)|(?<mark>\.\.|==|!=|<=|>=|\/\/|[.[\]{}(),:;|?<>+\-*/%]))/y;

interface Token {
  readonly kind: 'string' | 'number' | 'word' | 'mark';
  readonly text: string;
  /** A blank stood before it: `. foo` is not `.foo`. */
  readonly isSpaced: boolean;
}

/** @throws JqSyntaxError */
export function parseJq(program: string): JqNode {
  return new JqParser(tokenize(program)).program();
}

function tokenize(program: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  while (program.slice(pattern.lastIndex).trim() !== '') {
    const begin = pattern.lastIndex;
    const match = pattern.exec(program);
    if (match === null) throw new JqSyntaxError(`unexpected character at ${begin + 1}`);
    const [kind, text] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) as [Token['kind'], string];
    tokens.push({ kind, text, isSpaced: match[0].length > text.length });
  }
  return tokens;
}

class JqParser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  program(): JqNode {
    if (this.#tokens.length === 0) return { kind: 'identity' };
    const node = this.#pipe();
    if (this.#next < this.#tokens.length) this.#fail();
    return node;
  }

  #pipe(): JqNode {
    const left = this.#comma();
    return this.#take('|') ? { kind: 'pipe', left, right: this.#pipe() } : left;
  }

  #comma(): JqNode {
    let left = this.#level(0);
    while (this.#take(',')) left = { kind: 'comma', left, right: this.#level(0) };
    return left;
  }

  #level(index: number): JqNode {
    const operators = LEVELS[index];
    if (operators === undefined) return this.#prefix();
    let left = this.#level(index + 1);
    for (;;) {
      const operator = operators.find((candidate) => this.#take(candidate));
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: this.#level(index + 1) };
    }
  }

  /** `not .x` is the same as `.x | not`. */
  #prefix(): JqNode {
    if (this.#take('-')) return { kind: 'binary', operator: '-', left: { kind: 'literal', value: 0 }, right: this.#postfix() };
    const token = this.#tokens[this.#next];
    if (token?.kind === 'word' && token.text === 'not' && this.#beginsTerm(this.#tokens[this.#next + 1])) {
      this.#next++;
      return { kind: 'pipe', left: this.#postfix(), right: { kind: 'call', name: 'not', args: [] } };
    }
    return this.#postfix();
  }

  #beginsTerm(token: Token | undefined): boolean {
    if (token === undefined) return false;
    return token.kind === 'mark' ? ['.', '..', '(', '[', '{'].includes(token.text) : !['and', 'or'].includes(token.text);
  }

  #postfix(): JqNode {
    let node = this.#term();
    for (;;) {
      if (this.#take('?')) node = { kind: 'try', input: node };
      else if (this.#peek('[')) node = this.#brackets(node);
      else if (this.#peek('.') && this.#isMember(this.#tokens[this.#next + 1])) {
        this.#next++;
        node = this.#peek('[') ? this.#brackets(node) : { kind: 'index', input: node, key: this.#memberKey() };
      } else return node;
    }
  }

  #isMember(token: Token | undefined): boolean {
    return token !== undefined && !token.isSpaced && (token.kind === 'word' || token.kind === 'string' || token.text === '[');
  }

  #memberKey(): JqNode {
    const token = this.#tokens[this.#next++] as Token;
    return { kind: 'literal', value: token.kind === 'string' ? stringValue(token.text) : token.text };
  }

  #term(): JqNode {
    const token = this.#tokens[this.#next++];
    if (token === undefined) return this.#fail();
    switch (token.kind) {
      case 'string':
        return { kind: 'literal', value: stringValue(token.text) };
      case 'number':
        return { kind: 'literal', value: parseJsonAt(token.text, 0)?.value };
      case 'word':
        return this.#word(token.text);
      default:
        return this.#mark(token.text);
    }
  }

  #mark(mark: string): JqNode {
    switch (mark) {
      case '..':
        return { kind: 'recurse' };
      case '.': {
        const next = this.#tokens[this.#next];
        const isKey = next !== undefined && !next.isSpaced && (next.kind === 'word' || next.kind === 'string');
        return isKey ? { kind: 'index', input: { kind: 'identity' }, key: this.#memberKey() } : { kind: 'identity' };
      }
      case '(': {
        const inner = this.#pipe();
        this.#expect(')');
        return inner;
      }
      case '[': {
        if (this.#take(']')) return { kind: 'list', items: undefined };
        const items = this.#pipe();
        this.#expect(']');
        return { kind: 'list', items };
      }
      case '{':
        return this.#object();
      default:
        this.#next--;
        return this.#fail();
    }
  }

  #word(word: string): JqNode {
    if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
    if (word === 'null') return { kind: 'literal', value: undefined };
    const args: JqNode[] = [];
    if (this.#take('(')) {
      do args.push(this.#pipe());
      while (this.#take(';'));
      this.#expect(')');
    }
    return { kind: 'call', name: word, args };
  }

  /** `{a: .x, "b": .y, (.k): .z, c}`; the last is short for `c: .c`. */
  #object(): JqNode {
    const entries: [JqNode, JqNode][] = [];
    while (!this.#take('}')) {
      const key = this.#objectKey();
      entries.push([key, this.#take(':') ? this.#objectValue() : { kind: 'index', input: { kind: 'identity' }, key }]);
      if (!this.#take(',') && !this.#peek('}')) this.#fail();
    }
    return { kind: 'object', entries };
  }

  #objectKey(): JqNode {
    if (this.#take('(')) {
      const key = this.#pipe();
      this.#expect(')');
      return key;
    }
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word' && token?.kind !== 'string') return this.#fail();
    return this.#memberKey();
  }

  /** Up to the comma; pipes are allowed. */
  #objectValue(): JqNode {
    const left = this.#level(0);
    return this.#take('|') ? { kind: 'pipe', left, right: this.#objectValue() } : left;
  }

  #brackets(input: JqNode): JqNode {
    this.#expect('[');
    if (this.#take(']')) return { kind: 'iterate', input };
    const from = this.#peek(':') ? undefined : this.#pipe();
    if (this.#take(':')) {
      const to = this.#peek(']') ? undefined : this.#pipe();
      this.#expect(']');
      return { kind: 'slice', input, from, to };
    }
    this.#expect(']');
    return { kind: 'index', input, key: from as JqNode };
  }

  #peek(text: string): boolean {
    const token = this.#tokens[this.#next];
    return token !== undefined && (token.kind === 'mark' || token.kind === 'word') && token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#fail();
  }

  #fail(): never {
    const token = this.#tokens[this.#next];
    throw new JqSyntaxError(token === undefined ? 'unexpected end' : `unexpected \`${token.text}\``);
  }
}

function stringValue(literal: string): Value {
  const found = parseJsonAt(literal, 0);
  if (found === undefined) throw new JqSyntaxError(`bad string ${literal}`);
  return found.value;
}
