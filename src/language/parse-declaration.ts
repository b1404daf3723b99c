import type {
  Attribute,
  AttributeArgument,
  AttributeValue,
  Bound,
  EnumVariant,
  EvalPack,
  Expression,
  FunctionDeclaration,
  Import,
  InterfaceMethod,
  Name,
  Statement,
  StructField,
  TypeNode,
} from './ast.ts';
import { parseType, parseTypeParams } from './parse-type.ts';
import type { Token } from './token.ts';
import type { TokenStream } from './token-stream.ts';

/** Declarations, imports and attributes (spec/language.md 2.1); undefined when the statement is something else. */
export function parseDeclaration(stream: TokenStream, level: 'top' | 'block'): Statement | undefined {
  const start = stream.current;
  if (start.kind === '@') return parseAttributed(stream, level);
  if (start.kind === 'pub') {
    stream.advance();
    const declaration = parseNamed(stream, level, true, start);
    const expected = 'fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub';
    return declaration ?? stream.fail(expected);
  }
  return parseNamed(stream, level, false, start);
}

function parseNamed(stream: TokenStream, level: 'top' | 'block', isPublic: boolean, start: Token): Statement | undefined {
  switch (stream.current.kind) {
    case 'fn':
      // `fn (x) { … }` begins an expression.
      return stream.at(1).kind === '(' && !isPublic ? undefined : parseFunction(stream, isPublic, false, start);
    case 'identifier':
      if (stream.isWord('gen') && stream.at(1).kind === 'fn') {
        stream.advance();
        return parseFunction(stream, isPublic, true, start);
      }
      return undefined;
    case 'tool':
      return parseTool(stream, isPublic, start);
    case 'skill':
      return parseSkill(stream, isPublic, start);
    case 'struct':
      return parseStruct(stream, isPublic, start);
    case 'enum':
      return parseEnum(stream, isPublic, start);
    case 'type':
      return parseAlias(stream, isPublic, start);
    case 'import':
      return level === 'top' ? parseImport(stream, isPublic, start) : stream.fail('statement (imports stand at the top level of a file)');
    case 'pipeline':
      return level === 'top'
        ? parsePipeline(stream, isPublic, start)
        : stream.fail('statement (pipelines stand at the top level of a file)');
    case 'eval_pack':
      return level === 'top'
        ? parseEvalPack(stream, isPublic, start)
        : stream.fail('statement (eval packs stand at the top level of a file)');
    case 'override':
      return isPublic ? undefined : parseOverride(stream, start);
    case 'interface':
      return isPublic ? undefined : parseInterface(stream, start);
    case 'impl':
      return isPublic ? undefined : parseImpl(stream, start);
    default:
      return undefined;
  }
}

// ---- imports and attributes ----

function parseImport(stream: TokenStream, isPublic: boolean, start: Token): Import {
  stream.expect('import');
  if (stream.is('identifier')) return parsePathImport(stream, isPublic, start);
  const names = stream.is('{') ? parseImportNames(stream) : undefined;
  if (names !== undefined) stream.expect('from');
  const path =
    stream.take('string') ?? stream.take('raw') ?? stream.fail(names === undefined ? 'import path string or {' : 'import path string');
  return { kind: 'Import', isPublic, path: path.text, pathSpan: path, names, spelling: 'string', span: stream.spanFrom(start) };
}

function parseImportNames(stream: TokenStream): Name[] {
  stream.expect('{');
  const names: Name[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(',')) stream.advance();
    if (stream.take('}')) return names;
    const name = stream.expectName('import name');
    names.push({ text: name.text, span: name });
  }
}

function parsePathImport(stream: TokenStream, isPublic: boolean, start: Token): Import {
  const first = stream.current;
  const segments = [stream.advance().text];
  for (;;) {
    stream.expect(':', '::');
    stream.expect(':', '::');
    if (stream.is('{')) break;
    segments.push((stream.takeMemberName() ?? stream.fail('module name or {')).text);
  }
  const pathSpan = stream.spanFrom(first);
  const names = parseImportNames(stream);
  return { kind: 'Import', isPublic, path: segments.join('/'), pathSpan, names, spelling: 'path', span: stream.spanFrom(start) };
}

function parseAttributed(stream: TokenStream, level: 'top' | 'block'): Statement {
  const start = stream.current;
  const attributes: Attribute[] = [];
  while (stream.is('@')) {
    attributes.push(parseAttribute(stream));
    stream.skipNewlines();
  }
  const declaration = parseDeclaration(stream, level) ?? stream.fail('declaration after attribute');
  return { kind: 'Attributed', attributes, declaration, span: stream.spanFrom(start) };
}

