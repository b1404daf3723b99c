import type { Binding, Block, Expression, ForLoop, Parameter, Pattern, Select, Statement } from './ast.ts';
import { parseDeclaration } from './parse-declaration.ts';
import { parseExpression } from './parse-expression.ts';
import { parseType } from './parse-type.ts';
import type { TokenStream } from './token-stream.ts';

/**
 * Statements (spec/language.md 2.2) and the recovery that lets one run report several mistakes: a statement that
 * does not read is dropped, and reading goes on at the next line on which the brackets it opened are closed again.
 */
export type Level = 'top' | 'block';

const SEPARATOR: Readonly<Record<Level, string>> = {
  top: 'top-level item separator (`;` or newline)',
  block: 'statement separator (`;` or newline)',
};

/** Statements up to the closing brace (which stays) or the end of the file. */
export function parseStatements(stream: TokenStream, level: Level): Statement[] {
  const statements: Statement[] = [];
  const isEnd = (): boolean => stream.is('eof') || (level === 'block' && stream.is('}'));
  for (;;) {
    stream.skipNewlines();
    if (isEnd()) return statements;
    stream.recovering(() => {
      statements.push(parseStatement(stream, level));
      if (!isEnd()) takeSeparator(stream, level);
    });
  }
}

function takeSeparator(stream: TokenStream, level: Level): void {
  if (stream.take(';')) return;
  if (!stream.is('newline')) stream.fail(SEPARATOR[level]);
  stream.skipNewlines();
}

/** `{ … }`; `opened` when the brace and a closure head have been read already. */
export function parseBlock(stream: TokenStream, state: 'closed' | 'opened' = 'closed'): Block {
  return stream.nested(() => {
    const start = state === 'closed' ? stream.expect('{') : stream.current;
    const statements = parseStatements(stream, 'block');
    stream.expect('}');
    return { kind: 'Block', statements, span: stream.spanFrom(start) };
  });
}

/** Parameters up to `close`, which stays. */
export function parseParams(stream: TokenStream, close: string): Parameter[] {
  const params: Parameter[] = [];
  let hasDefault = false;
  for (;;) {
    stream.skipNewlines();
    if (params.length > 0 && stream.take(',')) stream.skipNewlines();
    if (stream.is(close)) return params;
    const start = stream.current;
    if (params.at(-1)?.isRest) stream.fail('Rest parameter must be the last parameter');
    const param = parseParam(stream);
    if (param.defaultValue !== undefined) hasDefault = true;
    else if (hasDefault && !param.isRest) stream.fail('Required parameter cannot follow a parameter with a default value', start);
    params.push(param);
  }
}

function parseParam(stream: TokenStream): Parameter {
  const start = stream.current;
  const isRest = takeDots(stream);
  const name = stream.expectName('parameter name');
  const type = stream.take(':') ? parseType(stream) : undefined;
  const defaultValue = isRest ? undefined : parseDefault(stream);
  return { name: name.text, nameSpan: name, type, defaultValue, isRest, span: stream.spanFrom(start) };
}

/** `...` is three tokens. */
export function takeDots(stream: TokenStream): boolean {
  if (!(stream.is('.') && stream.at(1).kind === '.' && stream.at(2).kind === '.')) return false;
  for (let i = 0; i < 3; i++) stream.advance();
  return true;
}

