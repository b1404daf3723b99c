import type {
  Closure,
  DictEntry,
  Element,
  Expression,
  IfExpression,
  MatchArm,
  MatchExpression,
  ParallelExpression,
  Spread,
  TryExpression,
} from './ast.ts';
import { choice, group, hardLine, indented, isChoice, isGroup, joined, type Layout, mustBreak, verbatim } from './layout.ts';
import { BINDING_POWERS } from './precedence.ts';
import { blockRows, layoutOf, printBlock, printHeaded, printHeader, printParam, printParams } from './print-block.ts';
import { printBraces, printList, printListRows, wasBroken } from './print-row.ts';
import type { Item, Rows } from './print-source.ts';
import { printType, printTypeArgs } from './print-type.ts';
import type { Printing } from './printing.ts';
import { ifChain } from './walk.ts';

/** Expressions as they were written, parentheses and literals included; only the lines are set anew. */
export function printExpression(printing: Printing, node: Expression): Layout {
  const layout = printBare(printing, node);
  return printing.source.isParenthesised(node) ? ['(', layout, ')'] : layout;
}

function printBare(printing: Printing, node: Expression): Layout {
  const { source, expression } = printing;
  switch (node.kind) {
    case 'Int':
    case 'Float':
    case 'Duration':
    case 'String':
    case 'Interpolation':
    case 'Bool':
    case 'Nil':
      return verbatim(source.slice(node.span));
    case 'Identifier':
      return node.name;
    case 'List':
      return printBracketed(printing, '[', ']', node.span.start + 1, node.span.end - 1, node.items);
    case 'Dict':
      return printDict(printing, node);
    case 'StructLiteral':
      return printStructLiteral(printing, node);
    case 'Closure':
      return printClosure(printing, node);
    case 'Binary':
      return printBinary(printing, node);
    case 'Unary':
      return [node.operator, expression(node.operand)];
    case 'Ternary':
      return [printCondition(printing, node.condition), ' ? ', expression(node.then), ' : ', expression(node.otherwise)];
    case 'Range':
      return [expression(node.start), ' to ', expression(node.end), node.isExclusive ? ' exclusive' : ''];
    case 'Pipe':
      return printPipe(printing, node);
    case 'Call':
      return [expression(node.callee), printTypeArgs(source, node.typeArgs), printArgs(printing, node.args, node.span.end)];
    case 'MethodCall':
    case 'Property':
    case 'Subscript':
    case 'Slice':
    case 'Propagate':
      return printChain(printing, node);
    case 'TryStar':
      return ['try* ', expression(node.value)];
    case 'If':
      return printIf(printing, node);
    case 'Match':
      return printMatch(printing, node);
    case 'Parallel':
      return printParallel(printing, node);
    case 'Retry':
      return printHeaded(printing, ['retry ', printHeader(printing, node.count)], node.body);
    case 'Deadline':
      return printHeaded(printing, ['deadline ', printHeader(printing, node.duration)], node.body);
    case 'Try':
      return printTry(printing, node);
    case 'Spawn':
      return printHeaded(printing, 'spawn', node.body);
  }
}

// ---- lists, dicts and calls ----

function printElement({ expression }: Printing, node: Element): Layout {
  return node.kind === 'Spread' ? ['...', expression(node.value)] : expression(node);
}

function elementItems(printing: Printing, nodes: readonly Element[]): Item[] {
  return nodes.map((node) => ({ span: node.span, print: () => printElement(printing, node) }));
}

function printBracketed(printing: Printing, open: string, close: string, from: number, to: number, nodes: readonly Element[]): Layout {
  return printList(printing.source, { open, close, from, to, items: elementItems(printing, nodes) });
}

function printDict(printing: Printing, node: Extract<Expression, { kind: 'Dict' }>): Layout {
  const items = node.entries.map((entry) => ({ span: entry.span, print: () => printEntry(printing, entry) }));
  return printList(printing.source, { open: '{', close: '}', from: node.span.start + 1, to: node.span.end - 1, items });
}

