import type { BinaryOperator, Block, Closure, DictEntry, Element, Expression, Identifier, MatchArm, Spread, TypeNode } from './ast.ts';
import { durationMs, lex } from './lexer.ts';
import { parseType, parseTypeArgs } from './parse-type.ts';
import { replacePlaceholder } from './pipe-placeholder.ts';
import { BINDING_POWERS } from './precedence.ts';
import { type StringPart, startsUppercase, type Token } from './token.ts';
import { ParseError, TokenStream } from './token-stream.ts';

/**
 * Expressions (spec/language.md 2.3, 3.1): one loop that climbs binding powers instead of a function per level, so
 * that a level of nesting costs few JavaScript frames. What makes the grammar its own: a newline ends an
 * expression unless the next line begins with one of a fixed set of operators; `{` is a closure or a dict by
 * whether an arrow stands inside; `?` is a ternary, an optional subscript or Result propagation by the token
 * behind it; only a bare name can be called.
 */
export function parseExpression(stream: TokenStream): Expression {
  const around = stream.enter();
  const expression = parsePipe(stream);
  stream.leave(around);
  return expression;
}

function parsePipe(stream: TokenStream): Expression {
  const start = stream.current;
  let left = parseRange(stream);
  while (stream.takeOperator('|>')) {
    stream.grow();
    stream.skipNewlines();
    const right = parseRange(stream);
    const replaced = replacePlaceholder(right);
    if (replaced !== undefined) stream.spelling.placeholders.set(replaced, right);
    left = { kind: 'Pipe', left, right: replaced ?? right, hadPlaceholder: replaced !== undefined, span: stream.spanFrom(start) };
  }
  return left;
}

function parseRange(stream: TokenStream): Expression {
  const start = stream.current;
  const first = parseTernary(stream);
  if (!stream.take('to')) return first;
  const end = parseTernary(stream);
  const isExclusive = stream.take('exclusive') !== undefined;
  return { kind: 'Range', start: first, end, isExclusive, span: stream.spanFrom(start) };
}

function parseTernary(stream: TokenStream): Expression {
  const start = stream.current;
  const condition = parseBinary(stream, 1);
  if (!stream.is('?')) return condition;
  stream.advance();
  const then = stream.nested(() => parseTernary(stream));
  stream.expect(':');
  const otherwise = stream.nested(() => parseTernary(stream));
  return { kind: 'Ternary', condition, then, otherwise, span: stream.spanFrom(start) };
}

function parseBinary(stream: TokenStream, minimum: number): Expression {
  const start = stream.current;
  let left = parsePower(stream);
  for (;;) {
    const operator = stream.isWord('not') && stream.at(1).kind === 'in' ? 'not in' : stream.operator;
    const power = BINDING_POWERS[operator];
    if (power === undefined || power < minimum) return left;
    stream.grow();
    stream.skipNewlines();
    const operatorSpan = stream.current;
    stream.advance();
    if (operator === 'not in') stream.expect('in');
    stream.skipNewlines();
    const right = parseBinary(stream, power + 1);
    left = { kind: 'Binary', operator: operator as BinaryOperator, operatorSpan, left, right, span: stream.spanFrom(start) };
  }
}

function parsePower(stream: TokenStream): Expression {
  const start = stream.current;
  const left = parseUnary(stream);
  if (!stream.isOperator('**')) return left;
  stream.skipNewlines();
  const operatorSpan = stream.advance();
  stream.skipNewlines();
  const right = stream.nested(() => parsePower(stream));
  return { kind: 'Binary', operator: '**', operatorSpan, left, right, span: stream.spanFrom(start) };
}

function parseUnary(stream: TokenStream): Expression {
  const start = stream.current;
  if (start.kind === '!' || start.kind === '-') {
    stream.advance();
    const operand = stream.nested(() => parseUnary(stream));
    return { kind: 'Unary', operator: start.kind, operand, span: stream.spanFrom(start) };
  }
  if (start.kind === 'try' && stream.at(1).kind === '*') {
    stream.advance();
    stream.advance();
    const value = stream.nested(() => parseUnary(stream));
    return { kind: 'TryStar', value, span: stream.spanFrom(start) };
  }
  return parsePostfix(stream);
}

