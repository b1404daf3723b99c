import type {
  AttributeValue,
  Block,
  Element,
  Expression,
  ForLoop,
  Parameter,
  Pattern,
  Statement,
  TypeNode,
} from '../../src/language/ast.ts';
import { parse } from '../../src/language/parser.ts';

/**
 * Trees as one line of text with every grouping in brackets, so that a table of readings fits a page:
 * `1 + 2 * 3` is `(+ 1 (* 2 3))`.
 */
export function outline(source: string): string {
  const { program, diagnostics } = parse({ path: 'test.harn', text: source });
  if (diagnostics.length > 0) return diagnostics.map(({ message }) => `! ${message}`).join('\n');
  return program.items.map(statement).join('; ');
}

/** The messages of a text that does not read. */
export function messagesOf(source: string): string[] {
  return parse({ path: 'test.harn', text: source }).diagnostics.map(({ message }) => message);
}

function list(head: string, ...parts: readonly (string | undefined)[]): string {
  return `(${[head, ...parts.filter((part) => part !== undefined && part !== '')].join(' ')})`;
}

function block({ statements }: Block): string {
  return `{${statements.map(statement).join('; ')}}`;
}

function optional<T>(value: T | undefined, show: (value: T) => string, before = ''): string | undefined {
  return value === undefined ? undefined : `${before}${show(value)}`;
}

function params(items: readonly Parameter[]): string {
  const one = ({ isRest, name, type: annotation, defaultValue }: Parameter): string =>
    `${isRest ? '...' : ''}${name}${optional(annotation, type, ':') ?? ''}${optional(defaultValue, expression, '=') ?? ''}`;
  return `[${items.map(one).join(' ')}]`;
}

function visibility(item: { readonly isPublic: boolean }): string | undefined {
  return item.isPublic ? 'pub' : undefined;
}

function typeParams(items: readonly { readonly name: string; readonly variance: string | undefined }[]): string | undefined {
  return items.length === 0
    ? undefined
    : `<${items.map(({ name, variance }) => (variance === undefined ? name : `${variance} ${name}`)).join(' ')}>`;
}

