import type { Assignment, Binding, Expression, ForLoop, Pattern, Select, Statement } from './ast.ts';
import { choice, group, hardLine, indented, type Layout, verbatim } from './layout.ts';
import { printHeaded, printHeader } from './print-block.ts';
import { printDeclaration } from './print-declaration.ts';
import { printBraces, printList } from './print-row.ts';
import type { Item } from './print-source.ts';
import { printType } from './print-type.ts';
import type { Printing } from './printing.ts';

/** A statement; as it was written when a comment stands inside where no row of items has a place for it. */
export function printStatement(printing: Printing, node: Statement): Layout {
  const { source } = printing;
  const layout = printPlaced(printing, node);
  if (!source.hasUnplaced(node.span)) return layout;
  source.place(node.span);
  return verbatim(source.slice(node.span));
}

function printPlaced(printing: Printing, node: Statement): Layout {
  const { expression } = printing;
  switch (node.kind) {
    case 'Binding':
      return printBinding(printing, node);
    case 'Assignment':
      return printAssignment(printing, node);
    case 'ExpressionStatement':
      return expression(node.expression);
    case 'For':
      return printHeaded(
        printing,
        ['for ', printLoopPattern(printing, node.pattern), ' in ', printHeader(printing, node.iterable)],
        node.body,
      );
    case 'While':
      return printHeaded(printing, ['while ', printHeader(printing, node.condition)], node.body);
    case 'Return':
      return node.value === undefined ? 'return' : ['return ', expression(node.value)];
    case 'Yield':
      return node.value === undefined ? 'yield' : ['yield ', expression(node.value)];
    case 'Throw':
      return ['throw ', expression(node.value)];
    case 'Emit':
      return ['emit ', expression(node.value)];
    case 'Guard':
      return printHeaded(printing, ['guard ', printHeader(printing, node.condition), ' else'], node.otherwise);
    case 'Require':
      return printRequire(printing, node);
    case 'Mutex':
      return printHeaded(printing, 'mutex', node.body);
    case 'Defer':
      return printHeaded(printing, 'defer', node.body);
    case 'Select':
      return printSelect(printing, node);
    case 'Break':
      return 'break';
    case 'Continue':
      return 'continue';
    default:
      return printDeclaration(printing, node);
  }
}

function printBinding(printing: Printing, node: Binding): Layout {
  const type = node.type === undefined ? '' : [': ', printType(printing.source, node.type)];
  return printValue(printing, [node.keyword, ' ', printing.pattern(node.pattern), type, ' ='], node.value);
}

function printAssignment(printing: Printing, node: Assignment): Layout {
  return printValue(printing, [printing.expression(node.target), ' ', node.operator], node.value);
}

/** A long operation begins on a line of its own; everything else breaks within itself. */
function printValue({ source, expression }: Printing, head: Layout, value: Expression): Layout {
  const layout = expression(value);
  const onTheLine = [head, ' ', layout];
  if (value.kind !== 'Binary' || source.isParenthesised(value)) return onTheLine;
  const onTheNext = [head, indented([hardLine, layout])];
  return source.beginsLine(value.span.start) ? onTheNext : choice(onTheLine, onTheNext);
}

function printRequire({ source, expression }: Printing, { condition, message }: Extract<Statement, { kind: 'Require' }>): Layout {
  const head = ['require ', expression(condition)];
  if (message === undefined) return head;
  const layout = expression(message);
  const onTheNext = [head, ',', indented([hardLine, layout])];
  return source.beginsLine(message.span.start) ? onTheNext : choice([head, ', ', layout], onTheNext);
}

function printLoopPattern({ pattern }: Printing, node: ForLoop['pattern']): Layout {
  return node.kind === 'PairPattern' ? `(${node.first}, ${node.second})` : pattern(node);
}

export function printPattern(printing: Printing, node: Pattern): Layout {
  const { source } = printing;
  if (node.kind === 'NamePattern') return node.name;
  const items: Item[] =
    node.kind === 'DictPattern'
      ? node.fields.map((field) => ({
          span: field.span,
          print: () => [field.key, field.target === field.key ? '' : `: ${field.target}`, printDefault(printing, field.defaultValue)],
        }))
      : node.items.map((item) => ({ span: item.span, print: () => [item.target, printDefault(printing, item.defaultValue)] }));
  const { rest, span } = node;
  if (rest !== undefined) {
    const start = source.nextStart(items.at(-1)?.span.end ?? span.start + 1);
    items.push({ span: { start, end: source.endBefore(span.end - 1) }, print: () => `...${rest}` });
  }
  const [open, close] = node.kind === 'DictPattern' ? ['{', '}'] : ['[', ']'];
  return printList(source, { open, close, from: span.start + 1, to: span.end - 1, items, hasOpenEnd: rest !== undefined });
}

function printDefault({ expression }: Printing, value: Expression | undefined): Layout {
  return value === undefined ? '' : [' = ', expression(value)];
}

function printSelect(printing: Printing, node: Select): Layout {
  const { source, expression } = printing;
  const { timeout, otherwise } = node;
  const items: Item[] = node.cases.map((item) => ({
    span: item.span,
    print: () => printHeaded(printing, [item.variable, ' from ', expression(item.channel)], item.body),
  }));
  if (timeout !== undefined) {
    const span = { start: source.startOfWord('timeout', timeout.duration.span.start), end: timeout.body.span.end };
    items.push({ span, print: () => printHeaded(printing, ['timeout ', printHeader(printing, timeout.duration)], timeout.body) });
  }
  if (otherwise !== undefined) {
    const span = { start: source.startOfWord('default', otherwise.span.start), end: otherwise.span.end };
    items.push({ span, print: () => printHeaded(printing, 'default', otherwise) });
  }
  items.sort((a, b) => a.span.start - b.span.start);
  const from = source.openerOf(node.span.end);
  const layout = source.hasLineBreak(from, node.span.end) ? 'lines' : 'flat';
  return group(['select ', printBraces('{', source.rows(items, from, node.span.end - 1), layout, '')]);
}
