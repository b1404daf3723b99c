import type { TypeNode, TypeParameter } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/** Types: unions loosest, then intersections, then `T?`, then atoms (spec/language.md 2.4, 15.1). */
export function parseType(stream: TokenStream): TypeNode {
  stream.skipNewlines();
  return stream.nested(() => {
    const start = stream.current;
    const members = [parseIntersection(stream)];
    while (stream.take('|')) members.push(afterNewlines(stream, parseIntersection));
    return members.length === 1 ? (members[0] as TypeNode) : { kind: 'UnionType', members, span: stream.spanFrom(start) };
  });
}

/** A line that ends with `|` or `&` goes on, as behind any operator between two operands. */
function afterNewlines(stream: TokenStream, parse: (stream: TokenStream) => TypeNode): TypeNode {
  stream.skipNewlines();
  return parse(stream);
}

function parseIntersection(stream: TokenStream): TypeNode {
  const start = stream.current;
  const members = [parseOptional(stream)];
  while (stream.take('&')) members.push(afterNewlines(stream, parseOptional));
  return members.length === 1 ? (members[0] as TypeNode) : { kind: 'IntersectionType', members, span: stream.spanFrom(start) };
}

function parseOptional(stream: TokenStream): TypeNode {
  const start = stream.current;
  const type = parseAtom(stream);
  if (!stream.take('?')) return type;
  const span = stream.spanFrom(start);
  return { kind: 'UnionType', members: [type, { kind: 'NamedType', name: 'nil', args: [], span }], span };
}

function parseAtom(stream: TokenStream): TypeNode {
  const start = stream.current;
  const named = (name: string, args: readonly TypeNode[] = []): TypeNode => ({
    kind: 'NamedType',
    name,
    args,
    span: stream.spanFrom(start),
  });
  switch (start.kind) {
    case 'nil':
      stream.advance();
      return named('nil');
    case 'true':
    case 'false':
      stream.advance();
      return named('bool');
    case 'string':
    case 'raw':
      stream.advance();
      return { kind: 'LiteralType', value: start.text, span: stream.spanFrom(start) };
    case '-':
    case 'int': {
      const isNegative = stream.take('-') !== undefined;
      const digits = stream.expect('int', 'integer literal');
      return { kind: 'LiteralType', value: BigInt(digits.text) * (isNegative ? -1n : 1n), span: stream.spanFrom(start) };
    }
    case '{':
      return parseShape(stream);
    case '[': {
      stream.advance();
      stream.skipNewlines();
      const item = parseType(stream);
      stream.skipNewlines();
      stream.expect(']');
      return named('list', [item]);
    }
    case 'fn':
      return parseFunctionType(stream);
    case 'identifier':
      stream.advance();
      return named(start.text, stream.is('<') ? parseTypeArgs(stream) : []);
    default:
      return stream.fail('type name');
  }
}

/** `<A, B>`; the current token is `<`. */
export function parseTypeArgs(stream: TokenStream): TypeNode[] {
  stream.expect('<');
  const args: TypeNode[] = [];
  stream.skipNewlines();
  while (!stream.is('>')) {
    args.push(parseType(stream));
    stream.skipNewlines();
    if (!stream.take(',')) break;
    stream.skipNewlines();
  }
  stream.expect('>');
  return args;
}

function parseShape(stream: TokenStream): TypeNode {
  const start = stream.expect('{');
  const fields: Extract<TypeNode, { kind: 'ShapeType' }>['fields'][number][] = [];
  for (;;) {
    skipSeparators(stream);
    if (stream.take('}')) break;
    const name = stream.takeMemberName() ?? (stream.is('string') ? stream.advance() : stream.fail('field name'));
    const isOptional = stream.take('?') !== undefined;
    stream.expect(':');
    stream.skipNewlines();
    const type = parseType(stream);
    fields.push({ name: name.text, isOptional, type, span: stream.spanFrom(name) });
  }
  return { kind: 'ShapeType', fields, span: stream.spanFrom(start) };
}

function skipSeparators(stream: TokenStream): void {
  while (stream.is('newline') || stream.is(',')) stream.advance();
}

function parseFunctionType(stream: TokenStream): TypeNode {
  const start = stream.expect('fn');
  stream.expect('(');
  const params: TypeNode[] = [];
  stream.skipNewlines();
  while (!stream.is(')')) {
    params.push(parseType(stream));
    stream.skipNewlines();
    if (!stream.take(',')) break;
    stream.skipNewlines();
  }
  stream.expect(')');
  stream.expect('->');
  const result = parseType(stream);
  return { kind: 'FunctionType', params, result, span: stream.spanFrom(start) };
}

/** `<T, in A, out B>`, or nothing. */
export function parseTypeParams(stream: TokenStream): TypeParameter[] {
  if (!stream.take('<')) return [];
  const params: TypeParameter[] = [];
  stream.skipNewlines();
  while (!stream.is('>')) {
    const start = stream.current;
    let variance: 'in' | 'out' | undefined;
    if (stream.take('in')) variance = 'in';
    else if (stream.isWord('out') && stream.at(1).kind === 'identifier') {
      stream.advance();
      variance = 'out';
    }
    const name = stream.expectName('type parameter name');
    params.push({ name: name.text, variance, span: stream.spanFrom(start) });
    stream.skipNewlines();
    if (!stream.take(',')) break;
    stream.skipNewlines();
  }
  stream.expect('>');
  return params;
}