export function parseStatement(stream: TokenStream, level: Level): Statement {
  const start = stream.current;
  const declaration = parseDeclaration(stream, level);
  if (declaration !== undefined) return declaration;
  switch (start.kind) {
    case 'let':
    case 'var':
      return parseBinding(stream);
    case 'for':
      return parseFor(stream);
    case 'while':
      return parseWhile(stream);
    case 'return': {
      stream.advance();
      const value = isStatementEnd(stream) ? undefined : parseExpression(stream);
      return { kind: 'Return', value, span: stream.spanFrom(start) };
    }
    case 'throw':
      stream.advance();
      return { kind: 'Throw', value: parseExpression(stream), span: stream.spanFrom(start) };
    case 'guard':
      return parseGuard(stream);
    case 'require': {
      stream.advance();
      const condition = parseExpression(stream);
      const message = stream.take(',') ? parseAfterNewlines(stream) : undefined;
      return { kind: 'Require', condition, message, span: stream.spanFrom(start) };
    }
    case 'mutex':
      stream.advance();
      return { kind: 'Mutex', body: parseBlock(stream), span: stream.spanFrom(start) };
    case 'defer':
      stream.advance();
      return { kind: 'Defer', body: parseBlock(stream), span: stream.spanFrom(start) };
    case 'select':
      return stream.at(1).kind === '(' ? parseSimple(stream) : parseSelect(stream);
    case 'yield': {
      stream.advance();
      stream.yields = true;
      const value = isStatementEnd(stream) ? undefined : parseExpression(stream);
      return { kind: 'Yield', value, span: stream.spanFrom(start) };
    }
    case 'emit':
      stream.advance();
      return { kind: 'Emit', value: parseExpression(stream), span: stream.spanFrom(start) };
    case 'break':
      stream.advance();
      return { kind: 'Break', span: start };
    case 'continue':
      stream.advance();
      return { kind: 'Continue', span: start };
    default:
      if (stream.isWord('const') && stream.at(1).kind === 'identifier') return parseBinding(stream);
      return parseSimple(stream);
  }
}

function isStatementEnd(stream: TokenStream): boolean {
  return stream.is('newline') || stream.is(';') || stream.is('}') || stream.is('eof');
}

function parseBinding(stream: TokenStream): Binding {
  const start = stream.advance();
  const keyword = start.text as Binding['keyword'];
  const pattern: Pattern = keyword === 'const' ? parseNamePattern(stream) : parsePattern(stream, 'variable name or destructuring pattern');
  const type = pattern.kind === 'NamePattern' && stream.take(':') ? parseType(stream) : undefined;
  stream.expect('=');
  const value = parseAfterNewlines(stream);
  return { kind: 'Binding', keyword, pattern, type, value, span: stream.spanFrom(start) };
}

function parseNamePattern(stream: TokenStream): Pattern {
  const name = stream.expectName('constant name');
  return { kind: 'NamePattern', name: name.text, span: name };
}

function parsePattern(stream: TokenStream, description: string): Pattern {
  if (stream.is('{')) return parseDictPattern(stream);
  if (stream.is('[')) return parseListPattern(stream);
  const name = stream.expectName(description);
  return { kind: 'NamePattern', name: name.text, span: name };
}

function parseDefault(stream: TokenStream): Expression | undefined {
  return stream.take('=') ? parseAfterNewlines(stream) : undefined;
}

/** Behind `=` and a comma the expression may begin on a later line. */
function parseAfterNewlines(stream: TokenStream): Expression {
  stream.skipNewlines();
  return parseExpression(stream);
}

function parseDictPattern(stream: TokenStream): Pattern {
  const start = stream.expect('{');
  const fields: Extract<Pattern, { kind: 'DictPattern' }>['fields'][number][] = [];
  let rest: string | undefined;
  for (;;) {
    stream.skipNewlines();
    if ((fields.length > 0 || rest !== undefined) && stream.take(',')) stream.skipNewlines();
    if (stream.take('}')) return { kind: 'DictPattern', fields, rest, span: stream.spanFrom(start) };
    if (rest !== undefined) stream.fail('}');
    if (takeDots(stream)) {
      rest = stream.expectName('rest variable name').text;
      continue;
    }
    const key = stream.expectName('field name');
    const target = stream.take(':') ? stream.expectName('variable name').text : key.text;
    const defaultValue = parseDefault(stream);
    fields.push({ key: key.text, target, defaultValue, span: stream.spanFrom(key) });
  }
}

function parseListPattern(stream: TokenStream): Pattern {
  const start = stream.expect('[');
  const items: Extract<Pattern, { kind: 'ListPattern' }>['items'][number][] = [];
  let rest: string | undefined;
  for (;;) {
    stream.skipNewlines();
    if ((items.length > 0 || rest !== undefined) && stream.take(',')) stream.skipNewlines();
    if (stream.take(']')) return { kind: 'ListPattern', items, rest, span: stream.spanFrom(start) };
    if (rest !== undefined) stream.fail(']');
    if (takeDots(stream)) {
      rest = stream.expectName('rest variable name').text;
      continue;
    }
    const target = stream.expectName('variable name');
    const defaultValue = parseDefault(stream);
    items.push({ target: target.text, defaultValue, span: stream.spanFrom(target) });
  }
}