/** Tokens that make `e ?` a ternary; anything else propagates a Result. */
const TERNARY_STARTS: ReadonlySet<string> = new Set([
  'identifier',
  'int',
  'float',
  'duration',
  'string',
  'raw',
  'interpolation',
  'true',
  'false',
  'nil',
  '(',
  '{',
  '!',
  '-',
  'fn',
]);

export function parsePostfix(stream: TokenStream): Expression {
  const start = stream.current;
  let base = parsePrimary(stream);
  for (;;) {
    const operator = stream.operator;
    if (operator === '.' || operator === '?.') {
      stream.skipNewlines();
      base = parseMember(stream, base, start);
    } else if (stream.is('[')) {
      base = parseSubscript(stream, base, start, false);
    } else if (stream.is('?') && stream.at(1).kind === '[') {
      stream.advance();
      base = parseSubscript(stream, base, start, true);
    } else if (stream.is('?') && !TERNARY_STARTS.has(stream.at(1).kind)) {
      stream.advance();
      base = { kind: 'Propagate', value: base, span: stream.spanFrom(start) };
    } else if (base.kind === 'Identifier' && stream.is('(')) {
      base = { kind: 'Call', callee: base, typeArgs: [], args: parseArgs(stream), span: stream.spanFrom(start) };
    } else if (base.kind === 'Identifier' && stream.is('<') && stream.anglesMayHoldTypes) {
      const call = parseGenericCall(stream, base, start);
      if (call === undefined) return base;
      base = call;
    } else if (base.kind === 'Identifier' && stream.is('{') && isStructBody(stream, base)) {
      base = parseStructLiteral(stream, base);
    } else {
      return base;
    }
    stream.grow();
  }
}

function parseMember(stream: TokenStream, receiver: Expression, start: Token): Expression {
  const isOptional = stream.advance().kind === '?.';
  const name = stream.takeMemberName() ?? stream.fail('property name');
  if (stream.is('(')) {
    return {
      kind: 'MethodCall',
      receiver,
      name: name.text,
      nameSpan: name,
      isOptional,
      args: parseArgs(stream),
      span: stream.spanFrom(start),
    };
  }
  return { kind: 'Property', receiver, name: name.text, nameSpan: name, isOptional, span: stream.spanFrom(start) };
}

function parseSubscript(stream: TokenStream, receiver: Expression, start: Token, isOptional: boolean): Expression {
  stream.expect('[');
  stream.skipNewlines();
  const first = stream.is(':') ? undefined : parseExpression(stream);
  stream.skipNewlines();
  if (first !== undefined && !(stream.is(':') && !isOptional)) {
    stream.expect(']');
    return { kind: 'Subscript', receiver, index: first, isOptional, span: stream.spanFrom(start) };
  }
  stream.expect(':');
  stream.skipNewlines();
  const end = stream.is(']') ? undefined : parseExpression(stream);
  stream.skipNewlines();
  stream.expect(']');
  return { kind: 'Slice', receiver, start: first, end, span: stream.spanFrom(start) };
}

/** `f<T>(…)` if a list of types and `(` can be read, else `<` is less-than. */
function parseGenericCall(stream: TokenStream, callee: Identifier, start: Token): Expression | undefined {
  const typeArgs = stream.attempt((): TypeNode[] => {
    const args = parseTypeArgs(stream);
    if (!stream.is('(')) stream.fail('(');
    return args;
  });
  if (typeArgs === undefined) return undefined;
  return { kind: 'Call', callee, typeArgs, args: parseArgs(stream), span: stream.spanFrom(start) };
}

/** `Name {` constructs when the name is uppercase and the brace holds nothing, `ident :` or `"text" :`. */
function isStructBody(stream: TokenStream, name: Identifier): boolean {
  if (!startsUppercase(name.name)) return false;
  let distance = 1;
  while (stream.at(distance).kind === 'newline') distance++;
  const first = stream.at(distance);
  if (first.kind === '}') return true;
  const isKey = first.text !== '' && (first.kind === 'string' || /^[\p{Alphabetic}_]/u.test(first.text));
  return isKey && stream.at(distance + 1).kind === ':';
}

function parseStructLiteral(stream: TokenStream, name: Identifier): Expression {
  stream.expect('{');
  const fields: { name: string; value: Expression; span: Token }[] = [];
  for (;;) {
    skipCommas(stream);
    if (stream.take('}')) break;
    const key = stream.take('string') ?? stream.takeMemberName() ?? stream.fail('field name');
    stream.expect(':');
    stream.skipNewlines();
    fields.push({ name: key.text, value: parseExpression(stream), span: key });
  }
  return { kind: 'StructLiteral', name: name.name, nameSpan: name.span, fields, span: stream.spanFrom(name.span) };
}