function printEntry(printing: Printing, entry: DictEntry | Spread): Layout {
  if (entry.kind === 'Spread') return printElement(printing, entry);
  const key = typeof entry.key === 'string' ? printing.source.tokenText(entry.span.start) : ['[', printing.expression(entry.key), ']'];
  return [key, ': ', printing.expression(entry.value)];
}

function printStructLiteral(printing: Printing, node: Extract<Expression, { kind: 'StructLiteral' }>): Layout {
  const { source, expression } = printing;
  const items = node.fields.map(({ span, value }) => ({
    span: { start: span.start, end: value.span.end },
    print: (): Layout => [source.tokenText(span.start), ': ', expression(value)],
  }));
  const from = source.openerOf(node.span.end);
  return printList(source, { open: `${node.name} {`, close: '}', from, to: node.span.end - 1, items });
}

/**
 * Arguments on one line; else the last one broken when it is a closure, a dict or a list, so that it starts on the
 * line of the call; else each on its own line.
 */
function printArgs(printing: Printing, args: readonly Element[], end: number): Layout {
  const { source } = printing;
  const from = source.openerOf(end);
  const parts = { open: '(', close: ')', from, to: end - 1, items: elementItems(printing, args) };
  const rows = source.rows(parts.items, from, end - 1);
  const eachOnItsLine = printListRows(rows, parts, true);
  const { layout: last = '', trailing = [] } = rows.rows.at(-1) ?? {};
  if (rows.rows.length === 0 || mustBreakAround(rows) || wasBroken(source, parts)) return eachOnItsLine;
  const first = rows.rows.slice(0, -1).map((row) => [row.layout, ',', row.trailing, ' ']);
  const flat = ['(', first, last, trailing, ')'];
  if (!isGroup(last) || !canHug(printing, args.at(-1))) return choice(flat, eachOnItsLine);
  const hugged = ['(', first, group(last.content, { isBroken: true }), trailing, ')'];
  return choice(flat, choice(hugged, eachOnItsLine));
}

/** Is there a comment that takes a line, or the rest of one? */
function mustBreakAround({ afterOpen, rows }: Rows): boolean {
  return mustBreak(afterOpen) || rows.some((row) => row.kind === 'comment' || mustBreak(row.trailing));
}

const HUGGABLE: ReadonlySet<string | undefined> = new Set(['Closure', 'Dict', 'List', 'StructLiteral']);

function canHug({ source }: Printing, node: Element | undefined): boolean {
  return HUGGABLE.has(node?.kind) && !(node?.kind !== 'Spread' && node !== undefined && source.isParenthesised(node));
}

function printClosure(printing: Printing, node: Closure): Layout {
  const { source } = printing;
  if (node.form === 'fn') {
    const result = node.returnType === undefined ? '' : [' -> ', printType(source, node.returnType)];
    const head = ['fn', printParams(printing, node.params, node.span.start), result, ' '];
    return group([head, printBlock(printing, node.body, layoutOf(printing, [node.body]))]);
  }
  const params = joined(
    node.params.map((param) => printParam(printing, param)),
    ', ',
  );
  const open = node.params.length === 0 ? '{ ->' : ['{ ', params, ' ->'];
  const rows = blockRows(printing, node.body, source.endBefore(node.body.span.start));
  return group(printBraces(open, rows, source.hasLineBreak(node.span.start, node.span.end) ? 'lines' : 'flat'));
}

// ---- operators ----

const WORDS: ReadonlySet<string> = new Set(['Nil', 'Bool', 'Int', 'Float', 'Duration', 'Identifier']);

/**
 * Operators of one level stand in one chain. A line may end behind each operator; before one it may not, since a leading `-` begins a statement. A lone word such as
 * `nil` behind the only operator never takes a line of its own.
 */