function parseFor(stream: TokenStream): ForLoop {
  const start = stream.expect('for');
  const pattern = stream.is('(') ? parsePairPattern(stream) : parsePattern(stream, 'loop variable name or destructuring pattern');
  stream.expect('in');
  const iterable = parseAfterNewlines(stream);
  return { kind: 'For', pattern, iterable, body: parseBlock(stream), span: stream.spanFrom(start) };
}

function parsePairPattern(stream: TokenStream): ForLoop['pattern'] {
  const start = stream.expect('(');
  const first = stream.expectName('variable name');
  stream.expect(',');
  const second = stream.expectName('variable name');
  stream.expect(')');
  return { kind: 'PairPattern', first: first.text, second: second.text, span: stream.spanFrom(start) };
}

/** A leading parenthesis is the whole condition, so `while (x) && y {` does not read. */
function parseWhile(stream: TokenStream): Statement {
  const start = stream.expect('while');
  let condition: Expression;
  if (stream.take('(')) {
    stream.skipNewlines();
    condition = parseExpression(stream);
    stream.skipNewlines();
    stream.expect(')');
    stream.spelling.parenthesised.add(condition);
  } else {
    condition = parseExpression(stream);
  }
  return { kind: 'While', condition, body: parseBlock(stream), span: stream.spanFrom(start) };
}

function parseGuard(stream: TokenStream): Statement {
  const start = stream.expect('guard');
  const condition = parseExpression(stream);
  stream.skipNewlines();
  stream.expect('else');
  return { kind: 'Guard', condition, otherwise: parseBlock(stream), span: stream.spanFrom(start) };
}

function parseSelect(stream: TokenStream): Select {
  const start = stream.expect('select');
  stream.expect('{');
  const cases: Select['cases'][number][] = [];
  let timeout: Select['timeout'];
  let otherwise: Block | undefined;
  for (;;) {
    while (stream.is('newline') || stream.is(';') || stream.is(',')) stream.advance();
    if (stream.is('}')) break;
    const from = stream.current;
    if (stream.isWord('timeout') && stream.at(1).kind !== 'from') {
      stream.advance();
      timeout = { duration: parseExpression(stream), body: parseBlock(stream) };
    } else if (stream.isWord('default') && stream.at(1).kind !== 'from') {
      stream.advance();
      otherwise = parseBlock(stream);
    } else {
      const variable = stream.expectName('select case variable name');
      stream.expect('from');
      const channel = parseExpression(stream);
      cases.push({ variable: variable.text, channel, body: parseBlock(stream), span: stream.spanFrom(from) });
    }
    if (timeout !== undefined && otherwise !== undefined) stream.fail('select cannot have both timeout and default', from);
  }
  if (cases.length === 0 && timeout === undefined && otherwise === undefined) stream.fail('at least one select case');
  stream.expect('}');
  return { kind: 'Select', cases, timeout, otherwise, span: stream.spanFrom(start) };
}

const ASSIGNMENTS: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=']);

/** An expression, or an assignment when an operator follows that only a target can stand before. */
function parseSimple(stream: TokenStream): Statement {
  const start = stream.current;
  const expression = parseExpression(stream);
  if (!ASSIGNMENTS.has(stream.current.kind)) return { kind: 'ExpressionStatement', expression, span: stream.spanFrom(start) };
  if (!isTarget(expression)) stream.fail('assignment target (a variable, property or subscript)', start);
  const operator = stream.advance().kind as '=' | '+=' | '-=' | '*=' | '/=' | '%=';
  const value = parseAfterNewlines(stream);
  return { kind: 'Assignment', target: expression, operator, value, span: stream.spanFrom(start) };
}

function isTarget(expression: Expression): boolean {
  if (expression.kind === 'Identifier') return true;
  return (expression.kind === 'Property' || expression.kind === 'Subscript') && !expression.isOptional;
}