/** Commas are optional between elements; newlines never matter inside brackets. */
function skipCommas(stream: TokenStream): void {
  while (stream.is('newline') || stream.is(',')) stream.advance();
}

export function parseArgs(stream: TokenStream): Element[] {
  stream.expect('(');
  return parseElements(stream, ')');
}

function parseElements(stream: TokenStream, close: string): Element[] {
  const items: Element[] = [];
  for (;;) {
    skipElementEnd(stream, items.length > 0);
    if (stream.take(close)) return items;
    items.push(parseSpread(stream) ?? parseExpression(stream));
  }
}

function skipElementEnd(stream: TokenStream, hasItem: boolean): void {
  stream.skipNewlines();
  if (hasItem && stream.take(',')) stream.skipNewlines();
}

function parseSpread(stream: TokenStream): Spread | undefined {
  const start = stream.current;
  if (!(stream.is('.') && stream.at(1).kind === '.' && stream.at(2).kind === '.')) return undefined;
  stream.advance();
  stream.advance();
  stream.advance();
  return { kind: 'Spread', value: parseExpression(stream), span: stream.spanFrom(start) };
}

function parsePrimary(stream: TokenStream): Expression {
  const token = stream.current;
  const span = token;
  switch (token.kind) {
    case 'int':
      stream.advance();
      return { kind: 'Int', value: BigInt(token.text), span };
    case 'float':
      stream.advance();
      return { kind: 'Float', value: Number(token.text), span };
    case 'duration':
      stream.advance();
      return { kind: 'Duration', ms: durationMs(token.text), text: token.text, span };
    case 'string':
    case 'raw':
      stream.advance();
      return { kind: 'String', value: token.text, form: token.kind === 'raw' ? 'raw' : token.isBlock ? 'block' : 'plain', span };
    case 'interpolation':
      stream.advance();
      return {
        kind: 'Interpolation',
        parts: (token.parts ?? []).map((part) => parsePart(stream, part)),
        form: token.isBlock ? 'block' : 'plain',
        span,
      };
    case 'true':
    case 'false':
      stream.advance();
      return { kind: 'Bool', value: token.kind === 'true', span };
    case 'nil':
      stream.advance();
      return { kind: 'Nil', span };
    case 'identifier':
      stream.advance();
      return { kind: 'Identifier', name: token.text, span };
    case '(': {
      stream.advance();
      stream.skipNewlines();
      const inner = parseExpression(stream);
      stream.skipNewlines();
      stream.expect(')');
      stream.spelling.parenthesised.add(inner);
      return inner;
    }
    case '[':
      stream.advance();
      return { kind: 'List', items: parseElements(stream, ']'), span: stream.spanFrom(token) };
    case '{':
      return parseBraces(stream);
    case 'fn':
      return parseFunctionExpression(stream);
    case 'if':
      return parseIf(stream);
    case 'match':
      return parseMatch(stream);
    case 'parallel':
      return parseParallel(stream);
    case 'retry':
      return parseRetry(stream);
    case 'deadline': {
      stream.advance();
      const duration = parsePostfix(stream);
      return { kind: 'Deadline', duration, body: stream.grammar.block(stream), span: stream.spanFrom(token) };
    }
    case 'try':
      return parseTry(stream);
    case 'spawn':
      stream.advance();
      return { kind: 'Spawn', body: stream.activation(() => stream.grammar.block(stream)).body, span: stream.spanFrom(token) };
    case 'select':
      if (stream.at(1).kind === '(') {
        stream.advance();
        const callee: Identifier = { kind: 'Identifier', name: 'select', span };
        return { kind: 'Call', callee, typeArgs: [], args: parseArgs(stream), span: stream.spanFrom(token) };
      }
      return stream.fail('expression');
    case '<':
      if (stream.at(1).kind === '<' && stream.at(2).kind === 'identifier') {
        stream.failWith(
          `Heredocs are not part of the language at ${token.line}:${token.column}`,
          token,
          'write a block string between """ and """',
        );
      }
      return stream.fail('expression');
    default:
      return stream.fail('expression');
  }
}