function statement(node: Statement): string {
  switch (node.kind) {
    case 'Import':
      return list(
        'import',
        visibility(node),
        node.path,
        optional(node.names, (names) => `[${names.map(({ text }) => text).join(' ')}]`),
      );
    case 'Attributed':
      return list(
        node.attributes
          .map(
            ({ name, args }) =>
              `@${name}${args.map((arg) => ` ${optional(arg.name, String) ?? ''}=${attributeValue(arg.value)}`).join('')}`,
          )
          .join(' '),
        statement(node.declaration),
      );
    case 'Pipeline':
      return list(
        'pipeline',
        visibility(node),
        node.name,
        params(node.params),
        optional(node.returnType, type, '->'),
        optional(node.parent?.text, String, 'extends '),
        block(node.body),
      );
    case 'Override':
      return list('override', node.name, params(node.params), block(node.body));
    case 'Function':
      return list(
        node.isStream ? 'gen-fn' : 'fn',
        visibility(node),
        node.name,
        typeParams(node.typeParams),
        params(node.params),
        optional(node.returnType, type, '->'),
        ...node.bounds.map(({ parameter, interfaces }) => `where ${parameter}:${interfaces.map(type).join('+')}`),
        block(node.body),
      );
    case 'Tool':
      return list(
        'tool',
        visibility(node),
        node.name,
        params(node.params),
        optional(node.returnType, type, '->'),
        optional(node.description, JSON.stringify),
        block(node.body),
      );
    case 'Skill':
      return list('skill', visibility(node), node.name, ...node.fields.map(({ name, value }) => `${name.text}=${expression(value)}`));
    case 'EvalPack':
      return list(
        'eval_pack',
        visibility(node),
        node.name,
        optional(node.title, JSON.stringify),
        ...node.fields.map(({ name, value }) => `${name.text}=${expression(value)}`),
        ...node.body.map(statement),
        optional(node.summarize, block, 'summarize '),
      );
    case 'Struct':
      return list(
        'struct',
        visibility(node),
        node.name,
        typeParams(node.typeParams),
        ...node.fields.map((field) => `${field.name}${field.isOptional ? '?' : ''}${optional(field.type, type, ':') ?? ''}`),
      );
    case 'Enum':
      return list(
        'enum',
        visibility(node),
        node.name,
        typeParams(node.typeParams),
        ...node.variants.map((variant) => `${variant.name}${variant.params.length === 0 ? '' : params(variant.params)}`),
      );
    case 'TypeAlias':
      return list('type', visibility(node), node.name, typeParams(node.typeParams), type(node.type));
    case 'Interface':
      return list(
        'interface',
        node.name,
        typeParams(node.typeParams),
        ...node.associated.map((item) => `type ${item.name}${optional(item.type, type, '=') ?? ''}`),
        ...node.methods.map((method) =>
          list('fn', method.name, typeParams(method.typeParams), params(method.params), optional(method.returnType, type, '->')),
        ),
      );
    case 'Impl':
      return list('impl', node.name, ...node.methods.map(statement));
    case 'Binding':
      return list(node.keyword, pattern(node.pattern), optional(node.type, type, ':'), expression(node.value));
    case 'For':
      return list('for', pattern(node.pattern), expression(node.iterable), block(node.body));
    case 'While':
      return list('while', expression(node.condition), block(node.body));
    case 'Return':
      return list('return', optional(node.value, expression));
    case 'Yield':
      return list('yield', optional(node.value, expression));
    case 'Throw':
      return list('throw', expression(node.value));
    case 'Emit':
      return list('emit', expression(node.value));
    case 'Guard':
      return list('guard', expression(node.condition), block(node.otherwise));
    case 'Require':
      return list('require', expression(node.condition), optional(node.message, expression));
    case 'Mutex':
      return list('mutex', block(node.body));
    case 'Defer':
      return list('defer', block(node.body));
    case 'Select':
      return list(
        'select',
        ...node.cases.map((item) => list(item.variable, expression(item.channel), block(item.body))),
        optional(node.timeout, ({ duration, body }) => list('timeout', expression(duration), block(body))),
        optional(node.otherwise, block, 'default '),
      );
    case 'Break':
      return 'break';
    case 'Continue':
      return 'continue';
    case 'Assignment':
      return list(node.operator, expression(node.target), expression(node.value));
    case 'ExpressionStatement':
      return expression(node.expression);
  }
}

function attributeValue(value: AttributeValue): string {
  if (value.kind === 'nil') return 'nil';
  if (value.kind === 'list') return `[${value.items.map(attributeValue).join(' ')}]`;
  return value.kind === 'string' ? JSON.stringify(value.value) : String(value.value);
}

function pattern(node: Pattern | ForLoop['pattern']): string {
  switch (node.kind) {
    case 'NamePattern':
      return node.name;
    case 'PairPattern':
      return `(${node.first}, ${node.second})`;
    case 'DictPattern': {
      const fields = node.fields.map(
        (field) =>
          `${field.key}${field.key === field.target ? '' : `:${field.target}`}${optional(field.defaultValue, expression, '=') ?? ''}`,
      );
      return `{${[...fields, ...(node.rest === undefined ? [] : [`...${node.rest}`])].join(' ')}}`;
    }
    case 'ListPattern': {
      const items = node.items.map((item) => `${item.target}${optional(item.defaultValue, expression, '=') ?? ''}`);
      return `[${[...items, ...(node.rest === undefined ? [] : [`...${node.rest}`])].join(' ')}]`;
    }
  }
}

function element(node: Element): string {
  return node.kind === 'Spread' ? `...${expression(node.value)}` : expression(node);
}