function parseAttribute(stream: TokenStream): Attribute {
  const start = stream.expect('@');
  const name = (stream.takeMemberName() ?? stream.fail('attribute name')).text;
  const args: AttributeArgument[] = [];
  if (stream.take('(')) {
    for (;;) {
      while (stream.is('newline') || stream.is(',')) stream.advance();
      if (stream.take(')')) break;
      const from = stream.current;
      const key = stream.is('identifier') && stream.at(1).kind === ':' ? stream.advance().text : undefined;
      if (key !== undefined) stream.expect(':');
      args.push({ name: key, value: parseAttributeValue(stream), span: stream.spanFrom(from) });
    }
  }
  return { name, args, span: stream.spanFrom(start) };
}

function parseAttributeValue(stream: TokenStream): AttributeValue {
  const sign = stream.take('-') ? -1 : 1;
  if (sign === -1 && !stream.is('int') && !stream.is('float')) stream.fail('number');
  const token = stream.advance();
  switch (token.kind) {
    case 'int':
      return { kind: 'int', value: BigInt(token.text) * BigInt(sign) };
    case 'float':
      return { kind: 'float', value: Number(token.text) * sign };
    case 'string':
    case 'raw':
      return { kind: 'string', value: token.text };
    case 'true':
    case 'false':
      return { kind: 'bool', value: token.kind === 'true' };
    case 'nil':
      return { kind: 'nil' };
    case 'identifier':
      return { kind: 'identifier', value: token.text };
    case '[': {
      const items: AttributeValue[] = [];
      for (;;) {
        while (stream.is('newline') || stream.is(',')) stream.advance();
        if (stream.take(']')) return { kind: 'list', items };
        items.push(stream.nested(() => parseAttributeValue(stream)));
      }
    }
    default:
      return stream.fail('attribute value', token);
  }
}

// ---- functions ----

function parseFunction(stream: TokenStream, isPublic: boolean, isStream: boolean, start: Token): FunctionDeclaration {
  stream.expect('fn');
  const name = stream.expectName('function name');
  const typeParams = parseTypeParams(stream);
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  const returnType = parseReturnType(stream);
  const bounds = parseWhere(stream);
  const { body, yields } = stream.activation(() => stream.grammar.block(stream));
  return {
    kind: 'Function',
    isPublic,
    isStream,
    name: name.text,
    nameSpan: name,
    typeParams,
    params,
    returnType,
    bounds,
    body,
    yields,
    span: stream.spanFrom(start),
  };
}

function parseReturnType(stream: TokenStream): TypeNode | undefined {
  if (!stream.take('->')) return undefined;
  stream.skipNewlines();
  return parseType(stream);
}

function parseWhere(stream: TokenStream): Bound[] {
  if (!(stream.significant.kind === 'identifier' && stream.significant.text === 'where')) return [];
  stream.skipNewlines();
  stream.advance();
  const bounds: Bound[] = [];
  do {
    stream.skipNewlines();
    const parameter = stream.expectName('type parameter name');
    stream.expect(':');
    const interfaces = [parseType(stream)];
    while (stream.take('+')) interfaces.push(parseType(stream));
    bounds.push({ parameter: parameter.text, interfaces, span: stream.spanFrom(parameter) });
  } while (stream.take(','));
  stream.skipNewlines();
  return bounds;
}

function parsePipeline(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('pipeline');
  const name = stream.expectName('pipeline name');
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  const returnType = parseReturnType(stream);
  let parent: Name | undefined;
  if (stream.take('extends')) {
    const token = stream.expectName('parent pipeline name');
    parent = { text: token.text, span: token };
  }
  const { body } = stream.activation(() => stream.grammar.block(stream));
  return { kind: 'Pipeline', isPublic, name: name.text, nameSpan: name, params, returnType, parent, body, span: stream.spanFrom(start) };
}

function parseOverride(stream: TokenStream, start: Token): Statement {
  stream.expect('override');
  const name = stream.expectName('override name');
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  const { body, yields } = stream.activation(() => stream.grammar.block(stream));
  return { kind: 'Override', name: name.text, params, body, yields, span: stream.spanFrom(start) };
}

function parseTool(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('tool');
  const name = stream.expectName('tool name');
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  const returnType = parseReturnType(stream);
  const open = stream.expect('{');
  stream.skipNewlines();
  let description: string | undefined;
  if (stream.isWord('description') && (stream.at(1).kind === 'string' || stream.at(1).kind === 'raw')) {
    stream.advance();
    description = stream.advance().text;
    if (!stream.is('}') && !stream.take(';') && !stream.is('newline')) stream.fail('statement separator (`;` or newline)');
  }
  const statements = stream.activation(() => stream.nested(() => stream.grammar.statements(stream, 'block'))).body;
  stream.expect('}');
  const body = { kind: 'Block' as const, statements, span: stream.spanFrom(open) };
  return { kind: 'Tool', isPublic, name: name.text, nameSpan: name, params, returnType, description, body, span: stream.spanFrom(start) };
}

function parseSkill(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('skill');
  const name = stream.expectName('skill name');
  stream.expect('{');
  const fields: { name: Name; value: Expression }[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(';') || stream.is(',')) stream.advance();
    if (stream.take('}')) break;
    const key = stream.takeMemberName() ?? stream.fail('skill field name');
    stream.take(':');
    fields.push({ name: { text: key.text, span: key }, value: stream.grammar.expression(stream) });
  }
  return { kind: 'Skill', isPublic, name: name.text, fields, span: stream.spanFrom(start) };
}