/** One `${…}`: lexed and parsed at its own position in the file. */
function parsePart(stream: TokenStream, part: StringPart): string | Expression {
  if (typeof part === 'string') return part;
  const { tokens, error } = lex(part.text, part);
  if (error !== undefined) throw new ParseError({ ...error, stage: 'parser' });
  const inner = new TokenStream(tokens, stream.grammar, { fragmentDepth: stream.nesting + 1 });
  inner.skipNewlines();
  const expression = parseExpression(inner);
  inner.skipNewlines();
  if (!inner.is('eof')) inner.fail('}');
  stream.yields ||= inner.yields;
  return expression;
}

function parseBraces(stream: TokenStream): Expression {
  if (stream.bracesHoldArrow) {
    // `{k: fn(x) -> int { … }}` holds an arrow too, so a closure head that does not read is taken back.
    const closure = stream.attempt(() => parseClosureHead(stream));
    if (closure !== undefined) return parseClosureBody(stream, closure);
  }
  return parseDict(stream);
}

interface ClosureHead {
  readonly start: Token;
  readonly params: Closure['params'];
}

function parseClosureHead(stream: TokenStream): ClosureHead {
  const start = stream.expect('{');
  stream.skipNewlines();
  const params = stream.is('->') ? [] : stream.grammar.params(stream, '->');
  stream.skipNewlines();
  stream.expect('->');
  return { start, params };
}

function parseClosureBody(stream: TokenStream, head: ClosureHead): Closure {
  const { body } = stream.activation(() => stream.grammar.block(stream, 'opened'));
  return { kind: 'Closure', params: head.params, returnType: undefined, body, form: 'brace', span: stream.spanFrom(head.start) };
}

function parseDict(stream: TokenStream): Expression {
  const start = stream.expect('{');
  const entries: (DictEntry | Spread)[] = [];
  for (;;) {
    skipElementEnd(stream, entries.length > 0);
    if (stream.take('}')) return { kind: 'Dict', entries, span: stream.spanFrom(start) };
    entries.push(parseSpread(stream) ?? parseEntry(stream));
  }
}

function parseEntry(stream: TokenStream): DictEntry {
  const start = stream.current;
  let key: string | Expression;
  if (stream.take('[')) {
    stream.skipNewlines();
    key = parseExpression(stream);
    stream.skipNewlines();
    stream.expect(']');
  } else {
    key = (stream.take('string') ?? stream.take('raw') ?? stream.takeMemberName() ?? stream.fail('}')).text;
  }
  stream.skipNewlines();
  stream.expect(':');
  stream.skipNewlines();
  const value = parseExpression(stream);
  return { kind: 'Entry', key, value, span: stream.spanFrom(start) };
}

function parseFunctionExpression(stream: TokenStream): Expression {
  const start = stream.expect('fn');
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  const returnType = stream.take('->') ? parseType(stream) : undefined;
  const { body } = stream.activation(() => stream.grammar.block(stream));
  return { kind: 'Closure', params, returnType, body, form: 'fn', span: stream.spanFrom(start) };
}

/** A chain of `else if` nests nothing, so it is read in a loop and its tree is built from the end. */
function parseIf(stream: TokenStream): Expression {
  return stream.nested(() => {
    const links: { readonly start: Token; readonly condition: Expression; readonly then: Block }[] = [];
    let otherwise: Block | undefined;
    do {
      const start = stream.expect('if');
      const condition = parseExpression(stream);
      const then = stream.grammar.block(stream);
      links.push({ start, condition, then });
      if (!takeElse(stream)) break;
      if (!stream.is('if')) otherwise = stream.grammar.block(stream);
    } while (otherwise === undefined);
    return chainOf(stream, links, otherwise);
  });
}

function takeElse(stream: TokenStream): boolean {
  if (stream.significant.kind !== 'else') return false;
  stream.skipNewlines();
  stream.advance();
  return true;
}

function chainOf(
  stream: TokenStream,
  links: readonly { readonly start: Token; readonly condition: Expression; readonly then: Block }[],
  last: Block | undefined,
): Expression {
  let otherwise = last;
  for (let at = links.length - 1; ; at--) {
    const { start, condition, then } = links[at] as (typeof links)[number];
    const span = stream.spanFrom(start);
    const expression: Expression = { kind: 'If', condition, then, otherwise, isElseIf: at > 0, span };
    if (at === 0) return expression;
    otherwise = { kind: 'Block', statements: [{ kind: 'ExpressionStatement', expression, span }], span };
  }
}