function printBinary({ source, expression }: Printing, node: Extract<Expression, { kind: 'Binary' }>): Layout {
  const level = BINDING_POWERS[node.operator];
  const tail: { readonly operator: string; readonly right: Layout }[] = [];
  let wasOnLines = false;
  let first: Expression = node;
  while (first.kind === 'Binary' && (first === node || (BINDING_POWERS[first.operator] === level && !source.isParenthesised(first)))) {
    tail.push({ operator: first.operator, right: expression(first.right) });
    wasOnLines ||= source.hasLineBreak(first.left.span.end, first.right.span.start);
    first = first.left;
    if (level === undefined) break;
  }
  tail.reverse();
  const head = expression(first);
  const onTheLine = [head, tail.map(({ operator, right }) => [` ${operator} `, right])];
  const onLines = [head, indented(tail.map(({ operator, right }) => [` ${operator}`, hardLine, right]))];
  if (wasOnLines) return onLines;
  return tail.length === 1 && WORDS.has(node.right.kind) ? onTheLine : choice(onTheLine, onLines);
}

/** In front of `?` a lone comparison stays on its line: what follows the `?` would read as a part of its right side. */
function printCondition({ source, expression }: Printing, node: Expression): Layout {
  const layout = expression(node);
  const isComparison = node.kind === 'Binary' && COMPARISONS.has(node.operator) && !source.isParenthesised(node);
  return isComparison && isChoice(layout) ? layout.first : layout;
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

function printPipe({ source, expression }: Printing, node: Extract<Expression, { kind: 'Pipe' }>): Layout {
  const steps: Layout[] = [];
  let wasOnLines = false;
  let first: Expression = node;
  while (first.kind === 'Pipe' && (first === node || !source.isParenthesised(first))) {
    steps.push(expression(source.writtenFor(first.right)));
    wasOnLines ||= source.beginsLine(first.right.span.start);
    first = first.left;
  }
  steps.reverse();
  const head = expression(first);
  const onLines = [head, indented(steps.map((step) => [hardLine, '|> ', step]))];
  return wasOnLines ? onLines : choice([head, steps.map((step) => [' |> ', step])], onLines);
}

// ---- members ----

type Link = Extract<Expression, { kind: 'MethodCall' | 'Property' | 'Subscript' | 'Slice' | 'Propagate' }>;

/** A member with the subscripts behind it. */
interface Segment {
  readonly layout: Layout[];
  readonly isCall: boolean;
}

/**
 * `a.b.c(1).d(2)`: on one line when it fits and none of its dots began a line, else each call on its own line.
 * Properties at the front stay with the first name.
 */
function printChain(printing: Printing, node: Link): Layout {
  const { source } = printing;
  const links: Link[] = [];
  let base: Expression = node;
  while (isLink(base) && (base === node || !source.isParenthesised(base))) {
    links.push(base);
    base = base.kind === 'Propagate' ? base.value : base.receiver;
  }
  links.reverse();
  const head: Layout[] = [printing.expression(base)];
  const segments: Segment[] = [];
  let wasOnLines = false;
  for (const link of links) {
    const layout = printLink(printing, link);
    const isMember = link.kind === 'MethodCall' || link.kind === 'Property';
    if (isMember && source.beginsLine(link.nameSpan.start)) wasOnLines = true;
    if (link.kind === 'MethodCall' || (link.kind === 'Property' && segments.length > 0)) {
      segments.push({ layout: [layout], isCall: link.kind === 'MethodCall' });
    } else {
      (segments.at(-1)?.layout ?? head).push(layout);
    }
  }
  const layouts = segments.map(({ layout }) => layout);
  const onLines = [head, indented(layouts.map((layout) => [hardLine, layout]))];
  if (wasOnLines) return onLines;
  const calls = segments.filter(({ isCall }) => isCall).length;
  return calls > 1 ? choice([head, layouts], onLines) : [head, layouts];
}

function isLink(node: Expression): node is Link {
  return (
    node.kind === 'MethodCall' ||
    node.kind === 'Property' ||
    node.kind === 'Subscript' ||
    node.kind === 'Slice' ||
    node.kind === 'Propagate'
  );
}

function printLink(printing: Printing, node: Link): Layout {
  const { expression } = printing;
  switch (node.kind) {
    case 'MethodCall':
      return [node.isOptional ? '?.' : '.', node.name, printArgs(printing, node.args, node.span.end)];
    case 'Property':
      return [node.isOptional ? '?.' : '.', node.name];
    case 'Subscript':
      return [node.isOptional ? '?[' : '[', expression(node.index), ']'];
    case 'Slice':
      return ['[', node.start === undefined ? '' : expression(node.start), ':', node.end === undefined ? '' : expression(node.end), ']'];
    case 'Propagate':
      return '?';
  }
}

// ---- expressions with blocks ----

function printIf(printing: Printing, node: IfExpression): Layout {
  const { links, otherwise } = ifChain(node);
  const blocks = [...links.map(({ then }) => then), ...(otherwise === undefined ? [] : [otherwise])];
  const layout = layoutOf(printing, blocks);
  const parts = links.map(({ condition, then }) => ['if ', printHeader(printing, condition), ' ', printBlock(printing, then, layout)]);
  const chain = joined([...parts, ...(otherwise === undefined ? [] : [printBlock(printing, otherwise, layout)])], ' else ');
  return layout === 'flat' ? group(chain) : chain;
}

function printMatch(printing: Printing, node: MatchExpression): Layout {
  const { source } = printing;
  const from = source.openerOf(node.span.end);
  const items = node.arms.map((arm) => ({ span: arm.span, print: () => printArm(printing, arm) }));
  const layout = source.hasLineBreak(from, node.span.end) ? 'lines' : 'flat';
  const body = printBraces('{', source.rows(items, from, node.span.end - 1), layout, '');
  return group(['match ', printHeader(printing, node.subject), ' ', body]);
}

function printArm(printing: Printing, arm: MatchArm): Layout {
  const { expression } = printing;
  const patterns = joined(arm.patterns.map(expression), ' | ');
  const guard = arm.guard === undefined ? '' : [' if ', printHeader(printing, arm.guard)];
  return printHeaded(printing, [patterns, guard, ' ->'], arm.body);
}

function printParallel(printing: Printing, node: ParallelExpression): Layout {
  const { source, expression } = printing;
  const form = node.form === 'count' ? '' : `${node.form} `;
  const options = node.maxConcurrent === undefined ? '' : [' with { max_concurrent: ', expression(node.maxConcurrent), ' }'];
  const head = ['parallel ', form, printHeader(printing, node.operand), options, ' '];
  const opener = source.openerOf(node.body.span.end);
  const open = node.variable === undefined ? '{' : `{ ${node.variable} ->`;
  const rows = blockRows(printing, node.body, node.variable === undefined ? opener : source.endBefore(node.body.span.start));
  const layout = source.hasLineBreak(opener, node.body.span.end) ? 'lines' : 'flat';
  return group([head, printBraces(open, rows, layout), node.asStream ? ' as stream' : '']);
}

function printTry(printing: Printing, node: TryExpression): Layout {
  const { body, catchClause, finallyBlock } = node;
  const blocks = [body, catchClause?.body, finallyBlock].filter((block) => block !== undefined);
  const layout = layoutOf(printing, blocks);
  const parts: Layout[] = ['try ', printBlock(printing, body, layout)];
  if (catchClause !== undefined) {
    const type = catchClause.type === undefined ? '' : [': ', printType(printing.source, catchClause.type)];
    const binding = catchClause.variable === undefined ? '' : [' (', catchClause.variable, type, ')'];
    parts.push(' catch', binding, ' ', printBlock(printing, catchClause.body, layout));
  }
  if (finallyBlock !== undefined) parts.push(' finally ', printBlock(printing, finallyBlock, layout));
  return layout === 'flat' ? group(parts) : parts;
}