function expression(node: Expression): string {
  switch (node.kind) {
    case 'Int':
      return `${node.value}`;
    case 'Float':
      return Number.isInteger(node.value) ? `${node.value}.0` : `${node.value}`;
    case 'Duration':
      return `${node.ms}ms`;
    case 'String':
      return `${node.form === 'plain' ? '' : node.form}${JSON.stringify(node.value)}`;
    case 'Interpolation':
      return list(
        node.form === 'block' ? 'block-text' : 'text',
        ...node.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : expression(part))),
      );
    case 'Bool':
      return `${node.value}`;
    case 'Nil':
      return 'nil';
    case 'Identifier':
      return node.name;
    case 'List':
      return `[${node.items.map(element).join(' ')}]`;
    case 'Dict': {
      const entries = node.entries.map((entry) =>
        entry.kind === 'Spread'
          ? element(entry)
          : `${typeof entry.key === 'string' ? entry.key : `[${expression(entry.key)}]`}=${expression(entry.value)}`,
      );
      return list('dict', ...entries);
    }
    case 'StructLiteral':
      return list(`new ${node.name}`, ...node.fields.map(({ name, value }) => `${name}=${expression(value)}`));
    case 'Closure':
      return list(node.form === 'fn' ? 'fn' : '\\', params(node.params), optional(node.returnType, type, '->'), block(node.body));
    case 'Binary':
      return list(node.operator, expression(node.left), expression(node.right));
    case 'Unary':
      return list(node.operator, expression(node.operand));
    case 'Ternary':
      return list('?', expression(node.condition), expression(node.then), expression(node.otherwise));
    case 'Range':
      return list(node.isExclusive ? 'to-exclusive' : 'to', expression(node.start), expression(node.end));
    case 'Pipe':
      return list('|>', expression(node.left), expression(node.right));
    case 'Call':
      return list(
        `${node.callee.name}${node.typeArgs.length === 0 ? '' : `<${node.typeArgs.map(type).join(' ')}>`}!`,
        ...node.args.map(element),
      );
    case 'MethodCall':
      return list(`${node.isOptional ? '?.' : '.'}${node.name}!`, expression(node.receiver), ...node.args.map(element));
    case 'Property':
      return list(`${node.isOptional ? '?.' : '.'}${node.name}`, expression(node.receiver));
    case 'Subscript':
      return list(node.isOptional ? '?[]' : '[]', expression(node.receiver), expression(node.index));
    case 'Slice':
      return list('[:]', expression(node.receiver), optional(node.start, expression) ?? '-', optional(node.end, expression) ?? '-');
    case 'Propagate':
      return list('propagate', expression(node.value));
    case 'TryStar':
      return list('try*', expression(node.value));
    case 'If':
      return list(node.isElseIf ? 'else-if' : 'if', expression(node.condition), block(node.then), optional(node.otherwise, block, 'else '));
    case 'Match':
      return list(
        'match',
        expression(node.subject),
        ...node.arms.map((arm) => list(arm.patterns.map(expression).join('|'), optional(arm.guard, expression, 'if '), block(arm.body))),
      );
    case 'Parallel':
      return list(
        node.form === 'count' ? 'parallel' : `parallel-${node.form}`,
        expression(node.operand),
        optional(node.maxConcurrent, expression, 'max='),
        node.variable,
        block(node.body),
        node.asStream ? 'stream' : undefined,
      );
    case 'Retry':
      return list('retry', expression(node.count), block(node.body));
    case 'Deadline':
      return list('deadline', expression(node.duration), block(node.body));
    case 'Try':
      return list(
        'try',
        block(node.body),
        optional(node.catchClause, ({ variable, type: annotation, body }) =>
          list('catch', variable, optional(annotation, type, ':'), block(body)),
        ),
        optional(node.finallyBlock, block, 'finally '),
      );
    case 'Spawn':
      return list('spawn', block(node.body));
  }
}

function type(node: TypeNode): string {
  switch (node.kind) {
    case 'NamedType':
      return node.args.length === 0 ? node.name : `${node.name}<${node.args.map(type).join(' ')}>`;
    case 'LiteralType':
      return typeof node.value === 'string' ? JSON.stringify(node.value) : `${node.value}`;
    case 'ShapeType':
      return `{${node.fields.map((field) => `${field.name}${field.isOptional ? '?' : ''}:${type(field.type)}`).join(' ')}}`;
    case 'FunctionType':
      return `(fn [${node.params.map(type).join(' ')}] ${type(node.result)})`;
    case 'UnionType':
      return `(${node.members.map(type).join(' | ')})`;
    case 'IntersectionType':
      return `(${node.members.map(type).join(' & ')})`;
  }
}