function parseEvalPack(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('eval_pack');
  const name = stream.take('string') ?? stream.expectName('eval pack name');
  const title = stream.take('string')?.text;
  stream.expect('{');
  const fields: EvalPack['fields'][number][] = [];
  const body: Statement[] = [];
  let summarize: EvalPack['summarize'];
  for (;;) {
    while (stream.is('newline') || stream.is(';') || stream.is(',')) stream.advance();
    if (stream.take('}')) break;
    if (stream.isWord('summarize') && stream.at(1).kind === '{') {
      stream.advance();
      summarize = stream.activation(() => stream.grammar.block(stream)).body;
    } else if (stream.at(1).kind === ':' && /^[\p{Alphabetic}_]/u.test(stream.current.text)) {
      const key = stream.advance();
      stream.expect(':');
      stream.skipNewlines();
      fields.push({ name: { text: key.text, span: key }, value: stream.grammar.expression(stream) });
    } else {
      body.push(stream.activation(() => stream.grammar.statement(stream, 'block')).body);
    }
  }
  return { kind: 'EvalPack', isPublic, name: name.text, title, fields, body, summarize, span: stream.spanFrom(start) };
}

// ---- types ----

function parseStruct(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('struct');
  const name = stream.expectName('struct name');
  const typeParams = parseTypeParams(stream);
  stream.expect('{');
  const fields: StructField[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(',') || stream.is(';')) stream.advance();
    if (stream.take('}')) break;
    const field = stream.expectName('field name');
    const isOptional = stream.take('?') !== undefined;
    const type = stream.take(':') ? parseType(stream) : undefined;
    fields.push({ name: field.text, isOptional, type, span: stream.spanFrom(field) });
  }
  return { kind: 'Struct', isPublic, name: name.text, nameSpan: name, typeParams, fields, span: stream.spanFrom(start) };
}

function parseEnum(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('enum');
  const name = stream.expectName('enum name');
  const typeParams = parseTypeParams(stream);
  stream.expect('{');
  const variants: EnumVariant[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(',') || stream.is(';')) stream.advance();
    if (stream.take('}')) break;
    const variant = stream.expectName('variant name');
    let params: EnumVariant['params'] = [];
    if (stream.take('(')) {
      params = stream.grammar.params(stream, ')');
      stream.expect(')');
    }
    variants.push({ name: variant.text, params, span: stream.spanFrom(variant) });
  }
  return { kind: 'Enum', isPublic, name: name.text, nameSpan: name, typeParams, variants, span: stream.spanFrom(start) };
}

function parseAlias(stream: TokenStream, isPublic: boolean, start: Token): Statement {
  stream.expect('type');
  const name = stream.expectName('type name');
  const typeParams = parseTypeParams(stream);
  stream.expect('=');
  stream.skipNewlines();
  stream.take('|');
  const type = parseType(stream);
  return { kind: 'TypeAlias', isPublic, name: name.text, nameSpan: name, typeParams, type, span: stream.spanFrom(start) };
}

function parseInterface(stream: TokenStream, start: Token): Statement {
  stream.expect('interface');
  const name = stream.expectName('interface name');
  const typeParams = parseTypeParams(stream);
  stream.expect('{');
  const associated: { name: string; type: TypeNode | undefined; span: Token }[] = [];
  const methods: InterfaceMethod[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(',') || stream.is(';')) stream.advance();
    if (stream.take('}')) break;
    if (stream.take('type')) {
      const item = stream.expectName('associated type name');
      associated.push({ name: item.text, type: stream.take('=') ? parseType(stream) : undefined, span: item });
    } else {
      methods.push(parseInterfaceMethod(stream));
    }
  }
  return { kind: 'Interface', name: name.text, nameSpan: name, typeParams, associated, methods, span: stream.spanFrom(start) };
}

function parseInterfaceMethod(stream: TokenStream): InterfaceMethod {
  const start = stream.expect('fn', 'fn or type');
  const name = stream.expectName('method name');
  const typeParams = parseTypeParams(stream);
  stream.expect('(');
  const params = stream.grammar.params(stream, ')');
  stream.expect(')');
  return { name: name.text, typeParams, params, returnType: parseReturnType(stream), span: stream.spanFrom(start) };
}

function parseImpl(stream: TokenStream, start: Token): Statement {
  stream.expect('impl');
  const name = stream.expectName('struct name');
  stream.expect('{');
  const methods: FunctionDeclaration[] = [];
  for (;;) {
    while (stream.is('newline') || stream.is(';')) stream.advance();
    if (stream.take('}')) break;
    const from = stream.current;
    const isPublic = stream.take('pub') !== undefined;
    methods.push(parseFunction(stream, isPublic, false, from));
  }
  return { kind: 'Impl', name: name.text, nameSpan: name, methods, span: stream.spanFrom(start) };
}