function parseMatch(stream: TokenStream): Expression {
  const start = stream.expect('match');
  const subject = parseExpression(stream);
  stream.skipNewlines();
  stream.expect('{');
  const arms: MatchArm[] = [];
  for (;;) {
    skipArmEnd(stream);
    if (stream.take('}')) return { kind: 'Match', subject, arms, span: stream.spanFrom(start) };
    arms.push(parseArm(stream));
  }
}

function skipArmEnd(stream: TokenStream): void {
  while (stream.is('newline') || stream.is(',') || stream.is(';')) stream.advance();
}

function parseArm(stream: TokenStream): MatchArm {
  const start = stream.current;
  const patterns = [parseExpression(stream)];
  while (stream.take('|') || (stream.is('newline') && stream.significant.kind === '|' && takeLeadingBar(stream))) {
    stream.skipNewlines();
    patterns.push(parseExpression(stream));
  }
  const guard = stream.take('if') ? parseExpression(stream) : undefined;
  stream.expect('->');
  stream.skipNewlines();
  const body = stream.grammar.block(stream);
  return { patterns, guard, body, span: stream.spanFrom(start) };
}

function takeLeadingBar(stream: TokenStream): boolean {
  stream.skipNewlines();
  stream.advance();
  return true;
}

function parseParallel(stream: TokenStream): Expression {
  const start = stream.expect('parallel');
  const form = stream.isWord('each') || stream.isWord('settle') ? (stream.advance().text as 'each' | 'settle') : 'count';
  const operand = parseExpression(stream);
  const maxConcurrent = stream.takeWord('with') ? parseParallelOptions(stream) : undefined;
  stream.expect('{');
  stream.skipNewlines();
  let variable: string | undefined;
  if (stream.is('identifier') && stream.at(1).kind === '->') {
    variable = stream.advance().text;
    stream.advance();
  } else {
    stream.take('->');
  }
  const { body } = stream.activation(() => stream.grammar.block(stream, 'opened'));
  let asStream = false;
  if (stream.takeWord('as')) {
    if (!stream.takeWord('stream')) stream.fail('`stream` after `parallel each ... as`');
    if (form !== 'each') stream.failWith('`as stream` is only valid after `parallel each ... { ... }`', stream.current);
    asStream = true;
  }
  return { kind: 'Parallel', form, operand, maxConcurrent, variable, body, asStream, span: stream.spanFrom(start) };
}

function parseParallelOptions(stream: TokenStream): Expression | undefined {
  stream.expect('{');
  let value: Expression | undefined;
  for (;;) {
    skipCommas(stream);
    if (stream.take('}')) return value;
    const key = stream.current;
    if (!stream.takeWord('max_concurrent')) {
      stream.fail(`known option (only \`max_concurrent\` is supported in \`parallel ... with { ... }\`; got \`${key.text}\`)`);
    }
    stream.expect(':');
    stream.skipNewlines();
    value = parseExpression(stream);
  }
}

function parseRetry(stream: TokenStream): Expression {
  const start = stream.expect('retry');
  const count = parsePostfix(stream);
  return { kind: 'Retry', count, body: stream.grammar.block(stream), span: stream.spanFrom(start) };
}

function parseTry(stream: TokenStream): Expression {
  const start = stream.expect('try');
  const body = stream.grammar.block(stream);
  const catchClause = parseCatch(stream);
  let finallyBlock: Block | undefined;
  if (stream.significant.kind === 'finally') {
    stream.skipNewlines();
    stream.advance();
    finallyBlock = stream.grammar.block(stream);
  }
  return { kind: 'Try', body, catchClause, finallyBlock, span: stream.spanFrom(start) };
}

function parseCatch(stream: TokenStream): Extract<Expression, { kind: 'Try' }>['catchClause'] {
  if (stream.significant.kind !== 'catch') return undefined;
  stream.skipNewlines();
  const start = stream.advance();
  let variable: string | undefined;
  let type: TypeNode | undefined;
  if (stream.take('(')) {
    variable = stream.expectName('variable name').text;
    if (stream.take(':')) type = parseType(stream);
    stream.expect(')');
  } else if (stream.is('identifier')) {
    variable = stream.advance().text;
  }
  const body = stream.grammar.block(stream);
  return { variable, type, body, span: stream.spanFrom(start) };
}
